"""Values from outside and back: what a request says becomes arguments, an answer becomes JSON.

One parser for every door, made once for each type hint. It reads in three styles: `JSON` takes values as they
are; `SPELLED` reads text, as an address or a command line has it; `LENIENT` also takes what agents send for
what they mean: "5" for 5, "a, b" for a list. Whatever does not fit is refused by name.
"""

from __future__ import annotations

import inspect
import json
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, field, fields, is_dataclass
from datetime import datetime
from enum import Enum, StrEnum
from functools import cache
from operator import attrgetter
from typing import (
    Annotated,
    Any,
    NotRequired,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

from engram.errors import BadText, EngramError, InvalidInput, TooMany, UnknownValue, WrongType
from engram.lazily import dataclass
from engram.model.capture import Receipt
from engram.model.plain import Says, member, moment, plain, scope_from
from engram.model.recall import Hit, Recall
from engram.model.scope import Scope
from engram.text.forms import FormsOnDemand

LISTS = (list, tuple, frozenset, set, Sequence, Iterable)
YES, NO = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})
NOT_ASKED = frozenset({"self", "memory", "progress", "stopping", "body"})
"""Arguments that no request gives by name."""
MOST_ITEMS = 10_000
"""A list may not be longer: as many statements take about as long as a call may."""

_NOTHING: tuple[Any, ...] = (None, "", [])

Read = Callable[[str, Any], Any]
"""Name and value come in; the value as it is wanted goes out, or MISSING when it is of another kind."""


class Style(StrEnum):
    """How a value is written."""

    JSON = "json"
    SPELLED = "spelled"
    LENIENT = "lenient"


# ---------------------------------------------------------------- parameters


