"""Upkeep: leave nothing of erased memories, look for damage, rebuild what can be rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import apsw

from engram.model.event import Finding
from engram.model.facts import Named
from engram.ports import WORDING
from engram.rules.entities import keys_of
from engram.store.sqlite import names as sqlite_names
from engram.store.sqlite.connection import Db, Line, Opener, ask, ask_value
from engram.store.sqlite.ledger import broken_audit, broken_link
from engram.store.sqlite.segments import is_sound

# ---------------------------------------------------------------- mending
# Names and links put right: what follows from the records is compared with them and mended.
#
# For the doctor, who goes through all of it.


# What only says how other lines hang together goes when one of its ends is gone.
LOST_TURNS = """
FROM turn_memories
WHERE NOT EXISTS (SELECT 1 FROM turns AS t WHERE t.key = turn_memories.turn)
  OR NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row = turn_memories.row)
"""

LOST_ORIGINS = """
FROM origins
WHERE NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row = origins.row)
"""

LOST_ALIASES = """
FROM aliases
WHERE NOT EXISTS (SELECT 1 FROM entities AS e WHERE e.id = aliases.entity)
"""

UNLINKED = """
SELECT
  t.namespace,
  t.name,
  min(coalesce(m.event_time, m.created_at)),
  max(coalesce(m.event_time, m.created_at))
FROM mentions AS t
JOIN memories AS m ON m.row = t.row
WHERE NOT EXISTS (SELECT 1 FROM aliases AS a WHERE a.namespace = t.namespace AND a.alias = t.name)
GROUP BY t.namespace, t.name
"""

# One name of each entity that no memory of its namespace mentions by any name.
IDLE = """
SELECT e.namespace, e.id, min(a.alias)
FROM entities AS e
JOIN aliases AS a ON a.entity = e.id
WHERE NOT EXISTS (
  SELECT 1
  FROM aliases AS o
  CROSS JOIN mentions AS t ON t.namespace = o.namespace AND t.name = o.alias
  WHERE o.entity = e.id
)
GROUP BY e.id
"""

NAMELESS = """
FROM entities
WHERE NOT EXISTS (SELECT 1 FROM aliases AS a WHERE a.entity = entities.id)
"""


def links(db: Db) -> None:
    """Drop what says that a memory came from somewhere when it or its turn is gone."""
    for lost in (LOST_TURNS, LOST_ORIGINS):
        db.execute(f"DELETE{lost}")


def names(db: Db) -> None:
    """See to it that every name mentioned stands for an entity, and no other does."""
    with db:
        db.execute(f"DELETE{LOST_ALIASES}")
        for namespace, name, first, last in ask(db, UNLINKED):
            sqlite_names.link(db, namespace, {name: sqlite_names.Heard(Named(name), first, last)}, {})
        for namespace, entity, alias in ask(db, IDLE):
            sqlite_names.forget(db, namespace, entity, alias)
        db.execute(f"DELETE{NAMELESS}")
        index_names(db)


def _lost_links(db: Db) -> int:
    return _count(db, LOST_TURNS) + _count(db, LOST_ORIGINS)


def _wrong_names(db: Db) -> int:
    missing, over = _name_words(db)
    lost = _count(db, LOST_ALIASES) + _count(db, NAMELESS)
    return lost + len(ask(db, UNLINKED)) + len(ask(db, IDLE)) + len(missing) + len(over)


def _count(db: Db, what: str) -> int:
    return int(ask_value(db, f"SELECT count(*){what}"))


def waiting_turns(db: Db) -> int:
    """How many turns wait to be captured."""
    return int(ask_value(db, "SELECT count(*) FROM turns WHERE captured_at IS NULL"))


def index_names(db: Db) -> None:
    """Let every name be found by what it is looked up by today."""
    missing, over = _name_words(db)
    db.executemany(
        "DELETE FROM alias_words WHERE namespace = :namespace AND word = :word AND alias = :alias", over
    )
    db.executemany(sqlite_names.ADD_WORD, missing)


def _name_words(db: Db) -> tuple[set[Line], set[Line]]:
    """The words that names should be found by and are not, and those by which they should not be found."""
    right: set[Line] = {
        (namespace, word, alias)
        for namespace, alias in ask(db, "SELECT namespace, alias FROM aliases")
        for word in keys_of(alias)
        if word != alias
    }
    there = set(ask(db, "SELECT namespace, word, alias FROM alias_words"))
    return right - there, there - right


COPIED_PAGES = 10_000
"""Pages copied at a time."""

SEALED_COUNTS = """
SELECT
  (SELECT count(*) FROM memories WHERE sealed IS NOT NULL),
  (SELECT count(*) FROM memories WHERE tier <> 'clear' AND sealed IS NULL)
