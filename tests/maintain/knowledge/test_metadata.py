"""Metadata: memories from before it was worked out get theirs, and are found by it."""

from __future__ import annotations

from dataclasses import replace

from engram import Engram, Filters
from engram.model.event import Verb
from engram.ports import Unit
from engram.testing import FakeClock
from tests.maintain.knowledge.stories import learned, rules, told


def test_old_memories_get_their_metadata_once(memory: Engram, clock: FakeClock) -> None:
    ids = told(memory, clock, ["Anna fixed the crash in src/auth.py", "The PostgreSQL backup ran", "…"])
    store = memory.maintenance._caller.tools.store  # noqa: SLF001 - only a former version could leave it out

    def lose(unit: Unit) -> None:
        for one in ids:
            kept = unit.get(one)
            assert kept is not None
            unit.change(replace(kept, metadata={}), Verb.UPDATED, "as it was before")

    store.write(lose, "test")
    wanted = Filters(technologies=frozenset({"postgresql"}))
    assert list(memory.list(filters=wanted)) == []
    assert rules(learned(memory))["metadata.filled"] == 2
    assert [one.id for one in memory.list(filters=wanted)] == [ids[1]]
    assert memory.get(ids[0]).metadata["people"] == ["Anna"]  # type: ignore[union-attr]
    assert learned(memory).decided == ()
