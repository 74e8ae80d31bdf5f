"""The rules of the pack: a memory and the day come in; whether it is told, and with which mark, goes out.

Ages are counted in whole days by the calendar, so that a pack is the same all day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from math import ceil

from engram.config import PackConfig
from engram.model.axes import Priority, Status
from engram.model.memory import Memory
from engram.text.scripts import PAIRED
from engram.text.words import content_words

LASTING = frozenset(
    {"preference", "principle", "identity", "relationship", "procedure", "constraint", "instruction"}
)
"""Categories that do not go stale: preferences, principles, identities, relationships, procedures; and the
standing rules that constraints and instructions are."""
SHARED = 2
"""So many words in common with today's tasks make a memory one that they need."""
BANDS = (2, 7, 30)
"""Days that part the last two days, the last week, the last month and what is older."""

_PAIRED = re.compile(f"[{PAIRED}]")


def words_in(text: str) -> int:
    """How many words a text has; two characters of a script without spaces count as one.

    >>> words_in("- [7f3a91c2] I moved to Oslo"), words_in("我住在上海")
    (6, 3)
    """
    dense = len(_PAIRED.findall(text))
    return len(_PAIRED.sub(" ", text).split()) + ceil(dense / 2)


def checked_on(memory: Memory) -> date:
    """The day on which somebody last said or confirmed it.

    What came out of a conversation was said then; anything else when it was stored.
    """
    told = memory.details.get("said_at")
    said = _day(told) or (memory.happened_at if memory.session else memory.local(memory.created_at)).date()
    again = [memory.local(memory.modified_at).date()] if memory.usage.repeated else []
    sure = [memory.local(memory.verified_at).date()] if memory.verified_at else []
    return max([said, *again, *sure])


def age(memory: Memory, today: date) -> int:
    """Whole days since somebody last said or confirmed it."""
    return max(0, (today - checked_on(memory)).days)


def holds(memory: Memory, now: datetime) -> bool:
    """Whether it is in force: not superseded, not ended, not expired."""
    return memory.status in {Status.ACTIVE, Status.CHALLENGED} and not memory.is_over(now)


def is_too_old(memory: Memory, today: date, settings: PackConfig) -> bool:
    """Whether its priority keeps it out by now: P2 after 90 days, P3 after 30; P0 and P1 never."""
    limits = {Priority.P2: settings.p2_days, Priority.P3: settings.p3_days}
    return memory.priority in limits and age(memory, today) > limits[memory.priority]


def goes_stale(memory: Memory) -> bool:
    """Whether nobody may rely on it without a check from time to time."""
    return memory.category not in LASTING and memory.priority is not Priority.P0


def is_stale(memory: Memory, today: date, settings: PackConfig) -> bool:
    """Whether it is marked: not checked for more than 30 days."""
    return goes_stale(memory) and age(memory, today) > settings.stale_days


def is_dropped(memory: Memory, today: date, tasks: Tasks, settings: PackConfig) -> bool:
    """Whether it is left out: not checked for more than 60 days, and today's tasks do not need it."""
    old = goes_stale(memory) and age(memory, today) > settings.dropped_days
    return old and not tasks.need(memory)


class Tasks:
    """What is to be done today, in words. Made once for a pack; it never changes."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = content_words(" ".join(texts)) if any(text.strip() for text in texts) else frozenset()
        self._text = " ".join(texts).casefold()

    def need(self, memory: Memory) -> bool:
        """Whether a memory speaks of them: by a name that they name, or by two words in common.

        >>> at = datetime(2026, 3, 2)
        >>> one = Memory("1", "The staging server listens on port 8443", "h", at, at)
        >>> Tasks(["restart the staging server"]).need(one), Tasks(["buy a server"]).need(one)
        (True, False)
        """
        if not self._words:
            return False
        named = any(_names(name.casefold(), self._text) for name in memory.entities)
        return named or len(self._words & content_words(memory.content)) >= SHARED


def band(days: int) -> int:
    """How recent: 0 the last two days, 1 the last week, 2 the last month, 3 older.

    >>> [band(days) for days in (0, 2, 3, 7, 8, 30, 31)]
    [0, 0, 1, 1, 2, 2, 3]
    """
    return next((place for place, limit in enumerate(BANDS) if days <= limit), len(BANDS))


def by_recency(memory: Memory, today: date) -> tuple[object, ...]:
    """The order of the context: the recent first, then by priority and importance."""
    days = age(memory, today)
    return (band(days), memory.priority, -memory.importance, days, memory.content, memory.id)


def by_weight(memory: Memory) -> tuple[object, ...]:
    """The order of what always holds: by weight, not by age."""
    return (not memory.pinned, -memory.importance, memory.content, memory.id)


def _names(name: str, text: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _day(value: object) -> date | None:
    try:
        return datetime.fromisoformat(value).date() if isinstance(value, str) else None
    except ValueError:
        return None
