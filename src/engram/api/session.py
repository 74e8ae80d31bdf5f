"""A session: turns come in one after the other; each goes out with its context and is listened to.

  resolve → pre-recall → build → execute (the caller's) → post-capture → clean up

The same six steps serve a chat, a task, a step of a flow, a round of an orchestrator and a delegation:

    with memory.session(agent="rex", model="gpt-4o") as session:
        with session.turn("ok, deploy it") as turn:
            turn.reply = call_my_model(turn.context.messages)
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Self

from engram.api import gaps
from engram.api.contexts import PromptOptions
from engram.api.recalling import QUERY_LIMIT
from engram.api.session_services import AGES, Runs, SessionServices
from engram.errors import AccessDenied, TurnAborted, TurnNotBegun
from engram.lazily import dataclass
from engram.model.capture import Part
from engram.model.clock import zone_of
from engram.model.context import Message, Sections
from engram.model.plain import member
from engram.model.recall import Question, Recall
from engram.model.session import (
    Gap,
    Origin,
    Restored,
    SessionInfo,
    Slot,
    Snapshot,
    TopicChange,
    snapshot_about,
)
from engram.rules import screen
from engram.rules.sealing import NONCE_BYTES, seal, unseal
from engram.session import following
from engram.session.following import PreparedRecall
from engram.session.state import Spoken, State, bring_back, to_bytes

if TYPE_CHECKING:
    from datetime import datetime

    from engram.model.capture import Observation
    from engram.model.context import Context
    from engram.model.scope import Scope
    from engram.session.following import HeardExchange

PREPARED = 100  # memories prepared for the next message (measured)


# ---------------------------------------------------------------- session turn
# A turn of a session under way: what was recalled and built for a message, and the answer it gets.
#
# Made by `Session.turn`. Used in a `with` block, or by `begin` and `finish`.


@dataclass(slots=True)
class TurnSteps:
    """What the steps of a turn have come to so far."""

    recalled: Recall | None = None
    context: Context | None = None
    change: TopicChange = TopicChange.CONTINUATION
    questions: tuple[Gap, ...] = ()
    anticipated: bool = False
    exchange: HeardExchange | None = None
    """Where the answer belongs; None before the turn began and once it is over."""
    observed: Observation | None = None


class SessionTurn:
    """One turn under way. Made by `Session.turn`; used in a `with` block, or by `begin` and `finish`."""

    def __init__(self, message: str, system: str, budget: int | None, session: Session) -> None:
        self._session = session
        self._message = screen.readable("message", message)
        self._system, self._budget = system, budget
        self._steps = TurnSteps()
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
    def change(self) -> TopicChange:
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
            raise TurnAborted(self._session.id)

    def begin(self) -> None:
        """Resolve, recall and build; afterwards `context` is there."""
        try:
            self._steps = self._session._begin(self)  # noqa: SLF001 - a turn of its own, as below
            self._steps.context = self._session._build(self)  # noqa: SLF001
        except BaseException:
            self._session._leave(self)  # noqa: SLF001
            raise

    def finish(self) -> Observation | None:
        """Listen to the exchange and clean up; the next recall is prepared. Safe to call twice."""
        if self._steps.exchange is not None:
            exchange, self._steps.exchange = self._steps.exchange, None
            self._steps.observed = self._session._finish(self, exchange)  # noqa: SLF001
        return self._steps.observed

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()


LIVE, RUNNING, SUSPENDED = "live", "running", "suspended"
PREPARED_FROM = 1_000
"""So many characters of a message and of its answer tell what may come next."""


@dataclass(frozen=True, slots=True)
class Ties:
    """What a session calls upon where all of them are known."""

    turn_to: Callable[[Session, str, str], Session]
    """From this one to another agent's, with another model."""
    woken: Callable[[Session], None]


