"""Encoding: a value of the model comes in, JSON goes out, the same as of `plain` and several times faster.

An answer holds hundreds of fields. The encoder written in C walks through them and asks here only for what it
does not know, one level at a time. A layer is known as a field, in a list or a set, not as the key of a dict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from engram.model.axes import Layer
from engram.model.plain import plain


def encoded(value: Any) -> bytes:
    """A value of the model as JSON.

    >>> from engram.model.scope import Role
    >>> encoded({"role": Role.OWNER, "layers": frozenset({Layer.CORE})})
    b'{"role": "owner", "layers": ["core"]}'
    """
    return json.dumps(_named(value), default=_one, ensure_ascii=False).encode("utf-8", "replace")


def _one(value: Any) -> Any:
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
