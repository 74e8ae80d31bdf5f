"""A year in one go: people talk every day, the clock moves, the memory is consolidated and dreams each night.

    python benchmarks/year.py [--days 365] [--turns 20500] [--out results]

Prints and plots how much is kept, how many facts are still found at rank 5 or better, how many corrected ones
come back, and whether anything protected was lost. What is measured is the engine as it comes: no model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.year_world import PEOPLE, Held, World
from engram import Engram, Scope
from engram.model.memory import Status
from engram.testing import FakeClock

START = datetime(2025, 1, 1, 8, tzinfo=UTC)
RANK = 5
ASKED_A_DAY = 6
"""Questions that people ask a day: what is asked for is used."""


@dataclass(frozen=True, slots=True)
class Look:
    """How the memory is on one day."""

    day: int
    turns: int
    active: int
    stored: int
    found: float
    """Share of repeated or important facts that a question finds at rank 5 or better."""
    resurfaced: float
    """Share of corrected facts whose former value is a hit, and none above it has the present one."""
    protected_lost: int


def main() -> None:
    """Live through the year."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--days", type=int, default=365)
    asked.add_argument("--turns", type=int, default=20_500)
    asked.add_argument("--every", type=int, default=30, help="days between two looks")
    asked.add_argument("--out", type=Path, help="folder for year.json and year.svg")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        looks = live(World(given.days, given.turns), Path(folder, "year.db"), given.every)
    if given.out:
        keep(looks, given.out)


def live(world: World, file: Path, every: int) -> list[Look]:
    """The whole year; a look every so many days and at the end."""
    clock = FakeClock(START)
    looks: list[Look] = []
    turns, began = 0, time.perf_counter()
    with Engram.open(file, clock=clock) as memory:
        kept = protect(memory)
        for day in range(world.days):
            clock.jump(START + timedelta(days=day))
            turns += hear(memory, world, day, clock)
            ask(memory, world, day)
            clock.jump(START + timedelta(days=day, hours=18))
            memory.consolidate()
            memory.dream()
            if day % every == every - 1 or day == world.days - 1:
                looks.append(look(memory, world, day, turns, kept))
                tell(looks[-1], time.perf_counter() - began)
    return looks


def protect(memory: Engram) -> list[str]:
    """What must never go: pinned, protected, procedural and P0 memories that nobody ever asks for."""
    ids = []
    for person in PEOPLE:
        scope = Scope(user=person.lower())
        ids.append(
            memory.remember(
                f"The safe of {person} opens with the blue key.", scope=scope, pinned=True
            ).memory.id
        )
        ids.append(
            memory.remember(f"Never call {person} before nine.", scope=scope, category="constraint").memory.id
        )
        how = f"To reset the router of {person}: press the button, wait ten seconds, press again."
        ids.append(memory.remember(how, scope=scope, kind="procedural", source="agent").memory.id)
    return ids


def hear(memory: Engram, world: World, day: int, clock: FakeClock) -> int:
    """What is said on a day, each person in a session of their own."""
    said = world.day(day)
    for one in said:
        clock.advance(seconds=30)
        memory.observe(
            one.user, one.assistant, session=f"{one.person}-{day}", scope=Scope(user=one.person.lower())
        )
    for person in PEOPLE:
        memory.flush(scope=Scope(user=person.lower()))
    return 2 * len(said)


def ask(memory: Engram, world: World, day: int) -> None:
    """People ask for a few of the things they have said."""
    known = [one for one in world.held if one.at(day) is not None]
    for place in range(ASKED_A_DAY):
        if known:
            one = known[(day * 7 + place * 13) % len(known)]
            memory.recall(
                one.attribute.asked, scope=Scope(user=one.person.lower()), limit=RANK, session=f"ask-{day}"
            )


def look(memory: Engram, world: World, day: int, turns: int, kept: list[str]) -> Look:
    """How it stands on a day."""
    counted = memory.stats()
    known = [one for one in world.held if one.at(day) is not None]
    found = [is_found(memory, one, day) for one in known]
    corrected = [one for one in known if one.former(day)]
    back = [comes_back(memory, one, day) for one in corrected]
    lost = [one for one in kept if (held := memory.get(one)) is None or held.status is not Status.ACTIVE]
    return Look(
        day + 1,
        turns,
        counted.by_status.get("active", 0),
        counted.memories,
        sum(found) / max(1, len(found)),
        sum(back) / max(1, len(back)),
        len(lost),
    )


def answers(memory: Engram, one: Held) -> list[str]:
    """The first hits of a question, in their words; it leaves no trace."""
    scope = Scope(user=one.person.lower())
    found = memory.recall(one.attribute.asked, scope=scope, limit=RANK, dry=True)
    return [hit.memory.content.lower() for hit in found]


def is_found(memory: Engram, one: Held, day: int) -> bool:
    """Whether the present value is among the first hits."""
    value = str(one.at(day)).lower()
    return any(value in words for words in answers(memory, one))


def comes_back(memory: Engram, one: Held, day: int) -> bool:
    """Whether a former value is told as if it held: as a hit, and none above it has the present one."""
    now, former = str(one.at(day)).lower(), [value.lower() for value in one.former(day)]
    for words in answers(memory, one):
        if now in words:
            return False
        if any(value in words for value in former):
            return True
    return False


def tell(one: Look, seconds: float) -> None:
    """One line of the year."""
    share = one.active / max(1, one.turns)
    print(
        f"day {one.day}: {one.turns:,} turns, {one.active:,} active ({share:.1%}), found {one.found:.1%}, "
        f"resurfaced {one.resurfaced:.1%}, protected lost {one.protected_lost}, {seconds:.0f} s",
        flush=True,
    )


def keep(looks: list[Look], folder: Path) -> None:
    """Write the figures and their plot."""
    from benchmarks.plot import Line, plot

    (folder / "year.json").write_text(json.dumps([asdict(one) for one in looks], indent=1) + "\n")
    days = [float(one.day) for one in looks]
    lines = [
        Line("active / turns", days, [one.active / one.turns for one in looks]),
        Line("facts found at rank <= 5", days, [one.found for one in looks]),
        Line("corrected facts that came back", days, [one.resurfaced for one in looks]),
    ]
    (folder / "year.svg").write_text(plot("A year of remembering", lines, x="day", y="share"))


if __name__ == "__main__":
    main()
