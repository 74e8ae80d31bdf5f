"""An engine as a user opens it: a real file, the real local embedder, and a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram, Recall
from engram.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(file: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(file, clock=clock) as opened:
        yield opened


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found]
