"""Weeks of everyday talk, consolidated every night: what is left is what a person would have kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engram import Engram
from engram.rules.traits import is_passing
from engram.testing import FakeClock
from engram.text import lexicon

# The day, and what was said on it.
pytestmark = pytest.mark.slow  # three weeks are lived through

TALK = [
    (0, "Hi! I'm Nadia, I'm a landscape architect and I live in Ghent with my husband Joris."),
    (0, "We have two kids, Elin and Bas. Elin is seven and Bas just turned four."),
    (1, "I'm allergic to penicillin, by the way."),
    (2, "Ugh, I'm so tired today."),
    (3, "My sister Mirte works as a nurse in Antwerp."),
    (4, "It's raining here."),
    (5, "I prefer short answers, please no bullet points."),
    (8, "We got a dog! Her name is Pixel."),
    (12, "We moved to Leuven last weekend!"),
    (15, "I'm reading a book about moss."),
]
LASTS = ("penicillin", "Mirte", "two kids", "Pixel", "Leuven", "Nadia", "short answers")


@pytest.fixture(scope="module")
def memory() -> Iterator[Engram]:
    clock = FakeClock(datetime(2026, 3, 3, 9, tzinfo=UTC))
    with Engram.open(":memory:", clock=clock) as opened:
        for day in range(45):
            for line in (words for at, words in TALK if at == day):
                opened.observe(line, session=f"day {day}")
                opened.flush()
            clock.advance(days=1)
            opened.consolidate()
        yield opened


def test_nothing_of_the_users_life_is_archived_while_it_holds(memory: Engram) -> None:
    active = " ".join(one.content for one in memory.list(limit=100))
    assert [word for word in LASTS if word not in active] == []


def test_a_mood_and_the_weather_pass(memory: Engram) -> None:
    kept = {one.content for one in memory.list(limit=100)}
    assert kept.isdisjoint({"Ugh, I'm so tired today.", "It's raining here."})


def test_a_part_that_was_replaced_is_no_conflict(memory: Engram) -> None:
    assert memory.conflicts.list() == []
    assert memory.gaps.list() == []


def test_the_profile_is_worth_reading(memory: Engram) -> None:
    profile = memory.knowledge.profile()
    assert profile is not None
    lines = [one.text for one in profile.traits]
    said = " ".join(words for _, words in TALK)
    assert all(line.split(" [")[0] in said for line in lines), "whole sentences, as they were said"
    assert "We have two kids, Elin and Bas. Elin is seven and Bas just turned four." in lines
    assert any(line.endswith("[no longer: user live in ghent]") for line in lines)


def test_what_is_often_spoken_of_is_known_well(memory: Engram) -> None:
    found = memory.knowledge.map()
    assert found is not None
    first, *_, last = found.domains
    assert first.confidence > max(0.3, last.confidence)
    assert first.label == "family"


def test_passing_states_are_told_from_lasting_ones() -> None:
    passing, lasting = lexicon.examples("passing", "")
    assert [line for line in passing if not is_passing(line)] == []
    assert [line for line in lasting if is_passing(line)] == []


def test_a_pattern_is_a_whole_sentence_or_none() -> None:
    clock = FakeClock()
    with Engram.open(":memory:", clock=clock) as memory:
        for where in ("knee", "sinuses", "back"):
            memory.remember(f"Dr. Osei prescribed ibuprofen for my {where}.")
            clock.advance(days=1)
        memory.consolidate()
        assert [one.content for one in memory.list() if one.source == "engine"] == []