class Session:
    """What lives between the turns of one conversation. Any thread may use it; turns may run side by side."""

    def __init__(
        self, parts: SessionServices, id: str, agent: str, model: str, scope: Scope, ties: Ties
    ) -> None:
        self._id, self._agent, self._model, self._scope = id, agent, model, scope
        self._timezone = ""
        self._restored = Restored.NEW
        self._parts = parts
        self._ties = ties
        self._lock = RLock()
        self._state: State | None = None
        self._running: list[SessionTurn] = []
        self._used_at = parts.now
        self._saved_at: datetime | None = None
        """Of the snapshot that it was kept in or came from last."""

    @property
    def id(self) -> str:
        """What it goes by, also in the log of turns."""
        return self._id

    @property
    def agent(self) -> str:
        """Whose session it is; empty: nobody's in particular."""
        return self._agent

    @property
    def model(self) -> str:
        """The language model whose budget it keeps; empty: one of common size."""
        return self._model

    @property
    def scope(self) -> Scope:
        """Where what is learned here belongs."""
        return self._scope

    @property
    def restored(self) -> Restored:
        """How much of it came back when it woke."""
        return self._restored

    def named(self, agent: str, model: str, timezone: str = "") -> None:
        """Let it be another agent's, run with another model or talk elsewhere, from the next turn on."""
        self._agent, self._model = agent or self._agent, model or self._model
        self._timezone = timezone or self._timezone

    @property
    def timezone(self) -> str:
        """Where whoever talks here is; empty: as the caller or the settings say."""
        return self._timezone

    # ------------------------------------------------------------ turns

    def turn(self, message: str, *, system: str = "", budget: int | None = None) -> SessionTurn:
        """A turn for a message: a user's, a task, the input of a step, a round, a delegation.

        `system` is the agent's own prompt; `budget` the tokens the whole prompt may have, if not the model's.
        """
        return SessionTurn(message, system, budget, self)

    def hold(self, content: str, *, origin: Origin | str = Origin.AGENT, memory: str = "") -> None:
        """Put something on the mind; what has to leave for it is offered to long-term memory.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        kind: Origin = member("origin", Origin, origin)
        words = screen.content(content)
        with self._lock:
            gone = self._awake().hold(words, kind, self._parts.now, memory)
        self._parts.offer(gone, self.id, self.scope)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is on the mind, strongest first."""
        with self._lock:
            return self._awake().working.slots

    @property
    def history(self) -> list[Spoken]:
        """What was said so far, as (part, words), oldest first."""
        with self._lock:
            return self._awake().history

    @cached_property
    def runs(self) -> Runs:
        """What came of work: runs of flows as procedures, projects that are complete."""
        return Runs(self._parts.caller, self.scope, self.id)

    def info(self) -> SessionInfo:
        """What is told of this session."""
        with self._lock:
            state = self._state
            named = (self.id, self.agent, self.model, self.scope)
            if state is None:
                return SessionInfo(*named, SUSPENDED, self._used_at, restored=self.restored)
            return SessionInfo(
                *named,
                RUNNING if self._running else LIVE,
                self._used_at,
                turns=state.turns,
                slots=state.working.slots,
                topic=state.verdict.change,
                confidence=state.momentum.confidence if state.momentum else 0.0,
                anticipated=state.anticipation.counted,
                restored=self.restored,
            )

    # ------------------------------------------------------------ its life

    @property
    def used_at(self) -> datetime:
        """When something last happened here."""
        return self._used_at

    @property
    def is_awake(self) -> bool:
        """Whether what it holds is here, and not sealed in the file."""
        return self._state is not None

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""
        return bool(self._running)

    def abort(self) -> int:
        """Say to every turn under way that its answer is not wanted; how many there were."""
        with self._lock:
            running, self._running = self._running, []
            for turn in running:
                turn.abort()
        return len(running)

    def switch(self, agent: str, *, model: str = "") -> Session:
        """Turn to another agent: what runs here is aborted, this session sleeps, the other's wakes."""
        return self._ties.turn_to(self, agent, model)

    def suspend(self) -> SessionInfo:
        """Go to sleep: what is on the mind is sealed, kept, and wiped here. A turn under way is aborted."""
        self.abort()
        with self._lock:
            state, self._state = self._state, None
            if state is not None:
                with suppress(AccessDenied):  # the file itself was opened for reading: nothing is kept
                    self._save(state)
                state.wipe()
        return self.info()

    def keep(self) -> None:
        """Let other engines that share the store go on from here. Where there are none it does nothing."""
        if self._parts.caller.tools.store.is_shared:
            with self._lock, suppress(AccessDenied):  # it was opened for reading
                if self._state is not None:
                    self._save(self._state, awake=True)

    @property
    def is_overtaken(self) -> bool:
        """Whether another engine went on with it: what is on its mind here is not what was said last."""
        store = self._parts.caller.tools.store
        snapshot = store.snapshots.get(self.id, self.scope) if store.is_shared else None
        return snapshot is not None and snapshot.saved_at != self._saved_at

    def resume(self) -> SessionInfo:
        """Wake up: whole after a short time, weaker after a longer one, anew after a day."""
        with self._lock:
            self._awake()
        return self.info()

    def end(self) -> Observation | None:
        """Read what waits of this session and forget the rest: nothing of it is kept to come back to."""
        self.abort()
        self.wipe()
        if not self._parts.caller.access.may_write(self.scope):
            return None
        self._parts.caller.tools.store.snapshots.remove(self.id, self.scope)
        return self._parts.listening.flush(self.id, self.scope)

    def __enter__(self) -> Self:
        self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        self.suspend()
        if self._parts.caller.access.may_write(self.scope):
            self._parts.listening.flush(self.id, self.scope)

    # ------------------------------------------------------------ the six steps

    def _begin(self, turn: SessionTurn) -> TurnSteps:
        """Resolve and pre-recall."""
        parts, message, steps = self._parts, turn.message, TurnSteps()
        meaning, names = parts.meaning(message), following.names_in(message)
        most = parts.limit(self.model, turn.budget)
        question = self._question(message, most)
        with self._lock:
            state = self._awake()
            lean = state.lean(message)
            steps.exchange, gone = state.hear(message, meaning, parts.now)
            steps.change = state.verdict.change
            lean = None if steps.change is TopicChange.SWITCH else lean
            prepared = (
                None
                if meaning is None
                else state.anticipation.take(meaning.space, meaning.whole, names, parts.now)
            )
            self._running.append(turn)
            self._used_at = parts.now
        steps.anticipated = prepared is not None
        steps.recalled = answer = parts.recall(question, lean, prepared)
        with self._lock:
            if self._state is state:
                state.working.drop(parts.present(state.working.slots, self.scope))
                gone += state.notice(answer.hits, parts.now)
                steps.questions = self._questions(state, names)
        parts.offer(gone, self.id, self.scope)
        return steps

    def _build(self, turn: SessionTurn) -> Context:
        before = [Message(Part(part), words) for part, words in self.history[:-1]]
        wanted = PromptOptions(
            turn.message,
            model=self.model,
            system=turn.system,
            history=before,
            budget=turn.budget,
            session=self.id,
            scope=self.scope,
            sections=Sections(working=self.slots),
            hits=turn.recalled.hits,
        )
        return self._parts.contexts.make(wanted)

    def _question(self, message: str, limit: int) -> Question:
        """A message as a question to long-term memory."""
        caller = self._parts.caller
        settings, access = caller.tools.config.recall, caller.at(self.scope)
        return Question(
            text=screen.readable("message", message)[:QUERY_LIMIT],
            access=replace(access, timezone=self.timezone or access.timezone),
            limit=limit,
            profile=settings.profile,
            rerank=settings.rerank,
            session=self.id,
        )

    def _finish(self, turn: SessionTurn, exchange: HeardExchange) -> Observation | None:
        """Post-capture and clean up. Of a turn that was aborted only the message was said."""
        self._leave(turn)
        reply = "" if turn.aborted else turn.reply
        observed = self._observe(turn.message, reply)
        meaning = self._parts.meaning(reply)
        with self._lock:
            state = self._state
            if state is not None:
                state.waits = False
                if reply:
                    state.answer(exchange, reply, meaning)
            self._used_at = self._parts.now
        if state is not None and not turn.aborted:
            self._prepare(state, turn.message, reply)
        return observed

    def _observe(self, message: str, reply: str) -> Observation | None:
        """Listen to an exchange; None when the caller may not write."""
        if not self._parts.caller.access.may_write(self.scope):
            return None
        listening, now = self._parts.listening, self._parts.now
        said_at = now.astimezone(zone_of(self.timezone)) if self.timezone else None
        setting = listening.setting(self.id, said_at, self.scope, "", "")
        turns = listening.words(message or None, reply or None, setting)
        with suppress(AccessDenied):  # the file itself was opened for reading
            return listening.hear(turns) if turns else None
        return None

    def finish_waiting(self, reply: str) -> Observation | None:
        """End a turn that another engine began; None when no message waits for its answer."""
        with self._lock:
            state = None if self._running else self._state
            exchange = state.buffer.last() if state is not None and state.waits else None
        if exchange is None:
            return None
        turn = self.turn(exchange.message.text)
        turn.reply = reply
        return self._finish(turn, exchange)

    def _leave(self, turn: SessionTurn) -> None:
        with self._lock:
            self._running = [one for one in self._running if one is not turn]

    def _prepare(self, state: State, message: str, reply: str) -> None:
        """Recall what the next message may need, while the caller reads the answer."""
        parts = self._parts
        with self._lock:
            momentum, names = state.momentum, state.buffer.named()
        if momentum is None:
            return
        lean = momentum.lean(1.0, {})
        most = max(PREPARED, parts.limit(self.model, None))
        words = f"{message[:PREPARED_FROM]}\n{reply[:PREPARED_FROM]}".strip()
        answer = parts.prepare(self._question(words, most), lean)
        known = {name.lower() for hit in answer.hits for name in following.names_in(hit.memory.content)}
        known |= {name.lower() for name in (*names, *following.names_in(reply))}
        ids = tuple(hit.memory.id for hit in answer.hits)
        ready = PreparedRecall(momentum.space, momentum.ahead(), ids, parts.now, frozenset(known))
        with self._lock:
            if self._state is state:
                state.anticipation.prepare(ready)

    def _questions(self, state: State, names: Sequence[str]) -> tuple[Gap, ...]:
        caller = self._parts.caller
        most = caller.tools.config.session.questions
        if state.asked >= most:
            return ()
        open_, due = gaps.of_place(caller, self.scope), partial(gaps.is_due, caller)
        chosen = following.choose_questions(open_, names, state.asked, due, most)
        if chosen and caller.access.may_write(self.scope):
            gaps.note_asked(caller, chosen, self.id)
        state.asked += len(chosen)
        return tuple(chosen)

    # ------------------------------------------------------------ sleeping and waking

    def _awake(self) -> State:
        """The state, brought back if it sleeps. The lock is held."""
        if self._state is None:
            self._state = self._parts.state()
            self._restored = self._restore(self._state)
            self._used_at = self._parts.now
            self._ties.woken(self)
        return self._state

    def _restore(self, state: State) -> Restored:
        parts, now = self._parts, self._parts.now
        snapshot = parts.caller.tools.store.snapshots.get(self.id, self.scope)
        restored = Restored.NEW
        if snapshot is not None:
            restored, self._saved_at = Restored.FRESH, snapshot.saved_at
            body = unseal(snapshot.body, parts.caller.tools.store.snapshots.key(), self._about)
            if body is not None:
                restored = bring_back(state, body, now - snapshot.saved_at, AGES, now)
                body[:] = bytes(len(body))
            self._agent, self._model = self._agent or snapshot.agent, self._model or snapshot.model
            self._timezone = self._timezone or state.timezone
        if restored in {Restored.NEW, Restored.FRESH}:
            for slot in parts.morning(self.scope):
                state.working.put(slot)
        state.working.drop(parts.present(state.working.slots, self.scope))
        return restored

    def _save(self, state: State, *, awake: bool = False) -> None:
        if not self._parts.caller.access.may_write(self.scope):
            return
        slots, state.timezone = state.working.slots, self._timezone
        body, key = to_bytes(state), self._parts.caller.tools.store.snapshots.key()
        hidden = seal(body, key, secrets.token_bytes(NONCE_BYTES), self._about)
        body[:] = bytes(len(body))
        snapshot = Snapshot(
            session=self.id,
            agent=self.agent,
            model=self.model,
            scope=self.scope,
            saved_at=self._parts.now,
            turns=state.turns,
            slots=len(slots),
            memories=tuple(slot.memory for slot in slots if slot.memory),
            body=hidden,
            awake=awake,
        )
        self._saved_at = snapshot.saved_at
        self._parts.caller.tools.store.snapshots.put(snapshot)

    @property
    def _about(self) -> str:
        return snapshot_about(self.id, self.scope)

    def wipe(self) -> None:
        """Forget everything here, without keeping it."""
        with self._lock:
            state, self._state = self._state, None
            if state is not None:
                state.wipe()
