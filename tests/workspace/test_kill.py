"""Killed anywhere in a sync: no half file, no text lost, and the next sync brings both sides together."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engram import Engram
from engram.model.memory import ANY_STATUS
from engram.testing import FakeClock, HashEmbedder
from tests.workspace.test_workspace import note, replace_in

SHARES = 3
"""Every point at which a sync may die is tried; they are shared out among so many tests."""
CHILD = """
import os, signal, sys
from engram import Engram
from engram.store.sqlite import writer
from engram.testing import FakeClock, HashEmbedder

path, root, left = sys.argv[1], sys.argv[2], [int(sys.argv[3])]

def dying(before):
    def run(*args, **more):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*args, **more)
    return run

with Engram.open(path, clock=FakeClock(), embedder=HashEmbedder()) as memory:
    for name in ("replace", "unlink", "chmod"):
        setattr(os, name, dying(getattr(os, name)))
    writer.Writer.run = dying(writer.Writer.run)
    memory.workspace.sync(root)
"""


def prepared(tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """A folder and a memory that have both changed since they agreed; and everything that was said."""
    file, root = tmp_path / "memory.db", tmp_path / "home"
    with Engram.open(file, clock=FakeClock(), embedder=HashEmbedder()) as memory:
        kept = [
            memory.remember(f"Shelf {n} holds {n * 7} boxes", apart=True, category="fact").memory
            for n in range(8)
        ]
        memory.workspace.init(root, layouts=["ledger", "files"])
        for number in (0, 1, 2):
            replace_in(note(root, f"Shelf {number} holds"), "boxes", f"crates by hand {number}")
        for number in (2, 3, 4):
            memory.update(kept[number].id, content=f"Shelf {number} was moved by the memory")
        (root / "facts/new.md").write_text("A new shelf by hand\n")
        note(root, "Shelf 5 holds").unlink()
        memory.remember("The memory knows a ninth shelf", apart=True)
    said = [f"crates by hand {n}" for n in (0, 1, 2)] + [
        f"Shelf {n} was moved by the memory" for n in (2, 3, 4)
    ]
    return file, root, [*said, "A new shelf by hand", "The memory knows a ninth shelf"]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SHARES))
def test_a_death_at_every_point(tmp_path: Path, first: int) -> None:
    file, root, said = prepared(tmp_path / "first")
    died = 0
    for number in itertools.count(first, SHARES):
        here = tmp_path / f"round{number}"
        shutil.copytree(tmp_path / "first", here)
        dead = kill(here / "memory.db", here / "home", number)
        check(here / "memory.db", here / "home", said)
        shutil.rmtree(here)
        if not dead:
            break
        died += 1
    assert died >= 5
    assert file.exists()
    assert root.exists()


def kill(file: Path, root: Path, after: int) -> bool:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(file), str(root), str(after)], check=False, capture_output=True
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    return done.returncode != 0


def check(file: Path, root: Path, said: list[str]) -> None:
    for path in root.rglob("*"):
        if path.suffix in (".json", ".jsonl") and path.is_file():
            for line in path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
                json.loads(line)
    with Engram.open(file, clock=FakeClock(), embedder=HashEmbedder()) as memory:
        report = memory.workspace.sync(root)
        assert memory.workspace.sync(root).changes == 0
        known = "\n".join(one.content for one in memory.list(filters=ANY_STATUS, limit=1_000))
        files = "\n".join(path.read_text() for path in root.rglob("*.md"))
        for words in said:
            assert words in known, words
            assert words in files, words
        memory.workspace.sync(root, full=True)
        assert not [*root.rglob(".engram-*.tmp")]
        assert len(memory.conflicts.list()) == 1, report
        contents = [one.content for one in memory.list(limit=1_000)]
        assert len(contents) == len(set(contents))
