"""How a setting is written down: its default, its range or its known values, its meaning and its origin."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def number(default: float, low: float, high: float, meaning: str, origin: str) -> Any:
    """A setting that is a number; whole if its default is."""
    return field(default=default, metadata={"low": low, "high": high, "meaning": meaning, "origin": origin})


def choice(default: str, known: tuple[str, ...], meaning: str, origin: str) -> Any:
    """A setting that is one of a few words."""
    return field(default=default, metadata={"known": known, "meaning": meaning, "origin": origin})


def words(default: str, meaning: str, origin: str) -> Any:
    """A setting that is free text: a name, an address, a path."""
    return field(default=default, metadata={"meaning": meaning, "origin": origin})
