"""The vault: a file becomes unreadable without its key, changes its key, or becomes readable again.

The functions here work on a file that nobody has open. `memory.vault` is the same for a memory that is,
and `memory.backups` makes, lists and checks copies of the whole file; `opening.py` puts one back.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from engram import keys as key_holders
from engram.api.caller import LAST_NUMBER, PAGE_LIMIT, CallerContext, Noun, whole
from engram.config import Config, load
from engram.errors import (
    AccessDenied,
    EmptyContent,
    EngramError,
    FileExists,
    InvalidInput,
    KeyNeeded,
    StoreError,
    UpkeepBusy,
    VaultRefused,
)
from engram.keys import (
    FileState,
    Slots,
    VaultKeys,
    find_keys,
    new_slots,
    promote_slots,
    read_key,
    read_slots,
    remove_slots,
    state_of,
    write_slots,
)
from engram.lazily import dataclass, lazily
from engram.model.clock import Clock, SystemClock
from engram.model.event import (
    ArchiveReport,
    Audited,
    AuditEntry,
    Backup,
    Finding,
    PurgeCertificate,
    PurgeOrder,
)
from engram.model.plain import plain
from engram.model.scope import Role, Scope
from engram.opening import Overrides, open_store, open_tools
from engram.ports import Tools
from engram.rules import screen
from engram.rules.sealing import is_signed, sign, subkey
from engram.store.sqlite import SqliteStore
from engram.store.sqlite.backups import backups_of
from engram.store.sqlite.reencrypt import reencrypt, settle, wipe

if TYPE_CHECKING:
    from engram.capture import change
else:
    change = lazily("engram.capture.change")

CERTIFICATE = "certificate"
"""The purpose of the key that certificates are signed with."""
IN_MEMORY = ":memory:"
ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """What a file is, and what opens it."""

    path: str
    state: str
    """new, plain, fields (contents that are sensitive are sealed) or vault."""
    unlocked: bool
    """Whether a key is at hand, so that the next command can open it."""
    passphrase: bool
    """Whether a passphrase opens it."""


def vault_status(path: str) -> VaultStatus:
    """What a file is; reads its first bytes only."""
    slots = read_slots(path) or read_slots(path, coming=True)
    state = str(state_of(path))
    if state == FileState.SEALED:
        state = "vault"
    elif slots is not None and slots.covers == "fields":
        state = "fields"
    return VaultStatus(path, state, _is_unlocked(path), slots is not None and slots.has_passphrase)


def init_vault(
    path: str,
    *,
    passphrase: str = "",
    key: bytes | str | None = None,
    fields: bool = False,
    config: Config | None = None,
) -> str:
    """Encrypt a file, or make a new one that is: under a passphrase, a key, or a new key in the keychain.

    The file in clear, and backups beside it, are overwritten and removed when everything has been found again
    in the new one. With `fields` only the words of what is sensitive or confidential are sealed; the file
    stays readable otherwise.

    Returns:
        Where the key is now, in words.

    Raises:
        VaultRefused: it is a vault already.
        NoKeychain: neither passphrase nor key was given, and there is no keychain.
        StoreBusy: somebody has the file open.

    """
    clock, config = SystemClock(), config or load()
    check_no_key(path, clock)
    master, slots, where = _new_key(passphrase, key)
    if fields:
        write_slots(path, replace(slots or new_slots(), covers="fields"))
        _seal_contents(path, master, config, clock)
        _wipe_copies(path)  # they are in clear
        return where
    keys = VaultKeys(master)
    if slots is not None:
        write_slots(path, slots, coming=True)
    if state_of(path) is FileState.NEW:
        promote_slots(path)
        open_store(path, config, clock, master)[0].close()
    else:
        reencrypt(path, None, keys, clock)
        promote_slots(path)
        _wipe_copies(path)  # they are in clear
    _seal_contents(path, master, config, clock)
    return where


def check_no_key(path: str, clock: Clock) -> None:
    """Bring a file to the present schema. Raises VaultRefused when it has a key already."""
    if state_of(path) is FileState.SEALED:
        raise VaultRefused(f"{path} is a vault already: `engram vault rotate` gives it another key.")
    if state_of(path) is FileState.PLAIN:
        settle(path, clock)
        SqliteStore.open(path, clock).close()
    if read_slots(path) is not None:
        raise VaultRefused(f"{path} has a key already: `engram vault remove` first takes it away.")


def init_vault_like(
    path: str, first: str, key: bytes | str | None, *, fields: bool = False, config: Config | None = None
) -> None:
    """Encrypt another file of a folder under the key of the first: whatever opens that opens this."""
    if state_of(path) is FileState.SEALED or read_slots(path) is not None:
        return  # it was reached before something cut this off
    init_vault(path, key=open_keys(first, key).master, fields=fields, config=config)
    if (slots := read_slots(first)) is not None:
        write_slots(path, slots)


def remove_vault(path: str, *, key: bytes | str | None = None) -> None:
    """Write a vault as a file that everybody can read who may read files of yours.

    Raises:
        VaultRefused: it has no key.
        KeyNeeded: no key, or a wrong one.
        StoreBusy: somebody has the file open.

    """
    keys = open_keys(path, key)
    before = read_slots(path)
    with _opened(path, keys.master, load(), SystemClock()) as tools:
        change.open_everything(tools, ENGINE)
    if before is not None:
        write_slots(path, new_slots("nothing"), coming=True)
    reencrypt(path, keys, None, SystemClock())
    remove_slots(path)
    if before is not None:
        key_holders.drop(before.id)


def rotate_vault(
    path: str, *, key: bytes | str | None = None, passphrase: str = "", new_key: bytes | str | None = None
) -> str:
    """Give a vault another key; the old one opens neither the file nor what is sealed in it any more.

    Args:
        path: the file, which nobody has open.
        key: what opens it now; by default what is at hand.
        passphrase: what is to open it then; by default a key goes to where the old one was.
        new_key: the key itself, where whoever rotates keeps it.

    Returns:
        Where the key is now, in words.

    """
    keys = open_keys(path, key)
    before = read_slots(path)
    master, slots, where = _new_key(passphrase, new_key)
    if keys.covers == "fields":
        slots = replace(slots or new_slots(), covers="fields")
    if slots is not None:
        write_slots(path, slots, coming=True)
    reencrypt(path, keys, VaultKeys(master, keys.covers), SystemClock())
    if slots is None:
        remove_slots(path)
    promote_slots(path)
    if before is not None:
        key_holders.drop(before.id)
    return where


def unlock_vault(path: str, key: bytes | str) -> str:
    """Hold the key of a vault until it is locked, so that every command, server, hook and worker opens it.

    Returns:
        Where it is held, in words.

    """
    keys = open_keys(path, key)
    slots = read_slots(path)
    if slots is None:
        slots = new_slots()
        write_slots(path, slots)
    return key_holders.hold(slots.id, keys.master, lasting=False)


def lock_vault(path: str) -> bool:
    """Hold the key no longer; whether it was held. Raises VaultRefused when there is no other copy of it."""
    slots = read_slots(path)
    if slots is None:
        return False
    if slots.keychain and key_holders.held(slots.id) is not None:
        raise VaultRefused(
            "The keychain has the only key of this vault: `engram vault export-key` shows it, `engram vault "
            "rotate` puts a passphrase in its place."
        )
    return key_holders.drop(slots.id)


def open_keys(path: str, key: bytes | str | None = None) -> VaultKeys:
    """The keys that open a vault, tried on it. Raises KeyNeeded, and VaultRefused when it is no vault."""
    store, keys = open_store(path, load(), SystemClock(), key)
    store.close()
    if keys is None:
        raise VaultRefused(f"{path} is no vault: `engram vault init` makes it one.")
    _settle_slots(path, keys)
    return keys


def export_key(path: str, key: bytes | str | None = None) -> str:
    """The master key as 64 hexadecimal digits, to be kept where nobody finds it."""
    return open_keys(path, key).master.hex()


def _settle_slots(path: str, keys: VaultKeys) -> None:
    """Whoever died while the vault got another key left two descriptions: the one that opened it holds."""
    coming = read_slots(path, coming=True)
    if coming is None:
        return
    if keys.vault == coming.id:
        promote_slots(path)
    elif keys.vault:
        remove_slots(path, only_coming=True)


def _new_key(passphrase: str, key: bytes | str | None) -> tuple[bytes, Slots | None, str]:
    """A master key, what stands beside the vault for it, and where it is kept."""
    given = None if key is None else read_key(key)
    if isinstance(given, str):
        passphrase, given = given, None
    if given is not None:
        return given, None, "with you"
    master = os.urandom(32)
    slots = new_slots()
    if passphrase:
        return master, slots.with_passphrase(passphrase, master), "under your passphrase"
    return master, replace(slots, keychain=True), key_holders.hold(slots.id, master, lasting=True)


@contextmanager
def _opened(path: str, master: bytes, config: Config, clock: Clock) -> Iterator[Tools]:
    tools = open_tools(path, config, Overrides(clock, key=master), read_only=False)
    try:
        yield tools
    finally:
        tools.store.close()


def _seal_contents(path: str, master: bytes, config: Config, clock: Clock) -> None:
    """What is sensitive in the file already is sealed as what comes from now on will be."""
    with _opened(path, master, config, clock) as tools:
        change.seal_everything(tools, ENGINE)


def _wipe_copies(path: str) -> int:
    """Wipe the backups beside a file, and what was set aside when one was put back; how many."""
    file = Path(path)
    aside = (one for ending in ("replaced", "damaged") for one in file.parent.glob(f"{file.name}.{ending}-*"))
    copies = [
        *(str(backup.file) for backup in backups_of(file)),
        *(str(one) for one in aside if one.is_file()),
    ]
    for copy in copies:
        wipe(copy)
    return len(copies)


def _is_unlocked(path: str) -> bool:
    try:
        return bool(find_keys(path)) if Path(path).exists() else False
    except (KeyNeeded, VaultRefused):
        return False


# ---------------------------------------------------------------- noun
# `memory.vault`: whether the file is encrypted, and taking people, places and conversations out of it.


PurgeFolders = Callable[[Collection[str], Scope | None], int]
"""Takes names, or a place, out of the folders that were kept in step; how many files were wiped."""


class Vault(Noun):
    """What keeps secrets, and what makes them go. Hangs on the facade; safe to use from many threads."""

    def __init__(self, caller: CallerContext, path: str, folders: Callable[[], PurgeFolders]) -> None:
        super().__init__(caller)
        self._path = path
        self._folders = folders

    def status(self) -> VaultStatus:
        """Whether the file is encrypted, and what opens it. Raises AccessDenied unless it is the caller's."""
        self._caller.check_owns_file("look at the vault")
        return vault_status(self._path)

    def erase_session(self, session: str) -> dict[str, int]:
        """Erase a conversation: every turn, the memories that came from it, what slept of it.

        Args:
            session: its id. Only what the caller may change goes.

        Returns:
            How much of what was removed.

        """
        screen.name("session", session)
        if not session.strip():
            raise EmptyContent("session")
        return self._purged(PurgeOrder(session=session, access=self._caller.access))

    def erase_turns(self, turns: Sequence[int]) -> dict[str, int]:
        """Erase single turns, by their keys, and the memories that came from them.

        Returns:
            How much of what was removed.

        """
        if not turns:
            return {}
        return self._purged(PurgeOrder(turns=tuple(turns), access=self._caller.access))

    def purge(self, *, person: str = "", scope: Scope | None = None) -> PurgeCertificate:
        """Take a person, or a place and all below it, out of the file for good, backups beside it included.

        Every memory and turn that names the person (by any known name), was said by them or lies at a place
        of theirs goes, with facts, names, reasons, triggers, wishes, answers, sleeping sessions and tokens,
        and files of workspaces that speak of them. Backups elsewhere end when the vault gets another key
        (`engram vault rotate`).

        Args:
            person: a name.
            scope: a place.

        Returns:
            A signed certificate of what was removed; it holds no words.

        Raises:
            AccessDenied: the caller does not own the whole file.

        """
        self._caller.check_owns_file("purge")
        if bool(person.strip()) == (scope is not None):
            raise InvalidInput("Say who or what is to go: a person, or a scope.")
        store = self._store
        kept, purge_folders = len(store.backups.list()), self._folders()
        known = store.entities.get(person.strip(), self._caller.access) if person.strip() else None
        names = {person.strip(), *(known.aliases if known else ())} - {""}
        removed = self._purged(PurgeOrder(person=person.strip(), scope=scope))
        store.vacuum()  # a certificate vouches for all of the file
        if wiped := purge_folders(names, scope):
            removed["files"] = wiped
        removed |= {"backups": kept + _wipe_copies(self._path)} if self._path != IN_MEMORY else {}
        subject = person.strip().casefold() or str(scope)
        return self._signed(
            PurgeCertificate(
                at=self._tools.clock.now(),
                actor=self._caller.actor,
                kind="person" if person.strip() else "scope",
                subject=sha256(subject.encode()).hexdigest(),
                removed={name: number for name, number in removed.items() if name != "remaining"},
                remaining=removed["remaining"],
                public_key="",
            )
        )

    def verify(self, certificate: PurgeCertificate) -> bool:
        """Whether a certificate is as it was signed, by a key of this file."""
        mine = sign(b"", self._seed())[1]
        return certificate.public_key == mine and is_signed(
            _message(certificate), certificate.signature, certificate.public_key
        )

    def refused(self, actor: str, what: Audited) -> None:
        """Write down that somebody at a door was not let. Whoever asks needs no right to."""
        self._store.audit.note(AuditEntry(self._tools.clock.now(), actor, what))

    def audit(self, *, limit: int = 100, after: int = 0) -> list[AuditEntry]:
        """Who looked, and who was not let, oldest first; `after` is the number of the last line already seen.

        Raises AccessDenied unless the file is the caller's. What is older than `store.audit_days` is gone.
        """
        self._caller.check_owns_file("look at the audit")
        most, seen = whole("limit", limit, 1, PAGE_LIMIT), whole("after", after, 0, LAST_NUMBER)
        return self._store.audit.entries(most, seen)

    def _purged(self, order: PurgeOrder) -> dict[str, int]:
        store = self._store
        removed = store.write(lambda unit: unit.purge(order), self._caller.actor)
        store.leave_nothing(compact=True)
        self._caller.note(Audited.PURGED, "", {name: number for name, number in removed.items() if number})
        return removed

    def _signed(self, certificate: PurgeCertificate) -> PurgeCertificate:
        named = replace(certificate, public_key=sign(b"", self._seed())[1])
        return replace(named, signature=sign(_message(named), self._seed())[0])

    def _seed(self) -> bytes:
        keys = self._tools.keys
        return keys.key(CERTIFICATE) if keys else subkey(self._store.snapshots.key(), CERTIFICATE)


