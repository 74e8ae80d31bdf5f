"""The text index: analysed terms come in, the best memories come out.

Two stages. The index names candidates by the rarest terms only, since its cost is one step for each matching
row and a single common word decides it. Then all terms, the common ones too, rank the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from engram.ports import Findable, Reach, View
from engram.store.sqlite import records
from engram.store.sqlite.frequencies import Frequencies, Known
from engram.store.sqlite.query import Db, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.scopes import Places
from engram.store.sqlite.settings import StoreSettings
from engram.store.sqlite.views import Where, where
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

MOVE = """
UPDATE texts
SET place = :place
WHERE row = :row
"""

DROP = """
DELETE FROM texts
WHERE row = :row
"""

BEST = """
SELECT words.rowid
FROM words
CROSS JOIN memories AS m ON m.row = words.rowid
WHERE words MATCH :match
  AND {seen}
ORDER BY bm25(words, 1.0, :cue_weight, 0.0)
LIMIT :limit
"""

# Goes through the index from its end and stops when there are enough: for words that are everywhere.
NEWEST = """
SELECT words.rowid
FROM words
CROSS JOIN memories AS m ON m.row = words.rowid
WHERE words MATCH :match
  AND {seen}
ORDER BY words.rowid DESC
LIMIT :limit
"""

DOCUMENTS = """
SELECT t.row, t.body, t.cues, t.length
FROM json_each(:keys) AS k
JOIN texts AS t ON t.row = k.value
"""

PLACES_ASKED = 64
"""With more scopes than this, asking each row is quicker than asking the index."""
WHOLE_SHARE = 0.5
"""A place that holds more of the file than this is not worth asking the index for."""
REST = ""
"""Stands in a document for all words that were not asked for; no term is empty."""


class SqliteTexts:
    """Implements `ports.Texts`. Used by any thread."""

    def __init__(self, readers: Readers, places: Places, settings: StoreSettings) -> None:
        self._readers = readers
        self._places = places
        self._settings = settings
        self._frequencies = Frequencies()

    def search(self, terms: Sequence[str], view: View, limit: int) -> list[tuple[int, float]]:
        """The best keys for these terms with their BM25 scores, best first."""
        with self._readers.lend() as db:
            reach = self._places.reach(db, view.access)
            known = self._frequencies.of(db, terms)
            asking = _Asking(
                db, where(reach, view.filters), max(limit, self._settings.candidates), self._settings
            )
            place, share = self._place(db, reach, known.texts)
            scores = self._scores(db, known, _candidates(asking, known, place, share))
        ranked = sorted(
            ((key, score) for key, score in scores.items() if score > 0), key=lambda x: (-x[1], -x[0])
        )
        return ranked[:limit]

    def score(self, terms: Sequence[str], keys: Sequence[int]) -> dict[int, float]:
        """The BM25 score of given keys, 0.0 where no word fits."""
        with self._readers.lend() as db:
            found = self._scores(db, self._frequencies.of(db, terms), keys)
        return {int(key): found.get(int(key), 0.0) for key in keys}

    def rarity(self, terms: Sequence[str]) -> dict[str, float]:
        """The inverse document frequency of each term."""
        with self._readers.lend() as db:
            known = self._frequencies.of(db, terms)
        return {term: bm25.idf(known.documents.get(term, 0), known.texts) for term in terms}

    def _place(self, db: Db, reach: Reach, texts: int) -> tuple[tuple[str, ...], float]:
        """The tokens of a reach, none when not worth asking for, and the share of the file it holds."""
        if reach.everything or len(reach.scopes) > PLACES_ASKED or not texts:
            return (), 1.0
        tokens = tuple(f"_sc{id_}" for id_ in sorted(reach.scopes))
        if reach.namespace is not None:
            tokens = (f"_ns{reach.namespace}",)
        inside = sum(self._frequencies.of(db, tokens).documents.values())
        share = min(inside / texts, 1.0)
        return (() if share > WHOLE_SHARE else tokens), share

    def _scores(self, db: Db, known: Known, keys: Sequence[int]) -> dict[int, float]:
        query = {term: bm25.idf(count, known.texts) * weight(term) for term, count in known.documents.items()}
        lines = ask(db, DOCUMENTS, {"keys": records.as_list(map(int, keys))})
        documents = [_document(query, line, self._settings.cue_weight) for line in lines]
        # A cue counts as part of a word, which the rule's whole numbers do not foresee but its formula does.
        docs = cast("Sequence[Mapping[str, int]]", documents)
        scores = bm25.score(query, docs, avg_len=known.length, k1=self._settings.k1, b=self._settings.b)
        return {line[0]: score for line, score in zip(lines, scores, strict=True)}


# ---------------------------------------------------------------- inside the writer


def put(db: Db, row: int, findable: Findable, place: tuple[int, int]) -> None:
    """Index a memory's terms, or index them anew; `place` is the numbers of its scope and namespace."""
    values = {
        "row": row,
        "body": " ".join(findable.terms),
        "cues": " ".join(findable.cues),
        "place": _tokens(place),
        "length": len(findable.terms) + len(findable.cues),
    }
    db.execute(PUT, values)


