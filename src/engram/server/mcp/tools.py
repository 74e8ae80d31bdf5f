"""Tools made from the table of operations: one for each noun with its actions, beside those made by hand.

An agent that leaves the action out is understood by what it says: the first action that takes all of it and
lacks nothing. Old names of tools still work when they are called; they are not listed any more.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_origin, get_type_hints, is_typeddict

from engram.api.caller import told_to_a_model
from engram.errors import EngramError, InvalidInput, UnknownValue
from engram.lazily import dataclass
from engram.model.memory import Memory
from engram.operations import OPERATIONS, Operation
from engram.operations.aliases import ACTIONS, ARGUMENTS, TOOLS_BEFORE
from engram.operations.values import (
    Components,
    Parameter,
    Reader,
    Schema,
    Style,
    fields_of,
    needed_keys,
    options,
)
from engram.server.limits import IdempotentAnswer, Keys
from engram.server.mcp import shapes
from engram.server.mcp.pinned import PINNED as BY_HAND

if TYPE_CHECKING:
    from engram.engine import Engram

Tell = Callable[[float, float | None, str], None]
"""Told how far a long call has come: done, of how much if that is known, and in words."""
NOT_FOR_AGENTS = frozenset({"scope"})
"""Who asks, and where, is known from the connection and never from a call."""
COUNTED_BY = frozenset({"categories", "tags_any", "sources"})
"""The filters that are told to agents; all others are understood too."""

NOUNS: Mapping[str, tuple[str, str]] = {
    "change": ("Change how a memory stands",
        "Pin, restore, confirm, move, count or unrelate memories, or set a status."),
    "trash": ("Look into the trash",
        "What was forgotten and can still be restored; purge empties it for good."),
    "history": ("Tell what happened",
        "What happened to a memory or to all, the words it came from, a conversation, news."),
    "timeline": ("Tell how something changed",
        'How something changed, oldest first: a name, "my editor", or any words.'),
    "reason": ("Think a question through",
        "For questions that one search does not answer: takes them apart and answers with what it rests on."),
    "resume": ("Go on where we stopped",
        "What a session that starts cold should know: what always matters, what goes on, what is new."),
    "pack": ("Get the recall pack",
        "The document to start a session with: rules, open loops, today's focus, context, procedures."),
    "facts": ("Ask for facts and state them",
        "Who is what to whom: ask, state, follow and end facts; any part may be left open."),
    "entities": ("Look at who and what is known",
        "Entities, last seen first; what is known about one; joining and parting names."),
    "conflicts": ("Look at contradictions", "Pairs of memories that cannot both be true, and settling them."),
    "knowledge": ("Tell what was learned",
        "What was learned from memories taken together: profile, core, map, tree, topics, cards and more."),
    "gaps": ("Look at what is not known",
        "Questions about what is missing or contradictory; ask gives the few to ask now."),
    "commitments": ("Look at open loops",
        "What was promised or is waited for: list, open, wait for, close and reopen it."),
    "triggers": ("Look at triggers",
        "Words in a message that load pages into the pack; match tells those a message sets off."),
    "sessions": ("Hold a session",
        "Conversations whose working memory lives between turns: start, turn, reply, suspend, resume."),
    "sources": ("Take in documents and results",
        "Take in a text, a summary, or what a task, a flow or a search came to."),
    "bus": ("Talk to other agents", "Offer memories to other agents, and ask for copies of theirs."),
    "maintenance": ("Look after the memory",
        "Count, consolidate, dream, audit, look for damage, tell and undo runs, what models cost."),
}  # fmt: skip
"""The tools beside the pinned ones: title and sentence of each."""


@dataclass(frozen=True)
class Action:
    """One operation as an agent calls it."""

    operation: Operation
    name: str = ""

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What an agent may say."""
        # The fields of a memory that REST takes beside what the operation itself asks for are not for agents.
        wanted = self.operation.own - NOT_FOR_AGENTS
        asked = (parameter for parameter in self.operation.parameters if parameter.name in wanted)
        return tuple(each for each in asked if each.says.for_agents or not each.is_option)

    @cached_property
    def reader(self) -> Reader:
        """What reads the arguments."""
        names = [parameter.name for parameter in self.parameters]
        also = {word: name for name in names for word in ARGUMENTS.get(name, ()) if word not in names}
        return Reader(self.parameters, Style.LENIENT, also)

    def run(self, memory: Engram, words: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
        """Run the operation; its result in the shape that agents get."""
        operation = self.operation
        arguments = self.reader.read(words)
        beside: dict[str, Any] = {}
        if operation.long or operation.tells_progress:
            tell(0, None, operation.sentence)
        if operation.tells_progress:
            beside["progress"] = lambda done, total: tell(done, total, operation.sentence)
        result = operation.run(memory, {**arguments, **operation.by_agents}, **beside)
        return result if callable(operation.calls) else _shaped(operation, result, memory)

    @property
    def answers(self) -> dict[str, Schema]:
        """What may stand in its answer, by name."""
        operation = self.operation
        if wrapped := operation.tool_gives or operation.gives:
            more = {"ok": {"type": "boolean"}} if wrapped == "findings" else {}
            return {wrapped: _shallow(operation.result)} | more
        if is_typeddict(operation.result):
            return {name: _shallow(hint) for name, hint in get_type_hints(operation.result).items()}
        return {}


def _shaped(operation: Operation, result: Any, memory: Engram) -> dict[str, Any]:
    under = operation.tool_gives or operation.gives
    shaped = shapes.shaped(result, memory.access)
    if operation.noun == "knowledge":
        knowledge = shaped if isinstance(shaped, dict) else {operation.action: shaped}
        return {"what": operation.action, "known": knowledge if result is not None else {}}
    if under == "findings":
        return {"ok": all(finding.ok for finding in result), "findings": shaped}
    if under:
        return {under: shaped}
    if isinstance(result, Memory):
        return shapes.changed_memory(result)
    return shaped if isinstance(shaped, dict) else {"answer": shaped}


def _shallow(hint: Any) -> Schema:
    """The schema of a value without what is inside it: tokens cost."""
    kinds = [option for option in options(hint) if option is not type(None)]
    kind = get_origin(kinds[0]) or kinds[0]
    if (isinstance(kind, type) and (is_dataclass(kind) or is_typeddict(kind))) or kind in (dict, Mapping):
        schema: Schema = {"type": "object"}
    elif kind in (list, tuple, Sequence, set, frozenset) or kind is AbstractSet:
        schema = {"type": "array"}
        if is_typeddict(inner := next(iter(getattr(kinds[0], "__args__", ())), None)):
            schema["items"] = Components(shared=False).of(inner)
    else:
        schema = Components(shared=False).of(kinds[0])
    return {**schema, "type": [schema["type"], "null"]} if len(kinds) < len(options(hint)) else schema


@dataclass(frozen=True)
class Tool:
    """What a client is told, and what runs."""

    name: str
    title: str
    sentence: str
    actions: Mapping[str, Action]

    @property
    def only(self) -> Action | None:
        """The one action of a tool that has no other."""
        return next(iter(self.actions.values())) if len(self.actions) == 1 else None

    @cached_property
    def takes(self) -> dict[str, Parameter]:
        """Every argument by name; of several actions, the first that has it describes it."""
        by_name: dict[str, Parameter] = {}
        for action in self.actions.values():
            for parameter in action.parameters:
                by_name.setdefault(parameter.name, parameter)
        return by_name

    @property
    def needs(self) -> tuple[str, ...]:
        """Arguments that it cannot do without."""
        return tuple(take.name for take in self.takes.values() if take.is_needed) if self.only else ()

    @cached_property
    def described(self) -> Schema:
        """The tool as the protocol lists it."""
        operations = [action.operation for action in self.actions.values()]
        reads = all(operation.reads for operation in operations)
        answers: dict[str, Schema] = {}
        for name, schema in (answer for action in self.actions.values() for answer in action.answers.items()):
            # What two actions answer with differently may be either: entities.split gives none now and then.
            answers[name] = schema if answers.setdefault(name, schema) == schema else {}
        always = _required(self.only.operation) if self.only else []
        return {
            "name": self.name,
            "title": self.title,
            "description": self.sentence,
            "inputSchema": _object(self._input(), self.needs),
            "outputSchema": _object(answers, always),
            "annotations": {
                "readOnlyHint": reads,
                "destructiveHint": any(operation.destroys for operation in operations),
                "idempotentHint": reads
                or all(operation.reads or operation.repeats for operation in operations),
                "openWorldHint": False,
            },
        }

    def _input(self) -> dict[str, Schema]:
        components = Components(shared=False)
        answer: dict[str, Schema] = {}
        if not self.only:
            answer["action"] = {"type": "string", "enum": [*self.actions]}
        for parameter in self.takes.values():
            if parameter.group is not None:
                names = [part.name for part in fields_of(parameter.group) if part.name in COUNTED_BY]
                answer |= {name: {"type": "array", "items": {"type": "string"}} for name in names}
            else:
                answer[parameter.name] = _slim(components.parameter(parameter))
        return answer

    def chosen(self, words: Mapping[str, Any]) -> tuple[Action, dict[str, Any]]:
        """The action that is meant, and what is said to it. Raises UnknownValue and InvalidInput."""
        arguments = {name: value for name, value in words.items() if value not in (None, "", [])}
        if self.only:
            return self.only, arguments
        named = arguments.pop("action", None) or arguments.pop("what", None)
        for word in [*arguments]:  # `ask: true` says the same as `action: ask`
            meant = ACTIONS.get(word, word)
            if named is None and meant in self.actions and word not in self.takes:
                named = meant if str(arguments[word]).lower() == "true" else None
                del arguments[word]
        if named is not None:
            if named not in self.actions:
                raise UnknownValue("action of this tool", named, tuple(self.actions))
            return self.actions[named], arguments
        fitting = (action for action in self.actions.values() if action.reader.fits(arguments))
        return next(fitting, next(iter(self.actions.values()))), arguments


def _slim(schema: Schema) -> Schema:
    """A schema without what no agent needs: that it may be null, and defaults that say nothing."""
    if "anyOf" in schema:
        options_left = [option for option in schema["anyOf"] if option != {"type": "null"}]
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        schema = {**options_left[0], **rest} if len(options_left) == 1 else {**rest, "anyOf": options_left}
    idle = {"format", *(("default",) if schema.get("default") in (False, "") else ())}
    return {name: value for name, value in schema.items() if name not in idle}


def _required(operation: Operation) -> list[str]:
    if under := operation.tool_gives or operation.gives:
        return [under]
    return sorted(needed_keys(operation.result)) if is_typeddict(operation.result) else []


def _object(properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties)}
    return schema | ({"required": [*required]} if required else {})


