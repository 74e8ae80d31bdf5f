"""Screening: a draft comes in; the same draft in clean form goes out, or an error that says what is wrong.

Nothing is written before every draft of a call has passed.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from threading import Lock
from typing import Any

from engram.errors import (
    BadTag,
    BadText,
    ContentTooLong,
    EmptyContent,
    InvalidInput,
    OutOfRange,
    TooManyTags,
    UnknownValue,
    WrongType,
)
from engram.lazily import replace
from engram.model.capture import Draft, Part, Turn
from engram.model.clock import zone_of
from engram.model.memory import (
    CATEGORIES,
    CONTENT_LIMIT,
    NAME_LENGTH_LIMIT,
    SOURCE_LENGTH_LIMIT,
    TAG_LENGTH_LIMIT,
    TAG_LIMIT,
)
from engram.model.scope import HERE, Scope
from engram.ports import Tools
from engram.text import re
from engram.text.echo import Echoes

ECHO_HOURS = 24.0  # hours back that recalls of other processes are recognised as an echo

DETAILS_LIMIT = 65_536
_SLUG = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def screen(draft: Draft) -> Draft:
    """The draft with trimmed content and tidy tags. Raises InvalidInput, naming the field and the limit.

    One that no caller stands behind, and that names no place, belongs to the default namespace.
    """
    scope = Scope() if draft.scope == HERE else draft.scope
    _scope(scope)
    name("session", draft.session)
    name("speaker", draft.speaker)
    name("source", draft.source, SOURCE_LENGTH_LIMIT)
    share("importance", draft.importance)
    share("confidence", draft.confidence)
    if not isinstance(draft.pinned, bool):
        raise WrongType("pinned", draft.pinned, "true or false")
    tidy: dict[str, Any] = {
        "scope": scope,
        "content": content(draft.content),
        "tags": tags(draft.tags),
        "category": None if draft.category is None else category(draft.category),
        "details": details(draft.details),
    }
    changed = {field: value for field, value in tidy.items() if value is not getattr(draft, field)}
    return replace(draft, **changed) if changed else draft


def content(text: Any) -> str:
    """The content, trimmed."""
    clean = readable("content", text).strip()
    if not clean:
        raise EmptyContent
    if len(clean) > CONTENT_LIMIT:
        raise ContentTooLong("content", len(clean), CONTENT_LIMIT)
    return clean


def tags(given: tuple[Any, ...]) -> tuple[str, ...]:
    """The tags, trimmed, each once, in the order given."""
    clean = tuple(dict.fromkeys(_tag(tag) for tag in given))
    if len(clean) > TAG_LIMIT:
        raise TooManyTags(len(clean), TAG_LIMIT)
    return clean


def category(word: Any) -> str:
    """The category: a known one or any other slug."""
    slug = readable("category", word).strip().lower()
    if not _SLUG.fullmatch(slug):
        raise UnknownValue("category", word, (*CATEGORIES, "or a slug of your own"))
    return slug


def share(field: str, value: Any) -> None:
    """A number between 0 and 1, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongType(field, value, "a number")
    if math.isnan(value) or not 0 <= value <= 1:
        raise OutOfRange(field, value, 0, 1)


def name(field: str, text: Any, limit: int = NAME_LENGTH_LIMIT) -> None:
    """A short word or name; it may be empty."""
    if len(readable(field, text)) > limit:
        raise ContentTooLong(field, len(text), limit)


def some_name(field: str, text: Any, limit: int = NAME_LENGTH_LIMIT) -> str:
    """A name that says something, on one line. Raises EmptyContent, ContentTooLong."""
    clean = " ".join(readable(field, text).split())
    if not clean:
        raise EmptyContent(field)
    name(field, clean, limit)
    return clean


def timezone(field: str, text: Any) -> str:
    """A time zone's name or offset; empty: nobody said."""
    zone = readable(field, text).strip()
    try:
        zone_of(zone)
    except ValueError as error:
        raise InvalidInput(f"{field}: {error}.") from error
    return zone


def details(given: Any) -> dict[str, Any]:
    """Plain JSON of bounded size."""
    if isinstance(given, dict) and not given:
        return given
    size = len(json.dumps(given, ensure_ascii=True))
    if size > DETAILS_LIMIT:
        raise ContentTooLong("details", size, DETAILS_LIMIT)
    readable("details", json.dumps(given, ensure_ascii=False))
    return dict(given)


def readable(field: str, text: Any) -> str:
    """Text that every file and every program can hold: no NUL, no half of a character."""
    if not isinstance(text, str):
        raise WrongType(field, text, "text")
    if "\x00" in text:
        raise BadText(field, "a NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise BadText(field, "half of a character (a lone surrogate)") from error
    return text


def _tag(tag: Any) -> str:
    clean = readable("tag", tag).strip()
    if not clean or len(clean) > TAG_LENGTH_LIMIT:
        raise BadTag(clean, TAG_LENGTH_LIMIT)
    return clean


def _scope(scope: Scope) -> None:
    for part in scope.parts:
        name("scope", part)
    if not scope.namespace.strip():
        raise EmptyContent("namespace")


# ---------------------------------------------------------------- gate
# The gate in front of memory: words come in; why they must not become a memory comes out, or nothing.
#
# What the engine itself brought into a prompt comes back in answers, quotes and pasted blocks. It must not
# be learned again: an assistant that repeats a memory confirms nothing.


RECALLS = 200
"""How many recalls between two turns are kept in mind, the latest."""
REMEMBERED = 500
"""How many memories that were recalled before this process began are recognised."""


_OF_MYSELF = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b|[我咱]")


class Gate:
    """Knows what was recalled lately. Lives as long as the engine; any thread may use it.

    One that is not `listening` lets everything pass: what was recalled before an old turn is not known.
    """

    def __init__(self, tools: Tools, *, listening: bool = True) -> None:
        self._tools = tools
        self._echoes = Echoes()
        self._lock = Lock()
        self._caught_up = not listening
        # Hashing words takes longer than many a recall: it waits until somebody says something.
        self._recalled: deque[tuple[str, ...]] = deque(maxlen=RECALLS)

    def shown(self, texts: Iterable[str]) -> None:
        """Keep in mind what a recall or a document brought into a prompt."""
        self._recalled.append(tuple(texts))

    def refuses(self, sentence: str, turn: Turn) -> str:
        """Why a sentence of this turn is not to be learned; empty when it may be.

        A person who says it again in the first person means it; an assistant only repeats what it was given.
        """
        self._catch_up()
        if turn.part is not Part.ASSISTANT and _OF_MYSELF.search(sentence):
            return ""
        while self._recalled:
            with suppress(IndexError):  # another thread was faster
                self._echoes.heard(self._recalled.popleft())
        return "an echo of what was recalled" if self._echoes.is_echo(sentence) else ""

    def _catch_up(self) -> None:
        """What other processes recalled from this file counts as well."""
        with self._lock:
            if self._caught_up:
                return
            self._caught_up = True
        since = self._tools.clock.now() - timedelta(hours=ECHO_HOURS)
        used = self._tools.store.memories.used_since(since, REMEMBERED)
        self._echoes.heard(memory.content for memory in used)
