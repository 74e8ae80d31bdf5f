# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Conflicts`: the same verbs, awaited."""

from __future__ import annotations

from engram.aio.threads import Threads
from engram.model.memory import Memory
from engram.nouns.conflicts import Conflicts, Found


class AsyncConflicts:
    """`Conflicts` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Conflicts, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def list(self, limit: int = 50) -> Found:
        """Pairs that are still open, those a rule or a person marked first; each pair once."""
        return await self._threads.run(self._inner.list, limit)

    async def resolve(self, id_a: str, id_b: str, keep: str, because: str = "") -> Memory:
        """Settle a pair: keep `a`, keep `b`, keep `both` as they are, or `merge` their words.

        The one that gives way is superseded or merged. Returns the memory that stands (of both, the first).
        """
        return await self._threads.run(self._inner.resolve, id_a, id_b, keep, because)

    async def review(self, limit: int = 20) -> Found:
        """Ask a model about open pairs; those it could decide, now settled. Without a model none is."""
        return await self._threads.run(self._inner.review, limit)

    async def ask(self, id_a: str, id_b: str) -> bool:
        """Ask a model about one pair; whether it was settled. What it finds contradictory stays open."""
        return await self._threads.run(self._inner.ask, id_a, id_b)
