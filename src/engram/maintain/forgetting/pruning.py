"""Pruning: the logs of uses and the reports of old runs come in; what is older than they are kept goes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from engram.maintain.decisions import Batch, Decision, Prune
from engram.maintain.room import Room


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Drop log lines that nobody looks at any more."""
    days = room.tools.config.maintain.log_days
    before = room.now - timedelta(days=days)
    yield Batch((Decision("logs.prune", f"older than {days} days", (Prune(before),), quiet=True),))
