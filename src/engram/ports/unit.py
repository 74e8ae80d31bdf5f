"""The unit of work: what may be written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engram.model.entity import Entity
    from engram.model.event import Verb
    from engram.model.facts import Fact
    from engram.model.memory import Memory
    from engram.model.relations import Edge, EdgeType
    from engram.model.scope import Scope
    from engram.model.turn import Turn, Waiting
    from engram.ports.bus import BusWork
    from engram.ports.upkeep import UpkeepWork
    from engram.ports.values import (
        Embedded,
        Findable,
    )


class Unit(Protocol):
    """One piece of work inside the writer: reads see its own writes, all of it happens or none.

    Each call that changes a memory appends its event by itself.
    """

    @property
    def bus(self) -> BusWork:
        """What agents tell each other."""
        ...

    @property
    def upkeep(self) -> UpkeepWork:
        """What maintenance writes beside the records."""
        ...

    def under(self, run: str, rule: str) -> None:
        """From here on events belong to this run of upkeep and this rule."""
        ...

    def get(self, memory_id: str) -> Memory | None:
        """The memory as it is inside this unit."""
        ...

    def same_content(self, content_hash: str, scope: Scope) -> Memory | None:
        """The active memory of this very scope with the same normalized content."""
        ...

    def last_of_session(self, session: str, scope: Scope) -> str | None:
        """The id of the memory stored last in a session of this very scope."""
        ...

    def add(self, memory: Memory, findable: Findable, vector: Embedded | None, because: str) -> None:
        """Write a new memory with its words, its vector and its event."""
        ...

    def change(
        self, new: Memory, verb: Verb, because: str, findable: Findable | None = None, related: str = ""
    ) -> None:
        """Replace a memory's record; the event names the fields that differ. `findable` re-indexes it.

        A new content makes the old vectors wrong: they are dropped until `embed` brings the new one.
        """
        ...

    def embed(self, memory_id: str, vector: Embedded) -> None:
        """Set a memory's vector in a space. Writes no event: a vector is derived from the content."""
        ...

    def relate(self, edge: Edge, because: str) -> None:
        """Add an edge, or reinforce the one that is there. Raises CycleRefused for the acyclic types.

        A `next` edge writes no event: it says only in which order two memories of a session came.
        """
        ...

    def draw(self, edges: Sequence[Edge], most: int) -> None:
        """Add edges that follow from what memories say, but for those that are there.

        Writes no event: like a vector, such an edge is derived from the contents. A memory to which `most`
        edges lead gets no more of them.
        """
        ...

    def confirm(self, ids: Sequence[str], types: Iterable[EdgeType], gain: float) -> None:
        """Let the edges of these types among these memories gain confidence: they proved themselves.

        Writes no event: it is a use, as in `touch`.
        """
        ...

    def naming(self, name: str, scope: Scope, limit: int, common: int) -> tuple[int, list[str]]:
        """How many memories have this name, up to `common` and one, and the latest in this very scope.

        The latest are the ids of active memories; none of a name that is more common than that.
        """
        ...

    def hanging_on(self, fact: Fact, scope: Scope, limit: int) -> list[str]:
        """Active memories of this very scope that go on where a fact ends, or end where it begins."""
        ...

    def unrelate(self, source: str, target: str, edge_type: EdgeType, because: str) -> bool:
        """Take an edge away; whether there was one."""
        ...

    def touch(self, ids: Sequence[str], at: datetime, session: str) -> None:
        """Count a use of each: accesses, last access, distinct sessions. Use is logged, it is no event."""
        ...

    def opine(self, memory_id: str, *, helpful: bool, question: Embedded | None, because: str) -> None:
        """Keep feedback and count it on the memory."""
        ...

    def log(self, turns: Sequence[Turn]) -> tuple[Waiting, int]:
        """Add turns of one scope to the raw log but for those whose id their session knows.

        What waits in the scope now, counted up to a limit, and how many of the turns were new.
        """
        ...

    def captured(self, turns: Sequence[Turn], at: datetime) -> int:
        """Say that memories were made of these turns: they wait no longer. How many of them still did."""
        ...

    def come_from(self, memory_id: str, turns: Sequence[int]) -> None:
        """Say which turns (by key) a memory came from; erasing the memory erases their words too."""
        ...

    def end_fact(self, memory_id: str, fact: Fact, at: datetime) -> None:
        """Say until when a fact of a memory held."""
        ...

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name; an entity of that name becomes part of it."""
        ...

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for an entity of its own again; whether it was an alias."""
        ...

    def came(self, memory_id: str, scope: Scope, origin: str, digest: str) -> None:
        """Keep where an imported memory came from; the origin's former memory is forgotten here only."""
        ...

    def left(self, scope: Scope, origins: Sequence[str]) -> None:
        """Drop origins that are no more."""
        ...

    def erase(self, memory_id: str, because: str) -> None:
        """Remove a memory, its words, vectors, edges, feedback, log and the turns it came from.

        The ledger keeps the bare fact.
        """
        ...
