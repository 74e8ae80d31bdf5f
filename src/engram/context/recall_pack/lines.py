"""Lines of the pack: a memory or an open loop comes in; its line at falling length comes out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from engram.config import PackConfig
from engram.context.recall_pack.layout import Item
from engram.context.recall_pack.rules import age, is_stale
from engram.context.telling import doubt, forms, one_line, short_id
from engram.lifecycle.commitments import last_day
from engram.model.commitment import Commitment, LoopState
from engram.model.memory import Memory


def told(memory: Memory, mark: str = "") -> Item:
    """A memory by its id and words, with what a reader must be warned of."""
    lines = (f"- [{short_id(memory)}] {words}{doubt(memory)}{mark}" for words in forms(memory))
    return Item((memory.id,), tuple(lines))


def bare(memory: Memory) -> Item:
    """Its words alone; at the shortest the first of them."""
    found = forms(memory)
    return Item((memory.id,), tuple(f"- {words}" for words in (*found, *_first_words(found[-1]))))


def _first_words(words: str) -> tuple[str, ...]:
    pieces = words.split()
    return (" ".join(pieces[:12]) + " …",) if len(pieces) > 12 else ()  # noqa: PLR2004 - a line's worth


def stale_mark(memory: Memory, today: date, settings: PackConfig) -> str:
    """Says that nobody has checked a memory for long."""
    return f" (stale: {age(memory, today)} days unchecked)" if is_stale(memory, today, settings) else ""


def conflict_marks(pairs: Mapping[str, str]) -> Mapping[str, str]:
    """What stands behind a memory that another one contradicts; by id."""
    return {one: f" (conflict with [{other[:8]}])" for one, other in pairs.items()}


def conflict(one: Memory, other: Memory) -> Item:
    """Two memories that cannot both be true, both told."""
    first, second = sorted((one, other), key=lambda memory: (memory.happened_at, memory.content, memory.id))
    pairs = zip(_padded(first), _padded(second), strict=True)
    lines = (f"- CONFLICT, unsettled: [{short_id(first)}] {a} / [{short_id(second)}] {b}" for a, b in pairs)
    return Item((first.id, second.id), tuple(dict.fromkeys(lines)))


def _padded(memory: Memory) -> tuple[str, ...]:
    """Three forms: the shortest again where there are fewer."""
    found = forms(memory)
    return (*found, *(found[-1:] * (3 - len(found))))


def open_loop(loop: Commitment, memory: Memory, today: date) -> Item:
    """A commitment with its age and its day."""
    mark = f" ({_days(loop.age_days)}{_due(loop, today)})"
    lines = (f"- [{short_id(memory)}] {words}{mark}" for words in forms(memory))
    return Item((memory.id,), tuple(lines))


def waiting(loop: Commitment, memory: Memory, today: date) -> Item:
    """Whom one waits for, what for and how long."""
    whom = one_line(loop.waiting_on) or "somebody"
    mark = f" ({_days(loop.age_days)}{_due(loop, today)})"
    lines = (f"- [{short_id(memory)}] {whom}: {words}{mark}" for words in forms(memory))
    return Item((memory.id,), tuple(lines))


def due_today(loop: Commitment, memory: Memory, today: date) -> Item:
    """A commitment that is due."""
    lines = (f"- [{short_id(memory)}] {words} ({_due(loop, today).lstrip(', ')})" for words in forms(memory))
    return Item((memory.id,), tuple(lines))


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _due(loop: Commitment, today: date) -> str:
    if loop.due is None:
        return ""
    day = last_day(loop.due)
    if day < today and loop.state is not LoopState.DONE:
        return f", overdue since {day}"
    return ", due today" if day == today else f", due {day}"
