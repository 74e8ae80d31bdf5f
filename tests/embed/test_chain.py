"""A chain answers with its first working member, says which, and goes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from engram.embed import ChainEmbedder
from engram.errors import ConfigError, EmbedderDown, EmbedderError, EmbedderMismatch
from engram.model.memory import Space
from engram.ports import Health
from engram.testing import FakeClock

Floats = NDArray[np.float32]


@dataclass
class Switchable:
    """An embedder that can be broken and mended."""

    name: str
    dims: int
    failure: EmbedderError | None = None
    calls: int = 0
    health_calls: int = field(default=0)

    @property
    def space(self) -> Space:
        return Space(self.name, self.dims)

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        self.calls += 1
        if self.failure:
            raise self.failure
        return self.space, np.ones((len(texts), self.dims), dtype=np.float32)

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        space, rows = self.embed([text])
        return space, rows[0]

    def health(self) -> Health:
        self.health_calls += 1
        return Health(self.failure is None, self.failure.message if self.failure else f"{self.name} is well")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def first() -> Switchable:
    return Switchable("first", 4)


@pytest.fixture
def second() -> Switchable:
    return Switchable("second", 2)


@pytest.fixture
def chain(first: Switchable, second: Switchable, clock: FakeClock) -> ChainEmbedder:
    return ChainEmbedder([first, second], clock.monotonic)


def test_the_first_answers_while_it_is_well(
    chain: ChainEmbedder, first: Switchable, second: Switchable
) -> None:
    space, vectors = chain.embed(["one", "two"])

    assert space == chain.space == first.space
    assert vectors.shape == (2, 4)
    assert chain.active is first
    assert chain.health() == Health(ok=True, detail="first is well")
    assert second.calls == 0


@pytest.mark.parametrize("failure", [EmbedderDown("It sleeps."), EmbedderMismatch("It lies.")])
def test_the_next_one_steps_in_and_the_chain_says_why(
    chain: ChainEmbedder, first: Switchable, second: Switchable, failure: EmbedderError
) -> None:
    first.failure = failure
    space, vector = chain.embed_query("where?")

    assert space == second.space
    assert vector.shape == (2,)
    assert chain.active is second
    assert chain.space == second.space
    assert chain.health() == Health(ok=True, detail=f"second is well; fallen back because: {failure.message}")


def test_a_member_that_was_never_well_is_passed_over_by_health_too(
    chain: ChainEmbedder, first: Switchable, second: Switchable
) -> None:
    first.failure = EmbedderDown("It sleeps.")

    assert chain.health().ok
    assert chain.active is second


def test_a_failed_member_rests_and_then_comes_back(
    chain: ChainEmbedder, first: Switchable, second: Switchable, clock: FakeClock
) -> None:
    first.failure = EmbedderDown("It sleeps.")
    chain.embed(["one"])
    first.failure = None
    clock.advance(seconds=29)
    assert chain.embed(["two"])[0] == second.space
    assert (first.calls, first.health_calls) == (1, 0)

    clock.advance(seconds=1)
    assert chain.embed(["three"])[0] == first.space
    assert chain.health() == Health(ok=True, detail="first is well")


def test_a_member_that_is_still_ill_rests_again(
    chain: ChainEmbedder, first: Switchable, second: Switchable, clock: FakeClock
) -> None:
    first.failure = EmbedderDown("It sleeps.")
    chain.embed(["one"])
    clock.advance(seconds=31)
    for _ in range(3):
        assert chain.embed(["two"])[0] == second.space

    assert (first.calls, first.health_calls) == (1, 1)


def test_when_none_works_the_failure_is_told(
    chain: ChainEmbedder, first: Switchable, second: Switchable
) -> None:
    first.failure, second.failure = EmbedderDown("It sleeps."), EmbedderDown("It is gone.")

    with pytest.raises(EmbedderDown, match="It is gone"):
        chain.embed(["one"])
    with pytest.raises(EmbedderDown, match=r"It sleeps\. It is gone\."):
        chain.embed(["two"])
    assert not chain.health().ok


def test_a_chain_needs_a_member() -> None:
    with pytest.raises(ConfigError):
        ChainEmbedder([])
