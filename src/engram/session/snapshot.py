"""Snapshots: a session's state comes in and bytes go out; the other way, what time has left of it."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from engram.model.memory import Space
from engram.model.session import Anticipated, Origin, Restored, Slot, Speech
from engram.session.speech import HeardExchange, WipeableText
from engram.session.topic import Momentum
from engram.session.working import decayed

if TYPE_CHECKING:
    from engram.ports import Floats
    from engram.session.state import State

VERSION = 1
MOST_LOST = 0.8
"""What the longest sleep takes of everything's strength."""


@dataclass(frozen=True, slots=True)
class Ages:
    """How long a sleeping session stays what it was."""

    whole_hours: float = 4.0
    decayed_hours: float = 24.0

    def restored(self, away: timedelta) -> Restored:
        """What comes back after a time away.

        >>> [str(Ages().restored(timedelta(hours=hours))) for hours in (3, 5, 25)]
        ['whole', 'decayed', 'fresh']
        """
        hours = away.total_seconds() / 3600.0
        if hours < self.whole_hours:
            return Restored.WHOLE
        return Restored.DECAYED if hours < self.decayed_hours else Restored.FRESH

    def lost(self, away: timedelta) -> float:
        """The share of its strength that everything has lost: none while it stays whole, then ever more.

        >>> [round(Ages().lost(timedelta(hours=hours)), 2) for hours in (3, 4, 14, 24, 99)]
        [0.0, 0.0, 0.4, 0.8, 0.8]
        """
        span = max(1e-9, self.decayed_hours - self.whole_hours)
        gone = (away.total_seconds() / 3600.0 - self.whole_hours) / span
        return MOST_LOST * min(1.0, max(0.0, gone))


def to_bytes(state: State) -> bytearray:
    """The state as bytes; overwrite them when they are sealed."""
    told = {
        "version": VERSION,
        "exchanges": [_exchange(one) for one in state.buffer],
        "slots": [_slot(one) for one in state.working.slots],
        "momentum": _momentum(state.momentum),
        "recent": [_packed(one) for one in state.recent],
        "before": state.before,
        "turns": state.turns,
        "timezone": state.timezone,
        "asked": state.asked,
        "anticipated": [state.anticipation.counted.asked, state.anticipation.counted.hits],
        "earlier": state.earlier,
    }
    return bytearray(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode())


def fill(state: State, body: bytes | bytearray, away: timedelta, ages: Ages, now: datetime) -> Restored:
    """Bring back into an empty state what is left after a time away. What cannot be read is a fresh start."""
    try:
        told = json.loads(bytes(body))
        if told["version"] != VERSION:
            return Restored.FRESH
        restored = ages.restored(away)
        if restored is not Restored.FRESH:
            _fill(state, told, ages.lost(away), now)
    except (ValueError, KeyError, TypeError):
        return Restored.FRESH
    return restored


def _fill(state: State, told: dict[str, Any], lost: float, now: datetime) -> None:
    """The time away is counted here, once: slots come back as if they had just been looked at."""
    slots = [replace(_slot_from(one), used_at=now) for one in told["slots"]]
    momentum = _momentum_from(told["momentum"])
    recent = [_unpacked(one) for one in told["recent"]]
    state.working.restore(decayed(slots, lost) if lost else slots)
    for one in told["exchanges"]:
        state.buffer.hear(_exchange_from(one))
    state.momentum = momentum
    state.timezone = state.timezone or str(told.get("timezone", ""))
    state.recent.extend(recent)
    state.before, state.turns, state.asked = told["before"], told["turns"], told["asked"]
    state.anticipation.counted = Anticipated(*told["anticipated"])
    state.earlier = [(part, words) for part, words in told["earlier"]]


def _exchange(one: HeardExchange) -> dict[str, Any]:
    return {
        "message": one.message.text,
        "reply": one.reply.text,
        "at": one.at.isoformat(),
        "entities": one.entities,
        "speech": one.speech.value,
        "promoted": one.promoted,
    }


def _exchange_from(told: dict[str, Any]) -> HeardExchange:
    return HeardExchange(
        WipeableText(told["message"]),
        datetime.fromisoformat(told["at"]),
        tuple(told["entities"]),
        Speech(told["speech"]),
        WipeableText(told["reply"]),
        promoted=bool(told["promoted"]),
    )


def _slot(one: Slot) -> dict[str, Any]:
    used = None if one.used_at is None else one.used_at.isoformat()
    return {
        "id": one.id,
        "content": one.content,
        "origin": one.origin.value,
        "activation": one.activation,
        "used_at": used,
        "tokens": one.tokens,
        "memory": one.memory,
    }


def _slot_from(told: dict[str, Any]) -> Slot:
    used = None if told["used_at"] is None else datetime.fromisoformat(told["used_at"])
    return Slot(
        told["id"],
        told["content"],
        Origin(told["origin"]),
        float(told["activation"]),
        used,
        int(told["tokens"]),
        told["memory"],
    )


def _momentum(one: Momentum | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "space": [one.space.model, one.space.dims, one.space.version],
        "centroid": _packed(one.centroid),
        "velocity": _packed(one.velocity),
        "confidence": one.confidence,
        "turns": one.turns,
    }


def _momentum_from(told: dict[str, Any] | None) -> Momentum | None:
    if told is None:
        return None
    return Momentum(
        Space(*told["space"]),
        _unpacked(told["centroid"]),
        _unpacked(told["velocity"]),
        float(told["confidence"]),
        int(told["turns"]),
    )


def _packed(vector: Floats) -> str:
    return base64.b85encode(vector.astype("<f4").tobytes()).decode()


def _unpacked(told: str) -> Floats:
    import numpy as np

    return np.frombuffer(base64.b85decode(told), dtype="<f4").copy()
