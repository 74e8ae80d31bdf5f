"""The word lists that ship with the package: a name comes in, its lines come out (read once, then kept)."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of `data/<name>.txt` without blank lines and comments (a comment starts with `# `)."""
    text = (files("engram.text") / "data" / f"{name}.txt").read_text(encoding="utf-8")
    rows = (row.strip() for row in text.splitlines())
    return tuple(row for row in rows if row and not row.startswith("# "))


@cache
def words(name: str) -> frozenset[str]:
    """All words of `data/<name>.txt`, which may stand several to a line.

    >>> "the" in words("stop_words")
    True
    """
    return frozenset(word for row in lines(name) for word in row.split())


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One expression that matches any line of `data/<name>.txt`; it expects text in lower case."""
    return re.compile("|".join(f"(?:{row})" for row in lines(name)))
