"""Housekeeping: marks of old reviews go, the buffer is not stuck, the core holds what lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zlib import crc32

import apsw
import pytest

from engram import Engram
from engram.model.memory import Layer, Policy, Status
from engram.ports import WORDING
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, overheard, rules, told, use

STAGE = ["housekeeping"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock, meaning=True) as one:
        yield one


def test_marks_of_an_old_review_go_after_a_day(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "The gate is green", tags=("promotion", "gate-rejected", "gate"), layer=Layer.WORKING)
    clock.advance(hours=24)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).tags == ("gate-rejected", "gate")
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).tags == ("gate",)


def test_what_is_stuck_in_the_buffer_rises_or_goes(memory: Engram, clock: FakeClock) -> None:
    kept = overheard(memory, "The gate is green", policy=Policy.PROTECTED)
    gone = overheard(memory, "The lift was slow")
    used = overheard(memory, "The stairs are steep")
    use(memory, used, 2)
    clock.advance(days=7)
    assert memory.consolidate(stages=STAGE).changes == 0
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    assert now(memory, kept).layer is Layer.WORKING
    assert now(memory, gone).status is Status.ARCHIVED
    assert now(memory, used).status is Status.ACTIVE


@pytest.mark.parametrize("passing", [{"tags": ("session",)}, {"policy": Policy.EPHEMERAL}])
def test_what_passes_leaves_the_core_and_does_not_come_back(
    memory: Engram, clock: FakeClock, passing: dict[str, object]
) -> None:
    one = told(memory, "Never deploy on a Friday", layer=Layer.CORE, importance=0.9, **passing)
    use(memory, one, 9, clock.now())
    clock.advance(minutes=1)
    assert rules(memory.consolidate(stages=STAGE))[one] == "core.hygiene"
    clock.advance(minutes=1)
    memory.consolidate()
    assert now(memory, one).layer is Layer.WORKING


def test_overlapping_memories_of_the_core_are_flagged_once(memory: Engram, clock: FakeClock) -> None:
    both = [
        told(memory, words, layer=Layer.CORE, apart=True)
        for words in ("The staging server runs in Berlin", "The staging server runs in Munich")
    ]
    told(memory, "Anna likes tea", layer=Layer.CORE)
    clock.advance(minutes=1)
    report = memory.consolidate(stages=STAGE)
    assert [(line.rule, {line.memory, line.related}) for line in report.decided] == [
        ("core.overlap", set(both))
    ]
    clock.advance(minutes=1)
    assert memory.consolidate(stages=STAGE).changes == 0


# ---------------------------------------------------------------- words


def test_what_another_version_read_is_read_anew(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "memory.db"
    with Engram.open(path, clock=clock) as memory:
        memory.remember("My sister Paula lives in Lisbon")
        memory.remember("We had a labrador called Bruno")
    with closing(apsw.Connection(str(path))) as db:
        now_read = db.execute("SELECT row, body, cues, length, wording FROM texts").fetchall()
        db.execute("UPDATE texts SET cues = '', wording = 0")
    clock.advance(days=1)

    with Engram.open(path, clock=clock) as memory:
        (words,) = [one for one in memory.doctor() if one.name == "words"]
        memory.consolidate(stages=STAGE, dry=True)
        before = [one.detail for one in memory.doctor() if one.name == "words"]
        report = memory.consolidate(stages=STAGE)
        (after,) = [one for one in memory.doctor() if one.name == "words"]

    assert words.ok
    assert before == [words.detail]
    assert "2 were read by another version" in words.detail
    assert "another version" not in after.detail
    assert report.changes == 0
    with closing(apsw.Connection(str(path))) as db:
        assert db.execute("SELECT row, body, cues, length, wording FROM texts").fetchall() == now_read


def test_rules_that_read_other_words_are_another_edition(tmp_path: Path, clock: FakeClock) -> None:
    """Where this fails the rules find other words in a text than before: raise WORDING, note both."""
    path = tmp_path / "memory.db"
    lives = Path(__file__).parents[2] / "benchmarks" / "data" / "told_then_asked.tsv"
    told_there = [row.split("\t")[2] for row in lives.read_text(encoding="utf-8").splitlines() if "\t" in row]
    with Engram.open(path, clock=clock) as memory:
        memory.remember_many(["My sister Paula, 41, is allergic to nuts", *told_there[:200]])
    with closing(apsw.Connection(str(path))) as db:
        found = db.execute("SELECT body, cues FROM texts ORDER BY row").fetchall()

    assert (WORDING, crc32(repr(found).encode())) == (1, 3646401860)
