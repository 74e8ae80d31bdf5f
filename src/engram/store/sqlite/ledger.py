"""The ledger: what changed comes in and stays; events come out, newest first.

An event never holds a memory's words, only salted digests of them, because the ledger cannot be rewritten and
words may have to be erased. The words themselves stand in `versions` and are put back when events are read.
A reason may repeat them, so it is the one thing of an event that can go; it can never become another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, NamedTuple

from engram.errors import BadCursor, Overloaded
from engram.lazily import dataclass, hashlib, logging
from engram.model.clock import from_micros, to_micros
from engram.model.event import Audited, AuditEntry, Event, Verb
from engram.model.memory import Memory, Tier
from engram.model.plain import plain
from engram.model.scope import Access
from engram.rules.sealing import without_secrets
from engram.store.sqlite import rows
from engram.store.sqlite.connection import Db, Opener, ask, ask_value, delete_where, look_up, putting
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.views import PlacedNoun, where_event
from engram.store.sqlite.writer import AUDIT, QUEUE, Writer
from engram.text import re
from engram.text.forms import FormsOnDemand

# Only for a day that is not the newest event's: a new one, or one that a clock has gone back to.
HIGHEST_OF_DAY = """
SELECT max(CAST(substr(id, 14) AS INTEGER))
FROM events
WHERE id > 'EVT-' || :day || '-'
  AND id < 'EVT-' || :day || '.'
"""

APPEND = putting(
    "events",
    ("seq", "id", "at", "actor", "verb", "memory", "scope", "because", "before", "after", "related", "run",
     "rule", "chain"),
)  # fmt: skip

LAST = """
SELECT seq, id, chain
FROM events
ORDER BY seq DESC
LIMIT 1
"""

CHAINED = """
SELECT id, at, actor, verb, memory, scope, before, after, related, run, rule, chain
FROM events
ORDER BY seq
"""

# Of what happened to the memory, and of what happened to others on its account.
DROP_REASONS = """
UPDATE events
SET because = ''
WHERE because <> ''
  AND (memory = :memory OR (related = :memory AND related <> ''))
"""

COLUMNS = """e.id, e.at, e.actor, e.verb, e.memory, e.because, e.before, e.after, e.related, e.run, e.rule,
  v.before, v.after"""

EVENTS = """
SELECT {columns}
FROM events AS e
LEFT JOIN versions AS v ON v.event = e.seq
WHERE e.seq < :end
  AND {seen}
ORDER BY e.seq DESC
LIMIT :limit
"""

EVENTS_OF_ONE = """
SELECT {columns}
FROM events AS e
LEFT JOIN versions AS v ON v.event = e.seq
WHERE e.memory = :memory
  AND e.seq < :end
  AND {seen}
ORDER BY e.seq DESC
LIMIT :limit
"""

# The newest first: what an older event tells of a field then takes the place of what a newer one did.
CHANGED_SINCE = """
SELECT e.memory, e.before, v.before
FROM json_each(:ids) AS j
CROSS JOIN events AS e ON e.memory = j.value
LEFT JOIN versions AS v ON v.event = e.seq
WHERE e.at > :at
  AND e.before <> '{}'
ORDER BY e.seq DESC
"""

AFTER = """
SELECT {columns}
FROM events AS e
LEFT JOIN versions AS v ON v.event = e.seq
WHERE e.seq > :start
  AND {seen}
ORDER BY e.seq
LIMIT :limit
"""

OF_RUN = """
SELECT {columns}
FROM events AS e
LEFT JOIN versions AS v ON v.event = e.seq
WHERE e.run = :run
  AND e.run <> ''
  AND e.seq < :end
ORDER BY e.seq DESC
LIMIT :limit
"""

END = (1 << 63) - 1
WORDS = ("content", "content_hash", "forms", "tags", "entities", "details", "metadata", "speaker", "source",
         "sealed")  # fmt: skip
"""Fields that tell what a memory says."""
DIGEST_LENGTH = 16
PIECES = re.compile(r"[a-z0-9]{4,}|[^\W\x00-\x7f]{2}")
"""What a reason could repeat of a memory: words, and pairs of signs where words are not told apart."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a change did to a record: plain values of the fields that differ."""

    row: int
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    is_secret: bool


