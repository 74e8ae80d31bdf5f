"""What only the SQLite store has: a file, its log, its threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.engram"


@pytest.fixture
def store(path: Path, clock: FakeClock) -> Iterator[SqliteStore]:
    opened = SqliteStore.open(path, clock)
    yield opened
    opened.close()
