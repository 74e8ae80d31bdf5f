"""Killed: a process that dies anywhere in a consolidation loses nothing and does nothing twice."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.maintenance import RunState
from engram.model.memory import Kind, Layer
from engram.testing import FakeClock, HashEmbedder
from tests.maintain.story import START, told, use

ROUNDS = 30
NOW = START + timedelta(days=60)
SETTINGS = {"maintain.slice": 5, "forgetting.buffer_cap": 12}
STAGES = ["housekeeping", "promotion", "review", "merge", "forgetting"]
CHILD = """
import json, os, signal, sys
from datetime import datetime
from engram import Engram
from engram.store.sqlite import writer
from engram.model.maintenance import RunState
from engram.testing import FakeClock, HashEmbedder

path, now, left, settings, stages = json.loads(sys.argv[1])
left = [left]

def dying(before):
    def run(self, *args, **more):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        result = before(self, *args, **more)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return run

clock = FakeClock(datetime.fromisoformat(now))
with Engram.open(path, clock=clock, embedder=HashEmbedder(), config=settings) as memory:
    writer.Writer.run = dying(writer.Writer.run)
    memory.consolidate(stages=stages)
    print("done", -left[0])
"""


def test_a_killed_run_ends_as_one_that_nobody_disturbed(tmp_path: Path) -> None:
    """Dies before or after a random write, thirty times, each time going on in a new process."""
    begun = tmp_path / "begun.engram"
    fill(begun)
    whole = copied(begun, tmp_path / "whole.engram")
    writes = run(whole, 0)
    assert writes is not None
    assert writes > ROUNDS
    wanted = state(whole)
    chance = random.Random(5)
    kills = 0
    while kills < ROUNDS:
        broken = copied(begun, tmp_path / "broken.engram")
        while run(broken, chance.randint(1, writes // 2)) is None:
            kills += 1
        assert state(broken) == wanted


def fill(path: Path) -> None:
    """Some of everything that the rules look at."""
    clock = FakeClock(START)
    chance = random.Random(3)
    said = [
        f"The {thing} of the {place} is {how}"
        for thing in ("door", "roof", "lamp", "pump")
        for place in ("house", "shed", "barn")
        for how in ("green", "broken")
    ]
    with Engram.open(path, clock=clock, embedder=HashEmbedder(), config=SETTINGS) as memory:
        for place in range(120):
            one = told(
                memory,
                chance.choice(said) + chance.choice(("", "", " really")),
                layer=chance.choice(tuple(Layer)),
                kind=chance.choice((Kind.EPISODIC, Kind.SEMANTIC)),
                importance=chance.choice((0.2, 0.5, 0.8)),
                tags=chance.choice(((), (), ("session",), ("lesson",), ("promotion",))),
                source=chance.choice(("agent", "import")),
                apart=True,
            )
            use(memory, one, chance.choice((0, 0, 1, 6)), clock.now())
            if place % 7 == 0:
                memory.forget(one)
            clock.advance(hours=12)
        told(memory, "Anna lives in Rome", layer=Layer.WORKING, apart=True)
        clock.advance(hours=2)
        told(memory, "Anna lives in Berlin", layer=Layer.WORKING, apart=True)


def copied(path: Path, to: Path) -> Path:
    for old in to.parent.glob(f"{to.name}*"):
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink()
    shutil.copy(path, to)
    return to


def run(path: Path, die_at: int) -> int | None:
    """Consolidate in another process; how many writes it took, None when it was killed."""
    asked = json.dumps([str(path), NOW.isoformat(), die_at, SETTINGS, STAGES])
    done = subprocess.run([sys.executable, "-c", CHILD, asked], capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGKILL:
        return None
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[1])


def state(path: Path) -> Any:
    """All that is known, and what the run decided; ids of events and their times aside."""
    with Engram.open(path, clock=FakeClock(NOW), embedder=HashEmbedder()) as memory:
        records = {record["id"]: record for record in memory.export()}
        reports = memory.maintenance.runs()
        lines = [
            (line.rule, line.memory, line.related, line.outcome)
            for run in reports
            for line in memory.maintenance.report(run.id).decided
        ]
        # One that was killed after its last write is done: the next process begins a run that finds nothing.
        assert all(run.state is RunState.DONE for run in reports)
        return records, lines


pytestmark = pytest.mark.slow