NOTHING_SAID = Says("")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing a request may say."""

    name: str
    hint: Any
    default: Any = MISSING
    says: Says = NOTHING_SAID
    is_option: bool = False
    """Whether it is one of many options that come together as a `TypedDict`."""

    @property
    def is_needed(self) -> bool:
        """Whether the operation cannot do without it."""
        return self.default is MISSING

    @property
    def group(self) -> type | None:
        """The values that a query spells part by part: a scope, filters."""
        kinds = [option for option in options(self.hint) if isinstance(option, type) and is_dataclass(option)]
        return kinds[0] if kinds else None


@cache
def parameters_of(call: Callable[..., Any]) -> tuple[Parameter, ...]:
    """What a function takes, in its order; options that it takes as a `TypedDict` one by one."""
    hints = get_type_hints(call, include_extras=True)
    parameters: list[Parameter] = []
    for name, given in inspect.signature(call).parameters.items():
        hint = hints.get(name, Any)
        if given.kind is given.VAR_KEYWORD:
            if get_origin(hint) is Unpack:
                parameters += _options_of(get_args(hint)[0], {parameter.name for parameter in parameters})
        elif name not in NOT_ASKED:
            kind, says = _described(hint)
            default = MISSING if given.default is given.empty else given.default
            parameters.append(Parameter(name, kind, default, says))
    return tuple(parameters)


@cache
def fields_of(kind: type) -> tuple[Parameter, ...]:
    """The fields of a value, as parameters."""
    hints = get_type_hints(kind)
    defaults = {f.name: f.default if f.default is not MISSING else f.default_factory for f in fields(kind)}
    return tuple(Parameter(name, hints[name], default) for name, default in defaults.items())


def _options_of(kind: type, taken: AbstractSet[str]) -> Iterable[Parameter]:
    for name, hint in get_type_hints(kind, include_extras=True).items():
        inner, says = _described(hint)
        if name not in taken:
            yield Parameter(name, inner, says.default, says, is_option=True)


def _described(hint: Any) -> tuple[Any, Says]:
    if get_origin(hint) is not Annotated:
        return hint, NOTHING_SAID
    inner, *notes = get_args(hint)
    return inner, next((note for note in notes if isinstance(note, Says)), NOTHING_SAID)


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Reader:
    """Reads what is said for some parameters, in one style. Made once, used for every request."""

    parameters: tuple[Parameter, ...]
    style: Style = Style.JSON
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names for arguments, as clients know them."""

    def __post_init__(self) -> None:
        apart = self.style is not Style.JSON
        groups = {
            parameter.name: parameter.group
            for parameter in self.parameters
            if apart and parameter.group is not None
        }
        known = {
            parameter.name: reader(parameter.hint, self.style)
            for parameter in self.parameters
            if parameter.name not in groups
        }
        parts: dict[str, str] = {}
        for name, kind in groups.items():
            for part in fields_of(kind):
                parts.setdefault(part.name, name)
        of_groups = {name: (kind, Reader(fields_of(kind), self.style)) for name, kind in groups.items()}
        needed = tuple(parameter for parameter in self.parameters if parameter.is_needed)
        vars(self).update(_known=known, _parts=parts, _groups=of_groups, _needed=needed)

    _known: dict[str, Read] = field(init=False, repr=False, compare=False)
    _parts: dict[str, str] = field(init=False, repr=False, compare=False)
    _groups: dict[str, tuple[type, Reader]] = field(init=False, repr=False, compare=False)
    _needed: tuple[Parameter, ...] = field(init=False, repr=False, compare=False)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments. Raises UnknownValue, WrongType, InvalidInput for one that is missing."""
        arguments: dict[str, Any] = {}
        grouped: dict[str, dict[str, Any]] = {}
        lenient = self.style is Style.LENIENT
        for word, value in given.items():
            name = self.also.get(word, word)
            if lenient and (value in _NOTHING or (name != word and given.get(name) not in _NOTHING)):
                continue  # an agent that sends nothing says nothing; its own word counts before another
            if (read := self._known.get(name)) is not None:
                arguments[name] = read(name, value)
            elif name in self._parts:
                grouped.setdefault(self._parts[name], {})[name] = value
            else:
                what = "argument of this tool" if lenient else "parameter of this call"
                raise UnknownValue(what, word, (*self._known, *self._parts) or ("none",))
        for name, values in grouped.items():
            kind, inner = self._groups[name]
            arguments[name] = kind(**inner.read(values))
        for parameter in self._needed:
            if parameter.name not in arguments:
                what = parameter.says.sentence.rstrip(".") or "give it"
                message = f"argument {parameter.name!r} is missing: {what}"
                raise InvalidInput(f"The {message if lenient else f'{parameter.name} is missing'}.")
        return arguments

    @property
    def names(self) -> AbstractSet[str]:
        """What it knows by name."""
        return self._known.keys() | self._parts.keys()

    def fits(self, given: Mapping[str, Any]) -> bool:
        """Whether all of this is known and nothing needed is missing."""
        names = {self.also.get(word, word) for word in given}
        return names <= self.names and all(parameter.name in names for parameter in self._needed)


def options(hint: Any) -> tuple[Any, ...]:
    """The kinds of value that a hint allows.

    >>> options(int | None)
    (<class 'int'>, <class 'NoneType'>)
    """
    if get_origin(hint) in (Union, types.UnionType):
        return get_args(hint)
    return (hint,)


@cache
def reader(hint: Any, style: Style) -> Read:
    """What reads a value of this hint. It raises WrongType or UnknownValue.

    >>> reader(int | None, Style.LENIENT)("limit", "5")
    5
    """
    wanted = options(hint)
    if Any in wanted:
        return lambda _, value: value
    # Whoever takes a time and text reads the text, and knows the caller's time zone; text comes last, for
    # nearly everything is text in a query.
    kinds = [kind for kind in wanted if kind is not type(None) and not (kind is datetime and str in wanted)]
    readers = [_kind_reader(kind, style) for kind in sorted(kinds, key=lambda kind: kind is str)]
    words, takes_none = _words(wanted), type(None) in wanted

    def read(name: str, value: Any) -> Any:
        if value is None:
            if takes_none:
                return None
            raise WrongType(name, value, words)
        for read_kind in readers:
            result = read_kind(name, value)
            if result is not MISSING:
                return result
        raise WrongType(name, value, words)

    return read


def _kind_reader(kind: Any, style: Style) -> Read:  # noqa: PLR0911 - one line a kind of value reads best
    origin = get_origin(kind) or kind
    if kind is str:
        return _lenient_text if style is Style.LENIENT else _text
    if kind is bool:
        return _truth if style is Style.JSON else _switch
    if kind in (int, float):
        return _number_reader(kind, style)
    if kind is datetime:
        return lambda name, value: moment(name, value) if isinstance(value, str) else MISSING
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda name, value: member(name, kind, value)
    if kind is Scope:
        return lambda _, value: scope_from(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return _value_reader(kind)
    if origin in (dict, Mapping):
        return lambda _, value: dict(value) if isinstance(value, Mapping) else MISSING
    if origin in LISTS:
        return _list_reader(kind, style)
    return lambda _, __: MISSING


def _text(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return MISSING
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadText(name, "half of a character") from error
    if "\0" in value:
        raise BadText(name, "a NUL character")
    return value


def _lenient_text(name: str, value: Any) -> Any:
    return str(value) if isinstance(value, bool | int | float) else _text(name, value)


def _truth(_: str, value: Any) -> Any:
    return value if isinstance(value, bool) else MISSING


def _switch(_: str, value: Any) -> Any:
    word = str(value).strip().lower()
    return True if word in YES else False if word in NO else MISSING


def _number_reader(kind: type, style: Style) -> Read:
    def read(_: str, value: Any) -> Any:
        if style is not Style.JSON and isinstance(value, str):
            try:
                value = int(value) if kind is int and style is Style.SPELLED else float(value)
            except ValueError:
                return MISSING
        if isinstance(value, bool) or not isinstance(value, int | float):
            return MISSING
        if isinstance(value, float) and not math.isfinite(value):
            return MISSING
        if kind is int:
            return int(value) if isinstance(value, int) or value.is_integer() else MISSING
        return value

    return read


def _value_reader(kind: type) -> Read:
    inner: list[Reader] = []  # made at first use: a value may hold another of its kind

    def read(_: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return MISSING
        if not inner:
            inner.append(Reader(fields_of(kind)))
        return kind(**inner[0].read(value))

    return read


def _list_reader(kind: Any, style: Style) -> Read:
    origin = get_origin(kind) or kind
    within = reader(next(iter(get_args(kind)), Any), style)
    made = origin if origin in (list, tuple, frozenset, set) else list

    def read(name: str, value: Any) -> Any:
        if isinstance(value, str) and style is not Style.JSON:
            value = _listed(value, style)
        if style is Style.LENIENT and isinstance(value, Mapping):
            value = [value]
        if not isinstance(value, list | tuple):
            return MISSING
        if len(value) > MOST_ITEMS:
            raise TooMany(f"items of {name!r}", len(value), MOST_ITEMS)
        return made(within(name, item) for item in value)

    return read


def _listed(text: str, style: Style) -> Any:
    """A list that came as text: words with commas between them, or JSON."""
    if style is Style.LENIENT and text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError:
            return [text]
    return [part for part in (piece.strip() for piece in text.split(",")) if part]


def _words(wanted: Sequence[Any]) -> str:
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false", datetime: "a time"}
    names |= dict.fromkeys(LISTS, "a list")
    kinds = (get_origin(kind) or kind for kind in wanted if kind is not type(None))
    return " or ".join(dict.fromkeys(names.get(kind, "an object") for kind in kinds))


# ---------------------------------------------------------------- schemas
# Type hints come in, JSON Schema goes out. A value of the model and an enum become components of their name.


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
    """Schemas of the values met so far, by name; unless `shared`, they are written out where they stand."""

    def __init__(self, *, shared: bool = True) -> None:
        self.found: dict[str, Schema] = {}
        self._shared = shared

    def of(self, hint: Any) -> Schema:
        """The schema of a hint."""
        kinds = options(hint)
        return self._any(kinds) if len(kinds) > 1 else self._one(kinds[0])

    def _any(self, kinds: Sequence[Any]) -> Schema:
        """A choice; text that stands for a member or a time need not be told twice."""
        narrow = [kind for kind in kinds if kind is datetime or _is_enum(kind)]
        schemas = [self._one(kind) for kind in kinds if not (narrow and kind is str)]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _one(self, kind: Any) -> Schema:
        origin = get_origin(kind) or kind
        if kind in _SIMPLE:
            return dict(_SIMPLE[kind])
        if isinstance(kind, type) and issubclass(kind, EngramError):
            return dict(ERROR)
        if _is_enum(kind) or is_typeddict(kind) or (isinstance(kind, type) and is_dataclass(kind)):
            return self._reference(kind)
        if origin in LISTS:
            return self._list(kind)
        if origin in (dict, Mapping):
            inner = get_args(kind)
            value = self.of(inner[1]) if len(inner) > 1 else {}
            return {"type": "object", "additionalProperties": value} if value else {"type": "object"}
        return {}

    def _list(self, kind: Any) -> Schema:
        inner = [item for item in get_args(kind) if item is not Ellipsis]
        if (get_origin(kind) or kind) is tuple and len(inner) > 1 and Ellipsis not in get_args(kind):
            return {"type": "array", "prefixItems": [*map(self.of, inner)]}
        return {"type": "array", "items": self.of(inner[0]) if inner else {}}

    def _reference(self, kind: type) -> Schema:
        if not self._shared:
            return self._component(kind)
        if kind.__name__ not in self.found:
            self.found[kind.__name__] = {}  # named first: a value may hold another of its kind
            self.found[kind.__name__] = self._component(kind)
        return {"$ref": f"#/components/schemas/{kind.__name__}"}

    def _component(self, kind: Any) -> Schema:
        if _is_enum(kind):
            words = {"description": inspect.getdoc(kind)} if self._shared else {}
            return {"type": "string", **words, "enum": [member.value for member in kind]}
        hints = get_type_hints(kind)
        needed = (
            needed_keys(kind)
            if is_typeddict(kind)
            else [parameter.name for parameter in fields_of(kind) if parameter.is_needed]
        )
        names = hints if is_typeddict(kind) else [field.name for field in fields(kind)]
        schema: Schema = {"type": "object", "properties": {name: self.of(hints[name]) for name in names}}
        if self._shared:
            schema["description"] = inspect.getdoc(kind) or ""
        return schema | ({"required": needed} if needed else {})

    def body(self, parameters: Sequence[Parameter]) -> Schema:
        """An object with these parameters; nothing else may stand in it."""
        needed = [parameter.name for parameter in parameters if parameter.is_needed]
        schema: Schema = {
            "type": "object",
            "properties": {parameter.name: self.parameter(parameter) for parameter in parameters},
            "additionalProperties": False,
        }
        return schema | ({"required": needed} if needed else {})

    def parameter(self, parameter: Parameter) -> Schema:
        """One parameter, with its sentence, its range and what it is when it is left out."""
        schema, default, says = self.of(parameter.hint), plain_default(parameter), parameter.says
        bounds = {"minimum": says.least, "maximum": says.most}
        for kind in (schema, *schema.get("anyOf", ())):
            if kind.get("type") in ("integer", "number"):
                kind |= {name: bound for name, bound in bounds.items() if bound is not None}
        if says.choices and schema.get("type") == "string":
            schema["enum"] = [*says.choices]
        if says.sentence:
            schema["description"] = says.sentence
        return schema | ({"default": default} if default is not None and "$ref" not in schema else {})


def needed_keys(kind: type) -> list[str]:
    """The keys that a `TypedDict` always has."""
    hints = get_type_hints(kind, include_extras=True)
    return [name for name, hint in hints.items() if get_origin(hint) is not NotRequired]


def plain_default(parameter: Parameter) -> Any:
    """What a parameter is when it is left out, where that can be said; else None."""
    if parameter.is_needed or callable(parameter.default) or parameter.default in ("", (), None):
        return None
    value = plain(parameter.default)
    return value if isinstance(value, str | int | float | bool) else None


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


# ---------------------------------------------------------------- encoding
# A value of the model comes in, JSON goes out, as `plain` says it. msgspec walks through dataclasses, enums
# and times by itself, and asks here only for what it does not know. benchmarks/encoding.py has the figures.


def encoded(value: Any) -> bytes:
    """A value of the model as JSON.

    >>> from engram.model.memory import Layer
    >>> encoded({"layers": frozenset({Layer.CORE}), "at": None})
    b'{"at":null,"layers":["core"]}'
    """
    asked = asked_for(value)
    try:
        if isinstance(value, Recall):  # sorting takes as long as writing, and names of hits are sorted
            asked["hits"] = msgspec.Raw(_AS_GIVEN.encode(asked["hits"]))
        return _ENCODER.encode(asked)
    except (UnicodeEncodeError, TypeError):  # half of a character in old words, or keys that are no text
        return json.dumps(plain(value), ensure_ascii=False).encode("utf-8", "replace")


def asked_for(value: Any) -> Any:
    """An answer without what nobody asked for: what a question left unsaid, shorter forms, the evidence.

    Forms and evidence are worded when they are read, which takes longer than everything else of an answer.
    """
    if isinstance(value, Recall):
        unread = "" if value.question.explain else "evidence"
        hits = [_with_memory_as_kept(hit, unread) for hit in value.hits]
        return _fields(value) | {"question": differing(value.question), "hits": hits}
    if isinstance(value, Receipt):
        return _with_memory_as_kept(value)
    if isinstance(value, list):
        return [_with_memory_as_kept(item) if isinstance(item, Receipt) else item for item in value]
    if isinstance(value, dict):
        return {name: asked_for(part) if isinstance(part, list) else part for name, part in value.items()}
    return value


def _with_memory_as_kept(answer: Hit | Receipt, unread: str = "") -> dict[str, Any]:
    memory = answer.memory
    forms = "forms" if isinstance(memory.forms, FormsOnDemand) else ""
    return _fields(answer, unread) | {"memory": _fields(memory, forms)}


def _fields(value: Any, but: str = "") -> dict[str, Any]:
    """The fields of a value but one, by name and in the order of their names."""
    kind: Any = type(value)
    names, read = _named(kind, but)
    return dict(zip(names, read(value), strict=True))


@cache
def _named(kind: Any, but: str) -> tuple[list[str], attrgetter[tuple[Any, ...]]]:
    names = sorted(name for name in kind.__dataclass_fields__ if name != but)
    return names, attrgetter(*names)


def differing(value: Any) -> dict[str, Any]:
    """The fields of a value that are not as they are when nothing is said, also inside of them.

    >>> differing(Scope(user="ada"))
    {'user': 'ada'}
    """
    kind: Any = type(value)
    fields_set = {}
    for name, usual in _usual(kind):
        part = getattr(value, name)
        if part is not usual and part != usual:
            fields_set[name] = differing(part) if is_dataclass(part) and is_dataclass(usual) else part
    return fields_set


@cache
def _usual(kind: Any) -> list[tuple[str, Any]]:
    """What each field is when nothing is said."""
    return [
        (field.name, field.default if field.default_factory is MISSING else field.default_factory())
        for field in fields(kind)
    ]


def pick(
    value: Any,
    columns: str,
    made: Mapping[str, Callable[[Any], Any]] = types.MappingProxyType({}),
    time: Callable[[datetime], Any] = datetime.isoformat,
) -> dict[str, Any]:
    """Some of a value under the names a client knows: `id created:created_at place:scope.project`.

    Behind a colon stands where it is kept, where that is another name; `made` works some out of the whole
    value, and `time` says how times are written.

    >>> pick(Scope("home", user="ada"), "namespace who:user long", {"long": lambda scope: len(scope.user)})
    {'namespace': 'home', 'who': 'ada', 'long': 3}
    """
    picked = {}
    for column in columns.split():
        name, _, place = column.partition(":")
        read = made.get(place or name) or attrgetter(place or name)
        found = read(value)
        picked[name] = time(found) if isinstance(found, datetime) else plain(found)
    return picked


def _unknown(value: Any) -> Any:
    if isinstance(value, EngramError):
        return {"code": value.code, "message": value.message}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes):
        return bool(value)  # as `plain`: what is sealed stays here
    if isinstance(value, AbstractSet | Sequence):
        return list(value)
    for kind in (str, float, int):  # a kind of text or number, such as numpy's
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"A {type(value).__name__} cannot be sent as JSON.")


_ENCODER = msgspec.json.Encoder(enc_hook=_unknown, order="deterministic")
_AS_GIVEN = msgspec.json.Encoder(enc_hook=_unknown)
