"""A consolidation leaves two points in the history of a folder, and one can go back to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import WorkspaceError
from engram.testing import FakeClock
from tests.workspace.test_workspace import note, replace_in


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.com", *arguments],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


@pytest.fixture
def kept(memory: Engram, folder: Path) -> str:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    found = memory.remember("The tap in the kitchen leaks").memory
    memory.workspace.init(folder, layouts=["ledger", "files"])
    return found.id


def test_a_commit_before_and_after_a_consolidation(memory: Engram, folder: Path, kept: str) -> None:
    (folder / "mine.txt").write_text("not yours")
    (folder / "staged.txt").write_text("staged, not yours")
    git(folder, "add", "staged.txt")
    memory.consolidate()
    subjects = git(folder, "log", "--format=%s %an").splitlines()
    assert [one.split()[0] for one in subjects] == ["consolidate", "pre-consolidate"]
    assert all(one.endswith("Engram") for one in subjects)
    assert "Engram-Run: RUN-" in git(folder, "log", "-1", "--format=%B")
    tracked = git(folder, "ls-files").splitlines()
    assert "mine.txt" not in tracked
    assert not any("state.json" in one or "lock" in one for one in tracked)
    assert git(folder, "diff", "--cached", "--name-only").splitlines() == ["staged.txt"]
    (report,) = (folder / "knowledge/consolidation-reports").glob("*.md")
    assert "RUN-" in report.read_text()


def test_rollback_restores_files_and_memory_together(
    memory: Engram, folder: Path, kept: str, clock: FakeClock
) -> None:
    memory.consolidate()
    (point, *_) = memory.workspace.points(folder)
    clock.advance(days=1)
    replace_in(note(folder, "leaks"), "leaks", "was repaired")
    newer = memory.remember("The roof is new").memory
    memory.workspace.sync(folder)
    memory.consolidate()
    (folder / "mine.txt").write_text("not yours")

    memory.workspace.rollback(folder, point.id[:10])

    was = memory.get(kept)
    assert was is not None
    assert was.content == "The tap in the kitchen leaks"
    gone = memory.get(newer.id)
    assert gone is not None
    assert str(gone.status) == "archived"
    assert note(folder, "leaks").exists()
    assert not [path for path in folder.glob("facts/*/*.md") if "roof" in path.read_text()]
    assert (folder / "mine.txt").read_text() == "not yours"
    assert memory.workspace.status(folder).edited == ()
    assert memory.workspace.sync(folder).changes == 0
    assert "rolled back" in git(folder, "log", "-1", "--format=%s")
    assert ".engram" not in git(folder, "status", "--short", "--ignored=no"), (
        "what we keep there is no file of theirs"
    )


def test_what_consolidation_did_is_taken_back(
    memory: Engram, folder: Path, kept: str, clock: FakeClock
) -> None:
    weak = memory.remember("Lunch today was pizza", source="agent", importance=0.1).memory
    memory.workspace.sync(folder)
    clock.advance(days=120)
    memory.consolidate()
    gone = memory.get(weak.id)
    assert gone is not None
    assert str(gone.status) == "archived"
    before = next(one for one in memory.workspace.points(folder) if one.subject.startswith("pre-"))
    memory.workspace.rollback(folder, before.id)
    back = memory.get(weak.id)
    assert back is not None
    assert str(back.status) == "active"


def test_without_a_repository_there_is_no_point(memory: Engram, folder: Path) -> None:
    memory.workspace.init(folder)
    memory.consolidate()
    with pytest.raises(WorkspaceError, match="no git repository"):
        memory.workspace.rollback(folder, "HEAD")


def test_a_point_that_is_none_is_refused(memory: Engram, folder: Path, kept: str) -> None:
    memory.consolidate()
    with pytest.raises(WorkspaceError, match="no point"):
        memory.workspace.rollback(folder, "--hard")
