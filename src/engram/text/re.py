"""Python's `re`, but a pattern is compiled when it is first used.

Several hundred are written down at the head of modules; one command uses a few dozen, and to compile the
others takes longer than its answer.
"""

from __future__ import annotations

import re
from re import (
    ASCII,
    DOTALL,
    IGNORECASE,
    MULTILINE,
    NOFLAG,
    VERBOSE,
    Match,
    Pattern,
    error,
    escape,
    findall,
    finditer,
    fullmatch,
    match,
    search,
    split,
    sub,
)
from typing import Any, cast

__all__ = [
    "ASCII", "DOTALL", "IGNORECASE", "MULTILINE", "NOFLAG", "VERBOSE", "Match", "Pattern", "compile", "error",
    "escape", "findall", "finditer", "fullmatch", "match", "search", "split", "sub",
]  # fmt: skip


def compile(pattern: str, flags: int = 0) -> Pattern[str]:  # noqa: A001 - as `re` has it
    """A pattern that is compiled when it is first used.

    >>> tea = compile("te(a)")
    >>> tea.pattern, tea.sub("co", "tea"), tea.groups
    ('te(a)', 'co', 1)
    """
    return cast("Pattern[str]", _Uncompiled(pattern, flags))


class _Uncompiled:
    """Stands for a pattern; once it is used, the methods of the compiled one are its own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for method in ("search", "match", "fullmatch", "sub", "findall", "finditer", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
