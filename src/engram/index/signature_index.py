"""The vector index: a question and a view come in, the nearest allowed keys come out.

* A space of up to `exact_limit` vectors is held in memory and compared exactly, row by row; with what is
  written, only those whose signatures are nearest.
* A larger one by signatures: of the allowed lines, the `rescore` ones that differ in the fewest bits are read
  from the store and compared exactly.
* Many questions at once about a large space look only at the cells of it that are near to each.
* Filters beyond the status are the store's business: the best keys are shown to it. When too few of them
  pass, it names all that fit; if those are too many to name, it is shown ever more, until enough have passed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from engram.errors import EmbedderMismatch
from engram.index import ranking
from engram.index.follower import Cells, Follower
from engram.index.ranking import GONE, Array, Found, Places, Sampler, VectorLines
from engram.model.memory import Space, Status
from engram.ports import IndexStats, NearSearch, Noise, Reach, SearchedSpace, Store, View
from engram.rules.vectors import product, sign, unit

if TYPE_CHECKING:
    from engram.model.scope import Access
    from engram.ports import Floats, Keys

EXACT_LIMIT = 20_000  # up to so many vectors each is compared exactly
RESCORE = 256  # candidates of the signature scan that are compared exactly

BLOCK = 4_096
"""Rows that are turned into floats at once: what fits the processor's cache is compared fastest."""
WIDEN = 4
"""How many times more keys are shown to the store when too few have passed."""
SKETCHED = 256
"""Candidates that are compared exactly after a look at their sketches."""
FEW = 16
"""Candidates that are compared exactly for each of many questions at once."""
QUESTIONS = 256
"""Questions that share one product of matrices."""
SINGLY = 8
"""Up to so many questions, asking one by one is faster than a product of matrices, which reads all rows."""

IN_CELLS = 48
"""Up to so many questions about a large space, a look at each signature is faster than sorting into cells."""
NO_KEY = -1
"""In the place of a candidate where there are fewer; no memory has this key."""
REMEMBERED = 4
"""So many lists of who may see which lines are kept."""
NO_LINES = VectorLines(np.zeros(0, np.int64), *(np.zeros(0, np.int32),) * 2, np.zeros(0, np.int8))
SAMPLERS = 64
"""So many callers' samples of noise are kept; the one unused for longest is let go."""


class SignatureSearch:
    """Implements `ports.NearSearch`: one question among the lines of a space as they are when it is asked."""

    def __init__(
        self,
        index: SignatureIndex,
        space: Space,
        question: Floats,
        lines: VectorLines,
        upto: int,
        reach: Reach,
    ) -> None:
        self._index = index
        self._space = space
        self._question = question
        self._lines = lines
        self._known = (space.key, upto, len(lines.keys), reach)
        self._reach = reach
        self._read = ranking.NOTHING
        """What was read from the store for this question, in the order of the keys."""

    @cached_property
    def noise(self) -> Noise:
        """How near the question lies to vectors in general, by a sample of those the caller may read."""
        lines, reach = self._lines, self._reach
        if self._all is not None:
            sample = self._index.remembered(
                (*self._known, "sample"), lambda: lines.places(ranking.spread(ranking.reached(lines, reach)))
            )
            return ranking.noise(self._all[sample])
        keys = self._index.remembered((*self._known, "reached"), lambda: ranking.reached(lines, reach))
        return self._index.sampler(self._space, reach).noise(self._question, keys)

    @cached_property
    def _all(self) -> Floats | None:
        """The cosine of each line, where they are at hand: whoever asks for some picks them."""
        lines = self._lines
        if lines.rows is None or lines.lengths is None or not len(lines.keys):
            return None
        cosines = ranking.cosines(ranking.Block(lines.keys, lines.rows, lines.lengths), self._question)
        cosines[lines.statuses == GONE] = np.nan
        return cosines

    def search(self, view: View, k: int) -> Found:
        """The k nearest keys a view of the same caller allows, with their cosine, best first."""
        if k < 1 or not self._question.any():
            return []
        statuses = view.filters.present_statuses
        places = self._index.remembered(
            (*self._known, statuses), lambda: ranking.allowed(self._lines, self._reach, statuses)
        )
        if view.filters.only_status:
            return self._nearest(places, k)
        return self._index.filtered(self._space, self._lines, places, self._question, k, view)

    def among(self, keys: Keys, k: int) -> Found:
        """The k nearest of these keys, which the caller may read."""
        return self._nearest(ranking.present(self._lines, keys), k)

    def compare(self, keys: Keys) -> Floats:
        """The cosine of each of these keys; no number (NaN) where there is no vector."""
        if self._all is not None:
            places = self._lines.places(keys)
            return np.where(places < 0, np.float32(np.nan), self._all[places])
        present, block = self._rows(keys)
        cosines = np.full(len(keys), np.nan, dtype=np.float32)
        cosines[present] = ranking.cosines(block, self._question)
        return cosines

    def between(self, keys: Keys) -> Floats:
        """The cosine of each pair of these keys; no number (NaN) where one has no vector."""
        present, block = self._rows(keys)
        lengths = np.maximum(block.lengths, 1e-9)[:, np.newaxis]
        rows: Floats = (block.rows / lengths).astype(np.float32, copy=False)
        pairs = product(rows, rows.T)
        if len(present) == len(keys):
            return pairs
        cosines = np.full((len(keys), len(keys)), np.nan, dtype=np.float32)
        cosines[np.ix_(present, present)] = pairs
        return cosines

    def _nearest(self, places: Places, k: int) -> Found:
        lines, question = self._lines, self._question
        if self._all is not None:
            picked = slice(None) if len(places) == len(lines.keys) else places
            return ranking.best(lines.keys[picked], self._all[picked], k)
        if lines.signatures is None:
            return self._index.nearest_of(self._space, lines, places, question, k)
        near = self._index.nearby(self._space, lines, places, question, k)
        return ranking.nearest([self._rows(lines.keys[near])[1]], question, k)

    def _rows(self, keys: Keys) -> tuple[Places, ranking.Block]:
        """Which of these keys have a vector, and those."""
        lines = self._lines
        places = lines.places(keys)
        present = (places >= 0).nonzero()[0]
        present = present[lines.statuses[places[present]] != GONE]
        if lines.rows is not None and lines.lengths is not None:
            here = places[present]
            return present, ranking.Block(keys[present], lines.rows[here], lines.lengths[here])
        return self._stored(keys, keys[present])

    def _stored(self, keys: Keys, wanted: Keys) -> tuple[Places, ranking.Block]:
        """The same from the store, which is asked for the wanted ones, once."""
        missing = np.unique(wanted[self._read.places(wanted) < 0])
        if len(missing):
            self._read = ranking.merge_blocks(self._read, self._index.stored(self._space, missing))
        at = self._read.places(keys)
        present = (at >= 0).nonzero()[0]
        return present, self._read.pick(at[present])


