"""Sessions: who is talking with whom. `memory.sessions` starts, lists, suspends and resumes them.

A door that cannot hold a `with` block open speaks of a session by its id: start, turn, reply, and so on.
A session that nobody uses for half an hour goes to sleep by itself: sealed, kept, and wiped here.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from threading import RLock, Timer
from typing import TYPE_CHECKING, Any

from engram.api.contexts import Contexts
from engram.api.session import SUSPENDED, Session, SessionTurn, Ties
from engram.api.session_services import AGES, Completed, Learned, Runs, SessionServices
from engram.errors import AccessDenied, EngramError, UnknownSession
from engram.lazily import dataclass
from engram.model.capture import Ending, Observation
from engram.model.context import Context
from engram.model.scope import Scope
from engram.model.session import Gap, SessionInfo, Snapshot, TopicChange
from engram.rules import screen

if TYPE_CHECKING:
    from engram.api.caller import CallerContext
    from engram.api.recalling import Recalling
    from engram.api.remembering import Listening


Place = tuple[Scope, str]
Infos = list[SessionInfo]


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn that has begun: what a caller from outside needs to answer it."""

    session: str
    messages: tuple[Mapping[str, str], ...]
    """The prompt in the shape that chat services take, the system prompt first."""
    context: Context
    topic: TopicChange
    questions: tuple[Gap, ...]
    anticipated: bool


AWAKE_MOST = 1_000
"""Sessions of one caller that are awake at once."""
IDLE = timedelta(minutes=30)
"""Without a turn for so long a session goes to sleep (cortex)."""


