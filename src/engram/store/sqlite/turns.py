"""The raw log: what was said comes in word for word; out come what waits, a session, a memory's turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from engram.model.capture import Part, Turn, Waiting
from engram.model.clock import from_micros, to_micros
from engram.model.memory import SealedWords
from engram.model.scope import Access, Scope
from engram.store.sqlite.connection import HIGHEST, Db, Line, ask, ask_line, look_up, look_up_all, put, update
from engram.store.sqlite.rows import as_list, micros
from engram.store.sqlite.views import PlacedNoun, where_turn

# ---------------------------------------------------------------- origins
# Where imported memories came from: an origin comes in with its memory, and is found by how it begins.


KNOWN = """
SELECT o.origin, m.id, o.digest
FROM origins AS o
JOIN memories AS m ON m.row = o.row
WHERE o.scope = :scope
  AND o.origin >= :low
  AND o.origin < :high
ORDER BY o.origin
"""

REMOVE = """
DELETE FROM origins
WHERE scope = :scope
  AND origin IN (SELECT value FROM json_each(:origins))
"""


class SqliteOrigins(PlacedNoun):
    """Where imported memories came from: which file, which part of it, in which version.

    Used by any thread.
    """

    def known(self, scope: Scope, beginning: str) -> dict[str, tuple[str, str]]:
        """Of each origin that begins so: the memory's id and the digest of what it was made from."""
        with self._readers.lend() as db:
            values = {"scope": self._scope(db, scope), "low": beginning, "high": beginning + HIGHEST}
            return {origin: (memory, digest) for origin, memory, digest in ask(db, KNOWN, values)}


# ---------------------------------------------------------------- inside the writer


def put_origin(db: Db, scope: int, origin: str, row: int, digest: str) -> None:
    """Keep where a memory came from; the origin's former memory is forgotten here."""
    line = {"scope": scope, "origin": origin, "row": row, "digest": digest}
    put(db, "origins", line, key="scope, origin")


def remove(db: Db, scope: int, origins: Sequence[str]) -> None:
    """Forget origins that are no more."""
    db.execute(REMOVE, {"scope": scope, "origins": as_list(origins)})


COLUMNS = """
SELECT
  t.key, t.session, t.id, t.part, t.speaker, t.at, t.utc_offset, t.captured_at, t.content, t.sealed,
  n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM turns AS t
JOIN scopes AS s ON s.id = t.scope
JOIN namespaces AS n ON n.id = s.namespace
"""


def _select(rest: str) -> str:
    """The statement that reads whole turns: `rest` says which."""
    return COLUMNS + rest


WAITING = _select("""
WHERE t.captured_at IS NULL
  AND t.scope = :scope
  AND (t.session = :session OR :session IS NULL)
ORDER BY t.key
LIMIT :limit
""")

# One look for each scope: how much waits there does not matter.
SCOPES_WAITING = """
SELECT n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
WHERE EXISTS (SELECT 1 FROM turns AS t WHERE t.captured_at IS NULL AND t.scope = s.id)
ORDER BY s.id
"""

BEFORE = _select("""
WHERE t.session = :session
  AND t.scope = :scope
  AND t.key < :key
ORDER BY t.key DESC
LIMIT :limit
""")

OF_SESSION = _select("""
WHERE t.session = :session
  AND t.key > :after
  AND {seen}
ORDER BY t.key
LIMIT :limit
""")

OF_MEMORY = _select("""
JOIN turn_memories AS l ON l.turn = t.key
JOIN memories AS m ON m.row = l.row
WHERE m.id = :memory
  AND {seen}
ORDER BY t.key
""")

READ_BEFORE = _select("""
WHERE t.captured_at IS NOT NULL
  AND t.key > :after
  AND (:session = '' OR t.session = :session)
ORDER BY t.key
LIMIT :limit
""")

COUNT_READ = """
SELECT count(*)
FROM turns
WHERE captured_at IS NOT NULL
  AND (:session = '' OR session = :session)
"""

