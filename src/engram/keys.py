"""A file and perhaps a key come in; the keys that may open it go out, or an error that says what to do.

The order: the key given, `ENGRAM_KEY`, the file that `ENGRAM_KEY_FILE` names, what `engram vault unlock`
holds. A file that is no vault needs none, and a key for it is an error: whoever gives one believes it is one.
"""

from __future__ import annotations

import binascii
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

from engram.errors import BadKey, KeyNeeded, KeyNotWanted, NoKeychain, StoreError, VaultRefused
from engram.lazily import base64, dataclass, hashlib, secrets, tempfile
from engram.rules.sealing import KEY_BYTES, NONCE_BYTES, seal, subkey, unseal

KEY_VARIABLE = "ENGRAM_KEY"
KEY_FILE_VARIABLE = "ENGRAM_KEY_FILE"
HEADER = b"SQLite format 3\x00"
IN_MEMORY = ":memory:"


class FileState(StrEnum):
    """What a file is, by its first bytes."""

    NEW = "new"
    PLAIN = "plain"
    SEALED = "sealed"


@dataclass(frozen=True, slots=True)
class VaultKeys:
    """The master key of a vault, and a key for each purpose."""

    master: bytes = field(repr=False)
    covers: str = "file"
    vault: str = ""
    """The id of the description beside the file that led to it; empty: the key itself was given."""

    def key(self, purpose: str) -> bytes:
        """32 bytes for one purpose; another purpose gets others."""
        return subkey(self.master, purpose)

    @property
    def database(self) -> bytes | None:
        """What the file is encrypted with; None when only contents of memories are sealed."""
        return self.key("database") if self.covers == "file" else None


def state_of(path: str | Path) -> FileState:
    """Whether a file is there, and whether anybody can read it."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(HEADER))
    except OSError:
        return FileState.NEW
    if not head:
        return FileState.NEW
    return FileState.PLAIN if head == HEADER else FileState.SEALED


def find_keys(path: str, given: bytes | str | None = None) -> tuple[VaultKeys, ...]:
    """The keys to try on a file, the likeliest first; none for a file without a vault.

    Raises KeyNeeded for a vault without a key, KeyNotWanted for a key without a vault, VaultRefused for a
    file in clear where a vault ought to be.
    """
    secret = read_key(given) if given is not None else _from_environment()
    if path == IN_MEMORY:
        return () if not isinstance(secret, bytes) else (VaultKeys(secret, "fields"),)
    state, slots = state_of(path), slots_of(path)
    if state is FileState.PLAIN and not slots:
        if secret is not None:
            raise KeyNotWanted(path)
        return ()
    if state is FileState.NEW and not slots:
        return () if secret is None else (_new_vault(path, secret),)
    keys = tuple(_masters(secret, slots))
    if not keys:
        raise KeyNeeded(path, wrong=secret is not None)
    return keys


def slots_of(path: str) -> tuple[Slots, ...]:
    """What describes the file as it is now: usually one, two while it is not known which of them holds."""
    state, now, coming = state_of(path), read_slots(path), read_slots(path, coming=True)
    if state is FileState.SEALED:
        return tuple(slots for slots in (coming, now) if slots is not None and slots.covers == "file")
    if state is FileState.PLAIN and now is not None and now.covers == "file":
        if coming is not None and coming.covers == "nothing":
            return ()
        raise VaultRefused(
            f"{path} is in clear, but beside it stands the description of a vault: somebody has put another "
            "file in its place. Restore the vault, or remove the file that ends in -vault."
        )
    return tuple(slots for slots in (coming, now) if slots is not None and slots.covers == "fields")


def _masters(secret: bytes | str | None, slots: tuple[Slots, ...]) -> Iterator[VaultKeys]:
    if isinstance(secret, bytes):
        yield VaultKeys(secret, slots[0].covers if slots else "file")
        return
    for described in slots:
        master = held(described.id) if secret is None else described.master(secret)
        if master is not None:
            yield VaultKeys(master, described.covers, described.id)


def _new_vault(path: str, secret: bytes | str) -> VaultKeys:
    if isinstance(secret, bytes):
        return VaultKeys(secret)
    master, slots = os.urandom(KEY_BYTES), new_slots()
    write_slots(path, slots.with_passphrase(secret, master))
    return VaultKeys(master, vault=slots.id)


def read_key(given: bytes | str) -> bytes | str:
    """32 raw bytes, 64 hexadecimal digits or base64 of 32 bytes are a key; any other text is a passphrase.

    >>> read_key("00" * 32) == bytes(32), read_key("correct horse battery")
    (True, 'correct horse battery')
    """
    if isinstance(given, bytes):
        if len(given) == KEY_BYTES:
            return given
        try:
            given = given.decode()
        except UnicodeDecodeError:
            raise BadKey(f"A key has {KEY_BYTES} bytes, not {len(given)}.") from None
    text = given.strip()
    if not text:
        raise BadKey("The key is empty.")
    for decode in (bytes.fromhex, _base64):
        try:
            raw = decode(text)
        except (ValueError, binascii.Error):
            continue
        if len(raw) == KEY_BYTES:
            return raw
    return text


def _base64(text: str) -> bytes:
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)


def _from_environment() -> bytes | str | None:
    if text := os.environ.get(KEY_VARIABLE):
        return read_key(text)
    if name := os.environ.get(KEY_FILE_VARIABLE):
        try:
            return read_key(Path(name).read_bytes())
        except OSError as error:
            raise BadKey(
                f"{KEY_FILE_VARIABLE} names {name}, which cannot be read: {error.strerror}."
            ) from error
    return None


SERVICE = "engram-vault"
RUNTIME = "XDG_RUNTIME_DIR"


def hold(vault: str, master: bytes, *, lasting: bool) -> str:
    """Keep a key until it is dropped; where, in words. Raises NoKeychain when there is no place.

    `lasting` takes the keychain alone: memory of a session would lose the only copy.
    """
    text = master.hex()
    if _in_keychain("set", vault, text) is not None:
        return "the keychain of this system"
    folder = None if lasting else _runtime()
    if folder is None:
        raise NoKeychain
    folder.mkdir(mode=0o700, exist_ok=True)
    number = os.open(folder / vault, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with os.fdopen(number, "w") as out:
        out.write(text)
    return f"the memory of this session ({folder})"


def held(vault: str) -> bytes | None:
    """The key that is held for a vault; None when it is locked."""
    folder = _runtime()
    text = ""
    if folder is not None and (folder / vault).is_file():
        text = (folder / vault).read_text()
    text = text or _in_keychain("get", vault) or ""
    return bytes.fromhex(text) or None


def drop(vault: str) -> bool:
    """Hold a key no longer; whether there was one."""
    folder = _runtime()
    was = held(vault) is not None
    if folder is not None and (folder / vault).is_file():
        kept = folder / vault
        kept.write_bytes(bytes(kept.stat().st_size))
        kept.unlink()
    _in_keychain("drop", vault)
    return was


def _runtime() -> Path | None:
    folder = os.environ.get(RUNTIME)
    return Path(folder, "engram") if folder and Path(folder).is_dir() else None


def _in_keychain(what: str, vault: str, text: str = "") -> str | None:
    """What the keychain says; None when it has nothing, or there is none."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        if what == "get":
            return keyring.get_password(SERVICE, vault)
        if what == "set":
            keyring.set_password(SERVICE, vault, text)
            return "" if keyring.get_password(SERVICE, vault) == text else None
        keyring.delete_password(SERVICE, vault)
    except (KeyringError, RuntimeError):  # no backend raises the one, a broken one the other
        return None
    return ""


