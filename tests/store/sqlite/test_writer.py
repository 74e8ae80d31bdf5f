from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from engram.errors import DiskFull, Overloaded, StoreBusy, StoreClosed, StoreError
from engram.model.memory import Memory
from engram.ports import Unit
from engram.store.sqlite import SqliteStore, StoreSettings
from engram.store.sqlite.connection import Opener
from engram.store.sqlite.migrate import migrate
from engram.store.sqlite.writer import Writer
from engram.testing import FakeClock
from tests.store.making import ALL, EVERYTHING, add, find, found_by, make

IMPATIENT = StoreSettings(busy_timeout_s=0.05, queue_limit=2)


@pytest.fixture
def impatient(path: Path, clock: FakeClock) -> Iterator[SqliteStore]:
    store = SqliteStore.open(path, clock, IMPATIENT)
    yield store
    store.close()


@contextmanager
def held_up(store: SqliteStore) -> Iterator[None]:
    """Inside, the writer is busy with a long piece of work."""
    begun, may_end = threading.Event(), threading.Event()

    def long_work(unit: Unit) -> None:
        begun.set()
        may_end.wait(10)

    store.write_later(long_work, "tester")
    assert begun.wait(10)
    try:
        yield
    finally:
        may_end.set()


def test_a_full_queue_says_so_and_recovers(impatient: SqliteStore) -> None:
    done: list[int] = []
    with held_up(impatient):
        for number in range(5):
            impatient.write_later(lambda unit, n=number: done.append(n), "tester")  # type: ignore[misc]
        with pytest.raises(Overloaded, match="2 writes are waiting"):
            add(impatient, "one too many")
    impatient.flush()
    assert done == [0, 1]
    add(impatient, "room again")


def test_closing_finishes_what_waits(path: Path, clock: FakeClock) -> None:
    store = SqliteStore.open(path, clock)
    memories = [make(f"number {n}") for n in range(50)]
    with held_up(store):
        for one in memories:
            store.write_later(lambda u, m=one: u.add(m, found_by(m.content), None, ""), "tester")  # type: ignore[misc]
    store.close()
    again = SqliteStore.open(path, clock)
    assert again.memories.stats(EVERYTHING, None).memories == 50
    again.close()


def test_those_who_wait_for_room_are_told_of_the_end(path: Path, clock: FakeClock) -> None:
    store = SqliteStore.open(path, clock, StoreSettings(busy_timeout_s=10, queue_limit=1))
    told: list[type[Exception]] = []

    def late() -> None:
        try:
            add(store, "late")
        except StoreClosed as error:
            told.append(type(error))

    with held_up(store):
        store.write_later(lambda unit: None, "tester")
        waiting = threading.Thread(target=late)
        waiting.start()
        closing = threading.Thread(target=store.close)
        closing.start()
        waiting.join(10)
    closing.join(10)
    assert told == [StoreClosed]


def test_work_that_fails_does_not_harm_its_group(store: SqliteStore) -> None:
    outcomes: list[str] = []

    def write(number: int) -> None:
        memory = make(f"number {number}")

        def work(unit: Unit) -> None:
            unit.add(memory, found_by(memory.content), None, "")
            if number % 2:
                raise RuntimeError("odd")

        try:
            store.write(work, "tester")
            outcomes.append("written")
        except RuntimeError:
            outcomes.append("refused")

    with held_up(store):
        threads = [threading.Thread(target=write, args=(n,)) for n in range(10)]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 5 + ["written"] * 5
    assert store.memories.stats(EVERYTHING, None).memories == 5


def test_work_may_not_wait_for_itself(store: SqliteStore) -> None:
    with pytest.raises(StoreError, match="use the unit"):
        store.write(lambda _: store.flush(), "tester")


def test_the_same_id_twice_is_refused(store: SqliteStore) -> None:
    memory = add(store, "tea is hot")
    with pytest.raises(StoreError):
        add(store, "another", id=memory.id)
    assert find(store, "tea another") == ["tea is hot"]


def test_another_process_that_writes_for_long_is_waited_for_and_then_told(
    impatient: SqliteStore, path: Path
) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        add(impatient, "not now")
    assert find(impatient, "now") == []
    other.execute("ROLLBACK")
    other.close()
    add(impatient, "now then")
    assert find(impatient, "now") == ["now then"]


@pytest.fixture
def small_disk(path: Path, clock: FakeClock) -> Iterator[SqliteStore]:
    """A store on a disk that is nearly full."""
    opener = Opener(str(path), StoreSettings(), clock)
    db = opener.writer()
    migrate(db, clock)
    db.pragma("max_page_count", db.pragma("page_count") + 20)
    store = SqliteStore(opener, Writer(opener, db))
    yield store
    store.close()


def test_a_full_disk_is_told_reading_goes_on_and_room_helps(small_disk: SqliteStore) -> None:
    kept = add(small_disk, "the first fits")
    long = " ".join(f"word{n}" for n in range(900))
    written: list[Memory] = []
    with pytest.raises(DiskFull):
        fill(small_disk, long, written)
    assert find(small_disk, "first fits") == ["the first fits"]
    assert small_disk.memories.stats(EVERYTHING, None).memories == 1 + len(written)
    for memory in written:
        small_disk.write(lambda unit, m=memory: unit.erase(m.id, "make room"), "tester")  # type: ignore[misc]
    again = add(small_disk, "there is room again")
    assert small_disk.memories.page(ALL, 10).memories == (again, kept)
    assert all(finding.ok for finding in small_disk.check())


def fill(store: SqliteStore, content: str, written: list[Memory]) -> None:
    for _ in range(100):
        written += [add(store, content)]


def test_many_readers_share_few_connections(path: Path, clock: FakeClock) -> None:
    store = SqliteStore.open(path, clock, StoreSettings(readers=2))
    memory = add(store, "tea is hot")
    seen: list[bool] = []

    def read() -> None:
        for _ in range(20):
            seen.append(store.memories.get(memory.id, EVERYTHING) == memory)
            seen.append(find(store, "tea") == ["tea is hot"])

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 320
    store.close()


def test_readers_do_not_wait_for_the_writer(store: SqliteStore) -> None:
    memory = add(store, "tea is hot")
    with held_up(store):
        assert store.memories.get(memory.id, EVERYTHING) == memory
        assert find(store, "tea") == ["tea is hot"]


def test_nobody_writes_between_a_look_and_what_comes_of_it(
    path: Path, clock: FakeClock, impatient: SqliteStore
) -> None:
    store = SqliteStore.open(path, clock)

    def look() -> int:
        with pytest.raises(StoreBusy):
            add(impatient, "meanwhile")
        return store.memories.count(ALL)

    def work(unit: Unit, known: int) -> int:
        memory = make(f"the first after {known}")
        unit.add(memory, found_by(memory.content), None, "")
        return known

    assert [store.look_and_write(look, work, "tester") for _ in range(2)] == [0, 1]
    store.close()


def test_a_caller_interrupted_while_it_writes_leaves_nothing_and_holds_up_nobody(
    path: Path, clock: FakeClock
) -> None:
    store = SqliteStore.open(path, clock)

    def interrupted(unit: Unit) -> None:
        memory = make("half done")
        unit.add(memory, found_by(memory.content), None, "")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write(interrupted, "tester")
    add(store, "the next one")
    assert find(store, "half") == []
    assert store.memories.count(ALL) == 1
    store.close()
