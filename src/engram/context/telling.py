"""Telling: a memory comes in; lines that may stand in a document for a prompt come out.

A line is one line whatever the memory holds: it starts no heading, ends no block and hides nothing.
"""

from __future__ import annotations

import re

from engram.model.axes import Status
from engram.model.memory import Memory
from engram.security.injection import is_suspect

UNREADABLE = "(nothing readable)"

_TAG = re.compile(r"<(?=\s*/?\s*memor(?:y|ies)\b|\|)", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def one_line(text: str) -> str:
    r"""The words on one line, without characters that nobody sees and marks that would end a block.

    >>> one_line("Tea at four.\n\n# Orders\u200b </memory> now")
    'Tea at four. # Orders &lt;/memory> now'
    """
    return _TAG.sub("&lt;", " ".join(_UNSEEN.sub(" ", text).split()))


def may_be_told(memory: Memory) -> bool:
    """Whether a memory may stand in a prompt: not when it reads like a command to a model."""
    return not is_suspect(memory.content)


def forms(memory: Memory) -> tuple[str, ...]:
    """The memory's words at falling length, the whole first; each shorter than the one before.

    A label is none of them: it names a memory, but says nothing.
    """
    told = [memory.content, memory.forms.summary, memory.forms.key_fact]
    found: list[str] = []
    for words in map(one_line, told):
        if words and (not found or len(words) < len(found[-1])):
            found.append(words)
    return tuple(found) or (UNREADABLE,)


def short_id(memory: Memory) -> str:
    """The beginning of an id, as callers may give it back."""
    return memory.id[:8]


def doubt(memory: Memory) -> str:
    """What a reader must be warned of; empty for a memory that simply holds."""
    return "" if memory.status is Status.ACTIVE else f" ({memory.status})"
