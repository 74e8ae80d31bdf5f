"""Many tenants, each in a file of its own or all in one: what they wait, and what the process holds.

    python benchmarks/folder.py --namespaces 1000 --memories 20 --folder FOLDER
    python benchmarks/folder.py --namespaces 1000 --memories 1000 --folder FOLDER --one-file

Prints a table in Markdown: what a tenant waits whose file is closed or open, and the resident memory while
one tenant after the other asks.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from engram import Engram
from engram.model.scope import Access, Scope
from engram.opening import namespaces_in

THINGS = ("kiln", "van", "ledger", "boiler", "printer", "gate", "server", "badge", "lift", "mower")
PLACES = ("Bremen", "Porto", "Lyon", "Oslo", "Graz", "Cork", "Turku", "Bari", "Brno", "Ghent")
MEGA = 1 << 20


def main() -> None:
    """Make the folder, then measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespaces", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=20)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--folder", default="", help="where to make it, or where it was made before")
    parser.add_argument("--one-file", action="store_true", help="all tenants in one file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="engram-folder-") as passing:
        where, begun = f"{given.folder or passing}/{'all.db' if given.one_file else ''}", time.perf_counter()
        names = [f"tenant-{number:05}" for number in range(given.namespaces)]
        with Engram.open(where, access=Access.everything()) as memory:
            there = memory.stats().by_namespace if given.one_file else {*namespaces_in(where)}
            new = [name for name in names if name not in there]
            for name in new:
                kept = [{"content": text, "scope": Scope(name)} for text in statements(name, given.memories)]
                memory.remember_many(kept)
        took = time.perf_counter() - begun
        size = sum(file.stat().st_size for file in Path(given.folder or passing).rglob("*.db"))
        made = f"{len(new):,} of them made in {took:.0f} s, {size / MEGA:,.0f} MB on disk"
        print(f"{len(names):,} namespaces of {given.memories} memories, {made}.\n")
        print("| what | wall p50 / p95, ms | processor p50, ms | resident, MB |\n|---|---|---|---|")
        measure(where, names, given.calls)


def measure(where: str, names: list[str], calls: int) -> None:
    """One tenant after the other, by chance; then one that stays."""
    times: list[tuple[float, float]] = []
    for _ in range(10):
        with timed(times):
            opened = Engram.open(where)
        opened.close()
    tell(f"open ({len(names):,} tenants)", times)
    chance = random.Random(7)
    with Engram.open(where) as memory:
        tenants = {name: memory.seen_by(Access(Scope(name)), name) for name in names}
        tenants[names[0]].recall("where is the kiln?")

        def every(what: str, call: Callable[[Engram], object], chosen: list[str]) -> None:
            times.clear()
            for name in chosen:
                with timed(times):
                    call(tenants[name])
            tell(what, times)

        anybody = [chance.choice(names) for _ in range(calls)]
        every("a tenant by chance: count", lambda tenant: tenant.count(), anybody)
        every("a tenant by chance: recall", lambda tenant: tenant.recall("where is the kiln?"), anybody)
        every(
            "a tenant by chance: remember",
            lambda tenant: tenant.remember(f"Parcel {chance.random()}"),
            anybody,
        )
        every("every tenant once: recall", lambda tenant: tenant.recall("where is the van?"), names)
        few = [names[number % 20] for number in range(calls)]
        every("twenty tenants in turn: recall", lambda tenant: tenant.recall("where is the gate?"), few)
        every(
            "twenty tenants in turn: remember", lambda tenant: tenant.remember(f"Box {chance.random()}"), few
        )
    begun = time.perf_counter()
    with Engram.open(where, access=Access.everything()) as memory:
        counted = memory.stats().memories
    print(f"Counting all namespaces one by one: {counted:,} in {time.perf_counter() - begun:.1f} s.")


def statements(name: str, count: int) -> Iterator[str]:
    """What a small tenant may keep."""
    chance = random.Random(name)
    for number in range(count):
        yield f"The {chance.choice(THINGS)} number {number} of {name} is in {chance.choice(PLACES)}"


@contextmanager
def timed(times: list[tuple[float, float]]) -> Iterator[None]:
    """Note how long the block takes, by the wall and by the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    times.append((time.perf_counter() - wall, time.process_time() - processor))


def tell(what: str, times: list[tuple[float, float]]) -> None:
    """A row of the table."""
    walls = [wall * 1_000 for wall, _ in times]
    p95 = quantiles(walls, n=20)[-1]
    processor = median(processor * 1_000 for _, processor in times)
    print(f"| {what} | {median(walls):.1f} / {p95:.1f} | {processor:.1f} | {resident():.0f} |", flush=True)


def resident() -> float:
    """What this process holds, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / MEGA


if __name__ == "__main__":
    main()
