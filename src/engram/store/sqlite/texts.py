"""The text index: analysed terms come in, the best memories come out.

Two stages. The index names candidates by the rarest terms only, since its cost is one step for each matching
row and a single common word decides it. Then all terms, the common ones too, rank the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram.model.scope import Access
from engram.ports import Findable, Match, Terms, View
from engram.store.sqlite import records
from engram.store.sqlite.candidates import Search, candidates
from engram.store.sqlite.frequencies import Frequencies, Known
from engram.store.sqlite.query import Db, Line, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.scopes import Places
from engram.store.sqlite.settings import StoreSettings
from engram.text import bm25
from engram.text.words import weight

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

DOCUMENTS = """
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

    def _known(self, db: Db, terms: Sequence[str], access: Access) -> Known:
        return self._frequencies.of(db, terms, self._places.reach(db, access))

    def _matches(self, db: Db, known: Known, keys: Sequence[int], terms: Terms) -> dict[int, Match]:
        shares = terms if isinstance(terms, Mapping) else {}
        query = {
            term: bm25.idf(count, known.texts) * weight(term) * shares.get(term, 1.0)
            for term, count in known.documents.items()
        }
        lines = ask(db, DOCUMENTS, {"keys": records.as_keys(keys)})
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
        db.execute(ADD_MANY, (records.to_json(lines),))


def move(db: Db, row: int, place: tuple[int, int]) -> None:
    """Index a memory at another place."""
    db.execute(MOVE, {"row": row, "place": _tokens(place)})


def drop(db: Db, row: int) -> None:
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
