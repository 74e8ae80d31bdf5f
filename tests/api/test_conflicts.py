"""`memory.conflicts`: what contradicts what."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Access, EdgeType, Engram, Memory, Role, Scope, Status
from engram.errors import AccessDenied, InvalidInput, UnknownValue
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every


@pytest.fixture
def pair(memory: Engram, clock: FakeClock) -> tuple[Memory, Memory]:
    """Two people say where Anna lives."""
    rome = memory.remember("Anna lives in Rome", speaker="Bob").memory
    clock.advance(days=1)
    return rome, memory.remember("Anna lives in Oslo", speaker="Clara").memory


def statuses(memory: Engram, *memories: Memory) -> list[str]:
    return [found.status.value for one in memories if (found := memory.get(one.id))]


def test_facts_that_exclude_each_other_are_listed(memory: Engram, pair: tuple[Memory, Memory]) -> None:
    [conflict] = memory.conflicts.list()

    assert {conflict.a.id, conflict.b.id} == {one.id for one in pair}
    assert conflict.facts is not None
    assert "anna live in" in conflict.because


def test_a_pair_that_was_marked_is_listed_once(memory: Engram) -> None:
    one, two = memory.remember("The lake is deep").memory, memory.remember("A puddle is what it was").memory
    memory.relate(one.id, two.id, EdgeType.CONTRADICTS)
    memory.relate(two.id, one.id, EdgeType.CONTRADICTS)

    [conflict] = memory.conflicts.list()
    assert {conflict.a.id, conflict.b.id} == {one.id, two.id}
    memory.forget(two.id)
    assert memory.conflicts.list() == []


def test_what_was_replaced_is_no_conflict(memory: Engram) -> None:
    memory.remember("My editor is vim")
    memory.remember("My editor is Helix")

    assert memory.conflicts.list() == []


@every(("keep", "first", "second"), [("a", "active", "superseded"), ("b", "superseded", "active")])
def test_one_stays_and_the_other_gives_way(
    memory: Engram, pair: tuple[Memory, Memory], keep: str, first: str, second: str
) -> None:
    rome, oslo = pair
    memory.set_status(rome.id, Status.CHALLENGED)
    kept = memory.conflicts.resolve(rome.id, oslo.id, keep, because="asked her")

    assert statuses(memory, rome, oslo) == [first, second]
    assert memory.conflicts.list() == []
    gone = oslo if keep == "a" else rome
    event = memory.events(gone.id)[0]
    assert [one.because for one in memory.events(gone.id) if one.verb == "superseded"] == ["asked her"]
    assert event.actor == "human"
    edges = {(edge.source, edge.target, edge.type) for edge in memory.relations(kept.id)}
    assert (kept.id, gone.id, EdgeType.SUPERSEDES) in edges
    assert memory.restore(gone.id).status is Status.ACTIVE


def test_both_may_be_true_after_all(memory: Engram, pair: tuple[Memory, Memory]) -> None:
    rome, oslo = pair
    memory.relate(rome.id, oslo.id, EdgeType.CONTRADICTS)
    memory.set_status(oslo.id, Status.CHALLENGED)
    memory.conflicts.resolve(rome.id, oslo.id, "both", because="two homes")

    assert statuses(memory, rome, oslo) == ["active", "active"]
    assert memory.conflicts.list() == []
    assert sorted(claim.fact.object for claim in memory.facts.query("Anna")) == ["oslo", "rome"]


def test_two_may_become_one(memory: Engram, pair: tuple[Memory, Memory]) -> None:
    rome, oslo = pair
    merged = memory.conflicts.resolve(rome.id, oslo.id, "merge")

    assert (merged.id, merged.content) == (oslo.id, "Anna lives in Rome. Anna lives in Oslo")
    assert statuses(memory, rome, oslo) == ["merged", "active"]
    assert memory.events(oslo.id)[-1].verb == "stored"


def test_a_choice_must_make_sense(memory: Engram, pair: tuple[Memory, Memory]) -> None:
    rome, oslo = pair
    with pytest.raises(UnknownValue):
        memory.conflicts.resolve(rome.id, oslo.id, "c")
    with pytest.raises(InvalidInput, match="itself"):
        memory.conflicts.resolve(rome.id, rome.id, "a")


def test_a_reader_may_look_but_not_decide(memory: Engram, pair: tuple[Memory, Memory], file: Path) -> None:
    with Engram.open(file, access=Access(Scope(), Role.READER), embedder=HashEmbedder()) as reader:
        assert len(reader.conflicts.list()) == 1
        with pytest.raises(AccessDenied):
            reader.conflicts.resolve(pair[0].id, pair[1].id, "a")
