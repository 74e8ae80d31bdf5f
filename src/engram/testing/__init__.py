"""What to test with: a clock moved by hand, an embedder and a store without files, a scripted model."""

from __future__ import annotations

from engram.testing.clock import FakeClock
from engram.testing.embedder import HashEmbedder
from engram.testing.ids import sequential_ids
from engram.testing.memory_store import MemoryStore
from engram.testing.model_server import ScriptedServer

__all__ = ["FakeClock", "HashEmbedder", "MemoryStore", "ScriptedServer", "sequential_ids"]
