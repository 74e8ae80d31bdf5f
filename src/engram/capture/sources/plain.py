"""Plain text: paragraphs come out, one item each.

A paragraph that is a list gives one item a list item; what is longer than a memory should be is cut between
sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engram.model.ingest import Item, ItemKind
from engram.text.sentences import sentences

PASSAGE_LENGTH = 1_200
"""Characters of one passage at most: about two hundred words, what one thought needs."""
_GAP = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•‣◦]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


def read(text: str, origin: str, *, title: str = "", source: str = "") -> Iterator[Item]:
    """Every passage of a text, in order. `origin` is the key of the whole text."""
    number = 0
    for paragraph in _GAP.split(text):
        for passage in passages(paragraph):
            number += 1
            yield Item(
                f"{origin}#{number}",
                passage,
                ItemKind.PASSAGE,
                title=title,
                details={"title": title} if title else {},
                source=source or "import",
            )


def passages(paragraph: str) -> Iterator[str]:
    r"""The pieces of one paragraph that stand for themselves.

    >>> list(passages("Tools we use:\n- git for\n  everything\n- [x] make"))
    ['Tools we use:', 'git for everything', 'make']
    """
    held: list[str] = []
    for line in paragraph.split("\n"):
        item = _ITEM.match(line)
        if item and held:
            yield from _short(held)
            held = []
        bare = line[item.end() :] if item else line
        if bare.strip():
            held.append(bare.strip())
    yield from _short(held)


def _short(held: Sequence[str]) -> Iterator[str]:
    """Lines as one piece; several when they are too long for one."""
    whole = " ".join(held)
    if len(whole) <= PASSAGE_LENGTH:
        if whole:
            yield whole
        return
    piece = ""
    for sentence in sentences(whole):
        if piece and len(piece) + len(sentence) >= PASSAGE_LENGTH:
            yield piece
            piece = ""
        piece = f"{piece} {sentence}".strip()
    if piece:
        yield piece