# Of memories that came from some turns: all turns they came from.
MADE_FROM = """
SELECT DISTINCT l.row, o.turn
FROM json_each(:turns) AS k
CROSS JOIN turn_memories AS l ON l.turn = k.value
JOIN turn_memories AS o ON o.row = l.row
ORDER BY l.row, o.turn
"""

# A conflict would use up a number: this asks first.
ADD = """
INSERT INTO turns (scope, session, id, part, speaker, at, utc_offset, captured_at, content, sealed)
SELECT :scope, :session, :id, :part, :speaker, :at, :utc_offset, :captured_at, :content, :sealed
WHERE NOT EXISTS (
  SELECT 1
  FROM turns AS t
  WHERE t.session = :session
    AND t.scope = :scope
    AND t.id = :id
)
"""

COUNT_WAITING = """
SELECT count(*), min(at)
FROM (
  SELECT at
  FROM turns
  WHERE captured_at IS NULL
    AND scope = :scope
  ORDER BY key
  LIMIT :limit
)
"""

UNSEALED = _select("""
WHERE (CASE WHEN t.sealed IS NULL THEN 0 ELSE 1 END) = :back
  AND (:row < 0 OR t.key IN (SELECT turn FROM turn_memories WHERE row = :row))
  AND t.key > :after
ORDER BY t.key
LIMIT :limit
""")

CAPTURED = """
UPDATE turns
SET captured_at = :at
WHERE key IN (SELECT value FROM json_each(:keys))
  AND captured_at IS NULL
"""

LINK = """
INSERT OR IGNORE INTO turn_memories (turn, row)
SELECT t.key, :row
FROM json_each(:keys) AS k
CROSS JOIN turns AS t ON t.key = k.value
"""

DROP_LINKS = """
DELETE FROM turn_memories
WHERE turn IN (SELECT value FROM json_each(:keys))
"""

DROP_TURNS = """
DELETE FROM turns
WHERE key IN (SELECT value FROM json_each(:keys))
"""

MINUTE = timedelta(minutes=1)
COUNTED = 1_000
"""How many waiting turns are counted at most."""

Place = Callable[[Scope], tuple[int, int]]
"""Gives numbers of a scope and its namespace."""


class SqliteTurns(PlacedNoun):
    """The raw log of conversations. Used by any thread."""

    def waiting(self, scope: Scope, limit: int, session: str | None = None) -> list[Turn]:
        """Turns of this very scope that are not captured yet, oldest first; of one session if named."""
        with self._readers.lend() as db:
            values = {"scope": self._scope(db, scope), "session": session, "limit": limit}
            return [_turn(line) for line in ask(db, WAITING, values)]

    def scopes_waiting(self) -> list[Scope]:
        """The scopes in which turns wait."""
        return [Scope(*line) for line in self._ask(SCOPES_WAITING)]

    def before(self, turn: Turn, limit: int) -> list[Turn]:
        """The turns said just before this one in its session, oldest first."""
        with self._readers.lend() as db:
            place = {"scope": self._scope(db, turn.scope), "session": turn.session}
            lines = ask(db, BEFORE, {**place, "key": turn.key, "limit": limit})
        return [_turn(line) for line in reversed(lines)]

    def of_session(self, session: str, access: Access, limit: int, after: int = 0) -> list[Turn]:
        """A session's turns in order, beginning after a key, of scopes the caller may see."""
        return self._turns_seen(OF_SESSION, access, session=session, after=after, limit=limit)

    def of_memory(self, memory_id: str, access: Access) -> list[Turn]:
        """The turns a memory came from."""
        return self._turns_seen(OF_MEMORY, access, memory=memory_id)

    def _turns_seen(self, sql: str, access: Access, **values: Any) -> list[Turn]:
        with self._readers.lend() as db:
            seen = where_turn(self._places.reach(db, access))
            lines = ask(db, sql.format(seen=seen.sql), {**seen.values, **values})
        return [_turn(line) for line in lines]

    def read_before(self, after: int, limit: int, session: str = "") -> list[Turn]:
        """Turns that have been read, in the order of logging, after a key; of one session if named."""
        values = {"after": after, "session": session, "limit": limit}
        return [_turn(line) for line in self._ask(READ_BEFORE, values)]

    def count_read(self, session: str = "") -> int:
        """How many turns have been read, of one session or of all."""
        return int(self._ask(COUNT_READ, {"session": session})[0][0])

    def made_from(self, turns: Sequence[int]) -> dict[int, frozenset[int]]:
        """The keys of memories that came from these turns, each with the keys of all turns it came from."""
        sources: dict[int, set[int]] = {}
        for row, turn in self._ask(MADE_FROM, {"turns": as_list(turns)}):
            sources.setdefault(row, set()).add(turn)
        return {row: frozenset(keys) for row, keys in sources.items()}


