"""The recall table: what recall needs of each memory of a namespace, in memory, as arrays.

It follows the file by sequence number (`changes`), so it is right after every write, also of another process.
What it has read it puts away in blocks inside the file, so that the next process begins with those instead of
reading every memory. A block is a copy and never the truth: erasing a memory drops the blocks that know of
it, and what is missing is read from the records.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from engram.errors import EngramError
from engram.lazily import dataclass
from engram.model.memory import Kind, Status
from engram.store.sqlite.connection import Db, Line, ask, ask_value, delete_where, putting, whole
from engram.store.sqlite.segments import Segment, UnitLine, build, merged

if TYPE_CHECKING:
    from engram.store.sqlite.writer import Promise

CHANGES = """
SELECT
  c.seq, c.row, m.scope, m.status, m.kind, coalesce(m.event_time, m.created_at),
  (SELECT max(e.source) FROM edges AS e WHERE e.target = c.row AND e.type = 'next'),
  substr(m.content, -:tail), t.length, t.body, t.cues
FROM changes AS c
LEFT JOIN texts AS t ON t.row = c.row AND c.gone = 0
LEFT JOIN memories AS m ON m.row = c.row AND c.gone = 0
WHERE c.namespace = :namespace
  AND c.seq > :after
  AND c.seq <= :until
ORDER BY c.seq
LIMIT :limit
"""

LAST_CHANGE = """
SELECT coalesce(max(seq), 0)
FROM changes
WHERE namespace = :namespace
"""

NAMESPACES = """
SELECT id
FROM namespaces
"""

WAITING = """
SELECT count(*)
FROM (
  SELECT 1
  FROM changes
  WHERE namespace = :namespace
    AND seq > coalesce((SELECT max(upto) FROM blocks WHERE namespace = :namespace), 0)
  LIMIT :enough
)
"""

# Whoever erases drops blocks; one that was made before and comes in after must not bring anything back.
WENT_SINCE = """
SELECT EXISTS (SELECT 1 FROM changes WHERE namespace = :namespace AND seq > :seen AND gone = 1)
"""

COVERED = """
SELECT EXISTS (SELECT 1 FROM blocks WHERE namespace = :namespace AND since < :upto AND upto > :since)
"""

PUT_BLOCK = putting("blocks", ("namespace", "since", "upto", "first", "last", "body"))

RANGES = """
SELECT since, upto
FROM blocks
WHERE namespace = :namespace
ORDER BY since
"""

BODY = """
SELECT body
FROM blocks
WHERE namespace = :namespace
  AND since = :since
  AND upto = :upto
"""

HOLDING = """
SELECT row
FROM changes
WHERE namespace = :namespace
  AND seq > :since
  AND seq <= :upto
  AND gone = 0
