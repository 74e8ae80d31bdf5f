"""An address and settings come in, a connection comes out that takes what the nouns of the store say.

`PostgresConnection` answers like the connection to a file does, as far as the nouns use one: it translates
statements (`dialect.py`), counts what changed, and raises our errors instead of PostgreSQL's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

from engram.errors import (
    AccessDenied,
    ConfigError,
    DatabaseDown,
    DiskFull,
    EngramError,
    StoreBusy,
    StoreError,
    UpkeepBusy,
)
from engram.lazily import dataclass
from engram.model.clock import Clock
from engram.rules.sealing import without_password
from engram.store.postgres.dialect import Values, translate
from engram.store.sqlite.connection import Db, Line, StoreSettings

try:
    import psycopg
    from psycopg import errors, pq, sql
    from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader, NumericLoader
except ImportError as missing:
    raise ConfigError(
        "A memory in PostgreSQL needs its driver: pip install 'engram-cortex[postgres]'."
    ) from missing

if TYPE_CHECKING:
    from psycopg.abc import Buffer

LOCK: Final = 0x456E6772
"""Marks our advisory locks: "Engr"."""
# What is about anything goes alone; what keeps to a namespace goes alone in it, beside others in theirs.
BEGIN_WRITING: Final = f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}, hashtext(current_schema()))"
BEGIN_WITHIN: Final = f"""BEGIN;
SELECT pg_advisory_xact_lock_shared({LOCK}, hashtext(current_schema()));
SELECT pg_advisory_xact_lock({LOCK}, hashtext(current_schema() || ' within ' || {{}}))"""
# From here to the commit one unit at a time: numbers that are followed over all namespaces appear in order.
TAKE_PLACE: Final = f"SELECT pg_advisory_xact_lock({LOCK}, hashtext(current_schema() || ' in order'))"
ENDS: Final = frozenset({"COMMIT", "ROLLBACK"})
BEGIN_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGINS: Final = {"BEGIN IMMEDIATE": BEGIN_WRITING, "BEGIN EXCLUSIVE": BEGIN_WRITING, "BEGIN": BEGIN_READING}

EVERYTHING: Final = ""
"""In the place of the namespaces that a connection shows: all of them."""
SHOW: Final = """
SELECT
  set_config('role', %(role)s, %(for_now)s),
  set_config('engram.namespaces', %(seen)s, %(for_now)s)
"""

PREPARE: Final = """
SELECT
  set_config('jit', 'off', false),
  set_config('lock_timeout', %(patience)s, false),
  set_config('idle_in_transaction_session_timeout', '300000', false),
  set_config('default_transaction_read_only', %(read_only)s, false)
"""
SEES_ALL: Final = ("SELECT newest_", "COMMIT", "ROLLBACK")
"""What needs no telling first."""
# The role in which the policies bind who reads (`wall.py`), where there is one.
READER: Final = """
SELECT rolname
FROM pg_roles
WHERE rolname = current_user || '_reader'
  AND pg_has_role(oid, 'MEMBER')
  AND has_table_privilege(oid, to_regclass('memories'), 'SELECT')
"""
HOLD: Final = f"SELECT pg_try_advisory_lock({LOCK}, hashtext(current_schema() || ' ' || %(name)s))"
LET_GO: Final = "SELECT pg_advisory_unlock_all()"
ALIVE: Final[dict[str, Any]] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "connect_timeout": 10,
}
MANY: Final = 64
"""Lines from which on they are copied in bulk."""
_BULK: Final = re.compile(
    r"\s*INSERT INTO (?P<table>\w+) \((?P<columns>[^)]*)\)\s*VALUES \((?:\s*%\(\w+\)s,?)+\s*\)"
    r"(?P<conflict>[^%]*)"
)
PREPARED: Final = 400
"""Statements that the server keeps ready for one connection."""


class _WholeNumber(NumericLoader):
    """Sums come as numbers of any length."""

    def load(self, data: Buffer) -> Any:
        return _plain(super().load(data))


class _WholeNumberBinary(NumericBinaryLoader):
    def load(self, data: Buffer) -> Any:
        return _plain(super().load(data))


def _plain(value: Any) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


@dataclass(frozen=True, slots=True)
class PostgresOpener:
    """What is needed to open one more connection to the same database."""

    address: str
    settings: StoreSettings
    clock: Clock
    memory: str = ""
    passing: bool = False

    @property
    def path(self) -> str:
        """The address as it may be shown."""
        return without_password(self.address)

    def writer(self) -> Db:
        """The connection that writes."""
        return cast("Db", PostgresConnection(self, read_only=False))

    def reader(self) -> Db:
        """A connection that cannot write."""
        return cast("Db", PostgresConnection(self, read_only=True))

    def connect(self, *, read_only: bool) -> psycopg.Connection[Line]:
        """A bare connection. Raises DatabaseDown."""
        with translated(self):
            db = _OwnConnection.connect(self.address, autocommit=True, application_name="engram", **ALIVE)
        db.prepared_max = PREPARED
        db.adapters.register_dumper(int, Int8Dumper)
        db.adapters.register_loader("numeric", _WholeNumber)
        db.adapters.register_loader("numeric", _WholeNumberBinary)
        patience = str(int(self.settings.busy_timeout_s * 1000))
        db.execute(PREPARE, {"patience": patience, "read_only": "on" if read_only else "off"})
        return db

    @contextmanager
    def lease(self, name: str) -> Iterator[None]:
        """Hold the work called `name` in this database. Raises UpkeepBusy. It ends with the connection."""
        db = self.connect(read_only=False)
        try:
            line = db.execute(HOLD, {"name": name}).fetchone()
            if line is None or not line[0]:
                raise UpkeepBusy(name)
            try:
                yield
            finally:
                with suppress(psycopg.Error):  # gone: then the lock is as well
                    db.execute(LET_GO)  # the server notices a closed connection a moment later
        finally:
            db.close()


class _OwnConnection(psycopg.Connection[Line]):
    """Closed, like one of SQLite's, when nobody holds it any more."""

    def __del__(self, warn: Any = None, /) -> None:
        del warn  # what psycopg would warn with
        if hasattr(self, "pgconn") and not self.closed:
            self.pgconn.finish()


