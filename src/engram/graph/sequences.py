"""Sequences: what was done, occasion by occasion, comes in; what was done again in that order comes out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

Occasion = TypeVar("Occasion", bound=Hashable)
LONGEST: Final = 8
SHORTEST: Final = 2
OCCASIONS: Final = 10_000
"""More occasions of one place are not compared: the latest tell enough."""


@dataclass(frozen=True, slots=True)
class Repeated(Generic[Occasion]):
    """Actions that followed on one another more than once."""

    actions: tuple[str, ...]
    occasions: tuple[Occasion, ...]


def repeated(done: Mapping[Occasion, Sequence[str]], least: int) -> list[Repeated[Occasion]]:
    """Sequences that occur on at least so many occasions; a part of a longer one only if it is commoner.

    >>> days = {1: ["build", "test", "ship"], 2: ["build", "test", "ship"], 3: ["build", "test", "rest"]}
    >>> [(one.actions, one.occasions) for one in repeated(days, 2)]
    [(('build', 'test', 'ship'), (1, 2)), (('build', 'test'), (1, 2, 3))]
    """
    where: dict[tuple[str, ...], dict[Occasion, None]] = {}
    for occasion in list(done)[-OCCASIONS:]:
        for actions in _runs(done[occasion]):
            where.setdefault(actions, {})[occasion] = None
    common = {actions: tuple(found) for actions, found in where.items() if len(found) >= least}
    kept: list[Repeated[Occasion]] = []
    for actions in sorted(common, key=lambda one: (-len(one), one)):
        if not any(_holds(one, actions, len(common[actions])) for one in kept):
            kept.append(Repeated(actions, common[actions]))
    return kept


def _runs(actions: Sequence[str]) -> set[tuple[str, ...]]:
    """Every run of some length; an action that only repeats itself is none."""
    found = set()
    for length in range(SHORTEST, min(LONGEST, len(actions)) + 1):
        for start in range(len(actions) - length + 1):
            run = tuple(actions[start : start + length])
            if len(set(run)) > 1:
                found.add(run)
    return found


def _holds(longer: Repeated[Occasion], actions: tuple[str, ...], occasions: int) -> bool:
    """Whether a run is only a part of a longer one that is as common."""
    whole = longer.actions
    inside = any(whole[at : at + len(actions)] == actions for at in range(len(whole) - len(actions) + 1))
    return inside and len(longer.occasions) >= occasions
