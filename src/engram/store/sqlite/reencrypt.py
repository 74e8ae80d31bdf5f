"""A file under one key, or none, comes in; the same file under another, or none, goes out.

Nobody else may have it open. All of it is written anew beside the file, compared line by line, and put in its
place in one step of the file system; only then is the old one overwritten and removed. Whoever dies on the
way leaves the old file or the new one, each whole; leftovers (`-new`, `-old`) go when it is opened next.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from engram.errors import StoreBusy, StoreCorrupt, UpkeepBusy
from engram.lazily import secrets
from engram.model.clock import Clock
from engram.model.scope import Scope
from engram.model.session import snapshot_about
from engram.ports import KeyRing
from engram.rules.sealing import (
    ALL,
    KEY,
    NONCE_BYTES,
    PROJECTION,
    TURNED,
    fingerprint,
    resealed,
    resealed_hash,
    rotation,
    seal,
    turn_about,
    unseal,
)
from engram.rules.vectors import quantize
from engram.store.sqlite.connection import (
    CIPHER,
    NEW,
    OLD,
    OLD_LOG,
    Db,
    Opener,
    StoreSettings,
    ask,
    delete,
    is_unsettled,
    translated,
    update,
)
from engram.store.sqlite.readers import lease
from engram.store.sqlite.snapshots import SESSIONS, make_local_key, snapshot_key
from engram.store.sqlite.snapshots import SUFFIX as LOCAL_KEY

LEASE = "rekey"
CHUNK = 1 << 20

TABLES = """
SELECT name
FROM sqlite_schema
WHERE type = 'table'
  AND sql NOT LIKE 'CREATE VIRTUAL%'
