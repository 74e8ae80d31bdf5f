"""A turn of a session under way: what was recalled and built for a message, and the answer it gets.

Made by `Session.turn`. Used in a `with` block, or by `begin` and `finish`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engram.capture import screen
from engram.errors import TurnAborted, TurnNotBegun
from engram.model.recall import Recall
from engram.model.session import Change, Gap

if TYPE_CHECKING:
    from engram.model.context import Context
    from engram.model.observation import Observation
    from engram.session.sensory import Exchange


@dataclass(slots=True)
class Steps:
    """What the steps of a turn have come to so far."""

    recalled: Recall | None = None
    context: Context | None = None
    change: Change = Change.CONTINUATION
    questions: tuple[Gap, ...] = ()
    anticipated: bool = False
    exchange: Exchange | None = None
    """Where the answer belongs; None before the turn began and once it is over."""
    observed: Observation | None = None


@dataclass(frozen=True, slots=True)
class Doing:
    """What the session does for its turns, step by step."""

    session: str
    """Its id."""
    begin: Callable[[SessionTurn], Steps]
    build: Callable[[SessionTurn], Context]
    finish: Callable[[SessionTurn, Exchange], Observation | None]
    leave: Callable[[SessionTurn], None]


class SessionTurn:
    """One turn under way. Made by `Session.turn`; used in a `with` block, or by `begin` and `finish`."""

    def __init__(self, message: str, system: str, budget: int | None, doing: Doing) -> None:
        self._doing = doing
        self._message = screen.readable("message", message)
        self._system, self._budget = system, budget
        self._steps = Steps()
        self._reply = ""
        self._aborted = False

    @property
    def message(self) -> str:
        """What it answers."""
        return self._message

    @property
    def system(self) -> str:
        """The agent's own prompt."""
        return self._system

    @property
    def budget(self) -> int | None:
        """The tokens that the prompt may have; None: as many as the model has room for."""
        return self._budget

    @property
    def recalled(self) -> Recall:
        """What was found in long-term memory for the message. Raises TurnNotBegun."""
        if self._steps.recalled is None:
            raise TurnNotBegun
        return self._steps.recalled

    @property
    def context(self) -> Context:
        """The prompt for the model: within its budget, with what helps. Raises TurnNotBegun."""
        if self._steps.context is None:
            raise TurnNotBegun
        return self._steps.context

    @property
    def change(self) -> Change:
        """What the message does to the topic."""
        return self._steps.change

    @property
    def questions(self) -> tuple[Gap, ...]:
        """What would be good to ask now, if there is room for it."""
        return self._steps.questions

    @property
    def anticipated(self) -> bool:
        """Whether what was recalled had been prepared."""
        return self._steps.anticipated

    @property
    def observed(self) -> Observation | None:
        """What was learned of the exchange, once it is over."""
        return self._steps.observed

    @property
    def reply(self) -> str:
        """What was answered. Set it: it is listened to, and the next turn knows it."""
        return self._reply

    @reply.setter
    def reply(self, words: str) -> None:
        self._reply = screen.readable("reply", words)

    def answer(self, reply: str) -> None:
        """Say what was answered; the same as setting `reply`."""
        self.reply = reply

    @property
    def aborted(self) -> bool:
        """Whether somebody turned to another agent meanwhile: ask now and then in a long run."""
        return self._aborted

    def abort(self) -> None:
        """Say that the answer is no longer wanted."""
        self._aborted = True

    def check(self) -> None:
        """Raises TurnAborted if the answer is no longer wanted."""
        if self._aborted:
            raise TurnAborted(self._doing.session)

    def begin(self) -> None:
        """Resolve, recall and build; afterwards `context` is there."""
        try:
            self._steps = self._doing.begin(self)
            self._steps.context = self._doing.build(self)
        except BaseException:
            self._doing.leave(self)
            raise

    def finish(self) -> Observation | None:
        """Listen to the exchange and clean up; the next recall is prepared. Safe to call twice."""
        if self._steps.exchange is not None:
            exchange, self._steps.exchange = self._steps.exchange, None
            self._steps.observed = self._doing.finish(self, exchange)
        return self._steps.observed

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish()
