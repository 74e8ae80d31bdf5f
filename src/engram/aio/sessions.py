# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Sessions`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engram.aio.session import AsyncSession
from engram.aio.threads import Opening, Threads, beginning
from engram.model.observation import Observation
from engram.model.scope import Scope
from engram.model.session import SessionInfo
from engram.nouns.runs import Completed, Learned
from engram.nouns.sessions import Begun, Infos, Sessions


class AsyncSessions:
    """`Sessions` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Sessions, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    def open(
        self, agent: str = "", model: str = "", id: str = "", scope: Scope | None = None
    ) -> Opening[AsyncSession]:
        """A session, awake: the one of this id, the agent's last if it sleeps, or a new one."""
        return beginning(AsyncSession, self._threads, self._inner.open, agent, model, id, scope)

    async def list(self) -> Infos:
        """Every session that is awake or asleep, the last used first."""
        return await self._threads.run(self._inner.list)

    async def get(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """What is told of one session. Raises UnknownSession."""
        return await self._threads.run(self._inner.get, session_id, scope=scope)

    async def start(
        self, *, agent: str = "", model: str = "", id: str = "", scope: Scope | None = None
    ) -> SessionInfo:
        """Start a session, or wake one that sleeps."""
        return await self._threads.run(self._inner.start, agent=agent, model=model, id=id, scope=scope)

    async def turn(
        self,
        session_id: str,
        message: str,
        *,
        system: str = "",
        budget: int | None = None,
        scope: Scope | None = None,
    ) -> Begun:
        """Begin a turn: what is recalled for a message, and the prompt for it. An open one is closed."""
        return await self._threads.run(
            self._inner.turn, session_id, message, system=system, budget=budget, scope=scope
        )

    async def reply(
        self, session_id: str, reply: str = "", *, scope: Scope | None = None
    ) -> Observation | None:
        """End the open turn with what was answered; what was learned of it."""
        return await self._threads.run(self._inner.reply, session_id, reply, scope=scope)

    async def hold(self, session_id: str, content: str, *, scope: Scope | None = None) -> SessionInfo:
        """Put something on the mind of a session."""
        return await self._threads.run(self._inner.hold, session_id, content, scope=scope)

    async def suspend(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """Send a session to sleep: sealed and kept, and wiped here. A turn under way is aborted."""
        return await self._threads.run(self._inner.suspend, session_id, scope=scope)

    async def resume(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """Wake a session that sleeps. Raises UnknownSession."""
        return await self._threads.run(self._inner.resume, session_id, scope=scope)

    async def abort(self, session_id: str, *, scope: Scope | None = None) -> int:
        """Say to the turns under way that their answers are not wanted; how many there were."""
        return await self._threads.run(self._inner.abort, session_id, scope=scope)

    async def end(self, session_id: str, *, scope: Scope | None = None) -> Observation | None:
        """End a session: read what waits of it, keep nothing to come back to."""
        return await self._threads.run(self._inner.end, session_id, scope=scope)

    async def learn(
        self,
        name: str,
        steps: Sequence[str | Mapping[str, Any]],
        *,
        outcome: str = "success",
        result: str = "",
        scope: Scope | None = None,
    ) -> Learned:
        """Keep how a flow ran, as a procedure that counts its runs."""
        return await self._threads.run(
            self._inner.learn, name, steps, outcome=outcome, result=result, scope=scope
        )

    async def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ()) -> Completed:
        """End a project: keep what it came to and taught; what proved itself is for everybody."""
        return await self._threads.run(self._inner.complete, project, summary, lessons=lessons)

    async def sweep(self) -> int:
        """Send to sleep what nobody has used for a while, and drop what slept too long; how many slept."""
        return await self._threads.run(self._inner.sweep)

    async def close(self) -> None:
        """Send every session to sleep. Safe to call twice."""
        await self._threads.run(self._inner.close)
