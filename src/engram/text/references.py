"""References: a text comes in; the files, symbols, versions and addresses it claims are there come out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engram.model.drift import Reference, RefKind
from engram.text import lexicon, names

MOST: Final = 20
"""References of one text."""
# Nearly every text has none: one look saves the others.
_SIGN = re.compile(r"[`/\\]|\(\)|\.\w|\d\.\d|_\w|[a-z][A-Z]|Makefile|Dockerfile|README|LICENSE")
_CALL = re.compile(r"(?<![\w/.])([A-Za-z_][\w.]*)\(\)")
_QUOTED = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")
_CODE_NAME = r"`?([A-Za-z_]\w*(?:_\w+|[a-z\d][A-Z]\w*)|[A-Z]\w+)`?"
_VERSION = re.compile(r"\b([A-Za-z][\w.+-]*[\w+]|[A-Za-z])\s+(?:version\s+)?v?(\d+(?:\.\d+){1,3})\b(?![\w%])")
_OF = re.compile(r"\bversion\s+v?(\d+(?:\.\d+){1,3})\s+of\s+([A-Za-z][\w.+-]*\w)")


def references(text: str) -> tuple[Reference, ...]:
    """What a text says is there; nothing when it tells of what went or is to come.

    >>> [
    ...     (one.kind.value, one.name)
    ...     for one in references("The parser lives in src/parse.py, see parse_all()")
    ... ]
    [('file', 'src/parse.py'), ('symbol', 'parse_all')]
    >>> references("We deleted src/old.py")
    ()
    >>> [(one.name, one.version) for one in references("We build with React 18.2")]
    [('react', '18.2')]
    """
    if not _SIGN.search(text) or lexicon.found("references", text.lower(), under="absent"):
        return ()
    return tuple(dict.fromkeys((*_fixed(text), *_symbols(text), *_versions(text))))[:MOST]


def _fixed(text: str) -> Iterator[Reference]:
    for one in names.entities(text):
        if one.type == "file":
            yield Reference(RefKind.FILE, one.name)
        elif one.type == "url":
            yield Reference(RefKind.URL, one.name)


def _symbols(text: str) -> Iterator[Reference]:
    """Names of functions and classes: called, quoted as code, or said to be one."""
    for match in _CALL.finditer(text):
        yield Reference(RefKind.SYMBOL, match[1].rpartition(".")[2])
    for match in _QUOTED.finditer(text):
        if _is_code(match[1]) and not _is_file(match[1]):
            yield Reference(RefKind.SYMBOL, match[1].rpartition(".")[2])
    for pattern in _said():
        for match in pattern.finditer(text):
            yield Reference(RefKind.SYMBOL, match[1])


def _versions(text: str) -> Iterator[Reference]:
    for match in _VERSION.finditer(text):
        if match[1].lower() == "version":
            continue
        yield Reference(RefKind.VERSION, match[1].lower(), match[2])
    for match in _OF.finditer(text):
        yield Reference(RefKind.VERSION, match[2].lower(), match[1])


def _is_code(name: str) -> bool:
    """Whether it looks like a name in code and not like a word.

    >>> [_is_code(name) for name in ("parse_all", "parseAll", "a.b", "tea", "USA")]
    [True, True, True, False, False]
    """
    return "_" in name.strip("_") or "." in name or re.search(r"[a-z][A-Z]", name) is not None


def _is_file(name: str) -> bool:
    return any(one.type == "file" for one in names.entities(name))


def _said() -> Iterator[re.Pattern[str]]:
    parts = lexicon.parts("references")
    before, after = (
        "|".join(word for row in parts[key] for word in row.split()) for key in ("before", "after")
    )
    yield re.compile(rf"\b(?:{before})\s+{_CODE_NAME}(?![\w/.])")
    yield re.compile(rf"(?<![\w/.]){_CODE_NAME}\s+(?:{after})\b")
