"""What memories are found by: analysed terms come in, the best memories come out.

The terms of a question are looked up in the recall table (`table.py`). Its rarest terms name the memories
worth a look, since one common word would name most of a file; all terms rank those.

Only what a caller may read is counted for it. Counts over the whole file would tell everybody, by the scores
of their own memories, which words others hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engram.lazily import dataclass
from engram.model.clock import to_micros
from engram.model.memory import Filters, Kind, Status
from engram.ports import WORDING, Findable, Matched, NeighbouringTurns, Reach, Terms, View
from engram.store.sqlite.connection import delete_where, putting
from engram.store.sqlite.memories import allowed, selected
from engram.store.sqlite.segments import (
    CUE_SHIFT,
    MOST_SAID,
    Floats,
    Ints,
    Lists,
    Places,
    Segment,
    hashed,
    lists,
)
from engram.text import bm25
from engram.text.words import weight

if TYPE_CHECKING:
    from engram.model.scope import Access
    from engram.store.sqlite.connection import Db, Line
    from engram.store.sqlite.readers import Readers
    from engram.store.sqlite.table import NamespaceTable, Tables
    from engram.store.sqlite.views import Places as KnownPlaces

ROWS_CAP = 240_000
"""Units that the rarest terms may name together, or `SHARE_CAP` of all memories if that is more."""
SHARE_CAP = 0.02
SPARE = 4
"""So many times more than asked for are ranked by all terms when the common ones named none of them."""
WIDEN = 4
"""How many times more are shown to the filters when too few have passed."""
_CODES = np.arange(256)
SAID = ((_CODES & MOST_SAID) + bm25.CUE_WEIGHT * (_CODES >> CUE_SHIFT)).astype(np.float32)
"""What a term counts by its code: how often it stands in the text and among its cues."""
SELECTED = 20_000
"""So many that pass the filters are named at most."""


# ---------------------------------------------------------------- who may see what


@dataclass(frozen=True, slots=True)
class Sight:
    """What a caller may see of the tables."""

    tables: tuple[NamespaceTable, ...]
    reach: Reach

    @property
    def whole(self) -> bool:
        """Whether every line of these tables is seen."""
        return self.reach.everything or self.reach.namespace is not None

    def counted(self) -> tuple[int, int]:
        """How many memories are seen, in any status, and how many terms they have together."""
        memories = terms = 0
        for table in self.tables:
            for scope, (count, length) in table.counted.items():
                if self.whole or scope in self.reach.scopes:
                    memories, terms = memories + count, terms + length
        return memories, terms

    def scopes(self, segment: Segment) -> NDArray[np.bool_]:
        """For the number of each scope whether it is seen."""
        numbers = list(self.reach.scopes)
        seen = np.zeros(max([*numbers, int(segment.scopes.max(initial=0))]) + 1, dtype=np.bool_)
        seen[numbers] = True
        return seen


@dataclass(frozen=True, slots=True)
class RowGate:
    """What of the filters the arrays can tell: status, kind and when it happened."""

    statuses: NDArray[np.bool_] | None
    kinds: NDArray[np.bool_] | None
    since: int | None
    until: int | None
    is_all: bool
    """Whether nothing else is asked for."""

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, filters: Filters) -> RowGate:
        """The part of the filters that arrays can tell."""
        return cls(
            _flags(Status, filters.present_statuses),
            _flags(Kind, filters.kinds),
            None if filters.happened_since is None else to_micros(filters.happened_since),
            None if filters.happened_until is None else to_micros(filters.happened_until),
            filters.only_plain,
        )

    def passes(self, segment: Segment, places: Places, sight: Sight) -> NDArray[np.bool_]:
        """Which lines of a segment may be seen."""
        good = segment.alive.take(places)
        if not sight.whole:
            good &= sight.scopes(segment).take(segment.scopes.take(places))
        if self.statuses is not None:
            good &= self.statuses.take(segment.statuses.take(places))
        if self.kinds is not None:
            good &= self.kinds.take(segment.kinds.take(places))
        if self.since is not None:
            good &= segment.happened.take(places) >= self.since
        if self.until is not None:
            good &= segment.happened.take(places) <= self.until
        return good


def _flags(names: Iterable[object], wanted: frozenset[object]) -> NDArray[np.bool_] | None:
    """For the place of each name in its list whether it is wanted; None when nothing is asked."""
    return np.array([name in wanted for name in names], dtype=np.bool_) if wanted else None


# ---------------------------------------------------------------- a question


Scored = list[tuple[int, Places, Floats]]
"""Lines of each segment, by its number, with what the words of a question add up to in them."""


class TableSearch:
    """The terms of one question among what one caller may read."""

    def __init__(self, terms: Terms, sight: Sight, readers: Readers) -> None:
        shares = terms if isinstance(terms, Mapping) else {}
        self.terms = tuple(dict.fromkeys(terms))
        self._sight = sight
        self._readers = readers
        hashes = np.array([hashed(term) for term in self.terms], dtype=np.uint32)
        self._lists = [lists(segment, hashes) for table in sight.tables for segment in table.segments]
        memories, length = sight.counted()
        self._documents = self._count_documents()
        said = self._documents.tolist()
        self.rarity = {term: bm25.idf(count, memories) for term, count in zip(self.terms, said, strict=True)}
        weights = [
            value * weight(term) * shares.get(term, 1.0) * (bm25.K1 + 1) if count else 0.0
            for (term, value), count in zip(self.rarity.items(), said, strict=True)
        ]
        self._weights = np.array(weights, dtype=np.float32)
        self._flat = bm25.K1 * (1 - bm25.B)
        self._slope = bm25.K1 * bm25.B / max(length / max(1, memories), 1e-9)
        self._named, self._common = self._split(max(ROWS_CAP, SHARE_CAP * memories))
        self._gathered: list[_Gathered | None] = [None] * len(self._lists)
        self._gated: tuple[Filters, RowGate] | None = None

    def search(self, view: View, limit: int) -> Matched:
        """The memories that fit best by BM25 among those that a view allows, best first."""
        if limit < 1 or not len(self._named):
            return self._none()
        gate = self._gate(view)
        if gate.is_all:
            return self._best(gate, limit)
        shown = max(WIDEN * limit, SPARE * limit)
        selected_keys: Ints | None = None
        while True:
            found = self._best(gate, shown)
            with self._readers.lend() as db:
                passed = allowed(db, self._sight.reach, view, found.keys.tolist())
                if len(passed) < limit and len(found.keys) == shown:
                    selected_keys = selected(db, self._sight.reach, view, SELECTED)
            if selected_keys is not None:
                return self._best_of(selected_keys, limit)
            if len(passed) >= limit or len(found.keys) < shown:
                return found.take((np.isin(found.keys, list(passed))).nonzero()[0][:limit])
            shown *= WIDEN

    def of(self, keys: Sequence[int] | Ints) -> Matched:
        """What the words of given memories say, whatever it is; unknown ones are left out."""
        asked = np.asarray(keys, dtype=np.int64)
        parts: list[Matched] = []
        order: list[Places] = []
        for at, one in enumerate(self._lists):
            here, places = one.segment.places(asked)
            if len(here):
                parts.append(self._matched(at, places))
                order.append(here)
        if not parts:
            return self._none()
        return _joined(parts).take(np.argsort(np.concatenate(order), kind="stable"))

    def turns(self, keys: Ints, view: View) -> NeighbouringTurns:
        """The two turns of a talk before and the two after each of these that the view allows."""
        before, asking = self._before(keys)
        after = self._after(keys)
        steps = np.stack([before, self._before(before)[0], after, self._after(after)])
        seen = self.passing(steps.ravel(), view).reshape(steps.shape)
        seen[1] &= seen[0]
        seen[3] &= seen[2]
        steps[~seen] = 0
        return NeighbouringTurns(steps[:2], steps[2:], asking)

    def _before(self, keys: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        before, asking = np.zeros_like(keys), np.zeros(len(keys), dtype=np.bool_)
        for one in self._lists:
            here, places = one.segment.places(keys)
            before[here], asking[here] = one.segment.previous[places], one.segment.asking[places]
        return before, asking

    def _after(self, keys: Ints) -> Ints:
        after = np.zeros_like(keys)
        for one in self._lists:
            here, places = one.segment.following(keys)
            after[here] = one.segment.keys[places]
        return after

    def within(self, view: View, limit: int) -> Ints | None:
        """All keys that a view allows, in order; None when they are more than `limit`."""
        gate = self._gate(view)
        found: list[Ints] = [np.zeros(0, dtype=np.int64)]
        for one in self._lists:
            everything = np.arange(one.segment.size)
            found.append(one.segment.keys[gate.passes(one.segment, everything, self._sight)])
        keys = np.sort(np.concatenate(found))
        if not gate.is_all and len(keys) <= SELECTED:
            keys = keys[self.passing(keys, view)]
        elif not gate.is_all:
            return None
        return keys if len(keys) <= limit else None

    def only(self, terms: Sequence[str]) -> TableSearch:
        """The same search for some of its terms."""
        return TableSearch(terms, self._sight, self._readers)

    def passing(self, keys: Ints, view: View) -> NDArray[np.bool_]:
        """Which of the keys a view allows."""
        gate, good = self._gate(view), np.zeros(len(keys), dtype=np.bool_)
        for one in self._lists:
            here, places = one.segment.places(keys)
            if len(here):
                good[here] = gate.passes(one.segment, places, self._sight)
        if not gate.is_all and good.any():
            with self._readers.lend() as db:
                passed = allowed(db, self._sight.reach, view, keys[good].tolist())
            good &= np.isin(keys, list(passed))
        return good

    def _gate(self, view: View) -> RowGate:
        """What the arrays can tell of a view: looked up once for one asked again and again."""
        if self._gated is None or self._gated[0] is not view.filters:
            self._gated = view.filters, RowGate.of(view.filters)
        return self._gated[1]

    def _count_documents(self) -> NDArray[np.int64]:
        """How many memories have each term, among what is seen."""
        total = np.zeros(len(self.terms), dtype=np.int64)
        for one in self._lists:
            segment = one.segment
            if self._sight.whole and not segment.dead and not len(segment.owners):
                total += one.lengths
                continue
            units, terms, _ = one.gather(one.lengths.nonzero()[0])
            is_memory = units < segment.size
            units, terms = units[is_memory], terms[is_memory]
            good = segment.alive[units]
            if not self._sight.whole:
                good &= self._sight.scopes(segment)[segment.scopes[units]]
            total += np.bincount(terms[good], minlength=len(total))
        return total

    def _split(self, cap: float) -> tuple[Places, Places]:
        """The rarest terms, as many as name few enough, and the others that anybody says."""
        said = self._documents.nonzero()[0]
        if self._documents.sum() <= cap:
            return said, said[:0]
        rarest = said[np.argsort(self._documents[said], kind="stable")]
        count = max(1, int(np.searchsorted(np.cumsum(self._documents[rarest]), cap, side="right")))
        return np.sort(rarest[:count]), np.sort(rarest[count:])

    def _gather(self, at: int) -> _Gathered:
        """The units of the rarest terms in one segment, with what each adds."""
        known = self._gathered[at]
        if known is None:
            one = self._lists[at]
            units, terms, codes = one.gather(self._named)
            known = self._gathered[at] = _Gathered(units, terms, self._added(one, units, terms, codes))
        return known

    def _added(self, one: Lists, units: Array, terms: Places, codes: NDArray[np.uint8]) -> Floats:
        """What each term adds to each unit."""
        segment, counts = one.segment, SAID.take(codes)
        if len(segment.owners):
            memory = np.minimum(units, segment.size - 1)
            lengths = np.where(units < segment.size, segment.lengths[memory], bm25.PASSAGE)
        else:
            lengths = segment.lengths.take(units)
        damping = (self._flat + self._slope * lengths).astype(np.float32)
        added: Floats = self._weights.take(terms) * counts / (counts + damping)
        return added

    def _best(self, gate: RowGate, limit: int) -> Matched:
        """The best of all that pass the gate."""
        wanted = limit if not len(self._common) else SPARE * limit
        found: Scored = []
        for at, one in enumerate(self._lists):
            scores = self._scores(at)
            places = (scores > 0).nonzero()[0]  # of flags: of numbers it takes five times as long
            places = places[gate.passes(one.segment, places, self._sight)]
            found.append((at, places, scores[places]))
        kept = [(at, places) for at, places, _ in _at_least(found, wanted) if len(places)]
        return _ranked([self._matched(at, places) for at, places in kept], limit) or self._none()

    def _best_of(self, keys: Ints, limit: int) -> Matched:
        """The best of given memories."""
        found = self.of(keys)
        return _ranked([found], limit) or self._none()

    def _scores(self, at: int) -> Floats:
        """What the rarest terms add to each memory of a segment."""
        segment, gathered = self._lists[at].segment, self._gather(at)
        everything = np.bincount(
            gathered.units, gathered.added, minlength=segment.size + len(segment.owners)
        ).astype(np.float32)
        scores = everything[: segment.size]
        if len(segment.owners):
            np.maximum.at(scores, segment.owners, everything[segment.size :])
        return scores

    def _matched(self, at: int, places: Places) -> Matched:
        """What each term adds to these lines of a segment."""
        segment = self._lists[at].segment
        parts = self._parts(at, places)
        if len(segment.owners):
            row_of = np.full(segment.size, -1, dtype=np.intp)
            row_of[places] = np.arange(len(places))
            passages = (row_of[segment.owners] >= 0).nonzero()[0]
            if len(passages):
                _speak_for_the_whole(
                    parts, row_of[segment.owners[passages]], self._parts(at, segment.size + passages)
                )
        return Matched(self.terms, segment.keys[places], parts, segment.lengths[places])

    def _parts(self, at: int, units: Places) -> Floats:
        one, gathered = self._lists[at], self._gather(at)
        row_of = np.full(one.segment.size + len(one.segment.owners), -1, dtype=np.int32)
        row_of[units] = np.arange(len(units), dtype=np.int32)
        parts = np.zeros((len(units), len(self.terms)), dtype=np.float32)
        lines = row_of.take(gathered.units)
        kept = (lines >= 0).nonzero()[0]
        parts[lines[kept], gathered.terms[kept]] = gathered.added[kept]
        if len(self._common):
            self._look_up(one, units, parts)
        return parts

    def _look_up(self, one: Lists, units: Places, parts: Floats) -> None:
        """Put in what the common terms add to these units."""
        terms = self._common[one.lengths[self._common] > 0]
        lines = one.find(terms, units)
        at, unit = np.nonzero(lines >= 0)
        codes = one.segment.codes[lines[at, unit]]
        parts[unit, terms[at]] = self._added(one, units[unit], terms[at], codes)

    def _none(self) -> Matched:
        parts = np.zeros((0, len(self.terms)), dtype=np.float32)
        return Matched(self.terms, np.zeros(0, dtype=np.int64), parts, np.zeros(0, dtype=np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    units: NDArray[np.int32]
    terms: Places
    added: Floats


Array = NDArray[np.int32] | Places


def _speak_for_the_whole(parts: Floats, rows_of: Places, passages: Floats) -> None:
    """Each term counts by the whole text, or by the passage that fits best."""
    sums = passages.sum(axis=1)
    order = np.lexsort((-sums, rows_of))
    first = order[np.flatnonzero(np.diff(rows_of[order], prepend=-1))]
    parts[rows_of[first]] = np.maximum(parts[rows_of[first]], passages[first])


def _joined(parts: list[Matched]) -> Matched:
    if len(parts) == 1:
        return parts[0]
    return Matched(
        parts[0].terms,
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.parts for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )


def _at_least(found: Scored, count: int) -> Scored:
    """So many with the highest scores, and those that have as much as the last of them."""
    if sum(len(places) for _, places, _ in found) <= count:
        return found
    scores = np.concatenate([one[2] for one in found])
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    return [(at, places[values >= least], values[values >= least]) for at, places, values in found]


def _ranked(parts: list[Matched], limit: int) -> Matched | None:
    """The best of all, best first; of equals the newest."""
    if not parts:
        return None
    joined = _joined(parts)
    scores = joined.scores
    order = np.lexsort((-joined.keys, -scores))[:limit]
    return joined.take(order[scores[order] > 0])


# ---------------------------------------------------------------- the store's noun


class SqliteTexts:
    """What memories are found by. Used by any thread."""

    def __init__(self, readers: Readers, places: KnownPlaces, tables: Tables) -> None:
        self._readers = readers
        self._places = places
        self._tables = tables

    def ask(self, terms: Terms, access: Access) -> TableSearch:
        """The terms of a question, looked up once for everything that is asked of them."""
        return TableSearch(terms, self._sight(access), self._readers)

    def _sight(self, access: Access) -> Sight:
        with self._readers.lend() as db:
            reach = self._places.reach(db, access)
            if reach.everything:
                return Sight(tuple(self._tables.all(db)), reach)
            numbers = {reach.namespace} if reach.namespace is not None else self._places.namespaces(reach)
            tables = (self._tables.of(db, number) for number in sorted(numbers))
            return Sight(tuple(tables), reach)


# ---------------------------------------------------------------- inside the writer

PUT = putting("texts", ("row", "body", "cues", "length", "wording"), "row")


def line(row: int, findable: Findable) -> Line:
    """What is written of a memory's terms."""
    terms, cues = findable.terms, findable.cues
    return row, " ".join(terms), " ".join(cues), len(terms) + len(cues), WORDING


def put(db: Db, one: Line) -> None:
    """Keep a memory's terms, or keep them anew."""
    db.execute(PUT, one)


def add(db: Db, lines: list[Line]) -> None:
    """Keep the terms of new memories."""
    db.executemany(PUT, lines)


def drop_blocks(db: Db, row: int) -> None:
    """Forget what was put away of a memory's terms; it is made anew from what they are now."""
    delete_where(db, "blocks", ":row BETWEEN first AND last", row=row)
