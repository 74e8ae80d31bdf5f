"""Where an unlocked key is held between commands: the system's keychain, or memory that goes at logout.

The keychain is asked through `keyring` (the extra `vault`). Where there is none, as on most servers, a folder
of the session does: `$XDG_RUNTIME_DIR` lies in memory, belongs to one user, and goes when the session ends.
"""

from __future__ import annotations

import os
from pathlib import Path

from engram.errors import NoKeychain

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
