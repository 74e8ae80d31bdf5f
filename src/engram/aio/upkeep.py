# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Upkeep`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from engram.aio.threads import Threads
from engram.config import MaintainConfig
from engram.model.clock import Clock
from engram.model.upkeep import Report, Run, RunKind, Undone
from engram.nouns.upkeep import LISTED, Progress, Upkeep, never


class AsyncUpkeep:
    """`Upkeep` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Upkeep, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = (),
        progress: Progress | None = None,
        stopping: Callable[[], bool] = never,
    ) -> Report:
        """Carry a consolidation out, or go on with one that was cut off. Raises UpkeepBusy."""
        return await self._threads.run(
            self._inner.consolidate,
            dry=dry,
            stages=stages,
            progress=self._threads.told(progress),
            stopping=stopping,
        )

    async def dream(
        self, *, dry: bool = False, progress: Progress | None = None, stopping: Callable[[], bool] = never
    ) -> Report:
        """Replay, link and strengthen memories. Raises UpkeepBusy."""
        return await self._threads.run(
            self._inner.dream, dry=dry, progress=self._threads.told(progress), stopping=stopping
        )

    async def audit(
        self, *, dry: bool = False, progress: Progress | None = None, stopping: Callable[[], bool] = never
    ) -> Report:
        """Let a model look over core and working memories; it may only promote, demote, weigh and merge.

        Every proposal is tried in a sandbox first. Raises ModelNeeded and UpkeepBusy.
        """
        return await self._threads.run(
            self._inner.audit, dry=dry, progress=self._threads.told(progress), stopping=stopping
        )

    async def drift(self, *, dry: bool = False, stopping: Callable[[], bool] = never) -> Report:
        """Doubt memories whose references are dead in the configured directory, and nothing else."""
        return await self._threads.run(self._inner.drift, dry=dry, stopping=stopping)

    @property
    def settings(self) -> MaintainConfig:
        """When memories are maintained."""
        return self._inner.settings

    @property
    def clock(self) -> Clock:
        """The time by which that is."""
        return self._inner.clock

    async def last(self, kind: RunKind) -> datetime | None:
        """When a run of this kind last came to its end."""
        return await self._threads.run(self._inner.last, kind)

    async def runs(self, limit: int = 20) -> list[Run]:
        """The last runs, newest first."""
        return await self._threads.run(self._inner.runs, limit)

    async def report(self, run_id: str, *, limit: int = LISTED, after: int = 0) -> Report:
        """What a run did: counts by rule, and its decisions in order, beginning after a number."""
        return await self._threads.run(self._inner.report, run_id, limit=limit, after=after)

    async def undo(self, run_id: str) -> Undone:
        """Take a whole run back. What somebody has changed since stays. Raises NotUndoable."""
        return await self._threads.run(self._inner.undo, run_id)
