"""Tokens and the news of the ledger, alike in every store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from engram.errors import BadCursor
from engram.model.scope import Access, Role, Scope, Token
from engram.ports import Store
from engram.testing import FakeClock
from tests.store.making import add


def token(clock: FakeClock, id_: str = "7f3a91c2") -> Token:
    return Token(id_, "rex", Role.AGENT, Scope(project="apollo", agent="rex"), clock.now())


def test_a_token_comes_back_as_it_was_kept(store: Store, clock: FakeClock) -> None:
    one = replace(token(clock), expires_at=clock.now() + timedelta(days=30))
    store.tokens.add(one, "digest")

    assert store.tokens.known() == [("digest", one)]


def test_a_token_is_revoked_once(store: Store, clock: FakeClock) -> None:
    store.tokens.add(token(clock), "digest")

    assert store.tokens.revoke("7f3a91c2", clock.now())
    assert not store.tokens.revoke("7f3a91c2", clock.now())
    assert not store.tokens.revoke("unknown", clock.now())
    assert store.tokens.known()[0][1].revoked_at == clock.now()


def test_the_last_use_is_noted(store: Store, clock: FakeClock) -> None:
    store.tokens.add(token(clock), "digest")
    store.tokens.used("7f3a91c2", clock.now())
    store.tokens.used("unknown", clock.now())
    store.flush()

    assert store.tokens.known()[0][1].last_used == clock.now()


def test_what_came_after_an_event_is_told_oldest_first(store: Store, clock: FakeClock) -> None:
    assert store.ledger.newest() == ""
    for content in ("one", "two"):
        add(store, content)
    place = store.ledger.newest()
    add(store, "three")
    add(store, "four", scope=Scope(agent="ada"))

    everything = store.ledger.after("", Access(), 10)
    later = store.ledger.after(place, Access(), 10)
    seen = store.ledger.after(place, Access(Scope(agent="rex"), Role.AGENT), 10)

    assert len(everything) == 4
    assert later == everything[2:]
    assert seen == later[:1]
    assert store.ledger.after(store.ledger.newest(), Access(), 10) == []
    assert store.ledger.after("", Access(), 3) == everything[:3]
    with pytest.raises(BadCursor):
        store.ledger.after("EVT-1", Access(), 10)
