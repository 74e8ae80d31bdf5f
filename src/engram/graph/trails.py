"""Trails: names and cues of a question come in; the facts that answer it come out, with how well they do.

"Where does the boss of my sister live?" is answered by a trail of facts: from the user to the sister, on to
her boss, on to where that one lives. A trail takes a step only over a fact that a cue asks for, or from a
named thing to anything it is told with. The more cues of the question it takes up, the better it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engram.model.facts import Fact, Told
from engram.text.cues import Cue
from engram.text.predicates import roles

Fetch = Callable[[frozenset[str], frozenset[str]], Sequence[Told]]
"""Tolds whose subject or object is one of the names, with one of the predicates."""
NamesOf = Callable[[Sequence[str]], Mapping[str, frozenset[str]]]
"""For each name every name of what it stands for, itself among them."""

UNCUED = 0.4
"""What a step counts that no cue asks for."""
EARLIER = 0.85
"""What a fact of a trail counts against the one after it: the last one has the answer."""
ENDED = 0.4
"""What a fact counts that is over."""
SHARPNESS = 3
"""How much it matters that all of the question's cues are taken up."""
WIDEST = 12
"""So many trails go on after each step, the best."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Facts that lead somewhere, and which cues they take up."""

    end: str
    """The name it has come to."""
    names: frozenset[str]
    """Names it has passed."""
    claims: tuple[Told, ...] = ()
    cues: frozenset[int] = frozenset()
    """Places of the cues that it has taken up."""
    sure: float = 1.0
    """As sure as the least sure of its facts."""
    straight: float = 1.0
    """Less with each step that no cue asks for and each fact that is over."""

    @property
    def worth(self) -> float:
        """How much it counts, whatever it takes up."""
        return self.sure * self.straight


@dataclass(frozen=True, slots=True)
class Answer:
    """A claim, how well it answers, 0 to 1, and the facts that led to it, itself the last."""

    claim: Told
    score: float
    led_by: tuple[Told, ...]


def follow(
    starts: Iterable[str],
    cues: Sequence[Cue],
    fetch: Fetch,
    names_of: NamesOf,
    *,
    hops: int,
    now: datetime,
) -> list[Answer]:
    """The claims that answer, best first. Each step asks `fetch` once for all names it has come to."""
    edge = [
        more for name in dict.fromkeys(starts) for more in _with_roles(Trail(name, frozenset({name})), cues)
    ]
    found: list[Trail] = []
    asked = frozenset[str]().union(*(cue.predicates for cue in cues))
    for _ in range(hops if asked else 0):
        longer = list(_step(edge, cues, asked, fetch, names_of, now)) if edge else []
        longer.sort(key=lambda trail: _rank(trail, cues))
        found += longer[:WIDEST]
        if any(_is_whole(trail, cues) for trail in longer[:WIDEST]):
            break
        edge = [more for trail in longer[:WIDEST] for more in _with_roles(trail, cues)]
    return _answers(found, cues)


def _step(
    edge: Sequence[Trail],
    cues: Sequence[Cue],
    asked: frozenset[str],
    fetch: Fetch,
    names_of: NamesOf,
    now: datetime,
) -> Iterator[Trail]:
    called = names_of([trail.end for trail in edge])
    here = frozenset[str]().union(*called.values())
    claims = fetch(here, asked)
    by_end: dict[str, list[tuple[Told, str]]] = {}
    for claim in claims:
        fact = claim.fact
        by_end.setdefault(fact.subject, []).append((claim, fact.object))
        by_end.setdefault(fact.object, []).append((claim, fact.subject))
    for trail in edge:
        for name in called.get(trail.end, frozenset({trail.end})):
            for claim, other in by_end.get(name, ()):
                if other not in trail.names:
                    yield _longer(trail, claim, other, cues, now)


def _longer(trail: Trail, claim: Told, other: str, cues: Sequence[Cue], now: datetime) -> Trail:
    taken = {place for place, cue in enumerate(cues) if claim.fact.predicate in cue.predicates}
    straight = trail.straight
    if not taken - trail.cues:
        straight *= UNCUED
    if is_over(claim, now):
        straight *= ENDED
    return Trail(
        end=other,
        names=trail.names | {other, claim.fact.subject},
        claims=(*trail.claims, claim),
        cues=trail.cues | taken,
        sure=min(trail.sure, claim.sure),
        straight=straight,
    )


def is_over(claim: Told, now: datetime) -> bool:
    """Whether a fact holds no longer."""
    return claim.until is not None and claim.until <= now


def _with_roles(trail: Trail, cues: Sequence[Cue]) -> Iterator[Trail]:
    """The trail, and where it stands for one's role instead of a name: "user's sister"."""
    yield trail
    for place, cue in enumerate(cues):
        if place in trail.cues:
            continue
        for role in sorted(cue.predicates & roles()):
            name = f"{trail.end}'s {role}"
            yield replace(trail, end=name, names=trail.names | {name}, cues=trail.cues | {place})


def _coverage(trail: Trail, cues: Sequence[Cue]) -> float:
    """How much of what is asked a trail takes up."""
    taken = [cues[place].weight for place in trail.cues]
    # A vague word need not be taken up: "who" asks for a fact only now and then.
    left = [cue.weight for place, cue in enumerate(cues) if place not in trail.cues and cue.weight == 1.0]
    return max(taken) * sum(taken) / (sum(taken) + sum(left)) if taken else 0.0


def _is_whole(trail: Trail, cues: Sequence[Cue]) -> bool:
    """Whether it goes straight and takes up everything: what lies further on answers another question."""
    telling = {place for place, cue in enumerate(cues) if cue.weight == 1.0}
    return bool(telling) and telling <= trail.cues and trail.straight == 1.0


def _rank(trail: Trail, cues: Sequence[Cue]) -> tuple[float, str]:
    return -_coverage(trail, cues) * trail.worth, trail.end


def _answers(found: Iterable[Trail], cues: Sequence[Cue]) -> list[Answer]:
    best: dict[tuple[int, Fact], Answer] = {}
    for trail in found:
        score = trail.worth * _coverage(trail, cues) ** SHARPNESS
        for upto in range(len(trail.claims), 0, -1):
            claim = trail.claims[upto - 1]
            key = (claim.key, claim.fact)
            if score > 0 and (key not in best or score > best[key].score):
                best[key] = Answer(claim, score, trail.claims[:upto])
            score *= EARLIER
    return sorted(best.values(), key=lambda one: (-one.score, one.claim.key, one.claim.fact.object))
