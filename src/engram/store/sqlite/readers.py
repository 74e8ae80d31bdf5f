"""The connections that read. A thread borrows one, uses it alone, and gives it back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from engram.errors import StoreClosed, UpkeepBusy
from engram.store.sqlite.connection import Opener, translate

if TYPE_CHECKING:
    from engram.store.sqlite.writer import Writer

T = TypeVar("T")


class Readers:
    """A pool owned by the store. Connections are opened when needed; `settings.readers` are lent at once.

    Never borrow twice in one thread outside of `hold`: with every connection lent, that would wait for
    itself. As many threads may `hold` one beside: whoever holds may wait for another thread that only
    borrows, never the other way round. In memory nobody reads while somebody writes, so a piece of work that
    reads there does it where it writes.
    """

    def __init__(self, opener: Opener, writer: Writer | None) -> None:
        self._opener = opener
        self._writer = writer if opener.memory else None
        self._free: list[apsw.Connection] = []
        self._lent = 0
        self._holding = 0
        self._closed = False
        self._given_back = threading.Condition()
        self._own = _Held()

    def hold(self) -> AbstractContextManager[None]:
        """Inside, what this thread reads comes over one connection, and from the file as it was at first."""
        return nullcontext() if self._own.holding else Hold(self)

    @contextmanager
    def over(self, db: apsw.Connection) -> Iterator[None]:
        """Inside, what this thread reads comes over this connection, which is in a transaction already."""
        own = self._own
        before = own.holding, own.known, own.db
        own.holding, own.known, own.db = True, {}, db
        try:
            yield
        finally:
            own.holding, own.known, own.db = before

    def _begin_hold(self) -> None:
        with self._given_back:
            self._given_back.wait_for(lambda: self._closed or self._holding < self._opener.settings.readers)
            self._holding += 1
        self._own.holding, self._own.known = True, {}

    def _end_hold(self) -> None:
        own = self._own
        own.holding, db, own.db = False, own.db, None
        try:
            if db is not None and db.in_transaction:
                db.execute("COMMIT")
        finally:
            with self._given_back:
                self._holding -= 1
            self._put_back(db)

    def once(self, what: Hashable, find: Callable[[], T]) -> T:
        """What is found, looked for once while this thread holds a connection; outside of that each time."""
        own = self._own
        if not own.holding or own.db is None or self._opener.memory:
            return find()
        found: T | None = own.known.get(what)
        if found is None:
            found = own.known[what] = find()
        return found

    def lend(self) -> Loan:
        """A connection for the time of the block; SQLite's errors inside become ours."""
        return Loan(self)

    def _borrow(self) -> tuple[apsw.Connection, bool]:
        """A connection, and whether it is to be given back."""
        if self._own.holding:
            return self._held(), False
        own = None if self._writer is None else self._writer.own_connection()
        if own is not None:
            return own, False
        with self._given_back:
            self._given_back.wait_for(lambda: self._closed or self._lent < self._opener.settings.readers)
            self._lent += 1
        try:
            return self._take(), True
        except BaseException:
            self._give_back(None)
            raise

    def _give_back(self, db: apsw.Connection | None) -> None:
        with self._given_back:
            self._lent -= 1
        self._put_back(db)

    def _spoken(self, error: apsw.Error) -> Exception:
        return translate(error, self._opener.path, self._opener.settings.busy_timeout_s)

    def shrink(self) -> None:
        """Let the connections that nobody uses give up the pages they keep."""
        with self._given_back:
            for db in self._free:
                db.release_memory()

    def close(self) -> None:
        """Close what is free now, and what is lent when it comes back."""
        with self._given_back:
            self._closed = True
            free, self._free = self._free, []
            self._given_back.notify_all()
        for db in free:
            db.close()

    def _held(self) -> apsw.Connection:
        """The connection of a thread that holds one, taken when it first reads."""
        if self._own.db is None:
            self._own.db = self._take()
            if not self._opener.memory:
                self._own.db.execute("BEGIN")
        return self._own.db

    def _take(self) -> apsw.Connection:
        with self._given_back:
            if self._closed:
                raise StoreClosed
            if self._free:
                return self._free.pop()
        return self._opener.reader()

    def _put_back(self, db: apsw.Connection | None) -> None:
        """Let the next one have the connection, and the place that its use took."""
        with self._given_back:
            self._given_back.notify_all()
            if db is None:
                return
            if not self._closed:
                self._free.append(db)
                return
        db.close()


class Hold:
    """The time of a block in which a thread keeps one connection. A plain class, as `Loan`."""

    __slots__ = ("_readers",)

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def __enter__(self) -> None:
        self._readers._begin_hold()  # noqa: SLF001 - the two are one

    def __exit__(self, *_: object) -> None:
        self._readers._end_hold()  # noqa: SLF001


class Loan:
    """A connection that is lent for the time of a block. A plain class: a recall borrows a dozen times."""

    __slots__ = ("_db", "_lent", "_readers")

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def __enter__(self) -> apsw.Connection:
        try:
            self._db, self._lent = self._readers._borrow()  # noqa: SLF001 - the two are one
        except apsw.Error as error:
            raise self._readers._spoken(error) from error  # noqa: SLF001
        return self._db

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._lent:
            self._readers._give_back(self._db)  # noqa: SLF001
        if isinstance(error, apsw.Error):
            raise self._readers._spoken(error) from error  # noqa: SLF001


class _Held(threading.local):
    """Whether a thread keeps its connection for now, and which."""

    holding = False
    db: apsw.Connection | None = None
    known: dict[Hashable, Any] = {}  # noqa: RUF012 - never this one: each who holds begins a new one
    """What was found over it: the file stays as it was at first."""


@contextmanager
def snapshot(db: apsw.Connection) -> Iterator[None]:
    """Inside, every statement sees the file as it is at the first one."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("COMMIT")


# ---------------------------------------------------------------- lease
# A lease: one process at a time does a certain work on a file. It ends with the process, however that dies.
#
# It is an exclusive transaction on a small database beside the file: the system gives it back by itself.


@contextmanager
def lease(opener: Opener, name: str) -> Iterator[None]:
    """Hold the work called `name` on a file. Raises UpkeepBusy when somebody else does it."""
    beside = Path(f"{opener.path}-{name}")
    db = _held(opener, name, beside)
    try:
        yield
    finally:
        if not opener.memory:
            with suppress(OSError):  # where an open file cannot be removed, it stays
                beside.unlink()
        db.execute("ROLLBACK")
        db.close()


def _held(opener: Opener, name: str, beside: Path) -> apsw.Connection:
    """The small database, locked: the one that lies there now, since whoever had the lease removes his."""
    while True:
        before = _identity(beside)
        db = opener.beside(name)
        try:
            db.execute("BEGIN EXCLUSIVE")
            if opener.memory or before == _identity(beside) is not None:
                return db
        except apsw.BusyError as error:
            db.close()
            raise UpkeepBusy(name) from error
        db.close()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
