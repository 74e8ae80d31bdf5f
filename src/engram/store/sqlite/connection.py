"""A path and settings come in, an open connection comes out. No other place makes one.

So a key given here turns the whole file, its log included, into a vault. A store in memory is a database of
SQLite's own `memdb`, which all connections of this process that know its name share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import apsw

from engram.errors import (
    AccessDenied,
    BadSource,
    ConfigError,
    DiskFull,
    KeyNeeded,
    StoreBusy,
    StoreCorrupt,
    StoreError,
)
from engram.lazily import dataclass, secrets, uuid
from engram.model.clock import Clock

QUEUE_LIMIT = 10_000  # writes that may wait before callers are told to slow down
GROUP_LIMIT = 256  # writes committed together at most
PAGE_SIZE = 4_096
CACHE_KB = 8_192  # page cache of each connection

# ---------------------------------------------------------------- settings
# How a file is opened and how much it may have in flight.


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Everything that can be turned on the SQLite store."""

    busy_timeout_s: float = 10.0
    """How long to wait for another process, and for room in the queue."""
    queue_limit: int = QUEUE_LIMIT
    """Most writes that wait at once."""
    readers: int = 4
    """Connections that read at once; further readers wait for one of them."""
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    """NORMAL survives a killed process, FULL also a power cut, at an fsync for each commit."""
    backups: int = 3
    """Backups kept of those made by themselves; 0: none are made."""
    audit_days: int = 365
    """How long it is kept who looked; 0: for good."""
    in_memory: int = 1_500_000
    """Memories of a namespace up to which recall holds it in memory, where a server could search instead."""
    read_only: bool = False
    key: bytes | None = field(default=None, repr=False)
    """32 raw bytes turn the file into a vault; derive them from a passphrase once, outside."""
    sessions: bytes | None = field(default=None, repr=False)
    """What sleeping sessions are sealed with where there is a key and the file itself is in clear."""


IN_MEMORY = ":memory:"
CIPHER = "aegis"
"""AEGIS-256: authenticated, the quickest there is, and it takes a raw key, so that opening derives none."""
KEY_BYTES = 32
LOG_LIMIT_BYTES = 16 * 1024 * 1024
"""The write-ahead log is cut back to this after a checkpoint."""
CHECKPOINT_PAGES = 4_000
"""Changed pages after which the log is brought into the file: the writer waits for the disk then."""
STATEMENTS = 500
"""Statements that a connection keeps prepared. Each use takes a new place in a ring: what is asked for in
one recall of four would go from a ring of the usual hundred before it is asked for again."""
RETRY_S = 0.01
PADDING_BYTES = 512 * 1024
"""A vault has a multiple of this length, so that its length tells little about what is in it."""


@dataclass(frozen=True, slots=True)
class Opener:
    """What is needed to open one more connection to the same file, or to the same place in memory."""

    path: str
    settings: StoreSettings
    clock: Clock
    memory: str = ""
    """The name of a store in memory; there is no file then."""
    passing: bool = False
    """Whether all of it goes when it is closed, so that nothing need reach the disk."""

    @classmethod
    def in_memory(cls, settings: StoreSettings, clock: Clock) -> Opener:
        """A new place in memory. It lasts as long as one connection to it is open."""
        return cls(IN_MEMORY, settings, clock, memory=uuid.uuid4().hex, passing=True)

    def writer(self) -> apsw.Connection:
        """The connection that writes; makes folder and file, for this user alone, when they are not there."""
        if not self.memory:
            _create(Path(self.path))
        db = self._open(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        db.pragma("page_size", PAGE_SIZE)
        if self.memory:
            db.pragma("journal_mode", "memory")
        else:
            self._write_ahead(db)
        db.pragma("synchronous", "OFF" if self.passing else self.settings.synchronous)
        db.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        db.pragma("journal_size_limit", LOG_LIMIT_BYTES)
        db.pragma("secure_delete", True)  # noqa: FBT003 - the binding's own signature
        db.pragma("foreign_keys", True)  # noqa: FBT003
        return db

    def raw_writer(self) -> apsw.Connection:
        """A connection that writes, to a file that is there, and changes nothing about it by opening it."""
        return self._open(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)

    def reader(self) -> apsw.Connection:
        """A connection that cannot write. It may still have to recover the log, unless all is read-only."""
        if not self.settings.read_only:
            db = self._open(apsw.SQLITE_OPEN_READWRITE)
        elif can_hold_a_log(self.path):
            db = self._open(apsw.SQLITE_OPEN_READONLY)
        else:
            db = self._still()
        db.pragma("query_only", True)  # noqa: FBT003
        return db

    def beside(self, name: str) -> apsw.Connection:
        """A small database of its own beside this one, as private as it."""
        if not self.memory:
            _create(Path(f"{self.path}-{name}"))
        return self._connect(f"-{name}", apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)

    def _still(self) -> apsw.Connection:
        """A file where nothing can be made beside it: its log is read if a writer elsewhere keeps one.

        Otherwise nobody writes, and SQLite is told so: it would look for a log that it cannot make.
        """
        try:
            return self._open(apsw.SQLITE_OPEN_READONLY)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            path = Path(self.path)
            log = path.with_name(f"{path.name}-wal")
            if not path.exists():
                raise
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{path} has its newest changes in {log.name}, readable only where one may write: "
                    "copy both to another folder and open them there."
                ) from None
        still = f"{path.absolute().as_uri()}?immutable=1"
        return self._open(apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, still)

    def _open(self, flags: int, name: str = "") -> apsw.Connection:
        db = (
            apsw.Connection(name, flags=flags, statementcachesize=STATEMENTS)
            if name
            else self._connect("", flags)
        )
        # Else a statement is planned anew whenever another value is put into it: a tenth of what SQLite does.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        db.set_busy_timeout(int(self.settings.busy_timeout_s * 1000))
        if self.settings.key is not None and not self.memory:
            _unlock(db, self.settings.key)
        db.pragma("temp_store", "memory")
        db.pragma("cache_size", -CACHE_KB)
        db.pragma("schema_version")  # the first real read: a wrong key or a foreign file shows here
        return db

    def _connect(self, suffix: str, flags: int) -> apsw.Connection:
        if self.memory:
            name, flags = f"file:/{self.memory}{suffix}?vfs=memdb", flags | apsw.SQLITE_OPEN_URI
        else:
            name = f"{self.path}{suffix}"
        return apsw.Connection(name, flags=flags, statementcachesize=STATEMENTS)

    def _write_ahead(self, db: apsw.Connection) -> None:
        """Switch to the write-ahead log. SQLite itself does not wait when two processes do this at once."""
        for _ in range(int(self.settings.busy_timeout_s / RETRY_S)):
            try:
                db.pragma("journal_mode", "wal")
            except apsw.BusyError:
                apsw.sleep(int(RETRY_S * 1000))
            else:
                return
        db.pragma("journal_mode", "wal")


