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
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from engram.model.memory import Status
from engram.ports import Matched
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned
from engram.text.bm25 import K1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Found = Sequence[tuple[int, float]]
    Numbers = NDArray[np.float64]
    Lines = NDArray[np.intp]

CERTAIN_DEVIATIONS = 4.0  # deviations above the noise that make a sure match (measured)

COVERED = 0.7
"""Share of a question's words, by how much they tell, from which on they count whole."""
OWN_LEAST = 0.7
"""What its words count when none is said."""
KIN_LEAST, KIN_MOST = 0.2, 2.0
"""Factors on the best kindred word: when the question's own are said, and when none is."""
HEEDED = 8
"""So many memories, those that say most of a question, tell how far its words are said."""
SAID_RELEVANCE = 0.4
"""Text relevance of a memory that says all words of a question, however long it is."""


def heed_words(by_words: Matched, plan: Planned) -> Planned:
    """The plan with how far believed memories say the question's own words.

    What was only said does not count: "if I ate meat …" must not stand between a question and its answer.
    """
    shares = said_shares(by_words, plan)
    best = np.argsort(-shares)[:HEEDED]
    filters = plan.view.filters
    believed = replace(plan.view, filters=replace(filters, statuses=filters.statuses - {Status.SAID}))
    said = shares[best[plan.words.passing(by_words.keys[best], believed)]]
    return replace(plan, covered=float(said.max(initial=0.0)))


