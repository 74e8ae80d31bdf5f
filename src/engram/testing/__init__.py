"""What to test with: a clock moved by hand, an embedder without weights, a scripted model."""

from __future__ import annotations

from engram.testing.clock import FakeClock
from engram.testing.embedder import HashEmbedder
from engram.testing.ids import sequential_ids
from engram.testing.model_server import ScriptedServer

__all__ = ["FakeClock", "HashEmbedder", "ScriptedServer", "sequential_ids"]
