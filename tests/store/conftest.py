"""What a store promises whoever uses it: each test here runs on one in memory; --postgres: on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing

import pytest

from engram.ports import Store
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock

Opener = Callable[[], AbstractContextManager[Store]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def open_store(clock: FakeClock) -> Opener:
    """Opens a new, empty store each time."""
    return lambda: closing(SqliteStore.open(":memory:", clock))


@pytest.fixture
def store(open_store: Opener) -> Iterator[Store]:
    with open_store() as opened:
        yield opened
