from __future__ import annotations

import gc
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import apsw
import pytest

from engram.errors import AccessDenied, ConfigError, KeyNeeded, StoreClosed, StoreError, UpkeepBusy
from engram.model.clock import SystemClock
from engram.ports import Store
from engram.store.sqlite import SqliteStore, StoreSettings
from engram.store.sqlite.connection import Opener, ask
from engram.store.sqlite.migrate import is_current, make_in_memory
from engram.store.sqlite.rows import LAST_OF_SESSION
from engram.testing import FakeClock
from tests.store.making import ALL, EVERYTHING, add, find

KEY = bytes(range(32))


def test_the_store_fits_the_port(store: SqliteStore) -> None:
    fitting: Store = store
    assert fitting.check()


def test_a_file_is_for_its_user_alone(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "new" / "deep" / "memories.engram"
    SqliteStore.open(path, clock).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_connection_is_set_up_as_promised(path: Path, clock: FakeClock) -> None:
    db = Opener(str(path), StoreSettings(synchronous="FULL"), clock).writer()
    pragmas = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "temp_store")
    assert [db.pragma(name) for name in pragmas] == ["wal", 2, 1, 1, 2]
    db.close()


def test_a_statement_is_planned_once_whatever_is_put_into_it(
    store: SqliteStore, path: Path, clock: FakeClock
) -> None:
    for number in range(100):
        add(store, f"tea number {number}", session=f"s{number % 7}")
    planned: list[int] = []

    def plan(action: int, *_: str | None) -> int:
        planned.append(action)
        return apsw.SQLITE_OK

    opener = Opener(str(path), StoreSettings(), clock)
    with closing(opener.writer()) as db:
        db.execute("ANALYZE")
    for db in (opener.writer(), opener.reader()):
        db.authorizer = plan
        asked = {"session": "s1", "scope": 1}
        ask(db, LAST_OF_SESSION, asked)
        once = len(planned)
        assert once
        ask(db, LAST_OF_SESSION, {**asked, "session": "s2"})
        assert len(planned) == once
        planned.clear()
        db.close()


def test_a_reading_connection_cannot_write(store: SqliteStore, path: Path, clock: FakeClock) -> None:
    db = Opener(str(path), StoreSettings(), clock).reader()
    with pytest.raises(apsw.ReadOnlyError):
        db.execute("DELETE FROM memories")
    db.close()


def test_a_store_opened_for_reading_reads_only(store: SqliteStore, path: Path, clock: FakeClock) -> None:
    memory = add(store, "tea is hot")
    reading = SqliteStore.open(path, clock, StoreSettings(read_only=True))
    assert reading.memories.get(memory.id, EVERYTHING) == memory
    assert find(reading, "tea") == ["tea is hot"]
    with pytest.raises(AccessDenied):
        add(reading, "not here")
    reading.write_later(lambda unit: unit.erase(memory.id, ""), "tester")
    reading.flush()
    reading.close()
    with pytest.raises(StoreClosed):
        reading.memories.get(memory.id, EVERYTHING)


def test_reading_what_is_not_there_says_so(path: Path, clock: FakeClock) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        SqliteStore.open(path, clock, StoreSettings(read_only=True))


@pytest.mark.parametrize("content", [b"just some text, no database\n" * 100, b"\0" * 5000])
def test_another_kind_of_file_is_refused_and_left_alone(path: Path, clock: FakeClock, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(KeyNeeded):
        SqliteStore.open(path, clock)
    assert path.read_bytes() == content


def test_a_key_turns_the_file_into_a_vault(path: Path, clock: FakeClock) -> None:
    vault = SqliteStore.open(path, clock, StoreSettings(key=KEY))
    memory = add(vault, "the treasure lies under the oak")
    log = path.with_name(path.name + "-wal").read_bytes()
    vault.close()
    assert b"treasure" not in path.read_bytes() + log
    assert not path.read_bytes().startswith(b"SQLite")
    for settings in (StoreSettings(), StoreSettings(key=KEY[::-1])):
        with pytest.raises(KeyNeeded):
            SqliteStore.open(path, clock, settings)
    again = SqliteStore.open(path, clock, StoreSettings(key=KEY))
    assert again.memories.get(memory.id, EVERYTHING) == memory
    again.close()
    assert KEY.hex() not in repr(StoreSettings(key=KEY))


def test_a_key_of_another_length_is_refused(path: Path, clock: FakeClock) -> None:
    with pytest.raises(ConfigError, match="32 bytes, not 3"):
        SqliteStore.open(path, clock, StoreSettings(key=b"abc"))


def test_a_store_in_memory_touches_no_disk(
    clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    store = SqliteStore.open(":memory:", clock)
    add(store, "tea is hot")
    with closing(store.copy()) as twin:
        add(twin, "tea is green")
        assert sorted(find(twin, "tea")) == ["tea is green", "tea is hot"]
    with store.lease("work"), pytest.raises(UpkeepBusy), store.lease("work"):
        pass
    store.vacuum()
    assert store.snapshots.key() == store.snapshots.key()
    assert find(store, "tea") == ["tea is hot"]
    assert all(finding.ok for finding in store.check())
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_each_store_in_memory_is_its_own(clock: FakeClock) -> None:
    with (
        closing(SqliteStore.open(":memory:", clock)) as one,
        closing(SqliteStore.open(":memory:", clock)) as two,
    ):
        add(one, "tea is hot")
        assert find(one, "tea") == ["tea is hot"]
        assert find(two, "tea") == []
        assert one.snapshots.key() != two.snapshots.key()


def test_many_threads_read_and_write_a_store_in_memory(clock: FakeClock) -> None:
    with closing(SqliteStore.open(":memory:", clock)) as store, ThreadPoolExecutor(6) as pool:
        told = [f"tea number {n}" for n in range(60)]
        wrote = [pool.submit(add, store, one) for one in told]
        read = [pool.submit(find, store, "tea") for _ in range(60)]
        assert all(set(done.result()) <= set(told) for done in read)
        assert len({done.result().id for done in wrote}) == len(told)
        assert store.memories.count(ALL) == len(told)


def test_a_store_in_memory_has_the_schema_of_a_file(clock: FakeClock, path: Path) -> None:
    with closing(SqliteStore.open(path, clock)), closing(apsw.Connection(str(path))) as file:
        in_memory = Opener.in_memory(StoreSettings(), clock)
        with closing(in_memory.writer()) as db:
            make_in_memory(db)
            for question in ("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2",):
                assert ask(db, question) == ask(file, question)
            assert is_current(db)


def test_closed_stores_leave_no_open_files(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("open files are counted through /proc")
    gc.collect()
    before = len(list(descriptors.iterdir()))
    for _ in range(5):
        store = SqliteStore.open(tmp_path / "memories.engram", SystemClock())
        add(store, "tea is hot")
        find(store, "tea")
        store.close()
    assert len(list(descriptors.iterdir())) <= before


def test_whoever_keeps_a_moment_keeps_nobody_from_reading(path: Path) -> None:
    store = SqliteStore.open(path, SystemClock(), StoreSettings(readers=1))
    reached, let_go = Event(), Event()

    def keep() -> None:
        with store.reading():
            store.memories.count(ALL)
            reached.set()
            let_go.wait(30)
            store.memories.count(ALL)

    keeping = Thread(target=keep)
    keeping.start()
    assert reached.wait(30)
    asked = Thread(target=store.memories.count, args=(ALL,), daemon=True)
    asked.start()
    asked.join(30)
    let_go.set()
    keeping.join(30)

    assert not asked.is_alive()
    store.close()