class Answer:
    """The lines of an answer, asked for as one asks SQLite's."""

    __slots__ = ("_lines",)

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines

    def fetchall(self) -> list[Line]:
        """All lines."""
        return self._lines

    def fetchone(self) -> Line | None:
        """The first line."""
        return self._lines[0] if self._lines else None

    @property
    def get(self) -> Any:
        """The first value of the first line."""
        return self._lines[0][0] if self._lines else None

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)


class Collided(StoreBusy):
    """Two units of work waited for each other, or one saw what the other changed: it is to be tried again."""


class PostgresConnection:
    """One connection, used by one thread at a time. One that broke is opened again when nothing was begun."""

    def __init__(self, opener: PostgresOpener, *, read_only: bool) -> None:
        self._opener = opener
        self._read_only = read_only
        self._db = opener.connect(read_only=read_only)
        self._cursor = self._db.cursor(binary=True)
        self._reader: Line | None = self._db.execute(READER).fetchone() if read_only else None
        self._changes = self._total = 0
        self._last_key: int | None = None
        self._wanted = self._shown = self._shown_before = EVERYTHING
        self.is_within = False
        """Whether others write to other namespaces during the transaction at hand."""
        self._has_place = False

    def begin_within(self, name: str) -> None:
        """Begin a transaction that keeps to something of this name: a namespace, a kind of record."""
        self._begin(sql.SQL(BEGIN_WITHIN).format(sql.Literal(name)))
        self.is_within, self._has_place = True, False

    def take_place(self) -> None:
        """Wait until nobody else gives out numbers that are followed over all namespaces."""
        if self.is_within and not self._has_place:
            self.script(TAKE_PLACE)
            self._has_place = True

    def execute(self, asked: str, values: Values = ()) -> Answer:
        """Carry out one statement."""
        if asked in BEGINS:
            self._begin(BEGINS[asked])
            self.is_within = False
            return Answer([])
        statement = translate(asked)
        if statement.in_order:
            self.take_place()
        self._run(statement.text, statement.bound(values) or None)
        if asked in ENDS:
            self._shown = self._shown_before
        lines = self._cursor.fetchall() if self._cursor.description else []
        if statement.gives_key and lines:
            self._last_key = lines[-1][0]
            lines = []
        self._count()
        return Answer(lines)

    def executemany(self, asked: str, lines: Iterable[Values]) -> None:
        """Carry out one statement for each line of values."""
        statement = translate(asked)
        if statement.in_order:
            self.take_place()
        bound = [statement.bound(values) for values in lines]
        bulk = _BULK.fullmatch(statement.text) if len(bound) >= MANY else None
        if bulk is not None and bulk["columns"].count(",") == len(statement.names) - 1:
            self._copy(bulk, [tuple(dict(named)[name] for name in statement.names) for named in bound])
            return
        with translated(self._opener):
            self._cursor.executemany(statement.text, bound)
        self._count()

    def _copy(self, bulk: re.Match[str], lines: list[Line]) -> None:
        """The same in bulk, by way of a table that lasts as long as the connection."""
        table, columns, conflict = bulk["table"], bulk["columns"], bulk["conflict"]
        # Only names of our own statements are put into these.
        make = f"CREATE TEMP TABLE IF NOT EXISTS bulk_{table} AS SELECT {columns} FROM {table} LIMIT 0"  # noqa: S608
        self.script(make)
        self.copy_in(f"COPY bulk_{table} ({columns}) FROM STDIN", lines)
        with translated(self._opener):
            self._cursor.execute(
                cast("Any", f"INSERT INTO {table} ({columns}) SELECT {columns} FROM bulk_{table} {conflict}")  # noqa: S608
            )
        self._count()
        self.script(f"TRUNCATE bulk_{table}")

    def show(self, namespaces: str = EVERYTHING) -> None:
        """Let the statements that follow see these namespaces alone."""
        self._wanted = namespaces

    @contextmanager
    def showing_everything(self) -> Iterator[None]:
        """Inside, statements see all namespaces."""
        wanted, self._wanted = self._wanted, EVERYTHING
        try:
            yield
        finally:
            self._wanted = wanted

    def script(self, statements: str) -> None:
        """Carry out statements as they are, without values."""
        with translated(self._opener):
            self._db.execute(cast("Any", statements), prepare=False)

    def changes(self) -> int:
        """How many lines the last statement changed."""
        return self._changes

    def total_changes(self) -> int:
        """How many lines were changed since the connection was opened."""
        return self._total

    def last_insert_rowid(self) -> int:
        """The key of the line added last."""
        if self._last_key is None:
            raise StoreError("No line was added.")
        return self._last_key

    def copy_in(self, statement: str, lines: Iterable[Line]) -> None:
        """Write lines in bulk: `COPY … FROM STDIN`."""
        with translated(self._opener), self._db.cursor().copy(cast("Any", statement)) as copy:
            for line in lines:
                copy.write_row(line)

    @property
    def in_transaction(self) -> bool:
        """Whether something was begun."""
        return self._db.info.transaction_status != pq.TransactionStatus.IDLE and not self._db.closed

    def release_memory(self) -> None:
        """Nothing is held here: pages are the server's."""

    def close(self) -> None:
        """Let go of the database."""
        self._db.close()

    def __enter__(self) -> Self:
        self.script("SAVEPOINT part")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.script("RELEASE part" if kind is None else "ROLLBACK TO part")

    def _begin(self, text: str | sql.Composable) -> None:
        """Begin a transaction; whoever waits too long for the lock has begun nothing."""
        try:
            self._again_if_broken(lambda: self._db.execute(cast("Any", text)))
        except EngramError:
            if self.in_transaction:
                self.script("ROLLBACK")
            raise

    def _run(self, text: str, values: Any) -> None:
        def work() -> object:
            if self._reader is not None and self._shown != self._wanted and not text.startswith(SEES_ALL):
                self._show(self._reader[0])
            return self._cursor.execute(cast("Any", text), values)

        if self._read_only and not self.in_transaction:
            self._again_if_broken(work)
        else:
            with translated(self._opener):
                work()

    def _again_if_broken(self, work: Callable[[], object]) -> None:
        """Do what stands by itself; once more on a new connection if this one turns out to be gone."""
        try:
            with translated(self._opener):
                work()
        except DatabaseDown:
            if not self._db.closed:
                raise
            self._db = self._opener.connect(read_only=self._read_only)
            self._cursor = self._db.cursor(binary=True)
            self._shown = self._shown_before = EVERYTHING
            with translated(self._opener):
                work()

    def _show(self, reader: str) -> None:
        """Tell the server what may be seen: inside a transaction until it ends."""
        for_now = self.in_transaction
        role = "none" if self._wanted == EVERYTHING else reader
        self._cursor.execute(SHOW, {"role": role, "seen": self._wanted, "for_now": for_now})
        self._shown = self._wanted
        if not for_now:
            self._shown_before = self._shown

    def _count(self) -> None:
        reads = (self._cursor.statusmessage or "").startswith("SELECT")
        self._changes = 0 if reads else max(0, self._cursor.rowcount)
        self._total += self._changes


