"""Namespaces that do not fit into memory: the server names candidates, the same rules as ever rank them.

Up to `store.in_memory` memories recall holds a namespace in memory (`table.py`), and the index a space of
vectors. Beyond that two indexes of the server take their place: an inverted one over the words of memories
(GIN) and one over the signatures of vectors (pgvector's HNSW). The first engine that finds them missing has
them made, beside its other work; until they are there, it holds in memory what it can.

Ranking needs how rare words are. Rare ones are counted; of those that stand in many memories a sample tells.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from engram.errors import EngramError, UpkeepBusy
from engram.lazily import dataclass
from engram.model.memory import ANY_STATUS, Space, Status
from engram.model.scope import Access
from engram.ports import Matched, Reach, Terms, View
from engram.rules.vectors import Signatures
from engram.store.postgres.connection import PostgresOpener, as_server
from engram.store.sqlite.connection import Db, Line, ask, ask_value, whole
from engram.store.sqlite.memories import selected
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.rows import as_keys
from engram.store.sqlite.segments import Ints, Segment, UnitLine, build, hashed, lists
from engram.store.sqlite.table import TAIL, Tables, unit_line
from engram.store.sqlite.texts import Sight, SqliteTexts, TableSearch
from engram.store.sqlite.vectors import STATUS_PLACE, SqliteVectors, find, sizes
from engram.store.sqlite.views import REACHES_KEPT, Places, size, where
from engram.store.sqlite.writer import Writer

COUNTED: Final = 10_000
"""Memories with a word that are counted one by one; how many have a more common one is told by a sample."""
CANDIDATES: Final = 1_000
"""Memories with the rarest words that are ranked by all words."""
SAMPLED: Final = 4_096
"""Memories in the sample, or a little more."""
GROWN: Final = 1.1
"""A sample, and what was counted, holds until there are so many times as many memories."""
WORDS_KEPT: Final = 50_000
"""Words of which is remembered how many memories have them."""
SCANNED: Final = 20_000
"""Up to so many signatures all are compared: a way through a graph of many others would miss some."""

LOOK_AGAIN_S: Final = 30.0
"""A namespace that is far from too large stays so for this long."""

FUNCTIONS: Final = """
CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
CREATE OR REPLACE FUNCTION word_hashes(body text, cues text) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_agg(DISTINCT pg_catalog.hashtext(word))
  FROM pg_catalog.unnest(pg_catalog.string_to_array(body || ' ' || cues, ' ')) AS word
$$;
CREATE OR REPLACE FUNCTION signature_bits(signature bytea) RETURNS varbit
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ('x' || pg_catalog.encode(signature, 'hex'))::varbit
$$;
"""

WHERE_VECTOR: Final = """
SELECT quote_ident(nspname)
FROM pg_extension AS e
JOIN pg_namespace AS n ON n.oid = e.extnamespace
WHERE e.extname = 'vector'
"""

WORDS_INDEX: Final = "texts_by_word"
MAKE_WORDS_INDEX: Final = (
    f"CREATE INDEX CONCURRENTLY {WORDS_INDEX} ON texts USING gin (word_hashes(body, cues))"
)

IS_VALID: Final = """
SELECT EXISTS (
  SELECT 1
  FROM pg_index AS i
  JOIN pg_class AS c ON c.oid = i.indexrelid
  WHERE c.relname = :name
    AND c.relnamespace = current_schema()::regnamespace
    AND i.indisvalid
)
"""

HAVING: Final = """
SELECT q.place - 1, (
  SELECT count(*)
  FROM (
    SELECT 1
    FROM texts AS t
    JOIN memories AS m ON m.row = t.row
    WHERE word_hashes(t.body, t.cues) @> ARRAY[hashtext(q.term)]
      AND {seen}
    LIMIT :most
  ) AS few
)
FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS q (term, place)
"""

CANDIDATE_ROWS: Final = """
SELECT m.row
FROM (
  SELECT t.row, sum(q.weight) AS weight
  FROM unnest(CAST(:words AS text[]), CAST(:weights AS float8[])) AS q (term, weight)
  JOIN texts AS t ON word_hashes(t.body, t.cues) @> ARRAY[hashtext(q.term)]
  GROUP BY t.row
) AS c
JOIN memories AS m ON m.row = c.row
WHERE {seen}
ORDER BY c.weight DESC, m.row DESC
LIMIT :most
"""

UNITS: Final = """
SELECT
  0, m.row, m.scope, m.status, m.kind, coalesce(m.event_time, m.created_at),
  (SELECT max(e.source) FROM edges AS e WHERE e.target = m.row AND e.type = 'next'),
  substr(m.content, -:tail), t.length, t.body, t.cues