# ---------------------------------------------------------------- toolset
# Which tools a client is shown: a dozen that every agent can use, or all of them.


def _of_noun(noun: str) -> Tool:
    actions = {
        operation.action: Action(operation, operation.action)
        for operation in OPERATIONS.values()
        if (operation.noun if operation.tool is None else operation.tool) == noun
    }
    title, sentence = NOUNS[noun]
    return Tool(f"memory_{noun}", title, sentence, actions)


PINNED: Mapping[str, Tool] = MappingProxyType(
    {name: Tool(name, title, made.sentence, {"": Action(made)}) for name, (title, made) in BY_HAND.items()}
)
FULL: Mapping[str, Tool] = MappingProxyType(
    {**PINNED, **{tool.name: tool for tool in (_of_noun(noun) for noun in NOUNS)}}
)
TOOLSETS = ("pinned", "full", "retention")


@cache
def toolset(name: str) -> Mapping[str, Tool]:
    """The tools of a set by their names; those that clients of *retention* know are loaded when asked for."""
    if name != "retention":
        return FULL if name == "full" else PINNED
    from engram.server.compat.retention_tools import operations

    return {
        name: Tool(name, name, operation.sentence, {"": Action(operation)})
        for name, operation in operations().items()
    }


def find_tool(name: str, listed: Mapping[str, Tool]) -> Tool:
    """The tool of a name, listed or known from before. Raises UnknownValue, or InvalidInput."""
    if name in listed:
        return listed[name]
    if name in TOOLS_BEFORE and listed is not PINNED:
        return _BEFORE[name]
    if name in FULL or name in TOOLS_BEFORE:
        raise InvalidInput(
            f"{name!r} belongs to the full set: `engram mcp --tools full` shows it, or /mcp/full over HTTP."
        )
    raise UnknownValue("tool", name, tuple(listed))