def said_shares(matched: Matched, plan: Planned) -> Numbers:
    """The share of a question's words that each memory says, each word by how much it tells."""
    told = np.array([plan.rarity.get(term, 0.0) for term in matched.terms])
    whole = sum(plan.rarity.values())
    if not whole:
        return np.zeros(len(matched.keys))
    said, column = matched.parts > 0, {term: place for place, term in enumerate(matched.terms)}
    for term, others in plan.forms.items():
        said[:, column[term]] |= said[:, [column[other] for other in others]].any(axis=1)
    shares: Numbers = said @ told / whole
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
        self._columns = self._weighed(self.matched, near)
        count = len(known)
        self._columns["text_rank"][:count] = np.arange(1, count + 1)
        for rank, key in enumerate(near, 1):
            if key in self.lines:
                self._columns["vector_rank"][self.lines[key]] = rank
        self.wordings: dict[int, str] = {}
        """The other wording of the question that a key fits best."""

    def __len__(self) -> int:
        return len(self.matched.keys)

    def __getitem__(self, column: str) -> Numbers:
        """One column, to be read or written."""
        return self._columns[column]

    @cached_property
    def lines(self) -> dict[int, int]:
        """Where each key stands."""
        return {key: line for line, key in enumerate(self.matched.keys.tolist())}

    @property
    def found(self) -> Numbers:
        """The fit by what was searched: which candidates are read comes from it."""
        column = self._columns
        fit: Numbers = (column["own"] + column["lent"] + column["dated"]) * column["time"]
        return fit

    def best(self, count: int, column: str = "own") -> Lines:
        """The lines with the most of a column, or of `found`; equals by key."""
        values = self.found if column == "found" else self._columns[column]
        some: Lines = np.lexsort((self.matched.keys, -values))[:count]
        return some

    def include(self, keys: Iterable[int]) -> None:
        """Take in what another step found, with what the channels say about it."""
        new = [key for key in dict.fromkeys(map(int, keys)) if key not in self.lines]
        if not new:
            return
        matched = self.plan.words.of(new)
        columns = self._weighed(matched, {})
        self.matched = _joined(self.matched, matched)
        self._columns = {
            name: np.concatenate([column, columns[name]]) for name, column in self._columns.items()
        }
        for key in matched.keys.tolist():
            self.lines[key] = len(self.lines)

    def candidates(self, keys: Iterable[int]) -> dict[int, Candidate]:
        """Those of the keys that are here, each with all its numbers."""
        lines = {int(key): self.lines[int(key)] for key in keys if int(key) in self.lines}
        names = tuple(self._columns)
        numbers = np.stack([self._columns[name] for name in names])[:, list(lines.values())].T.tolist()
        return {
            key: self._candidate(key, line, dict(zip(names, told, strict=True)))
            for (key, line), told in zip(lines.items(), numbers, strict=True)
        }

    def _candidate(self, key: int, line: int, told: dict[str, Any]) -> Candidate:
        text_rank, vector_rank = int(told.pop("text_rank")), int(told.pop("vector_rank"))
        cosine = told.pop("cosine")
        return Candidate(
            key,
            matched=(self.matched, line),
            text_rank=text_rank or None,
            vector_rank=vector_rank or None,
            cosine=None if cosine != cosine else cosine,  # noqa: PLR0124 - no number: no vector
            wording=self.wordings.get(key, ""),
            **told,
        )

    def _weighed(self, matched: Matched, near: dict[int, float]) -> dict[str, Numbers]:
        """What words and meaning say about some memories."""
        plan, keys, count = self.plan, matched.keys, len(matched.keys)
        cosine = np.array([near.get(key, np.nan) for key in keys.tolist()], dtype=np.float64)
        unmeant = np.flatnonzero(np.isnan(cosine))
        if len(unmeant) and plan.near_search is not None:
            cosine[unmeant] = plan.near_search.compare(keys[unmeant])
        weights, zeros = plan.shown.weights, np.zeros(count)
        said, by_words, scores = said_shares(matched, plan), _words_fit(matched, plan), matched.scores
        most = plan.mass * (K1 + 1)
        share = np.maximum(by_words, scores) / most if most else zeros
        text = np.minimum(1.0, np.maximum(share, SAID_RELEVANCE * said))
        known = np.nan_to_num(cosine)
        has_vector = ~np.isnan(cosine)
        leads = plan.near.leads - (plan.near.leads - 1.0) * plan.covered
        above_noise = (known - plan.noise.mean) / plan.noise.deviation
        meaning = np.where(has_vector, weights["vector"] * leads * above_noise, 0.0)
        usual, certain = plan.usual_noise, CERTAIN_DEVIATIONS
        above = (known - usual.mean) / usual.deviation / certain
        vector = np.where(has_vector, np.clip(above, 0.0, 1.0), 0.0)
        return {
            "bm25": scores.astype(np.float64),
            "said": said,
            "text": text,
            "cosine": cosine,
            "vector": vector,
            "meaning": meaning,
            "own": np.maximum(0.0, weights["text"] * by_words + meaning),
            "relevance": 1.0 - (1.0 - text) * (1.0 - vector),
            "lent": zeros.copy(),
            "lent_relevance": zeros.copy(),
            "dated": zeros.copy(),
            "time": np.ones(count),
            "text_rank": zeros.copy(),
            "vector_rank": zeros.copy(),
        }


def _words_fit(matched: Matched, plan: Planned) -> Numbers:
    """What the words of each memory count: those of the question, and the best of their kin."""
    is_kin = np.array([term in plan.kin for term in matched.terms], dtype=np.bool_)
    own = matched.parts[:, ~is_kin].sum(axis=1, dtype=np.float64)
    kindred = matched.parts[:, is_kin].max(axis=1, initial=0.0)
    said = min(1.0, plan.covered / COVERED)
    own *= OWN_LEAST + (1.0 - OWN_LEAST) * said
    fit: Numbers = own + kindred * (KIN_MOST - (KIN_MOST - KIN_LEAST) * said)
    return fit


def _joined(one: Matched, other: Matched) -> Matched:
    if not len(other.keys):
        return one
    return Matched(
        one.terms,
        np.concatenate([one.keys, other.keys]),
        np.concatenate([one.parts, other.parts]),
        np.concatenate([one.lengths, other.lengths]),
    )
