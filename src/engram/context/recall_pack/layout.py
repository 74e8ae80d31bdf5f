"""Layout of the pack: what each section may tell comes in; its text within its words comes out.

Sections are filled in order. One that needs more takes from the buffer. What must be whole takes, beyond the
buffer, from the last sections first. A memory gets shorter before it disappears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engram.context.recall_pack.rules import words_in
from engram.model.briefing import BriefSection
from engram.text.packing import Parcel, pack, value

SURE = 3
"""So many of the first things of a section stay in it, however short, as long as they fit."""
MORE = "- and {count} more"
MORE_WORDS = words_in(MORE.format(count=1_000))


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to tell: the memories it is about, and its line at falling length, the whole first."""

    ids: tuple[str, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A section before it is laid out."""

    name: str
    title: str
    items: tuple[Item, ...]
    words: int
    """Its own budget; its heading counts."""
    whole: bool = False
    """Whether everything is told in full, whatever it takes."""

    @property
    def size(self) -> int:
        """Words of all of it in full."""
        return _size(self.title, [one.lines[0] for one in self.items]) if self.items else 0


def lay_out(sections: Sequence[Wanted], buffer: int) -> tuple[list[BriefSection], int]:
    """The sections that have something to tell, and what is left of the words of all of them."""
    budgets, left = _with_debts(sections, buffer)
    told: list[BriefSection] = []
    spare = 0
    for section, budget in zip(sections, budgets, strict=True):
        room = budget if section.size <= budget else budget + left
        made = _section(section, section.size if section.whole else room)
        made = replace(made, limit=budget)
        if not section.whole:
            left -= max(0, made.size - budget)
        spare += max(0, budget - made.size)
        if made.text or made.left_out:
            told.append(made)
    return told, left + spare


def page(section: Wanted) -> BriefSection:
    """One section more, in the words it was given."""
    return _section(section, section.words)


def _with_debts(sections: Sequence[Wanted], buffer: int) -> tuple[list[int], int]:
    """The budgets, less what the sections that must be whole take beyond theirs: first of the buffer."""
    budgets = [section.words for section in sections]
    debt = sum(max(0, section.size - section.words) for section in sections if section.whole)
    paid = min(debt, buffer)
    debt -= paid
    for place in range(len(sections) - 1, -1, -1):
        if not sections[place].whole:
            cut = min(debt, budgets[place])
            budgets[place] -= cut
            debt -= cut
    return budgets, buffer - paid


def _section(section: Wanted, room: int) -> BriefSection:
    empty = BriefSection(section.name, "", (), 0, room, left_out=len(section.items))
    if section.size <= room:
        return _told(empty, section.title, [one.lines[0] for one in section.items], section.items)
    free = room - words_in(section.title) - MORE_WORDS
    costs = [tuple(map(words_in, one.lines)) for one in section.items]
    all_fit = sum(map(min, costs)) <= free
    parcels = [
        Parcel(value(place, 1.0), one, needed=all_fit or place < SURE) for place, one in enumerate(costs)
    ]
    chosen = pack(parcels, free) if free > 0 else []
    kept = [(section.items[place], form) for place, form in enumerate(chosen) if form is not None]
    if not kept:
        return replace(empty, how="cut")
    lines = [one.lines[form] for one, form in kept]
    missing = len(section.items) - len(kept)
    if missing:
        lines.append(MORE.format(count=missing))
    return replace(_told(empty, section.title, lines, [one for one, _ in kept]), how="cut")


def _told(empty: BriefSection, title: str, lines: Sequence[str], items: Sequence[Item]) -> BriefSection:
    if not lines:
        return replace(empty, left_out=0)
    text = "\n".join((title, *lines))
    ids = tuple(dict.fromkeys(one for item in items for one in item.ids))
    return replace(empty, text=text, ids=ids, size=_size(title, lines), left_out=empty.left_out - len(items))


def _size(title: str, lines: Sequence[str]) -> int:
    return words_in(title) + sum(words_in(line) for line in lines)
