"""The sections of the pack: what was gathered comes in; every section with all that it would tell comes out.

A memory stands in one section only: in the first that asks for it. Open loops that are due stand in today's
focus as well, and those of priority P0 among the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from engram.config import PackConfig
from engram.context.recall_pack import lines
from engram.context.recall_pack.gather import Gathered
from engram.context.recall_pack.layout import Item, Wanted
from engram.context.recall_pack.rules import Tasks, age, by_recency, by_weight, is_dropped, is_too_old
from engram.context.telling import may_be_told, one_line
from engram.lifecycle.commitments import last_day, loop
from engram.model.commitment import Commitment, LoopState
from engram.model.memory import Memory

CONTEXT = 300
"""More memories than that find no room in the context, however short."""
SOON = 7
"""Days ahead in which a commitment is due soon."""
LATE = 30
"""Days after which one that is overdue is nothing for today: it stays among the commitments."""

Pair = tuple[Memory, Memory]
Loop = tuple[Commitment, Memory]


@dataclass(frozen=True, slots=True)
class Today:
    """What a pack is made for: the day, what is to be done, what is open and what is in dispute."""

    now: datetime
    tasks: tuple[str, ...] = ()
    message: str = ""
    loops: tuple[Memory, ...] = ()
    conflicts: tuple[Pair, ...] = ()

    @property
    def day(self) -> date:
        """By the calendar."""
        return self.now.date()


def sections(found: Gathered, today: Today, settings: PackConfig) -> list[Wanted]:
    """Every section in its order."""
    loops = [(loop(memory, today.now), memory) for memory in today.loops if may_be_told(memory)]
    due = [one for one in _coming(loops, today.day) if _is_due(one, today.day)]
    choice = _Choice(today, [memory.content for _, memory in due], settings)
    rules = choice.always(sorted(found.rules, key=by_weight))
    mantra = choice.fit(sorted(found.mantra, key=by_weight))[:1]
    focus = _focus(found.focus, loops, today, choice)[: settings.focus_most]
    accounts = choice.items(sorted(found.accounts, key=by_weight))
    procedures = choice.items(sorted(found.procedures, key=by_weight))
    disputes = choice.disputes(today.conflicts)
    recent = choice.fit(sorted(found.context, key=lambda one: by_recency(one, today.day)))
    context = choice.lines(recent[:CONTEXT])
    ours = tuple(lines.open_loop(*one, today.day) for one in loops if one[0].state is LoopState.OPEN)
    theirs = tuple(lines.waiting(*one, today.day) for one in loops if one[0].state is LoopState.WAITING)
    return [
        Wanted("rules", "## P0 constraints", rules, settings.rules, whole=True),
        Wanted("mantra", "## Mantra", tuple(map(lines.bare, mantra)), settings.mantra),
        Wanted("commitments", "## Open commitments", ours, settings.commitments),
        Wanted("waiting", "## Waiting on", theirs, settings.waiting),
        Wanted("focus", "## Today's focus", focus, settings.focus),
        Wanted("context", "## Context", (*disputes, *context), settings.context),
        Wanted("procedures", "## Procedures", procedures, settings.procedures),
        Wanted("accounts", "## Accounts", accounts, settings.accounts),
    ]


class _Choice:
    """What is told already and what may still be. Lives for one pack, in one thread."""

    def __init__(self, today: Today, due: Sequence[str], settings: PackConfig) -> None:
        self._day, self._settings = today.day, settings
        self._tasks = Tasks([*today.tasks, today.message, *due])
        self._marks = lines.conflict_marks(_opponents(today.conflicts))
        self._told = {memory.id for memory in today.loops}

    def always(self, memories: Iterable[Memory]) -> tuple[Item, ...]:
        """All of them, whatever their age, also those that stand among the commitments."""
        return self.lines(memories)

    def items(self, memories: Iterable[Memory]) -> tuple[Item, ...]:
        """Lines of those that fit."""
        return self.lines(self.fit(memories))

    def fit(self, memories: Iterable[Memory]) -> list[Memory]:
        """Those that are not told yet and not too old; from now on they are told."""
        kept = [
            one
            for one in memories
            if one.id not in self._told
            and not is_too_old(one, self._day, self._settings)
            and not is_dropped(one, self._day, self._tasks, self._settings)
        ]
        self._told.update(one.id for one in kept)
        return kept

    def disputes(self, pairs: Iterable[Pair]) -> tuple[Item, ...]:
        """Both sides of each conflict that is not too old to matter."""
        fresh = [
            pair
            for pair in pairs
            if not any(is_too_old(one, self._day, self._settings) or not may_be_told(one) for one in pair)
        ]
        found = tuple(sorted({lines.conflict(*pair) for pair in fresh}, key=lambda item: item.lines))
        self._told.update(one for item in found for one in item.ids)
        return found

    def lines(self, memories: Iterable[Memory]) -> tuple[Item, ...]:
        """Each with its marks; from now on they are told."""
        found = []
        for one in memories:
            self._told.add(one.id)
            mark = self._marks.get(one.id, "") + lines.stale_mark(one, self._day, self._settings)
            found.append(lines.told(one, mark))
        return tuple(found)


def _focus(
    tagged: Iterable[Memory], loops: Sequence[Loop], today: Today, choice: _Choice
) -> tuple[Item, ...]:
    """Today's tasks, what is due, what was marked for today, and then what is due soon."""
    coming = _coming(loops, today.day)
    marked = [one for one in tagged if "focus" in one.tags or age(one, today.day) == 0]
    return (
        *(Item((), (f"- {one_line(task)}",)) for task in today.tasks if task.strip()),
        *(lines.due_today(*one, today.day) for one in coming if _is_due(one, today.day)),
        *choice.items(sorted(marked, key=lambda one: by_recency(one, today.day))),
        *(lines.due_today(*one, today.day) for one in coming if not _is_due(one, today.day)),
    )


def _coming(loops: Sequence[Loop], day: date) -> list[Loop]:
    """Open commitments that are due within a week, or have been not long ago; the most urgent first."""
    since, until = day - timedelta(days=LATE), day + timedelta(days=SOON)
    found = [(one.due, memory.content, memory.id, (one, memory)) for one, memory in loops if one.due]
    found.sort(key=lambda row: row[:3])
    return [both for due, _, _, both in found if since <= last_day(due) <= until]


def _is_due(one: Loop, day: date) -> bool:
    return one[0].due is not None and last_day(one[0].due) <= day


def _opponents(pairs: Iterable[Pair]) -> dict[str, str]:
    """Each memory in a conflict with the first of those that contradict it."""
    found: dict[str, set[str]] = {}
    for one, other in pairs:
        found.setdefault(one.id, set()).add(other.id)
        found.setdefault(other.id, set()).add(one.id)
    return {memory: min(others) for memory, others in found.items()}