"""

BATCH = 16_384
"""Changes that are read at once."""
BLOCK = 65_536
"""Memories in a block at most."""
WORTH_KEEPING = 1_024
"""Memories that are not in a block yet, from which on it is worth writing one when the file is closed."""
RATIO = 8
"""Two parts become one when the older is at most so many times as long as the newer."""
MANY_SMALL = 6
"""So many neighbouring parts that fit into one block are made one when they are put away."""
DEAD_SHARE = 0.25
"""A part with more lines that hold no longer is made anew."""
UNITS_KEPT = 1_500_000
"""Memories in all tables together; namespaces that were not asked for longest are let go beyond that."""
HIGHEST_SEQ = 2**62
NONE = -1
"""In the place of the turn before: there is none."""
TAIL = 40
"""A turn asks when a question mark stands within so many characters of its end."""
QUESTION_MARKS = ("?", "？", "吗", "呢")
STATUSES = {status.value: place for place, status in enumerate(Status)}
KINDS = {kind.value: place for place, kind in enumerate(Kind)}

Save = Callable[[Callable[[Db], None]], "Promise"]


def asks(ending: str) -> bool:
    """Whether a turn ends with a question.

    >>> (
    ...     asks("I was there. How about you?"),
    ...     asks("Why? Because I said so, and that is the whole of it, really."),
    ... )
    (True, False)
    """
    return any(mark in ending[-TAIL:] for mark in QUESTION_MARKS)


@dataclass(slots=True, eq=False)
class _Covered:
    """A segment and the changes it covers: those after `since` up to `upto`."""

    segment: Segment
    since: int
    upto: int


class NamespaceTable:
    """The table of one namespace. One thread at a time brings it up to date; any reads `segments`."""

    def __init__(self, namespace: int) -> None:
        self.namespace = namespace
        self.lock = threading.Lock()
        self.segments: tuple[Segment, ...] = ()
        self.counted: dict[int, tuple[int, int]] = {}
        """For each scope how many memories it has and how many terms they have together."""
        self._parts: list[_Covered] = []
        self._upto = 0
        self._seen = -1
        """The last change of the namespace when it was looked at; the others go their own way."""

    @property
    def size(self) -> int:
        """How many lines it holds."""
        return sum(part.segment.size for part in self._parts)

    def catch_up(self, db: Db) -> bool:
        """Take in what changed since the last time, the first time the blocks; whether it had to."""
        last = ask_value(db, LAST_CHANGE, {"namespace": self.namespace})
        if last == self._seen:
            return False
        with whole(db):
            if self._seen < 0:
                self._load(db)
            else:
                self._read(db, HIGHEST_SEQ)
        self._seen = last
        self.segments = tuple(part.segment for part in self._parts)
        return True

    def unsaved(self, least: int) -> Iterator[Callable[[Db], None]]:
        """The work that puts away what is worth a block and has none, without lines that hold no longer."""
        for part in self._parts:
            segment, large = part.segment, part.segment.size >= least
            if segment.dead > DEAD_SHARE * segment.size or (segment.dead and segment.block is None and large):
                part.segment = segment = merged([segment])
            if segment.block is None and large and (segment.size or len(segment.gone)):
                segment.block = 0  # asked for; whoever loads it learns its number
                yield _writing(self.namespace, part, self._upto)
        self.segments = tuple(part.segment for part in self._parts)

    def join_small(self) -> None:
        """Make one part of neighbouring small ones, where there are many of them."""
        joined: list[_Covered] = []
        for run in _runs(self._parts):
            if len(run) < MANY_SMALL:
                joined += run
            else:
                both = merged([part.segment for part in run])
                joined.append(_Covered(both, run[0].since, run[-1].upto))
        self._parts = joined

    def miss(self, db: Db) -> None:
        """Notice which blocks have gone from the file, so that they are written again."""
        there = {(since, upto) for since, upto in ask(db, RANGES, {"namespace": self.namespace})}
        for part in self._parts:
            if (part.since, part.upto) not in there:
                part.segment.block = None

    def put_away(self, db: Db) -> Iterator[Callable[[Db], None]]:
        """The work that puts away what a table that nobody asks would have to read, a part at a time.

        None of it is held, and each part is to be written before the next is asked for. Blocks that are there
        are left alone, but for small ones at the end, and those of which much holds no longer.
        """
        seen = ask_value(db, LAST_CHANGE, {"namespace": self.namespace})
        known = ask(db, RANGES, {"namespace": self.namespace})
        with whole(db):
            for since, upto in known:
                yield from self._passing(db, since, seen)
                self._upto = upto
            before = self._upto
            yield from self._passing(db, HIGHEST_SEQ, seen, known)
            if seen - before > DEAD_SHARE * BLOCK / 2:
                yield from self._without_dead(db, known, seen)

    def _passing(
        self, db: Db, until: int, seen: int, known: Sequence[Line] = ()
    ) -> Iterator[Callable[[Db], None]]:
        """Read what changed, up to a point, and let go of each part when it is full."""
        for segment, upto in self._built(db, until):
            self._parts.append(_Covered(segment, self._upto, upto))
            self._upto = upto
            self._tidy()
            while len(self._parts) > 1:
                yield _writing(self.namespace, self._parts.pop(0), seen)
        if self._parts:
            self._join_before(db, known)
            part = self._parts.pop()
            if part.segment.size >= WORTH_KEEPING:
                yield _writing(self.namespace, part, seen)

    def _join_before(self, db: Db, known: Sequence[Line]) -> None:
        """Make one part of the last one and the blocks before it, as long as these are small beside it."""
        for since, upto in reversed(known):
            last = self._parts[-1]
            body = ask_value(db, BODY, {"namespace": self.namespace, "since": since, "upto": upto})
            if body is None or upto != last.since:
                return
            older = Segment.decoded(body)
            for keys in (last.segment.keys, last.segment.gone):
                older.kill(keys)
            self._parts.insert(0, _Covered(older, since, upto))
            self._tidy()
            if len(self._parts) > 1:
                del self._parts[0]
                return

    def _without_dead(self, db: Db, known: Sequence[Line], seen: int) -> Iterator[Callable[[Db], None]]:
        """Blocks of which much holds no longer, without that."""
        for since, upto in known:
            place = {"namespace": self.namespace, "since": since, "upto": upto}
            if (body := ask_value(db, BODY, place)) is None:
                continue
            segment = Segment.decoded(body)
            segment.keep_alive(np.array([row for (row,) in ask(db, HOLDING, place)], dtype=np.int64))
            if segment.dead > DEAD_SHARE * segment.size:
                segment = merged([segment])
                del body  # what it was read from goes before it is written
                yield _writing(self.namespace, _Covered(segment, since, upto), seen)

    def _load(self, db: Db) -> None:
        blocks = "SELECT id, since, upto, body FROM blocks WHERE namespace = :namespace ORDER BY since"
        for number, since, upto, body in ask(db, blocks, {"namespace": self.namespace}):
            self._read(db, since)
            segment = Segment.decoded(body)
            segment.block = number
            self._append(segment, since, upto)
        self._read(db, HIGHEST_SEQ)

    def _read(self, db: Db, until: int) -> None:
        """Read what changed, up to a point, from the records."""
        for segment, upto in self._built(db, until):
            self._append(segment, self._upto, upto)
            self._tidy()

    def _built(self, db: Db, until: int) -> Iterator[tuple[Segment, int]]:
        """What changed after the last part, up to a point, in parts; and the last change of each."""
        read = BATCH
        while read == BATCH:
            read, upto, gone = 0, self._upto, list[int]()

            def held() -> Iterator[UnitLine]:
                nonlocal read, upto
                for line in self._changes(db, until):
                    read, upto = read + 1, line[0]
                    if line[2] is None or line[8] is None:
                        gone.append(line[1])  # noqa: B023 - used up before the next part
                    else:
                        yield unit_line(line)

            segment = build(held(), gone)
            if read:
                yield segment, upto

    def _changes(self, db: Db, until: int) -> Iterator[Line]:
        asked = {"after": self._upto, "until": until, "limit": BATCH, "tail": TAIL}
        return iter(db.execute(CHANGES, {"namespace": self.namespace, **asked}))

    def _append(self, segment: Segment, since: int, upto: int) -> None:
        for keys in (segment.keys, segment.gone):
            for part in self._parts:
                for scope, length in part.segment.kill(keys):
                    self._count(scope, -1, -length)
        for scope in set(segment.scopes.tolist()):
            mine = segment.scopes == scope
            self._count(scope, int(mine.sum()), int(segment.lengths[mine].sum()))
        self._parts.append(_Covered(segment, since, upto))
        self._upto = upto

    def _count(self, scope: int, memories: int, terms: int) -> None:
        known = self.counted.get(scope, (0, 0))
        self.counted[scope] = (known[0] + memories, known[1] + terms)

    def _tidy(self) -> None:
        """Join the newest parts while they are small, so that there are few."""
        while len(self._parts) > 1:
            older, newer = self._parts[-2:]
            if older.segment.block is not None or older.segment.size > RATIO * max(1, newer.segment.size):
                return
            if older.segment.size + newer.segment.size > BLOCK:
                return
            both = merged([older.segment, newer.segment])
            self._parts[-2:] = [_Covered(both, older.since, newer.upto)]


def _runs(parts: list[_Covered]) -> Iterator[list[_Covered]]:
    """The parts, grouped as far as neighbours fit into one block."""
    run: list[_Covered] = []
    for part in parts:
        if run and sum(one.segment.size for one in run) + part.segment.size > BLOCK:
            yield run
            run = []
        run.append(part)
    yield run


def unit_line(line: Line) -> UnitLine:
    """A memory as a segment takes it, from a line of `CHANGES`."""
    _, row, scope, status, kind, happened, before, ending, length, body, cues = line
    return UnitLine(
        row, happened, before or NONE, scope, length, STATUSES[status], KINDS[kind], asks(ending), body, cues
    )


class Tables:
    """The tables of one file, by namespace. Any thread may use it."""

    def __init__(self, save: Save | None) -> None:
        self._save = save
        self._lock = threading.Lock()
        self._tables: OrderedDict[int, NamespaceTable] = OrderedDict()

    def of(self, db: Db, namespace: int) -> NamespaceTable:
        """The table of a namespace as of now."""
        with self._lock:
            table = self._tables.setdefault(namespace, NamespaceTable(namespace))
            self._tables.move_to_end(namespace)
        with table.lock:
            changed = table.catch_up(db)
            if changed:
                self._keep(table, BLOCK // 2)
        if changed:
            self.let_go(UNITS_KEPT)
        return table

    def all(self, db: Db) -> list[NamespaceTable]:
        """The tables of all namespaces."""
        return [self.of(db, line[0]) for line in ask(db, NAMESPACES)]

    def renew(self, db: Db) -> None:
        """Bring the tables that are held up to date."""
        with self._lock:
            held = list(self._tables)
        for namespace in held:
            self.of(db, namespace)

    def save(self, db: Db) -> None:
        """Put away what the next process would have to read one by one; called before the file is closed."""
        if self._save is None:
            return
        for (namespace,) in ask(db, NAMESPACES):
            waiting = {"namespace": namespace, "enough": WORTH_KEEPING}
            if namespace in self._tables:
                table = self.of(db, namespace)
                with table.lock:
                    table.miss(db)
                    table.join_small()
                    self._keep(table, WORTH_KEEPING)
            elif ask_value(db, WAITING, waiting) >= WORTH_KEEPING:
                for work in NamespaceTable(namespace).put_away(db):
                    written = self._save(work)
                    with suppress(EngramError):  # what is missing is read from the records
                        written.result()

    def _keep(self, table: NamespaceTable, least: int) -> None:
        if self._save is not None:
            for work in table.unsaved(least):
                self._save(work)

    def let_go(self, units: int = 0) -> None:
        """Give up the tables asked for longest ago until so many units are left; the last one stays."""
        with self._lock:
            while len(self._tables) > 1 and sum(one.size for one in self._tables.values()) > units:
                self._tables.popitem(last=False)


def _writing(namespace: int, part: _Covered, seen: int) -> Callable[[Db], None]:
    segment = part.segment
    keys = np.concatenate([segment.keys, segment.gone])
    ends = {"namespace": namespace, "since": part.since, "upto": part.upto, "seen": seen}

    def work(db: Db) -> None:
        if ask_value(db, WENT_SINCE, ends):
            return
        delete_where(db, "blocks", "namespace = :namespace AND since >= :since AND upto <= :upto", **ends)
        if len(keys) and not ask_value(db, COVERED, ends):
            rows = {"first": int(keys.min()), "last": int(keys.max())}
            db.execute(PUT_BLOCK, {**ends, **rows, "body": segment.encoded()})

    return work
