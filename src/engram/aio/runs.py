# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Runs`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Sequence

from engram.aio.threads import Threads
from engram.nouns.runs import Completed, Learned, Runs, StepGiven


class AsyncRuns:
    """`Runs` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Runs, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def learn(
        self, name: str, steps: Sequence[StepGiven], *, outcome: str = "success", result: str = ""
    ) -> Learned:
        """Keep how a flow ran: one procedure for each flow, which counts its runs and knows the last one."""
        return await self._threads.run(self._inner.learn, name, steps, outcome=outcome, result=result)

    async def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ()) -> Completed:
        """End a project: keep what it came to and taught, and let everybody know what proved itself.

        Raises AccessDenied unless the caller may write where everybody reads.
        """
        return await self._threads.run(self._inner.complete, project, summary, lessons=lessons)