FROM json_each(:keys) AS k
JOIN memories AS m ON m.row = k.value
JOIN texts AS t ON t.row = m.row
"""

FOLLOWING: Final = """
SELECT target
FROM edges
WHERE source IN (SELECT value FROM json_each(:keys))
  AND type = 'next'
"""

SAMPLE: Final = """
SELECT m.row
FROM memories AS m TABLESAMPLE SYSTEM (CAST(:percent AS float8)) REPEATABLE (1)
WHERE {seen}
LIMIT :most
"""

NEAR: Final = """
SELECT k.row
FROM marks AS k
WHERE k.space = {space}
  AND k.gone = 0
  AND k.status = ANY (CAST(:statuses AS bigint[]))
  AND {seen}
ORDER BY {distance}
LIMIT :most
"""

MARKS_SAMPLE: Final = """
SELECT k.row
FROM marks AS k TABLESAMPLE BERNOULLI (CAST(:percent AS float8)) REPEATABLE (1)
WHERE k.space = {space}
  AND k.gone = 0
  AND {seen}
LIMIT :most
"""

Floats = NDArray[np.float32]


class LargeNamespaces:
    """Which namespaces and spaces the server searches, and what was counted in them. Any thread may ask."""

    def __init__(self, opener: PostgresOpener, *, may_make: bool) -> None:
        self._opener = opener
        self._limit = opener.settings.in_memory
        self._may_make = may_make
        self._valid: set[str] = set()
        self._making: dict[str, threading.Thread] = {}
        self._spaces_until: dict[str, float] = {}
        self._sizes: dict[Reach, tuple[int, float]] = {}
        self._counted: OrderedDict[Reach, WordCounts] = OrderedDict()
        self._lock = threading.Lock()

    def counts(self, db: Db, reach: Reach, namespaces: set[int]) -> WordCounts | None:
        """What is known of the words that a caller may read, if those namespaces are large; else None."""
        if self._size(db, reach, namespaces) <= self._limit:
            return None
        if not self._is_made(db, WORDS_INDEX, MAKE_WORDS_INDEX):
            return None
        memories = size(db, reach)
        with self._lock:
            known = self._counted.pop(reach, None)
            if known is None or not known.memories / GROWN < memories < known.memories * GROWN:
                known = WordCounts(memories, self._sampled(db, reach))
            self._counted[reach] = known
            while (
                len(self._counted) > 1 and sum(len(one.known) for one in self._counted.values()) > WORDS_KEPT
            ):
                self._counted.popitem(last=False)
        return known

    def stays_small(self, space: Space) -> bool:
        """Whether the space was far from too large a moment ago."""
        return self._spaces_until.get(space.key, 0.0) > self._opener.clock.monotonic()

    def is_large(self, db: Db, space: Space) -> bool:
        """Whether there are more vectors in the space than are held in memory."""
        count = sizes(db).get(space.key, 0)
        if count < self._limit / 2:
            self._spaces_until[space.key] = self._opener.clock.monotonic() + LOOK_AGAIN_S
        return count > self._limit

    def has_index(self, db: Db, space: Space, number: int) -> bool:
        """Whether the server can search this space; it is made able to, if not."""
        name = f"marks_near_{number}"
        bits = -(-space.dims // 8) * 8
        making = (
            f"CREATE INDEX CONCURRENTLY {name} ON marks "
            f"USING hnsw ((signature_bits(signature)::bit({bits})) {{vector}}.bit_hamming_ops) "
            f"WHERE space = {number} AND gone = 0"
        )
        return self._is_made(db, name, making)

    def settle(self) -> None:
        """Wait for indexes that are being made."""
        for thread in list(self._making.values()):
            thread.join()

    def _size(self, db: Db, reach: Reach, namespaces: set[int]) -> int:
        """How many memories a caller's namespaces hold; asked for seldom while they are few."""
        known, until = self._sizes.get(reach, (0, 0.0))
        if until < (now := self._opener.clock.monotonic()):
            known = sum(size(db, one) for one in _wholes(reach, namespaces))
            self._sizes[reach] = known, now + (LOOK_AGAIN_S if known < self._limit / 2 else 0.0)
            if len(self._sizes) > REACHES_KEPT:
                self._sizes.clear()
        return known

    def _sampled(self, db: Db, reach: Reach) -> Segment:
        seen = where(reach, ANY_STATUS, at_hand=True)
        with whole(db):
            share = SAMPLED / max(1, size(db, Reach(everything=True)))
            values = {**seen.values, "percent": min(100.0, 100.0 * share), "most": 2 * SAMPLED}
            return build(_units(db, [line[0] for line in ask(db, SAMPLE.format(seen=seen.sql), values)]))

    def _is_made(self, db: Db, name: str, making: str) -> bool:
        if name not in self._valid:
            if ask_value(db, IS_VALID, {"name": name}):
                self._valid.add(name)
            elif self._may_make:
                with self._lock:
                    if name not in self._making:
                        thread = threading.Thread(
                            target=self._make, args=(name, making), name="engram-index", daemon=True
                        )
                        self._making[name] = thread
                        thread.start()
        return name in self._valid

    def _make(self, name: str, making: str) -> None:
        try:
            with self._opener.lease(name):
                db = as_server(self._opener.writer())
                try:
                    db.script("SET lock_timeout = 0")
                    db.script(FUNCTIONS)
                    db.script(f"DROP INDEX IF EXISTS {name}")  # one that was cut off
                    db.script(making.format(vector=ask_value(cast("Db", db), WHERE_VECTOR)))
                finally:
                    db.close()
        except UpkeepBusy:
            return  # another engine makes it
        except EngramError as error:
            logging.getLogger(__name__).warning("%s could not be made: %s", name, error)