"""

UNINDEXED = """
SELECT count(*)
FROM memories AS m
WHERE NOT EXISTS (SELECT 1 FROM texts AS t WHERE t.row = m.row)
"""

UNTOLD = """
FROM texts AS t
JOIN memories AS m ON m.row = t.row
JOIN scopes AS s ON s.id = m.scope
WHERE NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.row = t.row AND c.namespace = s.namespace AND c.gone = 0)
"""

WITHOUT_EVENT = """
SELECT count(*)
FROM memories AS m
WHERE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.memory = m.id)
  OR m.modified_at > (SELECT max(e.at) FROM events AS e)
"""
"""What is written is told: memories that no event tells of, or none so late, show that an end was cut off."""

TELL_UNTOLD = f"""
INSERT INTO changes (row, namespace, gone)
SELECT t.row, s.namespace, 0{UNTOLD}
ON CONFLICT DO UPDATE SET seq = (SELECT max(seq) + 1 FROM changes), gone = excluded.gone
"""  # noqa: S608 - both are written out here

DROP_BLOCKS = "DELETE FROM blocks"

# Counters that stand in a table, and what they count.
VECTORS = """
SELECT count(*)
FROM embeddings AS e
WHERE e.id BETWEEN spaces.id * 1099511627776 AND spaces.id * 1099511627776 + 1099511627775
"""
MEMORIES = "SELECT count(*) FROM memories AS m WHERE m.scope = scopes.id"
MEND_SPACES = f"UPDATE spaces SET vectors = ({VECTORS})"  # noqa: S608 - written out above, as is the next
MEND_SCOPES = f"UPDATE scopes SET memories = ({MEMORIES})"  # noqa: S608

MENDED = frozenset({"aliases", "turn_memories", "origins"})
"""Tables whose lines are looked at, and dropped, one by one: what is lost there is no damage."""
PROBLEMS_SHOWN = 3
MEND = "`engram doctor --repair` saves what can be read"
FREE_SHARE = 0.25
"""A file of which more is free is worth rewriting; less is used again by what comes next."""


def copy(db: Db, opener: Opener) -> Db:
    """Write everything as it is now to another place; the connection that writes there."""
    other = opener.writer()
    try:
        with other.backup("main", db, "main") as work:
            while not work.done:
                work.step(COPIED_PAGES)
    except BaseException:
        other.close()
        raise
    return other


def vacuum(db: Db) -> None:
    """Rewrite the file without what was erased, and empty the log."""
    db.execute("VACUUM")
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def tidy(db: Db) -> None:
    """Empty the log; the file keeps its length.

    Nothing of what was erased is left then: what is deleted in the file is overwritten at once
    (`secure_delete`), and only the log still held the pages as they were before.
    """
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def compact(db: Db) -> None:
    """Empty the log, and rewrite the file when a good part of it is free."""
    if db.pragma("freelist_count") > FREE_SHARE * db.pragma("page_count"):
        vacuum(db)
    else:
        tidy(db)


class Derived(NamedTuple):
    """Something that follows from the records: how much of it is wrong, how it is put right, what to say."""

    name: str
    wrong: Callable[[Db], int]
    mend: Callable[[Db], object]
    sound: str
    mended: str


def look(db: Db, *, quick: bool = False) -> list[Finding]:
    """What is wrong with pages, references and what stands in the tables. Nothing is changed.

    A quick look leaves out what takes longest and changes least: that indexes hold what their tables hold,
    what lines point to, and the chain of the ledger.
    """
    pages = _pages(db, "quick_check" if quick else "integrity_check")
    if not pages.ok:
        return [pages]
    return (
        [pages, *look_at_records(db, quick=True)] if quick else [pages, _references(db), *look_at_records(db)]
    )


def look_at_records(db: Db, *, quick: bool = False) -> list[Finding]:
    """What is wrong with ledger, names, recall table and counters."""
    derived = [*(_derived(db, one) for one in DERIVED), _unindexed(db)]
    if quick:
        return derived
    events, event = broken_link(db)
    lines, line = broken_audit(db)
    return [
        _chain("ledger", f"{events} events", str(event or ""), ask(db, WITHOUT_EVENT)[0][0]),
        _chain("audit", f"{lines} lines", f"line {line}" if line else ""),
        _sealing(db),
        *derived,
    ]


def mended(found: Sequence[Finding], run: Callable[[Callable[[Db], int]], int]) -> list[Finding]:
    """Put right what follows from the records and is wrong, one thing after the other: `run` lets it write.

    Others write in between, and what is sound is not written to.
    """
    wrong = {one.name for one in found if not one.ok}
    counts = {one.name: run(partial(_put_right, one=one)) for one in DERIVED if one.name in wrong}
    told = {one.name: one.mended for one in DERIVED}
    return [
        Finding(one.name, ok=True, detail=told[one.name].format(counts[one.name]), mended=counts[one.name])
        if one.name in counts
        else one
        for one in found
    ]


def _put_right(db: Db, one: Derived) -> int:
    """How much was wrong."""
    count = one.wrong(db)
    one.mend(db)
    return count


def _derived(db: Db, one: Derived) -> Finding:
    wrong = one.wrong(db)
    detail = f"{wrong} wrong" if wrong > 1 else "wrong" if wrong else one.sound.format(waiting_turns(db))
    return _found(one.name, detail, detail if wrong else "", "`engram doctor --repair` puts it right")


def rebuild(db: Db) -> None:
    """Make everything anew that follows from the records: for a file whose rows were put there one by one."""
    with db:
        links(db)
        for sql in (DROP_BLOCKS, "DELETE FROM changes", TELL_UNTOLD, MEND_SCOPES, MEND_SPACES):
            db.execute(sql)
    names(db)


def _pages(db: Db, check: str) -> Finding:
    try:
        problems = [line[0] for line in ask(db, f"PRAGMA {check}")]
    except apsw.CorruptError as error:
        problems = [str(error)]
    shown = "" if problems == ["ok"] else "; ".join(problems[:PROBLEMS_SHOWN])
    return _found("pages", "every page of the file is sound", shown, MEND)


def _references(db: Db) -> Finding:
    broken = [line for line in ask(db, "PRAGMA foreign_key_check") if line[0] not in MENDED]
    tables = ", ".join(sorted({line[0] for line in broken}))
    lost = f"{len(broken)} lines of {tables} point to what is not there" if broken else ""
    return _found("references", "nothing points to what is not there", lost, "restore a backup")


def _chain(name: str, count: str, wrong: str, untold: int = 0) -> Finding:
    changed = f"{wrong} does not fit to what stands before it: one was changed or taken out" if wrong else ""
    if untold and not wrong:
        changed = f"of {untold} memories it does not tell, or not so late: events at its end were taken out"
    return _found(name, f"{count}, each chained to the one before", changed, "compare with a backup")


def _found(name: str, good: str, trouble: str, advice: str) -> Finding:
    """That all is well, or what is not."""
    return Finding(name, ok=not trouble, detail=trouble or good, advice=advice if trouble else "")


def _sealing(db: Db) -> Finding:
    sealed, open_ = ask(db, SEALED_COUNTS)[0]
    if not open_:
        return Finding(
            "sealing", ok=True, detail=f"{sealed} memories are sealed, none is sensitive and in clear"
        )
    detail = (
        f"{open_} sensitive or confidential memories are in clear: without a key a tier is a label, no lock"
    )
    return Finding("sealing", ok=True, detail=detail, advice="`engram vault init --fields` seals them")


def _wrong_in_table(db: Db) -> int:
    damaged = sum(not is_sound(body) for (body,) in db.execute("SELECT body FROM blocks"))
    return _count(db, UNTOLD) + damaged


def _forget_table(db: Db) -> None:
    for sql in (TELL_UNTOLD, DROP_BLOCKS):
        db.execute(sql)


def _unindexed(db: Db) -> Finding:
    missing = ask_value(db, UNINDEXED)
    if missing:
        lost = f"{missing} memories have no words to be found by"
        return _found("words", "", lost, "`engram doctor --repair` reads them again")
    older = ask_value(db, "SELECT count(*) FROM texts WHERE wording <> :wording", {"wording": WORDING})
    told = (
        f"; those of {older} were read by another version, `engram consolidate` reads them anew"
        if older
        else ""
    )
    return Finding("words", ok=True, detail=f"every memory has its words{told}")


def _counter(name: str, wrong: str, mend: str) -> Derived:
    """A counter that is wrong in some lines, and the statement that counts again."""
    return Derived(
        name,
        lambda db: int(ask_value(db, f"SELECT EXISTS (SELECT 1 FROM {wrong})")),  # noqa: S608
        lambda db: db.execute(mend),
        "are right",
        "were wrong and have been counted again",
    )


DERIVED = (
    Derived(
        "turns and origins",
        _lost_links,
        links,
        "all lead to what is there; {} turns wait to be captured",
        "{} led to what is not there and have been dropped",
    ),
    Derived(
        "names",
        _wrong_names,
        names,
        "all stand for what is spoken of",
        "{} were wrong and have been put right",
    ),
    Derived(
        "recall table",
        _wrong_in_table,
        _forget_table,
        "agrees with the stored words",
        "was damaged and will be made anew from the stored words",
    ),
    _counter("scope counts", f"scopes WHERE memories <> ({MEMORIES})", MEND_SCOPES),
    _counter("vector counts", f"spaces WHERE vectors <> ({VECTORS})", MEND_SPACES),
)
