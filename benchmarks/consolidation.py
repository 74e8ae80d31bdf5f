"""How long a consolidation takes: sizes come in, a table of seconds and memory comes out.

    python benchmarks/consolidation.py [--sizes 1000,10000,100000] [--keep FOLDER]

Made-up notes of some two hundred days, written straight into the file as they would stand there when nobody
had looked for repetitions: one in five says again what was said before (the same words, fillers, a clause
more), one in twenty says the same of another number. Layers, sources and uses are mixed. Then, each in a
process of its own: the first consolidation, which has everything to look at; a second one at once, which
should find next to nothing; and one a day later, after another hundredth of notes. Last, on a fresh copy,
questions that somebody asks now and then while the first consolidation goes on in the same process, and how
long they wait for an answer while it works and while it rests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice, takewhile
from pathlib import Path
from statistics import quantiles
from threading import Event
from typing import Any

from engram import Engram
from engram.bench.speed import queries, rss_mb, sentences
from engram.capture.pipeline import make_ready
from engram.maintain.pipeline import consolidation
from engram.model.capture import Draft
from engram.model.memory import Layer, Usage
from engram.ports import Unit
from engram.testing import FakeClock

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 200
TOGETHER = 1_000
AGAIN, OTHERWISE = 0.20, 0.05
"""Shares of notes that repeat an earlier one, and of those that say it of another number."""
RECENT = 5_000
"""Repetitions are of one of the latest notes."""
ASKED, PAUSE_S, TURN_S = 200, 0.05, 1.0
"""Questions of somebody who asks beside a run, how long they pause before each, and how long the run works
before it rests as long."""
FILLERS = ("Actually, {}", "So {}", "Really, {}", "Well, {}")
CLAUSES = ("{} and nobody minded", "{} as planned", "{} and it was fine in the end")


def notes(seed: int, amount: int) -> Iterator[Draft]:
    """Notes with repetitions, oldest first."""
    rng = random.Random(seed)
    fresh, said = sentences(seed), list[str]()
    for _ in range(amount):
        chance = rng.random()
        if said and chance < AGAIN:
            words = _again(rng, said[-rng.randint(1, min(len(said), RECENT))])
        elif said and chance < AGAIN + OTHERWISE:
            words = _otherwise(rng, said[-rng.randint(1, min(len(said), RECENT))])
        else:
            words = next(fresh)
            said.append(words)
        source = rng.choice(("human", "agent", "session", "import"))
        layer = rng.choices((Layer.BUFFER, Layer.WORKING, Layer.CORE), (2, 7, 1))[0]
        yield Draft(words, source=source, layer=layer, importance=round(rng.betavariate(3, 3), 2))


def _again(rng: random.Random, words: str) -> str:
    """The same, as people say it again."""
    kind = rng.randrange(3)
    if kind == 0:
        return words
    forms = FILLERS if kind == 1 else CLAUSES
    return rng.choice(forms).format(words.removesuffix(".")) + "."


def _otherwise(rng: random.Random, words: str) -> str:
    """Nearly the same, and not the same."""
    return f"{words.removesuffix('.')}, {rng.randint(2, 99)} times."


def build(path: Path, amount: int, seed: int, began: datetime = BEGAN, days: float = DAYS) -> None:
    """Write the notes into a file, with their vectors and words."""
    rng = random.Random(seed)
    step = timedelta(days=days) / amount
    at = began
    with Engram.open(path) as memory:
        drafts = (replace(one, scope=memory.access.scope) for one in notes(seed, amount))
        tools = memory.maintenance._caller.tools  # noqa: SLF001 - past the gate that would refuse repetitions
        while some := list(islice(drafts, TOGETHER)):
            ready = make_ready(some, tools)
            times = [at + step * place for place in range(len(some))]
            at = times[-1] + step
            uses = [int(rng.expovariate(1.0)) for _ in some]

            def work(unit: Unit, ready: Any = ready, times: Any = times, uses: Any = uses) -> None:
                for item, when, used in zip(ready, times, uses, strict=True):
                    past = replace(item.memory, created_at=when, modified_at=when, usage=Usage(accessed=used))
                    unit.add(past, item.findable, item.vector, "made up")

            tools.store.write(work, "bench")


def consolidate(path: Path, now: datetime, stages: str) -> dict[str, Any]:
    """One run in this process: seconds, memory, what it did; and of each step processor time and memory."""
    only = [stage for stage in stages.split(",") if stage]
    names = [step.name for step in consolidation() if not only or step.stage in only]
    marks: list[tuple[str, float, float | None]] = []

    def hear(place: int) -> None:
        if not marks or marks[-1][0] != names[place]:
            marks.append((names[place], time.process_time(), rss_mb("VmRSS")))

    with Engram.open(path, clock=FakeClock(now)) as memory:
        began, busy = time.perf_counter(), time.process_time()
        report = memory.consolidate(stages=only, progress=lambda done, _of: hear(done))
        seconds = time.perf_counter() - began
        ends = [*marks[1:], ("", time.process_time(), rss_mb("VmRSS"))]
    return {
        "seconds": round(seconds, 2),
        "cpu_s": round(ends[-1][1] - busy, 2),
        "rss_mb": rss_mb("VmHWM"),
        "changes": report.changes,
        "tallies": {tally.rule: tally.count for tally in report.tallies},
        "steps": {
            name: (round(end - at, 2), held)
            for (name, at, _), (_, end, held) in zip(marks, ends, strict=True)
        },
        "before_steps_s": round(marks[0][1] - busy, 2),
    }


def beside(path: Path, now: datetime) -> dict[str, Any]:
    """How long questions wait while a consolidation goes on, and while it rests.

    It works and rests by turns, for other work on the machine changes from minute to minute.
    """
    asked = [text for text, _ in queries(1, ASKED, ASKED)]
    rests, began = Event(), [time.perf_counter()]

    def hear(_done: int, _of: int) -> None:
        if time.perf_counter() - began[0] > TURN_S:
            rests.set()
            time.sleep(TURN_S)
            rests.clear()
            began[0] = time.perf_counter()

    waits: dict[str, list[tuple[float, float]]] = {"alone": [], "beside": []}
    with Engram.open(path, clock=FakeClock(now)) as memory, ThreadPoolExecutor(1) as pool:
        for text in asked:
            memory.recall(text)
        run = pool.submit(memory.consolidate, progress=hear)
        for text in takewhile(lambda _: not run.done(), cycle(asked)):
            time.sleep(PAUSE_S)
            rested, at, busy = rests.is_set(), time.perf_counter(), time.thread_time()
            memory.recall(text)
            took = 1_000 * (time.perf_counter() - at), 1_000 * (time.thread_time() - busy)
            if rested == rests.is_set():
                waits["alone" if rested else "beside"].append(took)
    return {name: _spread(some) for name, some in waits.items()}


def _spread(waits: list[tuple[float, float]]) -> dict[str, float]:
    clock, busy = (quantiles(some, n=20) for some in zip(*waits, strict=True))
    shown = {"p50": clock[9], "p95": clock[18], "cpu": busy[9]}
    return {"asked": len(waits), **{name: round(ms, 1) for name, ms in shown.items()}}


def measure(size: int, folder: Path, stages: str) -> dict[str, Any]:
    """All runs of one size."""
    path = folder / f"consolidation-{size}.engram"
    if not path.exists():
        _apart("build", path, size)
    end = BEGAN + timedelta(days=DAYS, hours=1)
    copy = folder / "now.engram"
    for one in folder.glob("now.engram*"):
        one.unlink()
    copy.write_bytes(path.read_bytes())
    first = _apart("run", copy, end, stages)
    second = _apart("run", copy, end + timedelta(seconds=1), stages)
    _apart("more", copy, size // 100)
    later = _apart("run", copy, end + timedelta(days=1, hours=1), stages)
    copy.write_bytes(path.read_bytes())
    asked = _apart("beside", copy, end)
    return {"size": size, "first": first, "again": second, "a day later": later, "questions": asked}


def _apart(job: str, path: Path, value: object, stages: str = "") -> dict[str, Any]:
    """In a process of its own, so that memory is that of this job; one BLAS thread, as commands set it."""
    asked = json.dumps({"job": job, "path": str(path), "value": str(value), "stages": stages})
    command = [sys.executable, __file__, "--job", asked]
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=one_thread)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _do(asked: dict[str, str]) -> dict[str, Any]:
    path = Path(asked["path"])
    if asked["job"] == "build":
        build(path, int(asked["value"]), seed=1)
        return {}
    if asked["job"] == "more":
        build(path, int(asked["value"]), seed=2, began=BEGAN + timedelta(days=DAYS, hours=2), days=0.9)
        return {}
    now = datetime.fromisoformat(asked["value"])
    return beside(path, now) if asked["job"] == "beside" else consolidate(path, now, asked["stages"])


def _table(results: list[dict[str, Any]]) -> str:
    head = (
        "| memories | run | seconds | of processor | most memory (MB) | changes |\n|---|---|---|---|---|---|"
    )
    lines = [
        f"| {one['size']:,} | {name} | {one[name]['seconds']} | {one[name]['cpu_s']} "
        f"| {one[name]['rss_mb']} "
        f"| {one[name]['changes']:,} |"
        for one in results
        for name in ("first", "again", "a day later")
    ]
    return "\n".join((head, *lines))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--stages", default="", help="only these, with commas between")
    parser.add_argument("--keep", type=Path, help="a folder in which the files that were built stay")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(_do(json.loads(given.job))))
        return
    with tempfile.TemporaryDirectory() as folder:
        where = given.keep or Path(folder)
        results = [measure(int(size), where, given.stages) for size in given.sizes.split(",")]
    print(json.dumps(results, indent=1))
    print(_table(results))


if __name__ == "__main__":
    main()
