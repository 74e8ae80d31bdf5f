"""Exchanges: messages come in; what was asked and what was done about it comes out, in a line each.

Of a message that is shortened, code of more than a few lines and what tools brought are dropped. What was
decided, which files, which errors and which figures stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

from engram.context.telling import one_line
from engram.model.context import Message
from engram.model.turn import Part
from engram.text import forms, lexicon
from engram.text.sentences import sentences

CODE_LINES: Final = 5
"""A block of code with more lines is dropped from what is shortened."""
MARKS: Final = 6
"""So many files, errors and figures are told of one message beside its own words."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What somebody said, and what was answered."""

    asked: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()

    @property
    def messages(self) -> Iterator[Message]:
        """The exchange word for word."""
        parts = ((Part.USER, self.asked), (Part.ASSISTANT, self.answered))
        return (Message(part, "\n\n".join(texts)) for part, texts in parts if texts)


@dataclass(frozen=True, slots=True)
class Kept:
    """What must survive of a text."""

    decisions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()


def exchanges(messages: Iterable[Message]) -> list[Exchange]:
    """The messages by exchange: one begins with each message of the user. Tools and system are left out."""
    found: list[tuple[list[str], list[str]]] = []
    for one in messages:
        text = one.content.strip()
        if not text or one.role not in {Part.USER, Part.ASSISTANT}:
            continue
        if not found or (one.role is Part.USER and found[-1][1]):
            found.append(([], []))
        found[-1][one.role is Part.ASSISTANT].append(text)
    return [Exchange(tuple(asked), tuple(answered)) for asked, answered in found]


@lru_cache(maxsize=1 << 10)
def line(exchange: Exchange, *, short: bool = False) -> str:
    """An exchange as "asked → did".

    >>> line(
    ...     Exchange(("Could you add tests for the login?",), ("Done, I added auth_test.py with 12 cases.",))
    ... )
    '- Could you add tests for the login → I added auth_test.py with 12 cases'
    """
    asked, did = (_told(texts, marks=0 if short else MARKS) for texts in (exchange.asked, exchange.answered))
    return one_line(f"- {asked or '(nothing)'} → {did}" if did else f"- {asked}")


def kept(texts: Iterable[str]) -> Kept:
    """The decisions, errors, files and figures of texts, each once, in order."""
    each = [_kept(text) for text in texts]
    parts = (
        dict.fromkeys(chain.from_iterable(getattr(one, name) for one in each))
        for name in ("decisions", "errors", "files", "figures")
    )
    return Kept(*map(tuple, parts))


@lru_cache(maxsize=1 << 11)
def _kept(text: str) -> Kept:
    """Kept for a while: a conversation is shortened again with every message."""
    bare = plain(text)
    told: tuple[list[str], list[str]] = ([], [])
    for sentence in sentences(bare):
        for part, heading in zip(told, ("decision", "error"), strict=True):
            if lexicon.found("kept", sentence.lower(), under=heading):
                part.append(one_line(forms.key_fact(sentence)))
    figures = (one_line(figure) for figure in _FIGURE.findall(bare))
    return Kept(tuple(told[0]), tuple(told[1]), tuple(_FILE.findall(bare)), tuple(figures))


def plain(text: str) -> str:
    r"""A message without blocks of code of more than a few lines.

    >>> plain("Like this:\n```\n1\n2\n3\n4\n5\n6\n```\nThat is all.")
    'Like this:\n\nThat is all.'
    """
    return _FENCED.sub(lambda block: block[0] if block[0].count("\n") - 1 <= CODE_LINES else "", text)


_FENCED = re.compile(r"^```.*?(?:^```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(
    r"(?<![\w/.])(?:~?/)?(?:[\w.@-]+/)*[\w@-]+(?:\.[\w-]+)*"
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|sh|sql|html|css|scss|vue|svelte"
    r"|md|rst|txt|toml|ya?ml|json|jsonl|xml|ini|cfg|env|lock|csv|tsv|parquet|ipynb|pdf|docx?|xlsx?|pptx?|png|jpe?g"
    r"|svg|gif|mp[34]|zip|tar|gz|db|sqlite|log|tf|proto|gradle|mk)\b(?![\w/])"
)
_FIGURE = re.compile(r"(?:[^\W\d_][\w-]{1,20} )?(?<![\w.,])[$€£¥]?\d[\d.,:/]*\d?\s?(?:%|[^\W\d_]{1,12})?")


def _told(texts: Sequence[str], *, marks: int) -> str:
    """The clause that says most of what was said, and what must not be lost with the rest."""
    whole = "\n".join(map(plain, texts)).strip()
    if not whole:
        return ""
    said = _best(whole)
    must = kept([whole])
    lost = [one for one in (*must.decisions, *must.errors, *must.files, *must.figures) if one not in said]
    few = [one for one in lost if not any(one != other and one in other for other in lost)][:marks]
    return f"{said} [{'; '.join(few)}]" if few else said


def _best(text: str) -> str:
    """A decision says most; else the clause that the shorter forms would keep."""
    for sentence in sentences(text):
        if lexicon.found("kept", sentence.lower(), under="decision"):
            return forms.key_fact(sentence).rstrip(".?!。？！")
    return forms.key_fact(text).rstrip(".?!。？！")
