"""The record of recalls: answers come in; how recalls have been going comes out, and what has helped them.

The last 200 are kept, with the file. A reranking that is tried beside the plain order is switched on for a
kind of question once it has helped that kind on average, and off again once it no longer does.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import ceil
from threading import Lock

from engram.model.clock import EPOCH
from engram.model.health import KindHealth, Recalled, RecallHealth
from engram.model.recall import Recall
from engram.ports import Recalls

KEPT = 200
WEAK_IN_A_ROW = 10
"""So many weak recalls one after the other are no accident."""
ENOUGH = 20
"""Recalls after which an average says something."""
LOW_RELEVANCE = 0.4
"""An average of the best hits under this is worth a word."""
TRIED = 10
"""Recalls of a kind after which a tried reranking may be switched on."""
GAIN = 0.01
"""What it must have gained on average to be switched on; it stays on while it loses nothing."""
UNCLEAR = "unclear"


class RecallRecord:
    """Lives as long as the engine; any thread may use it. What went before is read at first use."""

    def __init__(self, recalls: Recalls) -> None:
        self._recalls = recalls
        self._on: set[str] = set()
        self._lock = Lock()

    @cached_property
    def _entries(self) -> deque[Recalled]:
        entries = deque(self._recalls.last(KEPT), maxlen=KEPT)
        for intent in {one.intent for one in entries}:
            self._switch(intent, entries)
        return entries

    def keep(self, answer: Recall, *, weak: bool) -> None:
        """Remember how a recall went."""
        quality = answer.quality
        entry = Recalled(
            answer.at or EPOCH,
            str(answer.plan.intent or ""),
            quality.top_relevance,
            quality.ndcg,
            quality.returned,
            quality.ms,
            weak,
            quality.rerank_gain,
        )
        with self._lock:
            self._entries.append(entry)
            self._switch(entry.intent, self._entries)
        self._recalls.record(entry, KEPT)

    def helped(self) -> frozenset[str]:
        """The intents that the tried reranking has helped."""
        with self._lock:
            return frozenset(self._on) if self._entries else frozenset()

    def health(self) -> RecallHealth:
        """How the recalls have been going."""
        with self._lock:
            entries = tuple(self._entries)
            on = sorted(self._on)
        kinds = defaultdict[str, list[Recalled]](list)
        for entry in entries:
            kinds[entry.intent or UNCLEAR].append(entry)
        overall, row, times = _summed(entries), _row(entries), sorted(entry.ms for entry in entries)
        return RecallHealth(
            overall=overall,
            by_intent={kind: _summed(found) for kind, found in sorted(kinds.items())},
            weak_in_a_row=row,
            p50_ms=_at(times, 0.5),
            p95_ms=_at(times, 0.95),
            reranked=tuple(kind or UNCLEAR for kind in on),
            warnings=tuple(_warnings(overall, row)),
        )

    def _switch(self, intent: str, entries: Iterable[Recalled]) -> None:
        gains = [one.gain for one in entries if one.intent == intent and one.gain is not None]
        if len(gains) < TRIED:
            return
        mean = sum(gains) / len(gains)
        if mean > GAIN:
            self._on.add(intent)
        elif mean < 0:
            self._on.discard(intent)


def _summed(entries: Sequence[Recalled]) -> KindHealth:
    gains = [one.gain for one in entries if one.gain is not None]
    return KindHealth(
        recalls=len(entries),
        weak=sum(one.weak for one in entries),
        relevance=_mean(one.relevance for one in entries),
        ndcg=_mean(one.ndcg for one in entries),
        hits=_mean(one.hits for one in entries),
        rerank_gain=_mean(gains) if gains else None,
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def _row(entries: Sequence[Recalled]) -> int:
    """How many at the end are weak, one after the other."""
    return next((place for place, one in enumerate(reversed(entries)) if not one.weak), len(entries))


def _at(ordered: Sequence[float], share: float) -> float:
    """The value below which this share lies.

    >>> _at([1.0, 2.0, 3.0, 4.0], 0.5), _at([7.0], 0.95), _at([], 0.5)
    (2.0, 7.0, 0.0)
    """
    return ordered[max(0, ceil(len(ordered) * share) - 1)] if ordered else 0.0


def _warnings(overall: KindHealth, row: int) -> Iterable[str]:
    if row >= WEAK_IN_A_ROW:
        yield f"the last {row} recalls found nothing worth showing: wrong or stale embeddings?"
    if overall.recalls >= ENOUGH and overall.relevance < LOW_RELEVANCE:
        yield f"the best hits are {overall.relevance:.2f} relevant on average, less than {LOW_RELEVANCE:.2f}"
