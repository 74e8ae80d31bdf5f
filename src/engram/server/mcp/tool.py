"""A tool as plain data: what a client is told of it, and the function that runs when it is called."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from engram.errors import InvalidInput, TooMany, UnknownValue, WrongType
from engram.model.memory import Status
from engram.model.plain import plain
from engram.model.recall import public_score

if TYPE_CHECKING:
    from engram.engine import Engram
    from engram.model.capture import Observation, Receipt, Turn
    from engram.model.event import Event
    from engram.model.facts import Claim
    from engram.model.memory import Memory
    from engram.model.recall import Hit
    from engram.model.scope import Access


Schema = dict[str, Any]
Tell = Callable[[float, float | None, str], None]
"""Told how far a long call has come: done, of how much if that is known, and in words."""


def silent(_done: float, _total: float | None, _words: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class ToolCall:
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
    run: Callable[[ToolCall], dict[str, Any]]
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


# ---------------------------------------------------------------- arguments
# What an agent sends for a tool comes in as it is; what the tool takes goes out, or an error that helps.
#
# Agents know many memory tools and mix up their words: `q` for `query`, `"5"` for 5, `"a, b"` for a list.
# All of these are understood. What a tool does not take is refused by name: an agent that is not told
# believes it was heeded. Who asks is known from the connection, never from here.


ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "query": ("q", "text", "question", "prompt", "input"),
        "content": ("text", "memory", "data", "fact", "statement", "message"),
        "text": ("content", "document"),
        "limit": ("top_k", "topK", "k", "n", "n_results", "max_results", "count"),
        "id": ("memory_id", "memoryId", "uuid"),
        "budget": ("max_tokens", "maxTokens", "token_budget", "tokens"),
        "tags": ("tag", "labels", "keywords"),
        "source": ("source_id", "from", "from_id"),
        "target": ("target_id", "to", "to_id"),
        "type": ("relation", "relation_type", "relationType", "edge_type"),
        "because": ("reason", "why"),
        "helpful": ("useful", "positive"),
        "user": ("user_message", "input"),
        "assistant": ("assistant_message", "reply", "response", "output"),
        "session": ("session_id", "sessionId", "conversation_id", "thread_id"),
        "event_time": ("when", "date", "timestamp", "time"),
        "since": ("after", "from_date", "start"),
        "until": ("before", "to_date", "end"),
        "request_id": ("idempotency_key", "requestId"),
        "name": ("entity", "entity_name"),
        "status": ("state",),
        "title": ("name",),
    }
)
"""Other words for an argument, the likeliest first. One that the tool itself takes keeps its own meaning."""

MOST_ITEMS = 10_000
"""A list may not be longer: as many statements take about as long as a call may."""
_YES, _NO = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


def understood(takes: Mapping[str, Any], needs: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under their own names and with their own types; what is empty counts as not given.

    >>> understood({"query": {"type": "string"}, "limit": {"type": "integer"}}, (), {"q": "tea", "k": "5"})
    {'query': 'tea', 'limit': 5}
    """
    found: dict[str, Any] = {}
    known = {*takes, *(other for name in takes for other in ALIASES.get(name, ()))}
    for name, value in given.items():
        if name not in known and value is not None:
            raise UnknownValue("argument of this tool", name, tuple(takes) or ("none",))
    for name, schema in takes.items():
        value = _given(name, takes, given)
        if value is not None and value not in ("", []):
            found[name] = _turned(name, schema.get("type", "string"), value)
    for name in needs:
        if name not in found:
            raise InvalidInput(
                f"The argument {name!r} is missing: {takes[name].get('description', 'give it')}."
            )
    return found


