"""How fast turns go through signals and buffer, and how long it takes to capture one by rules.

    python benchmarks/capture_speed.py LOCOMO.json

Turns are those of a LoCoMo file. Logged together they pass log, signals and buffer; captured one by one they
pass the whole way to stored memories; imported together they are statements of one who is not named. Real
turns are longer than made-up sentences and cost more. Times vary on a shared machine: compare processor time,
which counts all threads of the process.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from engram import Engram
from engram.bench.retrieval import Document, load
from engram.text.signals import Level, level_of

PART = 400
"""Turns for each measurement."""


def message(one: Document) -> dict[str, object]:
    """A turn as a client sends it."""
    draft = one.draft
    return {
        "id": one.name,
        "role": "user",
        "name": draft.speaker,
        "content": draft.content,
        "time": draft.event_time,
    }


def logged(turns: list[dict[str, object]], folder: Path) -> float:
    """Turns a second through log, signals and buffer, without reading them."""
    settings = {"capture.buffer_turns": 1_000, "capture.buffer_minutes": 10_080}
    with Engram.open(folder / "logged.db", config=settings) as memory:
        quiet = [
            {name: value for name, value in turn.items() if name != "time"}
            for turn in turns
            if level_of(str(turn["content"])) < Level.HIGH
        ]
        start = time.perf_counter()
        memory.observe(messages=quiet, session="s")
        return len(quiet) / (time.perf_counter() - start)


def captured(turns: list[dict[str, object]], folder: Path) -> list[float]:
    """Milliseconds for each turn that is logged, read and remembered alone."""
    times = []
    with Engram.open(folder / "captured.db", config={"capture.buffer_turns": 1}) as memory:
        memory.observe("I live in Berlin and like tea", session="warm")
        for turn in turns:
            start = time.perf_counter()
            memory.observe(messages=[turn], session="s")
            times.append((time.perf_counter() - start) * 1_000)
    return times


def imported(said: list[str], folder: Path) -> float:
    """Milliseconds of processor for each statement that is imported, after as many have warmed up."""
    with Engram.open(folder / "imported.db") as memory:
        memory.remember_many(said[::2], partial=True)
        busy = time.process_time()
        memory.remember_many(said[1::2], partial=True)
        return (time.process_time() - busy) * 1_000 / len(said[1::2])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    told = [one for talk in load("locomo", parser.parse_args().data, None) for one in talk.documents]
    turns = [message(one) for one in told][:PART]
    with tempfile.TemporaryDirectory() as folder:
        print(f"{logged(turns, Path(folder)):,.0f} turns/s through log, signals and buffer")
        busy = time.process_time()
        times = captured(turns, Path(folder))
        busy = (time.process_time() - busy) * 1_000 / len(times)
        said = list(dict.fromkeys(one.draft.content for one in told))
        statement = imported(said, Path(folder))
    middle, slow = statistics.median(times), sorted(times)[int(len(times) * 0.95)]
    print(f"{middle:.1f} ms a captured turn (p50), {slow:.1f} ms (p95), {busy:.1f} of processor")
    print(f"{statement:.2f} ms of processor a statement of real talk")


if __name__ == "__main__":
    main()
