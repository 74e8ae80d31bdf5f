"""The lists that ship beside the code: a name comes in, its lines come out (read once, then kept)."""

from __future__ import annotations

import re
from functools import cache


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a file without blank lines and comments.

    >>> "i can't" in lines("data/refusals.txt")
    True
    """
    from importlib.resources import files  # a slow import, needed only now

    rows = (files("engram.llm") / name).read_text(encoding="utf-8").splitlines()
    return tuple(row.strip() for row in rows if row.strip() and not row.startswith("# "))


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One expression that matches any line of a file of patterns."""
    return re.compile("|".join(f"(?:{row})" for row in lines(name)))