ORDER BY name
"""


def reencrypt(path: str, was: KeyRing | None, becomes: KeyRing | None, clock: Clock) -> None:
    """Bring a file from its keys to others; None: none. Raises StoreBusy when somebody has it open."""
    before, after = (_settings(keys) for keys in (was, becomes))
    opener = Opener(path, before, clock)
    target = replace(opener, path=path + NEW, settings=after)
    with translated(path, before.busy_timeout_s), lease(opener, LEASE):
        _clean(path)
        if becomes is None:
            make_local_key(path)
        sessions = snapshot_key(replace(target, path=path))
        assert sessions is not None  # noqa: S101 (of the vault, or made just now)
        with closing(_alone(opener)) as db:
            _write_anew(db, target)
            with closing(_open(target)) as new:
                _compare(db, new)
                with new:
                    _seal_sessions(new, snapshot_key(opener), sessions)
                    if was is not None and becomes is not None:
                        _seal_words(new, was, becomes)
                new.pragma("journal_mode", "delete")
            _put_in_place(path)
        if becomes is not None:
            wipe(path + LOCAL_KEY)


def settle(path: str, clock: Clock) -> None:
    """Finish or take back what somebody left who died while a file was brought to another key."""
    if not is_unsettled(path):
        return
    try:
        with lease(Opener(path, StoreSettings(), clock), LEASE):
            _clean(path)
    except UpkeepBusy as error:
        raise StoreBusy(0.0) from error


def wipe(path: str) -> None:
    """Overwrite a file with chance, and remove it. What a disk keeps of it elsewhere is out of reach."""
    with suppress(FileNotFoundError):
        with Path(path).open("r+b", buffering=0) as file:
            left = os.fstat(file.fileno()).st_size
            while left > 0:
                left -= file.write(secrets.token_bytes(min(CHUNK, left)))
            os.fsync(file.fileno())
        Path(path).unlink()


def _clean(path: str) -> None:
    """The new file is whole once it is in its place: one beside it was never finished."""
    for suffix in (NEW, f"{NEW}-journal", f"{NEW}-wal", f"{NEW}-shm", OLD, OLD_LOG):
        wipe(path + suffix)


def _alone(opener: Opener) -> Db:
    """The file, with its log brought in, held by this connection alone until it is closed."""
    log = Path(f"{opener.path}-wal")
    if opener.settings.key is None and log.exists():
        with suppress(FileExistsError):
            Path(opener.path + OLD_LOG).hardlink_to(log)
    db = opener.raw_writer()
    try:
        db.pragma("journal_mode", "delete")
        db.pragma("locking_mode", "exclusive")
        db.execute("BEGIN EXCLUSIVE; COMMIT")
    except BaseException:
        db.close()
        raise
    wipe(opener.path + OLD_LOG)
    return db


def _write_anew(db: Db, target: Opener) -> None:
    os.close(os.open(target.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    key = target.settings.key
    under = "key=" if key is None else f"cipher={CIPHER}&key=raw:{key.hex()}"
    db.execute("VACUUM INTO ?", (f"{Path(target.path).absolute().as_uri()}?{under}",))


def _open(target: Opener) -> Db:
    db = target.raw_writer()
    db.pragma("secure_delete", True)  # noqa: FBT003 - the binding's own signature
    return db


def _compare(old: Db, new: Db) -> None:
    """Every line of every table is there; every page is sound. Raises StoreCorrupt."""
    tables = [name for (name,) in ask(old, TABLES)]
    same = tables == [name for (name,) in ask(new, TABLES)] and all(_same(old, new, name) for name in tables)
    if not same or new.pragma("integrity_check") != "ok":
        raise StoreCorrupt("the copy under the new key differs from the file")


def _same(old: Db, new: Db, table: str) -> bool:
    sql = f'SELECT * FROM "{table}"'  # noqa: S608 (a name from the schema of our own file)
    return all(a == b for a, b in zip_longest(old.execute(sql), new.execute(sql)))


def _settings(keys: KeyRing | None) -> StoreSettings:
    return StoreSettings() if keys is None else StoreSettings(key=keys.database, sessions=keys.key(SESSIONS))


def _seal_sessions(db: Db, was: bytes | None, becomes: bytes) -> None:
    """Sessions that sleep go from the old key to the new one; what the old one does not open is gone."""
    for id_, scope, session, body in ask(db, "SELECT id, scope, session, body FROM snapshots"):
        about = snapshot_about(session, Scope(*json.loads(scope)))
        plain = unseal(body, was, about) if was is not None else None
        if plain is None:
            delete(db, "snapshots", id=id_)
        else:
            update(db, "snapshots", {"body": _sealed(plain, becomes, about)}, id=id_)


def _seal_words(db: Db, was: KeyRing, becomes: KeyRing) -> None:
    """Words and vectors that are sealed go from the old keys to the new ones. Raises StoreCorrupt."""
    for row, id_, body in ask(db, "SELECT row, id, sealed FROM memories WHERE sealed IS NOT NULL"):
        sealed = resealed(body, was, becomes, id_)
        if sealed is None:
            raise StoreCorrupt(f"the words of {id_} do not open with the key of this file")
        hashed = resealed_hash(sealed, becomes, id_)
        update(db, "memories", {"sealed": sealed, "content_hash": hashed}, row=row)
    turns = ask(db, "SELECT key, session, id, sealed FROM turns WHERE sealed IS NOT NULL")
    for key, session, id_, body in turns:
        sealed = resealed(body, was, becomes, turn_about(session, id_))
        if sealed is None:
            raise StoreCorrupt(f"turn {key} does not open with the key of this file")
        update(db, "turns", {"sealed": sealed}, key=key)
    update(db, "judgements", {"verdict": fingerprint(becomes)}, kind=KEY, key=ALL)
    turned = "SELECT id, key FROM spaces WHERE substr(key, -length(:ending)) = :ending"
    for space, key in ask(db, turned, {"ending": TURNED}):
        _turn_vectors(db, space, int(key.split("/")[-2]), was, becomes)


def _turn_vectors(db: Db, space: int, dims: int, was: KeyRing, becomes: KeyRing) -> None:
    import numpy as np

    turn = rotation(becomes.key(PROJECTION), dims) @ rotation(was.key(PROJECTION), dims).T
    of_space = "SELECT id, scale, vector FROM embeddings WHERE id > :low AND id < :high"
    for id_, scale, body in ask(db, of_space, {"low": space << 40, "high": (space + 1) << 40}):
        vector = np.frombuffer(body, dtype=np.int8).astype(np.float32) * scale
        rows, scales = quantize((turn @ vector)[None, :])
        update(db, "embeddings", {"scale": float(scales[0]), "vector": rows[0].tobytes()}, id=id_)
    # An index signs them again when there are enough.
    update(db, "spaces", {"centre": None}, id=space)
    update(db, "marks", {"signature": None}, space=space)


def _sealed(plain: bytes | bytearray, key: bytes, about: str) -> bytes:
    return seal(plain, key, secrets.token_bytes(NONCE_BYTES), about)


def _put_in_place(path: str) -> None:
    """The new file takes the name; the old one, still held, is overwritten under another."""
    with _synced(Path(path).absolute().parent):
        os.link(path, path + OLD)
        Path(path + NEW).replace(path)
    wipe(path + OLD)


@contextmanager
def _synced(folder: Path) -> Iterator[None]:
    """Afterwards the names in a folder are on disk, where the system can promise that."""
    yield
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
