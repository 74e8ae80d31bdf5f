"""What is made when it is first used: opening a memory to ask one question needs little of the whole.

A module is loaded with the first look into it:

if TYPE_CHECKING:
    from engram.api import contexts
else:
    contexts = lazily("engram.api.contexts")

A `dataclass` is as that of the standard library, which writes out and compiles six methods for each: there
are hundreds of classes, a question uses a few dozen, and that would take longer than its answer. Here only
how it begins is written out, when the first of its kind is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import MISSING
from functools import partial
from importlib import import_module
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = [
    "base64", "calendar", "ctypes", "dataclass", "difflib", "hashlib", "hmac", "html", "lazily", "logging",
    "secrets", "shutil", "tempfile", "tomllib", "uuid", "zipfile", "zoneinfo",
]  # fmt: skip


class LazyModule:
    """Stands for a module until something of it is asked for. Safe to use from many threads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, wanted: str) -> Any:
        found = getattr(import_module(self._name), wanted)
        setattr(self, wanted, found)
        return found


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
        if any(dataclasses.is_dataclass(parent) for parent in cls.__bases__):
            return dataclasses.dataclass(cls, eq=eq, frozen=frozen, slots=slots)
        own = frozenset(vars(cls))
        made = _with_fields(cls, slots=slots)
        settled = made.__dataclass_params__
        settled.eq, settled.frozen = eq, frozen
        given = {"__init__": _begun_later(made, slots=slots), "__repr__": _shown(made)}
        if eq:
            given |= {"__eq__": _compared(made), "__hash__": _hashed(made) if frozen else None}
        if frozen:
            given |= _frozen(made, slots=slots)
        for name, method in given.items():
            if name not in own:
                setattr(made, name, method)
        return made


@dataclasses.dataclass
class _Usual:
    """What the standard library makes of a class with one field: others are made after it."""

    field: str


_USUAL_KIND = _Usual.__dataclass_fields__["field"]._field_type  # type: ignore[attr-defined]  # noqa: SLF001


def _with_fields(cls: Any, *, slots: bool) -> Any:
    """The class with its fields described as the standard library describes them, and in slots if wanted."""
    described: dict[str, dataclasses.Field[Any]] = {}
    for name, hint in vars(cls).get("__annotations__", {}).items():
        if str(hint).removeprefix("typing.").startswith("ClassVar"):
            continue
        default = vars(cls).get(name, MISSING)
        one = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        one.name, one.type, one.kw_only = name, hint, False
        one._field_type = _USUAL_KIND  # type: ignore[union-attr]  # noqa: SLF001
        if one.default is not MISSING:
            setattr(cls, name, one.default)
        elif default is not MISSING:
            delattr(cls, name)
        described[name] = one
    cls.__dataclass_fields__ = described
    cls.__dataclass_params__ = copy(_Usual.__dataclass_params__)  # type: ignore[attr-defined]
    cls.__match_args__ = tuple(name for name, one in described.items() if one.init)  # type: ignore[misc]
    if not slots:
        return cls
    left_out = {*described, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in left_out}
    made = type(cls)(cls.__name__, cls.__bases__, body | {"__slots__": tuple(described)})
    made.__qualname__ = cls.__qualname__
    return made


FEW = 4
"""So many of a kind are filled field by field; only for more is it worth to write out how."""


def _begun_later(made: Any, *, slots: bool) -> Callable[..., None]:
    left = iter(range(FEW))

    def __init__(self: Any, /, *args: Any, **named: Any) -> None:  # noqa: N807 (it stands for one)
        if next(left, None) is not None and _filled(self, made, args, named, slots=slots):
            return
        if vars(made)["__init__"] is __init__:
            made.__init__ = _written_init(made, slots=slots)
        made.__init__(self, *args, **named)

    return __init__


def _filled(self: Any, made: Any, args: Sequence[Any], named: dict[str, Any], *, slots: bool) -> bool:
    """Fill the fields of one; False when what is given does not fit, which the written function tells."""
    fields, taken = made.__dataclass_fields__.values(), made.__match_args__
    values = dict(zip(taken, args, strict=False))
    if len(args) > len(taken) or values.keys() & named.keys() or not named.keys() <= {*taken}:
        return False
    values |= named
    for one in fields:
        if one.name not in values and one.default_factory is not MISSING:
            values[one.name] = one.default_factory()
        elif one.name not in values and one.default is not MISSING and (one.init or slots):
            values[one.name] = one.default
        elif one.init and one.name not in values:
            return False
    for name, value in values.items():
        object.__setattr__(self, name, value)
    if hasattr(made, "__post_init__"):
        self.__post_init__()
    return True


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


def _shown(made: Any) -> Any:
    names = [one.name for one in dataclasses.fields(made) if one.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({inner})"

    return __repr__


def _compared(made: Any) -> Any:
    read = _reader([one.name for one in dataclasses.fields(made) if one.compare])

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return read(self) == read(other) if type(other) is type(self) else NotImplemented

    return __eq__


def _hashed(made: Any) -> Any:
    read = _reader(
        [one.name for one in dataclasses.fields(made) if (one.compare if one.hash is None else one.hash)]
    )

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(read(self))

    return __hash__


def _frozen(made: Any, *, slots: bool) -> dict[str, Any]:
    """Nothing of it can be set or deleted; what lives in slots is pickled and copied as a row of values."""
    names = [one.name for one in dataclasses.fields(made)]

    def refuse(self: Any, name: str, *value: Any) -> None:
        if type(self) is made or name in names:
            what = "assign to" if value else "delete"
            raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
        (object.__setattr__ if value else object.__delattr__)(self, name, *value)

    given: dict[str, Any] = {"__setattr__": refuse, "__delattr__": refuse}
    if slots:
        read = _reader(names)

        def __getstate__(self: Any) -> Any:  # noqa: N807
            return read(self)

        def __setstate__(self: Any, values: tuple[Any, ...]) -> None:  # noqa: N807
            for name, value in zip(names, values, strict=True):
                object.__setattr__(self, name, value)

        given |= {"__getstate__": __getstate__, "__setstate__": __setstate__}
    return given


def _reader(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Reads some fields at once."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)
