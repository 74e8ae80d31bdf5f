"""How many memories have a term: asked from the index once, then remembered until there is more to read.

Only what a caller may read is counted for it. Counts over the whole file would tell everybody, by the scores
of their own memories, which words others hold.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engram.ports import Reach
from engram.store.sqlite import scopes
from engram.store.sqlite.query import Db, ask_line, ask_value
from engram.store.sqlite.records import as_list

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
class Known:
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

    def of(self, db: Db, terms: Sequence[str], reach: Reach) -> Known:
        """Counts of these terms among what a reach covers, in the order asked."""
        texts, total = ask_line(db, TOTALS) or (0, 0)
        whole = scopes.size(db, Reach(everything=True))
        size = whole if reach.everything else scopes.size(db, reach)
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
        return Known(found, size, length, min(1.0, size / texts) if texts else 0.0, reach.everything)

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
