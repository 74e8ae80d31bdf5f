"""A step of maintenance: what it is called, where it stands, and how it looks at the memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engram.maintain.decisions import Batch
from engram.maintain.room import Room

Look = Callable[[Room, str], Iterator[Batch]]
"""Looks at the memories, from a place on, and yields what it decided, slice by slice.

It may be cut off after any batch and is then called again with that batch's cursor. Called with nothing new
and no time passed it decides nothing.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One step, with the stage it belongs to."""

    stage: str
    name: str
    look: Look