def _wholes(reach: Reach, namespaces: set[int]) -> Iterator[Reach]:
    if reach.everything or reach.namespace is not None:
        yield reach
    else:
        yield from (Reach(namespace=namespace) for namespace in namespaces)


@dataclass(slots=True)
class WordCounts:
    """How many memories that a caller may read have a word."""

    memories: int
    sample: Segment
    known: dict[str, int]

    def __init__(self, memories: int, sample: Segment) -> None:
        self.memories, self.sample, self.known = memories, sample, {}

    @property
    def length(self) -> int:
        """How many terms all of them have together, nearly."""
        return int(self.sample.lengths.mean() * self.memories) if self.sample.size else 0

    def of(self, db: Db, reach: Reach, terms: Sequence[str]) -> NDArray[np.int64]:
        """The count of each term."""
        new = [term for term in terms if term not in self.known]
        if new:
            seen = where(reach, ANY_STATUS, at_hand=True)
            values = {**seen.values, "words": new, "most": COUNTED}
            with whole(db):
                counted: dict[int, int] = dict(ask(db, HAVING.format(seen=seen.sql), values))
            shares = self._shares(new)
            for place, term in enumerate(new):
                few = int(counted[place])
                self.known[term] = few if few < COUNTED else max(few, int(shares[place] * self.memories))
        return np.array([self.known[term] for term in terms], dtype=np.int64)

    def _shares(self, terms: Sequence[str]) -> Floats:
        found = lists(self.sample, np.array([hashed(term) for term in terms], dtype=np.uint32))
        units, places, _ = found.gather(np.flatnonzero(found.lengths))
        count = np.bincount(places[units < self.sample.size], minlength=len(terms))
        shares: Floats = (count / max(1, self.sample.size)).astype(np.float32)
        return shares


@dataclass(frozen=True, slots=True)
class LargeSight(Sight):
    """What a caller may see of namespaces of which no table is held."""

    totals: tuple[int, int]

    def counted(self) -> tuple[int, int]:
        """How many memories are seen, and how many terms they have together, nearly."""
        return self.totals


