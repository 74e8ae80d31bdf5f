"""What is made when it is first used: opening a memory to ask one question needs little of the whole.

A module is loaded with the first look into it:

if TYPE_CHECKING:
    from engram.api import contexts
else:
    contexts = lazily("engram.api.contexts")

A `dataclass` is as that of the standard library, which writes out and compiles six methods for each: there
are hundreds of classes, a question uses a few dozen, and that would take longer than its answer. Here only
how it begins is written out, when the first of its kind is made. `replace` is quicker for the same reason:
what there is to know of a class it finds out once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import MISSING
from functools import cache, partial
from importlib import import_module
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = [
    "base64", "calendar", "ctypes", "dataclass", "difflib", "hashlib", "hmac", "html", "lazily", "logging",
    "replace", "secrets", "shutil", "tempfile", "tomllib", "uuid", "zipfile", "zoneinfo",
]  # fmt: skip


class LazyModule:
    """Stands for a module until something of it is asked for. Safe to use from many threads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, wanted: str) -> Any:
        value = getattr(import_module(self._name), wanted)
        setattr(self, wanted, value)
        return value


def lazily(name: str) -> Any:
    """A module by its full name, loaded with the first look into it.

    >>> lazily("json").dumps([1])
    '[1]'
    """
    return LazyModule(name)


# Modules of the standard library that a question seldom looks into: `from engram.lazily import hashlib`.
if TYPE_CHECKING:
    import base64
    import calendar
    import ctypes
    import difflib
    import hashlib
    import hmac
    import html
    import logging
    import secrets
    import shutil
    import tempfile
    import tomllib
    import uuid
    import zipfile
    import zoneinfo
else:
    base64, calendar, ctypes, difflib, hashlib, hmac, html, logging = map(
        lazily, ("base64", "calendar", "ctypes", "difflib", "hashlib", "hmac", "html", "logging")
    )
    secrets, shutil, tempfile, tomllib, uuid, zipfile, zoneinfo = map(
        lazily, ("secrets", "shutil", "tempfile", "tomllib", "uuid", "zipfile", "zoneinfo")
    )


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, eq: bool = True, frozen: bool = False, slots: bool = False
    ) -> Any:
        """A dataclass whose `__init__` is written when the first is made.

        >>> @dataclass(frozen=True, slots=True)
        ... class Place:
        ...     name: str
        ...     floor: int = 0
        >>> Place("kitchen"), Place("attic", 2) == Place("attic", floor=2)
        (Place(name='kitchen', floor=0), True)
        """
        if cls is None:
            return partial(dataclass, eq=eq, frozen=frozen, slots=slots)
        if any(hasattr(parent, "__dataclass_params__") for parent in cls.__bases__):
            return dataclasses.dataclass(cls, eq=eq, frozen=frozen, slots=slots)
        return _with_fields(cls, _methods(eq=eq, frozen=frozen, slots=slots), slots=slots)


Made = TypeVar("Made")


def replace(one: Made, /, **changed: Any) -> Made:
    """A value like this one with other values in these fields, in a third of the time `dataclasses` takes.

    Raises TypeError for a field that it cannot begin with.

    >>> replace(_Usual("tea"), field="salt")
    _Usual(field='salt')
    """
    kind: Any = type(one)
    places, read = _beginning(kind)
    values = list(read(one))
    try:
        for name, value in changed.items():
            values[places[name]] = value
    except KeyError as error:
        raise TypeError(f"a {kind.__name__} begins with no field {error}") from None
    made: Made = kind(*values)
    return made


@cache
def _beginning(kind: Any) -> tuple[dict[str, int], Callable[[Any], tuple[Any, ...]]]:
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    return {name: place for place, name in enumerate(names)}, _reader(names)


@dataclasses.dataclass
class _Usual:
    """What the standard library makes of a class with one field: others are made after it."""

    field: str


_USUAL_KIND = _Usual.__dataclass_fields__["field"]._field_type  # type: ignore[attr-defined]  # noqa: SLF001


@cache
def _methods(*, eq: bool, frozen: bool, slots: bool) -> dict[str, Any]:
    """What all classes of a kind have in common."""
    settled = copy(_Usual.__dataclass_params__)  # type: ignore[attr-defined]
    settled.eq, settled.frozen = eq, frozen
    given: dict[str, Any] = {"__dataclass_params__": settled, "__repr__": _shown}
    if eq:
        given |= {"__eq__": _equal, "__hash__": _hashed if frozen else None}
    if frozen:
        given |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if frozen and slots:
        given |= {"__getstate__": _state, "__setstate__": _set_state}
    return given


