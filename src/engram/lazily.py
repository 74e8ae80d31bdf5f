"""Modules that are loaded when they are first used: opening a memory to ask one question needs few of them.

if TYPE_CHECKING:
    from engram.api import contexts
else:
    briefing = lazily("engram.api.contexts")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module until something of it is asked for. Safe to use from many threads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, wanted: str) -> Any:
        found = getattr(import_module(self._name), wanted)
        setattr(self, wanted, found)
        return found


def lazily(name: str) -> Any:
    """A module by its full name, loaded with the first look into it.

    >>> lazily("json").dumps([1])
    '[1]'
    """
    return LazyModule(name)
