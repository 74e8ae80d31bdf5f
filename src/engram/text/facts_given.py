"""Facts as plain data: what a caller or a model wrote comes in, the facts that make sense of it come out.

Lenient: a good statement must not be lost over a bad triple beside it. What cannot be read is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from engram.model.facts import Fact
from engram.text.predicates import canonical, is_functional

MOST: Final = 50
LONGEST: Final = 200
_FIRST_PERSON: Final = frozenset(
    {"i", "me", "my", "myself", "we", "us", "speaker", "the user", "我", "我们", "用户"}
)


def given(listed: Any, speaker: str) -> tuple[Fact, ...]:
    """The facts of a list of {subject, predicate, object, functional, confidence, valid_from, valid_to}.

    >>> found = given(
    ...     [{"subject": "I", "predicate": "lives in", "object": "Rome"}, {"subject": "?"}, 7], "Anna"
    ... )
    >>> found == (Fact("anna", "live in", "rome", functional=True),)
    True
    """
    if not isinstance(listed, list | tuple):
        return ()
    found = (_fact(one, speaker) for one in listed[:MOST] if isinstance(one, Mapping))
    return tuple({(f.subject, f.predicate, f.object): f for f in found if f is not None}.values())


def _fact(one: Mapping[str, Any], speaker: str) -> Fact | None:
    subject, predicate, whom = (_words(one.get(name)) for name in ("subject", "predicate", "object"))
    if not (subject and predicate and whom):
        return None
    functional = one.get("functional")
    return Fact(
        speaker.lower() if subject in _FIRST_PERSON else subject,
        canonical(predicate),
        whom,
        functional if isinstance(functional, bool) else is_functional(predicate),
        _share(one.get("confidence")),
        _moment(one.get("valid_from")),
        _moment(one.get("valid_to")),
    )


def _words(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    words = " ".join(str(value).lower().split())
    return words if any(char.isalnum() for char in words) and len(words) <= LONGEST else ""


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return 1.0
    return min(1.0, max(0.0, float(value)))


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
