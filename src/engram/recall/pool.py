"""The pool: all candidates of one recall as arrays, with what words and meaning say about each.

Scores are fused, not ranks: on conversations the strength of a match says more than its place. The words
count by their BM25, the meaning by how far its cosine stands out of the noise of its space, in standard
deviations, so that both speak the same language in every embedding model.

How far words count follows the question. Where memories say most of its words, the words lead and kindred
words hardly matter. Where they say few, people tell in other words than they ask: what happens to be
shared counts less, kindred words count as much as said ones, and the meaning leads.
`benchmarks/results/answers.md` has the comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from engram.ports import Matched, View
from engram.recall.candidates import Candidate
from engram.text.bm25 import K1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engram.ports import Keys
    from engram.recall.plan import Planned

    Found = Sequence[tuple[int, float]]
    Numbers = NDArray[np.float64]
    Lines = NDArray[np.intp]

CERTAIN_DEVIATIONS = 4.0  # deviations above the noise that make a sure match (measured)

COVERED = 0.7
"""Share of a question's words, by how much they tell, from which on they count whole."""
OWN_LEAST = 0.7
"""What its words count when none is said."""
KIN_LEAST, KIN_MOST = 0.2, 2.0
"""Factors on the best other word for each of the question's: when its own are said, and when none is."""
HEEDED = 8
"""So many memories, those that say most of a question, tell how far its words are said."""
SAID_RELEVANCE = 0.4
"""Text relevance of a memory that says all words of a question, however long it is."""


COLUMNS = (
    "bm25", "said", "text", "cosine", "vector", "meaning", "own", "relevance",
    "lent", "lent_relevance", "dated", "time", "text_rank", "vector_rank",
)  # fmt: skip
"""What is known of each candidate, as `Candidate` calls it."""
_PLACES = {name: place for place, name in enumerate(COLUMNS)}


def _covered(shares: Numbers, keys: Keys, plan: Planned) -> float:
    """How far believed memories say the question's own words, 0 to 1, by the share that each says.

    What was only said does not count: "if I ate meat …" must not stand between a question and its answer.
    """
    best = np.argsort(-shares)[:HEEDED]
    believed = View(plan.view.access, plan.view.filters.without_said)
    said = shares[best[plan.words.passing(keys[best], believed)]]
    return float(said.max(initial=0.0))


def said_shares(matched: Matched, plan: Planned) -> Numbers:
    """The share of a question's words that each memory says, each word by how much it tells."""
    columns = plan.columns
    if not columns.whole:
        return np.zeros(len(matched.keys))
    said = matched.parts > 0
    for term, others in columns.forms:
        said[:, term] |= said[:, others].any(axis=1)
    shares: Numbers = said @ columns.telling
    return shares


