"""What each idea behind answers in other words is worth on every set, and what the other sets would choose.

    PYTHONPATH=. python benchmarks/answers.py --data FOLDER [--limit N] [--model NAME] > FILE

The folder holds `locomo_dev.json`, `longmemeval_s_dev.json.gz`, `memdaily_zh_dev.json.gz` and
`everyday_dev.json`; the lives of `told_asked.py` are asked too. A variant changes constants that stand beside
their rule. Everything is told once, and all variants ask the same memories.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import told_asked
from engram import Engram
from engram.bench import retrieval
from engram.bench.everyday import Everyday, balanced
from engram.bench.retrieval import Answered, quality
from engram.config import Config, load
from engram.embed import open_embedder
from engram.ports import Embedder
from engram.testing import FakeClock

POOL, RERANK, DROP = "engram.recall.pool", "engram.recall.rerank", "engram.recall.drop"
JUDGE, CHANNELS, PLAN = "engram.recall.judge", "engram.recall.channels", "engram.recall.plan"
VARIANTS: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "as shipped": {},
    "no kindred words": {POOL: {"KIN_LEAST": 0.0, "KIN_MOST": 0.0}},
    "kindred words count alike for every question": {POOL: {"KIN_LEAST": 1.0, "KIN_MOST": 1.0}},
    "the question's words count alike for every question": {POOL: {"OWN_LEAST": 1.0}},
    "the question's words count half where few are said": {POOL: {"OWN_LEAST": 0.5}},
    "no later word leads": {RERANK: {"LATER_WORD": 99.0, "MAYBE_LATER": 99.0}},
    "later words lead sooner": {RERANK: {"LATER_WORD": 1.6}},
    "later words lead later": {RERANK: {"LATER_WORD": 2.8}},
    "the kind of value asked for does not count": {JUDGE: {"KIND_GAIN": 1.0}},
    "what is said of oneself counts alike": {JUDGE: {"OF_THE_ASKER": 1.0}},
    "facts that answer do not stand first": {CHANNELS: {"FIRST": 0.0, "ANSWERS": 1.0}},
    "sessions and neighbours lend nothing": {
        JUDGE: {"SESSION_SHARE": 0.0},
        CHANNELS: {"NEXT_SHARE": 0.0, "ANSWER_SHARE": 0.0, "PREVIOUS_SHARE": 0.0},
    },
    "what fits about as well does not come along": {DROP: {"ALONG": 2.0}},
    "things of a kind asked for count for next to nothing": {PLAN: {"THING_SHARE": 0.01}},
    "several things come from wherever they fit best": {RERANK: {"AGAIN": 1.0}},
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
    "lives": ("en @1", "en @3"),
}
DECIDES = {"locomo": 1, "longmemeval": 1, "memdaily": 0, "stories": 1, "updates": 0, "lives": 1}
"""Which figure of a set counts when a variant is chosen by the others."""
Row = dict[str, tuple[float, ...]]


def main() -> None:
    """Run all variants and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="conversations, questions and runs of each public set")
    parser.add_argument("--model", default="", help="a pulled model instead of the static one")
    given = parser.parse_args()
    rows = _examined(given.data, given.limit, given.model)
    print("# Answers in other words: what each idea is worth\n")
    print(
        f"`python benchmarks/answers.py --data FOLDER`, development sets, {given.model or 'base install'}.\n"
    )
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


def _examined(folder: Path, limit: int | None, model: str) -> dict[str, Row]:
    """The figures of every variant."""
    chosen = {"embed.name": "transformer", "embed.model": model} if model else {}
    config = load(environment={}, arguments=chosen)
    embedder = open_embedder(config.embed)
    rows: dict[str, Row] = {name: {} for name in VARIANTS}
    for name, file in SETS.items():
        answered: dict[str, list[Answered]] = {variant: [] for variant in VARIANTS}
        for haystack in retrieval.load(name, folder / file, limit):
            clock = FakeClock(haystack.asked_at)
            with Engram.open(":memory:", config=config, embedder=embedder, clock=clock) as memory:
                written = retrieval.write(memory, haystack.documents)
                for variant in _each():
                    answered[variant] += [
                        retrieval.answer(memory, ask, written.names, sessions=name == "longmemeval")
                        for ask in haystack.asks
                    ]
        for variant, found in answered.items():
            figures = quality(found, sessions=name == "longmemeval")
            rows[variant][name] = tuple(figures[figure] for figure in SHOWN[name])
    talk = retrieval.read_json(folder / EVERYDAY)
    everyday = Everyday(talk, config, embedder, lambda good, name, seen: None)  # noqa: ARG005 - tells nobody
    for variant, row in _everyday(everyday, talk).items():
        rows[variant] |= row
    for variant, places in _lives(config, embedder).items():
        rows[variant]["lives"] = _within(places)
    return rows


def _each() -> Iterator[str]:
    """Each variant by its name, with its constants in force."""
    for variant, constants in VARIANTS.items():
        with _set(constants):
            yield variant


def _everyday(everyday: Everyday, talk: dict[str, Any]) -> dict[str, Row]:
    """Stories and updates, told once."""
    places: dict[tuple[str, str], list[int | None]] = {}
    empty: dict[str, list[bool]] = {variant: [] for variant in VARIANTS}
    for case, listener, _ in everyday.stories(talk["stories"]):
        told_until = listener.clock.now()
        for variant in _each():
            right, nothing = everyday.answered(listener, case)
            places.setdefault((variant, case.get("lang", "en")), []).extend(right)
            empty[variant] += nothing if case.get("lang", "en") == "en" else []
            listener.clock.advance(seconds=(told_until - listener.clock.now()).total_seconds())
    kinds: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for case, listener in everyday.updates(talk["updates"]):
        for variant in _each():
            held = kinds.setdefault((variant, case.get("lang", "en")), {})
            held.setdefault(case["kind"], []).append(everyday.holds(listener, case))
    return {
        variant: {
            "stories": (
                *_within(places[variant, "en"]),
                _within(places[variant, "zh"])[1],
                sum(empty[variant]) / len(empty[variant]),
            ),
            "updates": (
                balanced(kinds[variant, "en"])["balanced"], balanced(kinds[variant, "zh"])["balanced"],
            ),
        }
        for variant in VARIANTS
    }  # fmt: skip


def _lives(config: Config, embedder: Embedder) -> dict[str, list[int | None]]:
    """Where the right answers of our own lives stand, the English ones."""
    places: dict[str, list[int | None]] = {variant: [] for variant in VARIANTS}
    for told in told_asked.lives().values():
        if not told[0].said.isascii():
            continue
        clock = FakeClock(told_asked.START)
        with Engram.open(":memory:", config=config, embedder=embedder, clock=clock) as memory:
            told_asked.tell(told, memory, clock)
            for variant in _each():
                places[variant] += [
                    line.place(found[: told_asked.FIRST])
                    for line, found in told_asked.asked(told, memory)
                    if line.right
                ]
    return places


def _within(places: list[int | None]) -> tuple[float, float]:
    """The share of answers that stand first, and that stand among those looked at."""
    first = sum(place == 0 for place in places)
    return first / len(places), sum(place is not None for place in places) / len(places)


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
