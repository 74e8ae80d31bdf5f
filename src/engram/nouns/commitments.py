"""Commitments: what was promised or is owed. `memory.commitments` opens, lists, waits for and closes them.

Each is a memory of category `commitment`; what was captured so and plainly promises something is
listed like what was opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from engram.capture import screen
from engram.errors import InvalidInput, NotFound, UnknownValue, WrongType
from engram.lifecycle.commitments import (
    CATEGORY,
    CLOSED_TAG,
    details_of,
    due_in,
    is_kept_by,
    is_loop,
    loop,
    state_of,
    tags_of,
)
from engram.model.axes import Policy
from engram.model.commitment import Closing, Commitment, LoopState
from engram.model.draft import Draft
from engram.model.event import Verb
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.plain import member, told_moment
from engram.model.scope import HERE, Access, Scope
from engram.nouns.desk import PAGE_LIMIT, Desk, whole
from engram.ports import Tools, Unit, View
from engram.text.words import query_terms

OUTCOMES = (LoopState.DONE, LoopState.DROPPED)
NAMED = 10_000
"""So many open loops are named before the oldest of them are read."""
LATER = 5
"""So many later statements are looked at for each loop that may have been kept."""

Loops = list[Commitment]
Closings = list[Closing]


class Commitments:
    """Open loops. Hangs on the facade; safe to use from many threads."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def open(
        self,
        text: str,
        *,
        due: datetime | str | None = None,
        waiting_on: str = "",
        scope: Scope | None = None,
        session: str = "",
    ) -> Commitment:
        """Open a loop. `due` is a time or words ("by Friday"); when it is not given, the text may name it."""
        now = self._desk.tools.here()
        until = _due(due, now) if due is not None else due_in(screen.readable("text", text), now)
        screen.name("waiting_on", waiting_on)
        state = LoopState.WAITING if waiting_on else LoopState.OPEN
        details = details_of(state, {}, due=until, whom=waiting_on)
        # Its category and priority keep an open loop; protected by policy, a closed one would stay for ever.
        draft = Draft(
            text,
            category=CATEGORY,
            details=details,
            policy=Policy.DURABLE,
            scope=scope or HERE,
            session=session,
        )
        kept = self._desk.write([self._desk.mine(draft)])[0].memory
        if any(kept.details.get(name) != value for name, value in details.items()):  # it was known already
            kept = self._set(kept.id, state, "opened again", due=until, whom=waiting_on)
        return loop(kept, now)

    def list(
        self, state: LoopState | str | None = None, *, limit: int = 100, scope: Scope | None = None
    ) -> Loops:
        """Loops in a state, oldest first; without one, those that are not closed."""
        wanted: LoopState | None = None if state is None else member("state", LoopState, state)
        most, now = whole("limit", limit, 1, PAGE_LIMIT), self._desk.tools.clock.now()
        closed = wanted is not None and not wanted.is_open
        found = loops(self._desk.tools, self._desk.at(scope), closed=closed)
        fitting = [one for one in found if wanted is None or state_of(one) is wanted]
        return [loop(one, now) for one in fitting[:most]]

    def get(self, commitment_id: str) -> Commitment:
        """One loop by its id or the beginning of it. Raises NotFound, also for a memory that is none."""
        memory = self._desk.tools.store.memories.get(self._desk.resolve(commitment_id), self._desk.access)
        return loop(_loop_memory(memory, commitment_id), self._desk.tools.clock.now())

    def close(
        self, commitment_id: str, outcome: LoopState | str = "done", *, because: str = ""
    ) -> Commitment:
        """Say how it ended: done or dropped."""
        state: LoopState = member("outcome", LoopState, outcome)
        if state not in OUTCOMES:
            raise UnknownValue("outcome", outcome, tuple(str(one) for one in OUTCOMES))
        now = self._desk.tools.clock.now()
        full = self._desk.own(commitment_id)
        return loop(self._set(full, state, because or str(state), closed=(now, because)), now)

    def wait(self, commitment_id: str, on: str) -> Commitment:
        """Say for whom or what it waits."""
        whom = " ".join(screen.readable("on", on).split())
        if not whom:
            raise InvalidInput("Say for whom or what it waits.")
        screen.name("on", whom)
        full = self._desk.own(commitment_id)
        return loop(
            self._set(full, LoopState.WAITING, f"waits for {whom}", whom=whom), self._desk.tools.clock.now()
        )

    def reopen(
        self, commitment_id: str, *, due: datetime | str | None = None, because: str = ""
    ) -> Commitment:
        """Open it again: it was closed too soon, or nobody is waited for any more. `due` moves the day."""
        now = self._desk.tools.here()
        until = None if due is None else _due(due, now)
        full = self._desk.own(commitment_id)
        return loop(self._set(full, LoopState.OPEN, because or "opened again", due=until), now)

    def review(self, *, dry: bool = False, limit: int = 100) -> Closings:
        """Close what a later statement says, beyond doubt, was done; with `dry` only tell."""
        access, tools = self._desk.access, self._desk.tools
        kept = [
            (memory, later)
            for memory in loops(tools, access, closed=False)[: whole("limit", limit, 1, PAGE_LIMIT)]
            if (later := _kept_by(memory, tools, access)) is not None and access.may_write(memory.scope)
        ]
        once = [pair for pair in kept if sum(other.id == pair[1].id for _, other in kept) == 1]
        return [self._closing(memory, later, dry=dry) for memory, later in once]

    # ------------------------------------------------------------ inside

    def _closing(self, memory: Memory, later: Memory, *, dry: bool) -> Closing:
        now = self._desk.tools.clock.now()
        if not dry:
            because = f"memory {later.id} says so"
            memory = self._set(memory.id, LoopState.DONE, because, closed=(now, because))
        return Closing(loop(memory, now), later.id, later.content)

    def _set(
        self,
        memory_id: str,
        state: LoopState,
        because: str,
        *,
        due: datetime | None = None,
        whom: str = "",
        closed: tuple[datetime, str] | None = None,
    ) -> Memory:
        def change(old: Memory) -> Memory:
            details = details_of(state, old.details, due=due, whom=whom, closed=closed)
            return replace(old, details=details, tags=tags_of(state, old.tags))

        return _change(memory_id, change, because, self._desk)