class SqliteLedger(PlacedNoun):
    """The events. Used by any thread."""

    def events(
        self, memory_id: str | None, access: Access, limit: int, before: str | None = None
    ) -> list[Event]:
        """Newest first, of one memory or of all that the caller may see; `before` is an event to go on from.

        Events of an erased memory stay visible to those who could see the memory.
        """
        with self._readers.lend() as db:
            end = END if before is None else look_up(db, "events", "seq", id=before)
            if end is None:
                raise BadCursor(str(before))
            seen = where_event(self._places.reach(db, access))
            sql = (EVENTS if memory_id is None else EVENTS_OF_ONE).format(columns=COLUMNS, seen=seen.sql)
            lines = ask(db, sql, {**seen.values, "memory": memory_id, "end": end, "limit": limit})
        return [_event(line) for line in lines]

    def after(self, event_id: str, access: Access, limit: int) -> list[Event]:
        """Oldest first, those the caller may see that were written after an event, whoever may see that one.

        An empty id stands for the beginning.
        """
        with self._readers.lend() as db:
            start = 0 if not event_id else look_up(db, "events", "seq", id=event_id)
            if start is None:
                raise BadCursor(event_id)
            seen = where_event(self._places.reach(db, access))
            values = {**seen.values, "start": start, "limit": limit}
            lines = ask(db, AFTER.format(columns=COLUMNS, seen=seen.sql), values)
        return [_event(line) for line in lines]

    def newest(self) -> str:
        """The id of the event written last; empty when nothing has happened yet."""
        newest = self._ask("SELECT id FROM events ORDER BY seq DESC LIMIT 1")
        return newest[0][0] if newest else ""

    def as_of(self, memory_ids: Sequence[str], at: datetime) -> dict[str, dict[str, Any]]:
        """Of each of these memories that has changed since: those fields as they were at that time.

        Plain values, as events have them; None for words that were not kept because they are a secret.
        """
        then: dict[str, dict[str, Any]] = {}
        values = {"ids": rows.as_list(memory_ids), "at": to_micros(at)}
        for memory, before, words in self._ask(CHANGED_SINCE, values):
            fields = json.loads(before)
            fields.update(dict.fromkeys(fields.keys() & set(WORDS)))
            then.setdefault(memory, {}).update(fields | json.loads(words or "{}"))
        return then


def of_run(db: Db, run_id: str, limit: int, before: str = "") -> list[Event]:
    """The events of a run of upkeep, newest first; `before` is an event to go on from."""
    end = look_up(db, "events", "seq", id=before) if before else END
    values = {"run": run_id, "end": end, "limit": limit}
    return [_event(line) for line in ask(db, OF_RUN.format(columns=COLUMNS), values)]


# ---------------------------------------------------------------- inside the writer


@dataclass(slots=True)
class LedgerEnd:
    """Where the ledger ends: the highest number given out, day by day, the last place and the last link."""

    days: dict[str, int] = field(default_factory=dict)
    seq: int = 0
    link: bytes | None = None
    """None: not looked for yet."""


class PendingEvent(NamedTuple):
    """An event that waits for its place: what happened, both sides without words, and the words apart."""

    at: datetime
    actor: str
    verb: Verb
    memory: str
    scope: int
    because: str
    related: str = ""
    run: str = ""
    rule: str = ""
    before: str = "{}"
    after: str = "{}"
    words: Mapping[str, Any] | None = None


def changing(db: Db, event: PendingEvent, change: Difference) -> PendingEvent:
    """The event of a change; its words go where they can be erased, unless they are a secret."""
    before, after = map(rows.to_json, _digested(db, change))
    words = None if change.is_secret else _kept_words(change)
    return event._replace(before=before, after=after, words=words)


