"""Binding: what a request says in JSON or in a query comes in; arguments of a verb go out, each of its type.

The types are the verb's own hints, so a verb that learns a new argument is served with it at once. Whatever
does not fit is refused here by name; no verb sees a value of another type than it declares.
"""

from __future__ import annotations

import inspect
import json
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from engram.errors import BadText, EngramError, InvalidInput, UnknownValue, WrongType
from engram.model.memory import Layer
from engram.model.plain import member, moment, plain, scope_from
from engram.model.scope import Scope

LISTS = (list, tuple, frozenset, set, Sequence, Iterable)
YES, NO = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})
NOT_ASKED = frozenset({"self", "memory", "progress", "body"})
"""Arguments that no request gives by name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing a request may say."""

    name: str
    hint: Any
    default: Any = MISSING

    @property
    def is_needed(self) -> bool:
        """Whether the verb cannot do without it."""
        return self.default is MISSING

    @property
    def group(self) -> type | None:
        """The values that a query spells part by part: a scope, filters."""
        kinds = [one for one in options(self.hint) if isinstance(one, type) and is_dataclass(one)]
        return kinds[0] if kinds else None


@cache
def parameters_of(call: Callable[..., Any]) -> tuple[Parameter, ...]:
    """What a verb takes, in its order."""
    hints = get_type_hints(call)
    return tuple(
        Parameter(name, hints.get(name, Any), MISSING if one.default is one.empty else one.default)
        for name, one in inspect.signature(call).parameters.items()
        if name not in NOT_ASKED and one.kind is not one.VAR_KEYWORD
    )


@cache
def fields_of(kind: type) -> tuple[Parameter, ...]:
    """The fields of a value, as parameters."""
    hints = get_type_hints(kind)
    return tuple(Parameter(f.name, hints[f.name], _default(f)) for f in fields(kind))


def arguments(
    parameters: Sequence[Parameter], given: Mapping[str, Any], *, spelled: bool = False
) -> dict[str, Any]:
    """The arguments that a request gives. `spelled`: they come from a query, where everything is text."""
    known = {one.name: one for one in parameters}
    parts = _parts(parameters) if spelled else {}
    found: dict[str, Any] = {}
    grouped: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        if name in known and not (spelled and known[name].group):
            found[name] = value_of(name, known[name].hint, value, spelled=spelled)
        elif name in parts:
            grouped.setdefault(parts[name], {})[name] = value
        else:
            raise UnknownValue(
                "parameter of this call", name, (*known, *(n for n in parts if n not in known))
            )
    for name, values in grouped.items():
        kind = known[name].group
        if kind is not None:
            found[name] = _made(kind, values, spelled=spelled)
    missing = [one.name for one in parameters if one.is_needed and one.name not in found]
    if missing:
        message = f"The {missing[0]} is missing."
        raise InvalidInput(message)
    return found


def value_of(name: str, hint: Any, value: Any, *, spelled: bool = False) -> Any:
    """One value as its hint wants it. Raises WrongType or UnknownValue."""
    wanted = options(hint)
    if Any in wanted:
        return value
    if value is None:
        if type(None) in wanted:
            return None
        raise WrongType(name, value, _words(wanted))
    for kind in sorted(wanted, key=_order):
        if kind is datetime and str in wanted and isinstance(value, str):
            continue  # whoever takes both reads the text, and knows the caller's time zone
        made = _one(name, kind, value, spelled=spelled)
        if made is not MISSING:
            return made
    raise WrongType(name, value, _words(wanted))


def options(hint: Any) -> tuple[Any, ...]:
    """The kinds of value that a hint allows.

    >>> options(int | None)
    (<class 'int'>, <class 'NoneType'>)
    """
    if get_origin(hint) in (Union, types.UnionType):
        return get_args(hint)
    return (hint,)