SUFFIX = "-vault"
NEXT = ".next"
COST = 1 << 16
"""Of scrypt: 64 MiB and about a fifth of a second for each guess."""
BLOCK = 8
_ABOUT = "master key of "


@dataclass(frozen=True, slots=True)
class Slots:
    """What stands beside a vault."""

    id: str
    covers: Literal["file", "fields", "nothing"] = "file"
    """The whole file, only contents of memories that are sensitive or confidential, or nothing any more."""
    salt: str = ""
    sealed: str = ""
    keychain: bool = False
    """Whether the key was put into the keychain of the system and nowhere else."""

    @property
    def has_passphrase(self) -> bool:
        """Whether a passphrase opens it."""
        return bool(self.sealed)

    def master(self, passphrase: str) -> bytes | None:
        """The key that this passphrase opens; None when it is wrong."""
        if not self.sealed:
            return None
        wrapping = _stretched(passphrase, bytes.fromhex(self.salt))
        opened = unseal(bytes.fromhex(self.sealed), wrapping, _ABOUT + self.id)
        return None if opened is None else bytes(opened)

    def with_passphrase(self, passphrase: str, master: bytes) -> Slots:
        """The same vault, opened by this passphrase, under a salt of its own."""
        salt = secrets.token_bytes(16)
        hidden = seal(
            master, _stretched(passphrase, salt), secrets.token_bytes(NONCE_BYTES), _ABOUT + self.id
        )
        return replace(self, salt=salt.hex(), sealed=hidden.hex())


def new_slots(covers: Literal["file", "fields", "nothing"] = "file") -> Slots:
    """Beside a new vault."""
    return Slots(secrets.token_hex(16), covers)


def read_slots(path: str | Path, *, coming: bool = False) -> Slots | None:
    """What stands beside this file, or is to; None when nothing. Raises StoreError when it cannot be read."""
    beside = _beside(path, coming=coming)
    try:
        stored = json.loads(beside.read_text(encoding="utf-8"))
        return Slots(**{part.name: stored[part.name] for part in fields(Slots)})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{beside} cannot be read ({error}): restore it from a backup.") from error


def write_slots(path: str | Path, slots: Slots, *, coming: bool = False) -> None:
    """Put it beside the file: all of it or nothing, for this user alone."""
    beside = _beside(path, coming=coming)
    beside.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=beside.name, dir=beside.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as out:
            json.dump(asdict(slots), out)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(beside)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def promote_slots(path: str | Path) -> None:
    """What was to come is there."""
    coming = read_slots(path, coming=True)
    if coming is None:
        return
    if coming.covers == "nothing":
        remove_slots(path)
    else:
        _beside(path, coming=True).replace(_beside(path))


def remove_slots(path: str | Path, *, only_coming: bool = False) -> None:
    """Nothing stands beside the file any more, or nothing is to come."""
    if not only_coming:
        _beside(path).unlink(missing_ok=True)
    _beside(path, coming=True).unlink(missing_ok=True)


def _beside(path: str | Path, *, coming: bool = False) -> Path:
    return Path(f"{path}{SUFFIX}{NEXT if coming else ''}")


def _stretched(passphrase: str, salt: bytes) -> bytes:
    memory = 2 * 128 * BLOCK * COST
    return hashlib.scrypt(passphrase.encode(), salt=salt, n=COST, r=BLOCK, p=1, maxmem=memory, dklen=32)