def move(db: Db, row: int, place: tuple[int, int]) -> None:
    """Index a memory at another place."""
    db.execute(MOVE, {"row": row, "place": _tokens(place)})


def drop(db: Db, row: int) -> None:
    """Take a memory out of the index."""
    db.execute(DROP, {"row": row})


def _tokens(place: tuple[int, int]) -> str:
    """A place as tokens that no term can be equal to: in terms, `u` or digits follow an underscore."""
    return f"_ns{place[1]} _sc{place[0]}"


# ---------------------------------------------------------------- candidates


class _Asking:
    """A question to the index: the same view and limit, with different words."""

    def __init__(self, db: Db, seen: Where, limit: int, settings: StoreSettings) -> None:
        self._db = db
        self._seen = seen
        self._values: dict[str, Any] = {**seen.values, "limit": limit, "cue_weight": settings.cue_weight}
        self.limit = limit
        self.settings = settings

    def ask(self, statement: str, words: str, place: tuple[str, ...]) -> list[int]:
        match = f"{{body cues}} : ({words})"
        if place:
            match += f" AND place : ({_any(place)})"
        sql = statement.replace("{seen}", self._seen.sql)
        return [line[0] for line in ask(self._db, sql, {**self._values, "match": match})]


def _candidates(asking: _Asking, known: Known, place: tuple[str, ...], share: float) -> list[int]:
    """Keys that have the rarest terms; of common terms only, keys that have two, or the newest with one."""
    rarest = sorted(known.documents, key=lambda term: known.documents[term])
    if not rarest or not share:
        return []
    cap = max(asking.settings.rows_cap, asking.settings.share_cap * known.texts)
    picked = _within(rarest, known.documents, cap / share)
    if picked:
        return asking.ask(BEST, _any(picked), place)
    found = asking.ask(BEST, " AND ".join(map(_quoted, rarest[:2])), place) if len(rarest) > 1 else []
    if len(found) < asking.limit:
        found = list(dict.fromkeys([*found, *asking.ask(NEWEST, _quoted(rarest[0]), place)]))
    return found


def _within(rarest: Sequence[str], documents: Mapping[str, int], cap: float) -> list[str]:
    """The rarest terms that together have at most `cap` rows."""
    picked = []
    for term in rarest:
        cap -= documents[term]
        if cap < 0:
            break
        picked.append(term)
    return picked


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    """A term as a string of the index's language: inside quotes nothing is syntax."""
    return '"' + term.replace('"', '""') + '"'


def _document(terms: Mapping[str, float], line: tuple[Any, ...], cue_weight: float) -> dict[str, float]:
    """How often each asked term stands in a document, a cue counting less, and the rest of its length."""
    _, body, cues, length = line
    words, hints = body.split(" "), cues.split(" ")
    found: dict[str, float] = {}
    for term in terms:
        count = words.count(term) + cue_weight * hints.count(term)
        if count:
            found[term] = count
    found[REST] = length - sum(found.values())
    return found
