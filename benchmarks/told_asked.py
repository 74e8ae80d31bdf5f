"""Told, then asked in other words: lives of our own, apart from every public set.

    PYTHONPATH=. python benchmarks/told_asked.py [--verbose]
    PYTHONPATH=. python benchmarks/told_asked.py --requests [--verbose]

Prints the share of questions whose answer stands first and among the first three, and the share of things
never told that are left empty. Their misses were seen while recall was changed: no figure kept aside.

With `--requests`: the share of requests ("what should I cook tonight?") whose prompt holds what was told and
bears on them, and how many memories a prompt holds. Three hundred made-up notes lie around.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from engram import Engram
from engram.bench.speed import drafts
from engram.testing import FakeClock

DATA = Path(__file__).parent / "data" / "told_then_asked.tsv"
REQUESTS = DATA.with_name("told_then_requested.tsv")
NOTES, SEED = 300, 7
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ASKED_AFTER = timedelta(days=60)
SOON_AFTER = timedelta(days=1)
"""A life whose questions stand apart from what was told is asked about the next day: "this week" is near."""
FIRST = 3


@dataclass(frozen=True)
class Line:
    """Something told, and what is asked about it later."""

    life: str
    day: int
    said: str
    question: str
    right: str = ""
    over: str = ""
    """What held before: it must not stand above what is right."""

    def is_in(self, text: str) -> bool:
        """Whether a text says what is right."""
        low = text.lower()
        return all(any(one in low for one in group.split("|")) for group in self.right.split("&"))

    def place(self, found: list[str]) -> int | None:
        """Where what is right stands, if nothing that is over stands before it."""
        place = next((place for place, text in enumerate(found) if self.is_in(text)), None)
        over = [
            self.over and any(one in text.lower() for one in self.over.split("|")) for text in found[:place]
        ]
        return None if any(over) else place


def lines(file: Path = DATA) -> Iterator[Line]:
    """All of them, in the order told."""
    for row in file.read_text(encoding="utf-8").splitlines():
        if row and not row.startswith("#"):
            life, day, *rest = row.split("\t")
            yield Line(life, int(day), *rest, *[""] * (2 - len(rest)))


def lives(file: Path = DATA) -> dict[str, list[Line]]:
    """All of them, life by life."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in lines(file):
        found[line.life].append(line)
    return found


def tell(told: list[Line], memory: Engram, clock: FakeClock) -> None:
    """Tell everything to a memory by the clock that it goes by, and wait."""
    for number, line in enumerate(told):
        if line.said != "-":
            ahead = START + timedelta(days=line.day, minutes=number) - clock.now()
            clock.advance(seconds=max(0.0, ahead.total_seconds()))
            memory.observe(line.said, session=f"day {line.day}", time=clock.now())
            memory.flush(f"day {line.day}")
    apart = any(line.said == "-" and line.right for line in told)
    clock.advance(seconds=(SOON_AFTER if apart else ASKED_AFTER).total_seconds())


def asked(told: list[Line], memory: Engram) -> Iterator[tuple[Line, list[str]]]:
    """Each question with what came back."""
    for line in told:
        if line.question:
            yield line, [hit.memory.content for hit in memory.recall(line.question, dry=True)]


def prompts(*, verbose: bool) -> None:
    """Ask for the prompt of each request and print the figures."""
    for life, told in lives(REQUESTS).items():
        clock = FakeClock(START)
        with Engram.open(":memory:", clock=clock) as memory:
            memory.remember_many(list(drafts(SEED, NOTES)))
            tell(told, memory, clock)
            shown: list[int] = []
            missed = []
            for line in told:
                if line.question:
                    prompt = memory.context(line.question)
                    held = [memory.get(one).content for one in prompt.ids]
                    shown.append(len(held))
                    if not line.is_in("\n".join(held)):
                        missed.append((line, held))
        share, each = 1 - len(missed) / len(shown), sum(shown) / len(shown)
        print(f"{life}: {len(shown)} requested, held {share:.2f}, {each:.1f} memories a prompt")
        for line, held in missed if verbose else ():
            print(f"  missed: {line.right!r} for {line.question!r}; {len(held)} held: {held[:3]}")


def main() -> None:
    """Ask everything and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="print what was missed")
    parser.add_argument("--requests", action="store_true", help="prompts for requests instead of answers")
    given = parser.parse_args()
    verbose = given.verbose
    if given.requests:
        prompts(verbose=verbose)
        return
    for life, told in lives().items():
        first = within = empty = never = count = 0
        clock = FakeClock(START)
        with Engram.open(":memory:", clock=clock) as memory:
            tell(told, memory, clock)
            for line, found in asked(told, memory):
                if not line.right:
                    never, empty = never + 1, empty + (not found)
                    continue
                place = line.place(found)
                count, first = count + 1, first + (place == 0)
                within += place is not None and place < FIRST
                if verbose and (place is None or place >= FIRST):
                    print(f"  missed: {line.question!r} for {line.said!r}; place {place}; {found[:2]}")
        print(
            f"{life}: {count} asked, first {first / count:.2f}, among three {within / count:.2f};"
            f" {empty} of {never} never told left empty"
        )


if __name__ == "__main__":
    main()
