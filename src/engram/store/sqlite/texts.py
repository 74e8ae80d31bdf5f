"""The text index: analysed terms come in, the best memories come out.

Two stages. The index names candidates by the rarest terms only, since its cost is one step for each matching
row and a single common word decides it. Then all terms, the common ones too, rank the candidates.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from engram.model.scope import Access
from engram.ports import Findable, Match, Reach, Terms, View
from engram.store.sqlite import rows, views
from engram.store.sqlite.connection import Db, Line, StoreSettings, ask, ask_line, ask_value
from engram.store.sqlite.memories import allowed
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.rows import as_list
from engram.store.sqlite.views import Places, where
from engram.text import bm25
from engram.text.words import weight

# ---------------------------------------------------------------- frequencies
# How many memories have a term: asked from the index once, then remembered until there is more to read.
#
# Only what a caller may read is counted for it. Counts over the whole file would tell everybody, by the
# scores of their own memories, which words others hold.


TOTALS = """
SELECT texts, terms
FROM totals
"""

DOCUMENTS = """
SELECT doc
FROM vocabulary
WHERE term = :term
"""

DOCUMENTS_AT = """
SELECT count(*)
FROM words
WHERE words MATCH :match
"""

# With many scopes, asking each matching row where it belongs is quicker than asking the index.
DOCUMENTS_IN_MANY = """
SELECT count(*)
FROM words
CROSS JOIN memories AS m ON m.row = words.rowid
WHERE words MATCH :match
  AND m.scope IN (SELECT value FROM json_each(:scopes))
"""

LENGTH_IN_NAMESPACE = """
SELECT avg(length)
FROM (
  SELECT t.length
  FROM scopes AS s
  JOIN memories AS m ON m.scope = s.id
  JOIN texts AS t ON t.row = m.row
  WHERE s.namespace = :namespace
  LIMIT :sample
)
"""

LENGTH_IN_SCOPES = """
SELECT avg(length)
FROM (
  SELECT t.length
  FROM json_each(:scopes) AS s
  JOIN memories AS m ON m.scope = s.value
  JOIN texts AS t ON t.row = m.row
  LIMIT :sample
)
"""

GROWTH = 0.1
"""Counts are asked anew when there is more or less to read by this share."""
TERMS_KEPT = 100_000
REACHES_KEPT = 64
"""So many callers' counts are remembered; those unused for longest are let go."""
LENGTHS_SAMPLED = 1_000
PLACES_ASKED = 64
"""With more scopes than this, asking each row is quicker than asking the index."""


@dataclass(frozen=True, slots=True)
class KnownFrequencies:
    """What ranking needs to know of the terms of a question."""

    documents: Mapping[str, int]
    """How many memories have each term; terms that none has are left out."""
    texts: int
    """How many memories there are."""
    length: float
    """How many terms they have on average."""
    share: float = 1.0
    """How much of the file they are."""
    is_whole: bool = True
    """Whether they are all there is: then the index's own figures tell nothing of others."""


@dataclass(slots=True)
class _Counted:
    """What is remembered for one reach."""

    texts: int
    length: float
    counts: dict[str, int] = field(default_factory=dict)


