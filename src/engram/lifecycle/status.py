"""Status: which changes of a memory's status make sense."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engram.errors import BadTransition
from engram.model.axes import Status

_OUT = frozenset({Status.INVALIDATED, Status.SUPERSEDED, Status.ARCHIVED})

TRANSITIONS: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.ACTIVE: _OUT | {Status.CHALLENGED},
        Status.CHALLENGED: _OUT | {Status.ACTIVE},
        Status.INVALIDATED: frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED}),
        Status.MERGED: frozenset({Status.ACTIVE, Status.ARCHIVED}),
        Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.ARCHIVED}),
        Status.ARCHIVED: frozenset({Status.ACTIVE}),
    }
)
"""What may follow on what. `merged` comes about only by merging, never by hand."""


def check_transition(old: Status, new: Status) -> None:
    """Raise BadTransition unless a memory may go from one status to the other.

    >>> check_transition(Status.ACTIVE, Status.ARCHIVED)
    """
    if new not in TRANSITIONS[old]:
        raise BadTransition(old, new)
