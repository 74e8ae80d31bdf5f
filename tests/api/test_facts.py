"""`memory.facts`: who is what to whom."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from engram import Access, Engram, Outcome, Role, Scope, Status
from engram.errors import (
    AccessDenied,
    EmptyContent,
    InvalidInput,
    NotFound,
    OutOfRange,
    UnknownValue,
    WrongType,
)
from engram.model.facts import Claim, Fact
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every


def told(claims: Sequence[Claim]) -> list[str]:
    return [f"{one.fact.subject} {one.fact.predicate} {one.fact.object}" for one in claims]


def test_a_fact_that_was_added_is_a_memory_in_words(memory: Engram) -> None:
    receipt = memory.facts.add("Anna", "works at", "Siemens", confidence=0.8, tags=["people"])

    assert (receipt.outcome, receipt.memory.content) == (Outcome.STORED, "Anna works at Siemens")
    assert receipt.memory.tags == ("people",)
    [claim] = memory.facts.query("anna")
    assert claim.fact == Fact("anna", "work at", "siemens", functional=True)
    assert claim.fact.confidence == 0.8
    assert claim.memory.id == receipt.memory.id


def test_what_a_text_states_needs_no_adding(memory: Engram) -> None:
    memory.remember("Anna lives in Rome and works at Acme")

    assert told(memory.facts.query("Anna")) == ["anna live in rome", "anna work at acme"]
    assert told(memory.facts.query(predicate="lives in")) == ["anna live in rome"]
    assert told(memory.facts.query(object="ACME")) == ["anna work at acme"]


def test_another_object_takes_the_place_of_the_old_one(memory: Engram, clock: FakeClock) -> None:
    old = memory.facts.add("Anna", "works at", "Siemens").memory
    clock.advance(days=10)
    receipt = memory.facts.add("Anna", "work at", "Acme")

    assert (receipt.outcome, receipt.other) == (Outcome.SUPERSEDED, old.id)
    assert told(memory.facts.query("Anna")) == ["anna work at acme"]
    before, after = memory.facts.history("Anna", "works at")
    assert told([before, after]) == ["anna work at siemens", "anna work at acme"]
    assert before.fact.valid_to == after.fact.valid_from == clock.now()
    assert after.fact.valid_to is None


def test_what_can_be_many_stands_side_by_side(memory: Engram) -> None:
    memory.facts.add("Anna", "likes", "tea")
    memory.facts.add("Anna", "likes", "coffee")
    memory.facts.add("Anna", "orbits", "the sun")
    memory.facts.add("Anna", "orbits", "the moon", functional=True)

    assert len(memory.facts.query("Anna", "like")) == 2
    assert len(memory.facts.query("Anna", "orbits")) == 2


def test_the_past_is_asked_with_a_date(memory: Engram, clock: FakeClock) -> None:
    memory.facts.add("Anna", "lives in", "Rome")
    then = clock.now() + timedelta(days=1)
    clock.advance(days=10)
    memory.facts.add("Anna", "lives in", "Oslo")

    assert told(memory.facts.query("Anna", as_of=then)) == ["anna live in rome"]
    assert told(memory.facts.query("Anna", as_of=clock.now().isoformat())) == ["anna live in oslo"]
    assert len(memory.facts.query("Anna", history=True)) == 2


def test_a_fact_with_dates_holds_between_them(memory: Engram, clock: FakeClock) -> None:
    year = clock.now().year
    memory.facts.add(
        "Anna", "works at", "Siemens", valid_from=f"{year - 5}-01-01", valid_to=f"{year - 1}-01-01"
    )

    assert memory.facts.query("Anna") == []
    assert told(memory.facts.query("Anna", history=True)) == ["anna work at siemens"]


def test_what_is_told_of_the_past_takes_nothings_place(memory: Engram, clock: FakeClock) -> None:
    memory.facts.add("Anna", "works at", "Siemens")
    receipt = memory.facts.add("Anna", "works at", "Acme", valid_to=clock.now() - timedelta(days=400))

    assert receipt.outcome == Outcome.STORED
    assert told(memory.facts.query("Anna")) == ["anna work at siemens"]
    assert memory.facts.conflicts() == []


def test_every_name_of_somebody_finds_what_is_known(memory: Engram) -> None:
    memory.remember("Anna Smith lives in Rome")
    memory.entities.alias("Anna Smith", "Annie")

    assert told(memory.facts.query("annie")) == ["anna smith live in rome"]


def test_a_short_form_or_a_first_name_finds_what_is_known(memory: Engram) -> None:
    memory.remember("Anna Smith lives in Rome")
    memory.remember("The backend depends on postgres")

    assert told(memory.facts.query("anna")) == ["anna smith live in rome"]
    assert told(memory.facts.query(object="PostgreSQL")) == ["backend depend on postgres"]
    memory.remember("Anna Jones lives in Oslo")
    assert memory.facts.query("anna") == []  # which of the two?


def test_a_wide_word_finds_the_narrow_ones(memory: Engram) -> None:
    memory.remember("I have a dog named Rex")
    memory.remember("My sister is Eva")

    assert told(memory.facts.query("I", "pet")) == ["user dog rex"]
    assert told(memory.facts.query("user", "sibling")) == ["user sister eva"]


def test_facts_lead_from_one_to_the_next(memory: Engram) -> None:
    memory.facts.add("Anna", "works at", "Siemens", confidence=0.8)
    memory.facts.add("Siemens", "located in", "Munich", confidence=0.5)

    [path] = memory.facts.chain("Anna", goal="Munich")
    assert (path.names, path.confidence) == (("anna", "siemens", "munich"), 0.4)
    assert len(memory.facts.chain("Anna", hops=1)) == 1
    assert memory.facts.chain("Bob") == []


def test_names_that_mean_one_thing_join_a_chain(memory: Engram) -> None:
    memory.remember("Anna works at Siemens AG")
    memory.remember("Siemens is located in Munich")
    memory.entities.alias("Siemens", "Siemens AG")

    assert [path.names[-1] for path in memory.facts.chain("anna")] == ["siemens ag", "munich"]


def test_a_fact_can_be_ended(memory: Engram, clock: FakeClock) -> None:
    memory.facts.add("Anna", "lives in", "Rome")
    clock.advance(days=3)
    [claim] = memory.facts.query("Anna")
    changed = memory.facts.end(claim, because="moved away")

    assert memory.facts.query("Anna") == []
    assert changed.valid_to == clock.now()
    assert memory.events(changed.id)[0].because == "moved away"
    memory.update(changed.id, tags=["old"])  # read again: the end is not lost
    assert memory.facts.query("Anna") == []
    [past] = memory.facts.history("Anna")
    assert past.fact.valid_to == clock.now()


def test_one_of_several_facts_ends_by_itself(memory: Engram) -> None:
    both = memory.remember("Anna lives in Rome and works at Acme").memory
    changed = memory.facts.end(both.id, Fact("anna", "work at", "acme"))

    assert told(memory.facts.query("Anna")) == ["anna live in rome"]
    assert (changed.status, changed.valid_to) == (Status.ACTIVE, None)
    with pytest.raises(UnknownValue, match="anna live in rome"):
        memory.facts.end(both.id)
    with pytest.raises(NotFound):
        memory.facts.end("ffffffff")


def test_two_that_cannot_both_be_true_are_in_conflict(memory: Engram) -> None:
    memory.remember("Anna lives in Rome", speaker="Bob")
    memory.remember("Anna lives in Oslo", speaker="Clara")

    [pair] = memory.facts.conflicts()
    assert sorted(told(pair)) == ["anna live in oslo", "anna live in rome"]


@every(
    ("parts", "error"),
    [
        (("", "likes", "tea"), EmptyContent),
        (("Anna", " ", "tea"), EmptyContent),
        (("Anna", "likes", 7), WrongType),
        (("Anna", "likes", "tea" * 100), InvalidInput),
    ],
)
def test_a_fact_needs_its_three_parts(
    memory: Engram, parts: tuple[str, str, str], error: type[InvalidInput]
) -> None:
    with pytest.raises(error):
        memory.facts.add(*parts)


def test_bad_questions_are_refused(memory: Engram) -> None:
    with pytest.raises(OutOfRange):
        memory.facts.query("Anna", limit=0)
    with pytest.raises(OutOfRange):
        memory.facts.chain("Anna", hops=9)
    with pytest.raises(UnknownValue):
        memory.facts.add("Anna", "likes", "tea", colour="blue")
    with pytest.raises(OutOfRange):
        memory.facts.add("Anna", "likes", "tea", confidence=2.0)


def test_nobody_sees_or_writes_facts_of_another_place(memory: Engram, file: Path) -> None:
    memory.facts.add("Anna", "likes", "tea", scope=Scope(project="apollo"))
    access = Access(Scope(project="gemini"), Role.AGENT)
    with Engram.open(file, access=access, embedder=HashEmbedder()) as other:
        assert other.facts.query("Anna") == []
        with pytest.raises(AccessDenied):
            other.facts.add("Anna", "likes", "tea", scope=Scope(project="apollo"))
    assert len(memory.facts.query("Anna", scope=Scope(project="apollo"))) == 1


@every(
    ("first", "then"),
    [
        ("My dentist is Dr. Alvarez", "My dentist is Dr. Kim now"),
        ("Dr Patel is my GP", "Dr. Patel is no longer my GP"),
        ("我的律师是赵律师", "我的律师是钱律师"),
    ],
)
def test_who_has_a_title_gives_way_to_who_comes_after(memory: Engram, first: str, then: str) -> None:
    old = memory.remember(first).memory

    assert memory.remember(then).outcome is Outcome.SUPERSEDED
    assert (found := memory.get(old.id))
    assert found.status is Status.SUPERSEDED


def test_a_title_with_and_without_its_full_stop_is_one_and_names_nobody_alone(memory: Engram) -> None:
    memory.remember("My dentist is Dr. Alvarez")
    memory.remember("Dr Alvarez lives in Leith")
    memory.remember("I met Dr. Kim in Rome")

    assert told(memory.facts.query("Alvarez", "lives in")) == ["dr alvarez live in leith"]
    assert told(memory.facts.query(object="Dr. Alvarez")) == ["user dentist dr alvarez"]
    assert told(memory.facts.query("dr. alvarez")) == ["dr alvarez live in leith"]
    assert "Dr" not in [one.name for one in memory.entities.list()]