class Frequencies:
    """Shared by all reading threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Reach, _Counted] = OrderedDict()

    def of(self, db: Db, terms: Sequence[str], reach: Reach) -> KnownFrequencies:
        """Counts of these terms among what a reach covers, in the order asked."""
        texts, total = ask_line(db, TOTALS) or (0, 0)
        whole = views.size(db, Reach(everything=True))
        size = whole if reach.everything else views.size(db, reach)
        if size == whole:
            # Whoever reads everything there is may go by the index's own figures.
            reach, size = Reach(everything=True), texts
        known = self._remembered(db, reach, size)
        found: dict[str, int] = {}
        for term in filter(_is_sayable, terms):
            count = known.counts.get(term) or _count(db, term, reach)
            if count:
                # A term that nobody has is not remembered: the next write may bring it.
                known.counts[term] = found[term] = count
        length = (total / texts if texts else 1.0) if reach.everything else known.length
        return KnownFrequencies(
            found, size, length, min(1.0, size / texts) if texts else 0.0, reach.everything
        )

    def _remembered(self, db: Db, reach: Reach, size: int) -> _Counted:
        with self._lock:
            known = self._kept.get(reach)
            if known is not None and abs(size - known.texts) <= GROWTH * known.texts:
                self._kept.move_to_end(reach)
                return known
        known = _Counted(size, _length(db, reach))
        with self._lock:
            if sum(len(one.counts) for one in self._kept.values()) > TERMS_KEPT:
                self._kept.clear()
            self._kept[reach] = known
            self._kept.move_to_end(reach)
            if len(self._kept) > REACHES_KEPT:
                self._kept.popitem(last=False)
        return known


def places(reach: Reach) -> tuple[str, ...]:
    """What a reach covers as tokens of the index; none when it cannot be said in a few."""
    if reach.namespace is not None:
        return (f"_ns{reach.namespace}",)
    return tuple(f"_sc{id_}" for id_ in sorted(reach.scopes)) if len(reach.scopes) <= PLACES_ASKED else ()


def quoted(term: str) -> str:
    """A term as a string of the index's language: inside quotes nothing is syntax."""
    return '"' + term.replace('"', '""') + '"'


def _count(db: Db, term: str, reach: Reach) -> int:
    if reach.everything:
        return ask_value(db, DOCUMENTS, {"term": term}) or 0
    match = f"{{body cues}} : {quoted(term)}"
    if tokens := places(reach):
        match += f" AND place : ({' OR '.join(map(quoted, tokens))})"
        return int(ask_value(db, DOCUMENTS_AT, {"match": match}))
    return int(ask_value(db, DOCUMENTS_IN_MANY, {"match": match, "scopes": as_list(reach.scopes)}))


def _length(db: Db, reach: Reach) -> float:
    """How many terms a memory within a reach has on average, by a sample; the totals tell it for the file."""
    if reach.everything:
        return 1.0
    if reach.namespace is not None:
        found = ask_value(db, LENGTH_IN_NAMESPACE, {"namespace": reach.namespace, "sample": LENGTHS_SAMPLED})
    else:
        found = ask_value(db, LENGTH_IN_SCOPES, {"scopes": as_list(reach.scopes), "sample": LENGTHS_SAMPLED})
    return float(found or 1.0)


def _is_sayable(term: str) -> bool:
    """Whether a term can be asked for at all: no NUL, no half of a surrogate pair."""
    return "\0" not in term and not any("\ud800" <= c <= "\udfff" for c in term)


# ---------------------------------------------------------------- candidates
# The first stage of text search: terms and how common they are come in, the keys worth ranking come out.
#
# The index takes one step for each row that has a term, with no early stop, so a single common word decides
# the cost. Hence only the rarest terms are asked for, as long as they have few enough rows together.


BEST = """
SELECT rowid
FROM words
WHERE words MATCH :match
ORDER BY bm25(words, 1.0, :cue_weight, 0.0)
LIMIT :limit
"""

BEST_SEEN = """
SELECT words.rowid
FROM words
CROSS JOIN memories AS m ON m.row = words.rowid
WHERE words MATCH :match
  AND {seen}
ORDER BY bm25(words, 1.0, :cue_weight, 0.0)
LIMIT :limit
"""

# Goes through the index from its end and stops when there are enough: for words that are everywhere.
NEWEST_SEEN = """
SELECT words.rowid
FROM words
CROSS JOIN memories AS m ON m.row = words.rowid
WHERE words MATCH :match
  AND {seen}
ORDER BY words.rowid DESC
LIMIT :limit
"""

TERMS_ASKED = 64
"""The rarest words of a long text tell enough."""
WHOLE_SHARE = 0.5
"""A place that holds more of the file than this is not worth asking the index for."""
ENOUGH_SHARE = 0.5
"""When a view lets through so many of the best, nothing was lost by asking for the view afterwards."""


