"""Tokens: an owner gives them out, nobody guesses one, and a secret is kept nowhere."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engram import Engram
from engram.errors import AccessDenied, EmptyContent, InvalidInput, UnknownValue
from engram.model.scope import Access, Role, Scope
from engram.rules.sealing import digest_of, match, secret_from
from engram.testing import FakeClock, HashEmbedder

APOLLO = Scope(project="apollo")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(clock: FakeClock) -> Engram:
    return Engram.open(":memory:", clock=clock, embedder=HashEmbedder())


def test_the_bearer_of_a_secret_is_known_until_it_ends(memory: Engram, clock: FakeClock) -> None:
    issued = memory.tokens.create("rex", "agent", scope=APOLLO, expires_at=clock.now() + timedelta(days=1))

    known = memory.tokens.bearer(issued.secret)
    assert known is not None
    assert known.access == Access(APOLLO, Role.AGENT)
    assert memory.tokens.any_valid()
    assert memory.tokens.bearer(issued.secret[:-1]) is None
    assert issued.secret not in repr(issued)
    clock.advance(days=1)
    assert memory.tokens.bearer(issued.secret) is None
    assert not memory.tokens.any_valid()
    memory.close()


@pytest.mark.parametrize("role", [Role.AGENT, Role.READER, Role.ORCHESTRATOR])
def test_only_an_owner_gives_out_tokens(memory: Engram, role: Role) -> None:
    other = memory.seen_by(Access(APOLLO, role), "rex")

    for attempt in (other.tokens.list, lambda: other.tokens.create("x"), lambda: other.tokens.revoke("x")):
        with pytest.raises(AccessDenied):
            attempt()
    memory.close()


def test_an_owner_gives_out_no_more_than_its_own(memory: Engram) -> None:
    memory.tokens.create("other", scope=Scope(project="gemini"))
    apollo = memory.seen_by(Access(APOLLO), "chief")

    with pytest.raises(AccessDenied):
        apollo.tokens.create("spy", scope=Scope(project="gemini"))
    with pytest.raises(AccessDenied):
        apollo.tokens.create("spy", scope=Scope())
    assert apollo.tokens.list() == []
    memory.close()


def test_a_token_needs_a_name_and_a_known_role(memory: Engram) -> None:
    with pytest.raises(EmptyContent):
        memory.tokens.create("  ")
    with pytest.raises(UnknownValue):
        memory.tokens.create("rex", "emperor")
    with pytest.raises(InvalidInput):
        memory.tokens.revoke("nobody")
    memory.close()


def test_a_secret_needs_enough_chance_and_every_digest_is_compared() -> None:
    with pytest.raises(ValueError, match="random bytes"):
        secret_from(b"short")
    known = [(digest_of("a"), "first"), (digest_of("b"), "second")]

    assert [match(secret, known) for secret in ("a", "b", "c", "\ud800")] == ["first", "second", None, None]
