# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Commitments`: the same verbs, awaited."""

from __future__ import annotations

from datetime import datetime

from engram.aio.threads import Threads
from engram.model.commitment import Commitment, LoopState
from engram.model.scope import Scope
from engram.nouns.commitments import Closings, Commitments, Loops


class AsyncCommitments:
    """`Commitments` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Commitments, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def open(
        self,
        text: str,
        *,
        due: datetime | str | None = None,
        waiting_on: str = "",
        scope: Scope | None = None,
        session: str = "",
    ) -> Commitment:
        """Open a loop. `due` is a time or words ("by Friday"); when it is not given, the text may name it."""
        return await self._threads.run(
            self._inner.open, text, due=due, waiting_on=waiting_on, scope=scope, session=session
        )

    async def list(
        self, state: LoopState | str | None = None, *, limit: int = 100, scope: Scope | None = None
    ) -> Loops:
        """Loops in a state, oldest first; without one, those that are not closed."""
        return await self._threads.run(self._inner.list, state, limit=limit, scope=scope)

    async def get(self, commitment_id: str) -> Commitment:
        """One loop by its id or the beginning of it. Raises NotFound, also for a memory that is none."""
        return await self._threads.run(self._inner.get, commitment_id)

    async def close(
        self, commitment_id: str, outcome: LoopState | str = "done", *, because: str = ""
    ) -> Commitment:
        """Say how it ended: done or dropped."""
        return await self._threads.run(self._inner.close, commitment_id, outcome, because=because)

    async def wait(self, commitment_id: str, on: str) -> Commitment:
        """Say for whom or what it waits."""
        return await self._threads.run(self._inner.wait, commitment_id, on)

    async def reopen(
        self, commitment_id: str, *, due: datetime | str | None = None, because: str = ""
    ) -> Commitment:
        """Open it again: it was closed too soon, or nobody is waited for any more. `due` moves the day."""
        return await self._threads.run(self._inner.reopen, commitment_id, due=due, because=because)

    async def review(self, *, dry: bool = False, limit: int = 100) -> Closings:
        """Close what a later statement says, beyond doubt, was done; with `dry` only tell."""
        return await self._threads.run(self._inner.review, dry=dry, limit=limit)
