"""Two processes on one file, and one that dies in the middle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import apsw
import pytest

from engram.model.clock import SystemClock
from engram.store.sqlite import SqliteStore
from tests.store.making import EVERYTHING, SPACE, add, find, vector

ROUNDS = 20
ACKNOWLEDGED = 60
"""Writes that a process reports before it is killed."""

PREAMBLE = dedent("""
    import sys, threading, uuid
    from engram.model.clock import SystemClock
    from engram.store.sqlite import SqliteStore
    from tests.store.making import add, find, vector
    store = SqliteStore.open(sys.argv[1], SystemClock())
""")

WRITE_SOME = PREAMBLE + dedent("""
    for n in range(int(sys.argv[2])):
        print(add(store, f"{sys.argv[3]} number {n}", vector(n), id=str(uuid.uuid4())).id)
    print(len(find(store, "parent", limit=500)))
    store.close()
""")

WRITE_UNTIL_KILLED = PREAMBLE + dedent("""
    lock = threading.Lock()

    def write(thread):
        for n in range(100_000):
            memory = add(store, f"thread {thread} number {n}", vector(n), id=str(uuid.uuid4()))
            with lock:
                print(memory.id, flush=True)

    for thread in range(8):
        threading.Thread(target=write, args=(thread,)).start()
""")


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", script, *map(str, arguments)]
    paths = f"{root / 'src'}:{root}"
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": paths})


@pytest.mark.slow
def test_two_processes_write_and_read_one_file(path: Path) -> None:
    store = SqliteStore.open(path, SystemClock())
    add(store, "parent first", vector(1))
    news = store.vectors.changes(SPACE, 0, 1000)
    with start(WRITE_SOME, path, 50, "child") as child:
        for n in range(50):
            add(store, f"parent number {n}", vector(n))
        told, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    *ids, seen_by_child = told.split()
    assert len(store.memories.keys(ids)) == 50
    assert 1 <= int(seen_by_child) <= 51
    assert len(find(store, "child", limit=500)) == 50
    assert len(store.vectors.changes(SPACE, news.upto, 1000).keys) == 100
    assert all(finding.ok for finding in store.check())
    store.close()


@pytest.mark.slow
def test_two_processes_may_make_the_file_at_once(path: Path) -> None:
    children = [start(WRITE_SOME, path, 5, f"child{n}") for n in range(3)]
    for child in children:
        with child:
            child.communicate(timeout=60)
            assert child.returncode == 0
    store = SqliteStore.open(path, SystemClock())
    assert store.memories.stats(EVERYTHING, None).memories == 15
    store.close()


@pytest.mark.slow
def test_a_killed_process_loses_nothing_it_acknowledged(path: Path) -> None:
    acknowledged: list[str] = []
    for _ in range(ROUNDS):
        with start(WRITE_UNTIL_KILLED, path) as child:
            assert child.stdout is not None
            lines = [child.stdout.readline() for _ in range(ACKNOWLEDGED)]
            child.kill()
            lines += child.stdout.read().splitlines(keepends=True)
        acknowledged += [line.strip() for line in lines if line.endswith("\n")]
        check_whole(path, acknowledged)


def check_whole(path: Path, acknowledged: list[str]) -> None:
    store = SqliteStore.open(path, SystemClock())
    assert len(store.memories.keys(acknowledged)) == len(acknowledged)
    findings = store.check()
    assert [finding for finding in findings if not finding.ok] == []
    assert [
        finding.detail for finding in findings if "again" in finding.detail or "rebuilt" in finding.detail
    ] == []
    stats = store.memories.stats(EVERYTHING, SPACE)
    assert stats.pending == 0
    assert stats.events == stats.memories == stats.vectors[SPACE.key]
    store.close()
    with apsw.Connection(str(path)) as db:
        assert db.pragma("integrity_check") == "ok"
    db.close()
