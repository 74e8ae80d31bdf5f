"""The parts that can be swapped, as small protocols, and `Tools`, the bundle a flow receives.

A *key* is a memory's row number in its store: short, ordered by time of storing, and never shown to a caller.
Channels and indexes speak in keys; everything public speaks in ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.config import Config
    from engram.model.clock import Clock
    from engram.model.event import Event, Verb
    from engram.model.facts import Fact
    from engram.model.filters import Filters
    from engram.model.memory import Memory
    from engram.model.pages import Finding, Page, Stats
    from engram.model.relations import Edge, EdgeType
    from engram.model.scope import Access, Scope
    from engram.model.vectors import Space

    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]

T = TypeVar("T")


# ---------------------------------------------------------------- small values


@dataclass(frozen=True, slots=True)
class View:
    """What a question may find: who asks, and the filters. Every search applies it inside."""

    access: Access
    filters: Filters


@dataclass(frozen=True, slots=True)
class Findable:
    """What a memory is found by: its own words, cues that are not in the content, and the facts it states."""

    terms: tuple[str, ...]
    cues: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector and the space it belongs to."""

    space: Space
    vector: Floats


@dataclass(frozen=True, slots=True)
class Link:
    """An edge as a walk sees it: from one key to another, in the edge's own direction or against it."""

    key: int
    other: int
    type: EdgeType
    forward: bool
    weight: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Reach:
    """An access, resolved to what a store can compare quickly."""

    everything: bool = False
    namespace: int | None = None
    """Number of the namespace that is seen whole."""
    scopes: frozenset[int] = frozenset()
    """Numbers of the scopes that are seen, when not everything is."""


@dataclass(frozen=True, slots=True)
class VectorChanges:
    """What changed in a space since a point: rows new or changed, as parallel arrays, and keys that went."""

    upto: int
    """Ask for changes after this the next time."""
    keys: Keys
    scopes: NDArray[np.int32]
    namespaces: NDArray[np.int32]
    statuses: NDArray[np.int8]
    """Position of the status in `tuple(Status)`."""
    signatures: NDArray[np.uint8] | None
    """One row of packed bits each; None while the space has no centre."""
    gone: Keys
    more: bool = False
    """Whether the answer was cut at the limit."""


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Stored vectors in 8 bits, each with its own scale: `rows[i] * scales[i]` is the vector of `keys[i]`."""

    keys: Keys
    rows: NDArray[np.int8]
    scales: Floats


@dataclass(frozen=True, slots=True)
class Suppression:
    """Somebody said that a memory did not help; the question's vector says in which context."""

    key: int
    space: str
    vector: Floats
    at: datetime


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a part works, in words."""

    ok: bool
    detail: str = ""


# ---------------------------------------------------------------- the store, noun by noun


class Memories(Protocol):
    """The records."""

    def get(self, memory_id: str, access: Access) -> Memory | None:
        """The memory with this full id, in any status, if the caller may see it."""
        ...

    def resolve(self, prefix: str, access: Access) -> str:
        """The full id that begins with `prefix`. Raises NotFound or AmbiguousId."""
        ...

    def read(self, keys: Sequence[int]) -> dict[int, Memory]:
        """The records of keys that a search has already allowed. Missing keys are left out."""
        ...

    def endings(self, keys: Sequence[int], length: int) -> dict[int, str]:
        """The last characters of each content: what it takes to see whether a turn asks something."""
        ...

    def keys(self, ids: Sequence[str]) -> dict[str, int]:
        """The keys of full ids. Missing ids are left out."""
        ...

    def page(self, view: View, limit: int, cursor: str | None = None) -> Page:
        """Newest first. Raises BadCursor."""
        ...

    def select(self, view: View, limit: int) -> Keys | None:
        """All keys the view allows, in order; None when they are more than `limit`."""
        ...

    def allow(self, view: View, keys: Sequence[int]) -> set[int]:
        """Those of the keys that the view allows."""
        ...

    def unembedded(self, space: Space, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories without a vector in this space, by key, beginning after a key."""
        ...

    def by_fact(self, subject: str, predicate: str, scope: Scope, limit: int) -> list[tuple[Memory, Fact]]:
        """Active memories of this very scope that state such a fact, newest first."""
        ...

    def reach(self, access: Access) -> Reach:
        """The access, resolved."""
        ...

    def stats(self, access: Access, space: Space | None) -> Stats:
        """Counts of what the caller may see; pending counts active memories without a vector in `space`."""
        ...


class Texts(Protocol):
    """The text index."""

    def search(self, terms: Sequence[str], view: View, limit: int) -> list[tuple[int, float]]:
        """The best keys for these terms with their BM25 scores, best first."""
        ...

    def score(self, terms: Sequence[str], keys: Sequence[int]) -> dict[int, float]:
        """The BM25 score of given keys, 0.0 where no word fits."""
        ...

    def rarity(self, terms: Sequence[str]) -> dict[str, float]:
        """The inverse document frequency of each term."""
        ...


class Vectors(Protocol):
    """The vectors, space by space."""

    def changes(self, space: Space, after: int, limit: int) -> VectorChanges:
        """What changed after a point, for an index that keeps itself in step."""
        ...

    def rows(self, space: Space, keys: Sequence[int]) -> VectorRows:
        """Stored vectors of these keys; missing keys are left out."""
        ...

    def centre(self, space: Space) -> Floats | None:
        """What signatures of this space are centred on, once the space is large enough to need them."""
        ...

    def sign(self, space: Space, centre: Floats) -> None:
        """Fix the centre of a space and give every row its signature; later rows get theirs at once."""
        ...

    def spaces(self) -> dict[str, int]:
        """Each space's key with the number of its vectors."""
        ...