def _one(name: str, kind: Any, value: Any, *, spelled: bool) -> Any:  # noqa: PLR0911 - one line a kind reads best
    """The value as this kind; MISSING when it is of another."""
    origin = get_origin(kind) or kind
    if kind is str:
        return _text(name, value) if isinstance(value, str) else MISSING
    if kind is bool:
        return _switch(value) if spelled else (value if isinstance(value, bool) else MISSING)
    if kind in (int, float):
        return _number(kind, value, spelled=spelled)
    if kind is datetime:
        return moment(name, value) if isinstance(value, str) else MISSING
    if isinstance(kind, type) and issubclass(kind, Enum):
        return member(name, kind, value)
    if kind is Scope:
        return scope_from(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return _made(kind, value, spelled=False) if isinstance(value, Mapping) else MISSING
    if origin in (dict, Mapping):
        return dict(value) if isinstance(value, Mapping) else MISSING
    if origin in LISTS:
        return _listed(name, kind, value, spelled=spelled)
    return MISSING


def _order(kind: Any) -> int:
    """Narrow kinds are tried before text, which nearly everything is in a query."""
    return 1 if kind is str else 0


def _text(name: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadText(name, "half of a character") from error
    if "\0" in value:
        raise BadText(name, "a NUL character")
    return value


def _switch(value: Any) -> Any:
    word = str(value).lower()
    return True if word in YES else False if word in NO else MISSING


def _number(kind: type, value: Any, *, spelled: bool) -> Any:
    if spelled and isinstance(value, str):
        try:
            value = float(value) if kind is float else int(value)
        except ValueError:
            return MISSING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return MISSING
    if isinstance(value, float) and not math.isfinite(value):
        return MISSING
    if kind is int:
        return int(value) if isinstance(value, int) or value.is_integer() else MISSING
    return value


def _listed(name: str, kind: Any, value: Any, *, spelled: bool) -> Any:
    if spelled and isinstance(value, str):
        value = [part for part in (piece.strip() for piece in value.split(",")) if part]
    if not isinstance(value, list | tuple):
        return MISSING
    inner = next(iter(get_args(kind)), Any)
    items = [value_of(name, inner, item, spelled=spelled) for item in value]
    origin = get_origin(kind) or kind
    return origin(items) if origin in (list, tuple, frozenset, set) else items


def _made(kind: type, values: Mapping[str, Any], *, spelled: bool) -> Any:
    return kind(**arguments(fields_of(kind), values, spelled=spelled))


def _parts(parameters: Sequence[Parameter]) -> dict[str, str]:
    """Which parameter each part of a group belongs to; the first that has it."""
    found: dict[str, str] = {}
    for one in parameters:
        if one.group is not None:
            for part in fields_of(one.group):
                found.setdefault(part.name, one.name)
    return found


def _default(item: Any) -> Any:
    return item.default if item.default is not MISSING else item.default_factory


def _words(wanted: Sequence[Any]) -> str:
    names = {
        str: "text", int: "a whole number", float: "a number", bool: "true or false", datetime: "a time",
        dict: "an object", Mapping: "an object", type(None): "",
    }  # fmt: skip
    told = [
        names.get(get_origin(one) or one, "") or _kind_words(one) for one in wanted if one is not type(None)
    ]
    return " or ".join(dict.fromkeys(told))


def _kind_words(kind: Any) -> str:
    return "a list" if (get_origin(kind) or kind) in LISTS else "an object"


# ---------------------------------------------------------------- schemas
# Schemas: type hints come in, JSON Schema goes out. A value of the model becomes a component of its name.


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


# ---------------------------------------------------------------- encoding
# Encoding: a value of the model comes in, JSON goes out, the same as of `plain` and several times faster.
#
# An answer holds hundreds of fields. The encoder written in C walks through them and asks here only for
# what it does not know, one level at a time. A layer is known as a field, in a list or a set, not as the
# key of a dict.


def encoded(value: Any) -> bytes:
    """A value of the model as JSON.

    >>> from engram.model.scope import Role
    >>> encoded({"role": Role.OWNER, "layers": frozenset({Layer.CORE})})
    b'{"role": "owner", "layers": ["core"]}'
    """
    return json.dumps(_named(value), default=_one_encoding, ensure_ascii=False).encode("utf-8", "replace")


def _one_encoding(value: Any) -> Any:
    """A value the encoder does not know, one level down."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _named(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(plain(key)): _named(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(plain(item) for item in value)
    return plain(value)


def _named(value: Any) -> Any:
    """A layer, or a list of them, by name: the encoder would take it for its number."""
    first = value[0] if isinstance(value, tuple | list) and value else value
    return plain(value) if isinstance(first, Layer) else value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))
