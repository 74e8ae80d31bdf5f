"""Whatever is done with names, facts and turns: what is kept about names follows from the records."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.errors import NotFound
from engram.model.capture import Turn
from engram.model.event import Verb
from engram.model.facts import Entity, Fact, Named
from engram.model.memory import ANY_STATUS, Memory
from engram.model.scope import Access, Scope
from engram.ports import Findable, Unit, View
from engram.store.sqlite import SqliteStore
from engram.testing import START, FakeClock
from tests.store.making import EVERYTHING, agent, make

RIGHT = "all stand for what is spoken of"
NAMES = st.sampled_from(("Ada", "Ada Lovelace", "Bob", "ADA", "Bob-Lab", "上海"))
PLACES = st.sampled_from((Scope(), Scope(agent="rex"), Scope("other")))
DAYS = st.integers(-2, 2)
FACTS = st.builds(
    Fact,
    st.sampled_from(("ada", "bob")),
    st.sampled_from(("lives in", "likes")),
    st.sampled_from(("rome", "oslo")),
    st.booleans(),
    st.sampled_from((1.0, 0.4)),
    st.none() | DAYS.map(lambda day: START + timedelta(days=day)),
    st.none() | DAYS.map(lambda day: START + timedelta(days=day)),
)
NAMED = st.builds(Named, NAMES, st.sampled_from(("unknown", "person", "place")), st.just("") | NAMES)
FINDABLES = st.builds(
    Findable,
    st.just(("word",)),
    st.just(()),
    st.lists(FACTS, max_size=2, unique=True).map(tuple),
    st.lists(NAMED, max_size=3, unique_by=lambda named: named.name.casefold()).map(tuple),
)
STEPS = st.one_of(
    st.tuples(st.just("add"), FINDABLES, PLACES, DAYS),
    st.tuples(st.just("change"), st.integers(0, 5), st.none() | FINDABLES, PLACES),
    st.tuples(st.just("erase"), st.integers(0, 5)),
    st.tuples(st.just("alias"), NAMES, NAMES, st.sampled_from(("default", "other"))),
    st.tuples(st.just("split"), NAMES, st.sampled_from(("default", "other"))),
    st.tuples(st.just("end"), st.integers(0, 5), FACTS),
    st.tuples(st.just("log"), st.integers(0, 3), PLACES, st.integers(0, 5)),
)
CALLERS = (EVERYTHING, Access(Scope()), agent("rex"), Access(Scope("other")))


Step = tuple[Any, ...]


@settings(max_examples=12, deadline=None)
@given(units=st.lists(st.lists(STEPS, min_size=1, max_size=5), max_size=5))
def test_names_stand_for_what_is_spoken_of(units: list[list[Step]]) -> None:
    with closing(SqliteStore.open(":memory:", FakeClock())) as store:
        ids: list[str] = []
        for steps in units:
            fresh = [make(f"memory {n}", entities=("Ada",) if n % 2 else ()) for n in range(len(steps))]
            ids = store.write(partial(do, steps=steps, fresh=fresh, ids=ids), "tester")
        assert [finding.detail for finding in store.check() if finding.name == "names"] == [RIGHT]
        for access in CALLERS:
            for entity in store.entities.page(access, 99):
                assert store.entities.memories(entity, View(access, ANY_STATUS), 99)


def do(unit: Unit, steps: list[Step], fresh: list[Memory], ids: list[str]) -> list[str]:
    """Carry out the steps; the ids of the memories that are left."""
    left = list(ids)
    for (verb, *rest), memory in zip(steps, fresh, strict=True):
        match verb, rest:
            case "add", (findable, scope, day):
                when = START + timedelta(days=day)
                unit.add(replace(memory, scope=scope, event_time=when), findable, None, "")
                left.append(memory.id)
            case "change", (number, findable, scope) if left:
                old = unit.get(left[number % len(left)])
                assert old is not None
                unit.change(replace(old, scope=scope, entities=memory.entities), Verb.UPDATED, "", findable)
            case "erase", (number,) if left:
                unit.erase(left.pop(number % len(left)), "")
            case "end", (number, fact) if left:
                unit.end_fact(left[number % len(left)], fact, START)
            case "log", (message, scope, number):
                unit.log([Turn(str(message), "s", "words", START, scope=scope)])
                for memory_id in left[number : number + 1]:
                    unit.link_turns(memory_id, [message])
            case "alias", (name, other, namespace):
                with suppress(NotFound):
                    unit.alias(name, Entity(other, namespace))
            case "split", (name, namespace):
                unit.split(name, namespace)
    return left
