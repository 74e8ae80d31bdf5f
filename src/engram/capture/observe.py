"""Observing: what was said comes in; it is logged at once, and read as soon as it is worth it.

    log → signals → buffer → extract → exactly what remember() does

The log is the truth: a turn waits there until the memories made of it are written, in the same unit of work
that marks it as read. So a process that dies loses nothing and learns nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from engram.capture import buffer, extract
from engram.capture.gate import Gate
from engram.capture.pipeline import make_ready, write
from engram.capture.screen import name, readable, screen
from engram.errors import ContentTooLong, EmptyContent, InvalidInput
from engram.model.axes import Status
from engram.model.cancellation import check_cancelled
from engram.model.draft import Draft
from engram.model.observation import LeftOut, Observation
from engram.model.receipt import Receipt
from engram.model.scope import Scope
from engram.model.turn import Part, Turn
from engram.ports import Tools, Unit
from engram.text.signals import Level, level_of

TURN_LIMIT = 200_000
"""Characters of one turn at most."""
SLICE = 50
"""Turns that are read together at most."""
CONTEXT_TURNS = 4
"""Turns before the first one that are looked at to understand it."""


class _Taken(Exception):
    """Another process has captured these turns meanwhile."""


def log(turns: Sequence[Turn], tools: Tools, actor: str) -> tuple[Observation, str]:
    """Log turns of one scope; and why what waits there is to be read now, or nothing.

    Raises InvalidInput before logging. Waits for no reading: that may ask a model.
    """
    checked = [_checked(turn) for turn in turns]
    waiting, fresh = tools.store.write(lambda unit: unit.log(checked), actor)
    spoken = [turn for turn in checked if turn.part in {Part.USER, Part.ASSISTANT}]
    level = max((level_of(turn.content) for turn in spoken), default=Level.NONE) if fresh else Level.NONE
    heard = Observation(
        logged=fresh,
        known=len(checked) - fresh,
        signal=level.name.lower(),
        waiting=waiting.turns,
        because="waits for more to be said" if waiting.turns else "nothing new",
    )
    return heard, buffer.due(level, waiting, max(turn.at for turn in checked), tools.config.capture)


def capture(scope: Scope, gate: Gate, tools: Tools, actor: str, session: str | None = None) -> Observation:
    """Read every turn that waits in a scope, of one session or of all."""
    done = Observation()
    while turns := tools.store.turns.waiting(scope, SLICE, session):
        for group in _sessions(turns):
            check_cancelled()
            done = _joined(done, _capture(group, gate, tools, actor))
    return done


def _sessions(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    ordered = sorted(turns, key=lambda turn: turn.session)
    for _, group in groupby(ordered, key=lambda turn: turn.session):
        yield list(group)


def _capture(turns: list[Turn], gate: Gate, tools: Tools, actor: str) -> Observation:
    """Read some turns of one session; what is found and that they were read is written together."""
    before = tools.store.turns.before(turns[0], CONTEXT_TURNS)
    reading = extract.read(turns, before, gate, tools)
    drafts, origins = _good(reading)

    def also(unit: Unit, receipts: list[Receipt]) -> None:
        if unit.captured(turns, tools.clock.now()) < len(turns):
            raise _Taken
        for receipt, keys in zip(receipts, origins, strict=True):
            unit.come_from(receipt.memory.id, keys)

    try:
        receipts = write(make_ready(drafts, tools), tools, actor, also)
    except _Taken:
        return Observation(because="another process has read them")
    return Observation(
        captured=tuple(turns),
        receipts=tuple(one for one in receipts if one.memory.status is not Status.SAID),
        left_out=tuple(reading.left_out),
        by=reading.by,
        trouble="" if reading.by != extract.BY_RULES else tools.model_trouble(),
    )


def _good(reading: extract.Reading) -> tuple[list[Draft], list[tuple[int, ...]]]:
    """The drafts that pass the screen: one that does not is left out, and the others go on."""
    drafts: list[Draft] = []
    origins: list[tuple[int, ...]] = []
    for draft, keys in zip(reading.drafts, reading.origins, strict=True):
        try:
            drafts.append(screen(draft))
            origins.append(keys)
        except InvalidInput as error:
            reading.left_out.append(LeftOut("", draft.content[:200], error.message))
    return drafts, origins


def _joined(one: Observation, other: Observation) -> Observation:
    return replace(
        one,
        captured=one.captured + other.captured,
        receipts=one.receipts + other.receipts,
        left_out=one.left_out + other.left_out,
        because=other.because or one.because,
        by=other.by if other.receipts else one.by,
        trouble=other.trouble or one.trouble,
    )


def _checked(turn: Turn) -> Turn:
    content = readable("content", turn.content)
    if not content.strip():
        raise EmptyContent
    if len(content) > TURN_LIMIT:
        raise ContentTooLong("content", len(content), TURN_LIMIT)
    name("session", turn.session)
    name("speaker", turn.speaker)
    name("message id", turn.id, 200)
    return turn
