"""Purging: a person, a place or a conversation comes in; which memories must go, and the rest that tells.

The memories themselves are erased by the unit of work, one by one, with everything that hangs on them. What
is left then (turns, names, reasons, triggers, wishes, answers, sleeping sessions) is looked through here,
line by line: words are compared as people read them, without case, whole words only.
"""

from __future__ import annotations

import json

from engram.lazily import dataclass, hashlib
from engram.model.event import PurgeOrder
from engram.model.scope import Scope
from engram.store.sqlite.connection import NOTHING, Db, ask, ask_value, changed, delete, update
from engram.store.sqlite.rows import as_list
from engram.text import re

ALIASES = """
SELECT b.alias
FROM aliases AS a
JOIN aliases AS b ON b.entity = a.entity
WHERE a.alias = :name
"""

SCOPES = """
SELECT s.id, n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
"""

MEMORIES = """
SELECT
  id, scope, session, speaker, content, tags, entities, details, summary, key_fact, label,
  coalesce(metadata, '')
FROM memories
"""

TURNS = """
SELECT key, scope, session, speaker, content
FROM turns
"""

MADE_FROM = """
SELECT DISTINCT m.id
FROM turn_memories AS l
JOIN memories AS m ON m.row = l.row
WHERE l.turn IN (SELECT value FROM json_each(:keys))
"""

OF_SESSIONS = """
SELECT id
FROM memories
WHERE session IN (SELECT value FROM json_each(:sessions))
  AND scope IN (SELECT value FROM json_each(:scopes))
"""

DROPS_BY_TURN = (
    "DELETE FROM turn_memories WHERE turn IN (SELECT value FROM json_each(:keys))",
    "DELETE FROM turns WHERE key IN (SELECT value FROM json_each(:keys))",
)

ALL_TABLES = """
SELECT name
FROM sqlite_schema
WHERE type = 'table'
  AND sql NOT LIKE 'CREATE VIRTUAL%'
"""

# Table, its key, and the columns that may hold words of somebody, or its place; what holds any goes.
LOOKED_THROUGH = (
    ("triggers", ("id",), ("words", "pages")),
    ("subscriptions", ("id",), ("scope", "agent", "topics", "agents")),
    ("publications", ("number",), ("agent", "topics", "agents")),
    ("sketches", ("id",), ("scope", "key", "title", "body")),
    ("judgements", ("kind", "key"), ("key", "verdict")),
    ("origins", ("scope", "origin"), ("scope", "origin")),
    ("aliases", ("namespace", "alias"), ("alias", "name")),
    ("alias_words", ("namespace", "word", "alias"), ("word", "alias")),
    ("llm_usage", ("id",), ("reason",)),
)
ERASED = "erased"


@dataclass(frozen=True, slots=True)
class PurgeTargets:
    """What is to go, as the file has it."""

    names: frozenset[str] = frozenset()
    """Every name of a person, without case."""
    scopes: frozenset[int] = frozenset()
    """The numbers of the places that go with all that is in them."""
    turns: frozenset[int] = frozenset()
    """Turns that go by themselves."""
    memories: frozenset[str] = frozenset()
    """Ids of memories that go by themselves."""

    def speaks_of(self, *texts: str) -> bool:
        """Whether any of the texts holds one of the names, as a whole word."""
        if not self.names:
            return False
        return _pattern(self.names).search("\n".join(texts).casefold()) is not None


def person(db: Db, name: str) -> PurgeTargets:
    """All names of a person, and the places that are theirs alone."""
    wanted = name.strip().casefold()
    names = frozenset({wanted, *(alias for (alias,) in ask(db, ALIASES, {"name": wanted}))})
    scopes = frozenset(line[0] for line in ask(db, SCOPES) if line[6].casefold() in names)
    return PurgeTargets(names=names, scopes=scopes)


def place(db: Db, scope: Scope) -> PurgeTargets:
    """A place and all that lie below it."""
    found = (
        line for line in ask(db, SCOPES) if Scope(*line[1:]) == scope or Scope(*line[1:]).lies_below(scope)
    )
    return PurgeTargets(scopes=frozenset(line[0] for line in found))


def conversation(db: Db, what: PurgeOrder) -> PurgeTargets:
    """A conversation, or some turns, at the places that the caller may change."""
    access = what.access
    numbers = frozenset(
        line[0] for line in ask(db, SCOPES) if access is not None and access.may_write(Scope(*line[1:]))
    )
    wanted = frozenset(what.turns)
    turns = frozenset(
        key
        for key, scope, session, _, _ in ask(db, TURNS)
        if scope in numbers and (key in wanted if wanted else session == what.session)
    )
    made = frozenset[str]()
    if not wanted:
        values = {"sessions": as_list([what.session]), "scopes": as_list(numbers)}
        made = frozenset(id_ for (id_,) in ask(db, OF_SESSIONS, values))
    return PurgeTargets(turns=turns, memories=made)


