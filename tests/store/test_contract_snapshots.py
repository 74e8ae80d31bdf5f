"""Sessions that sleep, alike in every store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from engram.model.capture import Turn
from engram.model.scope import Access, Role, Scope
from engram.model.session import Snapshot
from engram.ports import Store, Unit
from engram.testing import FakeClock
from tests.store.making import add

REX = Scope(project="apollo", agent="rex")


def snapshot(clock: FakeClock, session: str = "monday", scope: Scope = REX) -> Snapshot:
    return Snapshot(session, "rex", "gpt-4o", scope, clock.now(), 3, 2, ("id-1",), b"\x00sealed")


def test_a_snapshot_comes_back_as_it_was_kept(store: Store, clock: FakeClock) -> None:
    store.snapshots.put(snapshot(clock))

    assert store.snapshots.get("monday", REX) == snapshot(clock)
    assert store.snapshots.get("monday", Scope()) is None
    assert store.snapshots.get("tuesday", REX) is None


def test_a_later_snapshot_of_a_session_replaces_the_earlier(store: Store, clock: FakeClock) -> None:
    store.snapshots.put(snapshot(clock))
    clock.advance(minutes=1)
    store.snapshots.put(replace(snapshot(clock), turns=9, body=b"later"))

    [kept] = store.snapshots.known(Access())
    assert (kept.turns, kept.saved_at, kept.body) == (9, clock.now(), b"")


def test_only_who_may_write_there_is_told_of_a_snapshot(store: Store, clock: FakeClock) -> None:
    store.snapshots.put(snapshot(clock))
    store.snapshots.put(snapshot(clock, "other", Scope(project="apollo", agent="ada")))

    seen = store.snapshots.known(Access(REX, Role.AGENT))

    assert [one.session for one in seen] == ["monday"]
    assert store.snapshots.known(Access(REX, Role.READER)) == []
    assert len(store.snapshots.known(Access())) == 2


def test_a_snapshot_is_removed_once(store: Store, clock: FakeClock) -> None:
    store.snapshots.put(snapshot(clock))

    assert store.snapshots.remove("monday", REX)
    assert not store.snapshots.remove("monday", REX)


def test_old_snapshots_expire(store: Store, clock: FakeClock) -> None:
    store.snapshots.put(snapshot(clock, "old"))
    clock.advance(hours=25)
    store.snapshots.put(snapshot(clock, "new"))

    assert store.snapshots.expire(clock.now() - timedelta(hours=24)) == 1
    assert [one.session for one in store.snapshots.known(Access())] == ["new"]


def test_erasing_a_memory_takes_the_snapshots_that_have_words_of_it(store: Store, clock: FakeClock) -> None:
    told = add(store, "The door code is 4711", session="door")
    for session, held in (("mind", (told.id,)), ("door", ()), ("other", ())):
        store.snapshots.put(replace(snapshot(clock, session), memories=held))

    def erase(unit: Unit) -> None:
        unit.erase(told.id, "asked to")

    store.write(erase, "test")

    assert [one.session for one in store.snapshots.known(Access())] == ["other"]


def test_erasing_a_memory_takes_the_snapshot_of_the_talk_it_came_from(store: Store, clock: FakeClock) -> None:
    told = add(store, "The door code is 4711")
    turn = Turn("1", "talk", "my door code is 4711", clock.now())

    def listen(unit: Unit) -> None:
        unit.log([turn])

    store.write(listen, "test")
    [logged] = store.turns.of_session("talk", Access(), 10, 0)
    store.write(lambda unit: unit.link_turns(told.id, [logged.key]), "test")
    for session in ("talk", "other"):
        store.snapshots.put(replace(snapshot(clock, session), memories=()))

    store.write(lambda unit: unit.erase(told.id, ""), "test")

    assert [one.session for one in store.snapshots.known(Access())] == ["other"]


def test_the_key_stays_the_same(store: Store) -> None:
    assert store.snapshots.key() == store.snapshots.key()
    assert len(store.snapshots.key()) == 32
