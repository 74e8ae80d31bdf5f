"""Standing: a memory is moved by hand, up or down, one layer at a time; or a use of it is counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engram.capture import change, screen
from engram.errors import AccessDenied, NotFound
from engram.lifecycle.promotion import step_layer
from engram.model.event import Verb
from engram.model.memory import Memory
from engram.model.scope import Role
from engram.nouns.desk import Desk
from engram.ports import Unit

UP, DOWN = "promoted by hand", "demoted by hand"


def move(desk: Desk, memory_id: str, because: str, *, up: bool) -> Memory:
    """The memory in the next layer up or down. Raises NoFurtherLayer at the ends."""
    full = desk.own(memory_id)

    def work(unit: Unit) -> Memory:
        old = unit.get(full)
        if old is None:
            raise NotFound(memory_id)
        new = replace(
            old,
            layer=step_layer(old, up=up),
            version=old.version + 1,
            modified_at=desk.tools.clock.now(),
        )
        unit.change(new, Verb.UPDATED, because or (UP if up else DOWN))
        return new

    return desk.tools.store.write(work, desk.actor)


def opine(desk: Desk, memory_id: str, query: str, because: str, *, helpful: bool) -> Memory:
    """Keep whether a memory helped."""
    return change.opine(
        desk.own(memory_id),
        helpful=helpful,
        query=query,
        tools=desk.tools,
        actor=desk.actor,
        because=because,
    )


def touch(desk: Desk, memory_ids: Iterable[str], session: str) -> int:
    """Count a use of each memory that the caller sees; how many there are."""
    screen.name("session", session)
    if desk.access.role is Role.READER:
        raise AccessDenied("count uses: a reader changes nothing")
    ids = [desk.resolve(one) for one in memory_ids]

    def work(unit: Unit) -> None:
        unit.touch(ids, desk.tools.clock.now(), session)

    if ids:
        desk.tools.store.write(work, desk.actor)
    return len(ids)
