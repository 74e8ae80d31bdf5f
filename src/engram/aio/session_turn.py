# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `SessionTurn`: the same verbs, awaited."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from engram.aio.threads import Threads
from engram.model.recall import Recall
from engram.model.session import Change, Gap
from engram.nouns.session_turn import SessionTurn

if TYPE_CHECKING:
    from engram.model.context import Context
    from engram.model.observation import Observation


class AsyncSessionTurn:
    """`SessionTurn` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: SessionTurn, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    @property
    def message(self) -> str:
        """What it answers."""
        return self._inner.message

    @property
    def system(self) -> str:
        """The agent's own prompt."""
        return self._inner.system

    @property
    def budget(self) -> int | None:
        """The tokens that the prompt may have; None: as many as the model has room for."""
        return self._inner.budget

    @property
    def recalled(self) -> Recall:
        """What was found in long-term memory for the message. Raises TurnNotBegun."""
        return self._inner.recalled

    @property
    def context(self) -> Context:
        """The prompt for the model: within its budget, with what helps. Raises TurnNotBegun."""
        return self._inner.context

    @property
    def change(self) -> Change:
        """What the message does to the topic."""
        return self._inner.change

    @property
    def questions(self) -> tuple[Gap, ...]:
        """What would be good to ask now, if there is room for it."""
        return self._inner.questions

    @property
    def anticipated(self) -> bool:
        """Whether what was recalled had been prepared."""
        return self._inner.anticipated

    @property
    def observed(self) -> Observation | None:
        """What was learned of the exchange, once it is over."""
        return self._inner.observed

    @property
    def reply(self) -> str:
        """What was answered. Set it: it is listened to, and the next turn knows it."""
        return self._inner.reply

    @reply.setter
    def reply(self, words: str) -> None:
        self._inner.reply = words

    async def answer(self, reply: str) -> None:
        """Say what was answered; the same as setting `reply`."""
        await self._threads.run(self._inner.answer, reply)

    @property
    def aborted(self) -> bool:
        """Whether somebody turned to another agent meanwhile: ask now and then in a long run."""
        return self._inner.aborted

    async def abort(self) -> None:
        """Say that the answer is no longer wanted."""
        await self._threads.run(self._inner.abort)

    async def check(self) -> None:
        """Raises TurnAborted if the answer is no longer wanted."""
        await self._threads.run(self._inner.check)

    async def begin(self) -> None:
        """Resolve, recall and build; afterwards `context` is there."""
        await self._threads.run(self._inner.begin)

    async def finish(self) -> Observation | None:
        """Listen to the exchange and clean up; the next recall is prepared. Safe to call twice."""
        return await self._threads.run(self._inner.finish)

    async def __aenter__(self) -> Self:
        await self._threads.run(self._inner.__enter__)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._threads.run(self._inner.__exit__, kind, error, trace)
