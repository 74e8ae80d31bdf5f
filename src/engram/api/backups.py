"""Backups as a caller asks for them: make, list and check them. `opening.py` puts one back."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

from engram.api.caller import CallerContext
from engram.errors import AccessDenied, EngramError, FileExists, StoreError, UpkeepBusy, VaultRefused
from engram.model.event import ArchiveReport, Backup, Finding
from engram.model.scope import Role

LEASE = "backup"
"""One process at a time makes a backup by itself."""
DUE_AFTER = timedelta(hours=24)
"""A backup is made by itself when the last one is older than this."""


# The method `list` hides the builtin inside the class, so its annotations take these names.
Kept = list[Backup]
Findings = list[Finding]


class Backups:
    """Copies of the whole file. Only an owner of all of it may make or see them."""

    def __init__(self, caller: CallerContext) -> None:
        self._caller = caller
        self._running: threading.Thread | None = None
        self.trouble = ""
        """Why the last backup made by itself failed; empty when it did not."""

    def make(self, to: str | Path | None = None) -> Backup:
        """Copy everything as it is now, while it is in use, and check the copy.

        Args:
            to: a file to make; else the copy joins the others beside the memory, and the oldest beyond
                `store.backups` go.

        Raises:
            AccessDenied: the caller does not own the whole file.
            StoreError: the memory is in no file, or the copy cannot be written.

        """
        self._check()
        store = self._caller.tools.store
        made = store.backups.make(Path(to) if to else None)
        if to is None:
            store.backups.drop_old(max(1, self._caller.tools.config.store.backups))
        return made

    def list(self) -> Kept:
        """The backups beside the memory, oldest first. Raises AccessDenied."""
        self._check()
        self.finish()
        return self._caller.tools.store.backups.list()

    def check(self) -> Findings:
        """Open each backup and look at every page of it. Raises AccessDenied."""
        return [self._caller.tools.store.backups.check(backup) for backup in self.list()]

    def archive(self, to: str | Path, passphrase: str = "") -> ArchiveReport:
        """Write everything the memory knows into one archive, from which an equal memory can be made.

        Args:
            to: a file to make.
            passphrase: encrypts the archive. A vault gives out no archive without one.

        Raises:
            AccessDenied: the caller does not own the whole file.
            FileExists: the file is there already.
            VaultRefused: the memory is a vault and there is no passphrase.

        """
        self._check()
        if self._caller.tools.keys is not None and not passphrase:
            raise VaultRefused("A vault is archived under a passphrase only: give one.")
        target = Path(to)
        if target.exists():
            raise FileExists(str(target))
        partial = target.with_name(target.name + ".partial")
        try:
            with partial.open("wb") as out:
                partial.chmod(0o600)
                report = self._caller.tools.store.backups.archive(out, passphrase)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        return report

    def finding(self) -> Finding:
        """What the doctor says of them."""
        self.finish()
        kept = self._caller.tools.store.backups.list()
        if self.trouble:
            advice = "`engram backup` tries again; `engram config get store.backups` says how many are kept"
            return Finding("backups", ok=False, detail=self.trouble, advice=advice)
        newest = f"{len(kept)} kept, the newest of {kept[-1].made_at:%Y-%m-%d %H:%M}" if kept else "none yet"
        return Finding("backups", ok=True, detail=newest)

    def make_if_due(self) -> Backup | None:
        """Make one if backups are wanted and the last is a day old, or the memory is and has none."""
        tools = self._caller.tools
        try:
            if not self._is_due():
                return None
            with tools.store.lease(LEASE):
                made = tools.store.backups.make()
                tools.store.backups.drop_old(tools.config.store.backups)
        except UpkeepBusy:
            return None  # another process makes it
        except EngramError as error:  # nobody asked for it: the doctor tells
            self.trouble = error.message
            return None
        self.trouble = ""
        return made

    def start_if_due(self) -> None:
        """The same beside whatever else is done; `finish` waits for it."""
        try:
            if not self._is_due():
                return
        except StoreError as error:
            self.trouble = error.message
            return
        self._running = threading.Thread(target=self.make_if_due, name="engram-backup", daemon=True)
        self._running.start()

    def finish(self) -> None:
        """Wait for a backup that is being made."""
        if self._running is not None:
            self._running.join()
            self._running = None

    def _is_due(self) -> bool:
        tools = self._caller.tools
        since = tools.store.backups.last_at() if tools.config.store.backups else None
        return since is not None and tools.clock.now() - since >= DUE_AFTER

    def _check(self) -> None:
        if self._caller.access.role is not Role.OWNER or not self._caller.owns_file:
            raise AccessDenied("make or see backups; only an owner of the whole file may")
