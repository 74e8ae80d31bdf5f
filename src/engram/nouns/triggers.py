"""Triggers: words in a message that load pages into the recall pack. `memory.triggers` keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram.capture import screen
from engram.context.recall_pack.triggers import matching
from engram.errors import AccessDenied, EmptyContent, InvalidInput, OutOfRange, UnknownValue, WrongType
from engram.model.scope import Scope
from engram.model.trigger import PAGE_KINDS, Trigger
from engram.nouns.desk import Desk

WORDS_LIMIT = 50
"""So many words, and so many pages, of one trigger."""
TRIGGERS_LIMIT = 1_000
PAGE_LENGTH = 1_000
ID_LENGTH = 8

Found = list[Trigger]


class Triggers:
    """Words that load pages. Hangs on the facade; safe to use from many threads."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def add(self, words: Sequence[str], pages: Sequence[str], *, scope: Scope | None = None) -> Trigger:
        """When a message holds one of the words, the pack also tells these pages.

        A page is `entity:Anna`, `tag:billing`, `category:procedure`, `memory:7f3a91c2` or
        `origin:file:/notes/house.md`; a bare name means the entity.
        """
        place = self._desk.access.scope if scope is None else scope
        self._desk.check_write(place)
        if len(self._desk.tools.store.triggers.known(self._desk.access)) >= TRIGGERS_LIMIT:
            raise OutOfRange("number of triggers", TRIGGERS_LIMIT + 1, 0, TRIGGERS_LIMIT)
        made = Trigger(
            id=self._desk.tools.new_id()[:ID_LENGTH],
            words=_words("words", words),
            pages=self._pages(pages),
            scope=place,
            created_at=self._desk.tools.clock.now(),
        )
        self._desk.tools.store.triggers.put(made)
        return made

    def list(self) -> Found:
        """The triggers of places this caller sees, oldest first."""
        return self._desk.tools.store.triggers.known(self._desk.access)

    def get(self, trigger_id: str) -> Trigger:
        """One trigger by its id."""
        wanted = screen.readable("id", trigger_id).strip().lower()
        for one in self.list():
            if one.id == wanted:
                return one
        message = f"There is no trigger {trigger_id[:60]!r}; `engram triggers` lists them."
        raise InvalidInput(message)

    def update(
        self, trigger_id: str, *, words: Sequence[str] | None = None, pages: Sequence[str] | None = None
    ) -> Trigger:
        """Change the words or the pages of a trigger."""
        old = self._own(trigger_id)
        new = replace(
            old,
            words=old.words if words is None else _words("words", words),
            pages=old.pages if pages is None else self._pages(pages),
        )
        self._desk.tools.store.triggers.put(new)
        return new

    def remove(self, trigger_id: str) -> Trigger:
        """Take a trigger away."""
        old = self._own(trigger_id)
        self._desk.tools.store.triggers.remove(old.id)
        return old

    def match(self, message: str) -> Found:
        """The triggers that a message sets off."""
        return [one for one, _ in matching(screen.readable("message", message), self.list())]

    def _own(self, trigger_id: str) -> Trigger:
        found = self.get(trigger_id)
        if not self._desk.access.may_write(found.scope):
            what = f"change triggers of {found.scope}"
            raise AccessDenied(what)
        return found

    def _pages(self, given: Any) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._page(one) for one in _words("pages", given)))

    def _page(self, given: str) -> str:
        kind, colon, name = given.partition(":")
        if not colon:
            return f"entity:{given}"
        if kind not in PAGE_KINDS or not name.strip():
            raise UnknownValue("kind of page", kind, PAGE_KINDS)
        return f"memory:{self._desk.resolve(name)}" if kind == "memory" else f"{kind}:{name.strip()}"


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
