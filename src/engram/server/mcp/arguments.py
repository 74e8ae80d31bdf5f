"""What an agent sends for a tool comes in as it is; what the tool takes goes out, or an error that helps.

Agents know many memory tools and mix up their words: `q` for `query`, `"5"` for 5, `"a, b"` for a list.
All of these are understood. What a tool does not take is refused by name: an agent that is not told believes
it was heeded. Who asks is known from the connection, never from here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from engram.errors import InvalidInput, TooMany, UnknownValue, WrongType

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
