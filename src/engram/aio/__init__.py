"""The memory for asyncio: every verb of `Engram`, awaited. `scripts/aio.py` writes it from the facade.

    async with AsyncEngram.open() as memory:
        await memory.remember("My editor is Helix")

The work is done by threads, so the event loop never waits for the disk or a model.
"""

from __future__ import annotations

from engram.aio.facade import AsyncEngram as AsyncEngram

__all__ = ["AsyncEngram"]