def memories_to_erase(db: Db, targets: PurgeTargets) -> list[str]:
    """The ids of all memories that tell of what is to go."""
    found = [
        id_
        for id_, scope, _, *words in ask(db, MEMORIES)
        if id_ in targets.memories or scope in targets.scopes or targets.speaks_of(*words)
    ]
    keys = as_list(_turns_of(db, targets, said_by=True))
    found += [id_ for (id_,) in ask(db, MADE_FROM, {"keys": keys})]
    return list(dict.fromkeys(found))


def sweep(db: Db, targets: PurgeTargets) -> dict[str, int]:
    """Take away what is left beside the memories; how many lines of what."""
    counts: dict[str, int] = {}
    turns = as_list(_turns_of(db, targets))
    for sql in DROPS_BY_TURN:
        db.execute(sql, {"keys": turns})
    counts["snapshots"] = changed(db, "DELETE FROM snapshots", NOTHING)
    counts["answers"] = changed(db, "DELETE FROM answers", NOTHING)
    if targets.names or targets.scopes:
        for table, keys, columns in LOOKED_THROUGH:
            counts[table] = _look_through(db, targets, table, keys, columns)
        counts["reasons"] = _empty_reasons(db, targets)
        counts["places"] = _rename_places(db, targets)
        counts["tokens"] = _end_tokens(db, targets)
        db.execute("DELETE FROM entities WHERE id NOT IN (SELECT entity FROM aliases)")
    return {name: number for name, number in counts.items() if number}


def count_turns(db: Db) -> int:
    """How many turns the file holds."""
    return int(ask_value(db, "SELECT count(*) FROM turns"))


def count_remaining(db: Db, targets: PurgeTargets) -> int:
    """In how many lines of any table a name still stands."""
    if not targets.names:
        return 0
    tables = [name for (name,) in ask(db, ALL_TABLES)]
    lines = (line for name in tables for line in ask(db, f'SELECT * FROM "{name}"'))  # noqa: S608 (our schema)
    return sum(targets.speaks_of(*(value for value in line if isinstance(value, str))) for line in lines)


def _turns_of(db: Db, targets: PurgeTargets, *, said_by: bool = False) -> list[int]:
    """Turns to go; with `said_by` those that were said there or by the person, not those that name them."""
    return [
        key
        for key, scope, _, speaker, content in ask(db, TURNS)
        if key in targets.turns
        or scope in targets.scopes
        or targets.speaks_of(speaker)
        or (not said_by and targets.speaks_of(content))
    ]


def _look_through(
    db: Db, targets: PurgeTargets, table: str, keys: tuple[str, ...], columns: tuple[str, ...]
) -> int:
    gone = 0
    for line in ask(db, f"SELECT {', '.join((*keys, *columns))} FROM {table}"):  # noqa: S608 (names of our own schema)
        told = line[len(keys) :]
        place_gone = columns[0] == "scope" and told[0] in targets.scopes
        if not (place_gone or targets.speaks_of(*map(str, told))):
            continue
        if table == "sketches":
            delete(db, "sketch_sources", sketch=line[0])
        gone += delete(db, table, **dict(zip(keys, line, strict=False)))
    return gone


def _empty_reasons(db: Db, targets: PurgeTargets) -> int:
    emptied = 0
    for seq, scope, because in ask(db, "SELECT seq, scope, because FROM events WHERE because <> ''"):
        if scope in targets.scopes or targets.speaks_of(because):
            update(db, "events", {"because": ""}, seq=seq)
            emptied += 1
    for number, why, also in ask(db, "SELECT number, why, also FROM decisions"):
        if targets.speaks_of(why, also):
            update(db, "decisions", {"why": "", "also": "{}"}, number=number)
            emptied += 1
    return emptied


def _rename_places(db: Db, targets: PurgeTargets) -> int:
    """A place that a person gave the name gets another: events still point to it."""
    renamed = 0
    for number, _, *parts in ask(db, SCOPES):
        names = ("project", "squad", "agent", "channel", "user")
        for name, part in zip(names, parts, strict=True):
            if part and (part.casefold() in targets.names):
                other = f"{ERASED}-{hashlib.sha256(f'{number} {name}'.encode()).hexdigest()[:12]}"
                renamed += update(db, "scopes", {name: other}, id=number)
    return renamed


def _end_tokens(db: Db, targets: PurgeTargets) -> int:
    ended = 0
    for id_, name, scope in ask(db, "SELECT id, name, scope FROM tokens"):
        if targets.speaks_of(name) or any(targets.speaks_of(part) for part in json.loads(scope)):
            ended += delete(db, "tokens", id=id_)
    return ended


def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    """Any of the names as a whole word; a name in signs that stand without spaces, anywhere."""
    parts = (re.escape(name) if not name.isascii() else rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    return re.compile("|".join(sorted(parts, key=len, reverse=True)))
