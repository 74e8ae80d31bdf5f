"""Layers: memories that stand too high come in; they go down by one.

Session notes and passing things leave the core. What was extracted by itself and the gate has refused often
enough leaves the working layer, unless the buffer would send it back at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engram.lifecycle.promotion import buffer_rescue, buffer_verdict, demotion, step_layer
from engram.lifecycle.traits import EXTRACTED, is_overheard
from engram.maintain.decisions import Batch, Decision
from engram.maintain.judged import GATE, judged, rejections
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer
from engram.model.filters import Filters
from engram.model.memory import Memory

CORE = Filters(layers=frozenset({Layer.CORE}))
WORKING = Filters(layers=frozenset({Layer.WORKING}))


def working(room: Room, cursor: str) -> Iterator[Batch]:
    """Working quality: what the gate refused for good goes back to the buffer."""
    config = room.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        extracted = [one for _, one in part if is_overheard(one) or EXTRACTED in one.tags]
        known = judged(GATE, extracted, room)
        for one in extracted:
            verdict = demotion(one, config, rejections=rejections(one, known, room))
            if verdict and not _comes_back(one, room):
                yield _down(one, "working.rejected", verdict.why)

    return sweep(room, cursor, WORKING, decide)


def core(room: Room, cursor: str) -> Iterator[Batch]:
    """Core hygiene: what is not meant to last leaves the core."""

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            if verdict := demotion(one, room.tools.config):
                yield _down(one, "core.hygiene", verdict.why)

    return sweep(room, cursor, CORE, decide)


def _down(memory: Memory, rule: str, why: str) -> Decision:
    return Decision(rule, why, (becomes(memory, layer=step_layer(memory, up=False)),), memory.id)


def _comes_back(memory: Memory, room: Room) -> bool:
    config = room.tools.config
    below = replace(memory, layer=Layer.BUFFER)
    return bool(buffer_verdict(below, room.now, config)) or bool(buffer_rescue(below, room.now, config))
