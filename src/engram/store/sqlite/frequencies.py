"""How many memories have a term: asked from the index once, then remembered until the file has grown."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engram.store.sqlite.query import Db, ask_line, ask_value

TOTALS = """
SELECT texts, terms
FROM totals
"""

DOCUMENTS = """
SELECT doc
FROM vocabulary
WHERE term = :term
"""

GROWTH = 0.1
"""Counts are asked anew when the file has grown or shrunk by this share."""
TERMS_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class Known:
    """What ranking needs to know of the terms of a question."""

    documents: Mapping[str, int]
    """How many memories have each term; terms that none has are left out."""
    texts: int
    """How many memories there are."""
    length: float
    """How many terms they have on average."""


class Frequencies:
    """Shared by all reading threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._texts = 0

    def of(self, db: Db, terms: Sequence[str]) -> Known:
        """Counts of these terms, in the order asked."""
        texts, total = ask_line(db, TOTALS) or (0, 0)
        counts = self._remembered(texts)
        found: dict[str, int] = {}
        for term in filter(_is_sayable, terms):
            count = counts.get(term) or _count(db, term)
            if count:
                # A term that nobody has is not remembered: the next write may bring it.
                counts[term] = found[term] = count
        return Known(found, texts, total / texts if texts else 1.0)

    def _remembered(self, texts: int) -> dict[str, int]:
        with self._lock:
            if abs(texts - self._texts) > GROWTH * self._texts or len(self._counts) > TERMS_KEPT:
                self._counts = {}
                self._texts = texts
            return self._counts


def _count(db: Db, term: str) -> int:
    return ask_value(db, DOCUMENTS, {"term": term}) or 0


def _is_sayable(term: str) -> bool:
    """Whether a term can be asked for at all: no NUL, no half of a surrogate pair."""
    return "\0" not in term and not any("\ud800" <= c <= "\udfff" for c in term)
