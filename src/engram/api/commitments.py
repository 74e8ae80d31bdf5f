"""Commitments: what was promised or is owed. `memory.commitments` opens, lists, waits for and closes them.

Each is a memory of category `commitment`; what was captured so and plainly promises something is
listed like what was opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from engram.api.caller import PAGE_LIMIT, Noun, whole
from engram.capture import change
from engram.context.recall_pack import matching_triggers
from engram.errors import AccessDenied, EmptyContent, InvalidInput, OutOfRange, UnknownValue, WrongType
from engram.model.capture import Draft
from engram.model.event import Verb
from engram.model.memory import Filters, Memory, Policy
from engram.model.plain import member, told_moment
from engram.model.scope import HERE, Access, Scope
from engram.model.session import PAGE_KINDS, Commitment, LoopState, Trigger
from engram.ports import Tools, View
from engram.rules import screen
from engram.rules.commitments import (
    CATEGORY,
    CLOSED_TAG,
    details_of,
    due_in,
    is_loop,
    loop,
    state_of,
    tags_of,
)
from engram.rules.sealing import opened

OUTCOMES = (LoopState.DONE, LoopState.DROPPED)
NAMED = 10_000
"""So many open loops are named before the oldest of them are read."""

Loops = list[Commitment]


class Commitments(Noun):
    """Open loops. Hangs on the facade; safe to use from many threads."""

    def open(
        self,
        text: str,
        *,
        due: datetime | str | None = None,
        waiting_on: str = "",
        scope: Scope | None = None,
        session: str = "",
    ) -> Commitment:
        """Open a loop. `due` is a time or words ("by Friday"); when it is not given, the text may name it.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        now = self._tools.here()
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
        memory = self._caller.write([self._caller.mine(draft)])[0].memory
        known = opened(memory, self._tools.keys).details
        if any(known.get(name) != value for name, value in details.items()):  # it was known already
            memory = self._set(memory.id, state, "opened again", due=until, whom=waiting_on)
        return loop(memory, now)

    def list(
        self, state: LoopState | str | None = None, *, limit: int = 100, scope: Scope | None = None
    ) -> Loops:
        """Loops in a state, oldest first; without one, those that are not closed."""
        wanted: LoopState | None = None if state is None else member("state", LoopState, state)
        most, now = whole("limit", limit, 1, PAGE_LIMIT), self._tools.clock.now()
        closed = wanted is not None and not wanted.is_open
        memories = loops(self._tools, self._caller.at(scope), closed=closed)
        fitting = [memory for memory in memories if wanted is None or state_of(memory) is wanted]
        return [loop(memory, now) for memory in fitting[:most]]

    def get(self, commitment_id: str) -> Commitment:
        """One loop by its id or the beginning of it. Raises NotFound, also for a memory that is none."""
        memory = self._caller.seen(commitment_id)
        return loop(_checked(memory, commitment_id), self._tools.clock.now())

    def close(
        self, commitment_id: str, outcome: LoopState | str = "done", *, because: str = ""
    ) -> Commitment:
        """Say how it ended: done or dropped. Raises NotFound, AmbiguousId, AccessDenied, UnknownValue."""
        state: LoopState = member("outcome", LoopState, outcome)
        if state not in OUTCOMES:
            raise UnknownValue("outcome", outcome, tuple(str(one) for one in OUTCOMES))
        now = self._tools.clock.now()
        full = self._caller.own(commitment_id)
        return loop(self._set(full, state, because or str(state), closed=(now, because)), now)

    def wait(self, commitment_id: str, on: str) -> Commitment:
        """Say for whom or what it waits. Raises NotFound, AmbiguousId, AccessDenied."""
        whom = " ".join(screen.readable("on", on).split())
        if not whom:
            raise InvalidInput("Say for whom or what it waits.")
        screen.name("on", whom)
        full = self._caller.own(commitment_id)
        return loop(
            self._set(full, LoopState.WAITING, f"waits for {whom}", whom=whom), self._tools.clock.now()
        )

    def reopen(
        self, commitment_id: str, *, due: datetime | str | None = None, because: str = ""
    ) -> Commitment:
        """Open it again: it was closed too soon, or nobody is waited for any more. `due` moves the day.

        Raises NotFound, AmbiguousId, AccessDenied.
        """
        now = self._tools.here()
        until = None if due is None else _due(due, now)
        full = self._caller.own(commitment_id)
        return loop(self._set(full, LoopState.OPEN, because or "opened again", due=until), now)

    # ------------------------------------------------------------ inside

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
        def changed(old: Memory) -> Memory:
            details = details_of(state, _checked(old, memory_id).details, due=due, whom=whom, closed=closed)
            return replace(old, details=details, tags=tags_of(state, old.tags))

        return change.alter(memory_id, changed, Verb.UPDATED, self._tools, self._caller.actor, because)


