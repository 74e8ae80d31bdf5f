"""Looking back: the tools of today and a time come in; tools that show what was known then come out.

The searches find what was believed then by themselves (`Filters.as_of`). Here the records that are read are
put back to what they said and how they stood, and the clock stands still. Such a recall leaves no trace.

The words a memory is found by are those of today: what was reworded since is found by its present words and
shown with its former ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from engram.lazily import dataclass, replace
from engram.rules.archival import as_it_was

if TYPE_CHECKING:
    from engram.model.clock import Clock
    from engram.model.memory import Memory
    from engram.ports import Store, Tools


def as_of(tools: Tools, at: datetime) -> Tools:
    """The same tools, looking at that time."""
    store = cast("Store", PastStore(tools.store, at))
    return replace(tools, store=store, clock=StoppedClock(at, tools.clock))


def then(memories: Iterable[Memory], store: Store, at: datetime) -> dict[str, Memory]:
    """What these memories were at a time, by id; those whose words were not kept are left out."""
    found = list(memories)
    changed = store.ledger.as_of([memory.id for memory in found], at)
    was = {memory.id: as_it_was(memory, changed.get(memory.id, {}), at) for memory in found}
    return {memory_id: memory for memory_id, memory in was.items() if memory is not None}


@dataclass(frozen=True, slots=True)
class StoppedClock:
    """Stands at one time; how long things take is still measured."""

    at: datetime
    clock: Clock

    def now(self) -> datetime:
        """Always the same."""
        return self.at

    def monotonic(self) -> float:
        """Seconds that pass."""
        return self.clock.monotonic()


class PastMemories:
    """The memories of a store, whose records are read as they were. Lives for one recall."""

    def __init__(self, store: Store, at: datetime) -> None:
        self._store = store
        self._at = at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store.memories, name)

    def read(self, keys: Sequence[int]) -> dict[int, Memory]:
        """The records as they were."""
        found = self._store.memories.read(keys)
        was = then(found.values(), self._store, self._at)
        return {key: was[memory.id] for key, memory in found.items() if memory.id in was}


class PastStore:
    """A store as it looks from a time in the past. Lives for one recall, which writes nothing."""

    def __init__(self, store: Store, at: datetime) -> None:
        self._store = store
        self.memories = PastMemories(store, at)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
