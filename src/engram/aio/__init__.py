"""The memory for asyncio: every verb of `Engram`, awaited. `scripts/aio.py` writes its types from the facade.

    async with AsyncEngram.open() as memory:
        await memory.remember("My editor is Helix")

The work is done by threads, so the event loop never waits for the disk or a model.
"""

from __future__ import annotations

from engram.aio.proxy import twin_of
from engram.engine import Engram

AsyncEngram = twin_of(Engram)

__all__ = ["AsyncEngram"]
