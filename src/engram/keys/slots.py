"""The file beside a vault: how a passphrase opens it, and what it covers. It holds no key in clear.

    memory.db-vault   {"id": "…", "covers": "file", "salt": "…", "sealed": "…"}

`sealed` has the master key under the passphrase. Without one the key is in the system's keychain, in a file
or in a variable. While a vault is made, rotated or undone a second one stands beside, `memory.db-vault.next`:
whoever dies on the way leaves a file that one of the two describes.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from engram.errors import StoreError
from engram.rules.sealing import NONCE_BYTES, seal, unseal

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
        told = json.loads(beside.read_text(encoding="utf-8"))
        return Slots(told["id"], told["covers"], told["salt"], told["sealed"], told["keychain"])
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
