"""A memory and a folder beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.testing import FakeClock, HashEmbedder

HOMES = Path(__file__).parent / "homes"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(tmp_path / "memory.db", clock=clock, embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(tmp_path / "other.db", clock=clock, embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home"


def home(name: str, to: Path) -> Path:
    """A folder as users of another system have it."""
    shutil.copytree(HOMES / name, to)
    return to
