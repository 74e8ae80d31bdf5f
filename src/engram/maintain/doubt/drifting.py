"""Drift: claims about files, symbols, versions and addresses come in; those that lead nowhere are doubted.

The first time a memory is challenged. Still dead in a later run it is invalidated, alive again it comes back.
What a person decides about it meanwhile stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engram.lifecycle.drift import CHALLENGE, DEAD, INVALIDATE, Look, drift_verdict, is_claim, looked
from engram.maintain.decisions import Batch, Decision
from engram.maintain.doubt.rounds import rounds
from engram.maintain.judged import judge
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice
from engram.model.axes import Status
from engram.model.drift import Landscape
from engram.model.event import Verb
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access
from engram.model.upkeep import Judgement
from engram.text.references import references

NAME: Final = "drift"
KIND: Final = "drift"
EVENTS: Final = 50
"""Events of a memory that are looked at for other words."""
CLAIMS = Filters(statuses=frozenset({Status.ACTIVE, Status.CHALLENGED, Status.INVALIDATED}))
BECOMES: Final = {CHALLENGE: Status.CHALLENGED, INVALIDATE: Status.INVALIDATED}


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Check claims against the configured directory; nothing when there is none, or nothing in it."""
    settings = room.tools.config.doubt
    place = room.landscape(settings.directory) if settings.directory else None
    if place is None or not place.paths:
        return

    def decide(part: Slice, left: int) -> tuple[int, int, Sequence[Decision]]:
        return _decided(part, left, place, room)

    yield from rounds(room, cursor, NAME, CLAIMS, settings.references, decide)


def checked(memory: Memory, place: Landscape, project: str) -> Look:
    """What the references of a memory lead to; nothing for what is no claim about this directory."""
    if not is_claim(memory) or (project and memory.scope.project != project):
        return Look()
    return looked(references(memory.content), place)


def _decided(part: Slice, left: int, place: Landscape, room: Room) -> tuple[int, int, Sequence[Decision]]:
    found: list[tuple[Memory, Look]] = []
    reached = part[-1][0] if part else 0
    for key, one in part:
        seen = checked(one, place, room.tools.config.doubt.project)
        if seen.checked:
            found.append((one, seen))
        if len(found) >= left:
            reached = key
            break
    before = room.tools.store.upkeep.judged(KIND, [one.id for one, _ in found])
    decisions = [
        decision for one, seen in found if (decision := _one(one, seen, before.get(one.id), room)) is not None
    ]
    return len(found), reached, decisions


def _one(memory: Memory, found: Look, before: Judgement | None, room: Room) -> Decision | None:
    if before is not None and memory.status is Status.ACTIVE and _is_reworded(memory, before, room):
        before = None  # other words are another claim
    verdict = drift_verdict(memory, found, before, room.now, room.tools.config)
    if not verdict:
        return None
    status = BECOMES.get(verdict.rule, Status.ACTIVE)
    verb = Verb.RESTORED if status is Status.ACTIVE else Verb.STATUS_CHANGED
    since = before.at if verdict.rule == INVALIDATE and before is not None else room.now
    state = "alive" if status is Status.ACTIVE else DEAD
    effects = (becomes(memory, verb, status=status), judge(KIND, memory, state, since))
    return Decision(f"drift.{verdict.rule}", verdict.why, effects, memory.id)


def _is_reworded(memory: Memory, before: Judgement, room: Room) -> bool:
    """Whether its words changed since; that a person made it active again is another thing."""
    events = room.tools.store.ledger.events(memory.id, Access.everything(), EVENTS)
    return any("content" in event.after and event.at >= before.at for event in events)
