"""Extensions: what other packages add to Engram, found by their entry points.

A package says in its `pyproject.toml` what it brings; installing it is enough for formats, steps and routes.
What replaces something of ours is chosen by its name: an embedder (`embed.name`), a reranker (`rerank.name`),
a channel (`recall.channels`), a store (`Engram.open("name://…")`).

    [project.entry-points."engram.sources"]
    bookmarks = "my_package:BOOKMARKS"

An extension runs with the rights of the program. docs/extensions.md says what each kind must be.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from engram.errors import ConfigError
from engram.lazily import dataclass, logging

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from engram.model.capture import Found
    from engram.model.recall import Question
    from engram.ports import Tools, View

PREFIX: Final = "engram."
KINDS: Final = ("sources", "channels", "steps", "embedders", "rerankers", "stores", "routes")
"""What can be added: each is a group of entry points, `engram.sources` and so on."""


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A format to ingest: the suffixes of its files, and how a text of it is read."""

    suffixes: frozenset[str]
    """As they end a file's name, with the dot: `.bookmarks`. Those that Engram reads itself stay its own."""
    read: Callable[[str, str], Iterable[Found]]
    """The text and the file's name come in, items come out; each origin begins with the format's name."""


Channel = Callable[["Question", "View", "Tools"], Iterable[tuple[str, float]]]
"""A way to find: the question, what its asker may see and the tools come in; ids come out, each with a
relevance between 0 and 1. What the asker may not see is left out afterwards in any case."""


def names(kind: str) -> tuple[str, ...]:
    """The names of installed extensions of a kind (one of `KINDS`), in order."""
    return tuple(sorted({point.name for point in _points(kind, tuple(sys.path))}))


@cache
def load(kind: str, name: str) -> Any:
    """One extension by its name. Raises ConfigError when none has it, or when it cannot be loaded."""
    for point in _points(kind, tuple(sys.path)):
        if point.name == name:
            return _loaded(point)
    installed = ", ".join(names(kind)) or "none"
    raise ConfigError(f"No extension for {kind} is named {name!r}; installed: {installed}.")


def installed(kind: str) -> Iterator[tuple[str, Any]]:
    """All extensions of a kind with their names; one that cannot be loaded is logged and left out."""
    for name in names(kind):
        try:
            yield name, load(kind, name)
        except ConfigError as error:
            logging.getLogger(__name__).warning("%s", error.message)


@cache
def _points(kind: str, places: tuple[str, ...]) -> Iterable[EntryPoint]:
    """Every package of the places that are searched is asked once: that takes as long as a consolidation."""
    del places
    # The import takes longer than all of `import engram`: only who looks for extensions pays for it.
    from importlib.metadata import entry_points

    return entry_points(group=PREFIX + kind)


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:  # whatever a stranger's module raises while it is imported
        raise ConfigError(f"The extension {point.name} ({point.value}) cannot be loaded: {error}") from error
