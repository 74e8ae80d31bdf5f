"""Flows on a real store with fakes around it: a clock moved by hand, vectors of shared words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.config import Config
from engram.index import SignatureIndex
from engram.ports import Tools
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock, HashEmbedder, sequential_ids


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def tools(clock: FakeClock) -> Iterator[Tools]:
    store = SqliteStore.open(":memory:", clock)
    yield Tools(
        store=store,
        index=SignatureIndex(store),
        embedder=HashEmbedder(),
        clock=clock,
        config=Config(),
        new_id=sequential_ids(),
        count_tokens=len,
    )
    store.close()


@pytest.fixture
def memory(file: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(file, clock=clock) as opened:
        yield opened
