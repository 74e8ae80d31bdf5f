"""Snapshots: sessions that sleep, as the file keeps them, and the key that seals them, kept beside it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from engram.errors import AccessDenied, StoreError
from engram.lazily import secrets, tempfile
from engram.model.clock import to_micros
from engram.model.scope import Access, Scope
from engram.model.session import Snapshot
from engram.rules.sealing import KEY_BYTES, subkey
from engram.store.sqlite.connection import Db, Opener, delete, delete_where, put
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.records import SmallTable, column, columns, value_of
from engram.store.sqlite.writer import SNAPSHOTS, Writer

ALL = """
SELECT session, agent, model, scope, saved_at, turns, slots, memories, x'', awake
FROM snapshots
ORDER BY saved_at DESC, id DESC
"""

# A snapshot has words of a memory that stood on its mind, and of the turns that a memory came from.
DROP = """
DELETE FROM snapshots
WHERE EXISTS (
    SELECT 1
    FROM json_each(snapshots.memories) AS held
    JOIN memories AS m ON m.id = held.value
    WHERE m.row = :row
  )
  OR session IN (
    SELECT t.session
    FROM turn_memories AS l
    JOIN turns AS t ON t.key = l.turn
    WHERE l.row = :row
  )
  OR session = (SELECT session FROM memories WHERE row = :row AND session <> '')
"""

SESSIONS = "sessions"
"""The purpose of the key that seals them where the file itself is in clear."""
SUFFIX = "-key"
"""What is added to the file's name for the file that holds the key."""


class SqliteSnapshots(SmallTable):
    """Sessions that sleep.

    The store keeps what is sealed and never opens it. Used by any thread but the writer's.
    """

    _within, _changing = SNAPSHOTS, "keep a session"

    def __init__(self, readers: Readers, writer: Writer | None, opener: Opener) -> None:
        super().__init__(readers, writer)
        self._opener = opener
        self._in_memory = secrets.token_bytes(KEY_BYTES) if opener.memory else b""

    def key(self) -> bytes:
        """From the key of the vault, if there is one; else from a file beside this one, made at first use.

        Where nothing is kept, the key is not kept either.
        """
        if self._in_memory:
            return self._in_memory
        kept = snapshot_key(self._opener)
        if kept is None:
            if self._writer is None:
                raise AccessDenied("keep a session: the file was opened for reading")
            make_local_key(self._opener.path)
            kept = snapshot_key(self._opener)
        assert kept is not None  # noqa: S101 (it was made just now)
        return kept

    def kept_key(self) -> bytes | None:
        """The key, if it was made."""
        return self._in_memory or snapshot_key(self._opener)

    def put(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, in place of the one of its session."""
        self._write(lambda db: put(db, "snapshots", columns(snapshot), key="scope, session"))

    def get(self, session: str, scope: Scope) -> Snapshot | None:
        """The snapshot of a session of this very place."""
        same = "WHERE scope = :scope AND session = :session"
        return next(
            iter(self._values(Snapshot, "snapshots", same, scope=column(scope), session=session)), None
        )

    def known(self, access: Access) -> list[Snapshot]:
        """Those of the places where the caller may write, the latest first, without their bodies."""
        kept = [value_of(Snapshot, line) for line in self._ask(ALL)]
        return [one for one in kept if access.may_write(one.scope)]

    def remove(self, session: str, scope: Scope) -> bool:
        """Drop a snapshot; whether there was one."""
        place = column(scope)
        return self._write(lambda db: delete(db, "snapshots", scope=place, session=session)) > 0

    def expire(self, before: datetime) -> int:
        """Drop all that were saved before a time; how many."""
        at = to_micros(before)
        return self._write(lambda db: delete_where(db, "snapshots", "saved_at < :before", before=at))


def snapshot_key(opener: Opener) -> bytes | None:
    """What sessions that sleep in this file are sealed with; None when there is no key yet."""
    if opener.settings.key is not None:
        return subkey(opener.settings.key, "snapshot")
    if opener.settings.sessions is not None:
        return opener.settings.sessions
    path = Path(opener.path + SUFFIX)
    if not path.exists():
        return None
    kept = path.read_bytes()
    if len(kept) != KEY_BYTES:
        raise StoreError(f"{path} is no key: remove it, and sessions that sleep begin anew.")
    return kept


def make_local_key(path: str, key: bytes | None = None) -> None:
    """A key beside a file that is no vault, unless there is one: the given, or a new one."""
    if not Path(path + SUFFIX).exists():
        _make(Path(path + SUFFIX), key or secrets.token_bytes(KEY_BYTES))


def drop(db: Db, row: int) -> None:
    """Forget every snapshot that has words of a memory, or of the talk it came from."""
    db.execute(DROP, {"row": row})


def _make(path: Path, key: bytes) -> None:
    """A key, for this user alone. Two processes may try at once: both end up with the same one."""
    number, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)  # opened for this user alone
    try:
        os.write(number, key)
        os.fsync(number)
        os.close(number)
        Path(path).hardlink_to(name)
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}.") from error
    finally:
        Path(name).unlink(missing_ok=True)