@dataclass(frozen=True, slots=True)
class Search:
    """Who asks for what, and what is known of the terms."""

    db: Db
    view: View
    reach: Reach
    known: KnownFrequencies
    limit: int
    settings: StoreSettings

    @property
    def most(self) -> int:
        """How many keys are asked for: all, where the index's own ranking would tell of others' words."""
        return self.limit if self.known.is_whole else max(self.limit, ceil(self.cap))

    @property
    def cap(self) -> float:
        """How many rows may be touched."""
        return max(self.settings.rows_cap, self.settings.share_cap * self.known.texts)


def candidates(search: Search) -> list[int]:
    """Keys that have the rarest terms; when all terms are common, keys that have two of them, or one."""
    documents = search.known.documents
    rarest = sorted(documents, key=lambda term: documents[term])
    if not rarest:
        return []
    picked = _within(rarest, documents, search.cap)
    return _best(search, _any(picked)) if picked else _of_common(search, rarest)


def _within(rarest: Sequence[str], documents: Mapping[str, int], cap: float) -> list[str]:
    """The rarest terms that together have at most `cap` rows."""
    picked = []
    for term in rarest[:TERMS_ASKED]:
        cap -= documents[term]
        if cap < 0:
            break
        picked.append(term)
    return picked


def _best(search: Search, words: str) -> list[int]:
    """The best by these words. Looking at the record of each matching row would cost more than the match."""
    if not search.known.is_whole and not places(search.reach):
        return _ask_seen(search, NEWEST_SEEN, words)
    found = [line[0] for line in ask(search.db, BEST, _asked(search, words))]
    seen = allowed(search.db, search.reach, search.view, found)
    if len(found) < search.most or len(seen) >= ENOUGH_SHARE * search.limit:
        return list(seen)
    return _ask_seen(search, BEST_SEEN, words)


def _of_common(search: Search, rarest: Sequence[str]) -> list[int]:
    """Keys with the two rarest terms, then the newest with the rarest one."""
    found: list[int] = []
    if len(rarest) > 1:
        first, second = (search.known.documents[term] for term in rarest[:2])
        # As many as chance would bring together: ranked if that is affordable, else the newest.
        together = first * second / search.known.texts
        ranked = search.known.is_whole and together <= search.cap
        statement = BEST_SEEN if ranked else NEWEST_SEEN
        found = _ask_seen(search, statement, " AND ".join(map(quoted, rarest[:2])))
    if len(found) < search.limit:
        found += _ask_seen(search, NEWEST_SEEN, quoted(rarest[0]))
    return list(dict.fromkeys(found))


def _ask_seen(search: Search, statement: str, words: str) -> list[int]:
    seen = where(search.reach, search.view.filters, at_hand=True)
    sql = statement.replace("{seen}", seen.sql)
    return [line[0] for line in ask(search.db, sql, {**seen.values, **_asked(search, words)})]


def _asked(search: Search, words: str) -> dict[str, Any]:
    return {"match": _match(search, words), "limit": search.most, "cue_weight": search.settings.cue_weight}


def _match(search: Search, words: str) -> str:
    """The words in the index's language, and the place where that narrows enough."""
    tokens = places(search.reach)
    match = f"{{body cues}} : ({words})"
    if tokens and (search.known.share <= WHOLE_SHARE or not search.known.is_whole):
        match += f" AND place : ({_any(tokens)})"
    return match


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(map(quoted, terms))


PUT = """
INSERT INTO texts (row, body, cues, place, length)
VALUES (:row, :body, :cues, :place, :length)
ON CONFLICT (row) DO UPDATE SET
  body = excluded.body,
  cues = excluded.cues,
  place = excluded.place,
  length = excluded.length
"""

# One statement for all: before the next one that writes several lines, the index would close a segment.
ADD_MANY = """
INSERT INTO texts (row, body, cues, place, length)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
FROM json_each(:lines)
"""

MOVE = """
UPDATE texts
SET place = :place
WHERE row = :row
"""

DROP = """
DELETE FROM texts
WHERE row = :row
"""

TEXTS_DOCUMENTS = """
SELECT t.row, t.body, t.cues, t.length
FROM json_each(:keys) AS k
JOIN texts AS t ON t.row = k.value
"""