class StoredSearch(SignatureSearch):
    """One question about a space that the store itself searches: it is too large to be held."""

    def __init__(
        self, index: SignatureIndex, space: Space, question: Floats, searched: SearchedSpace, reach: Reach
    ) -> None:
        super().__init__(index, space, question, NO_LINES, 0, reach)
        self._searched = searched

    @cached_property
    def noise(self) -> Noise:
        """How near the question lies to vectors in general, by a sample of those the caller may read."""
        what = (self._space.key, "sample", self._reach)
        keys = self._index.remembered(what, lambda: self._searched.sample(self._reach, ranking.SAMPLE))
        return self._index.sampler(self._space, self._reach).noise(self._question, keys)

    def search(self, view: View, k: int) -> Found:
        """The k nearest keys a view of the same caller allows, with their cosine."""
        if k < 1 or not self._question.any():
            return []
        best = self.nearest(view.filters.present_statuses, k if view.filters.only_status else WIDEN * k)
        if view.filters.only_status:
            return best
        passed, named = self._index.passed(view, best)
        return self.among(named, k) if named is not None else passed[:k]

    def nearest(self, statuses: frozenset[Status], k: int) -> Found:
        """The k nearest in one of these statuses, in any if none is named."""
        signature = sign(self._question[np.newaxis], self._searched.centre)[0]
        return self.among(self._searched.near(signature, self._reach, statuses, max(RESCORE, k)), k)

    def among(self, keys: Keys, k: int) -> Found:
        """The k nearest of these keys."""
        return ranking.nearest([self._rows(keys)[1]], self._question, k)

    def _rows(self, keys: Keys) -> tuple[Places, ranking.Block]:
        """Which of these keys have a vector, and those."""
        return self._stored(keys, keys)


