"""The store: one way to write, many nouns to read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar

from engram.errors import StoreClosed, UpkeepBusy
from engram.model.clock import Clock
from engram.model.pages import Finding
from engram.ports import Unit
from engram.testing.memory_store.answers import MemoryAnswers
from engram.testing.memory_store.bus import MemoryBus
from engram.testing.memory_store.entities import MemoryEntities
from engram.testing.memory_store.facts import MemoryFacts
from engram.testing.memory_store.memories import MemoryRecords
from engram.testing.memory_store.relations import MemoryLedger, MemoryOpinions, MemoryRelations
from engram.testing.memory_store.snapshots import MemorySnapshots
from engram.testing.memory_store.tables import Tables
from engram.testing.memory_store.texts import MemoryTexts
from engram.testing.memory_store.tokens import MemoryTokens
from engram.testing.memory_store.triggers import MemoryTriggers
from engram.testing.memory_store.turns import MemoryOrigins, MemoryRecalls, MemorySpending, MemoryTurns
from engram.testing.memory_store.unit import MemoryUnit
from engram.testing.memory_store.upkeep import MemoryUpkeep
from engram.testing.memory_store.vectors import MemoryVectors

T = TypeVar("T")
Work = Callable[[Unit], object]


class MemoryStore:
    """`engram.ports.Store` without a file, for tests: fast at hundreds of memories, right at any number.

    Every thread may use it. Writes take turns; readers look at the last committed tables and never wait.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._committed = Tables()
        self._writing = RLock()
        self._later: list[tuple[Work, str]] = []
        self._closed = False
        self.memories = MemoryRecords(self._tables)
        self.texts = MemoryTexts(self._tables)
        self.vectors = MemoryVectors(self._tables, self._commit)
        self.relations = MemoryRelations(self._tables)
        self.facts = MemoryFacts(self._tables, clock)
        self.entities = MemoryEntities(self._tables)
        self.turns = MemoryTurns(self._tables)
        self.origins = MemoryOrigins(self._tables)
        self.spending = MemorySpending(self._tables, self._commit)
        self.recalls = MemoryRecalls(self._tables, self._commit)
        self.ledger = MemoryLedger(self._tables)
        self.opinions = MemoryOpinions(self._tables)
        self.tokens = MemoryTokens(self._tables, self._commit)
        self.answers = MemoryAnswers(self._tables, self._commit)
        self.triggers = MemoryTriggers(self._tables, self._commit)
        self.snapshots = MemorySnapshots(self._tables, self._commit)
        self.bus = MemoryBus(self._tables)
        self.upkeep = MemoryUpkeep(self._tables)
        self._leases: set[str] = set()

    def write(self, work: Callable[[Unit], T], actor: str) -> T:
        """Run the work on a copy and keep the copy if nothing went wrong."""
        with self._writing:
            self.flush()
            return self._run(work, actor)

    def write_later(self, work: Work, actor: str) -> None:
        """Keep the work for the next write or flush."""
        with self._writing:
            self._tables()
            self._later.append((work, actor))

    def flush(self) -> None:
        """Do what was kept for later. What fails there is told to the log: nobody waits for it."""
        with self._writing:
            waiting, self._later = self._later, []
            for work, actor in waiting:
                try:
                    self._run(work, actor)
                except Exception:
                    logging.getLogger(__name__).exception("work handed over for later failed")

    @property
    def writes_waiting(self) -> int:
        """What was kept for later."""
        return len(self._later)

    def vacuum(self, *, full: bool = True) -> None:
        """Nothing is left behind here."""

    def check(self, *, repair: bool = False) -> list[Finding]:
        """Whether every key leads somewhere."""
        tables = self._tables()
        ok = set(tables.keys.values()) == set(tables.records) == set(tables.findables)
        return [Finding("memory store", ok, "every key leads to a record and its words")]

    @contextmanager
    def lease(self, name: str) -> Iterator[None]:
        """Hold a certain work for oneself."""
        with self._writing:
            if name in self._leases:
                raise UpkeepBusy(name)
            self._leases.add(name)
        try:
            yield
        finally:
            self._leases.discard(name)

    def copy(self) -> MemoryStore:
        """The same values in a store of their own."""
        self.flush()
        other = MemoryStore(self._clock)
        other._committed = self._tables().copy()
        return other

    def close(self) -> None:
        """Finish what is waiting."""
        with self._writing:
            if not self._closed:
                self.flush()
            self._closed = True

    def _tables(self) -> Tables:
        if self._closed:
            raise StoreClosed
        return self._committed

    def _run(self, work: Callable[[Unit], T], actor: str) -> T:
        tables = self._tables().copy()
        answer = work(MemoryUnit(tables, self._clock, actor))
        self._committed = tables
        return answer

    def _commit(self, change: Callable[[Tables], None]) -> None:
        with self._writing:
            tables = self._tables().copy()
            change(tables)
            self._committed = tables
