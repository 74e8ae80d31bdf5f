"""Drift: what memories claim about a directory, what is there, and what has come apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from engram.model.upkeep import Report


class RefKind(StrEnum):
    """What a reference names."""

    FILE = "file"
    SYMBOL = "symbol"
    VERSION = "version"
    URL = "url"


class RefState(StrEnum):
    """Whether what is named is there."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"
    """The directory cannot tell: it belongs elsewhere, or not everything could be looked at."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Something outside that a text names."""

    kind: RefKind
    name: str
    version: str = ""
    """What is said about it, of a version."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """What is in a directory, as far as it was looked at."""

    root: str
    paths: frozenset[str] = frozenset()
    """Files, relative to the root, with forward slashes."""
    words: frozenset[str] = frozenset()
    """Every identifier in the files."""
    versions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What is built here and what it needs, by name in lower case."""
    complete: bool = True
    """Whether every file was looked at; if not, nothing is said to be missing by its name alone."""
    there: Callable[[str], bool] = field(default=lambda _path: False, compare=False)
    """Whether a path below the root exists, also one that was left out."""
    tails: frozenset[str] = frozenset()
    """Every file and folder by the last parts of its path, from its name alone to the whole."""
    folders: frozenset[str] = frozenset()
    """The names of folders."""
    endings: frozenset[str] = frozenset()
    """The endings of files, without the dot."""

    def seen(self) -> Landscape:
        """The same with what follows from the paths.

        >>> sorted(Landscape("/x", frozenset({"src/a.py"})).seen().tails)
        ['a.py', 'src', 'src/a.py']
        """
        tails: set[str] = set()
        folders: set[str] = set()
        for path in self.paths:
            parts = path.split("/")
            folders.update(parts[:-1])
            for end in range(1, len(parts) + 1):
                tails.update("/".join(parts[start:end]) for start in range(end))
        endings = frozenset(path.rpartition(".")[2] for path in self.paths if "." in path)
        return replace(self, tails=frozenset(tails), folders=frozenset(folders), endings=endings)


@dataclass(frozen=True, slots=True)
class Drifted:
    """A reference of a memory that leads nowhere any more."""

    memory: str
    kind: RefKind
    reference: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What a look at a directory found. It holds words of memories: it is for the caller and is not kept."""

    directory: str
    files: int
    complete: bool
    memories: int
    """How many memories refer to anything that could be checked."""
    references: int
    """How many references could be checked."""
    dead: tuple[Drifted, ...] = ()
    run: Report | None = None
    """What was changed, when the caller asked for it."""
