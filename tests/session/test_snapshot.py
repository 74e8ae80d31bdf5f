"""Going to sleep and waking up: what comes back, and what only the key opens."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.memory import Space
from engram.model.session import Anticipated, Origin, Restored
from engram.rules.sealing import seal, unseal
from engram.session.state import Ages, Meaning, State, bring_back, to_bytes
from engram.testing import FakeClock, HashEmbedder, sequential_ids
from tests.tables import every

KEY, OTHER, NONCE = bytes(range(32)), bytes(32), bytes(range(12))


@pytest.fixture
def lived() -> State:
    """A session that has seen something."""
    clock, state, embedder = FakeClock(), State(sequential_ids(), len), HashEmbedder()
    for message, reply in (("Anna lives in Bremen", "noted"), ("where does Anna live?", "in Bremen")):
        space, rows = embedder.embed([message, message])
        exchange, _ = state.hear(message, Meaning(space, rows), clock.now())
        space, rows = embedder.embed([reply, reply])
        state.answer(exchange, reply, Meaning(space, rows))
        clock.advance(seconds=45)
    state.hold("book a train", Origin.USER, clock.now())
    state.anticipation.counted = Anticipated(3, 2)
    return state


def test_a_short_sleep_changes_nothing(lived: State) -> None:
    woken, now = State(sequential_ids(), len), FakeClock().now()

    restored = bring_back(woken, to_bytes(lived), timedelta(hours=3.9), Ages(), now)

    assert restored is Restored.WHOLE
    assert woken.history == lived.history
    assert [(one.content, one.activation, one.origin) for one in woken.working.slots] == [
        (one.content, one.activation, one.origin) for one in lived.working.slots
    ]
    assert all(one.used_at == now for one in woken.working.slots)
    assert woken.momentum is not None
    assert lived.momentum is not None
    assert np.array_equal(woken.momentum.centroid, lived.momentum.centroid)
    assert woken.momentum.confidence == lived.momentum.confidence
    assert (woken.turns, woken.anticipation.counted) == (lived.turns, lived.anticipation.counted)
    assert next(iter(woken.buffer)).entities == ("Anna", "Bremen")


def test_a_longer_sleep_weakens(lived: State) -> None:
    woken = State(sequential_ids(), len)

    assert (
        bring_back(woken, to_bytes(lived), timedelta(hours=8), Ages(), FakeClock().now()) is Restored.DECAYED
    )
    assert [round(one.activation, 2) for one in woken.working.slots] == [0.84, 0.76]
    assert woken.history == lived.history


def test_after_a_day_nothing_comes_back(lived: State) -> None:
    woken = State(sequential_ids(), len)

    assert (
        bring_back(woken, to_bytes(lived), timedelta(hours=24), Ages(), FakeClock().now()) is Restored.FRESH
    )
    assert (woken.history, woken.working.slots, woken.momentum) == ([], (), None)


@every("body", [b"", b"{}", b'{"version": 99}', b'{"version": 1}', b"\xff\x00"])
def test_what_cannot_be_read_is_a_fresh_start(body: bytes) -> None:
    woken = State(sequential_ids(), len)

    assert bring_back(woken, body, timedelta(0), Ages(), FakeClock().now()) is Restored.FRESH
    assert (woken.turns, woken.working.slots) == (0, ())


def test_wiping_leaves_nothing(lived: State) -> None:
    lived.wipe()

    assert (lived.history, lived.working.slots, lived.momentum, lived.before) == ([], (), None, "")


def test_vectors_keep_their_space(lived: State) -> None:
    woken = State(sequential_ids(), len)
    bring_back(woken, to_bytes(lived), timedelta(0), Ages(), FakeClock().now())

    assert woken.momentum is not None
    assert woken.momentum.space == Space("hash", 64)


# ---------------------------------------------------------------- sealing


@given(st.binary(max_size=5_000))
def test_what_is_sealed_comes_back_with_its_key_alone(plain: bytes) -> None:
    sealed = seal(plain, KEY, NONCE, "session")

    assert unseal(sealed, KEY, "session") == bytearray(plain)
    assert unseal(sealed, OTHER, "session") is None
    assert unseal(sealed, KEY, "something else") is None


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_changed_byte_is_noticed(plain: bytes, data: st.DataObject) -> None:
    sealed = bytearray(seal(plain, KEY, NONCE, "session"))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= data.draw(st.integers(1, 255))

    assert unseal(bytes(sealed), KEY, "session") is None


@given(st.binary(max_size=100))
def test_any_bytes_are_refused_and_none_breaks_it(sealed: bytes) -> None:
    assert unseal(sealed, KEY, "session") is None


def test_sealed_bytes_say_nothing() -> None:
    words = b"my door code is 4711 " * 200
    sealed, again = seal(words, KEY, NONCE, "s"), seal(words, KEY, bytes(12), "s")

    assert b"4711" not in sealed
    assert sealed[57:] != again[57:]
    counts = np.bincount(np.frombuffer(sealed[57:], dtype=np.uint8), minlength=256) / len(sealed[57:])
    entropy = -sum(share * np.log2(share) for share in counts if share)
    assert entropy > 7.9


def test_a_wrong_key_or_nonce_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        seal(b"", b"short", NONCE, "")
    with pytest.raises(ValueError, match="12"):
        seal(b"", KEY, b"", "")