class Sessions:
    """The sessions of one caller. Any thread may use it."""

    def __init__(self, caller: CallerContext, listening: Listening, recalling: Recalling) -> None:
        contexts = Contexts(caller, recalling)
        self._parts = SessionServices(caller, listening, recalling, contexts)
        self._live: dict[Place, Session] = {}
        self._turns: dict[Place, SessionTurn] = {}
        self._lock = RLock()
        self._ties = Ties(self._turn_to, self._woken)
        self._alarm: Timer | None = None
        self._expired_at: datetime | None = None
        self._closed = False

    def open(
        self, agent: str = "", model: str = "", id: str = "", scope: Scope | None = None, timezone: str = ""
    ) -> Session:
        """A session, awake: the one of this id, the agent's last if it sleeps, or a new one."""
        zone = screen.timezone("timezone", timezone)
        for field, value in (("agent", agent), ("model", model), ("session", id)):
            screen.name(field, value)
        self.sweep()
        place = self._place(agent, scope)
        with self._lock:
            name = id or self._asleep(agent, place) or f"{agent or 'session'}-{uuid.uuid4().hex[:12]}"
            session = self._live.get((place, name))
            if session is None:
                session = Session(self._parts, name, agent, model, place, self._ties)
                self._live[place, name] = session
            session.named(agent, model, zone)
        session.resume()
        self._ring_later()
        self._expire()
        return session

    def list(self) -> Infos:
        """Every session that is awake or asleep, the last used first."""
        self.sweep()
        with self._lock:
            live = dict(self._live)
        awake = {place: session.info() for place, session in live.items()}
        asleep = {
            (snapshot.scope, snapshot.session): SessionInfo(
                snapshot.session,
                snapshot.agent,
                snapshot.model,
                snapshot.scope,
                SUSPENDED,
                snapshot.saved_at,
                snapshot.turns,
            )
            for snapshot in self._kept()
        }
        known = {**asleep, **{place: info for place, info in awake.items() if info.state != SUSPENDED}}
        return sorted(known.values(), key=lambda one: (one.used_at, one.id), reverse=True)

    def get(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """What is told of one session. Raises UnknownSession."""
        for info in self.list():
            if info.id == session_id and scope in (None, info.scope):
                return info
        raise UnknownSession(session_id)

    def start(
        self,
        *,
        agent: str = "",
        model: str = "",
        id: str = "",
        scope: Scope | None = None,
        timezone: str = "",
    ) -> SessionInfo:
        """Start a session, or wake one that sleeps. `timezone` says where its user is."""
        session = self.open(agent, model, id, scope, timezone)
        session.keep()
        return session.info()

    def turn(
        self,
        session_id: str,
        message: str,
        *,
        system: str = "",
        budget: int | None = None,
        scope: Scope | None = None,
    ) -> Begun:
        """Begin a turn: what is recalled for a message, and the prompt for it. An open one is closed.

        Raises UnknownSession, AccessDenied, InvalidInput.
        """
        session = self._session(session_id, scope)
        self._close_turn(session)
        turn = session.turn(message, system=system, budget=budget)
        turn.begin()
        with self._lock:
            self._turns[session.scope, session.id] = turn
        session.keep()
        messages = tuple(turn.context.messages)
        return Begun(session.id, messages, turn.context, turn.change, turn.questions, turn.anticipated)

    def reply(self, session_id: str, reply: str = "", *, scope: Scope | None = None) -> Observation | None:
        """End the open turn with what was answered. Returns what was learned.

        Raises UnknownSession, AccessDenied, InvalidInput.
        """
        session = self._session(session_id, scope)
        turn = self._take_turn(session)
        if turn is None:
            observed = session.finish_waiting(reply)
        else:
            turn.reply = reply
            observed = turn.finish()
        session.keep()
        return observed

    def hold(self, session_id: str, content: str, *, scope: Scope | None = None) -> SessionInfo:
        """Put something on the mind of a session.

        Raises UnknownSession, AccessDenied, TooMuchWritten, InvalidInput.
        """
        session = self._session(session_id, scope)
        session.hold(content)
        session.keep()
        return session.info()

    def suspend(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """Send a session to sleep: sealed and kept, and wiped here. A turn under way is aborted.

        Raises UnknownSession, AccessDenied.
        """
        session = self._session(session_id, scope)
        self._close_turn(session)
        info = session.suspend()
        self._let_go(session)
        return info

    def resume(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """Wake a session that sleeps. Raises UnknownSession."""
        return self._session(session_id, scope).resume()

    def abort(self, session_id: str, *, scope: Scope | None = None) -> int:
        """Say to the turns under way that their answers are not wanted. Returns how many.

        Raises UnknownSession, AccessDenied.
        """
        session = self._session(session_id, scope)
        self._take_turn(session)
        return session.abort()

    def end(self, session_id: str, *, scope: Scope | None = None) -> Observation | None:
        """End a session: read what waits of it, and keep nothing to wake it with.

        Raises UnknownSession, AccessDenied.
        """
        session = self._session(session_id, scope)
        self._close_turn(session)
        learned = session.end()
        self._let_go(session)
        return learned

    def learn(
        self,
        name: str,
        steps: Sequence[str | Mapping[str, Any]],
        *,
        outcome: Ending | str = Ending.SUCCESS,
        result: str = "",
        scope: Scope | None = None,
    ) -> Learned:
        """Keep how a flow ran, as a procedure that counts its runs.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        place = self._parts.caller.access.scope if scope is None else scope
        return Runs(self._parts.caller, place).learn(name, steps, outcome=outcome, result=result)

    def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ()) -> Completed:
        """End a project: keep what it came to and taught; what proved itself is for everybody.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        return Runs(self._parts.caller, self._parts.caller.access.scope).complete(
            project, summary, lessons=lessons
        )

    # ------------------------------------------------------------ idle sessions

    def sweep(self) -> int:
        """Suspend sessions nobody has used for a while, drop old ones. Returns how many slept."""
        idle = self._parts.now - IDLE
        with self._lock:
            order = sorted(self._live.values(), key=lambda one: one.used_at)
            surplus = max(0, len(order) - AWAKE_MOST)
            unused = [
                one
                for at, one in enumerate(order)
                if (one.used_at < idle or at < surplus)
                and (not one.is_running or (one.scope, one.id) in self._turns)
            ]
        for session in unused:
            self._put_to_sleep(session)
        return len(unused)

    def close(self) -> None:
        """Send every session to sleep. Safe to call twice."""
        with self._lock:
            self._closed = True
            alarm, self._alarm = self._alarm, None
            sessions = list(self._live.values())
        if alarm is not None:
            alarm.cancel()
        for session in sessions:
            self._put_to_sleep(session)

    def _put_to_sleep(self, session: Session) -> None:
        if not self._left_to_another(session):
            self._close_turn(session)
            session.suspend()
            self._let_go(session)

    def _left_to_another(self, session: Session) -> bool:
        """Whether another engine went on with a session; then it is forgotten here."""
        if not session.is_overtaken:
            return False
        self._take_turn(session)
        session.wipe()
        self._let_go(session)
        return True

    def _expire(self) -> None:
        """Now and then, drop what has slept too long to come back."""
        now = self._parts.now
        with self._lock:
            if self._expired_at is not None and now - self._expired_at < timedelta(hours=1):
                return
            self._expired_at = now
        with suppress(AccessDenied):  # the file was opened for reading
            self._parts.caller.tools.store.snapshots.expire(now - timedelta(hours=AGES.decayed_hours))

    def _woken(self, session: Session) -> None:
        """A session woke by itself, in the hands of somebody who kept it: it may fall asleep again."""
        with self._lock:
            self._live.setdefault((session.scope, session.id), session)

    def _ring_later(self) -> None:
        """Look for idle sessions later, whether or not anybody asks for one by then."""
        seconds = IDLE.total_seconds() + 1.0
        with self._lock:
            if self._alarm is None and not self._closed and self._live:
                self._alarm = Timer(seconds, self._ring)
                self._alarm.daemon = True
                self._alarm.start()

    def _ring(self) -> None:
        with self._lock:
            self._alarm = None
        try:
            self.sweep()
        except EngramError:  # a busy or closed file: the next call tells its caller
            return
        self._ring_later()

    # ------------------------------------------------------------ below

    def _place(self, agent: str, scope: Scope | None) -> Scope:
        """Where a session belongs: the given place, or the agent's own below where the caller stands."""
        own = self._parts.caller.access.scope
        if scope is None:
            scope = replace(own, agent=agent) if agent and own.agent != agent else own
        self._parts.caller.at(scope)
        return scope

    def _asleep(self, agent: str, place: Scope) -> str:
        """The last session of an agent in a place that sleeps and may still come back; empty: none."""
        if not agent:
            return ""
        snapshots = (
            snapshot for snapshot in self._kept() if snapshot.agent == agent and snapshot.scope == place
        )
        awake = {name for (scope, name), session in self._live.items() if scope == place and session.is_awake}
        elsewhere = self._parts.now - IDLE  # kept since then as awake: it is, in another engine
        asleep = (
            snapshot for snapshot in snapshots if not (snapshot.awake and snapshot.saved_at > elsewhere)
        )
        return next((snapshot.session for snapshot in asleep if snapshot.session not in awake), "")

    def _kept(self) -> Sequence[Snapshot]:
        snapshots, now = self._parts.caller.tools.store.snapshots, self._parts.now
        oldest = now - timedelta(hours=AGES.decayed_hours)
        return [
            snapshot for snapshot in snapshots.known(self._parts.caller.access) if snapshot.saved_at > oldest
        ]

    def _session(self, session_id: str, scope: Scope | None) -> Session:
        """The session of an id, awake or asleep."""
        self.sweep()
        with self._lock:
            sessions = [
                one for one in self._live.values() if one.id == session_id and scope in (None, one.scope)
            ]
        for session in sessions:
            if not self._left_to_another(session):
                return session
        for snapshot in self._kept():
            if snapshot.session == session_id and scope in (None, snapshot.scope):
                return self.open(snapshot.agent, snapshot.model, snapshot.session, snapshot.scope)
        raise UnknownSession(session_id)

    def _turn_to(self, session: Session, agent: str, model: str) -> Session:
        """From one agent to another: what runs is aborted, the one sleeps, the other wakes."""
        self._take_turn(session)
        session.suspend()
        self._let_go(session)
        there = replace(session.scope, agent=agent) if session.scope.agent else None
        return self.open(agent, model or session.model, "", there)

    def _take_turn(self, session: Session) -> SessionTurn | None:
        with self._lock:
            return self._turns.pop((session.scope, session.id), None)

    def _close_turn(self, session: Session) -> None:
        turn = self._take_turn(session)
        if turn is not None:
            turn.finish()
        elif self._parts.caller.tools.store.is_shared:
            session.finish_waiting("")

    def _let_go(self, session: Session) -> None:
        with self._lock:
            if self._live.get((session.scope, session.id)) is session:
                del self._live[session.scope, session.id]
