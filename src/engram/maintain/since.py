"""What is new to a step: its name comes in; the memories that came, changed or went since it last looked do.

A step notes how far it has seen the ledger, and in which run. If that run is taken back, it looks at
everything again, as it does the first time. What only changed by being used or weighed is no news.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.room import Room
from engram.model.event import Event, Verb
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Scope
from engram.model.upkeep import Judgement, RunState

MARK: Final = "mark"
"""The kind of judgement that says how far a step has looked."""
PAGE: Final = 1_000
STALE: Final = 1_000
"""After so many events that are no news the mark is set anew, so that they are not read again."""
TELLING: Final = frozenset(
    {"content", "status", "kind", "category", "scope", "tier", "details", "tags", "speaker", "valid_to"}
)
"""Fields whose change is news."""
EVERYTHING: Final = Access.everything()


@dataclass(frozen=True, slots=True)
class News:
    """What has happened since a step looked."""

    whole: bool
    """Nothing has been seen yet: everything is news."""
    changed: tuple[str, ...] = ()
    """Memories that came or say something else now, by id, in order."""
    gone: frozenset[str] = frozenset()
    """Memories that were erased."""
    upto: str = ""
    read: int = 0
    """How many events were read for it."""

    @property
    def any(self) -> bool:
        """Whether there is anything to look at."""
        return self.whole or bool(self.changed or self.gone)


def since(room: Room, step: str) -> News:
    """What is new to a step."""
    store = room.tools.store
    upto = store.ledger.newest()
    mark = store.upkeep.judged(MARK, [step]).get(step)
    event, _, run_id = mark.verdict.partition(" ") if mark is not None else ("", "", "")
    run = store.upkeep.run(run_id) if run_id else None
    if mark is None or run is None or run.state is RunState.UNDONE:
        return News(whole=True, upto=upto)
    changed: dict[str, None] = {}
    gone: dict[str, None] = {}
    read = 0
    for one in _events(room, event):
        read += 1
        if one.verb is Verb.ERASED:
            changed.pop(one.memory, None)
            gone[one.memory] = None
        elif _is_news(one):
            changed[one.memory] = None
    return News(whole=False, changed=tuple(changed), gone=frozenset(gone), upto=upto, read=read)


def noted(room: Room, step: str, news: News) -> Iterator[Batch]:
    """The last batch of a step, which notes how far it has looked; none when nothing was new.

    A step that has nothing to do must not even yield an empty batch: a run may be paused after each.
    """
    decided = seen(room, step, news)
    if decided:
        yield Batch(decided)


def seen(room: Room, step: str, news: News) -> tuple[Decision, ...]:
    """What a step decides last: to note how far it has looked. Nothing, when nothing was new."""
    if not news.any and news.read < STALE:
        return ()
    ours = list(_events(room, news.upto))
    upto = ours[-1].id if ours and all(event.run == room.run.id for event in ours) else news.upto
    mark = Judgement(MARK, step, f"{upto} {room.run.id}", room.now)
    return (Decision("knowledge.seen", "", (Judge(mark),), quiet=True),)


def memories(room: Room, news: News, filters: Filters) -> Iterator[list[tuple[int, Memory]]]:
    """The memories that are new and fit, in slices; all that fit the first time."""
    if news.whole:
        yield from room.memories(filters)
        return
    size = room.tools.config.maintain.slice
    for start in range(0, len(news.changed), size):
        yield from room.memories(replace(filters, ids=frozenset(news.changed[start : start + size])))


def places(room: Room, news: News, filters: Filters) -> set[Scope]:
    """Where something is new that fits; everywhere the first time."""
    if news.whole:
        return set(room.tools.store.upkeep.scopes())
    return {one.scope for part in memories(room, news, filters) for _, one in part}


def _events(room: Room, after: str) -> Iterator[Event]:
    ledger = room.tools.store.ledger
    while found := ledger.after(after, EVERYTHING, PAGE):
        yield from found
        after = found[-1].id
        if len(found) < PAGE:
            return


def _is_news(event: Event) -> bool:
    return event.verb is Verb.STORED or not TELLING.isdisjoint(event.after)