class SignatureIndex:
    """Finds the nearest vectors.

    The store stays the truth; an index catches up with it by itself. Holds no file; every thread may use it.
    """

    def __init__(self, store: Store, *, exact_limit: int = EXACT_LIMIT, rescore: int = RESCORE) -> None:
        self._store = store
        self._exact_limit = exact_limit
        self._rescore = rescore
        self._followers: dict[str, Follower] = {}
        self._samplers: OrderedDict[tuple[str, Reach], Sampler] = OrderedDict()
        self._cells: dict[str, Cells] = {}
        self._remembered: OrderedDict[Hashable, Array] = OrderedDict()
        self._lock = Lock()

    def let_go(self) -> None:
        """Give up samples, cells, masks and rows; the vectors' signatures stay."""
        for follower in list(self._followers.values()):
            follower.let_go()
        with self._lock:
            self._samplers.clear()
            self._cells.clear()
            self._remembered.clear()

    def ask(self, space: Space, vector: Floats, access: Access) -> NearSearch:
        """The vector of a question, looked at once for everything that is asked of it."""
        searched = self._store.vectors.searched(space)
        if searched is not None:
            reach = self._store.memories.reach(access)
            return StoredSearch(self, space, _question(space, vector), searched, reach)
        lines, upto = self._follower(space).snapshot()
        # Asked after the lines were brought up to date: a scope that is new in them is then known.
        reach = self._store.memories.reach(access)
        return SignatureSearch(self, space, _question(space, vector), lines, upto, reach)

    def search(self, space: Space, vector: Floats, k: int, view: View) -> Found:
        """The k nearest keys the view allows, with their cosine, best first."""
        return self.ask(space, vector, view.access).search(view, k)

    def nearest(
        self, space: Space, vectors: Floats, k: int, reach: Reach, *, hold: bool = False
    ) -> list[Found]:
        """For many vectors at once: the nearest active keys inside a reach (for deduplication).

        Who comes with many more of them lets what is read be held, and lets go of it at the end.
        """
        questions = _question(space, vectors)
        if k < 1 or not len(questions):
            return [[] for _ in questions]
        searched = self._store.vectors.searched(space)
        if searched is not None:
            searches = (StoredSearch(self, space, question, searched, reach) for question in questions)
            return [question.nearest(frozenset({Status.ACTIVE}), k) for question in searches]
        lines, upto = self._follower(space).snapshot(sketched=len(questions) <= SINGLY)
        which = (space.key, upto, reach)
        active = frozenset({Status.ACTIVE})
        places = self.remembered((*which, active), lambda: ranking.allowed(lines, reach, active))
        if lines.signatures is not None:
            hits_of_each = self._all_by_signature(space, lines, places, questions, k, which, hold=hold)
        elif lines.sketches is not None and len(questions) <= SINGLY:
            hits_of_each = self._all_by_sketch(space, lines, places, questions, k)
        else:
            hits_of_each = self._all_exactly(space, lines, places, questions, k)
        pointing = np.any(questions, axis=1).tolist()
        return [hits if points else [] for points, hits in zip(pointing, hits_of_each, strict=True)]

    def stats(self, space: Space) -> IndexStats:
        """What the index holds of a space."""
        if self._store.vectors.searched(space) is not None:
            return IndexStats(self._store.vectors.spaces()[space.key], "stored", 0)
        return self._follower(space).stats()

    def settle(self) -> None:
        """Wait until signatures that are being made are there."""
        for follower in list(self._followers.values()):
            follower.settle()

    def _follower(self, space: Space) -> Follower:
        with self._lock:
            if space.key not in self._followers:
                self._followers[space.key] = Follower(self._store, space, self._exact_limit)
            return self._followers[space.key]

    def sampler(self, space: Space, reach: Reach) -> Sampler:
        """The sample of what a caller may reach in a space."""
        with self._lock:
            sampler = self._samplers.pop((space.key, reach), None) or Sampler(self._store, space)
            self._samplers[space.key, reach] = sampler
            if len(self._samplers) > SAMPLERS:
                self._samplers.popitem(last=False)
        return sampler

    def remembered(self, what: Hashable, make: Callable[[], Array]) -> Array:
        """What was worked out for these very lines before, or is now."""
        with self._lock:
            value = self._remembered.pop(what, None)
        if value is None:
            value = make()
        with self._lock:
            self._remembered[what] = value
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return value

    def nearest_of(self, space: Space, lines: VectorLines, places: Places, question: Floats, k: int) -> Found:
        """The nearest of some lines."""
        places = self.nearby(space, lines, places, question, k)
        return ranking.nearest(self._blocks(space, lines, places), question, k)

    def nearby(self, space: Space, lines: VectorLines, places: Places, question: Floats, k: int) -> Places:
        """Those of some lines that are worth an exact look: all of a few, else those by their signatures."""
        if lines.signatures is None:
            return places
        signature = self._signatures(space, question[np.newaxis])[0]
        return ranking.candidates(lines.signatures, places, signature, max(self._rescore, k))

    def stored(self, space: Space, keys: Keys) -> ranking.Block:
        """Rows of keys that are not held in memory."""
        stored = self._store.vectors.rows(space, keys.tolist())
        return ranking.Block(stored.keys, stored.rows, ranking.lengths(stored.rows))

    def filtered(
        self,
        space: Space,
        lines: VectorLines,
        places: Places,
        question: Floats,
        k: int,
        view: View,
    ) -> Found:
        """The nearest of some lines that pass filters which only the store can tell."""
        shown = max(k * WIDEN, self._rescore)
        # Signatures only guess who is near: when hardly more than k pass, the guess was too narrow.
        enough = k if lines.signatures is None else max(k, self._rescore // WIDEN)
        named = False
        while True:
            best = self.nearest_of(space, lines, places, question, shown)
            passed = self._store.memories.allow(view, [key for key, _ in best])
            if len(passed) >= enough or shown >= len(places):
                return [(key, cosine) for key, cosine in best if key in passed][:k]
            keys = None if named else self._store.memories.select(view, self._exact_limit)
            if keys is not None:
                return self.nearest_of(space, lines, ranking.present(lines, keys), question, k)
            named, shown = True, shown * WIDEN

    def passed(self, view: View, best: Found) -> tuple[Found, Keys | None]:
        """Those of the best that pass a view's filters; all keys that do where those of the best are few."""
        allowed = self._store.memories.allow(view, [key for key, _ in best])
        few = len(allowed) < max(1, len(best) // WIDEN)
        keys = self._store.memories.select(view, self._exact_limit) if few else None
        return [hit for hit in best if hit[0] in allowed], keys

    def _all_exactly(
        self, space: Space, lines: VectorLines, places: Places, questions: Floats, k: int
    ) -> list[Found]:
        hits: list[Found] = []
        for start in range(0, len(questions), QUESTIONS):
            chunk = questions[start : start + QUESTIONS]
            hits += ranking.nearest_of_each(self._blocks(space, lines, places), chunk, k)
        return hits

    def _all_by_sketch(
        self, space: Space, lines: VectorLines, places: Places, questions: Floats, k: int
    ) -> list[Found]:
        """A few questions at a time: the sketches leave out whatever is far."""
        if lines.sketches is None:
            raise AssertionError("asked only of a space that is sketched")
        sketches = self._follower(space).sketch(questions)
        count = max(SKETCHED, 2 * k)
        near = [ranking.candidates(lines.sketches, places, sketch, count) for sketch in sketches]
        pairs = zip(questions, near, strict=True)
        return [ranking.nearest(self._blocks(space, lines, few), question, k) for question, few in pairs]

    def _all_by_signature(  # noqa: PLR0913 - what is asked, and of what
        self,
        space: Space,
        lines: VectorLines,
        places: Places,
        questions: Floats,
        k: int,
        which: tuple[str, int, Reach],
        *,
        hold: bool,
    ) -> list[Found]:
        count = max(FEW, 2 * k)
        signatures = lines.signatures
        if signatures is None:
            raise AssertionError("asked only of a space that is signed")
        signed = self._signatures(space, questions)
        if len(questions) > IN_CELLS and len(places) > self._exact_limit:
            near = self._cells_of(space).near(lines, places, signed, count, which)
        else:
            near = np.full((len(questions), count), -1, dtype=np.intp)
            for row, signature in zip(near, signed, strict=True):
                candidates = ranking.candidates(signatures, places, signature, count)
                row[: len(candidates)] = candidates
        # All candidates in one look-up; each question then picks its own.
        wanted = lines.keys[np.unique(near[near >= 0])]
        block = self._follower(space).rows(wanted, which[1], hold=hold)
        keys = np.where(near < 0, NO_KEY, lines.keys[near])
        return ranking.nearest_among(block, keys, questions, k)

    def _cells_of(self, space: Space) -> Cells:
        with self._lock:
            return self._cells.setdefault(space.key, Cells())

    def _signatures(self, space: Space, questions: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
        centre = self._store.vectors.centre(space)
        if centre is None:
            raise AssertionError("a space with signatures has a centre")
        return sign(questions, centre)

    def _blocks(self, space: Space, lines: VectorLines, places: Places) -> Iterator[ranking.Block]:
        """Keys, rows and lengths of these places, from memory or else from the store."""
        whole = len(places) == len(lines.keys)
        for start in range(0, len(places), BLOCK):
            part = slice(start, start + BLOCK) if whole else places[start : start + BLOCK]
            if lines.rows is not None and lines.lengths is not None:
                yield ranking.Block(lines.keys[part], lines.rows[part], lines.lengths[part])
            else:
                stored = self._store.vectors.rows(space, lines.keys[part].tolist())
                yield ranking.Block(stored.keys, stored.rows, ranking.lengths(stored.rows))


def _question(space: Space, vectors: Floats) -> Floats:
    """The vectors with length 1, if they are of this space."""
    if vectors.shape[-1] != space.dims:
        raise EmbedderMismatch(f"The space {space.key} takes no vector of {vectors.shape[-1]} parts.")
    return unit(np.asarray(vectors, dtype=np.float32))
