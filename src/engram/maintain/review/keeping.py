"""Keeping: what was said since the last time comes in; a promise that it certainly says was kept is closed.

A statement that would fit two promises closes none. `memory.commitments.review()` is the same by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.lifecycle.commitments import (
    CATEGORY,
    CLOSED_TAG,
    details_of,
    is_kept_by,
    is_loop,
    state_of,
    tags_of,
)
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import ACTIVE, Room, becomes
from engram.maintain.since import memories, noted, since
from engram.model.commitment import LoopState
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.text.promises import done
from engram.text.words import query_terms

STEP: Final = "commitments"
OPEN: Final = Filters(statuses=ACTIVE, categories=frozenset({CATEGORY}), not_tags=frozenset({CLOSED_TAG}))
PROMISES: Final = 5
"""Open promises that are compared with each statement: those that share its rarest words."""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Compare what is new with what is open, in each scope by itself."""
    news = since(room, STEP)
    owed: dict[Scope, bool] = {}
    for part in memories(room, news, Filters(statuses=ACTIVE)):
        said = [one for _, one in part if one.category != CATEGORY and _owes(one.scope, owed, room)]
        closed: dict[str, Decision] = {}
        for one in said:
            if (promise := _kept(one, room)) is not None:
                closed.setdefault(promise.id, _closed(promise, one, room))
        if closed:
            yield Batch(tuple(closed.values()))
    yield from noted(room, STEP, news)


def _owes(scope: Scope, known: dict[Scope, bool], room: Room) -> bool:
    """Whether anything is open in a scope; where nothing is, nothing has to be read closely."""
    if scope not in known:
        view = View(Access(scope, Role.AGENT), OPEN)
        known[scope] = bool(room.tools.store.memories.page(view, 1))
    return known[scope]


def _kept(statement: Memory, room: Room) -> Memory | None:
    """The one open promise of its scope that a statement says was kept; None when there is none, or two."""
    if done(statement.content, statement.happened_at) is None:
        return None
    store, view = room.tools.store, View(Access(statement.scope, Role.AGENT), OPEN)
    keys = [key for key, _ in store.texts.search(list(query_terms(statement.content).terms), view, PROMISES)]
    kept = [
        one
        for one in store.memories.read(keys).values()
        if one.scope == statement.scope and _is_open(one) and is_kept_by(one, statement)
    ]
    return kept[0] if len(kept) == 1 else None


def _is_open(memory: Memory) -> bool:
    return is_loop(memory) and state_of(memory).is_open


def _closed(promise: Memory, statement: Memory, room: Room) -> Decision:
    because = f"memory {statement.id} says so"
    state = LoopState.DONE
    details = details_of(state, promise.details, closed=(room.now, because))
    change = becomes(promise, details=details, tags=tags_of(state, promise.tags))
    why = "a later statement of the same person says that it was done"
    return Decision("commitment.kept", why, (change,), promise.id, statement.id)