def loops(tools: Tools, access: Access, *, closed: bool) -> list[Memory]:
    """Memories that are open loops, or closed ones, oldest first. So many at most as one page holds."""
    over, kind = frozenset({CLOSED_TAG}), frozenset({CATEGORY})
    fits = (
        (Filters(categories=kind, tags_any=over), Filters(tags_all=kind | over))
        if closed
        else (Filters(categories=kind, not_tags=over), Filters(tags_any=kind, not_tags=over))
    )
    found = {memory.id: memory for fit in fits for memory in _oldest(View(access, fit), tools)}
    fitting = [
        memory for memory in found.values() if is_loop(memory) and state_of(memory).is_open is not closed
    ]
    return sorted(fitting, key=lambda memory: (memory.happened_at, memory.content, memory.id))


def _oldest(view: View, tools: Tools) -> list[Memory]:
    memories = tools.store.memories
    keys = memories.select(view, NAMED)
    if keys is None:
        return list(memories.page(view, PAGE_LIMIT))
    return list(memories.read([int(key) for key in keys[:PAGE_LIMIT]]).values())


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


def _checked(memory: Memory, asked: str) -> Memory:
    """The memory, if it is a commitment. Raises InvalidInput."""
    if memory.category != CATEGORY and not is_loop(memory):
        raise InvalidInput(f"{asked[:60]!r} is no commitment but a memory of category {memory.category!r}.")
    return memory


# ---------------------------------------------------------------- triggers
# Triggers: words in a message that load pages into the recall pack. `memory.triggers` keeps them.


WORDS_LIMIT = 50
"""So many words, and so many pages, of one trigger."""
TRIGGERS_LIMIT = 1_000
PAGE_LENGTH = 1_000
ID_LENGTH = 8

Found = list[Trigger]


class Triggers(Noun):
    """Words that load pages. Hangs on the facade; safe to use from many threads."""

    def add(self, words: Sequence[str], pages: Sequence[str], *, scope: Scope | None = None) -> Trigger:
        """When a message holds one of the words, the pack also tells these pages.

        A page is `entity:Anna`, `tag:billing`, `category:procedure`, `memory:7f3a91c2` or
        `origin:file:/notes/house.md`; a bare name means the entity.
        Raises AccessDenied, InvalidInput.
        """
        place = self._caller.access.scope if scope is None else scope
        self._caller.check_write(place)
        if len(self._store.triggers.known(self._caller.access)) >= TRIGGERS_LIMIT:
            raise OutOfRange("number of triggers", TRIGGERS_LIMIT + 1, 0, TRIGGERS_LIMIT)
        made = Trigger(
            id=self._tools.new_id()[:ID_LENGTH],
            words=_words("words", words),
            pages=self._pages(pages),
            scope=place,
            created_at=self._tools.clock.now(),
        )
        self._store.triggers.put(made)
        return made

    def list(self) -> Found:
        """The triggers of places this caller sees, oldest first."""
        return self._store.triggers.known(self._caller.access)

    def get(self, trigger_id: str) -> Trigger:
        """One trigger by its id. Raises InvalidInput."""
        wanted = screen.readable("id", trigger_id).strip().lower()
        for trigger in self.list():
            if trigger.id == wanted:
                return trigger
        raise InvalidInput(f"There is no trigger {trigger_id[:60]!r}; `engram triggers` lists them.")

    def update(
        self, trigger_id: str, *, words: Sequence[str] | None = None, pages: Sequence[str] | None = None
    ) -> Trigger:
        """Change the words or the pages of a trigger. Raises AccessDenied, InvalidInput."""
        old = self._own(trigger_id)
        new = replace(
            old,
            words=old.words if words is None else _words("words", words),
            pages=old.pages if pages is None else self._pages(pages),
        )
        self._store.triggers.put(new)
        return new

    def remove(self, trigger_id: str) -> Trigger:
        """Take a trigger away. Raises AccessDenied, InvalidInput."""
        old = self._own(trigger_id)
        self._store.triggers.remove(old.id)
        return old

    def match(self, message: str) -> Found:
        """The triggers that a message sets off. Raises InvalidInput."""
        return [trigger for trigger, _ in matching_triggers(screen.readable("message", message), self.list())]

    def _own(self, trigger_id: str) -> Trigger:
        trigger = self.get(trigger_id)
        if not self._caller.access.may_write(trigger.scope):
            raise AccessDenied(f"change triggers of {trigger.scope}")
        return trigger

    def _pages(self, given: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._page(word) for word in _words("pages", given)))

    def _page(self, given: str) -> str:
        kind, colon, name = given.partition(":")
        if not colon:
            return f"entity:{given}"
        if kind not in PAGE_KINDS or not name.strip():
            raise UnknownValue("kind of page", kind, PAGE_KINDS)
        return f"memory:{self._caller.resolve(name)}" if kind == "memory" else f"{kind}:{name.strip()}"


def _words(field: str, given: Any) -> tuple[str, ...]:
    """Texts, trimmed, each once."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType(field, given, "a list of texts")
    clean = tuple(dict.fromkeys(" ".join(screen.readable(field, one).split()) for one in given))
    kept = tuple(one for one in clean if one)
    if not kept:
        raise EmptyContent(field)
    if len(kept) > WORDS_LIMIT:
        raise OutOfRange(f"number of {field}", len(kept), 1, WORDS_LIMIT)
    for one in kept:
        screen.name(field, one, PAGE_LENGTH)
    return kept
