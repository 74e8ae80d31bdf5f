"""Publishing: the core is summed up, the file is checked, and both only when there is a reason."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from engram import Engram
from engram.model.capture import Draft
from engram.model.memory import Layer
from engram.model.scope import Access, Role, Scope
from engram.testing import FakeClock, HashEmbedder
from tests.maintain.story import START, opened, told

PUBLISH = ["publish"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


def test_the_core_is_summed_up_without_secrets_place_by_place(clock: FakeClock) -> None:
    with opened(clock) as memory:
        told(memory, "We deploy on Fridays", layer=Layer.CORE)
        told(memory, "The gate squeaks", layer=Layer.WORKING)
        told(memory, "My password is hunter2hunter2", layer=Layer.CORE)
        memory.remember_many([Draft("Ann paints birds", layer=Layer.CORE, scope=Scope(user="ann"))])
        report = memory.consolidate(stages=PUBLISH)
        assert [one.rule for one in report.decided] == ["core.summed"] * 2
        ann = memory.seen_by(Access(Scope(user="ann"), Role.AGENT), "agent")
        assert set(ann.knowledge.core().lines) == {"We deploy on Fridays", "Ann paints birds"}
        bob = memory.seen_by(Access(Scope(user="bob"), Role.AGENT), "agent")
        assert bob.knowledge.core().text == "We deploy on Fridays."
        assert memory.consolidate(stages=PUBLISH).decided == ()


def test_the_weightiest_so_many_are_told(
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.maintain.publish.CORE_LINES", 2)
    with opened(clock) as memory:
        for words, importance in (("One is light", 0.2), ("Two is heavy", 0.9), ("Three is middling", 0.5)):
            told(memory, words, layer=Layer.CORE, importance=importance)
        memory.consolidate(stages=PUBLISH)
        found = memory.knowledge.core()
        assert (found.lines, found.memories) == (("Two is heavy", "Three is middling"), 3)


def test_what_comes_to_the_core_or_leaves_it_is_noticed(clock: FakeClock) -> None:
    with opened(clock) as memory:
        one = told(memory, "We deploy on Fridays", layer=Layer.WORKING)
        memory.consolidate(stages=PUBLISH)
        assert memory.knowledge.core().lines == ()
        clock.advance(hours=1)
        memory.promote(one)
        memory.consolidate(stages=PUBLISH)
        assert memory.knowledge.core().lines == ("We deploy on Fridays",)
        clock.advance(hours=1)
        memory.demote(one)
        memory.consolidate(stages=PUBLISH)
        assert memory.knowledge.core().lines == ()
        clock.advance(hours=1)
        memory.promote(one)
        memory.consolidate(stages=PUBLISH)
        memory.erase(one)
        assert memory.knowledge.core().lines == ()


def test_a_sound_file_is_looked_at_once_a_day_and_not_changed(tmp_path: Path, clock: FakeClock) -> None:
    with Engram.open(tmp_path / "m.engram", clock=clock, embedder=HashEmbedder()) as memory:
        told(memory, "We deploy on Fridays")
        assert [one.rule for one in memory.consolidate(stages=PUBLISH).decided] == []


@pytest.mark.parametrize(("hours", "mended"), [(23, []), (24, ["file.mended"]), (25, ["file.mended"])])
def test_what_can_be_rebuilt_is_mended(
    tmp_path: Path, clock: FakeClock, hours: int, mended: list[str]
) -> None:
    path = tmp_path / "m.engram"
    with Engram.open(path, clock=clock, embedder=HashEmbedder()) as memory:
        told(memory, "We deploy on Fridays")
        memory.consolidate(stages=PUBLISH)
    db = apsw.Connection(str(path))
    db.execute("UPDATE scopes SET memories = memories + 7")
    db.close()
    clock.advance(hours=hours)
    with Engram.open(path, clock=clock, embedder=HashEmbedder()) as memory:
        report = memory.consolidate(stages=PUBLISH)
        assert [one.rule for one in report.decided] == mended
        assert all(one.ok for one in memory.doctor() if one.name == "scope counts") is bool(mended)
        assert memory.consolidate(stages=PUBLISH).decided == ()


@pytest.mark.parametrize(("days", "told_of"), [(2, []), (7, ["file.damaged"])])
def test_the_chain_of_the_ledger_is_looked_at_once_a_week(
    tmp_path: Path, clock: FakeClock, days: int, told_of: list[str]
) -> None:
    path = tmp_path / "m.engram"
    with Engram.open(path, clock=clock, embedder=HashEmbedder()) as memory:
        told(memory, "We deploy on Fridays")
        memory.consolidate(stages=PUBLISH)
    db = apsw.Connection(str(path))
    db.execute("DROP TRIGGER events_stay")
    db.execute("UPDATE events SET actor = 'somebody else'")
    db.close()
    clock.advance(days=days)
    with Engram.open(path, clock=clock, embedder=HashEmbedder()) as memory:
        assert [one.rule for one in memory.consolidate(stages=PUBLISH).decided] == told_of
        assert not all(one.ok for one in memory.doctor())
