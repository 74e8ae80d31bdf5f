"""Triggers, alike in every store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from engram.model.scope import Access, Scope
from engram.model.session import Trigger
from engram.ports import Store
from engram.testing import START
from tests.store.making import agent

ONE = Trigger("aa", ("order", "上海"), ("entity:Ada",), Scope(), START)


def test_a_trigger_comes_back_as_it_was_kept(store: Store) -> None:
    store.triggers.put(ONE)

    assert store.triggers.known(Access()) == [ONE]


def test_a_trigger_is_kept_in_place_of_the_former_one(store: Store) -> None:
    store.triggers.put(ONE)
    store.triggers.put(replace(ONE, words=("other",), pages=("tag:x", "tag:y")))

    assert [one.words for one in store.triggers.known(Access())] == [("other",)]


def test_triggers_are_seen_from_their_place_oldest_first(store: Store) -> None:
    late = replace(ONE, id="bb", created_at=START + timedelta(days=1))
    rex = replace(ONE, id="cc", scope=Scope(agent="rex"))
    for one in (late, rex, ONE):
        store.triggers.put(one)

    assert [one.id for one in store.triggers.known(agent("rex"))] == ["aa", "cc", "bb"]
    assert [one.id for one in store.triggers.known(agent("ada"))] == ["aa", "bb"]


def test_a_trigger_is_removed_once(store: Store) -> None:
    store.triggers.put(ONE)

    assert store.triggers.remove("aa")
    assert not store.triggers.remove("aa")
    assert store.triggers.known(Access()) == []