_BEFORE: Mapping[str, Tool] = {
    name: Tool(
        name,
        name,
        OPERATIONS[names[0]].sentence,
        {OPERATIONS[operation].action: Action(OPERATIONS[operation]) for operation in names},
    )
    for name, names in TOOLS_BEFORE.items()
}


# ---------------------------------------------------------------- calling
# A tool's name and what an agent sent come in, an answer goes out. Errors of the engine are answers too: a
# tool that fails says its code and what to do, and the agent goes on.

REQUEST_ID = "request_id"
"""The argument by which an agent says that a call repeats another."""
_REQUEST_IDS = (REQUEST_ID, *ARGUMENTS[REQUEST_ID])


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool came to: its structured answer, or what went wrong."""

    fields: Mapping[str, Any] | None
    error: str = ""

    @property
    def text(self) -> str:
        """The same as text, for clients that read no structured content."""
        alone = self.fields is not None and set(self.fields) == {"result"}
        shown = self.fields["result"] if alone and self.fields is not None else self.fields
        return self.error or json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)


def silent(_done: float, _total: float | None, _words: str) -> None:
    """Nobody wants to know."""


class ToolDispatcher:
    """Carries out calls of the tools that a client is shown. Any thread may use it; it owns nothing."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools

    def call(self, memory: Engram, name: str, words: Mapping[str, Any], *, tell: Tell = silent) -> ToolAnswer:
        """Run a tool."""
        try:
            action, arguments = find_tool(name, self.tools).chosen(words)
            if REQUEST_ID not in action.reader.names:
                arguments = {word: value for word, value in arguments.items() if word not in _REQUEST_IDS}
            with told_to_a_model():
                return ToolAnswer(action.run(memory, arguments, tell))
        except EngramError as error:
            return ToolAnswer(None, str(error))
        except Exception as error:  # noqa: BLE001 (a door: whatever was not foreseen ends here, and says so)
            traceback.print_exc(file=sys.stderr)
            return ToolAnswer(None, f"{EngramError.code}: A bug in engram: {type(error).__name__}: {error}")


class _NotKept(Exception):
    def __init__(self, answer: ToolAnswer) -> None:
        self.answer = answer


async def once(
    keys: Keys, who: str, name: str, arguments: Mapping[str, Any], work: Callable[[], Awaitable[ToolAnswer]]
) -> ToolAnswer:
    """Carry out a call; one that worked, repeated under its request id, is answered as it was before.

    Another call under the same id is refused.
    """
    key = next((str(arguments[word]) for word in _REQUEST_IDS if arguments.get(word)), "")
    if not key:
        return await work()
    rest = {word: value for word, value in arguments.items() if word not in _REQUEST_IDS}
    request = json.dumps([name, rest], sort_keys=True, default=str).encode("utf-8", "replace")

    async def keep() -> IdempotentAnswer:
        answer = await work()
        if answer.fields is None:
            raise _NotKept(answer)
        return IdempotentAnswer(200, answer.text.encode())

    try:
        answer, _ = await keys.once(f"mcp {who}", key, request, keep)
    except _NotKept as failed:
        return failed.answer
    except EngramError as error:
        return ToolAnswer(None, str(error))
    return ToolAnswer(json.loads(answer.body))
