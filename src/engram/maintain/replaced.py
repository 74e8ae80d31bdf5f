"""Replaced memories: an older and a newer one come in; what is decided when one gives way or is in doubt."""

from __future__ import annotations

from dataclasses import replace

from engram.lifecycle.joining import stands
from engram.maintain.decisions import Decision, Draw, Effect
from engram.maintain.room import becomes
from engram.model.axes import Status
from engram.model.event import Verb
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType


def superseded(older: Memory, newer: Memory, rule: str, why: str) -> Decision:
    """The older one gives way to the newer one; one that stands for good is only shown as in conflict."""
    if stands(older):
        return doubted(older, newer, rule, f"{why}, but it is protected")
    until = older.valid_to or max(newer.happened_at, older.happened_at)
    gone = becomes(older, Verb.SUPERSEDED, status=Status.SUPERSEDED, valid_to=until)
    edges = (
        Draw(Edge(newer.id, older.id, EdgeType.SUPERSEDES)),
        Draw(Edge(newer.id, older.id, EdgeType.CONTRADICTS)),
    )
    return Decision(rule, why, (replace(gone, related=newer.id), *edges), older.id, newer.id)


def doubted(older: Memory, newer: Memory, rule: str, why: str) -> Decision:
    """Both stay; the older one is in doubt, and the pair waits among the conflicts."""
    effects: tuple[Effect, ...] = (Draw(Edge(newer.id, older.id, EdgeType.CONTRADICTS)),)
    if older.status is Status.ACTIVE and not stands(older):
        doubt = becomes(older, Verb.STATUS_CHANGED, status=Status.CHALLENGED)
        effects = (replace(doubt, related=newer.id), *effects)
    return Decision(rule, why, effects, older.id, newer.id)
