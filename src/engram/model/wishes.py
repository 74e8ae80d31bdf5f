"""What a caller wants of a plan: plain data comes in, a checked `Wish` comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from math import isfinite
from typing import Any

from engram.errors import OutOfRange, UnknownValue, WrongType
from engram.model.axes import Kind
from engram.model.plain import member
from engram.model.recall import CHANNELS, Intent, Wish

MOST_WEIGHT = 10.0
MOST_HOPS = 5


def wish(given: Wish | Mapping[str, Any] | None) -> Wish:
    """The wish that plain data tells. Raises UnknownValue, WrongType and OutOfRange, naming what is wrong.

    >>> wish({"intent": "temporal", "weights": {"vector": 0.5}}).weights
    {'vector': 0.5}
    """
    if given is None:
        return Wish()
    if isinstance(given, Wish):
        given = {f.name: getattr(given, f.name) for f in fields(Wish)}
    if not isinstance(given, Mapping):
        raise WrongType("plan", given, "an object")
    known = tuple(f.name for f in fields(Wish))
    for name in given:
        if name not in known:
            raise UnknownValue("part of a plan", name, known)
    told = {name: value for name, value in given.items() if value is not None}
    return Wish(
        intent=member("intent", Intent, told["intent"]) if "intent" in told else None,
        weights=_weights(told.get("weights", {})),
        hops=_hops(told["hops"]) if "hops" in told else None,
        prefer=_kinds(told["prefer"]) if "prefer" in told else None,
        freshness=_weight("freshness", told["freshness"]) if "freshness" in told else None,
    )


def _weights(given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise WrongType("weights", given, f"an object with {', '.join(CHANNELS)}")
    for name in given:
        if name not in CHANNELS:
            raise UnknownValue("channel", name, CHANNELS)
    return {name: _weight(f"weight of {name}", value) for name, value in given.items()}


def _weight(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongType(name, value, "a number")
    if not isfinite(value) or not 0 <= value <= MOST_WEIGHT:
        raise OutOfRange(name, value, 0, MOST_WEIGHT)
    return float(value)


def _hops(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType("hops", value, "a whole number")
    if not 0 <= value <= MOST_HOPS:
        raise OutOfRange("hops", value, 0, MOST_HOPS)
    return value


def _kinds(value: Any) -> frozenset[Kind]:
    if isinstance(value, str) or not isinstance(value, Sequence | AbstractSet):
        raise WrongType("prefer", value, "a list of kinds")
    return frozenset(member("kind", Kind, one) for one in value)
