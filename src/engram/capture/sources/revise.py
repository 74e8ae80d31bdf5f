"""Revising: memories made of an item, and the statements it holds now, come in; the memories follow the item.

Only what came from this source, and from nowhere else, is rewritten or archived: a statement that somebody
also made in a conversation stays theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engram.capture.enrich import Prepared
from engram.capture.settle import settle
from engram.lifecycle.sameness import New
from engram.model.axes import Status
from engram.model.event import Verb
from engram.model.ingest import Fate
from engram.model.memory import Memory
from engram.model.receipt import Receipt
from engram.ports import Tools, Unit

CHANGED = "its source says it otherwise now"
GONE = "no longer in its source"
SHARED = "no longer in this source, but known from elsewhere: its memory stays"
Owns = Callable[[Memory], bool]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of one statement."""

    memory: str
    fate: Fate
    because: str

    @classmethod
    def of(cls, receipt: Receipt) -> Settled:
        """A receipt, as items are reported."""
        return cls(receipt.memory.id, Fate(receipt.outcome.value), receipt.because)


def revise(
    unit: Unit, old: Sequence[str], statements: Sequence[Prepared], owns: Owns, tools: Tools
) -> list[Settled]:
    """Make the old memories say what the statements say; one result a statement, in order."""
    mine = _mine(unit, old, owns)
    by_hash = {memory.content_hash: memory for memory in mine}
    pairs: list[tuple[Prepared, Memory | None]] = []
    for one in statements:
        match = by_hash.pop(one.memory.content_hash, None)
        if match is not None:
            mine.remove(match)
        pairs.append((one, match))
    settled = []
    for one, match in pairs:
        former = match or (mine.pop(0) if mine else None)
        settled.append(_settled(unit, former, one, tools))
    for memory in mine:
        archive(unit, memory, tools)
    return settled


def archive(unit: Unit, memory: Memory, tools: Tools) -> None:
    """Put a memory away that its source holds no more; it can be restored."""
    now = tools.clock.now()
    gone = replace(memory, status=Status.ARCHIVED, modified_at=now, version=memory.version + 1)
    unit.change(gone, Verb.ARCHIVED, GONE)


def _mine(unit: Unit, old: Sequence[str], owns: Owns) -> list[Memory]:
    found = (unit.get(memory_id) for memory_id in dict.fromkeys(old))
    return [one for one in found if one is not None and one.status is Status.ACTIVE and owns(one)]


def _settled(unit: Unit, former: Memory | None, one: Prepared, tools: Tools) -> Settled:
    if former is None:
        return Settled.of(settle(unit, one, New(), tools))
    same = unit.same_content(one.memory.content_hash, one.memory.scope)
    if same is not None and same.id != former.id:
        archive(unit, former, tools)
        return Settled.of(settle(unit, one, New(), tools))
    now = _rewritten(former, one.memory)
    unit.change(now, Verb.UPDATED, CHANGED, findable=one.findable)
    if one.vector is not None and now.content != former.content:
        unit.embed(now.id, one.vector)
    return Settled(now.id, Fate.UPDATED, CHANGED)


def _rewritten(former: Memory, new: Memory) -> Memory:
    """What the words tell comes from the new one; what the memory has been through stays its own."""
    return replace(
        new,
        id=former.id,
        created_at=former.created_at,
        layer=former.layer,
        lifecycle=former.lifecycle,
        verification=former.verification,
        policy=former.policy,
        priority=former.priority,
        importance=former.importance,
        strength=former.strength,
        heat=former.heat,
        usage=former.usage,
        last_accessed=former.last_accessed,
        version=former.version + 1,
        tier=max(former.tier, new.tier, key=tuple(type(new.tier)).index),
    )
