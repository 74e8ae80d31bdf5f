"""Recalled: memories and a room come in, the section of a prompt that fits it comes out.

What must be there is there; the best is told as fully as fits; the rest competes by value for its tokens
(`text/packing.py`). Nothing is told twice, and nothing that looks like a command to a model is told at all.
When not all finds room even as a label, the abstraction tree says what the others come to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from engram.context import blocks
from engram.context.ruler import Ruler
from engram.model.abstraction import Abstraction, Gist
from engram.model.axes import Priority
from engram.model.context import Shown
from engram.model.memory import Memory
from engram.model.recall import Hit
from engram.security.injection import is_suspect
from engram.text import packing
from engram.text.packing import Parcel
from engram.text.words import content_hash

TREE_SHARE: Final = 0.25
"""At most this share of what the best leaves goes to the abstraction tree."""
STANDING: Final = 0.5
"""What a memory is worth that matters whatever is asked, but was not found for the question."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A memory that may be told, and what it is worth."""

    memory: Memory
    value: float
    relevance: float = 0.0

    @property
    def needed(self) -> bool:
        """Whether it must be there."""
        return self.memory.priority is Priority.P0


@dataclass(frozen=True, slots=True)
class Packed:
    """The section, what it costs, and which memories are in it."""

    lines: tuple[str, ...] = ()
    tokens: int = 0
    shown: tuple[Shown, ...] = ()
    of: int = 0
    """How many memories there were to tell."""
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The section under its heading; empty when there is nothing to tell."""
        return blocks.section("recalled", self.lines) if self.lines else ""


@dataclass(frozen=True, slots=True)
class _Telling:
    """An offer with its lines, the fullest first, and what each costs."""

    offer: Offer
    names: tuple[str, ...]
    lines: tuple[str, ...]
    costs: tuple[int, ...]

    @property
    def parcel(self) -> Parcel:
        return Parcel(self.offer.value, self.costs, self.offer.needed)


def offers(
    hits: Iterable[Hit], standing: Iterable[Memory], said: Iterable[str] = ()
) -> tuple[list[Offer], int]:
    """What may be told, the best first, each thing once; and how many were kept out as suspect.

    `standing` is what matters whatever is asked, `said` what the prompt holds already.
    """
    found = [
        Offer(hit.memory, packing.value(rank, hit.relevance), hit.relevance) for rank, hit in enumerate(hits)
    ]
    found += [Offer(memory, STANDING) for memory in standing]
    seen = {content_hash(text) for text in said}
    ids: set[str] = set()
    kept: list[Offer] = []
    suspects = 0
    for one in found:
        memory = one.memory
        if memory.id in ids or (memory.content_hash in seen and not one.needed):
            continue
        ids.add(memory.id)
        seen.add(memory.content_hash)
        if is_suspect(memory.content):
            suspects += 1
        else:
            kept.append(one)
    return kept, suspects


def pack(
    given: Sequence[Offer], room: int, ruler: Ruler, most: int, tree: Abstraction | None = None
) -> Packed:
    """The section that fits the room."""
    left = room - ruler.line(blocks.frame("recalled"))
    if len(given) <= most and sum(one.memory.forms.content_tokens for one in given) <= left:
        whole = [_telling(one, ruler, shorter=False) for one in given]
        if sum(one.costs[0] for one in whole) <= left:
            return _packed([(one, 0) for one in whole], (), room - left, len(given))
    told = [_telling(one, ruler, shorter=True) for one in given]
    chosen = packing.pack([one.parcel for one in told], left, most)
    gists: tuple[tuple[str, int], ...] = ()
    if tree is not None and None in chosen:
        chosen, gists = _with_tree(told, chosen, left, most, _Fallback(tree, ruler))
    pairs = [(one, form) for one, form in zip(told, chosen, strict=True) if form is not None]
    return _packed(pairs, gists, room - left, len(given))


def least(given: Iterable[Offer], ruler: Ruler) -> int:
    """What must be there costs so much at its shortest."""
    must = [_telling(one, ruler, shorter=True).costs[-1] for one in given if one.needed]
    return ruler.line(blocks.frame("recalled")) + sum(must) if must else 0


def _telling(offer: Offer, ruler: Ruler, *, shorter: bool) -> _Telling:
    return _Telling(offer, *_told(_Same(offer.memory), ruler, shorter=shorter))


class _Same:
    """A memory as far as its lines are the same."""

    __slots__ = ("key", "memory")

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.key = (memory.id, memory.modified_at, memory.content_hash, memory.confidence, memory.status)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.key == self.key


Lines = tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]


@lru_cache(maxsize=1 << 12)
def _told(same: _Same, ruler: Ruler, *, shorter: bool) -> Lines:
    """Names, lines and costs of the forms of a memory. Kept for a while: prompts resemble each other."""
    memory = same.memory
    forms = blocks.forms(memory) if shorter else [blocks.whole(memory)]
    lines = tuple(blocks.block(memory, name, words) for name, words in forms)
    costs = [ruler.line(line) for line in lines]
    # A shorter form that costs as much is no help.
    kept = [at for at, cost in enumerate(costs) if not at or cost < min(costs[:at])]
    return (
        tuple(forms[at][0] for at in kept),
        tuple(lines[at] for at in kept),
        tuple(costs[at] for at in kept),
    )


@dataclass(frozen=True, slots=True)
class _Fallback:
    """The abstraction tree, and how its lines are measured."""

    tree: Abstraction
    ruler: Ruler

    def lines(self, left_out: set[str], room: int) -> tuple[tuple[str, int], ...]:
        """The finest level that says what was left out and fits."""
        for level, gists in self.tree.levels:
            about = [one for one in gists if self._is_about(one, left_out) and not is_suspect(one.text)]
            told = [blocks.gist(one.text, level) for one in about]
            costs = [self.ruler.line(line) for line in told]
            if told and sum(costs) <= room:
                return tuple(zip(told, costs, strict=True))
        return ()

    @staticmethod
    def _is_about(one: Gist, left_out: set[str]) -> bool:
        return not one.memories or not left_out.isdisjoint(one.memories)


def _with_tree(
    told: Sequence[_Telling], chosen: list[int | None], left: int, most: int, fallback: _Fallback
) -> tuple[list[int | None], tuple[tuple[str, int], ...]]:
    """Make room for the tree among the rest; the best and what must be there stay as they are."""
    left_out = {one.offer.memory.id for one, form in zip(told, chosen, strict=True) if form is None}
    fixed = [
        replace(one.parcel, costs=(one.costs[form],), needed=True)
        if form is not None and (not at or one.offer.needed)
        else one.parcel
        for at, (one, form) in enumerate(zip(told, chosen, strict=True))
    ]
    taken = sum(one.costs[0] for one in fixed if one.needed)
    shown = any(form is not None for form in chosen)
    gists = fallback.lines(left_out, int((left - taken) * TREE_SHARE) if shown else left)
    if not gists:
        return chosen, ()
    again = packing.pack(fixed, left - sum(cost for _, cost in gists), most)
    kept = [
        chosen[at] if form is not None and fixed[at].costs != told[at].costs else form
        for at, form in enumerate(again)
    ]
    return kept, gists


def _packed(
    pairs: Sequence[tuple[_Telling, int]], gists: Sequence[tuple[str, int]], heading: int, of: int
) -> Packed:
    lines = [one.lines[form] for one, form in pairs] + [line for line, _ in gists]
    if not lines:
        return Packed(of=of)
    shown = tuple(
        Shown(one.offer.memory.id, one.names[form], one.costs[form], one.offer.relevance)
        for one, form in pairs
    )
    tokens = heading + sum(one.tokens for one in shown) + sum(cost for _, cost in gists)
    return Packed(tuple(lines), tokens, shown, of)
