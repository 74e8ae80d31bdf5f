"""A memory with a clock to move and the real embedder: what is alike must be alike in meaning."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engram import Engram
from engram.testing import FakeClock

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock, file: Path) -> Iterator[Engram]:
    with Engram.open(file, clock=clock) as one:
        yield one
