"""Text comes in, its sentences come out, in order and word for word.

A code block stays in one piece, a list gives one sentence an item, and a full stop inside an abbreviation,
a number, an address or a file name ends nothing. Chinese and Japanese full stops need no space after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from engram.text import lexicon

_FENCE = re.compile(r"(?m)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\[[ xX]\])\s+")
_BLANK = re.compile(r"\n\s*\n")
_END = re.compile(
    r"(?P<wide>(?:[。！？｡]|…{2,}(?=\s|$)|[!?]+(?=[\u3000-\u9fff]))[。！？!?]*)(?P<wide_close>[”’」』）)\"']*)"
    r"|(?P<stop>\.{3,}|…|[.!?]+)(?P<close>[”’\"')\]»*_`]*)(?=\s|$)"
)
# The same for ASCII; it begins with a set of characters, which makes the search fast.
_PLAIN_END = re.compile(r"(?P<stop>[.!?][.!?]*)(?P<close>[\"')\]*_`]*)(?=\s|$)")
_INITIAL = re.compile(r"(?:^|[\s(\"'“‘.])[A-Z]$")
_ACRONYM = re.compile(r"(?:^|[\s(\"'“‘])(?:[A-Za-z]\.)+[A-Za-z]$")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+$")
_NUMBERED = re.compile(r"(?:^|\n)\s*\(?\d{1,3}$")


def sentences(text: str) -> list[str]:
    """The sentences of `text`.

    >>> sentences("Dr. Smith uses v2.1, e.g. on foo.py. It works! 我住在上海。真的？")
    ['Dr. Smith uses v2.1, e.g. on foo.py.', 'It works!', '我住在上海。', '真的？']
    """
    return list(_sentences(text))


@lru_cache(maxsize=1 << 6)
def _sentences(text: str) -> tuple[str, ...]:
    """Kept for a moment, because several rules read the same text one after the other."""
    found: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        found += _prose(text[end : fence.start()])
        found.append(fence.group().strip("\n"))
        end = fence.end()
    return (*found, *_prose(text[end:]))


def _prose(text: str) -> Iterator[str]:
    for paragraph in _BLANK.split(text):
        for block in _blocks(paragraph):
            yield from _cut(block)


def _blocks(paragraph: str) -> Iterator[str]:
    """Lines of one running sentence together; list items, headings and short lines each for themselves."""
    held: list[str] = []
    for line in paragraph.split("\n"):
        item = _ITEM.match(line)
        if (item or line.lstrip().startswith(("#", ">", "|")) or not _continues(held, line)) and held:
            yield " ".join(held)
            held = []
        bare = line[item.end() :] if item else line
        if bare.strip():
            held.append(bare.strip())
    if held:
        yield " ".join(held)


def _continues(held: list[str], line: str) -> bool:
    """Whether a line goes on with the sentence of the line before: a wrapped line starts in lower case."""
    if not held:
        return True
    first = line.lstrip()[:1]
    return first.islower() or (len(held[-1]) > _WRAPPED and not held[-1].endswith((".", "!", "?", ":", "。")))


_WRAPPED = 50


def _cut(block: str) -> Iterator[str]:
    start = 0
    for match in (_PLAIN_END if block.isascii() else _END).finditer(block):
        if match.end() <= start or (match["stop"] and not _ends(block, match, start)):
            continue
        sentence = block[start : match.end()].strip()
        if sentence:
            yield sentence
        start = match.end()
    rest = block[start:].strip()
    if rest:
        yield rest


def _ends(block: str, match: re.Match[str], start: int) -> bool:
    """Whether the stop found really ends a sentence."""
    after = block[match.end() :].lstrip()
    if not after:
        return True
    before = block[start : match.start()]
    if match["stop"].startswith(("...", "…")) or match["close"]:
        return not after[0].islower()
    if match["stop"] != ".":
        return not after[0].islower() or match["stop"].count("?") > 0
    return not _is_abbreviation(before, after)


def _is_abbreviation(before: str, after: str) -> bool:
    word = _LAST_WORD.search(before)
    last = word.group().lower() if word else ""
    if last in lexicon.words("titles") or _NUMBERED.search(before):
        return True
    if last in lexicon.words("numbered"):
        return after[0].isdigit()
    if last in lexicon.words("abbreviations") or _ACRONYM.search(before):
        # "at 5 p.m. We left": a sentence may end with an abbreviation when a common opener follows.
        opener = re.match(r"[A-Z][a-z']*\b", after)
        return not (opener and opener.group().lower() in lexicon.words("stop_words"))
    if _INITIAL.search(before):
        return last != "i"  # "J. Smith", but not "so am I."
    return after[0].islower()
