"""Chats of other services: their messages come in and are heard as if they were said now, each once.

The raw log knows a message by its session and id, so that reading an export twice captures it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Protocol

from engram.capture import extract
from engram.capture.observe import TURN_LIMIT
from engram.capture.pipeline import make_ready, write
from engram.capture.sources.files import BEGINNING, refused
from engram.capture.sources.take import MADE, REHEARSED, DryRunRollback, IngestOptions
from engram.errors import ContentTooLong, InvalidInput
from engram.model.capture import (
    Draft,
    Fate,
    Found,
    IngestReport,
    Item,
    ItemReport,
    LeftOut,
    Observation,
    Receipt,
    Turn,
)
from engram.model.clock import check_cancelled
from engram.model.memory import NAME_LENGTH_LIMIT
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools, Unit
from engram.rules.screen import Gate, readable, screen

SLICE = 200
"""Messages that are heard together."""
LONGEST_SESSION = 1_000_000
ID_LIMIT = 200
CONTEXT_TURNS = 4
"""Turns before the first one that are looked at to understand it."""


class ChatListener(Protocol):
    """Whoever listens to turns for this memory."""

    def hear(self, turns: Sequence[Turn]) -> Observation:
        """Log turns of one scope; read what waits there if it is time."""
        ...

    def flush(self, session: str | None = None, scope: Scope | None = None) -> Observation:
        """Read now whatever waits in a scope."""
        ...


def listen(
    found: Sequence[Found], order: IngestOptions, ear: ChatListener, gate: Gate, tools: Tools
) -> IngestReport:
    """Hear every message that the log does not know, and report on each."""
    found = [_checked(one) for one in found]
    items = (one for one in found if isinstance(one, Item))
    turns = {one.origin: turn(one, order.scope, tools.clock.now()) for one in items}
    known = _known({one.session for one in turns.values()}, order.scope, tools)
    fresh = [one for one in turns.values() if (one.session, one.id) not in known]
    heard = _rehearse(fresh, order, gate, tools) if order.dry else _hear(fresh, order, ear)
    told = _Told([*heard], dry=order.dry)
    reports = (
        one if isinstance(one, ItemReport) else told.of(one, turns[one.origin], known) for one in found
    )
    return IngestReport(tuple(reports), order.dry)


def _checked(one: Found) -> Found:
    """A message that the log cannot take is reported, and the others go on."""
    if isinstance(one, ItemReport):
        return one
    try:
        for field, words in (("content", one.text), ("session", one.session), ("speaker", one.speaker)):
            readable(field, words)
        if len(one.text) > TURN_LIMIT:
            raise ContentTooLong("content", len(one.text), TURN_LIMIT)
    except InvalidInput as error:
        return refused(one.origin, error, one.text)
    return one


def turn(item: Item, scope: Scope, now: datetime) -> Turn:
    """The message as it is logged."""
    own = str(item.details.get("message") or item.origin)
    return Turn(
        id=own[:ID_LIMIT],
        session=item.session[:NAME_LENGTH_LIMIT],
        content=item.text,
        at=item.at or now,
        part=item.part,
        speaker=item.speaker[:NAME_LENGTH_LIMIT],
        scope=scope,
    )


def _known(sessions: set[str], scope: Scope, tools: Tools) -> set[tuple[str, str]]:
    access = Access(scope, Role.AGENT)
    return {
        (session, one.id)
        for session in sessions
        for one in tools.store.turns.of_session(session, access, LONGEST_SESSION)
    }


def _hear(turns: Sequence[Turn], order: IngestOptions, ear: ChatListener) -> Iterator[Observation]:
    for start in range(0, len(turns), SLICE):
        part = turns[start : start + SLICE]
        check_cancelled()
        yield ear.hear(part)
        if order.progress is not None:
            order.progress(start + len(part), len(turns))
    if turns:
        yield ear.flush(scope=order.scope)


def _rehearse(turns: Sequence[Turn], order: IngestOptions, gate: Gate, tools: Tools) -> Iterator[Observation]:
    """What hearing these turns would bring: everything is done but for the log, and taken back."""
    drafts: list[Draft] = []
    for _, group in groupby(turns, key=lambda one: one.session):
        talk = list(group)
        for start in range(0, len(talk), SLICE):
            part = talk[start : start + SLICE]
            check_cancelled()
            reading = extract.read(part, talk[:start][-CONTEXT_TURNS:], gate, tools)
            drafts += reading.drafts
            yield Observation(captured=tuple(part), left_out=tuple(reading.left_out))
    for start in range(0, len(drafts), REHEARSED):
        yield _tried(drafts[start : start + REHEARSED], order, tools)


def _tried(drafts: Sequence[Draft], order: IngestOptions, tools: Tools) -> Observation:
    good: list[Draft] = []
    left_out: list[LeftOut] = []
    for draft in drafts:
        try:
            good.append(screen(draft))
        except InvalidInput as error:
            left_out.append(LeftOut("", draft.content, error.message))
    receipts: list[Receipt] = []

    def also(unit: Unit, made: list[Receipt]) -> None:
        del unit
        receipts.extend(made)
        raise DryRunRollback

    with suppress(DryRunRollback):
        write(make_ready(good, tools), tools, order.actor, also)
    return Observation(receipts=tuple(receipts), left_out=tuple(left_out))


class _Told:
    """What was made of each message."""

    def __init__(self, heard: Sequence[Observation], *, dry: bool) -> None:
        self.dry = dry
        self.read = {(one.session, one.id) for part in heard for one in part.captured}
        self.left = {one.turn: one.why for part in heard for one in part.left_out}
        self.made: dict[tuple[str, str], list[tuple[str, Fate, str]]] = {}
        for receipt in (receipt for part in heard for receipt in part.receipts):
            for own in receipt.memory.details.get("turns", ()):
                fate = Fate(receipt.outcome.value)
                line = (receipt.memory.id, fate, receipt.because)
                self.made.setdefault((receipt.memory.session, own), []).append(line)

    def of(self, item: Item, said: Turn, known: set[tuple[str, str]]) -> ItemReport:
        """The report of one message."""
        key = said.session, said.id
        report = ItemReport(item.origin, Fate.OBSERVED, (), "waits to be read", text=item.text[:BEGINNING])
        if key in known:
            return replace(report, outcome=Fate.UNCHANGED, reason="it is in the log already")
        if made := self.made.get(key):
            ids = dict.fromkeys(own for own, fate, _ in made if not (self.dry and fate in MADE))
            return replace(report, outcome=made[0][1], memories=tuple(ids), reason=made[0][2])
        if key in self.read and said.id in self.left:
            return replace(report, outcome=Fate.DROPPED, reason=self.left[said.id])
        return replace(report, reason="read") if key in self.read else report
