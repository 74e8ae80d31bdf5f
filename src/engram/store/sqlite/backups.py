"""Backups: whole copies of a file, made while it is in use, checked after writing, put back by one call.

They lie in a folder beside the file, are encrypted like it, and carry the time they were made in their name.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

import apsw

from engram.errors import NoSuchFile, StoreBusy, StoreCorrupt, StoreError
from engram.lazily import lazily
from engram.model.clock import from_micros, to_micros
from engram.model.event import ArchiveReport, Backup, Finding, SalvageReport
from engram.store.sqlite import upkeep
from engram.store.sqlite.connection import IN_MEMORY, Db, Opener, ask, ask_value, pad, translated
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.reencrypt import wipe

if TYPE_CHECKING:
    from engram.store.sqlite import archive, salvage
else:
    archive = lazily("engram.store.sqlite.archive")
    salvage = lazily("engram.store.sqlite.salvage")

FOLDER_ENDING = ".backups"
STAMP = "%Y%m%dT%H%M%S%fZ"
BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file; it belongs to that file and to no other."""
PARTIAL = ".partial"
"""Ends the name of a copy that is not whole yet."""
CHECKED_ERRORS = 10
ABANDONED_S = 86_400.0


HAPPENED = """
SELECT verb, count(*)
FROM events
WHERE at > :since
  AND at <= :until
GROUP BY verb
ORDER BY verb
"""


Kept = list[Backup]
"""`list` below hides the builtin inside the class."""


class SqliteBackups:
    """Copies of the whole store. Lives as long as the store; any thread may use it."""

    def __init__(self, readers: Readers, opener: Opener, flush: Callable[[], None] | None) -> None:
        self._readers = readers
        self._opener = opener
        self._flush = flush
        """Waits until what was handed over is written; None when the file is open for reading."""

    def make(self, target: Path | None = None) -> Backup:
        """Copy everything acknowledged so far to a file, or to the folder of backups, and check it."""
        if self._flush is not None:
            self._flush()
        with translated(self._opener.path, self._opener.settings.busy_timeout_s), self._readers.lend() as db:
            return make_backup(db, self._opener, target)

    def list(self) -> Kept:
        """The backups in their folder, oldest first."""
        return backups_of(Path(self._opener.path))

    def drop_old(self, keep: int) -> None:
        """Delete all but the newest so many."""
        for backup in self.list()[:-keep]:
            _remove(Path(backup.file))

    def drop_all(self) -> None:
        """Overwrite and delete every backup beside the file: something in them was erased."""
        for backup in self.list():
            wipe(backup.file)
        # One that is being made holds it too; whoever makes it finds it gone and says so.
        for unfinished in _folder(Path(self._opener.path)).glob(f"*{PARTIAL}*"):
            wipe(str(unfinished))

    def check(self, backup: Backup) -> Finding:
        """Whether a backup can be opened and every page of it is sound."""
        try:
            check_backup(self._opener, Path(backup.file))
        except StoreError as error:
            detail = f"{backup.file}: {error.message}"
            return Finding("backup", ok=False, detail=detail, advice="`engram backup` makes a new one")
        return Finding("backup", ok=True, detail=f"{backup.file} can be restored")

    def archive(self, out: IO[bytes], passphrase: str = "") -> ArchiveReport:
        """Write everything as one archive, encrypted if there is a passphrase."""
        if self._flush is not None:
            self._flush()
        with translated(self._opener.path, self._opener.settings.busy_timeout_s), self._readers.lend() as db:
            return archive.write_archive(db, out, passphrase)

    def last_at(self) -> datetime | None:
        """When the newest was made; without one, since when there is something to lose, if ever."""
        if self._opener.memory or self._flush is None:
            return None
        kept = self.list()
        if kept:
            return kept[-1].made_at
        with self._readers.lend() as db:
            first = ask_value(db, "SELECT at FROM events ORDER BY seq LIMIT 1")
        return from_micros(first) if first is not None else None


def backups_of(path: Path) -> list[Backup]:
    """The backups of a file in its folder, oldest first."""
    return sorted(_listed(path), key=lambda backup: backup.made_at)


