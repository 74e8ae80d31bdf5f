"""The one decision about repetition, case by case."""

from __future__ import annotations

from datetime import UTC, datetime

from engram.model.memory import Memory
from engram.rules.sameness import (
    Challenge,
    Merge,
    Neighbour,
    New,
    NewStatement,
    Reinforce,
    SamenessLimits,
    Supersede,
    decide,
)
from engram.text.words import content_hash
from tests.tables import every

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 2, 1, tzinfo=UTC)
LIMITS = SamenessLimits(duplicate=0.85, strong=0.80, related=0.65, jaccard=0.5, jaccard_alone=0.85)


def said(content: str, at: datetime) -> NewStatement:
    return NewStatement(Memory("new", content, "hash", at, at))


def neighbour(content: str, cosine: float | None = 0.95) -> Neighbour:
    memory = Memory("old", content, "hash", NOW, NOW)
    return Neighbour(memory, NewStatement(memory), cosine)


def verdict(new: str, old: str, cosine: float | None = 0.95, at: datetime = LATER) -> type:
    return type(decide(said(new, at), [neighbour(old, cosine)], LIMITS))


@every(
    ("new", "old", "cosine", "expected"),
    [
        ("I like green tea", "I really like green tea", 0.95, Reinforce),
        ("I like green tea", "I really like green tea", 0.70, Reinforce),
        ("Rain fell all night", "Rain just fell all night", 0.79, New),
        ("Rain fell all night", "Rain just fell all night", 0.86, Reinforce),
        ("I like green tea", "I really like green tea", None, Reinforce),
        ("I like tea", "I like tea with milk and two sugars", 0.95, New),
        ("I like tea with milk and sugar", "I like tea with milk", 0.9, Merge),
        ("I like tea with milk and sugar", "I like tea with milk", 0.8, New),
        ("She likes red apples a lot", "She likes green apples a lot", 0.97, New),
        ("Anna loves Bob", "Bob loves Anna", 0.99, New),
        ("I do not like tea", "I like tea", 0.97, Challenge),
        ("I hate green tea", "I love green tea", 0.9, Challenge),
        ("I hate green tea", "I love black tea", 0.9, New),
        ("I don't like green tea", "I like black tea", 0.9, New),
        ("Actually, I don't like tea", "I like tea", 0.9, Supersede),
        ("我不喜欢香菜", "我喜欢香菜", 0.9, Challenge),
        ("Actually the daily team standup is at 10:30", "The daily team standup is at 9:30", 0.9, Supersede),
        ("The standup is at 10:30 in room 4", "The lunch is at 9:30 in room 5", 0.9, New),
        ("There are 3 cups", "There are 4 cups", 0.99, New),
        ("We meet on Monday at noon", "We meet on Friday at noon", 0.98, New),
        ("My editor is Helix", "My editor is vim", 0.7, Supersede),
        ("My editor is Helix", "My editor is vim", None, Supersede),
        ("My editor is Helix", "My editor is Helix editor", None, Reinforce),
        ("I live in Berlin", "I live in Berlin", 0.99, Reinforce),
        ("I like coffee", "I like tea", 0.9, New),
        ("I no longer live in Berlin", "I live in Berlin", 0.9, Supersede),
        ("I no longer live in Berlin", "I live in Bonn", 0.9, New),
        ("Anna paid €500 for the bike", "Anna paid $500 for the bike", 0.97, New),
        ("The pool is kept above ≥ 5 degrees", "The pool is kept above ≤ 5 degrees", 0.97, New),
        ("Take 5 mg of the drops", "Take 5 g of the drops", 0.97, New),
        ("会议在B栋开了", "会议在A栋开了", 0.97, New),
        ("The site runs on v1.3", "The site runs on v1.2", 0.97, New),
        ("Anna drives the red car", "Anna drives a red car", 0.97, Reinforce),
    ],
)
def test_the_verdict(new: str, old: str, cosine: float | None, expected: type) -> None:
    assert verdict(new, old, cosine) is expected


@every(
    "sentence",
    [
        "Hepatitis {} vaccination done in March",
        "hepatitis {} vaccination done in march",
        "Plan {} is to rent a hall",
        "I take vitamin {} every morning",
        "The fish is in freezer {}",
        "The workshop is in room {} on the second floor",
        "Mia got grade {} in maths",
        "I broke the {} string of my violin",
        "My grade in maths is {}",
    ],
)
def test_labels_tell_two_statements_apart(sentence: str) -> None:
    for pair in (("A", "B"), ("B", "A"), ("A", "A-"), ("A-", "A+"), ("B", "B-")):
        labels = [label.lower() if sentence.islower() else label for label in pair]
        old, new = (sentence.format(label) for label in labels)

        assert content_hash(new) != content_hash(old)
        assert {verdict(new, old, 0.99), verdict(new, old, None)} <= {New, Supersede}, pair


def test_what_is_told_about_an_earlier_time_replaces_nothing() -> None:
    earlier = datetime(2020, 1, 1, tzinfo=UTC)

    assert verdict("My editor is emacs", "My editor is vim", 0.9, at=earlier) is New


def test_a_repetition_is_preferred_to_a_replacement() -> None:
    neighbours = [neighbour("My editor is vim", 0.9), neighbour("My editor is Helix", 0.99)]

    found = decide(said("My editor is Helix", LATER), neighbours, LIMITS)
    assert isinstance(found, Reinforce)
    assert found.memory.content == "My editor is Helix"


def test_no_neighbour_makes_it_new() -> None:
    assert isinstance(decide(said("Anything", NOW), [], LIMITS), New)