class Pool:
    """One line for each candidate. Lives for one recall; each step writes its own columns."""

    def __init__(self, by_words: Matched, by_meaning: Found, plan: Planned) -> None:
        self.plan = plan
        near = dict(by_meaning)
        known = by_words.keys.tolist()
        seen = set(known)
        further = plan.words.of([key for key in near if key not in seen])
        self.matched = _joined(by_words, further)
        shares = said_shares(self.matched, plan)
        self._covered = _covered(shares[: len(known)], by_words.keys, plan)
        self._numbers = self._weighed(self.matched, shares, near)
        self["text_rank"][: len(known)] = np.arange(1, len(known) + 1)
        ranks = {key: rank for rank, key in enumerate(near, 1)}
        self["vector_rank"][:] = [ranks.get(key, 0) for key in self.matched.keys.tolist()]
        self.wordings: dict[int, str] = {}
        """The other wording of the question that a key fits best."""

    def __len__(self) -> int:
        return len(self.matched.keys)

    def __getitem__(self, column: str) -> Numbers:
        """One column, to be read or written."""
        numbers: Numbers = self._numbers[_PLACES[column]]
        return numbers

    @cached_property
    def lines(self) -> dict[int, int]:
        """Where each key stands."""
        return {key: line for line, key in enumerate(self.matched.keys.tolist())}

    @property
    def found(self) -> Numbers:
        """The fit by what was searched: which candidates are read comes from it."""
        fit: Numbers = (self["own"] + self["lent"] + self["dated"]) * self["time"]
        return fit

    def best(self, count: int, column: str = "own") -> Lines:
        """The lines with the most of a column, or of `found`; equals by key."""
        values = self.found if column == "found" else self[column]
        some: Lines = np.lexsort((self.matched.keys, -values))[:count]
        return some

    def include(self, keys: Iterable[int]) -> None:
        """Take in what another step found, with what the channels say about it."""
        new = [key for key in dict.fromkeys(keys) if key not in self.lines]
        if not new:
            return
        matched = self.plan.words.of(new)
        weighed = self._weighed(matched, said_shares(matched, self.plan), {})
        self._numbers = np.concatenate([self._numbers, weighed], axis=1)
        self.matched = _joined(self.matched, matched)
        for key in matched.keys.tolist():
            self.lines[key] = len(self.lines)

    def candidates(self, keys: Iterable[int]) -> dict[int, Candidate]:
        """Those of the keys that are here, each with all its numbers."""
        lines = {key: self.lines[key] for key in keys if key in self.lines}
        told = self._numbers[:, list(lines.values())].T.tolist()
        found: dict[int, Candidate] = {}
        for (key, line), numbers in zip(lines.items(), told, strict=True):
            one = found[key] = Candidate(key, (self.matched, line), *numbers)
            one.cosine = None if isnan(numbers[COSINE]) else numbers[COSINE]
            one.text_rank = int(numbers[-2]) or None
            one.vector_rank = int(numbers[-1]) or None
        for key in lines.keys() & self.wordings.keys():
            found[key].wording = self.wordings[key]
        return found

    def _weighed(self, matched: Matched, shares: Numbers, near: dict[int, float]) -> Numbers:
        """What words and meaning say about some memories, a row for each of `COLUMNS`."""
        plan, keys, weights = self.plan, matched.keys, self.plan.shown.weights
        cosine = np.array([near.get(key, nan) for key in keys.tolist()]) if near else np.full(len(keys), nan)
        unmeant = np.isnan(cosine).nonzero()[0]
        if plan.near_search is not None and len(unmeant):
            cosine[unmeant] = plan.near_search.compare(keys[unmeant])
            unmeant = np.isnan(cosine).nonzero()[0]
        numbers = np.zeros((len(COLUMNS), len(keys)))
        bm25, said, text, _, vector, meaning, own, relevance = numbers[:8]
        bm25[:], said[:] = matched.scores, shares
        by_words = _words_fit(matched, plan, min(1.0, self._covered / COVERED))
        text[:] = SAID_RELEVANCE * said
        if plan.mass:
            np.maximum(text, np.maximum(by_words, bm25) / (plan.mass * (K1 + 1)), out=text)
            np.minimum(1.0, text, out=text)
        leads = plan.near.leads - (plan.near.leads - 1.0) * self._covered
        meaning[:] = (cosine - plan.noise.mean) * (weights["vector"] * leads / plan.noise.deviation)
        usual = plan.usual_noise
        vector[:] = (cosine - usual.mean) / (usual.deviation * CERTAIN_DEVIATIONS)
        vector[unmeant] = meaning[unmeant] = 0.0
        np.minimum(1.0, np.maximum(0.0, vector, out=vector), out=vector)
        np.maximum(0.0, weights["text"] * by_words + meaning, out=own)
        relevance[:] = 1.0 - (1.0 - text) * (1.0 - vector)
        numbers[COSINE], numbers[_PLACES["time"]] = cosine, 1.0
        return numbers


COSINE = _PLACES["cosine"]


def _words_fit(matched: Matched, plan: Planned, said: float) -> Numbers:
    """What the words of each memory count: those of the question, and the best other word for each.

    Each further word that others stand for counts half.
    """
    columns = plan.columns
    own: Numbers = matched.parts[:, columns.own].sum(axis=1, dtype=np.float64)
    own *= OWN_LEAST + (1.0 - OWN_LEAST) * said
    if columns.kin:
        factor = KIN_MOST - (KIN_MOST - KIN_LEAST) * said
        gained = [_gained(matched, *group, factor) for group in columns.kin]
        own += (np.max(gained, axis=0) + np.sum(gained, axis=0)) / 2
    return own


def _gained(matched: Matched, said: list[int], kin: list[int], factor: float) -> Numbers:
    """What other words for a word of the question add to what is said of it."""
    gained: Numbers = factor * matched.parts[:, kin].max(axis=1) - matched.parts[:, said].sum(axis=1)
    return np.maximum(0.0, gained, out=gained)


def _joined(one: Matched, other: Matched) -> Matched:
    if not len(other.keys):
        return one
    return Matched(
        one.terms,
        np.concatenate([one.keys, other.keys]),
        np.concatenate([one.parts, other.parts]),
        np.concatenate([one.lengths, other.lengths]),
    )
