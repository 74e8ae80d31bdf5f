"""What memories state: in a scope, by question, at a time, and where two of them cannot both be true."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from engram.errors import NotFound
from engram.model.facts import Claim, Fact, FactQuery
from engram.model.memory import Filters, Memory, Status
from engram.model.scope import Access, Role, Scope
from engram.ports import Store, View
from engram.testing import START, FakeClock
from tests.store.making import ALL, EVERYTHING, agent, change, contents, erase, found_by, make, put, view

DAY = timedelta(days=1)
IN_USE = View(EVERYTHING, Filters())


def lives(city: str, who: str = "ada", **fields: Any) -> Fact:
    return Fact(who, "lives in", city, functional=True, **fields)


def state(store: Store, *facts: Fact, **fields: Any) -> Memory:
    """A memory that states these facts and nothing else."""
    content = ", ".join(f"{fact.subject} {fact.predicate} {fact.object}" for fact in facts)
    return put(store, make(content, **fields), findable=found_by(content, facts=facts))


def objects(claims: Iterable[Claim]) -> list[str]:
    return [claim.fact.object for claim in claims]


def asking(*subjects: str, **parts: Any) -> FactQuery:
    return FactQuery(frozenset(subjects), **parts)


def test_facts_are_found_in_the_very_scope_newest_first(store: Store) -> None:
    here, below = Scope(project="apollo"), Scope(project="apollo", agent="rex")
    for city, scope in (("paris", here), ("rome", here), ("oslo", below), ("bonn", here)):
        state(store, lives(city), Fact("ada", "likes", "tea"), scope=scope)
    last = store.memories.page(ALL, 1).memories[0]
    change(store, replace(last, status=Status.SUPERSEDED))

    home, hate = ("ada", "lives in"), ("ada", "hates")
    found = store.facts.stated([home, hate, home], here, 10)
    records = store.memories.read(found[home])
    assert [*found] == [home]
    assert contents(records[key] for key in found[home]) == [
        "ada lives in rome, ada likes tea",
        "ada lives in paris, ada likes tea",
    ]
    assert len(store.facts.stated([home], here, 1)[home]) == 1
    assert store.facts.stated([home], Scope("never"), 10) == {}


def test_new_words_bring_new_facts(store: Store) -> None:
    memory = state(store, lives("rome"))
    moved = replace(memory, content="Ada lives in Oslo", version=2)
    change(store, moved, findable=found_by(moved.content, facts=[lives("oslo")]))
    assert store.facts.find(asking("ada"), ALL, 9) == [Claim(lives("oslo"), moved)]


def test_a_fact_is_as_sure_as_its_memory_unless_it_says_less(store: Store) -> None:
    sure, unsure = Fact("ada", "likes", "tea"), Fact("ada", "likes", "rum", confidence=0.3)
    held = Fact("ada", "likes", "milk", valid_from=START, valid_to=START + DAY)
    state(store, sure, unsure, held, confidence=0.8)
    tea, rum, milk = (claim.fact for claim in store.facts.find(asking("ada"), ALL, 9))
    assert (tea.confidence, rum.confidence, milk.confidence) == (0.8, 0.3, 0.8)
    assert (tea.valid_from, tea.valid_to) == (None, None)
    assert (milk.valid_from, milk.valid_to) == (START, START + DAY)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (asking(), ["oslo", "rum", "tea", "rome"]),
        (asking("Ada"), ["tea", "rome"]),
        (asking("ada", "bob"), ["oslo", "rum", "tea", "rome"]),
        (asking(predicates=frozenset({"likes"})), ["rum", "tea"]),
        (asking(objects=frozenset({"TEA", "Oslo"})), ["oslo", "tea"]),
        (asking("ada", objects=frozenset({"tea", "oslo"})), ["tea"]),
        (asking("ada", predicates=frozenset({"lives in"}), objects=frozenset({"oslo"})), []),
        (asking("' OR 1=1 --"), []),
    ],
)
def test_facts_are_found_by_their_parts(store: Store, query: FactQuery, found: list[str]) -> None:
    state(store, lives("rome"))
    state(store, Fact("ada", "likes", "tea"))
    state(store, Fact("bob", "likes", "rum"))
    state(store, lives("oslo", "bob"))
    assert objects(store.facts.find(query, ALL, 10)) == found
    assert objects(store.facts.find(query, ALL, 1)) == found[:1]


@pytest.mark.parametrize("query", [asking(), asking("ada"), asking(objects=frozenset({"tea", "rum", "gin"}))])
def test_nobody_finds_facts_of_memories_they_may_not_see(store: Store, query: FactQuery) -> None:
    for drink, name in (("tea", ""), ("rum", "rex"), ("gin", "ada")):
        state(store, Fact("ada", "likes", drink), scope=Scope(agent=name))
    state(store, Fact("ada", "likes", "tea"), scope=Scope("other"))
    assert objects(store.facts.find(query, view(agent("rex")), 10)) == ["rum", "tea"]
    assert objects(store.facts.find(query, view(Access(Scope())), 10)) == ["gin", "rum", "tea"]
    assert store.facts.find(query, view(Access(Scope("none"), Role.OWNER)), 10) == []


def test_filters_hold_for_facts_too(store: Store) -> None:
    state(store, lives("rome"), status=Status.SUPERSEDED)
    state(store, lives("oslo"), tags=("trip",))
    assert objects(store.facts.find(asking("ada"), IN_USE, 10)) == ["oslo"]
    assert objects(store.facts.find(asking("ada"), view(tags_any=frozenset({"home"})), 10)) == []


def test_at_each_time_what_held_then_is_found(store: Store) -> None:
    """Rome from the first day, replaced on the third; Oslo said on the third, ended on the fifth."""
    state(store, lives("rome"), status=Status.SUPERSEDED, valid_to=START + 3 * DAY)
    state(store, lives("oslo", valid_to=START + 5 * DAY), event_time=START + 3 * DAY)
    state(store, lives("bonn", valid_from=START + 9 * DAY))
    state(store, lives("mars"), valid_from=START + 20 * DAY)

    def at(day: int) -> list[str]:
        return objects(store.facts.find(asking("ada", as_of=START + day * DAY), IN_USE, 10))

    assert [at(day) for day in (-1, 0, 2, 3, 4, 5, 9, 30)] == [
        [], ["rome"], ["rome"], ["oslo"], ["oslo"], [], ["bonn"], ["mars", "bonn"],
    ]  # fmt: skip


def test_a_fact_can_end(store: Store) -> None:
    memory = state(store, lives("rome"), Fact("ada", "likes", "tea"))
    store.write(lambda unit: unit.end_fact(memory.id, lives("rome"), START + DAY), "tester")
    rome, tea = (claim.fact for claim in store.facts.find(asking("ada"), ALL, 10))
    assert (rome.valid_to, tea.valid_to) == (START + DAY, None)
    assert objects(store.facts.find(asking("ada", as_of=START + 2 * DAY), ALL, 10)) == ["tea"]
    with pytest.raises(NotFound):
        store.write(lambda unit: unit.end_fact("no such memory", lives("rome"), START), "tester")


def test_what_has_ended_stays_ended_when_the_words_are_read_again(store: Store) -> None:
    memory = state(store, lives("rome"))
    store.write(lambda unit: unit.end_fact(memory.id, lives("rome"), START + DAY), "tester")
    findable = found_by(memory.content, facts=[lives("rome"), Fact("ada", "likes", "tea")])
    change(store, replace(memory, tags=("trip",)), findable=findable)
    rome, tea = (claim.fact for claim in store.facts.find(asking("ada"), ALL, 10))
    assert (rome.valid_to, tea.valid_to) == (START + DAY, None)


def disputes(store: Store, seen: View = IN_USE, limit: int = 10) -> list[tuple[str, str]]:
    return [(one.fact.object, two.fact.object) for one, two in store.facts.disputed(seen, limit)]


def test_what_cannot_both_be_true_is_disputed(store: Store) -> None:
    state(store, lives("rome"))
    state(store, lives("oslo"), status=Status.CHALLENGED)
    state(store, Fact("ada", "likes", "tea"))
    state(store, Fact("ada", "likes", "rum"))
    state(store, lives("oslo", "bob"))
    assert disputes(store) == [("oslo", "rome")]


def test_the_newest_disputes_come_first(store: Store) -> None:
    for city in ("rome", "oslo", "rome", "bonn"):
        state(store, lives(city))
    for city in ("paris", "york"):
        state(store, lives(city, "bob"))
    assert disputes(store) == [("york", "paris"), ("bonn", "rome"), ("bonn", "oslo")]
    assert disputes(store, limit=2) == [("york", "paris"), ("bonn", "rome")]


def test_what_is_over_or_elsewhere_is_no_dispute(store: Store, clock: FakeClock) -> None:
    state(store, lives("rome"), status=Status.SUPERSEDED)
    state(store, lives("bonn", valid_to=clock.now()))
    state(store, lives("york", valid_from=clock.now() + DAY))
    state(store, lives("nice"), valid_to=clock.now() - DAY)
    state(store, lives("kiel"), scope=Scope(agent="rex"))
    state(store, lives("oslo"))
    state(store, lives("oslo"))
    state(store, lives("here", "bob"), lives("there", "bob"))
    assert disputes(store) == []
    clock.advance(days=1)
    assert disputes(store) == [("oslo", "york")]


def test_nobody_sees_disputes_of_others(store: Store) -> None:
    for city in ("rome", "oslo"):
        state(store, lives(city), scope=Scope(agent="rex"))
    assert disputes(store, View(agent("rex"), Filters())) == [("oslo", "rome")]
    assert disputes(store, View(agent("ada"), Filters())) == []


def test_an_erased_memory_states_nothing(store: Store) -> None:
    erase(store, state(store, lives("rome")))
    assert store.facts.find(asking(), ALL, 10) == []