# ---------------------------------------------------------------- inside the writer


def add(db: Db, turns: Iterable[Turn], place: Place) -> int:
    """Log turns but for those whose id their session knows; how many that are."""
    fresh = 0
    for turn in turns:
        values = {
            "scope": place(turn.scope)[0],
            "session": turn.session,
            "id": turn.id,
            "part": turn.part.value,
            "speaker": turn.speaker,
            "at": to_micros(turn.at),
            "utc_offset": (turn.at.utcoffset() or timedelta()) // MINUTE,
            "captured_at": micros(turn.captured_at),
            "content": turn.content,
            "sealed": turn.sealed or None,
        }
        db.execute(ADD, values)
        fresh += db.changes()
    return fresh


def waiting(db: Db, scope: int) -> Waiting:
    """What waits in a scope; counting stops at a thousand."""
    line = ask_line(db, COUNT_WAITING, {"scope": scope, "limit": COUNTED})
    if line is None or not line[0]:
        return Waiting()
    return Waiting(line[0], from_micros(line[1]))


def captured(db: Db, turns: Iterable[Turn], at: datetime, place: Place) -> int:
    """Let these wait no longer; how many still did. A turn that was never read back is known by its id."""
    keys = [turn.key or _key_of(db, turn, place) for turn in turns]
    before = db.total_changes()
    db.execute(CAPTURED, {"keys": as_list(keys), "at": to_micros(at)})
    return db.total_changes() - before


def link(db: Db, row: int, keys: Sequence[int]) -> None:
    """Say which turns a memory came from; those that are gone are left out."""
    db.execute(LINK, {"row": row, "keys": as_list(keys)})


def drop_turns(db: Db, row: int) -> None:
    """Forget the turns a memory came from, also for other memories that came from them."""
    keys = as_list(look_up_all(db, "turn_memories", "turn", row=row))
    db.execute(DROP_LINKS, {"keys": keys})
    db.execute(DROP_TURNS, {"keys": keys})


def seal_turns(db: Db, row: int | None, seal: Callable[[Turn], Turn], *, back: bool) -> int:
    """Replace the turns that a memory came from, or all, by what `seal` makes of them; how many changed."""
    changed, values = 0, {"row": -1 if row is None else row, "back": int(back), "limit": COUNTED, "after": 0}
    while lines := ask(db, UNSEALED, values):
        for turn in map(_turn, lines):
            values["after"], made = turn.key, seal(turn)
            if made.sealed:
                told = {"id": made.id, "content": made.content, "sealed": None if back else made.sealed}
                update(db, "turns", told, key=turn.key)
                changed += 1
    return changed


def _key_of(db: Db, turn: Turn, place: Place) -> int | None:
    scope = place(turn.scope)[0]
    key: int | None = look_up(db, "turns", "key", session=turn.session, scope=scope, id=turn.id)
    return key


def _turn(line: Line) -> Turn:
    key, session, id_, part, speaker, at, ahead, captured_at, content, sealed, *scope = line
    moment: Any = None if captured_at is None else from_micros(captured_at)
    said = from_micros(at).astimezone(timezone(ahead * MINUTE)) if ahead else from_micros(at)
    words = SealedWords(sealed or b"")
    return Turn(id_, session, content, said, Part(part), speaker, Scope(*scope), key, moment, words)
