"""Every store keeps the same contract: each test here runs over each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from engram.ports import Store
from engram.testing import FakeClock, MemoryStore

Opener = Callable[[], AbstractContextManager[Store]]

KINDS = ("memory", "sqlite")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=KINDS)
def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Opener:
    """Opens a new, empty store each time."""
    if request.param == "memory":
        return lambda: closing(MemoryStore(clock))
    sqlite = pytest.importorskip("engram.store.sqlite")
    files = iter(tmp_path / f"{number}.engram" for number in range(1_000_000))
    return lambda: closing(sqlite.SqliteStore.open(next(files), clock, sqlite.StoreSettings()))


@pytest.fixture
def store(open_store: Opener) -> Iterator[Store]:
    with open_store() as opened:
        yield opened
