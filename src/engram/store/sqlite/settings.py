"""How a file is opened and how much it may have in flight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Everything that can be turned on the SQLite store."""

    busy_timeout_s: float = 10.0
    """How long to wait for another process, and for room in the queue."""
    queue_limit: int = 10_000
    """Most writes that wait at once."""
    group_limit: int = 256
    """Most writes that share one commit."""
    readers: int = 4
    """Connections that read at once; further readers wait for one of them."""
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    """NORMAL survives a killed process, FULL also a power cut, at an fsync for each commit."""
    page_size: int = 4096
    cache_kb: int = 8_192
    """Page cache of each connection."""
    mmap_bytes: int = 0
    """How much of the file to map; not used under a key."""
    read_only: bool = False
    key: bytes | None = field(default=None, repr=False)
    """32 raw bytes turn the file into a vault; derive them from a passphrase once, outside."""
    candidates: int = 200
    """How many memories the text index names before they are ranked by all words."""
    rows_cap: int = 1_500
    """How many matching rows a text search may touch, or `share_cap` of the file if that is more."""
    share_cap: float = 0.005
    cue_weight: float = 0.5
    """What a cue word counts against a word of the content."""
    k1: float = 1.2
    b: float = 0.75
