"""Remembering: what a caller gives comes in, in any of its shapes; receipts go out."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from engram.api.caller import CallerContext, Noun
from engram.errors import InvalidInput
from engram.lazily import lazily, replace
from engram.model.capture import Draft, Observation, Outcome, Part, Receipt, Refusal, Turn
from engram.model.clock import here
from engram.model.event import Finding
from engram.model.plain import draft_from, told_moment
from engram.model.scope import Scope

if TYPE_CHECKING:
    from engram.api import conflicts, gaps
    from engram.capture import change, observe, pipeline
    from engram.capture.observe import TalkSetting
else:
    change = lazily("engram.capture.change")
    observe = lazily("engram.capture.observe")
    pipeline = lazily("engram.capture.pipeline")
    conflicts = lazily("engram.api.conflicts")
    gaps = lazily("engram.api.gaps")

Given = Draft | Mapping[str, Any] | str
Results = list[Receipt | Refusal]


def many(
    caller: CallerContext, drafts: Iterable[Given], progress: Callable[[int], None] | None, *, partial: bool
) -> Results:
    """Keep many: all or none; or each good one, and a refusal for each other."""
    caller.tools.pressure.check_room("keep many memories")
    if partial:
        items = [*drafts]
        caller.take_room([_words_of(item) for item in items])
        results = pipeline.remember_partly(
            items, lambda item: _draft(caller, item), caller.tools, caller.actor, progress
        )
        caller.pay([result for result in results if isinstance(result, Receipt)])
        return results
    done: Results = [*caller.write([_draft(caller, item) for item in drafts])]
    if progress is not None:
        progress(len(done))
    return done


def _words_of(item: Given) -> str:
    told = item if isinstance(item, str) else item.content if isinstance(item, Draft) else item.get("content")
    return told if isinstance(told, str) else ""


def _draft(caller: CallerContext, item: Given) -> Draft:
    if isinstance(item, str):
        item = Draft(item)
    elif not isinstance(item, Draft):
        item = draft_from(item, caller.tools.zone)
    mine = caller.mine(item)
    caller.check_write(mine.scope)
    return mine


# ---------------------------------------------------------------- listening
# Listening: conversation comes in as words or as messages; what came of it goes out.


ASKED_ABOUT = 5
"""Pairs in doubt that a model is asked about after one reading; the others wait in `conflicts`."""


class Listening(Noun):
    """One for each open memory. Any thread may speak; what waits in a scope is read by one at a time."""

    def __init__(self, caller: CallerContext) -> None:
        super().__init__(caller)
        self._heard_in: set[Scope] = set()
        self._lock = Lock()

    def words(
        self, user: str | None, assistant: str | None, setting: TalkSetting, message_id: str = ""
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
    ) -> TalkSetting:
        """Where and when something is said, and by whom."""
        place = self._caller.access.scope if scope is None else scope
        self._caller.check_write(place)
        zone = self._tools.zone
        at = self._tools.clock.now() if time is None else told_moment("time", time, zone)
        return observe.TalkSetting(session, here(at, zone), place, speaker, assistant_name)

    def messages(self, messages: Sequence[Mapping[str, Any]], setting: TalkSetting) -> list[Turn]:
        """Turns from messages as chat services shape them."""
        return observe.turns_from(messages, setting)

    def hear(self, turns: Sequence[Turn]) -> Observation:
        """Log turns of one scope; read what waits there if it is time."""
        if not turns:
            raise InvalidInput("Nothing was said: give `user`, `assistant` or `messages`.")
        for turn in turns:
            self._caller.check_write(turn.scope)
        self._caller.take_room([turn.content for turn in turns])
        heard, because = observe.log(turns, self._tools, self._caller.actor)
        self._heard_in.add(turns[0].scope)
        if not because:
            return heard
        with self._lock:
            done = observe.capture(turns[0].scope, self._caller.gate, self._tools, self._caller.actor)
        self._settle(done)
        return replace(done, logged=heard.logged, known=heard.known, signal=heard.signal, because=because)

    def flush(self, session: str | None = None, scope: Scope | None = None) -> Observation:
        """Read now whatever waits in a scope, of one session or of all."""
        place = self._caller.access.scope if scope is None else scope
        self._caller.check_write(place)
        with self._lock:
            done = observe.capture(place, self._caller.gate, self._tools, self._caller.actor, session)
        self._settle(done)
        return replace(done, because="asked to" if done.captured else "nothing waits")

    def _settle(self, heard: Observation) -> None:
        """Vectors that were owed are made; a model, if one may help, is asked about pairs in doubt."""
        self._caller.pay(heard.receipts)
        if self._tools.config.llm.level == "off":
            return
        doubtful = [one for one in heard.receipts if one.outcome is Outcome.CHALLENGED]
        for receipt in doubtful[:ASKED_ABOUT]:
            conflicts.Conflicts(self._caller).ask(receipt.other, receipt.memory.id)

    def close(self) -> None:
        """Read what is left in every scope that was heard here."""
        for scope in tuple(self._heard_in):
            self.flush(scope=scope)
        self._heard_in.clear()

    def finding(self) -> Finding:
        """Whether turns wait to be read; those of a process that died are read with the next ones."""
        waiting = self._store.turns.scopes_waiting()
        scopes = [scope for scope in waiting if self._caller.access.may_read(scope)]
        if not scopes:
            return Finding("turns", ok=True, detail="none waits to be read")
        places = f"{len(scopes)} scope" + ("s" if len(scopes) > 1 else "")
        return Finding(
            "turns", ok=True, detail=f"some wait to be read in {places}", advice="`flush` reads them now"
        )
