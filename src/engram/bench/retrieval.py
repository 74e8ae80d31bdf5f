"""One run of a retrieval benchmark: haystacks come in, what the engine brought for each question comes out.

Each haystack gets a fresh engine on a file of its own, is written through `remember_many` and asked through
`recall`, as any caller would. The ranking is taken without the relevance floor, which is there for people;
a second look with the configured floor tells whether a person would have got anything at all.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engram.bench.cases import Answered, Ask, Document, Entry, Haystack, Progress
from engram.bench.setup import Setup
from engram.engine import Engram
from engram.model.receipt import Receipt, Refusal

RollUp = Callable[[Sequence[Entry]], tuple[Entry, ...]]
"""Turns a ranking of memories into one of larger things."""
REFUSED = "refused"
Names = dict[str, frozenset[str]]
"""Each memory's id with the names of the documents it stands for."""


@dataclass(slots=True)
class Run:
    """What was observed over all haystacks."""

    answered: list[Answered] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    """What became of the documents: stored, reinforced, merged, superseded, refused."""
    write_s: float = 0.0
    left_out: int = 0
    haystacks: int = 0
    turns: int = 0
    """Turns that were listened to; 0 where documents are remembered as they are."""
    kept: int = 0
    """Those of them that a memory came from."""
    memories: int = 0


Write = Callable[[Engram, Sequence[Document], Run], Names]
"""How documents are written."""


def examine(
    haystacks: Iterable[Haystack],
    setup: Setup,
    limit: int,
    roll_up: RollUp = tuple,
    progress: Progress | None = None,
    write: Write | None = None,
) -> Run:
    """Write every haystack and ask all its questions."""
    run = Run()
    for haystack in haystacks:
        with tempfile.TemporaryDirectory(prefix="engram-bench-") as folder:
            path = Path(folder) / "haystack.engram"
            with setup.open(path, now=haystack.asked_at) as engine:
                names = (write or remember)(engine, haystack.documents, run)
                _ask_all(engine, haystack, run, names, limit, roll_up)
        if progress is not None:
            progress(len(haystack.asks))
    return run


def _ask_all(engine: Engram, haystack: Haystack, run: Run, names: Names, limit: int, roll_up: RollUp) -> None:
    run.left_out += haystack.left_out
    run.haystacks += 1
    run.answered.extend(_answer(engine, ask, names, limit, roll_up) for ask in haystack.asks)


def remember(engine: Engram, documents: Sequence[Document], run: Run) -> Names:
    """Write documents as they are; each memory's id with the names of all that went into it."""
    started = time.perf_counter()
    receipts = engine.remember_many([document.draft for document in documents], partial=True)
    run.write_s += time.perf_counter() - started
    run.outcomes.update(map(_outcome, receipts))
    names: dict[str, set[str]] = {}
    for document, receipt in zip(documents, receipts, strict=True):
        if isinstance(receipt, Receipt):
            names.setdefault(receipt.memory.id, set()).add(document.name)
    return {memory_id: frozenset(held) for memory_id, held in names.items()}


def _outcome(receipt: Receipt | Refusal) -> str:
    return receipt.outcome.value if isinstance(receipt, Receipt) else REFUSED


def _answer(engine: Engram, ask: Ask, names: Names, limit: int, roll_up: RollUp) -> Answered:
    started = time.perf_counter()
    found = engine.recall(ask.text, limit=limit, min_relevance=0.0, dry=True)
    ms = (time.perf_counter() - started) * 1000
    ranking = [Entry(names.get(hit.memory.id, frozenset()), hit.score) for hit in found]
    return Answered(
        ask=ask,
        ranking=roll_up(ranking),
        best_relevance=max((hit.relevance for hit in found), default=0.0),
        ms=ms,
        empty=not engine.recall(ask.text, limit=1, dry=True),
    )
