"""What follows from what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import Claim, Fact
from engram.model.memory import Memory
from engram.rules.chains import ChainLimits, Path, walk

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def claim(subject: str, predicate: str, whom: str, confidence: float = 1.0) -> Claim:
    said = f"{subject} {predicate} {whom}"
    memory = Memory(said, said, "", NOW, NOW, confidence=1.0)
    return Claim(Fact(subject, predicate, whom, confidence=confidence), memory)


class Known:
    """A handful of facts, and how often they were asked."""

    def __init__(self, *claims: Claim) -> None:
        self.claims = claims
        self.asked = 0

    def fetch(self, names: frozenset[str], limit: int) -> Sequence[Claim]:
        self.asked += 1
        of = [one for one in self.claims if one.fact.subject in names][:limit]
        return of + [one for one in self.claims if one.fact.object in names][:limit]


OFFICE = Known(
    claim("anna", "work at", "siemens", 0.9),
    claim("siemens", "located in", "munich", 0.8),
    claim("bob", "work at", "siemens", 0.5),
    claim("munich", "part of", "bavaria"),
)


def told(paths: list[Path]) -> list[str]:
    return [str(path) for path in paths]


def test_the_object_of_one_fact_is_the_subject_of_the_next() -> None:
    assert told(walk("Anna", OFFICE.fetch)) == [
        "anna work at siemens",
        "anna work at siemens → siemens located in munich",
        "anna work at siemens → bob work at siemens",
    ]


def test_how_sure_a_path_is_multiplies() -> None:
    one, two, three = walk("anna", OFFICE.fetch)

    assert (one.confidence, round(two.confidence, 3), round(three.confidence, 3)) == (0.9, 0.72, 0.45)
    assert two.names == ("anna", "siemens", "munich")


def test_no_path_goes_further_than_its_hops() -> None:
    assert max(len(path.claims) for path in walk("anna", OFFICE.fetch, ChainLimits(hops=3))) == 3
    assert walk("anna", OFFICE.fetch, ChainLimits(hops=0)) == []
    assert walk("nobody", OFFICE.fetch) == []


def test_every_name_of_a_thing_leads_on() -> None:
    known = Known(claim("anna", "work at", "siemens ag"), claim("siemens", "located in", "munich"))
    siemens = frozenset({"siemens", "siemens ag"})

    paths = walk("anna", known.fetch, names_of=lambda name: siemens if name in siemens else frozenset({name}))

    assert [path.names[-1] for path in paths] == ["siemens ag", "munich"]


def test_a_hub_is_walked_only_so_wide() -> None:
    hub = Known(*(claim("user", "like", f"thing {n}") for n in range(100)))

    assert len(walk("user", hub.fetch, ChainLimits(hops=1, breadth=20))) == 20
    assert hub.asked == 1


names = st.sampled_from("abcdefgh")
shares = st.floats(0, 1)


@given(st.lists(st.builds(claim, names, st.just("knows"), names, shares), max_size=30), st.integers(1, 4))
def test_paths_hang_together_and_never_turn_back(claims: list[Claim], hops: int) -> None:
    known = Known(*claims)
    limits = ChainLimits(hops=hops, breadth=5, total=50)

    paths = walk("a", known.fetch, limits)

    assert len(paths) <= limits.total
    assert known.asked <= limits.total + 1
    assert paths == sorted(paths, key=lambda path: -path.confidence)
    for path in paths:
        assert len(set(path.names)) == len(path.names) == len(path.claims) + 1 <= hops + 1
        ends = zip(pairwise(path.names), path.claims, strict=True)
        assert all({*pair} == {one.fact.subject, one.fact.object} for pair, one in ends)
