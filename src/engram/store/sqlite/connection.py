"""A path and settings come in, an open connection comes out. No other place makes one.

So a key given here turns the whole file, its log included, into a vault. A store in memory is a database of
SQLite's own `memdb`, which all connections of this process that know its name share.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from pathlib import Path

import apsw

from engram.errors import ConfigError, StoreError
from engram.model.clock import Clock
from engram.store.sqlite.settings import StoreSettings

IN_MEMORY = ":memory:"
CIPHER = "chacha20"
"""Authenticated, needs no special processor, and takes a raw key, so opening costs no key derivation."""
KEY_BYTES = 32
LOG_LIMIT_BYTES = 16 * 1024 * 1024
"""The write-ahead log is cut back to this after a checkpoint."""
CHECKPOINT_PAGES = 4_000
"""Changed pages after which the log is brought into the file: the writer waits for the disk then."""
RETRY_S = 0.01


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
        db.pragma("page_size", self.settings.page_size)
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
        """A small database of its own beside this one."""
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
        db = apsw.Connection(name, flags=flags) if name else self._connect("", flags)
        db.set_busy_timeout(int(self.settings.busy_timeout_s * 1000))
        if self.settings.key is not None and not self.memory:
            _unlock(db, self.settings.key)
        elif self.settings.mmap_bytes:
            db.pragma("mmap_size", self.settings.mmap_bytes)
        db.pragma("temp_store", "memory")
        db.pragma("cache_size", -self.settings.cache_kb)
        db.pragma("schema_version")  # the first real read: a wrong key or a foreign file shows here
        return db

    def _connect(self, suffix: str, flags: int) -> apsw.Connection:
        if self.memory:
            return apsw.Connection(
                f"file:/{self.memory}{suffix}?vfs=memdb", flags=flags | apsw.SQLITE_OPEN_URI
            )
        return apsw.Connection(f"{self.path}{suffix}", flags=flags)

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


def can_hold_a_log(path: str) -> bool:
    """Whether SQLite may make its files beside this one; not on a read-only medium."""
    return os.access(Path(path).absolute().parent, os.W_OK)


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
