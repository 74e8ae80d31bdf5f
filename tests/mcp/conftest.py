"""A memory as an agent sees it through the MCP door: a real file, nothing of the reader's own settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Access, Engram, Role
from engram.testing import FakeClock, HashEmbedder
from tests.cli.shell import Shell


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[Engram]:
    access = Access(role=Role.AGENT)
    opened = Engram.open(
        tmp_path / "memory.db", clock=clock, embedder=HashEmbedder(), access=access, actor="mcp"
    )
    with opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it, and none of the reader's own settings."""
    for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("ENGRAM_CONFIG", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def file(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the memory is kept that commands and hooks open."""
    path = tmp_path / "test.engram"
    monkeypatch.setenv("ENGRAM_FILE", str(path))
    return path


@pytest.fixture
def shell(file: Path) -> Shell:
    return Shell(file)
