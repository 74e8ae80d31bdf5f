"""Anticipation: after a turn the next recall is prepared; if the next message goes that way, it is there.

It is used when the message lies near enough to where the talk was heading and the preparation is fresh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from engram.model.session import Anticipated, Gap
from engram.rules.vectors import cosine

if TYPE_CHECKING:
    from engram.model.memory import Space
    from engram.ports import Floats


FRESH = timedelta(seconds=60)
ALIKE = 0.6
"""The cosine to what was expected above which a message counts as expected."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRecall:
    """A recall for a message that has not been said yet."""

    space: Space
    vector: Floats
    """Where the talk was heading."""
    ids: tuple[str, ...]
    """The memories that may help; only their ids, for many sessions may wait at once."""
    at: datetime
    names: frozenset[str] = frozenset()
    """Whom the talk and what was found name, without case: a message about somebody else is not expected."""


class Anticipation:
    """What one session expects next, and how often it was right. Used under the session's lock."""

    def __init__(self, alike: float = ALIKE) -> None:
        self.counted = Anticipated()
        self._alike = alike
        self._prepared: PreparedRecall | None = None

    def prepare(self, prepared: PreparedRecall | None) -> None:
        """Keep what was prepared, instead of what was before."""
        self._prepared = prepared

    def take(
        self, space: Space, vector: Floats, names: tuple[str, ...], now: datetime
    ) -> tuple[str, ...] | None:
        """What was prepared, if this message was expected; it is used once."""
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            return None
        hit = self._expected(prepared, space, vector, names, now)
        self.counted = replace(self.counted, asked=self.counted.asked + 1, hits=self.counted.hits + int(hit))
        return prepared.ids if hit else None

    def _expected(
        self, prepared: PreparedRecall, space: Space, vector: Floats, names: tuple[str, ...], now: datetime
    ) -> bool:
        if prepared.space != space or not timedelta(0) <= now - prepared.at < FRESH:
            return False
        if any(name.lower() not in prepared.names for name in names):
            return False
        return cosine(vector, prepared.vector) > self._alike


# ---------------------------------------------------------------- clarifying
# Clarifying questions: what is not known comes in; the few worth asking now go out.
#
# At most two a session, each once a week: somebody who is asked all the time stops answering.


A_SESSION = 2


def choose(
    gaps: Sequence[Gap],
    names: Sequence[str],
    asked: int,
    is_due: Callable[[str], bool],
    most: int = A_SESSION,
) -> list[Gap]:
    """The gaps to ask about now: those about what was just named first, then the weightiest.

    `asked` is how many were asked in this session; `is_due` whether a gap was left alone for a week.
    """
    left = most - asked
    if left <= 0:
        return []
    named = {name.lower() for name in names}

    def order(gap: Gap) -> tuple[bool, float, str]:
        return (gap.about.lower() not in named, -gap.weight, gap.key)

    due = (gap for gap in sorted(gaps, key=order) if is_due(gap.key))
    return [gap for _, gap in zip(range(left), due, strict=False)]
