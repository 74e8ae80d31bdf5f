"""Shapes that several exports share: times, roles and contents as they come, values of ours as they go."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engram.capture.messages import PARTS
from engram.errors import BadImport, EngramError
from engram.model.ingest import Fate, ItemReport
from engram.model.turn import Part

BEGINNING = 80
"""Characters of an item that a report shows."""
_MILLISECONDS = 1e11
"""A number of seconds beyond this lies in the year 5138: it counts milliseconds."""
_TEXTS = frozenset({"text", "input_text", "output_text"})


def moment(value: Any) -> datetime | None:
    """A time from seconds or milliseconds since 1970, or from ISO 8601 text; None when it is none.

    >>> moment(1714521600.5).isoformat(), moment("2024-05-01T00:00:00Z").isoformat(), moment("soon")
    ('2024-05-01T00:00:00.500000+00:00', '2024-05-01T00:00:00+00:00', None)
    """
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def part_of(role: Any) -> Part | None:
    """Whose part in a conversation a role plays; None for one that nobody knows."""
    return PARTS.get(role.lower()) if isinstance(role, str) else None


def words_of(content: Any) -> str:
    r"""The words of a message's content: text, or a list of blocks of which only text was said.

    >>> words_of([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}, "here"])
    'Look:\n\nhere'
    """
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, Mapping):
        return words_of([content])
    if not isinstance(content, list):
        return ""
    found = [block if isinstance(block, str) else _block(block) for block in content]
    return "\n\n".join(words for one in found if (words := one.strip()))


def _block(block: Any) -> str:
    if not isinstance(block, Mapping) or block.get("type", "text") not in _TEXTS:
        return ""
    text = block.get("text")
    return text if isinstance(text, str) else ""


def label(value: Any) -> str:
    """A title or name on one line; empty when there is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def refused(origin: str, error: EngramError, text: str = "") -> ItemReport:
    """The report of an item that cannot be taken."""
    shown = text[:BEGINNING].encode(errors="replace").decode()
    return ItemReport(origin, Fate.REFUSED, (), error.message, error.code, shown)


def unreadable(origin: str, number: int, why: str) -> ItemReport:
    """The report of a line, or a part, that cannot be read."""
    return refused(origin, BadImport(number, why))