class ServerSearch(TableSearch):
    """The terms of one question: candidates come from the server and are ranked like those in memory."""

    def __init__(self, terms: Terms, reach: Reach, readers: Readers, counts: WordCounts) -> None:
        self._reach = reach
        self._counts = counts
        self._known: set[int] = set()
        sight = LargeSight((), reach, (counts.memories, counts.length))
        super().__init__(terms, sight, readers)

    def search(self, view: View, limit: int) -> Matched:
        """The memories that fit best among those that a view allows, best first."""
        if limit < 1 or not len(self._named):
            return self._none()
        seen = where(self._reach, view.filters, at_hand=True)
        words = [self.terms[place] for place in self._named]
        values = {"words": words, "weights": self._weights[self._named].tolist()}
        values |= {**seen.values, "most": max(CANDIDATES, 2 * limit)}
        # Rows beyond the wall would only be numbers here; what they say is read in front of it.
        with self._readers.lend() as db, whole(db):
            rows = [line[0] for line in ask(db, CANDIDATE_ROWS.format(seen=seen.sql), values)]
        return self._best_of(np.array(rows, dtype=np.int64), limit)

    def of(self, keys: Sequence[int] | Ints) -> Matched:
        """What the words of given memories say; unknown ones are left out."""
        self._load(keys)
        return super().of(keys)

    def within(self, view: View, limit: int) -> Ints | None:
        """All keys that a view allows, in order; None when they are more than `limit`."""
        with self._readers.lend() as db:
            return selected(db, self._reach, view, limit)

    def only(self, terms: Sequence[str]) -> TableSearch:
        """The same search for some of its terms."""
        return ServerSearch(terms, self._reach, self._readers, self._counts)

    def passing(self, keys: Ints, view: View) -> NDArray[np.bool_]:
        """Which of the keys a view allows."""
        self._load(keys)
        return super().passing(keys, view)

    def _before(self, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        self._load(keys)
        return super()._before(keys)

    def _after(self, keys: Ints) -> Ints:
        with self._readers.lend() as db:
            self._load([line[0] for line in ask(db, FOLLOWING, {"keys": as_keys(keys[keys > 0].tolist())})])
        return super()._after(keys)

    def _count_documents(self) -> NDArray[np.int64]:
        with self._readers.lend() as db:
            return self._counts.of(db, self._reach, self.terms)

    def _load(self, keys: Sequence[int] | Ints) -> None:
        """Fetch what recall needs of memories that were not asked for yet."""
        new = [key for key in np.asarray(keys, dtype=np.int64).tolist() if key > 0 and key not in self._known]
        if not new:
            return
        self._known.update(new)
        with self._readers.lend() as db:
            segment = build(_units(db, new))
        hashes = np.array([hashed(term) for term in self.terms], dtype=np.uint32)
        self._lists.append(lists(segment, hashes))
        self._gathered.append(None)


def _units(db: Db, keys: list[int]) -> list[UnitLine]:
    return [unit_line(line) for line in ask(db, UNITS, {"keys": as_keys(keys), "tail": TAIL})]


class PostgresTexts(SqliteTexts):
    """What memories are found by. `holding` is told when a table is held in memory."""

    def __init__(
        self,
        readers: Readers,
        places: Places,
        tables: Tables,
        large: LargeNamespaces,
        holding: Callable[[], None],
    ) -> None:
        super().__init__(readers, places, tables)
        self._large = large
        self._holding = holding

    def ask(self, terms: Terms, access: Access) -> TableSearch:
        """The terms of a question, looked up among what the caller may read."""
        found = self._by_server(terms, access)
        if found is None:
            self._holding()
            return super().ask(terms, access)
        return found

    def _by_server(self, terms: Terms, access: Access) -> ServerSearch | None:
        with self._readers.lend() as db:
            reach = self._places.reach(db, access)
            counts = self._large.counts(db, reach, self._places.namespaces(reach))
        return None if counts is None else ServerSearch(terms, reach, self._readers, counts)


class PostgresVectors(SqliteVectors):
    """The vectors, space by space."""

    def __init__(self, readers: Readers, writer: Writer | None, large: LargeNamespaces) -> None:
        super().__init__(readers, writer)
        self._large = large

    def searched(self, space: Space) -> ServerSpace | None:
        """The space, if it is too large to be held in memory; None until its signatures are there."""
        if self._large.stays_small(space):
            return None
        with self._readers.lend() as db:
            if not self._large.is_large(db, space):
                return None
            number, centre = find(db, space)
            if number is None or centre is None or not self._large.has_index(db, space, number):
                return None
            return ServerSpace(self._readers, number, centre, ask_value(db, WHERE_VECTOR))


@dataclass(frozen=True, slots=True)
class ServerSpace:
    """A space that the server searches by its signatures."""

    _readers: Readers
    _number: int
    centre: Floats
    _vector: str
    """The schema that the types and operators of vectors are in."""

    def near(self, signature: Signatures, reach: Reach, statuses: frozenset[Status], count: int) -> Ints:
        """The keys whose signatures differ in the fewest bits, nearly, of what a caller may reach."""
        seen, values = _reached(reach)
        distance = (
            f"(signature_bits(k.signature)::bit({8 * len(signature)})) "
            f"OPERATOR({self._vector}.<~>) CAST(:signature AS bit({8 * len(signature)}))"
        )
        wanted = [place for status, place in STATUS_PLACE.items() if not statuses or status in statuses]
        bits = "".join(f"{byte:08b}" for byte in signature.tolist())
        values |= {"statuses": wanted, "signature": bits, "most": count}
        with self._readers.lend() as db:
            if size(db, reach) <= SCANNED:
                distance = f"({distance}) + 0"  # no index fits this: all are compared
            sql = NEAR.format(space=self._number, seen=seen, distance=distance)
            return _keys(ask(db, sql, values))

    def sample(self, reach: Reach, count: int) -> Ints:
        """Some keys, spread over what a caller may reach."""
        seen, values = _reached(reach)
        with self._readers.lend() as db:
            percent = min(100.0, 100.0 * count / max(1, size(db, reach)))
            sql = MARKS_SAMPLE.format(space=self._number, seen=seen)
            return _keys(ask(db, sql, {**values, "percent": percent, "most": 2 * count}))


def _reached(reach: Reach) -> tuple[str, dict[str, object]]:
    if reach.everything:
        return "true", {}
    if reach.namespace is not None:
        return "k.namespace = :namespace", {"namespace": reach.namespace}
    return "k.scope = ANY (CAST(:places AS bigint[]))", {"places": sorted(reach.scopes)}


def _keys(lines: list[Line]) -> Ints:
    return np.fromiter((line[0] for line in lines), dtype=np.int64, count=len(lines))
