"""Inference: facts come in; what follows from several of them together comes out, with what it rests on.

"Anna works at Siemens" and "Siemens is located in Munich" give "Anna works in Munich". Which predicates may
follow on one another, and what they make, stands in a list; nothing else is concluded. A chain never comes
by the same name twice, so that nothing follows from itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from engram.model.facts import Fact, Told
from engram.text import lexicon

BREADTH: Final = 50
"""Facts of one subject that a chain goes on with, the surest."""
TOTAL: Final = 50_000
"""Conclusions that are looked at in all."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A fact that nobody stated, and the stated ones that it follows from."""

    fact: Fact
    premises: tuple[Told, ...]
    sure: float


@cache
def compositions() -> Mapping[tuple[str, str], str]:
    """What two predicates make that follow on one another."""
    rows = (row.partition(" = ") for row in lexicon.lines("compositions"))
    pairs = ((left.partition(" + "), made) for left, _, made in rows)
    return {(first.strip(), second.strip()): made.strip() for (first, _, second), made in pairs}


def predicates() -> frozenset[str]:
    """Every predicate that a conclusion may rest on."""
    return frozenset(word for pair in compositions() for word in pair)


def conclude(told: Sequence[Told], steps: int, least: float) -> list[Conclusion]:
    """What follows from the facts in so many steps at most, the surest chain to each; shortest first.

    >>> facts = [
    ...     Told(1, Fact("anna", "work at", "siemens"), 0.9),
    ...     Told(2, Fact("siemens", "located in", "munich")),
    ... ]
    >>> [(one.fact.predicate, one.fact.object, one.sure) for one in conclude(facts, 5, 0.5)]
    [('works in', 'munich', 0.9)]
    """
    stated = {(one.fact.subject, one.fact.predicate, one.fact.object) for one in told}
    onward = _by_subject(told)
    found: dict[tuple[str, str, str], Conclusion] = {}
    edge = [Conclusion(one.fact, (one,), one.sure) for one in told if one.fact.subject != one.fact.object]
    for _ in range(steps - 1):
        fresh: dict[tuple[str, str, str], Conclusion] = {}
        for longer in _longer(edge, onward, least):
            key = (longer.fact.subject, longer.fact.predicate, longer.fact.object)
            known = fresh.get(key)
            if key in stated or key in found or (known is not None and known.sure >= longer.sure):
                continue
            fresh[key] = longer
            if len(found) + len(fresh) >= TOTAL:
                break
        found |= fresh
        edge = list(fresh.values())
        if not edge or len(found) >= TOTAL:
            break
    return list(found.values())


def _by_subject(told: Sequence[Told]) -> dict[str, list[Told]]:
    seconds = frozenset(second for _, second in compositions())
    found: dict[str, list[Told]] = {}
    for one in sorted(told, key=lambda one: (-one.sure, one.key)):
        if one.fact.predicate in seconds:
            found.setdefault(one.fact.subject, []).append(one)
    return {subject: some[:BREADTH] for subject, some in found.items()}


def _longer(
    edge: Sequence[Conclusion], onward: Mapping[str, Sequence[Told]], least: float
) -> Iterator[Conclusion]:
    for chain in edge:
        passed = {chain.fact.subject, *(one.fact.object for one in chain.premises)}
        for step in onward.get(chain.fact.object, ()):
            made = compositions().get((chain.fact.predicate, step.fact.predicate))
            sure = chain.sure * step.sure
            if made is None or step.fact.object in passed or sure < least:
                continue
            fact = Fact(chain.fact.subject, made, step.fact.object)
            yield Conclusion(fact, (*chain.premises, step), sure)
