"""Each change of a memory is an event; an erased memory leaves only bare facts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from engram.model.event import Verb
from engram.model.facts import EdgeType
from engram.model.memory import Status, Tier
from engram.model.scope import Access, Role, Scope
from engram.ports import Store, Unit
from engram.testing import FakeClock
from tests.store.making import EVERYTHING, add, change, erase, found_by, relate
from tests.tables import every


def test_events_come_newest_first_with_who_what_and_why(store: Store, clock: FakeClock) -> None:
    memory = add(store, "tea is hot")
    clock.advance(minutes=5)
    change(store, replace(memory, pinned=True), Verb.PINNED)
    newest, oldest = store.ledger.events(memory.id, EVERYTHING, 10)
    assert (newest.verb, newest.actor, newest.because) == (Verb.PINNED, "tester", "changed my mind")
    assert (oldest.verb, oldest.because, oldest.memory) == (Verb.STORED, "said so", memory.id)
    assert newest.at == clock.now()
    assert newest.at > oldest.at


def test_event_ids_count_within_the_day(store: Store, clock: FakeClock) -> None:
    for _ in range(2):
        add(store, "a")
        add(store, "b")
        clock.advance(days=1)
    assert [event.id for event in store.ledger.events(None, EVERYTHING, 10)] == [
        "EVT-20240102-002",
        "EVT-20240102-001",
        "EVT-20240101-002",
        "EVT-20240101-001",
    ]


def test_event_ids_stay_unique_when_the_clock_jumps_back(store: Store, clock: FakeClock) -> None:
    written = []
    for day in (2, 1, 2):
        clock.jump(datetime(2024, 5, day, tzinfo=UTC))
        written.append(add(store, f"on day {day}").id)
    ids = [event.id for event in store.ledger.events(None, EVERYTHING, 10)]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(r"EVT-\d{8}-\d{3,}", event_id) for event_id in ids)
    assert [event.memory for event in store.ledger.events(None, EVERYTHING, 10)] == written[::-1]


def test_a_day_may_have_more_than_999_events(store: Store) -> None:
    memory = add(store, "busy")

    def work(unit: Unit) -> None:
        for n in range(1_000):
            unit.change(replace(memory, importance=(n % 7) / 10), Verb.UPDATED, "")

    store.write(work, "tester")
    assert store.ledger.events(None, EVERYTHING, 1)[0].id == "EVT-20240101-1001"


def test_events_go_on_from_an_event(store: Store) -> None:
    memory = add(store, "first")
    add(store, "between")
    for importance in (0.1, 0.2, 0.3):
        memory = change(store, replace(memory, importance=importance))
    first = store.ledger.events(memory.id, EVERYTHING, 2)
    rest = store.ledger.events(memory.id, EVERYTHING, 10, before=first[-1].id)
    assert [event.after.get("importance") for event in first + rest] == [0.3, 0.2, 0.1, None]
    assert len(store.ledger.events(None, EVERYTHING, 10, before=first[-1].id)) == 3


def test_an_event_names_the_fields_that_differ(store: Store) -> None:
    memory = add(store, "tea is hot", importance=0.5)
    change(store, replace(memory, importance=0.75, status=Status.CHALLENGED, pinned=True))
    event = store.ledger.events(memory.id, EVERYTHING, 1)[0]
    assert event.before == {"importance": 0.5, "status": "active", "pinned": False}
    assert event.after == {"importance": 0.75, "status": "challenged", "pinned": True}


def test_earlier_words_are_in_the_history(store: Store) -> None:
    memory = add(store, "tea is hot")
    change(store, replace(memory, content="tea is cold", version=2), findable=found_by("tea is cold"))
    event = store.ledger.events(memory.id, EVERYTHING, 1)[0]
    assert (event.before["content"], event.after["content"]) == ("tea is hot", "tea is cold")
    assert (event.before["version"], event.after["version"]) == (1, 2)


def test_the_ledger_keeps_the_bare_fact_of_an_erased_memory(store: Store) -> None:
    memory = add(store, "my first hobby", tags=("shy",))
    change(store, replace(memory, content="my second hobby", tags=("woolly",), version=2))
    erase(store, memory)
    events = store.ledger.events(memory.id, EVERYTHING, 10)
    assert [event.verb for event in events] == [Verb.ERASED, Verb.UPDATED, Verb.STORED]
    assert (events[0].because, events[0].actor) == ("asked to", "tester")
    told = repr(store.ledger.events(None, EVERYTHING, 99))
    assert not [word for word in ("hobby", "shy", "woolly", memory.content_hash) if word in told]


@every("tier", [Tier.SENSITIVE, Tier.CONFIDENTIAL])
def test_the_ledger_never_holds_the_words_of_a_secret(store: Store, tier: Tier) -> None:
    memory = add(store, "pin is walnut", tier=tier)
    change(store, replace(memory, content="pin is oyster", tags=("bank",), version=2))
    event = store.ledger.events(memory.id, EVERYTHING, 1)[0]
    assert "content" in event.before
    assert not [word for word in ("walnut", "oyster", "bank") if word in repr(event)]


def test_relations_are_events_too(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    relate(store, one, two, EdgeType.SUPPORTS)
    store.write(lambda unit: unit.unrelate(one.id, two.id, EdgeType.SUPPORTS, "no more"), "tester")
    away, drawn = store.ledger.events(one.id, EVERYTHING, 2)
    assert (drawn.verb, drawn.related, drawn.because) == (Verb.RELATED, two.id, "belongs together")
    assert (away.verb, away.related, away.because) == (Verb.UNRELATED, two.id, "no more")
    assert store.ledger.events("no such id", EVERYTHING, 5) == []


def test_a_change_may_name_the_other_memory(store: Store) -> None:
    old, new = add(store, "old"), add(store, "new")
    store.write(
        lambda u: u.change(replace(old, status=Status.SUPERSEDED), Verb.SUPERSEDED, "newer", related=new.id),
        "t",
    )
    event = store.ledger.events(old.id, EVERYTHING, 1)[0]
    assert (event.verb, event.related) == (Verb.SUPERSEDED, new.id)
    assert store.memories.get(old.id, EVERYTHING) == replace(old, status=Status.SUPERSEDED)


def test_an_erased_memory_keeps_its_bare_history_for_those_who_saw_it(store: Store) -> None:
    memory = add(store, "secret", scope=Scope(agent="rex"))
    erase(store, memory)
    assert [
        event.verb for event in store.ledger.events(memory.id, Access(Scope(agent="rex"), Role.AGENT), 9)
    ] == [
        "erased",
        "stored",
    ]
    assert store.ledger.events(memory.id, Access(Scope(agent="ada"), Role.AGENT), 9) == []


def test_the_order_of_a_session_is_no_event(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    relate(store, one, two, EdgeType.NEXT)
    assert [event.verb for event in store.ledger.events(None, EVERYTHING, 9)] == ["stored", "stored"]
