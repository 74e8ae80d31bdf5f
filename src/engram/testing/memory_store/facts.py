"""What memories state, read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from engram.model.axes import Status
from engram.model.clock import Clock
from engram.model.facts import Claim, Fact, FactQuery, Told
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.ports import View
from engram.testing.memory_store.filtering import allows
from engram.testing.memory_store.tables import Tables

IN_USE = (Status.ACTIVE, Status.CHALLENGED)


class MemoryFacts:
    """`Facts` over tables."""

    def __init__(self, tables: Callable[[], Tables], clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    def stated(self, subject: str, predicate: str, scope: Scope, limit: int) -> list[Claim]:
        """Who states such a fact, newest first."""
        return stated(self._tables(), subject, predicate, scope, limit)

    def find(self, query: FactQuery, view: View, limit: int) -> list[Claim]:
        """Facts that fit."""
        if query.as_of is not None:
            view = View(view.access, replace(view.filters, statuses=frozenset()))
        tables = self._tables()
        found = (
            claim for claim in _newest(tables) if _fits(claim, query) and allows(tables, view, claim.memory)
        )
        return list(islice(found, limit))

    def told(self, query: FactQuery, view: View, limit: int) -> list[Told]:
        """The same in short."""
        keys = self._tables().keys
        return [
            Told(
                keys[claim.memory.id],
                claim.fact,
                min(claim.fact.confidence, claim.memory.confidence),
                claim.fact.valid_to or claim.memory.valid_to,
            )
            for claim in self.find(query, view, limit)
        ]

    def disputed(self, view: View, limit: int) -> list[tuple[Claim, Claim]]:
        """The newest of each group against the newest of every other object."""
        tables, now = self._tables(), self._clock.now()
        groups: dict[tuple[Scope, str, str], dict[str, Claim]] = {}
        for claim in _newest(tables):
            fact, memory = claim.fact, claim.memory
            is_held = fact.functional and memory.status in IN_USE and _holds(fact, memory, now)
            if is_held and allows(tables, view, memory):
                group = groups.setdefault((memory.scope, fact.subject, fact.predicate), {})
                group.setdefault(fact.object, claim)
        pairs = (
            (newest, other)
            for newest, *others in (group.values() for group in groups.values())
            for other in others
            if other.memory.id != newest.memory.id
        )
        return list(islice(pairs, limit))


def stated(tables: Tables, subject: str, predicate: str, scope: Scope, limit: int) -> list[Claim]:
    """Who states such a fact, newest first."""
    found = (
        claim
        for claim in _newest(tables)
        if claim.memory.scope == scope
        and claim.memory.status is Status.ACTIVE
        and (claim.fact.subject, claim.fact.predicate) == (subject, predicate)
    )
    return list(islice(found, limit))


def _newest(tables: Tables) -> Iterator[Claim]:
    """Every fact, those of the newest memory first, as sure as its memory unless it says less."""
    records = sorted(tables.records.items(), key=lambda one: (one[1].created_at, one[0]), reverse=True)
    for key, memory in records:
        for fact in tables.findables[key].facts:
            sure = fact.confidence if fact.confidence < 1 else memory.confidence
            yield Claim(replace(fact, confidence=sure), memory)


def _fits(claim: Claim, query: FactQuery) -> bool:
    fact, memory = claim.fact, claim.memory
    asked = (
        (query.subjects, fact.subject),
        (query.predicates, fact.predicate),
        (query.objects, fact.object),
    )
    if not all(not wanted or part in map(str.lower, wanted) for wanted, part in asked):
        return False
    return query.as_of is None or (memory.happened_at <= query.as_of and _holds(fact, memory, query.as_of))


def _holds(fact: Fact, memory: Memory, at: datetime) -> bool:
    begun, ended = fact.valid_from or memory.valid_from, fact.valid_to or memory.valid_to
    return (begun is None or begun <= at) and (ended is None or ended > at)
