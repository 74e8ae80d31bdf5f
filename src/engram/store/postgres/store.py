"""The store in a PostgreSQL database: the nouns of the file's store over connections of another kind.

Several engines may work on one database. Units of work of one namespace take turns, those of several go side
by side; what is followed by number over all of them is written last, by one at a time, so that it becomes
visible in order. Readers wait for nobody.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from random import random
from typing import IO, cast

from engram.errors import AccessDenied, FileExists, StoreError
from engram.model.clock import Clock
from engram.model.event import ArchiveReport, Backup, Finding
from engram.ports import Unit
from engram.rules.sealing import KEY_BYTES
from engram.store.postgres.connection import Collided, PostgresOpener, as_server
from engram.store.postgres.large import LargeNamespaces, PostgresTexts, PostgresVectors
from engram.store.postgres.listener import ChangeListener
from engram.store.postgres.schema import HAS_TABLE, MOVING, is_current, migrate, refuse_half_moved
from engram.store.postgres.transfer import Progress, move, silent, without_guards
from engram.store.postgres.wall import WalledPlaces, WalledReaders, found_wall
from engram.store.sqlite import upkeep
from engram.store.sqlite.archive import write_archive
from engram.store.sqlite.backups import Kept
from engram.store.sqlite.connection import Db, Opener, StoreSettings, ask_value
from engram.store.sqlite.migrate import migrate as migrate_file
from engram.store.sqlite.readers import Readers, snapshot
from engram.store.sqlite.snapshots import SqliteSnapshots, make_local_key
from engram.store.sqlite.store import Found, SqliteStore, T
from engram.store.sqlite.unit import NotWithin, SqliteUnit
from engram.store.sqlite.writer import Job, Outcome, Writer

ADD_KEY = """
INSERT INTO local_keys (name, key)
VALUES ('snapshot', :key)
ON CONFLICT DO NOTHING
"""

WAITS_S = (0.01, 0.05, 0.2, 0.5, 1.0)
"""How long jobs that collided wait at most before they are tried again."""

OUR_TABLES = """
SELECT string_agg(format('%I', tablename), ', ' ORDER BY tablename)
FROM pg_tables
WHERE schemaname = current_schema()
"""


class PostgresStore(SqliteStore):
    """The store over a server. Made by `open_address`; whoever opened it closes it. Used by any thread."""

    is_shared = True
    _Places = WalledPlaces
    _Readers = WalledReaders

    def __init__(self, opener: PostgresOpener, writer: Writer | None) -> None:
        super().__init__(cast("Opener", opener), writer)
        self._database = opener
        self._large = large = LargeNamespaces(opener, may_make=writer is not None)
        self._listener = ChangeListener(opener, self._renew)
        self.texts = PostgresTexts(self._readers, self._places, self._tables, large, self._listener.wake)
        self.vectors = PostgresVectors(self._readers, writer, large)
        self.backups = PostgresBackups(self._readers, opener, self.flush)  # type: ignore[assignment]
        self.snapshots = PostgresSnapshots(self._readers, writer, cast("Opener", opener))

    @classmethod
    def open_address(cls, address: str, clock: Clock, settings: StoreSettings) -> PostgresStore:
        """Open a database, giving it its tables if it has none. Raises DatabaseDown, NewerSchema."""
        opener = PostgresOpener(address, settings, clock)
        if settings.read_only:
            db = opener.reader()
            try:
                if not is_current(db):
                    raise StoreError(
                        f"{opener.path} has no memory, or an older one: open it once for writing."
                    )
            finally:
                db.close()
            return cls(opener, None)
        db = opener.writer()
        try:
            refuse_half_moved(db)
            migrate(db, clock)
        except BaseException:
            db.close()
            raise
        return cls(opener, PostgresWriter(opener, db))

    def look_and_write(
        self, look: Callable[[], Found], work: Callable[[Unit, Found], T], actor: str, namespace: str = ""
    ) -> T:
        """Look at what is known and do the work; others may write between, and wait for no look."""
        with self.reading():
            found = look()
        return self.write(lambda unit: work(unit, found), actor, namespace)

    def _kept_to(self, db: Db, within: str) -> str:
        return within if as_server(db).is_within else ""

    def _number(self, unit: SqliteUnit) -> None:
        cast("PostgresWriter", self._writing()).number_last(unit)

    def _version(self, db: Db) -> object:
        """Never the same: others write to a database at any time, so nothing found in it is kept."""
        del db
        return object()

    def _renew(self) -> None:
        with self._readers.lend() as db:
            self._tables.renew(db)

    def close(self) -> None:
        """Finish what is waiting and let go of the database."""
        self._listener.close()
        super().close()

    def settle(self) -> None:
        """Wait until indexes that are being made for large namespaces are there."""
        self._large.settle()

    def leave_nothing(self, *, compact: bool = False) -> None:
        """Take what was erased out of the tables; the server's log and its backups are the server's."""
        del compact
        self._writing().run(_vacuum, alone=True)

    def vacuum(self, *, full: bool = True) -> None:
        """Give freed space back; `full` writes each table anew, and others wait meanwhile."""
        self._writing().run(_vacuum_full if full else _vacuum, alone=True)

    def check(self, *, repair: bool = False, quick: bool = False) -> list[Finding]:
        """Look for what does not agree with the records; with `repair` mend it. Pages are the server's."""
        if self._writer is None:
            return [Finding("database", ok=True, detail="opened for reading")]
        found = self._writer.run(partial(upkeep.look_at_records, quick=quick))
        found = upkeep.mended(found, self._writer.run) if repair else found
        return [*found, self._writer.run(found_wall)]

    def lease(self, name: str) -> AbstractContextManager[None]:
        """Hold a certain work on this database for oneself; raises UpkeepBusy when somebody else does it."""
        return self._database.lease(name)

    def copy(self) -> SqliteStore:
        """A private copy of everything as it is now, in a file that goes when it is closed."""
        self.flush()
        folder = tempfile.mkdtemp(prefix="engram-")
        settings = replace(self._database.settings, read_only=False)
        opener = Opener(str(Path(folder, "memory.engram")), settings, self._database.clock, passing=True)
        with self.at_one_moment() as db:
            return SqliteStore(opener, Writer(opener, to_file(db, opener)[0]), folder)


