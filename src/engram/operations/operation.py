"""An operation: something that can be done from outside, described once. The doors are made from it.

A row of the table names a verb of the engine (`recall`) or of a noun of it (`facts.add`). What the verb takes
and gives is read from its signature, what each parameter means from `words.py`; the row adds a sentence,
where REST serves it and what is special. Reading the table loads no engine: a verb is looked up when it is
first needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from engram.engine import Engram
    from engram.operations.values import Parameter

NOUNS: Mapping[str, str] = {
    "backups": "engram.api.backups:Backups",
    "": "engram.engine:Engram",
    "bus": "engram.api.bus:Bus",
    "commitments": "engram.api.commitments:Commitments",
    "conflicts": "engram.api.conflicts:Conflicts",
    "entities": "engram.api.entities:Entities",
    "facts": "engram.api.facts:Facts",
    "gaps": "engram.api.gaps:Gaps",
    "history": "engram.api.verbs:History",
    "knowledge": "engram.api.knowledge:Knowledge",
    "maintenance": "engram.api.verbs:Maintenance",
    "memories": "engram.api.verbs:Memories",
    "sessions": "engram.api.sessions:Sessions",
    "sources": "engram.api.sources:Sources",
    "tokens": "engram.api.tokens:Tokens",
    "trash": "engram.api.browsing:Trash",
    "triggers": "engram.api.commitments:Triggers",
    "vault": "engram.api.vault:Vault",
}
"""Where the classes are whose methods are verbs; empty: the engine itself."""
CALLS = "engram.operations.calls"
"""Where the functions are that are more than one verb; their first argument is the memory."""
PLACED = re.compile(r"{(\w+)(?::\w+)?}")


@dataclass(frozen=True)
class Operation:
    """One row: what can be done, and how it is offered."""

    name: str
    """The verb, as Python calls it: `recall`, `facts.add`."""
    sentence: str
    """What it does, in a line."""
    rest: str | tuple[str, ...] = ()
    """`POST /v1/facts`; where clients know several, the first is the one to use and the others are named:
    `GET /v1/recall as recall_by_address`. Empty: not over REST."""
    calls: str | Callable[..., Any] = ""
    """Which verb or function of `calls.py` does it, where that is not the name itself; or the function."""
    gives: str = ""
    """Under which name the answer stands, where the verb gives back a bare list or value."""
    tool: str | None = None
    """The tool that has it as an action; None: the one of its noun, empty: no agent is offered it."""
    tool_gives: str = ""
    """The same as `gives` in the answer of a tool, where that is another."""
    command: str | None = None
    """How the command line calls it; None: by its name, empty: not at all, or by a command made by hand."""
    reads: bool = False
    """Whether it changes nothing."""
    destroys: bool = False
    """Whether it may take something away."""
    repeats: bool = True
    """Whether doing it again with the same arguments changes nothing more."""
    long: bool | None = None
    """Whether it may wait long for something outside; None: if it writes."""
    owner: bool = False
    """Whether REST lets only an owner do it; the engine itself asks for more where it must."""
    status: int = 200
    fields: str = ""
    """`draft` or `changes`: it takes the fields of a memory beside its own parameters."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names of parameters, as clients know them."""
    by_agents: Mapping[str, Any] = field(default_factory=dict)
    """What is set for agents, who cannot say it themselves."""
    bare: str = ""
    """The parameter that a body that is no object, but a list, stands for."""
    example: Mapping[str, Any] = field(default_factory=dict)
    media: str = "application/json"
    takes: str = "application/json"

    @property
    def noun(self) -> str:
        """What it hangs on; empty: the memory itself."""
        return self.name.rpartition(".")[0]

    @property
    def action(self) -> str:
        """Its name among those of its noun."""
        return self.name.rpartition(".")[2]

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where REST serves it."""
        return (self.rest,) if isinstance(self.rest, str) else self.rest

    @cached_property
    def call(self) -> Callable[..., Any]:
        """The function: a verb of the engine or of a noun, or one that takes the memory first."""
        if callable(self.calls):
            return self.calls
        if self.calls.startswith("calls."):
            found: Callable[..., Any] = getattr(import_module(CALLS), self.calls.removeprefix("calls."))
            return found
        noun, _, verb = (self.calls or self.name).rpartition(".")
        module, _, kind = NOUNS[noun].partition(":")
        return attrgetter(f"{kind}.{verb}")(import_module(module))  # type: ignore[no-any-return]

    @cached_property
    def target(self) -> Callable[[Engram], Any]:
        """What the function is called on, found in a memory."""
        if callable(self.calls) or self.calls.startswith("calls."):
            return lambda memory: memory
        noun = (self.calls or self.name).rpartition(".")[0]
        return attrgetter(noun) if noun else (lambda memory: memory)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What may be said, each with its sentence and range."""
        from engram.operations import words
        from engram.operations.values import parameters_of

        own = parameters_of(self.call)
        names = {one.name for one in own}
        more = tuple(one for one in words.fields_for(self.fields) if one.name not in names)
        return tuple(replace(one, says=words.said(self.name, one)) for one in (*own, *more))

    @cached_property
    def result(self) -> Any:
        """The type of what comes out."""
        return get_type_hints(self.call).get("return", Any)

    @cached_property
    def tells_progress(self) -> bool:
        """Whether it can say how far it has come."""
        return "progress" in self.call.__code__.co_varnames[: _count(self.call)]

    def run(self, memory: Engram, arguments: Mapping[str, Any], **beside: Any) -> Any:
        """Do it."""
        return self.call(self.target(memory), **arguments, **beside)


def _count(call: Callable[..., Any]) -> int:
    code = call.__code__
    return code.co_argcount + code.co_kwonlyargcount
