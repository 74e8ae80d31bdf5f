"""The first stage of text search: terms and how common they are come in, the keys worth ranking come out.

The index takes one step for each row that has a term, with no early stop, so a single common word decides the
cost. Hence only the rarest terms are asked for, as long as they have few enough rows together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from engram.ports import Reach, View
from engram.store.sqlite.frequencies import Known, places, quoted
from engram.store.sqlite.memories import allowed
from engram.store.sqlite.query import Db, ask
from engram.store.sqlite.settings import StoreSettings
from engram.store.sqlite.views import where

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
    known: Known
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
