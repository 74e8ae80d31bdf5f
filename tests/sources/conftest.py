"""A memory on a real file, a clock that is moved by hand, and an embedder that is quick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.capture import IngestReport
from engram.testing import FakeClock, HashEmbedder
from tests.cli.conftest import home, shell

__all__ = ["home", "shell"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(file: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as opened:
        yield opened


def written(path: Path, content: Any) -> Path:
    """A file with this text, these bytes, or these values as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def fates(report: IngestReport) -> list[str]:
    return [str(item.outcome) for item in report.items]


def contents(memory: Engram) -> set[str]:
    """Every memory that is in use."""
    return {one.content for one in memory.list(limit=1000)}
