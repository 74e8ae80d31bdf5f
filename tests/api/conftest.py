"""An engine as a user opens it: a real file, and a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.testing import FakeClock, HashEmbedder


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(file: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def shop(memory: Engram) -> Engram:
    memory.remember("The web shop is deployed with fly.io from the main branch")
    memory.remember("My sister Anna lives in Bremen")
    return memory
