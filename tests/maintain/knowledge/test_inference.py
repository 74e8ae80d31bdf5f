"""Inference: what follows from facts is remembered as long as they hold."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.model.facts import EdgeType, Fact, ToldFact
from engram.model.memory import Status, Verification
from engram.rules.chains import compositions, conclude
from engram.testing import FakeClock
from engram.text.statement import canonical
from tests.maintain.knowledge.stories import learned, place, rules, tagged, told, words_in
from tests.tables import every

WORK = ("Anna works at Siemens", "Siemens is located in Munich", "Munich is located in Bavaria")


def contents(memory: Engram) -> set[str]:
    return {one.content for one in tagged(memory, "inferred")}


def test_what_follows_is_remembered_with_what_it_rests_on(memory: Engram, clock: FakeClock) -> None:
    ids = told(memory, clock, WORK, kind="semantic")
    assert rules(learned(memory))["inference.drawn"] == 3
    assert contents(memory) == {
        "Anna works in Munich",
        "Anna works in Bavaria",
        "Siemens is located in Bavaria",
    }
    far = next(one for one in tagged(memory, "inferred") if one.content == "Anna works in Bavaria")
    assert far.verification is Verification.SYSTEM_INFERRED
    edges = [edge for edge in memory.relations(far.id) if edge.type is EdgeType.INFERRED_FROM]
    assert {edge.target for edge in edges} == set(ids)
    assert learned(memory).decided == ()
    assert memory.conflicts.list() == []


def test_when_a_premise_gives_way_the_conclusion_does(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, WORK, kind="semantic")
    learned(memory)
    memory.remember("Siemens is located in Erlangen now")
    clock.advance(hours=1)
    learned(memory)
    assert "Anna works in Bavaria" not in contents(memory)
    assert "Anna works in Erlangen" in contents(memory)
    assert learned(memory).decided == ()


def test_a_conclusion_that_a_person_put_away_is_not_drawn_again(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, WORK[:2], kind="semantic")
    learned(memory)
    (one,) = tagged(memory, "inferred")
    memory.forget(one.id)
    told(memory, clock, ["Bob works at Bosch"], kind="semantic")
    learned(memory)
    assert memory.get(one.id).status is Status.ARCHIVED  # type: ignore[union-attr]
    assert contents(memory) == set()


def test_places_are_never_mixed(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, WORK[:1], kind="semantic", scope=place("rex"))
    told(memory, clock, WORK[1:2], kind="semantic")
    learned(memory)
    assert contents(memory) == set()


def test_erasing_a_premise_erases_what_was_concluded(memory: Engram, clock: FakeClock, file: Path) -> None:
    ids = told(memory, clock, ["Anna works at Quarzwerk", "Quarzwerk is located in Xylo"], kind="semantic")
    learned(memory)
    assert contents(memory) == {"Anna works in Xylo"}
    memory.erase(ids[1])
    assert rules(learned(memory))["inference.erased"] == 1
    memory.close()
    assert not words_in(file, "Xylo")


@every(("first", "second"), sorted(compositions()))
def test_the_list_names_predicates_in_their_one_form(first: str, second: str) -> None:
    made = compositions()[first, second]
    assert (canonical(first), canonical(second)) == (first, second)
    assert canonical(made) == made


NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
FACTS = st.builds(
    Fact, NAMES, st.sampled_from(["located in", "part of", "live in", "is a", "depend on"]), NAMES
)


@given(st.lists(FACTS, max_size=12, unique=True), st.integers(2, 6))
def test_no_chain_is_too_long_or_comes_by_a_name_twice(facts: list[Fact], steps: int) -> None:
    told_facts = [ToldFact(key, fact) for key, fact in enumerate(facts)]
    stated = {(one.subject, one.predicate, one.object) for one in facts}
    for one in conclude(told_facts, steps, 0.1):
        names = [one.premises[0].fact.subject, *(premise.fact.object for premise in one.premises)]
        assert len(one.premises) <= steps
        assert len(set(names)) == len(names)
        assert (one.fact.subject, one.fact.predicate, one.fact.object) not in stated
