"""Writing a haystack by listening: turns go through `observe`, as a live conversation would.

A memory then stands for the turns it came from.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import groupby

from engram.bench.cases import Document
from engram.bench.retrieval import Names, Run
from engram.engine import Engram
from engram.model.filters import ANY_STATUS
from engram.model.observation import Observation

PAGE = 500


def listen(engine: Engram, documents: Sequence[Document], run: Run) -> Names:
    """Say every document in its session; each memory's id with the names of the turns it came from."""
    started = time.perf_counter()
    for session, said in groupby(documents, key=lambda one: one.draft.session):
        for one in said:
            _count(engine.observe(messages=[_message(one)], session=session), run)
        _count(engine.flush(session), run)
    run.write_s += time.perf_counter() - started
    run.turns += len(documents)
    names = _names(engine)
    run.memories += len(names)
    run.kept += len(frozenset[str]().union(*names.values()))
    return names


def _message(one: Document) -> dict[str, object]:
    draft = one.draft
    return {
        "id": one.name,
        "role": "user",
        "name": draft.speaker,
        "content": draft.content,
        "time": draft.event_time,
    }


def _count(heard: Observation, run: Run) -> None:
    run.outcomes.update(receipt.outcome.value for receipt in heard.receipts)


def _names(engine: Engram) -> Names:
    names: Names = {}
    cursor: str | None = None
    while True:
        page = engine.list(filters=ANY_STATUS, limit=PAGE, cursor=cursor)
        for memory in page:
            names[memory.id] = frozenset(turn.id for turn in engine.said(memory.id))
        cursor = page.cursor
        if cursor is None:
            return names
