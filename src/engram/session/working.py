"""Working memory: a few slots for what is on the mind. Use strengthens a slot, time and other topics fade it.

Seven slots as a rule, nine at most. What falls out while it still stands strong is offered to long-term
memory; what faded away is let go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engram.model.session import Origin, Slot, TopicChange
from engram.text.words import terms

USUAL = 7
MOST = 9
BOOST = 0.3
"""What a use adds to the activation."""
EVICTED_BELOW = 0.1
OFFERED_ABOVE = 0.3
"""What leaves with more than this is offered to long-term memory."""
DRIFT_FADES = 0.7
DRIFT_EVICTS_BELOW = 0.2
RESTORED_ABOVE = 0.1
TOUCHED = 0.34
"""A message that has this share of a slot's telling words speaks of it."""


@dataclass(frozen=True, slots=True)
class WorkingMemoryRules:
    """The numbers that may be turned."""

    half_life_minutes: float = 10.0
    evicted_below: float = EVICTED_BELOW
    offered_above: float = OFFERED_ABOVE
    most: int = MOST


USUAL_RULES = WorkingMemoryRules()


class WorkingMemory:
    """The slots of one session, used under its lock."""

    def __init__(self, rules: WorkingMemoryRules = USUAL_RULES, slots: Iterable[Slot] = ()) -> None:
        self._rules = rules
        self._slots = list(slots)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is on the mind, strongest first."""
        return tuple(sorted(self._slots, key=lambda slot: (-slot.activation, slot.id)))

    def fade(self, now: datetime) -> list[Slot]:
        """Let time pass; slots that faded away."""
        self._slots = [_faded(slot, now, self._rules.half_life_minutes) for slot in self._slots]
        return self._evict(self._rules.evicted_below)

    def put(self, slot: Slot) -> list[Slot]:
        """Put something on the mind; the weakest go when there are too many.

        The same memory, or the same words, strengthen the slot that is there.
        """
        same = next((one for one in self._slots if _is_same(one, slot)), None)
        if same is not None:
            stronger = max(min(1.0, same.activation + BOOST), slot.activation)
            self._replace(same, replace(same, activation=stronger, used_at=slot.used_at))
            return []
        self._slots.append(slot)
        return self._push_out()

    def touch(self, message: str, now: datetime) -> list[str]:
        """Strengthen what a message speaks of; the ids of those slots."""
        said = set(terms(message))
        spoken_of = [slot for slot in self._slots if _speaks_of(said, slot)]
        for slot in spoken_of:
            self._replace(slot, replace(slot, activation=min(1.0, slot.activation + BOOST), used_at=now))
        return [slot.id for slot in spoken_of]

    def turn(self, change: TopicChange) -> list[Slot]:
        """What leaves when the topic changes: on a drift what is weak by then, on a switch everything."""
        if change is TopicChange.CONTINUATION:
            return []
        if change is TopicChange.SWITCH:
            gone, self._slots = self._slots, []
            return gone
        self._slots = [replace(slot, activation=slot.activation * DRIFT_FADES) for slot in self._slots]
        return self._evict(DRIFT_EVICTS_BELOW)

    def drop(self, ids: Iterable[str]) -> list[Slot]:
        """Take slots away whatever their strength: their memories are no more."""
        unwanted = set(ids)
        gone = [slot for slot in self._slots if slot.id in unwanted]
        self._slots = [slot for slot in self._slots if slot.id not in unwanted]
        return gone

    def offered(self, gone: Sequence[Slot]) -> list[Slot]:
        """Those of the slots that left which long-term memory should hear of."""
        return [slot for slot in gone if slot.activation > self._rules.offered_above]

    def restore(self, slots: Iterable[Slot]) -> None:
        """Put back what was on the mind before."""
        self._slots = list(slots)[: self._rules.most]

    def wipe(self) -> None:
        """Empty it."""
        self._slots.clear()

    def _evict(self, below: float) -> list[Slot]:
        gone = [slot for slot in self._slots if slot.activation < below]
        self._slots = [slot for slot in self._slots if slot.activation >= below]
        return gone

    def _push_out(self) -> list[Slot]:
        """The weakest beyond the most there may be; what the user asked to keep in mind goes last."""
        surplus = len(self._slots) - self._rules.most
        if surplus <= 0:
            return []
        order = sorted(self._slots, key=lambda slot: (slot.origin is Origin.USER, slot.activation))
        gone = order[:surplus]
        self._slots = [slot for slot in self._slots if slot not in gone]
        return gone

    def _replace(self, old: Slot, new: Slot) -> None:
        self._slots[self._slots.index(old)] = new


def decayed(slots: Iterable[Slot], lost: float) -> list[Slot]:
    """Slots after a share of their strength is lost; the faintest are left out.

    >>> [round(one.activation, 2) for one in decayed([Slot("1", "a"), Slot("2", "b", activation=0.3)], 0.8)]
    [0.2]
    """
    weaker = (replace(slot, activation=slot.activation * (1.0 - lost)) for slot in slots)
    return [slot for slot in weaker if slot.activation > RESTORED_ABOVE]


def _faded(slot: Slot, now: datetime, half_life_minutes: float) -> Slot:
    """The slot after the time since it was last looked at; time that runs back changes nothing."""
    since = slot.used_at or now
    minutes = max(0.0, (now - since).total_seconds() / 60.0)
    left = 2.0 ** (-minutes / half_life_minutes)
    return replace(slot, activation=slot.activation * left, used_at=max(now, since))


def _is_same(one: Slot, other: Slot) -> bool:
    return (one.memory != "" and one.memory == other.memory) or one.content == other.content


def _speaks_of(said: set[str], slot: Slot) -> bool:
    telling = set(terms(slot.content))
    return bool(telling) and len(said & telling) / len(telling) >= TOUCHED
