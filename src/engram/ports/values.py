"""Small values that parts hand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.model.entity import Named
    from engram.model.facts import Fact
    from engram.model.filters import Filters
    from engram.model.relations import EdgeType
    from engram.model.scope import Access
    from engram.model.vectors import Space

    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class View:
    """What a question may find: who asks, and the filters. Every search applies it inside."""

    access: Access
    filters: Filters


@dataclass(frozen=True, slots=True)
class Findable:
    """What a memory is found by: its own words, cues that are not in the content, facts, and names."""

    terms: tuple[str, ...]
    cues: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    names: tuple[Named, ...] = ()


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
    drawn_at: datetime | None = field(default=None, compare=False)
    """When it was drawn or confirmed last: how sure it still is depends on it. None: does not matter."""


@dataclass(frozen=True, slots=True)
class Match:
    """What the words of a memory say to a question."""

    terms: Mapping[str, float]
    """The BM25 of each asked term that it has."""
    length: int
    """How many terms it has in all."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Lean:
    """Where a talk has been going, and how much of it a question takes along."""

    space: Space
    vector: Floats
    """Of unit length."""
    share: float
    """From 0, nothing, to 1, nothing else."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Words of the talk, as the text index writes them, with what each counts, up to 1."""


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
