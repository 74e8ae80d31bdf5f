"""Listening: conversation comes in as words or as messages; what came of it goes out."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Any

from engram.capture import observe
from engram.capture.messages import Setting, turns_from
from engram.errors import InvalidInput
from engram.model.clock import here
from engram.model.observation import Observation
from engram.model.pages import Finding
from engram.model.plain import told_moment
from engram.model.receipt import Outcome
from engram.model.scope import Scope
from engram.model.turn import Part, Turn
from engram.nouns.conflicts import Conflicts
from engram.nouns.desk import Desk, whole

TURNS_LIMIT = 10_000
ASKED_ABOUT = 5
"""Pairs in doubt that a model is asked about after one reading; the others wait in `conflicts`."""


class Listening:
    """One ear for each open memory. Any thread may speak; what waits in a scope is read by one at a time."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._heard_in: set[Scope] = set()
        self._lock = Lock()

    def words(
        self,
        user: str | None,
        assistant: str | None,
        setting: Setting,
        message_id: str = "",
    ) -> list[Turn]:
        """Turns from one exchange in plain words."""
        own = message_id or uuid.uuid4().hex
        said = (
            (Part.USER, user, setting.user, own),
            (Part.ASSISTANT, assistant, setting.assistant, f"{own}:reply"),
        )
        return [
            Turn(id_, setting.session, text, setting.at, part, name, setting.scope)
            for part, text, name, id_ in said
            if text is not None
        ]

    def setting(
        self,
        session: str,
        time: datetime | str | None,
        scope: Scope | None,
        speaker: str,
        assistant_name: str,
    ) -> Setting:
        """Where and when something is said, and by whom."""
        place = self._desk.access.scope if scope is None else scope
        self._desk.check_write(place)
        zone = self._desk.tools.zone
        at = self._desk.tools.clock.now() if time is None else told_moment("time", time, zone)
        return Setting(session, here(at, zone), place, speaker, assistant_name)

    def messages(self, messages: Sequence[Mapping[str, Any]], setting: Setting) -> list[Turn]:
        """Turns from messages as chat services shape them."""
        return turns_from(messages, setting)

    def hear(self, turns: Sequence[Turn]) -> Observation:
        """Log turns of one scope; read what waits there if it is time."""
        if not turns:
            message = "Nothing was said: give `user`, `assistant` or `messages`."
            raise InvalidInput(message)
        for turn in turns:
            self._desk.check_write(turn.scope)
        heard, because = observe.log(turns, self._desk.tools, self._desk.actor)
        self._heard_in.add(turns[0].scope)
        if not because:
            return heard
        with self._lock:
            done = observe.capture(turns[0].scope, self._desk.gate, self._desk.tools, self._desk.actor)
        self._settle(done)
        return replace(done, logged=heard.logged, known=heard.known, signal=heard.signal, because=because)

    def flush(self, session: str | None = None, scope: Scope | None = None) -> Observation:
        """Read now whatever waits in a scope, of one session or of all."""
        place = self._desk.access.scope if scope is None else scope
        self._desk.check_write(place)
        with self._lock:
            done = observe.capture(place, self._desk.gate, self._desk.tools, self._desk.actor, session)
        self._settle(done)
        return replace(done, because="asked to" if done.captured else "nothing waits")

    def _settle(self, heard: Observation) -> None:
        """Vectors that were owed are made; a model, if one may help, is asked about pairs in doubt."""
        self._desk.pay(heard.receipts)
        if self._desk.tools.config.llm.level == "off":
            return
        doubtful = [one for one in heard.receipts if one.outcome is Outcome.CHALLENGED]
        for receipt in doubtful[:ASKED_ABOUT]:
            Conflicts(self._desk).ask(receipt.other, receipt.memory.id)

    def close(self) -> None:
        """Read what is left in every scope that was heard here."""
        for scope in tuple(self._heard_in):
            self.flush(scope=scope)
        self._heard_in.clear()

    def finding(self) -> Finding:
        """Whether turns wait to be read; those of a process that died are read with the next ones."""
        waiting = self._desk.tools.store.turns.scopes_waiting()
        scopes = [scope for scope in waiting if self._desk.access.may_read(scope)]
        if not scopes:
            return Finding("turns", ok=True, detail="none waits to be read")
        places = f"{len(scopes)} scope" + ("s" if len(scopes) > 1 else "")
        return Finding(
            "turns", ok=True, detail=f"some wait to be read in {places}", advice="`flush` reads them now"
        )

    def turns(self, session: str, limit: int, after: int) -> list[Turn]:
        """A session word for word."""
        most = whole("limit", limit, 1, TURNS_LIMIT)
        return self._desk.tools.store.turns.of_session(session, self._desk.access, most, after)
