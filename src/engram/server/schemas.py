"""Schemas: type hints come in, JSON Schema goes out. A value of the model becomes a component of its name."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from engram.errors import EngramError
from engram.model.plain import plain
from engram.server.binding import LISTS, Parameter, options

Schema = dict[str, Any]
ERROR = {
    "type": "object",
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
    "required": ["code", "message"],
}
_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    type(None): {"type": "null"},
    Any: {},
    dict: {"type": "object"},
    Mapping: {"type": "object"},
}


class Components:
    """Schemas of the values met so far, by name."""

    def __init__(self) -> None:
        self.found: dict[str, Schema] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of a hint; dataclasses become references."""
        kinds = options(hint)
        if len(kinds) > 1:
            return self._any(kinds)
        return self._one(kinds[0])

    def _any(self, kinds: Sequence[Any]) -> Schema:
        """A choice; text that stands for a member or a time need not be told twice."""
        narrow = [one for one in kinds if one is datetime or _is_enum(one)]
        kept = [one for one in kinds if not (narrow and one is str)]
        made = [self._one(one) for one in kept]
        return made[0] if len(made) == 1 else {"anyOf": made}

    def _one(self, kind: Any) -> Schema:  # noqa: PLR0911 - one line a kind of value reads best
        origin = get_origin(kind) or kind
        if kind in _SIMPLE:
            return dict(_SIMPLE[kind])
        if _is_enum(kind):
            return {"type": "string", "enum": [str(plain(one)) for one in kind]}
        if isinstance(kind, type) and issubclass(kind, EngramError):
            return dict(ERROR)
        if isinstance(kind, type) and is_dataclass(kind):
            return self._reference(kind)
        if origin in LISTS:
            return self._list(kind)
        if origin in (dict, Mapping):
            inner = get_args(kind)
            value = self.of(inner[1]) if len(inner) > 1 else {}
            return {"type": "object", "additionalProperties": value} if value else {"type": "object"}
        return {}

    def _list(self, kind: Any) -> Schema:
        inner = [one for one in get_args(kind) if one is not Ellipsis]
        if (get_origin(kind) or kind) is tuple and len(inner) > 1 and Ellipsis not in get_args(kind):
            return {"type": "array", "prefixItems": [self.of(one) for one in inner]}
        return {"type": "array", "items": self.of(inner[0]) if inner else {}}

    def _reference(self, kind: type) -> Schema:
        if kind.__name__ not in self.found:
            self.found[kind.__name__] = {}  # named first: a value may hold another of its kind
            self.found[kind.__name__] = self._object(kind)
        return {"$ref": f"#/components/schemas/{kind.__name__}"}

    def _object(self, kind: type) -> Schema:
        hints = get_type_hints(kind)
        needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
        made: Schema = {
            "type": "object",
            "description": inspect.getdoc(kind) or "",
            "properties": {f.name: self.of(hints[f.name]) for f in fields(kind)},
        }
        return made | ({"required": needed} if needed else {})

    def body(self, parameters: Iterable[Parameter]) -> Schema:
        """An object with these parameters; nothing else may stand in it."""
        told = list(parameters)
        needed = [one.name for one in told if one.is_needed]
        made: Schema = {
            "type": "object",
            "properties": {one.name: self.parameter(one) for one in told},
            "additionalProperties": False,
        }
        return made | ({"required": needed} if needed else {})

    def parameter(self, one: Parameter) -> Schema:
        """One parameter, with what it is when it is left out."""
        made, default = self.of(one.hint), plain_default(one)
        return made | ({"default": default} if default is not None and "$ref" not in made else {})


def plain_default(one: Parameter) -> Any:
    """What a parameter is when it is left out, where that can be said; else None."""
    if one.is_needed or callable(one.default) or one.default in ("", (), None):
        return None
    value = plain(one.default)
    return value if isinstance(value, str | int | float | bool) else None


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)
