# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Gaps`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Sequence

from engram.aio.threads import Threads
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.model.session import Gap
from engram.nouns.gaps import Found, Gaps


class AsyncGaps:
    """`Gaps` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Gaps, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def list(self, *, limit: int = 50, scope: Scope | None = None) -> Found:
        """Open gaps, the weightiest first."""
        return await self._threads.run(self._inner.list, limit=limit, scope=scope)

    async def get(self, gap_id: str) -> Gap:
        """One open gap by its key or the beginning of it. Raises InvalidInput."""
        return await self._threads.run(self._inner.get, gap_id)

    async def ask(self, session: str = "", *, about: Sequence[str] = (), scope: Scope | None = None) -> Found:
        """The questions to ask now: at most two a session, each once a week; those about `about` first.

        What is given out counts as asked.
        """
        return await self._threads.run(self._inner.ask, session, about=about, scope=scope)

    async def answer(self, gap_id: str, text: str) -> Memory:
        """Remember the answer and close the gap. The memory that holds it now."""
        return await self._threads.run(self._inner.answer, gap_id, text)

    async def dismiss(self, gap_id: str) -> Gap:
        """Close a gap without an answer: it is not asked about again."""
        return await self._threads.run(self._inner.dismiss, gap_id)