def append(db: Db, events: Sequence[PendingEvent], end: LedgerEnd) -> None:
    """Write events: each gets its number and is chained to the one before."""
    if end.link is None:
        newest = ask(db, LAST)
        if newest:
            end.seq, id_, end.link = newest[0]
            _, day, number = id_.split("-")
            end.days[day] = int(number)
        end.link = end.link or b""
    lines, words = [], []
    for one in events:
        line = (
            _next_id(db, one.at, end.days),
            to_micros(one.at),
            one.actor,
            one.verb.value,
            one.memory,
            one.scope,
            one.before,
            one.after,
            one.related,
            one.run,
            one.rule,
        )
        end.seq += 1
        end.link = _link(end.link, line)
        lines.append((end.seq, *line[:BECAUSE], one.because, *line[BECAUSE:], end.link))
        if one.words is not None:
            words.append({"event": end.seq, **one.words})
    db.executemany(APPEND, lines)
    if words:
        db.executemany(putting("versions", ("event", "row", "before", "after")), words)


BECAUSE = 6
"""Where the reason stands in an event: it goes when a memory is erased, so that the chain leaves it out."""


def broken_link(db: Db) -> tuple[int, str]:
    """How many events are chained, and the first that does not fit to the one before; empty: all do."""
    last, chained = b"", 0
    for *told, link in db.execute(CHAINED):
        if link is None and not chained:
            continue  # from before there was a chain
        chained += 1
        if link != _link(last, tuple(told)):
            return chained, str(told[0])
        last = link
    return chained, ""


def _link(last: bytes, told: tuple[Any, ...]) -> bytes:
    """What an event adds to the chain: it changes with anything that stands in it or before it."""
    return hashlib.sha256(last + rows.encoded(told).encode()).digest()


def difference(row: int, old: Memory, new: Memory, names: Sequence[str]) -> Difference:
    """The fields that differ, in words and numbers."""
    if "forms" in names and isinstance(old.forms, FormsOnDemand) and isinstance(new.forms, FormsOnDemand):
        names = [name for name in names if name != "forms"]  # they follow from the content
    before, after = ({name: _as_told(getattr(memory, name)) for name in names} for memory in (old, new))
    in_clear = old.tier is new.tier is Tier.CLEAR and not takes_out_secrets(old, new)
    return Difference(row, before, after, is_secret=not in_clear)


