"""Chains: a name comes in, the paths of facts that lead from it come out, the surest first.

A step goes from a fact's subject to its object or back: "Anna works at Siemens" and "Siemens is located in
Munich" lead from Anna to Munich. Breadth and total are bounded, and no path comes by the same name twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Final

from engram.lazily import dataclass
from engram.model.facts import Claim, Fact, ToldFact
from engram.text import lexicon
from engram.text.statement import plain_name, roles

if TYPE_CHECKING:
    from engram.text.cues import Cue

Fetch = Callable[[frozenset[str], int], Sequence[Claim]]
"""Claims whose subject or object is one of the names, at most so many of each."""
NamesOf = Callable[[str], frozenset[str]]
"""Every name of what goes by a name, itself among them."""


@dataclass(frozen=True, slots=True)
class ChainLimits:
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
        said = (f"{claim.fact.subject} {claim.fact.predicate} {claim.fact.object}" for claim in self.claims)
        return " → ".join(said)


USUAL = ChainLimits()


def walk(
    start: str, fetch: Fetch, limits: ChainLimits = USUAL, *, names_of: NamesOf | None = None
) -> list[Path]:
    """The paths from `start`, of one fact up to `limits.hops` of them; surest first, then shortest.

    Each round asks `fetch` once for every name it stands at, so a walk costs at most `total` questions.
    """
    known = names_of or (lambda name: frozenset({name}))
    edge = [Path((plain_name(start),), (), 1.0)]
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


def _steps(path: Path, fetch: Fetch, limits: ChainLimits, names_of: NamesOf) -> list[Path]:
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


# ---------------------------------------------------------------- trails
# Trails: names and cues of a question come in; the facts that answer it come out, with how well they do.
#
# "Where does the boss of my sister live?" is answered by a trail of facts: from the user to the sister, on
# to her boss, on to where that one lives. A trail takes a step only over a fact that a cue asks for, or
# from a named thing to anything it is told with. The more cues of the question it takes up, the better it
# answers.


TrailsFetch = Callable[[frozenset[str], frozenset[str]], Sequence[ToldFact]]
"""Tolds whose subject or object is one of the names, with one of the predicates."""
TrailsNamesOf = Callable[[Sequence[str]], Mapping[str, frozenset[str]]]
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
    claims: tuple[ToldFact, ...] = ()
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
class TrailAnswer:
    """A claim, how well it answers, 0 to 1, and the facts that led to it, itself the last."""

    claim: ToldFact
    score: float
    led_by: tuple[ToldFact, ...]


def follow(
    starts: Iterable[str],
    cues: Sequence[Cue],
    fetch: TrailsFetch,
    names_of: TrailsNamesOf,
    *,
    hops: int,
    now: datetime,
) -> list[TrailAnswer]:
    """The claims that answer, best first. Each step asks `fetch` once for all names it has come to."""
    edge = [
        more for name in dict.fromkeys(starts) for more in _with_roles(Trail(name, frozenset({name})), cues)
    ]
    found: list[Trail] = []
    asked = frozenset[str]().union(*(cue.predicates for cue in cues))
    for _ in range(hops if asked else 0):
        longer = list(_step(edge, cues, asked, fetch, names_of, now)) if edge else []
        longer.sort(key=lambda trail: _rank_trails(trail, cues))
        found += longer[:WIDEST]
        if any(_is_whole(trail, cues) for trail in longer[:WIDEST]):
            break
        edge = [more for trail in longer[:WIDEST] for more in _with_roles(trail, cues)]
    return _answers(found, cues)


def _step(
    edge: Sequence[Trail],
    cues: Sequence[Cue],
    asked: frozenset[str],
    fetch: TrailsFetch,
    names_of: TrailsNamesOf,
    now: datetime,
) -> Iterator[Trail]:
    called = names_of([trail.end for trail in edge])
    here = frozenset[str]().union(*called.values())
    claims = fetch(here, asked)
    by_end: dict[str, list[tuple[ToldFact, str]]] = {}
    for claim in claims:
        fact = claim.fact
        by_end.setdefault(fact.subject, []).append((claim, fact.object))
        by_end.setdefault(fact.object, []).append((claim, fact.subject))
    for trail in edge:
        for name in called.get(trail.end, frozenset({trail.end})):
            for claim, other in by_end.get(name, ()):
                if other not in trail.names:
                    yield _longer(trail, claim, other, cues, now)


def _longer(trail: Trail, claim: ToldFact, other: str, cues: Sequence[Cue], now: datetime) -> Trail:
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


def is_over(claim: ToldFact, now: datetime) -> bool:
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


def _rank_trails(trail: Trail, cues: Sequence[Cue]) -> tuple[float, str]:
    return -_coverage(trail, cues) * trail.worth, trail.end


def _answers(found: Iterable[Trail], cues: Sequence[Cue]) -> list[TrailAnswer]:
    best: dict[tuple[int, Fact], TrailAnswer] = {}
    for trail in found:
        score = trail.worth * _coverage(trail, cues) ** SHARPNESS
        for upto in range(len(trail.claims), 0, -1):
            claim = trail.claims[upto - 1]
            key = (claim.key, claim.fact)
            if score > 0 and (key not in best or score > best[key].score):
                best[key] = TrailAnswer(claim, score, trail.claims[:upto])
            score *= EARLIER
    return sorted(best.values(), key=lambda one: (-one.score, one.claim.key, one.claim.fact.object))


# ---------------------------------------------------------------- inference
# Inference: facts come in; what follows from several of them together comes out, with what it rests on.
#
# "Anna works at Siemens" and "Siemens is located in Munich" give "Anna works in Munich". Which predicates
# may follow on one another, and what they make, stands in a list; nothing else is concluded. A chain never
# comes by the same name twice, so that nothing follows from itself.


BREADTH: Final = 50
"""Facts of one subject that a chain goes on with, the surest."""
TOTAL: Final = 50_000
"""Conclusions that are looked at in all."""


@dataclass(frozen=True, slots=True)
class InferredFact:
    """A fact that nobody stated, and the stated ones that it follows from."""

    fact: Fact
    premises: tuple[ToldFact, ...]
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


def conclude(told: Sequence[ToldFact], steps: int, least: float) -> list[InferredFact]:
    """What follows from the facts in so many steps at most, the surest chain to each; shortest first.

    >>> facts = [
    ...     ToldFact(1, Fact("anna", "work at", "siemens"), 0.9),
    ...     ToldFact(2, Fact("siemens", "located in", "munich")),
    ... ]
    >>> [(one.fact.predicate, one.fact.object, one.sure) for one in conclude(facts, 5, 0.5)]
    [('works in', 'munich', 0.9)]
    """
    stated = {(one.fact.subject, one.fact.predicate, one.fact.object) for one in told}
    onward = _by_subject(told)
    found: dict[tuple[str, str, str], InferredFact] = {}
    edge = [InferredFact(one.fact, (one,), one.sure) for one in told if one.fact.subject != one.fact.object]
    for _ in range(steps - 1):
        fresh: dict[tuple[str, str, str], InferredFact] = {}
        for longer in _longer_inference(edge, onward, least):
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


def _by_subject(told: Sequence[ToldFact]) -> dict[str, list[ToldFact]]:
    seconds = frozenset(second for _, second in compositions())
    found: dict[str, list[ToldFact]] = {}
    for one in sorted(told, key=lambda one: (-one.sure, one.key)):
        if one.fact.predicate in seconds:
            found.setdefault(one.fact.subject, []).append(one)
    return {subject: some[:BREADTH] for subject, some in found.items()}


def _longer_inference(
    edge: Sequence[InferredFact], onward: Mapping[str, Sequence[ToldFact]], least: float
) -> Iterator[InferredFact]:
    for chain in edge:
        passed = {chain.fact.subject, *(premise.fact.object for premise in chain.premises)}
        for step in onward.get(chain.fact.object, ()):
            made = compositions().get((chain.fact.predicate, step.fact.predicate))
            sure = chain.sure * step.sure
            if made is None or step.fact.object in passed or sure < least:
                continue
            fact = Fact(chain.fact.subject, made, step.fact.object)
            yield InferredFact(fact, (*chain.premises, step), sure)