def _message(certificate: PurgeCertificate) -> bytes:
    return json.dumps(plain(replace(certificate, signature="")), sort_keys=True).encode()


LEASE = "backup"
"""One process at a time makes a backup by itself."""
DUE_AFTER = timedelta(hours=24)
"""A backup is made by itself when the last one is older than this."""


# The method `list` hides the builtin inside the class, so its annotations take these names.
Kept = list[Backup]
Findings = list[Finding]


class Backups(Noun):
    """Copies of the whole file. Only an owner of all of it may make or see them."""

    def __init__(self, caller: CallerContext) -> None:
        super().__init__(caller)
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
        store = self._store
        made = store.backups.make(Path(to) if to else None)
        if to is None:
            store.backups.drop_old(max(1, self._tools.config.store.backups))
        return made

    def list(self) -> Kept:
        """The backups beside the memory, oldest first. Raises AccessDenied."""
        self._check()
        self.finish()
        return self._store.backups.list()

    def check(self) -> Findings:
        """Open each backup and look at every page of it. Raises AccessDenied."""
        return [self._store.backups.check(backup) for backup in self.list()]

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
        if self._tools.keys is not None and not passphrase:
            raise VaultRefused("A vault is archived under a passphrase only: give one.")
        target = Path(to)
        if target.exists():
            raise FileExists(str(target))
        partial = target.with_name(target.name + ".partial")
        try:
            with partial.open("wb") as out:
                partial.chmod(0o600)
                report = self._store.backups.archive(out, passphrase)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        return report

    def finding(self) -> Finding:
        """What the doctor says of them."""
        self.finish()
        kept = self._store.backups.list()
        if self.trouble:
            advice = "`engram backup` tries again; `engram config get store.backups` says how many are kept"
            return Finding("backups", ok=False, detail=self.trouble, advice=advice)
        newest = f"{len(kept)} kept, the newest of {kept[-1].made_at:%Y-%m-%d %H:%M}" if kept else "none yet"
        return Finding("backups", ok=True, detail=newest)

    def make_if_due(self) -> Backup | None:
        """Make one if backups are wanted and the last is a day old, or the memory is and has none."""
        tools = self._tools
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
        tools = self._tools
        since = tools.store.backups.last_at() if tools.config.store.backups else None
        return since is not None and tools.clock.now() - since >= DUE_AFTER

    def _check(self) -> None:
        if self._caller.access.role is not Role.OWNER or not self._caller.owns_file:
            raise AccessDenied("make or see backups; only an owner of the whole file may")
