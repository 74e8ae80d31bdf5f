"""Values as plain data for JSON and back: what the doors print, export and read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, tzinfo
from enum import Enum
from typing import Any, TypeVar, get_args, get_type_hints

from engram.errors import EmptyContent, EngramError, UnknownValue, WrongType
from engram.lazily import dataclass
from engram.model.capture import Draft
from engram.model.memory import Kind, Layer, Policy, Priority, Tier, Type
from engram.model.scope import Scope

T = TypeVar("T")


def plain(value: Any) -> Any:  # noqa: PLR0911 - one line a kind of value reads best
    """Any value of the model as what JSON can hold: enums as words, times as ISO 8601.

    >>> plain(Scope(project="apollo"))["project"]
    'apollo'
    """
    if isinstance(value, EngramError):
        return {"code": value.code, "message": value.message}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(plain(item) for item in value)
    if isinstance(value, bytes):
        return bool(value)  # what is sealed stays here; that there is something does not
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def value_from(kind: type[T], record: Mapping[str, Any], **more: Any) -> T:
    """What `plain` made of a value, as the value again: lists as tuples, texts as times where it has some.

    >>> value_from(Scope, {"project": "apollo", "other": 1}, user="ada").parts
    ('default', 'apollo', '', '', '', 'ada')
    """
    known, hints = {**record, **more}, get_type_hints(kind)
    given = {name: known[name] for name in hints if name in known}
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = _tuples(value)
        elif isinstance(value, str) and datetime in (hints[name], *get_args(hints[name])):
            given[name] = datetime.fromisoformat(value)
    return kind(**given)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def draft_from(record: Mapping[str, Any], zone: tzinfo = UTC) -> Draft:
    """A draft from plain data: an export's line, a request's body. Other fields are left out.

    A record that knows only when it was stored happened then: history keeps its dates when it moves house.
    """
    if not isinstance(record, Mapping):
        raise WrongType("record", record, "an object")
    if record.get("content") is None:
        raise EmptyContent
    known: dict[str, Any] = {f.name: record[f.name] for f in fields(Draft) if record.get(f.name) is not None}
    if "event_time" not in known and record.get("created_at") is not None:
        known["event_time"] = record["created_at"]
    return draft(zone, **known)


def draft(zone: tzinfo = UTC, /, **given: Any) -> Draft:
    """A draft whose words are turned into the values they stand for; the content is not looked at here.

    Times without an offset are of `zone`.
    """
    turned = {name: _turn(name, value, zone) for name, value in given.items() if value is not None}
    return Draft(**turned)


def scope_from(value: Scope | Mapping[str, Any]) -> Scope:
    """A scope from its parts."""
    if isinstance(value, Scope):
        return value
    if not isinstance(value, Mapping):
        raise WrongType("scope", value, "an object with namespace, project, squad, agent, channel, user")
    names = tuple(f.name for f in fields(Scope))
    for name, part in value.items():
        if name not in names:
            raise UnknownValue("part of a scope", name, names)
        if not isinstance(part, str):
            raise WrongType(f"scope's {name}", part, "text")
    return Scope(**value)


def member(field: str, kind: type[Enum], value: Any) -> Any:
    """The member of an enum that a word names, in any case; members pass through.

    >>> member("layer", Layer, "core")
    <Layer.CORE: 'core'>
    """
    try:
        return kind(value)
    except ValueError:
        named = value.lower() if isinstance(value, str) else ""
        for candidate in kind:
            if candidate.value.lower() == named:
                return candidate
    raise UnknownValue(field, value, tuple(candidate.value for candidate in kind))


def moment(field: str, value: Any, zone: tzinfo = UTC) -> datetime:
    """A time in UTC from a datetime or ISO 8601 text. One without an offset is of `zone`."""
    return told_moment(field, value, zone).astimezone(UTC)


def told_moment(field: str, value: Any, zone: tzinfo = UTC) -> datetime:
    """The same with the offset it came with, which tells what "yesterday" is to whoever gave it.

    >>> told_moment("time", "2025-09-16T20:00:00-07:00").isoformat()
    '2025-09-16T20:00:00-07:00'
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise WrongType(field, value, "a time in ISO 8601") from error
    if not isinstance(value, datetime):
        raise WrongType(field, value, "a time")
    try:
        told = value if value.tzinfo is not None else value.replace(tzinfo=zone)
        told.astimezone(UTC)
    except OverflowError as error:
        raise WrongType(field, value, "a time between the years 1 and 9999") from error
    return told


_AXES: Mapping[str, type[Enum]] = {
    "kind": Kind,
    "type": Type,
    "priority": Priority,
    "policy": Policy,
    "tier": Tier,
    "layer": Layer,
}
_TIMES = {"event_time": told_moment, **dict.fromkeys(("valid_from", "valid_to", "expires_at"), moment)}


def _turn(name: str, value: Any, zone: tzinfo) -> Any:
    if name in _AXES:
        return member(name, _AXES[name], value)
    if name in _TIMES:
        return _TIMES[name](name, value, zone)
    if name == "scope":
        return scope_from(value)
    if name == "tags":
        if isinstance(value, str) or not isinstance(value, Sequence | AbstractSet):
            raise WrongType("tags", value, "a list of words")
        return tuple(value)
    if name == "details":
        if not isinstance(value, Mapping):
            raise WrongType("details", value, "an object")
        try:
            kept: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise WrongType("details", value, "plain JSON") from error
        return kept
    return value


@dataclass(frozen=True, slots=True)
class Says:
    """A parameter in words: `limit: Annotated[int, Says("So many at most.", least=1)]`."""

    sentence: str
    least: float | None = None
    most: float | None = None
    default: Any = None
    """What it is when it is left out, where the signature cannot say it."""
    flags: str = ""
    """How the command line spells it: `-n --limit`; empty: by its name."""
    choices: tuple[str, ...] = ()
    for_agents: bool = False
    """Whether a pinned tool of an agent takes it too."""
