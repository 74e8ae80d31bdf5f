"""A route: one line of the table that serves, documents and tests the server."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from engram.server.binding import Parameter, arguments, parameters_of

if TYPE_CHECKING:
    from engram.engine import Engram

QUERIES = frozenset({"GET", "DELETE"})
"""Methods whose arguments come in the address."""


@dataclass(frozen=True, slots=True)
class Route:
    """What is asked for where, and which verb answers."""

    method: str
    path: str
    call: Callable[..., Any]
    """A method of the facade or of a noun, or a function whose first argument is the memory."""
    on: str = ""
    """The noun it hangs on; empty: the facade itself."""
    wrap: str = ""
    """Under which name the answer stands, where the verb gives back a bare list or value."""
    status: int = 200
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names for arguments, as clients know them."""
    rest: tuple[Parameter, ...] = ()
    """What the verb takes beside its own arguments: the fields of a memory."""
    owner_only: bool = False
    reads: bool | None = None
    """Whether it changes nothing; None: as its method says."""
    bare: str = ""
    """The argument that a body that is no object, but a list, stands for."""
    waits: bool | None = None
    """Whether it may wait long for something outside; None: if it is not safe."""
    example: Mapping[str, Any] = field(default_factory=dict)
    gives: str = "application/json"
    takes: str = "application/json"

    @property
    def in_path(self) -> tuple[str, ...]:
        """The arguments that stand in the path."""
        return tuple(re.findall(r"{(\w+)(?::\w+)?}", self.path))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Everything a request may say beside what stands in the path."""
        own = [one for one in parameters_of(self.call) if one.name not in self.in_path]
        names = {one.name for one in own} | set(self.in_path)
        return (*own, *(one for one in self.rest if one.name not in names))

    @property
    def is_query(self) -> bool:
        """Whether arguments come in the address and not in a body."""
        return self.method in QUERIES or self.takes != "application/json"

    @property
    def is_safe(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET" if self.reads is None else self.reads

    @property
    def is_quick(self) -> bool:
        """Whether it computes more than it waits."""
        return self.is_safe if self.waits is None else not self.waits

    @property
    def does(self) -> str:
        """What it does, in a line: the beginning of the verb's own words."""
        return (inspect.getdoc(self.call) or "").split("\n\n")[0].replace("\n", " ")

    @property
    def name(self) -> str:
        """The name of the operation in the document."""
        words = re.sub(r"{(\w+)(?::\w+)?}", r"by_\1", self.path.removeprefix("/v1"))
        return "_".join(part for part in (self.method.lower(), *words.strip("/").split("/")) if part)

    @property
    def address(self) -> str:
        """The path as a document writes it."""
        return re.sub(r"{(\w+):\w+}", r"{\1}", self.path)

    @property
    def tells(self) -> bool:
        """Whether it can say how far it has come."""
        return "progress" in inspect.signature(self.call).parameters

    def answer(
        self, memory: Engram, placed: Mapping[str, Any], given: Mapping[str, Any], **beside: Any
    ) -> Any:
        """Call the verb. `placed` stands in the path, `given` in query or body."""
        own = parameters_of(self.call)
        in_path = arguments([one for one in own if one.name in self.in_path], placed, spelled=True)
        renamed = {self.also.get(name, name): value for name, value in given.items()}
        told = arguments(self.parameters, renamed, spelled=self.is_query)
        target = attrgetter(self.on)(memory) if self.on else memory
        found = self.call(target, **in_path, **told, **beside)
        return {self.wrap: found} if self.wrap else found