class SqliteTexts:
    """Implements `ports.Texts`. Used by any thread."""

    def __init__(self, readers: Readers, places: Places, settings: StoreSettings) -> None:
        self._readers = readers
        self._places = places
        self._settings = settings
        self._frequencies = Frequencies()

    def search(self, terms: Terms, view: View, limit: int) -> list[tuple[int, Match]]:
        """The keys that fit these terms best by BM25, best first, with what fits of each."""
        with self._readers.lend() as db:
            reach = self._places.reach(db, view.access)
            known = self._frequencies.of(db, tuple(terms), reach)
            most = max(limit, self._settings.candidates)
            keys = candidates(Search(db, view, reach, known, most, self._settings))
            found = self._matches(db, known, keys, terms)
        fitting = ((key, match) for key, match in found.items() if match.terms)
        return sorted(fitting, key=lambda one: (-one[1].score, -one[0]))[:limit]

    def matches(self, terms: Terms, keys: Sequence[int], access: Access) -> dict[int, Match]:
        """What fits of given keys; keys that are not indexed are left out."""
        with self._readers.lend() as db:
            return self._matches(db, self._known(db, tuple(terms), access), keys, terms)

    def rarity(self, terms: Sequence[str], access: Access) -> dict[str, float]:
        """The inverse document frequency of each term, among what the caller may read."""
        with self._readers.lend() as db:
            known = self._known(db, terms, access)
        return {term: bm25.idf(known.documents.get(term, 0), known.texts) for term in terms}

    def _known(self, db: Db, terms: Sequence[str], access: Access) -> KnownFrequencies:
        return self._frequencies.of(db, terms, self._places.reach(db, access))

    def _matches(
        self, db: Db, known: KnownFrequencies, keys: Sequence[int], terms: Terms
    ) -> dict[int, Match]:
        shares = terms if isinstance(terms, Mapping) else {}
        query = {
            term: bm25.idf(count, known.texts) * weight(term) * shares.get(term, 1.0)
            for term, count in known.documents.items()
        }
        lines = ask(db, TEXTS_DOCUMENTS, {"keys": rows.as_keys(keys)})
        wanted, cue_weight = frozenset(query), self._settings.cue_weight
        scale = bm25.scale(query, avg_len=known.length, k1=self._settings.k1, b=self._settings.b)
        return {
            row: Match(_fit(wanted, body, cues, length, scale, cue_weight), length)
            for row, body, cues, length in lines
        }


# ---------------------------------------------------------------- inside the writer


def line(row: int, findable: Findable, place: tuple[int, int]) -> Line:
    """What is written of a memory's terms; `place` is the numbers of its scope and namespace."""
    terms, cues = findable.terms, findable.cues
    return row, " ".join(terms), " ".join(cues), _tokens(place), len(terms) + len(cues)


def put(db: Db, one: Line) -> None:
    """Index a memory's terms, or index them anew."""
    db.execute(PUT, one)


def add(db: Db, lines: list[Line]) -> None:
    """Index the terms of new memories."""
    if len(lines) == 1:
        put(db, lines[0])
    else:
        db.execute(ADD_MANY, (rows.to_json(lines),))


def move(db: Db, row: int, place: tuple[int, int]) -> None:
    """Index a memory at another place."""
    db.execute(MOVE, {"row": row, "place": _tokens(place)})


def drop_texts(db: Db, row: int) -> None:
    """Take a memory out of the index."""
    db.execute(DROP, {"row": row})


def _tokens(place: tuple[int, int]) -> str:
    """A place as tokens that no term can be equal to: in terms, `u` or digits follow an underscore."""
    return f"_ns{place[1]} _sc{place[0]}"


def _fit(
    terms: frozenset[str], body: str, cues: str, length: int, scale: bm25.Scale, cue_weight: float
) -> dict[str, float]:
    """What each asked term adds; a cue counts as part of a word, a long text by its best passage too."""
    words = body.split(" ")
    counts: dict[str, float] = {term: words.count(term) for term in terms.intersection(words)}
    hints = cues.split(" ")
    for term in terms.intersection(hints):
        counts[term] = counts.get(term, 0) + cue_weight * hints.count(term)
    found = bm25.parts_of(counts, length, scale)
    return bm25.with_best_passage(found, words, terms, scale) if counts and length > bm25.LONG else found
