"""A process that dies while it listens loses no turn it acknowledged, and no turn is captured twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from engram import Engram
from engram.testing import HashEmbedder

ROUNDS = 6
ACKNOWLEDGED = 25

LISTEN_UNTIL_KILLED = dedent("""
    import sys
    from engram import Engram
    from engram.testing import HashEmbedder
    memory = Engram.open(sys.argv[1], embedder=HashEmbedder())
    for n in range(100_000):
        word = f"{sys.argv[2]}x{n}"
        memory.observe(f"We walked {n} miles to {word} valley", session="s", message_id=word)
        print(word, flush=True)
""")


def start(path: Path, name: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", LISTEN_UNTIL_KILLED, str(path), name]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": f"{root / 'src'}:{root}"}
    )


@pytest.mark.slow
def test_what_was_heard_is_captured_once_after_any_crash(file: Path) -> None:
    acknowledged: list[str] = []
    for number in range(ROUNDS):
        with start(file, f"r{number}") as child:
            assert child.stdout is not None
            lines = [child.stdout.readline() for _ in range(ACKNOWLEDGED + number)]
            child.kill()
            lines += child.stdout.read().splitlines(keepends=True)
        acknowledged += [line.strip() for line in lines if line.endswith("\n")]

    with Engram.open(file, embedder=HashEmbedder()) as memory:
        memory.flush()
        turns = memory.turns("s", limit=10_000)
        assert {turn.id for turn in turns} >= set(acknowledged)
        assert all(turn.captured_at for turn in turns)
        kept = list(memory.list(limit=1000))
        told = [one for one in kept if one.usage.repeated == 0]
        assert len(kept) == len(told) == len(turns)
        assert all(len(memory.said(one.id)) == 1 for one in kept)


@pytest.mark.slow
def test_two_processes_that_listen_to_one_session_capture_each_turn_once(file: Path) -> None:
    names = ("a", "b")
    children = [start(file, name) for name in names]
    for child in children:
        with child:
            assert child.stdout is not None
            for _ in range(ACKNOWLEDGED):
                child.stdout.readline()
            child.kill()

    with Engram.open(file, embedder=HashEmbedder()) as memory:
        memory.flush()
        turns = memory.turns("s", limit=10_000)
        kept = list(memory.list(limit=1000))
        assert len(kept) == len(turns)
        assert [one.usage.repeated for one in kept] == [0] * len(kept)
