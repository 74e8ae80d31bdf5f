"""Chains: a name comes in, the paths of facts that lead from it come out, the surest first.

A step goes from a fact's subject to its object or back: "Anna works at Siemens" and "Siemens is located in
Munich" lead from Anna to Munich. Breadth and total are bounded, and no path comes by the same name twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engram.model.facts import Claim

Fetch = Callable[[frozenset[str], int], Sequence[Claim]]
"""Claims whose subject or object is one of the names, at most so many of each."""
NamesOf = Callable[[str], frozenset[str]]
"""Every name of what goes by a name, itself among them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far and how wide a walk goes."""

    hops: int = 2
    breadth: int = 20
    """So many steps are taken from one name, the surest."""
    total: int = 200
    """So many paths are made in all."""


@dataclass(frozen=True, slots=True)
class Path:
    """Facts that hang together, from the first name to the last."""

    names: tuple[str, ...]
    """The names that are passed, one more than there are facts."""
    claims: tuple[Claim, ...]
    confidence: float
    """How sure all of it is: the product of what each fact is worth."""

    def __str__(self) -> str:
        said = (f"{one.fact.subject} {one.fact.predicate} {one.fact.object}" for one in self.claims)
        return " → ".join(said)


USUAL = Limits()


def walk(start: str, fetch: Fetch, limits: Limits = USUAL, *, names_of: NamesOf | None = None) -> list[Path]:
    """The paths from `start`, of one fact up to `limits.hops` of them; surest first, then shortest.

    Each round asks `fetch` once for every name it stands at, so a walk costs at most `total` questions.
    """
    known = names_of or (lambda name: frozenset({name}))
    edge = [Path((start.lower(),), (), 1.0)]
    found: list[Path] = []
    for _ in range(limits.hops):
        longer = [path for one in edge for path in _steps(one, fetch, limits, known)]
        longer.sort(key=_rank)
        edge = longer[: limits.total - len(found)]
        found += edge
    return sorted(found, key=_rank)


def worth(claim: Claim) -> float:
    """How sure a claim is: no surer than its fact, and no surer than the memory that states it."""
    return min(claim.fact.confidence, claim.memory.confidence)


def _steps(path: Path, fetch: Fetch, limits: Limits, names_of: NamesOf) -> list[Path]:
    here = names_of(path.names[-1]) | {path.names[-1]}
    passed = frozenset(path.names) | here
    claims = sorted(fetch(here, limits.breadth), key=worth, reverse=True)
    longer: dict[tuple[str, str], Path] = {}
    for claim in claims:
        other = _other_end(claim, here)
        if other is None or other in passed or not passed.isdisjoint(names_of(other)):
            continue
        step = Path((*path.names, other), (*path.claims, claim), path.confidence * worth(claim))
        longer.setdefault((claim.fact.predicate, other), step)
        if len(longer) == limits.breadth:
            break
    return list(longer.values())


def _other_end(claim: Claim, here: frozenset[str]) -> str | None:
    fact = claim.fact
    if fact.subject in here:
        return None if fact.object in here else fact.object
    return fact.subject if fact.object in here else None


def _rank(path: Path) -> tuple[float, int, tuple[str, ...]]:
    return -path.confidence, len(path.claims), path.names
