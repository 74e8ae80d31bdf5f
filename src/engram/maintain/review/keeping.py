"""Keeping: what was said since the last time comes in; a promise that it certainly says was kept is closed.

A statement that would fit two promises closes none. `memory.commitments.review()` is the same by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from engram.model.scope import Scope
from engram.text.promises import Deed, done, promised

STEP: Final = "commitments"
OPEN: Final = Filters(statuses=ACTIVE, categories=frozenset({CATEGORY}), not_tags=frozenset({CLOSED_TAG}))
MOST_OPEN: Final = 10_000
"""Open promises that are looked at, the newest: nobody keeps a promise that is older than so many others."""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Compare what is new with what is open, in each scope by itself."""
    news = since(room, STEP)
    if not news.any:
        yield from noted(room, STEP, news)
        return
    owed = _open_promises(room)
    for part in memories(room, news, Filters(statuses=ACTIVE)):
        said = [one for _, one in part if one.category != CATEGORY and one.scope in owed]
        closed: dict[str, Decision] = {}
        for one in said:
            if (promise := _kept(one, owed[one.scope])) is not None:
                closed.setdefault(promise.id, _closed(promise, one, room))
        if closed:
            yield Batch(tuple(closed.values()))
    yield from noted(room, STEP, news)


class Owed:
    """The open promises of one scope, by what they promise."""

    def __init__(self) -> None:
        self._by_deed: dict[Deed, list[Memory]] = {}
        self.verbs: set[str] = set()

    def add(self, promise: Memory) -> None:
        """Know one more; what promises nothing plainly can not be seen to be kept."""
        deed = promised(promise.content, promise.happened_at)
        if deed is not None:
            self._by_deed.setdefault(deed, []).append(promise)
            self.verbs.add(deed.verb)

    def of(self, deed: Deed) -> Sequence[Memory]:
        """Those that promise just this."""
        return self._by_deed.get(deed, ())


def _open_promises(room: Room) -> dict[Scope, Owed]:
    """What is open, scope by scope, up to a limit; the newest are the last to be left out."""
    owed: dict[Scope, Owed] = {}
    found = [one for part in room.memories(OPEN) for _, one in part if _is_open(one)]
    for one in found[-MOST_OPEN:]:
        owed.setdefault(one.scope, Owed()).add(one)
    return owed


def _kept(statement: Memory, owed: Owed) -> Memory | None:
    """The one open promise of its scope that a statement says was kept; None when there is none, or two."""
    deed = done(statement.content, statement.happened_at, owed.verbs)
    kept = [one for one in owed.of(deed) if is_kept_by(one, statement)] if deed is not None else []
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