def _given(name: str, takes: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    if given.get(name) is not None:
        return given[name]
    others = (other for other in ALIASES.get(name, ()) if other not in takes)
    return next((given[other] for other in others if given.get(other) is not None), None)


def _turned(name: str, kind: str, value: Any) -> Any:
    """The value as its type; a text that spells it will do."""
    match kind:
        case "integer":
            return _whole(name, value)
        case "number":
            return _number(name, value)
        case "boolean":
            return _truth(name, value)
        case "array":
            return _several(name, value)
        case _:
            return _words(name, value)


def _whole(name: str, value: Any) -> int:
    number = _number(name, value)
    if number != int(number):
        raise WrongType(name, value, "a whole number")
    return int(number)


def _number(name: str, value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise WrongType(name, value, "a number")
        number = float(value)
    except (TypeError, ValueError) as error:
        raise WrongType(name, value, "a number") from error
    if not abs(number) < float("inf"):
        raise WrongType(name, value, "a number")
    return number


def _truth(name: str, value: Any) -> bool:
    spelled = str(value).strip().lower()
    if spelled in _YES | _NO:
        return spelled in _YES
    raise WrongType(name, value, "true or false")


def _several(name: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        value = _listed(value)
    if isinstance(value, Mapping):
        return [value]
    if not isinstance(value, list | tuple):
        raise WrongType(name, value, "a list")
    if len(value) > MOST_ITEMS:
        raise TooMany(f"items of {name!r}", len(value), MOST_ITEMS)
    return [*value]


def _listed(text: str) -> Any:
    """A list that came as text: JSON, or words with commas between them."""
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError:
            return [text]
    return [word.strip() for word in text.split(",") if word.strip()]


def _words(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    raise WrongType(name, value, "text")


# ---------------------------------------------------------------- shapes
# Values of the model come in; what an agent needs of them goes out, as little as it may be: words cost.


LABEL_LENGTH = 80


def brief_memory(memory: Memory) -> dict[str, Any]:
    """A memory in a list: what it says, when, and what a reader must be warned of."""
    shown: dict[str, Any] = {
        "id": memory.id,
        "content": memory.shown,
        "category": memory.category,
        "when": memory.happened_at.isoformat(timespec="seconds"),
    }
    if memory.tags:
        shown["tags"] = [*memory.tags]
    if memory.pinned:
        shown["pinned"] = True
    if memory.status is not Status.ACTIVE:
        shown["status"] = str(memory.status)
    return shown


def full_memory(memory: Memory) -> dict[str, Any]:
    """Everything about a memory that says something: empty fields and inner workings are left out."""
    hidden = {"content_hash", "forms", "scope", "affect", "strength", "heat", "surprise", "metadata"}
    fields = {name: value for name, value in plain(memory).items() if name not in hidden}
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def hit(found: Hit, access: Access) -> dict[str, Any]:
    """A memory that answers, and how well: to an agent in a word, for figures can be misused."""
    score = public_score(found, access)
    told = score if isinstance(score, str) else round(score, 4)
    return brief_memory(found.memory) | {"content": found.text, "score": told}


def receipt(done: Receipt) -> dict[str, Any]:
    """What became of a statement."""
    shown = {
        "id": done.memory.id,
        "outcome": str(done.outcome),
        "because": done.because,
        "content": done.memory.content,
    }
    return shown | ({"other": done.other} if done.other else {})


def observation(heard: Observation) -> dict[str, Any]:
    """What was made of something said."""
    return {
        "logged": heard.logged,
        "memories": [receipt(one) for one in heard.receipts],
        "waiting": heard.waiting,
        "because": heard.because,
        **({"trouble": heard.trouble} if heard.trouble else {}),
    }


def changed(memory: Memory, because: str) -> dict[str, Any]:
    """A memory after a change."""
    return {"id": memory.id, "status": str(memory.status), "content": memory.content, "because": because}


def turn(said: Turn) -> dict[str, Any]:
    """Something said, word for word."""
    who = said.speaker or str(said.part)
    return {"id": said.id, "who": who, "at": said.at.isoformat(timespec="seconds"), "content": said.content}


def event(happened: Event) -> dict[str, Any]:
    """A line of the ledger, without what it did not change."""
    return {name: value for name, value in plain(happened).items() if value not in (None, "", [], {})}


def claim(stated: Claim) -> dict[str, Any]:
    """A fact, and the memory that states it."""
    shown = {name: value for name, value in plain(stated.fact).items() if value is not None}
    return shown | {"memory": stated.memory.id}


def label(memory: Memory) -> str:
    """A title for a memory: its own label, or the beginning of its words."""
    words = memory.forms.label or memory.forms.key_fact or " ".join(memory.content.split())
    return words if len(words) <= LABEL_LENGTH else words[: LABEL_LENGTH - 1].rstrip() + "…"


def without_empty(fields: Iterable[tuple[str, Any]] | Mapping[str, Any]) -> dict[str, Any]:
    """Only the fields that say something."""
    return {name: value for name, value in dict(fields).items() if value not in (None, "", [], {})}