def _with_fields(cls: Any, methods: dict[str, Any], *, slots: bool) -> Any:
    """The class with its fields, in slots if wanted, and with these methods where it has none of its own."""
    body = dict(vars(cls))
    given = {
        name: body.pop(name, MISSING)
        for name, hint in body.get("__annotations__", {}).items()
        if not str(hint).removeprefix("typing.").startswith("ClassVar")
    }
    is_new = "__init__" not in body
    if slots:
        body = {**methods, **body, "__slots__": tuple(given)}
        body.pop("__dict__", None)
        body.pop("__weakref__", None)
        made = type(cls)(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
    else:
        made = cls
        for name, method in methods.items():
            if name not in body:
                setattr(made, name, method)
        for name, default in given.items():
            if isinstance(default, dataclasses.Field):
                delattr(made, name)
                if default.default is not MISSING:
                    setattr(made, name, default.default)
    asked = (
        name for name, default in given.items() if not isinstance(default, dataclasses.Field) or default.init
    )
    made.__match_args__ = tuple(asked)  # type: ignore[misc]
    made.__dataclass_fields__ = _Described(made, given)
    if is_new:
        made.__init__ = _begun_later(made, slots=slots)
    return made


class _Described:
    """Stands for the fields of a class until they are looked at, described as the standard library does."""

    def __init__(self, made: Any, given: dict[str, Any]) -> None:
        self._made, self._given = made, given

    def __get__(self, one: object, owner: type) -> dict[str, dataclasses.Field[Any]]:
        described = {name: self._field(name, default) for name, default in self._given.items()}
        self._made.__dataclass_fields__ = described
        return described

    def _field(self, name: str, default: Any) -> dataclasses.Field[Any]:
        field = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        field.name, field.type, field.kw_only = name, self._made.__annotations__[name], False
        field._field_type = _USUAL_KIND  # type: ignore[union-attr]  # noqa: SLF001
        return field


def _begun_later(made: Any, *, slots: bool) -> Callable[..., None]:
    def __init__(self: Any, /, *args: Any, **named: Any) -> None:  # noqa: N807 (it stands for one)
        made.__init__ = _written_init(made, slots=slots)
        made.__init__(self, *args, **named)

    return __init__


def _written_init(made: Any, *, slots: bool) -> Any:
    """The function that fills the fields, as the standard library writes it."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_none": object()}
    frozen = made.__dataclass_params__.frozen
    taken, lines = [], []
    for field in dataclasses.fields(made):
        name, value = field.name, field.name
        if field.default_factory is not MISSING:
            scope[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _none else {name}" if field.init else f"_make_{name}()"
            taken += [f"{name}=_none"] if field.init else []
        elif field.default is not MISSING:
            scope[f"_default_{name}"] = field.default
            taken += [f"{name}=_default_{name}"] if field.init else []
            value = name if field.init else f"_default_{name}" if slots else ""
        elif field.init:
            taken.append(name)
        else:
            value = ""
        if value:
            if frozen and slots:
                scope[f"_set_{name}"] = vars(made)[name].__set__
                lines.append(f"_set_{name}(self, {value})")
            else:
                lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    text = "".join(f"\n  {line}" for line in lines or ["pass"])
    exec(f"def __init__({', '.join(['self', *taken])}):{text}", scope)  # noqa: S102 (names of our own fields)
    written = scope["__init__"]
    written.__qualname__ = f"{made.__qualname__}.__init__"
    return written


@recursive_repr()
def _shown(self: Any) -> str:
    names = (field.name for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


def _equal(self: Any, other: object) -> Any:
    if self is other:
        return True
    kind: Any = type(self)
    read = _compared(kind)
    return read(self) == read(other) if type(other) is type(self) else NotImplemented


def _hashed(self: Any) -> int:
    kind: Any = type(self)
    read = _counted(kind)

    def __hash__(one: Any) -> int:  # noqa: N807 (it stands for one)
        return hash(read(one))

    kind.__hash__ = __hash__  # the next is found quicker
    return hash(read(self))


def _refuse(self: Any, name: str, *value: Any) -> None:
    """Nothing of a frozen one can be set or deleted but what a class made from it adds."""
    if "__dataclass_params__" in vars(type(self)) or name in self.__dataclass_fields__:
        what = "assign to" if value else "delete"
        raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
    (object.__setattr__ if value else object.__delattr__)(self, name, *value)


def _state(self: Any) -> tuple[Any, ...]:
    """What lives in slots is pickled and copied as a row of values."""
    kind: Any = type(self)
    return _all(kind)(self)


def _set_state(self: Any, values: tuple[Any, ...]) -> None:
    for name, value in zip(self.__dataclass_fields__, values, strict=True):
        object.__setattr__(self, name, value)


@cache
def _all(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    return _reader([field.name for field in dataclasses.fields(kind)])


@cache
def _compared(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    return _reader([field.name for field in dataclasses.fields(kind) if field.compare])


@cache
def _counted(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    fields = dataclasses.fields(kind)
    return _reader([field.name for field in fields if (field.compare if field.hash is None else field.hash)])


def _reader(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads some fields at once."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)
