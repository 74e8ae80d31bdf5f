"""A tool as plain data: what a client is told of it, and the function that runs when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engram.engine import Engram

Schema = dict[str, Any]
Tell = Callable[[float, float | None, str], None]
"""Told how far a long call has come: done, of how much if that is known, and in words."""


def silent(_done: float, _total: float | None, _words: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: the memory, the arguments under their own names, and whom to tell of progress."""

    memory: Engram
    given: Mapping[str, Any]
    tell: Tell = silent

    def only(self, *names: str) -> dict[str, Any]:
        """Those of these arguments that were given."""
        return {name: self.given[name] for name in names if name in self.given}


@dataclass(frozen=True, slots=True)
class Tool:
    """What a client is told, and what runs."""

    name: str
    title: str
    does: str
    run: Callable[[Call], dict[str, Any]]
    takes: Mapping[str, Schema] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    gives: Mapping[str, Schema] = field(default_factory=dict)
    """The properties of the structured answer; those named in `always` are always there."""
    always: tuple[str, ...] = ()
    reads: bool = False
    """Whether it changes nothing."""
    destroys: bool = False
    """Whether it may take something away."""
    repeats: bool = True
    """Whether calling it again with the same arguments changes nothing more."""

    @property
    def described(self) -> Schema:
        """The tool as the protocol lists it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.does,
            "inputSchema": _object(self.takes, self.needs),
            "outputSchema": _object(self.gives, self.always),
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": self.destroys,
                "idempotentHint": self.reads or self.repeats,
                "openWorldHint": False,
            },
        }


def text(description: str = "", **more: Any) -> Schema:
    """A text."""
    return _described("string", description, more)


def whole(description: str = "", **more: Any) -> Schema:
    """A whole number."""
    return _described("integer", description, more)


def number(description: str = "", **more: Any) -> Schema:
    """A number."""
    return _described("number", description, more)


def truth(description: str = "") -> Schema:
    """Yes or no."""
    return _described("boolean", description, {})


def words(description: str = "") -> Schema:
    """A list of texts."""
    return _described("array", description, {"items": {"type": "string"}})


def objects(description: str = "", **properties: Schema) -> Schema:
    """A list of objects."""
    items: Schema = {"type": "object"}
    if properties:
        items |= {"properties": properties, "required": [*properties]}
    return _described("array", description, {"items": items})


def _object(properties: Mapping[str, Schema], required: tuple[str, ...]) -> Schema:
    made: Schema = {"type": "object", "properties": dict(properties)}
    return made | ({"required": [*required]} if required else {})


def _described(kind: str, description: str, more: Mapping[str, Any]) -> Schema:
    return {"type": kind, **({"description": description} if description else {}), **more}
