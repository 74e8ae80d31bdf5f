"""What each idea behind answers in other words is worth on every set, and what the other sets would choose.

    python benchmarks/answers.py --data FOLDER [--limit N] > benchmarks/results/answers.md

The folder holds `locomo_dev.json`, `longmemeval_s_dev.json.gz`, `memdaily_zh_dev.json.gz` and
`everyday_dev.json`. A variant changes constants that stand beside their rule; the same memories are asked.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from engram import Engram
from engram.bench import retrieval
from engram.bench.everyday import Everyday
from engram.bench.retrieval import Answered, AskedAt, by_session, places_of, quality
from engram.config import load
from engram.embed import open_embedder
from engram.model.capture import Receipt

FUSE, NEWEST, DROP = "engram.recall.pool", "engram.recall.rerank", "engram.recall.drop"
JUDGE = "engram.recall.judge"
VARIANTS: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "as shipped": {},
    "no kindred words": {FUSE: {"KIN_LEAST": 0.0, "KIN_MOST": 0.0}},
    "kindred words count alike for every question": {FUSE: {"KIN_LEAST": 1.0, "KIN_MOST": 1.0}},
    "the question's words count alike for every question": {FUSE: {"OWN_LEAST": 1.0}},
    "a later word leads by its fit and its change alone": {
        NEWEST: {"SAME_KIND": 0.0, "FILLS": 0.0, "LACKS": 0.0, "SAME_TALK": 0.0, "LONG": 0.0}
    },
    "a later word is not looked for along edges": {NEWEST: {"LINKED": 0.0}},
    "not newest first": {NEWEST: {"LATER_WORD": 99.0, "MAYBE_LATER": 99.0}},
    "the kind of value asked for does not count": {JUDGE: {"KIND_GAIN": 1.0}},
    "what fits about as well does not come along": {DROP: {"ALONG": 2.0}},
}
SETS = {
    "locomo": "locomo_dev.json",
    "longmemeval": "longmemeval_s_dev.json.gz",
    "memdaily": "memdaily_zh_dev.json.gz",
}
EVERYDAY = "everyday_dev.json"
SHOWN = {
    "locomo": ("recall@5", "recall@10"),
    "longmemeval": ("recall_all@5", "ndcg@10"),
    "memdaily": ("recall@5",),
    "stories": ("en @1", "en @3", "zh @3", "never told, empty"),
    "updates": ("en", "zh"),
}
DECIDES = {"locomo": 1, "longmemeval": 1, "memdaily": 0, "stories": 1, "updates": 0}
"""Which figure of a set counts when a variant is chosen by the others."""
Row = dict[str, tuple[float, ...]]


def main() -> None:
    """Run all variants and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="conversations, questions and runs of each public set")
    given = parser.parse_args()
    rows = _examined(given.data, given.limit)
    print("# Answers in other words: what each idea is worth\n")
    print("`python benchmarks/answers.py --data FOLDER`, development sets, base install.\n")
    heads = [f"{name} {figure}" for name, figures in SHOWN.items() for figure in figures]
    print(f"| variant | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for name, row in rows.items():
        shown = (f"{value:.3f}" for one in SHOWN for value in row[one])
        print(f"| {name} | {' | '.join(shown)} |")
    print("\n## Leave one set out\n")
    print("The variant with the best mean over the other sets, and what it gives on the one left out.\n")
    print("| left out | chosen by the others | here | as shipped |\n|---|---|---|---|")
    for left, at in DECIDES.items():
        best = max(
            rows, key=lambda name: sum(rows[name][one][DECIDES[one]] for one in DECIDES if one != left)
        )
        print(f"| {left} | {best} | {rows[best][left][at]:.3f} | {rows['as shipped'][left][at]:.3f} |")


def _examined(folder: Path, limit: int | None) -> dict[str, Row]:
    """The figures of every variant. The memories of a public set are written once and asked by all."""
    config = load(environment={}, arguments={})
    embedder = open_embedder(config.embed)
    rows: dict[str, Row] = {name: {} for name in VARIANTS}
    for name, file in SETS.items():
        answered: dict[str, list[Answered]] = {variant: [] for variant in VARIANTS}
        for haystack in retrieval.load(name, folder / file, limit):
            with Engram.open(
                ":memory:", config=config, embedder=embedder, clock=AskedAt(haystack.asked_at)
            ) as memory:
                names = _written(memory, haystack)
                for variant, constants in VARIANTS.items():
                    with _set(constants):
                        answered[variant] += _asked(memory, haystack, names, sessions=name == "longmemeval")
        for variant, found in answered.items():
            figures = quality(found, sessions=name == "longmemeval")
            rows[variant][name] = tuple(figures[figure] for figure in SHOWN[name])
    talk = retrieval.read_json(folder / EVERYDAY)
    for variant, constants in VARIANTS.items():
        with _set(constants):
            rows[variant] |= _everyday(Everyday(talk, config, embedder, lambda good, name, seen: None))  # noqa: ARG005 - tells nobody
    return rows


def _written(memory: Engram, haystack: retrieval.Haystack) -> dict[str, frozenset[str]]:
    receipts = memory.remember_many([document.draft for document in haystack.documents], partial=True)
    names: dict[str, frozenset[str]] = {}
    for document, receipt in zip(haystack.documents, receipts, strict=True):
        if isinstance(receipt, Receipt):
            names[receipt.memory.id] = names.get(receipt.memory.id, frozenset()) | {document.name}
    return names


def _asked(
    memory: Engram, haystack: retrieval.Haystack, names: Mapping[str, frozenset[str]], *, sessions: bool
) -> list[Answered]:
    found = []
    for ask in haystack.asks:
        hits = memory.recall(ask.text, limit=100 if sessions else 20, min_relevance=0.0, dry=True)
        ranking = [(names.get(hit.memory.id, frozenset[str]()), hit.score) for hit in hits]
        places = places_of(by_session(ranking) if sessions else [one for one, _ in ranking], ask.wanted)
        found.append(Answered(ask, places, 0.0, 0.0, not hits))
    return found


def _everyday(everyday: Everyday) -> Row:
    stories, updates = everyday.examine("stories")["stories"], everyday.examine("updates")["updates"]
    told, chinese = stories["en"], stories["zh"]
    return {
        "stories": (
            told["answered@1"], told["answered@3"], chinese["answered@3"], told["unanswerable left empty"],
        ),
        "updates": (updates["en"]["balanced"], updates["zh"]["balanced"]),
    }  # fmt: skip


@contextlib.contextmanager
def _set(constants: Mapping[str, Mapping[str, float]]) -> Iterator[None]:
    """Other constants for as long as it lasts."""
    former = {
        (module, name): getattr(import_module(module), name)
        for module in constants
        for name in constants[module]
    }
    for module, values in constants.items():
        for name, value in values.items():
            setattr(import_module(module), name, value)
    try:
        yield
    finally:
        for (module, name), value in former.items():
            setattr(import_module(module), name, value)


if __name__ == "__main__":
    main()