class Relations(Protocol):
    """The edges."""

    def of(self, memory_id: str, access: Access) -> list[Edge]:
        """Edges from and to a memory; the far ends are visible to the caller too."""
        ...

    def links(self, keys: Sequence[int], types: Iterable[EdgeType], view: View) -> list[Link]:
        """Edges of these types at these keys, in both directions, whose far ends the view allows."""
        ...


class Ledger(Protocol):
    """The events."""

    def events(
        self, memory_id: str | None, access: Access, limit: int, before: str | None = None
    ) -> list[Event]:
        """Newest first, of one memory or of all that the caller may see; `before` is an event to go on from.

        Events of an erased memory stay visible to those who could see the memory.
        """
        ...


class Opinions(Protocol):
    """Feedback that still counts."""

    def against(self, keys: Sequence[int], space: Space, since: datetime) -> list[Suppression]:
        """Suppressions of these keys, made in this space, not older than `since`."""
        ...


class Unit(Protocol):
    """One piece of work inside the writer: reads see its own writes, all of it happens or none.

    Each call that changes a memory appends its event by itself.
    """

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

    def unrelate(self, source: str, target: str, edge_type: EdgeType, because: str) -> bool:
        """Take an edge away; whether there was one."""
        ...

    def touch(self, ids: Sequence[str], at: datetime, session: str) -> None:
        """Count a use of each: accesses, last access, distinct sessions. Use is logged, it is no event."""
        ...

    def opine(self, memory_id: str, *, helpful: bool, question: Embedded | None, because: str) -> None:
        """Keep feedback and count it on the memory."""
        ...

    def erase(self, memory_id: str, because: str) -> None:
        """Remove a memory, its words, vectors, edges, feedback and log; the ledger keeps the bare fact."""
        ...


class Store(Protocol):
    """A bundle of nouns, one way to write, and upkeep."""

    @property
    def memories(self) -> Memories:
        """The records."""
        ...

    @property
    def texts(self) -> Texts:
        """The text index."""
        ...

    @property
    def vectors(self) -> Vectors:
        """The vectors."""
        ...

    @property
    def relations(self) -> Relations:
        """The edges."""
        ...

    @property
    def ledger(self) -> Ledger:
        """The events."""
        ...

    @property
    def opinions(self) -> Opinions:
        """The feedback."""
        ...

    def write(self, work: Callable[[Unit], T], actor: str) -> T:
        """Run the work inside the writer and wait until it is on disk. An exception leaves nothing behind."""
        ...

    def write_later(self, work: Callable[[Unit], object], actor: str) -> None:
        """Hand work over without waiting, for what may be lost (counting a use). A full queue drops it."""
        ...

    def flush(self) -> None:
        """Wait until everything handed over so far is written."""
        ...

    def vacuum(self) -> None:
        """Give freed space back and leave nothing of erased memories in the file or its log."""
        ...

    def check(self) -> list[Finding]:
        """Look for damage and repair what can be rebuilt (text index, counters)."""
        ...

    def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""
        ...


# ---------------------------------------------------------------- the other parts


class Embedder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def space(self) -> Space:
        """Where the vectors of the next call will belong."""
        ...

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row each, of zeros for a text without a known word; and the space they belong to.

        Raises EmbedderDown when no vectors can be made at the moment.
        """
        ...

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question: one vector, and its space. Raises EmbedderDown."""
        ...

    def health(self) -> Health:
        """Whether vectors can be made at the moment."""
        ...


@dataclass(frozen=True, slots=True)
class Noise:
    """How near a question lies to vectors in general: mean and deviation of its cosines with a sample."""

    mean: float
    deviation: float
    sample: int

    def deviations(self, cosine: float) -> float:
        """How far a cosine stands above the noise, in deviations."""
        return (cosine - self.mean) / self.deviation


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What a vector index holds."""

    vectors: int
    mode: str
    """How it searches: exact, signatures …"""
    bytes: int


class VectorIndex(Protocol):
    """Finds the nearest vectors. The store stays the truth; an index catches up with it by itself."""

    def search(self, space: Space, vector: Floats, k: int, view: View) -> list[tuple[int, float]]:
        """The k nearest keys the view allows, with their cosine, best first."""
        ...

    def nearest(self, space: Space, vectors: Floats, k: int, reach: Reach) -> list[list[tuple[int, float]]]:
        """For many vectors at once: the nearest active keys inside a reach (for deduplication)."""
        ...

    def noise(self, space: Space, vector: Floats) -> Noise:
        """How near this question lies to the vectors of its space in general."""
        ...

    def stats(self, space: Space) -> IndexStats:
        """What the index holds of a space."""
        ...

    def settle(self) -> None:
        """Wait for work in the background; called before the store is closed."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """Everything a flow may use. The engine builds it; tests build it from fakes."""

    store: Store
    index: VectorIndex
    embedder: Embedder
    clock: Clock
    config: Config
    new_id: Callable[[], str]
    """Makes the id of a new memory: chance is passed in like time."""
    count_tokens: Callable[[str], int]