def _as_told(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else plain(value)


def takes_out_secrets(old: Memory, new: Memory) -> bool:
    """Whether a change takes what is sensitive out of what stands beside the words, and nothing else."""
    beside = (new.tags, new.details, new.source)
    if beside == (old.tags, old.details, old.source):
        return False
    left = without_secrets(old)
    return left is not old and beside == (left.tags, left.details, left.source)


def unless_it_tells(because: str, memory: Memory) -> str:
    """A reason for erasing, or nothing when it repeats what is erased."""
    said = f"{memory.content} {' '.join(memory.tags)} {memory.speaker}".casefold()
    return "" if any(piece in said for piece in PIECES.findall(because.casefold())) else because


def drop_reasons(db: Db, memory_id: str) -> None:
    """Forget why things happened to a memory, or to others on its account: reasons repeat words."""
    db.execute(DROP_REASONS, {"memory": memory_id})


def _next_id(db: Db, at: datetime, days: dict[str, int]) -> str:
    day = f"{at.year:04}{at.month:02}{at.day:02}"
    if day not in days:
        days[day] = ask_value(db, HIGHEST_OF_DAY, {"day": day}) or 0
    days[day] += 1
    return f"EVT-{day}-{days[day]:03d}"


def _digested(db: Db, change: Difference) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides with digests for words. The salt goes when the memory goes: then no guess can be checked."""
    both = (dict(change.before), dict(change.after))
    if change.before.keys().isdisjoint(WORDS):
        return both
    salt = look_up(db, "memories", "salt", row=change.row)
    for side in both:
        for name in side.keys() & set(WORDS):
            text = rows.to_json(side[name]).encode()
            side[name] = f"sha256:{hashlib.sha256(salt + text).hexdigest()[:DIGEST_LENGTH]}"
    return both


def _kept_words(change: Difference) -> Mapping[str, Any] | None:
    words = [name for name in WORDS if name in change.before]
    if not words:
        return None
    before, after = (
        rows.to_json({name: side[name] for name in words}) for side in (change.before, change.after)
    )
    return {"row": change.row, "before": before, "after": after}


def _event(line: tuple[Any, ...]) -> Event:
    id_, at, actor, verb, memory, because, before, after, related, run, rule, *words = line
    words_before, words_after = words
    sides = ((before, words_before), (after, words_after))
    told, tells = (rows.from_json(side) | rows.from_json(words) for side, words in sides)
    return Event(id_, from_micros(at), actor, Verb(verb), memory, because, told, tells, related, run, rule)


# ---------------------------------------------------------------- audit
# Who looked, and who was not let: entries come in and are written a little later, together; each is
# chained to the one before. What is older than so many days goes, and a line says up to where.


NOTE = putting("audit", ("seq", "at", "actor", "what", "subject", "counts", "chain"))

LAST_NOTE = """
SELECT seq, chain
FROM audit
ORDER BY seq DESC
LIMIT 1
"""

NOTES = """
SELECT seq, at, actor, what, subject, counts, chain
FROM audit
WHERE seq > :after
ORDER BY seq
LIMIT :limit
"""

NOTED_TOGETHER = 32
NOTED_WITHIN_S = 1.0
"""Entries wait for others, but no longer than this while anybody goes on asking."""


class SqliteAudit:
    """Who looked, and who was not let. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None, opener: Opener) -> None:
        self._readers = readers
        self._writer = writer
        self._clock = opener.clock
        self._days = opener.settings.audit_days
        self._held: list[AuditEntry] = []
        self._since = 0.0
        self._lock = Lock()

    def note(self, entry: AuditEntry) -> None:
        """Hold an entry until some can be written together; the last second is lost if the process dies."""
        now = self._clock.monotonic()
        with self._lock:
            self._since = self._since if self._held else now
            self._held.append(entry)
            due = len(self._held) >= NOTED_TOGETHER or now - self._since >= NOTED_WITHIN_S
        if due:
            self.hand_over()

    def hand_over(self) -> None:
        """Give what is held to the writer, without waiting."""
        with self._lock:
            held, self._held = self._held, []
        if self._writer is None or not held:
            return
        before = to_micros(self._clock.now() - timedelta(days=self._days)) if self._days else None
        try:
            self._writer.run_later(lambda db: _note(db, held, before), AUDIT)
        except Overloaded:
            logging.getLogger(__name__).warning(
                "The write queue is full: %s lines of the audit are lost.", len(held)
            )

    def entries(self, limit: int, after: int = 0) -> list[AuditEntry]:
        """Oldest first, after a number."""
        self.hand_over()
        if self._writer is not None:
            self._writer.run(lambda _: None, within=QUEUE)
        with self._readers.lend() as db:
            lines = ask(db, NOTES, {"after": after, "limit": limit})
        return [
            AuditEntry(from_micros(at), actor, Audited(what), subject, json.loads(counts), seq)
            for seq, at, actor, what, subject, counts, _ in lines
        ]


def _note(db: Db, held: Sequence[AuditEntry], before: int | None) -> None:
    old = ask_value(db, "SELECT max(seq) FROM audit WHERE at < :before", {"before": before})
    if old is not None:
        held = [*held, AuditEntry(held[-1].at, "engine", Audited.TRIMMED, str(old))]
    number, link = (ask(db, LAST_NOTE) or [(0, b"")])[0]
    for one in held:
        number += 1
        told = (
            number,
            to_micros(one.at),
            one.actor,
            one.what.value,
            one.subject,
            rows.to_json(dict(one.counts)),
        )
        link = _link(link, told)
        db.execute(NOTE, (*told, link))
    if old is not None:
        delete_where(db, "audit", "seq <= :last", last=old)


def broken_audit(db: Db) -> tuple[int, int]:
    """How many lines there are, and the number of the first that does not fit; 0: all do."""
    last: tuple[int, bytes] | None = None
    first, trimmed, count = 0, 0, 0
    for *told, link in db.execute(NOTES, {"after": 0, "limit": -1}):
        number, count = told[0], count + 1
        first = first or number
        if told[3] == Audited.TRIMMED:
            trimmed = int(told[4])
        if last is not None and (number != last[0] + 1 or link != _link(last[1], tuple(told))):
            return count, number
        if last is None and number == 1 and link != _link(b"", tuple(told)):
            return count, number
        last = (number, link)
    return count, first if count and first != trimmed + 1 else 0
