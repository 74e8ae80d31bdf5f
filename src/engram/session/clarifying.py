"""Clarifying questions: what is not known comes in; the few worth asking now go out.

At most two a session, each once a week: somebody who is asked all the time stops answering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engram.model.session import Gap

A_SESSION = 2
AGAIN_AFTER_DAYS = 7


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