class PostgresWriter(Writer):
    """Writes beside other engines: a transaction keeps to one namespace wherever its jobs do.

    Each engine has one. Jobs that collide with those of others are done again, a few times; jobs that turn
    out to be about more than they said are done again while nobody else writes.
    """

    ends_group = (*Writer.ends_group, Collided, NotWithin)

    def __init__(self, opener: PostgresOpener, db: Db) -> None:
        self._server = as_server(db)
        self._numbering: list[SqliteUnit] = []
        super().__init__(cast("Opener", opener), db)

    def number_last(self, unit: SqliteUnit) -> None:
        """Let a unit that keeps to a namespace write what is followed by number right before the commit."""
        if self._server.is_within:
            self._numbering.append(unit)
        else:
            unit.number()

    def _begin(self, first: Job) -> None:
        self._numbering.clear()
        if first.within:
            self._server.begin_within(first.within)
        else:
            super()._begin(first)

    def _commit(self) -> None:
        for unit in self._numbering:
            unit.number()
        super()._commit()

    def _together(self, group: list[Job]) -> list[Outcome]:
        for wait_s in WAITS_S:
            try:
                return super()._together(group)
            except NotWithin:
                group = [replace(job, within="") for job in group]
            except Collided:
                time.sleep(wait_s * random())  # noqa: S311 - no secret: so that both do not come back at once
        return super()._together(group)

    def _split(self, jobs: list[Job]) -> list[list[Job]]:
        """Those that keep to the same together; none passes one that is about anything."""
        groups: list[list[Job]] = []
        open_: dict[str, list[Job]] = {}
        for job in jobs:
            if job.alone or not job.within:
                open_ = {}
            if job.within in open_ and not job.alone:
                open_[job.within].append(job)
            else:
                groups.append([job])
                if not job.alone:
                    open_[job.within] = groups[-1]
        return groups


