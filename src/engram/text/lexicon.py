"""The word lists that ship with the package: a name comes in, its lines come out (read once, then kept).

A file is made of lines; `# ` starts a comment, `[heading]` a part. A line is a word, several words, or a
pattern for text in lower case.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of `data/<name>.txt` without blank lines and comments."""
    from importlib.resources import files  # a slow import, needed only now

    text = (files("engram.text") / "data" / f"{name}.txt").read_text(encoding="utf-8")
    rows = (row.strip() for row in text.splitlines())
    return tuple(row for row in rows if row and not row.startswith("# "))


@cache
def words(name: str) -> frozenset[str]:
    """All words of a file, which may stand several to a line.

    >>> "the" in words("stop_words")
    True
    """
    return frozenset(word for row in lines(name) for word in row.split())


@cache
def parts(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of a file by heading, in order; lines before the first heading stand under ''."""
    found: dict[str, list[str]] = {}
    heading = ""
    for row in lines(name):
        if re.fullmatch(r"\[[a-z ]+\]", row):
            heading = row[1:-1]
        else:
            found.setdefault(heading, []).append(row)
    return {title: tuple(rows) for title, rows in found.items()}


def headings(name: str) -> tuple[str, ...]:
    """The headings of a file, in order."""
    return tuple(parts(name))


@lru_cache(maxsize=1 << 10)
def found(name: str, lower: str, *, under: str = "") -> bool:
    """Whether any pattern of a file, or of one part of it, occurs in a text in lower case.

    >>> found("negations", "i do not know"), found("categories", "please call me sam", under="identity")
    (True, True)
    """
    return pattern(name, under, ascii_only=lower.isascii()).search(lower) is not None


@cache
def pattern(name: str, under: str = "", *, ascii_only: bool = False) -> re.Pattern[str]:
    """One expression that matches any line; `ascii_only` leaves out what plain English text cannot hold."""
    rows = (row for row in parts(name)[under] if row.isascii() or not ascii_only)
    return re.compile("|".join(f"(?:{row})" for row in rows) or r"(?!)")