def pad(path: str) -> None:
    """Bring a vault that nobody has open to one of the lengths it may have, by chance one further.

    What is added is chance, like the rest to whoever has no key. It stands behind the last page, where SQLite
    takes no notice of it and writes over it as the file grows. Whoever opens the file meanwhile loses
    nothing: bytes are only ever added at the end.
    """
    if Path(f"{path}-wal").exists():
        return
    with suppress(OSError), Path(path).open("ab", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size % PADDING_BYTES:
            wanted = size + secrets.randbelow(PADDING_BYTES)
            file.write(secrets.token_bytes(-(-wanted // PADDING_BYTES) * PADDING_BYTES - size))


def can_hold_a_log(path: str) -> bool:
    """Whether SQLite may make its files beside this one; not on a read-only medium."""
    return os.access(Path(path).absolute().parent, os.W_OK)


NEW, OLD, OLD_LOG = "-new", "-old", "-wal-old"
"""What stands beside a file while it is brought to another key."""


def is_unsettled(path: str) -> bool:
    """Whether somebody died, or is at work, bringing a file to another key."""
    return any(os.path.lexists(path + suffix) for suffix in (NEW, OLD, OLD_LOG))


def _create(path: Path) -> None:
    if path.exists():
        return
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}.") from error


def _unlock(db: apsw.Connection, key: bytes) -> None:
    if len(key) != KEY_BYTES:
        raise ConfigError(f"The key of a vault has {KEY_BYTES} bytes, not {len(key)}.")
    db.pragma("cipher", CIPHER)
    db.pragma("key", f"raw:{key.hex()}")


# ---------------------------------------------------------------- faults
# SQLite's errors come in, ours go out. The one place that knows both.


DISK_TROUBLE = (apsw.FullError, apsw.IOError)
"""What a full disk looks like: no room in the file, or a write that failed."""

READ_TROUBLE = frozenset(
    {
        apsw.SQLITE_IOERR_READ,
        apsw.SQLITE_IOERR_SHORT_READ,
        apsw.SQLITE_IOERR_CORRUPTFS,
        apsw.SQLITE_IOERR_DATA,
    }
)
"""Failures of the disk that no room would help."""


def translate(error: apsw.Error, path: str, waited_s: float) -> StoreError | AccessDenied:
    """What happened, in words for the person who reads it."""
    fault: StoreError | AccessDenied
    match error:
        case apsw.IOError() if getattr(error, "extendedresult", 0) in READ_TROUBLE:
            fault = StoreCorrupt(str(error))
        case apsw.FullError() | apsw.IOError():
            fault = DiskFull()
        case apsw.BusyError() | apsw.LockedError():
            fault = StoreBusy(waited_s)
        case apsw.NotADBError():
            fault = KeyNeeded(path)
        case apsw.CorruptError():
            fault = StoreCorrupt(str(error))
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            fault = AccessDenied(f"write to {path}")
        case apsw.CantOpenError():
            fault = StoreError(f"{path} cannot be opened: check that the folder exists and is yours.")
        case _:
            fault = StoreError(f"The database refused ({type(error).__name__}): {error}")
    return fault


@contextmanager
def translated(path: str, waited_s: float) -> Iterator[None]:
    """Inside, SQLite's errors become ours."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path, waited_s) from error


# ---------------------------------------------------------------- query
# Asking the database: a statement and its named values come in, lines come out.
#
# The binding types each value as anything SQLite can hold; what a column holds is known from the schema.
# A statement that fits on a line stands where it is asked; a longer one at the top of its module.


Db = apsw.Connection
Line = tuple[Any, ...]
NOTHING: Mapping[str, Any] = {}

HIGHEST = "\U0010ffff"
"""Comes after every character: what begins with `x` lies between `x` and `x` with this behind it."""


def ask(db: Db, sql: str, values: Mapping[str, Any] = NOTHING) -> list[Line]:
    """All lines of the answer."""
    return db.execute(sql, values).fetchall()


def ask_line(db: Db, sql: str, values: Mapping[str, Any] = NOTHING) -> Line | None:
    """The first line of the answer, if there is one."""
    return db.execute(sql, values).fetchone()


def ask_value(db: Db, sql: str, values: Mapping[str, Any] = NOTHING) -> Any:
    """The first value of the first line; None when there is no line."""
    return db.execute(sql, values).get


def put(db: Db, table: str, line: Mapping[str, Any], key: str = "") -> None:
    """Write a line; with a key it takes the place of the one that has the same there."""
    db.execute(putting(table, tuple(line), key), dict(line))


def delete(db: Db, table: str, /, **same: Any) -> int:
    """Take away the lines that have these values; how many."""
    return changed(db, deleting(table, tuple(same)), same)


def delete_where(db: Db, table: str, condition: str, **values: Any) -> int:
    """Take away the lines for which a condition holds, which names the values; how many."""
    return changed(db, f"DELETE FROM {table} WHERE {condition}", values)  # noqa: S608


def update(db: Db, table: str, values: Mapping[str, Any], /, **same: Any) -> int:
    """Set values in the lines that have these; how many."""
    return changed(db, _updating(table, tuple(values), tuple(same)), {**values, **same})


def look_up(db: Db, table: str, name: str, /, **same: Any) -> Any:
    """One column of the line that has these values; None when there is none."""
    return ask_value(db, looking_up(table, name, tuple(same)), same)


def look_up_all(db: Db, table: str, name: str, /, **same: Any) -> list[Any]:
    """One column of all lines that have these values."""
    return [line[0] for line in ask(db, looking_up(table, name, tuple(same)), same)]


def changed(db: Db, sql: str, values: Mapping[str, Any]) -> int:
    """Carry a statement out; how many lines it changed."""
    db.execute(sql, values)
    return db.changes()


@cache
def putting(table: str, names: tuple[str, ...], key: str = "") -> str:
    """The statement behind `put`."""
    # Only names of our own schema are put into statements here and below.
    sql = f"INSERT INTO {table} ({', '.join(names)})\nVALUES ({', '.join(f':{name}' for name in names)})"
    others = (f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return f"{sql}\nON CONFLICT ({key}) DO UPDATE SET {', '.join(others)}" if key else sql


@cache
def deleting(table: str, names: tuple[str, ...]) -> str:
    """The statement behind `delete`."""
    return f"DELETE FROM {table} WHERE {' AND '.join(map(_same, names))}"  # noqa: S608


@cache
def looking_up(table: str, name: str, same: tuple[str, ...]) -> str:
    """The statement behind `look_up`."""
    return f"SELECT {name} FROM {table} WHERE {' AND '.join(map(_same, same))}"  # noqa: S608


@cache
def _updating(table: str, names: tuple[str, ...], same: tuple[str, ...]) -> str:
    changes, where = ", ".join(map(_same, names)), " AND ".join(map(_same, same))
    return f"UPDATE {table} SET {changes} WHERE {where}"  # noqa: S608


def _same(name: str) -> str:
    return f"{name} = :{name}"


def whole(db: Db) -> AbstractContextManager[None]:
    """Inside, a server shows all namespaces: for what the engine keeps of all callers. A file always does."""
    showing: Callable[[], AbstractContextManager[None]] = getattr(db, "showing_everything", nullcontext)
    return showing()


MAGIC = b"SQLite format 3\x00"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database in clear."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def tables(path: Path, wanted: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """The rows of these tables, as far as they are there. Raises BadSource for what is no database."""
    try:
        # A copy of the connection's own view: a program that has the file open is not disturbed.
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            there = {str(row[0]) for row in database.execute(_TABLES)}
            return {name: _rows(database, name) for name in wanted if name in there}
        finally:
            database.close()
    except apsw.Error as error:
        raise BadSource(path.name, "a database", f"it cannot be read ({error})") from error


def _rows(database: apsw.Connection, name: str) -> list[dict[str, Any]]:
    cursor = database.execute(f'SELECT * FROM "{name}"')  # noqa: S608 - one of the names asked for
    try:
        columns = [column[0] for column in cursor.get_description()]
    except apsw.ExecutionCompleteError:
        return []  # a table without rows has been read to its end already
    return [dict(zip(columns, row, strict=True)) for row in cursor]