def loops(tools: Tools, access: Access, *, closed: bool) -> list[Memory]:
    """Memories that are open loops, or closed ones, oldest first. So many at most as one page holds."""
    over, kind = frozenset({CLOSED_TAG}), frozenset({CATEGORY})
    fit = Filters(categories=kind, tags_any=over) if closed else Filters(categories=kind, not_tags=over)
    view = View(access, fit)
    memories = tools.store.memories
    keys = memories.select(view, NAMED)
    found = (
        list(memories.page(view, PAGE_LIMIT))
        if keys is None
        else list(memories.read([int(key) for key in keys[:PAGE_LIMIT]]).values())
    )
    fitting = [one for one in found if is_loop(one) and state_of(one).is_open is not closed]
    return sorted(fitting, key=lambda one: (one.happened_at, one.content, one.id))


def _kept_by(memory: Memory, tools: Tools, access: Access) -> Memory | None:
    """The first later statement that keeps a promise."""
    view = View(access, Filters(created_since=memory.created_at))
    terms = query_terms(memory.content).terms
    keys = [key for key, _ in tools.store.texts.search(list(terms), view, LATER)]
    found = tools.store.memories.read(keys)
    return next((found[key] for key in keys if key in found and is_kept_by(memory, found[key])), None)


def _due(given: datetime | str, now: datetime) -> datetime:
    """A time as it is given, or as words name it."""
    if isinstance(given, str):
        named = due_in(screen.readable("due", given), now)
        if named is not None and not given[:4].isdigit():
            return named
    try:
        return told_moment("due", given, now.tzinfo or UTC)
    except WrongType as error:
        raise WrongType("due", given, 'a time, or words that name a day to come ("by Friday")') from error


def _change(memory_id: str, change: Callable[[Memory], Memory], because: str, desk: Desk) -> Memory:
    def work(unit: Unit) -> Memory:
        old = _loop_memory(unit.get(memory_id), memory_id)
        new = change(old)
        if new == old:
            return old
        new = replace(new, version=old.version + 1, modified_at=desk.tools.clock.now())
        unit.change(new, Verb.UPDATED, because)
        return new

    return desk.tools.store.write(work, desk.actor)


def _loop_memory(memory: Memory | None, asked: str) -> Memory:
    if memory is None:
        raise NotFound(asked)
    if memory.category != CATEGORY:
        message = f"{asked[:60]!r} is no commitment but a memory of category {memory.category!r}."
        raise InvalidInput(message)
    return memory
