"""A brief: a question comes in, a short block of what is known goes out, ready to stand in a prompt.

The block is data: it says so, and nothing inside can end it. What must be known and what answers best are in
it; the rest competes for its tokens, as in every prompt (`api/contexts.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engram.api.contexts import About, Readable
from engram.api.contexts import brief as made_for
from engram.context import blocks
from engram.model.memory import Status
from engram.text.tokens import count

if TYPE_CHECKING:
    from engram.model.memory import Memory

OPENING, CLOSING = blocks.HEADINGS["recalled"], blocks.CLOSING


@dataclass(frozen=True, slots=True)
class Brief:
    """The block itself, empty when nothing is known; the memories in it; what it costs."""

    text: str = ""
    ids: tuple[str, ...] = ()
    tokens: int = 0


def brief(
    memory: Readable, query: str, *, budget: int, pinned: bool = False, session: str = "", dry: bool = False
) -> Brief:
    """What helps with a question in at most `budget` tokens; with `pinned`, what always matters too."""
    made = made_for(memory, About(query, budget, pinned, session, dry))
    return Brief(made.recalled, made.ids, count(made.recalled))


def data_block(lines: Iterable[str]) -> str:
    """Lines inside a block that none of them can end.

    >>> data_block(["- tea"]).splitlines()[1:]
    ['- tea', '</memories>']
    """
    return blocks.section("recalled", map(blocks.one_line, lines))


def line_of(memory: Memory, text: str) -> str:
    """One memory on one line: its short id, its day, its words."""
    doubt = "" if memory.status is Status.ACTIVE else f", {memory.status}"
    return f"- [{memory.id[:8]}] ({memory.happened_at:%Y-%m-%d}{doubt}) {blocks.one_line(text)}"
