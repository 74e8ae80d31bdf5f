"""The parts that can be swapped, as small protocols, and `Tools`, the bundle a flow receives.

A *key* is a memory's row number in its store: short, ordered by time of storing, and never shown to a caller.
Channels and indexes speak in keys; everything public speaks in ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.ports.bus import Bus, BusWork
from engram.ports.nouns import (
    Entities,
    Facts,
    Ledger,
    Memories,
    Opinions,
    Origins,
    Recalls,
    Relations,
    Spending,
    Texts,
    Tokens,
    Turns,
    Vectors,
)
from engram.ports.parts import (
    Advisor,
    Alone,
    Embedder,
    Finder,
    IndexStats,
    Noise,
    Reranker,
    Tools,
    VectorIndex,
)
from engram.ports.snapshots import Snapshots
from engram.ports.store import Store
from engram.ports.triggers import Triggers
from engram.ports.unit import Unit
from engram.ports.upkeep import Upkeep, UpkeepWork
from engram.ports.values import (
    Embedded,
    Findable,
    Health,
    Lean,
    Link,
    Match,
    Reach,
    Suppression,
    VectorChanges,
    VectorRows,
    View,
)

if TYPE_CHECKING:
    from engram.ports.values import Floats as Floats
    from engram.ports.values import Keys as Keys

__all__ = [
    "Advisor",
    "Alone",
    "Bus",
    "BusWork",
    "Embedded",
    "Embedder",
    "Entities",
    "Facts",
    "Findable",
    "Finder",
    "Health",
    "IndexStats",
    "Lean",
    "Ledger",
    "Link",
    "Match",
    "Memories",
    "Noise",
    "Opinions",
    "Origins",
    "Reach",
    "Recalls",
    "Relations",
    "Reranker",
    "Snapshots",
    "Spending",
    "Store",
    "Suppression",
    "Texts",
    "Tokens",
    "Tools",
    "Triggers",
    "Turns",
    "Unit",
    "Upkeep",
    "UpkeepWork",
    "VectorChanges",
    "VectorIndex",
    "VectorRows",
    "Vectors",
    "View",
]