class PostgresBackups:
    """Copies of the whole store. The server's backups are the server's; copies are made on request."""

    def __init__(self, readers: Readers, opener: PostgresOpener, flush: Callable[[], None]) -> None:
        self._readers = readers
        self._opener = opener
        self._flush = flush

    def make(self, target: Path | None = None) -> Backup:
        """Copy everything acknowledged so far to a file, which is a memory of its own."""
        if target is None:
            raise StoreError(
                f"{self._opener.path} is backed up by its server (`pg_dump`); "
                "`engram backup make --to FILE` makes a file of it."
            )
        if target.exists():
            raise StoreError(f"{target} is there already: choose another name.")
        self._flush()
        with self._readers.lend() as db, snapshot(db):
            to_file(db, self._file(str(target)))[0].close()
        return Backup(str(target), self._opener.clock.now(), target.stat().st_size)

    def list(self) -> Kept:
        """None: they are the server's."""
        return []

    def drop_old(self, keep: int) -> None:
        """Nothing to delete."""

    def drop_all(self) -> None:
        """Nothing to delete."""

    def check(self, backup: Backup) -> Finding:
        """Whether a copy is there."""
        return Finding("backup", ok=Path(backup.file).exists(), detail=backup.file)

    def archive(self, out: IO[bytes], passphrase: str = "") -> ArchiveReport:
        """Write everything as one archive, by way of a copy."""
        self._flush()
        with tempfile.TemporaryDirectory(prefix="engram-") as folder:
            place = str(Path(folder, "memory.engram"))
            opener = self._file(place, passing=True)
            with self._readers.lend() as db, snapshot(db), closing(to_file(db, opener)[0]) as copied:
                return write_archive(copied, out, passphrase)

    def last_at(self) -> datetime | None:
        """None: none is ever due."""
        return None

    def _file(self, path: str, *, passing: bool = False) -> Opener:
        settings = replace(self._opener.settings, read_only=False)
        return Opener(path, settings, self._opener.clock, passing=passing)


def move_memory(
    source: SqliteStore, target: str, clock: Clock, settings: StoreSettings, progress: Progress
) -> ArchiveReport:
    """Bring all of a memory to a new file or an empty database; one that was cut off goes on.

    Raises:
        FileExists: there is a file at the target already.
        StoreError: the database holds a memory already, or both sides are not the same afterwards.

    """
    key = source.snapshots.kept_key()
    with source.at_one_moment() as db:
        if "://" in target:
            return _into_database(db, key, PostgresOpener(target, settings, clock), progress)
        return _into_file(db, key, Opener(target, settings, clock), progress)


def _into_database(
    source: Db, key: bytes | None, opener: PostgresOpener, progress: Progress
) -> ArchiveReport:
    with closing(opener.writer()) as db:
        server = as_server(db)
        if not ask_value(db, HAS_TABLE, {"name": MOVING}):
            migrate(db, opener.clock)
            if ask_value(db, "SELECT EXISTS (SELECT 1 FROM namespaces)"):
                raise StoreError(f"{opener.path} holds a memory already: move into an empty database.")
            server.script(f"CREATE TABLE {MOVING} ()")
        with without_guards(db):
            report = move(source, db, progress)
        if key is not None:
            db.execute(ADD_KEY, {"key": key})
        server.script(f"DROP TABLE {MOVING}")
        server.script(f"ANALYZE {ask_value(db, OUR_TABLES)}")
        return report


def _into_file(source: Db, key: bytes | None, opener: Opener, progress: Progress) -> ArchiveReport:
    path = Path(opener.path)
    if path.exists():
        raise FileExists(str(path))
    arriving = path.with_name(path.name + ".moving")
    db, report = to_file(source, replace(opener, path=str(arriving)), progress)
    upkeep.tidy(db)
    db.close()
    arriving.rename(path)
    for ending in ("-wal", "-shm"):
        arriving.with_name(arriving.name + ending).unlink(missing_ok=True)
    if key is not None and opener.settings.key is None:
        make_local_key(str(path), key)
    return report


def to_file(source: Db, opener: Opener, progress: Progress = silent) -> tuple[Db, ArchiveReport]:
    """Write everything to a file, or the rest of it; the connection that writes there."""
    db = opener.writer()
    try:
        migrate_file(db, opener.clock)
        with without_guards(db):
            return db, move(source, db, progress)
    except BaseException:
        db.close()
        raise


class PostgresSnapshots(SqliteSnapshots):
    """Sessions that sleep, sealed by a key that all engines of the database share."""

    def key(self) -> bytes:
        """The key, made at first use."""
        kept = self.kept_key()
        if kept is None:
            if self._writer is None:
                raise AccessDenied("keep a session: the memory was opened for reading")
            self._writer.run(lambda db: db.execute(ADD_KEY, {"key": secrets.token_bytes(KEY_BYTES)}))
            return self.key()
        return kept

    def kept_key(self) -> bytes | None:
        """The key, if it was made."""
        with self._readers.lend() as db:
            kept = ask_value(db, "SELECT key FROM local_keys WHERE name = 'snapshot'")
        return None if kept is None else bytes(kept)


def _vacuum(db: Db) -> None:
    as_server(db).script(f"VACUUM {ask_value(db, OUR_TABLES)}")


def _vacuum_full(db: Db) -> None:
    as_server(db).script(f"VACUUM FULL {ask_value(db, OUR_TABLES)}")
