"""Which names mean one thing."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import ENTITY_TYPES, Entity, Named
from engram.rules.entities import folded, resolve
from tests.tables import every

PAIRS = Path(__file__).with_name("mention_pairs.txt")
_MENTION = re.compile(r"(.+) \((\w+)\)")


def pairs() -> list[tuple[bool, Named, Named]]:
    rows = (row for row in PAIRS.read_text(encoding="utf-8").splitlines() if row and row[0] != "#")
    parts = ([part.strip() for part in row.split(" ; ")] for row in rows)
    return [(same == "same", mention(one), mention(other)) for same, one, other in parts]


def mention(text: str) -> Named:
    found = _MENTION.fullmatch(text)
    assert found, text
    return Named(found[1], found[2])


def joined(one: Named, other: Named) -> bool:
    return resolve(one, [known(other.name, other.type)]) is not None


def known(name: str, kind: str = "unknown", *aliases: str, key: int = 1) -> Entity:
    return Entity(name, type=kind, aliases=(name.lower(), *aliases), key=key)


def test_pairs_of_mentions_are_told_apart() -> None:
    cases = pairs()
    right = sum(joined(one, other) for same, one, other in cases if same)
    wrong = [f"{one.name} / {other.name}" for same, one, other in cases if not same and joined(one, other)]
    precision = right / (right + len(wrong))
    recall = right / sum(same for same, _, _ in cases)

    assert len(cases) >= 100
    assert 2 * precision * recall / (precision + recall) >= 0.95
    assert wrong == [
        "Angular / AngularJS",  # the vocabulary takes the one for a short form of the other
        "Jenkins / Jenkins",  # one name, two things: nothing in the name could tell
    ]


@every(
    ("name", "kind", "meant"),
    [
        ("Anna", "person", None),  # two Annas
        ("Lee", "person", "Sam Lee"),
        ("anna smith", "person", "Anna Smith"),
        ("Anna S.", "person", "Anna Smith"),
        ("Ann", "person", None),
        ("postgres", "technology", "PostgreSQL"),
        ("psql", "unknown", "PostgreSQL"),
        ("the platform", "project", "Platform"),
        ("Platfrom", "project", "Platform"),
        ("Berlin", "location", None),
        ("", "unknown", None),
    ],
)
def test_one_of_several_is_meant_or_none(name: str, kind: str, meant: str | None) -> None:
    everybody = [
        known("Anna Smith", "person", key=1),
        known("Anna Jones", "person", key=2),
        known("Sam Lee", "person", key=3),
        known("PostgreSQL", "technology", key=4),
        known("Platform", "project", key=5),
    ]
    found = resolve(Named(name, kind), everybody)

    assert (found.name if found else None) == meant


def test_an_exact_name_wins_over_a_part_of_a_longer_one() -> None:
    anna, full = known("Anna", "person", key=1), known("Anna Smith", "person", key=2)

    assert resolve(Named("anna", "person"), [full, anna]) == anna


def test_a_full_name_joins_a_first_name_until_another_last_name_is_known() -> None:
    anna = known("Anna", "person")

    assert resolve(Named("Anna Smith", "person"), [anna]) == anna
    assert resolve(Named("Anna Jones", "person"), [known("Anna", "person", "anna smith")]) is None


def test_aliases_count_like_names() -> None:
    team = known("Platform Team", "organization", "the plumbers")

    assert resolve(Named("Plumbers"), [team]) == team


def test_one_name_of_two_sorts_goes_to_the_sort_that_agrees() -> None:
    city, person = known("Paris", "location", key=1), known("Paris", "person", key=2)

    assert resolve(Named("Paris", "person"), [city, person]) == person
    assert resolve(Named("Paris"), [city, person]) is None


names = st.text(st.characters(codec="utf-8"), max_size=20) | st.from_regex(
    r"[A-Z][a-z]{1,8}( [A-Z][a-z]{1,8}| \d{1,3}|-\d){0,2}", fullmatch=True
)
types = st.sampled_from(ENTITY_TYPES)


@given(names, types, names, types)
def test_meaning_the_same_goes_both_ways(one: str, mine: str, other: str, theirs: str) -> None:
    there = joined(Named(one, mine), Named(other, theirs))
    back = joined(Named(other, theirs), Named(one, mine))

    assert there == back or "unknown" in (
        mine,
        theirs,
    )  # whether a name is a person's is asked of the new one


@given(names, st.integers(0, 99), st.integers(0, 99), types)
def test_other_digits_mean_another_thing(name: str, one: int, other: int, kind: str) -> None:
    mine, theirs = f"{name} {one}", f"{name} {other}"

    assert joined(Named(mine, kind), Named(theirs, kind)) == (one == other)


@given(names.filter(str.strip), types)
def test_everything_is_itself(name: str, kind: str) -> None:
    assert joined(Named(name, kind), Named(name, kind))
    assert folded(folded(name)) == folded(name)


def test_what_looks_like_a_person_is_the_firm_of_that_name() -> None:
    firm = Entity("Hollis Ltd", type="organization")

    assert resolve(Named("Hollis", "person"), [firm]) is firm
    assert resolve(Named("Hollis", "person"), [firm, Entity("Ann Hollis", type="person")]) != firm