def make_backup(db: Db, opener: Opener, target: Path | None = None) -> Backup:
    """Copy everything as it is now, check the copy by opening it, and only then give it its name.

    Args:
        db: a connection that reads.
        opener: how the file is opened; the copy gets the same key.
        target: where to write; else into the folder of backups.

    Raises:
        StoreError: the file is in memory, the target is there already, it cannot be written, or something was
            erased meanwhile.
        StoreCorrupt: the copy is not sound; it was removed.

    """
    if opener.memory:
        raise StoreError("A memory that is kept in no file has no backup: export it.")
    path, now = Path(opener.path), opener.clock.now()
    place = target or _folder(path) / f"{now.astimezone(UTC).strftime(STAMP)}{path.suffix or '.db'}"
    if place.exists():
        raise StoreError(f"{place} is there already: choose another name.")
    _clear_abandoned(path, now)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = place.with_name(f"{place.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        with closing(upkeep.copy(db, replace(opener, path=str(partial), passing=True))) as copied:
            copied.pragma("journal_mode", "delete")  # all of it in one file
        if opener.settings.key is not None:
            pad(str(partial))  # as long as the file would be: its length tells as little
        check_backup(opener, partial)
        _settle(partial)
        partial.rename(place)
    except FileNotFoundError as error:
        raise StoreError("Something was erased while the backup was made: make it again.") from error
    except BaseException:
        _remove(partial)
        raise
    return Backup(str(place), now, place.stat().st_size)


def check_backup(opener: Opener, backup: Path) -> None:
    """Open a backup and look at every page. Raises StoreCorrupt, KeyNeeded or StoreError."""
    beside = replace(opener, path=str(backup), settings=replace(opener.settings, read_only=True))
    with translated(str(backup), opener.settings.busy_timeout_s), closing(beside.reader()) as db:
        problems = [str(line[0]) for line in ask(db, f"PRAGMA integrity_check({CHECKED_ERRORS})")]
        if problems != ["ok"]:
            raise StoreCorrupt("; ".join(problems))
        ask(db, "SELECT count(*) FROM memories")
    _remove_beside(backup)


def restore_backup(opener: Opener, backup: Path) -> str:
    """Put a backup in the place of the file. What was there is kept under another name, which is returned.

    Raises:
        NotFound: there is no such backup.
        StoreBusy: somebody has the file open for writing.
        StoreCorrupt: the backup itself is not sound; nothing was changed.

    """
    path = Path(opener.path)
    if not backup.is_file():
        raise NoSuchFile(str(backup), is_backup=True)
    check_backup(opener, backup)
    arriving = path.with_name(path.name + ".restoring")
    shutil.copyfile(backup, arriving)
    arriving.chmod(0o600)
    _settle(arriving)
    with _nobody_else(opener):
        kept = _set_aside(path, "replaced", opener.clock.now())
        arriving.rename(path)
    return kept


def restore_at(opener: Opener, at: datetime) -> tuple[Backup, str, dict[str, int]]:
    """Put back the newest backup from before a time.

    The backup, the name under which the former file is kept, and what that file's ledger tells of the time
    between the two, by kind: it is not in the backup. Raises StoreError when there is none so old.
    """
    kept = backups_of(Path(opener.path))
    before = [one for one in kept if one.made_at <= at]
    if not before:
        oldest = f"the oldest is of {kept[0].made_at:%Y-%m-%d %H:%M} UTC" if kept else "there is none at all"
        raise StoreError(f"No backup beside {opener.path} was made by then: {oldest}.")
    values = {"since": to_micros(before[-1].made_at), "until": to_micros(at)}
    try:
        with closing(replace(opener, settings=replace(opener.settings, read_only=True)).reader()) as db:
            missing: dict[str, int] = dict(ask(db, HAPPENED, values))
    except (apsw.Error, StoreError):
        missing = {}  # the file is gone or damaged: that is why it is put back
    return before[-1], restore_backup(opener, Path(before[-1].file)), missing


def salvage_file(opener: Opener, backup: Path | None = None) -> SalvageReport:
    """Replace a damaged file by one with everything that could be saved; the damaged one is kept beside it.

    Args:
        opener: how the file is opened.
        backup: what to take lost pages from; else the newest sound backup in its folder.

    Raises:
        StoreError: nothing can be read and there is no backup.

    """
    path = Path(opener.path)
    if not path.is_file():
        raise NoSuchFile(str(path))
    chosen = backup or _newest_sound(opener)
    target = path.with_name(path.name + ".salvaging")
    _remove(target)
    with translated(str(path), opener.settings.busy_timeout_s):
        report = salvage.salvage(opener, target, chosen)
    check_backup(opener, target)
    _settle(target)
    kept = _set_aside(path, "damaged", opener.clock.now())
    target.rename(path)
    return replace(report, file=str(path), kept=kept, backup=str(chosen or ""))


def _newest_sound(opener: Opener) -> Path | None:
    for backup in reversed(backups_of(Path(opener.path))):
        try:
            check_backup(opener, Path(backup.file))
        except StoreError:
            continue
        return Path(backup.file)
    return None


def _folder(path: Path) -> Path:
    return path.with_name(path.name + FOLDER_ENDING)


def _listed(path: Path) -> Iterator[Backup]:
    if str(path) == IN_MEMORY or not _folder(path).is_dir():
        return
    for file in _folder(path).iterdir():
        try:
            made = datetime.strptime(file.stem, STAMP).replace(tzinfo=UTC)
        except ValueError:
            continue  # not ours, or one that was never finished
        yield Backup(str(file), made, file.stat().st_size)


def _clear_abandoned(path: Path, now: datetime) -> None:
    """Remove what a killed process left half made a day ago or longer."""
    for file in _folder(path).glob(f"*{PARTIAL}*"):
        if now.timestamp() - file.stat().st_mtime > ABANDONED_S:
            file.unlink(missing_ok=True)


def _settle(file: Path) -> None:
    """See to it that a file is on the disk before it gets its name."""
    _remove_beside(file)
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def _remove(file: Path) -> None:
    file.unlink(missing_ok=True)
    _remove_beside(file)


def _remove_beside(file: Path) -> None:
    for ending in BESIDE:
        file.with_name(file.name + ending).unlink(missing_ok=True)


def _set_aside(path: Path, why: str, now: datetime) -> str:
    """Rename a file and what SQLite keeps beside it; the new name, or nothing when there was no file."""
    if not path.exists():
        return ""
    kept = path.with_name(f"{path.name}.{why}-{now.astimezone(UTC).strftime(STAMP)}")
    for ending in ("", *BESIDE):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.rename(kept.with_name(kept.name + ending))
    return str(kept)


@contextmanager
def _nobody_else(opener: Opener) -> Iterator[None]:
    """Hold the whole file while it is exchanged; a file that cannot be opened at all is held by nobody."""
    if not Path(opener.path).exists():
        yield
        return
    try:
        db = opener.writer()
    except apsw.Error:
        yield
        return
    try:
        db.pragma("locking_mode", "exclusive")
        db.execute("BEGIN EXCLUSIVE")
        db.execute("ROLLBACK")
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        yield
    except apsw.BusyError as error:
        raise StoreBusy(opener.settings.busy_timeout_s) from error
    finally:
        db.close()
