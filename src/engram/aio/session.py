# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Session`: the same verbs, awaited."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from engram.aio.runs import AsyncRuns
from engram.aio.session_turn import AsyncSessionTurn
from engram.aio.threads import Opening, Threads, beginning
from engram.model.session import Origin, Restored, SessionInfo, Slot
from engram.nouns.session import Session
from engram.session.state import Said

if TYPE_CHECKING:
    from datetime import datetime

    from engram.model.observation import Observation
    from engram.model.scope import Scope


class AsyncSession:
    """`Session` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Session, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    @property
    def id(self) -> str:
        """What it goes by, also in the log of turns."""
        return self._inner.id

    @property
    def agent(self) -> str:
        """Whose session it is; empty: nobody's in particular."""
        return self._inner.agent

    @property
    def model(self) -> str:
        """The language model whose budget it keeps; empty: one of common size."""
        return self._inner.model

    @property
    def scope(self) -> Scope:
        """Where what is learned here belongs."""
        return self._inner.scope

    @property
    def restored(self) -> Restored:
        """How much of it came back when it woke."""
        return self._inner.restored

    async def named(self, agent: str, model: str) -> None:
        """Let it be another agent's, or run with another model, from the next turn on."""
        await self._threads.run(self._inner.named, agent, model)

    def turn(self, message: str, *, system: str = "", budget: int | None = None) -> Opening[AsyncSessionTurn]:
        """A turn for a message: a user's, a task, the input of a step, a round, a delegation.

        `system` is the agent's own prompt; `budget` the tokens the whole prompt may have, if not the model's.
        """
        return beginning(
            AsyncSessionTurn, self._threads, self._inner.turn, message, system=system, budget=budget
        )

    async def hold(self, content: str, *, origin: Origin | str = Origin.AGENT, memory: str = "") -> None:
        """Put something on the mind; what has to leave for it is offered to long-term memory."""
        await self._threads.run(self._inner.hold, content, origin=origin, memory=memory)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is on the mind, strongest first."""
        return self._inner.slots

    @property
    def history(self) -> list[Said]:
        """What was said so far, as (part, words), oldest first."""
        return self._inner.history

    @property
    def runs(self) -> AsyncRuns:
        """What came of work: runs of flows as procedures, projects that are complete."""
        return AsyncRuns(self._inner.runs, self._threads)

    async def info(self) -> SessionInfo:
        """What is told of this session."""
        return await self._threads.run(self._inner.info)

    @property
    def used_at(self) -> datetime:
        """When something last happened here."""
        return self._inner.used_at

    @property
    def is_awake(self) -> bool:
        """Whether what it holds is here, and not sealed in the file."""
        return self._inner.is_awake

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""
        return self._inner.is_running

    async def abort(self) -> int:
        """Say to every turn under way that its answer is not wanted; how many there were."""
        return await self._threads.run(self._inner.abort)

    def switch(self, agent: str, *, model: str = "") -> Opening[AsyncSession]:
        """Turn to another agent: what runs here is aborted, this session sleeps, the other's wakes."""
        return beginning(AsyncSession, self._threads, self._inner.switch, agent, model=model)

    async def suspend(self) -> SessionInfo:
        """Go to sleep: what is on the mind is sealed, kept, and wiped here. A turn under way is aborted."""
        return await self._threads.run(self._inner.suspend)

    async def resume(self) -> SessionInfo:
        """Wake up: whole after a short time, weaker after a longer one, anew after a day."""
        return await self._threads.run(self._inner.resume)

    async def end(self) -> Observation | None:
        """Read what waits of this session and forget the rest: nothing of it is kept to come back to."""
        return await self._threads.run(self._inner.end)

    async def wipe(self) -> None:
        """Forget everything here, without keeping it."""
        await self._threads.run(self._inner.wipe)

    async def __aenter__(self) -> Self:
        await self._threads.run(self._inner.__enter__)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._threads.run(self._inner.__exit__, kind, error, trace)