def as_postgres(db: Db) -> PostgresConnection | None:
    """The connection, if it leads to a server."""
    known: object = db
    return known if isinstance(known, PostgresConnection) else None


def as_server(db: Db) -> PostgresConnection:
    """The connection, which is known to lead to a server."""
    return cast("PostgresConnection", db)


@contextmanager
def translated(opener: PostgresOpener) -> Iterator[None]:
    """Inside, PostgreSQL's errors become ours."""
    try:
        yield
    except psycopg.Error as error:
        raise spoken(error, opener) from error
    except UnicodeEncodeError as error:
        raise StoreError(f"The database refused ({error.reason}).") from error


def spoken(error: psycopg.Error, opener: PostgresOpener) -> EngramError:
    """What happened, in words for the person who reads it."""
    match error:
        case errors.DiskFull():
            return DiskFull()
        case errors.LockNotAvailable():
            return StoreBusy(opener.settings.busy_timeout_s)
        case errors.DeadlockDetected() | errors.SerializationFailure():
            return Collided(opener.settings.busy_timeout_s)
        case errors.InsufficientPrivilege() | errors.ReadOnlySqlTransaction():
            return AccessDenied(f"write to {opener.path}")
        case errors.OperationalError():
            return DatabaseDown(opener.path, " ".join(str(error).split()))
        case _:
            return StoreError(f"The database refused ({type(error).__name__}): {error}")
