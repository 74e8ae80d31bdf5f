"""What was learned is read place by place, by those who may see it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engram import Access, Engram, Role, Scope
from engram.testing import FakeClock

LIFE = (
    "I prefer dark mode in every editor",
    "My name is Sam and I am a nurse",
    "The PostgreSQL migration is slow",
    "The database index was missing",
    "We use PostgreSQL 16 for the billing database",
    "Anna Keller leads the Apollo project",
    "Anna Keller lives in Bremen",
    "Anna Keller asked Bob for the Apollo budget",
)


@pytest.fixture(scope="module")
def memory() -> Engram:
    clock = FakeClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    one = Engram.open(":memory:", clock=clock)
    for line in LIFE:
        one.remember(line, source="agent", scope=Scope(agent="rex"))
        clock.advance(minutes=5)
    clock.advance(days=1)
    one.consolidate(stages=["knowledge", "self_knowledge"])
    return one


def test_the_tree_stands_for_every_memory_at_three_distances(memory: Engram) -> None:
    tree = memory.knowledge.tree()
    assert [name for name, _ in tree.levels] == ["clusters", "domains", "paragraph"]
    everything = {one.id for one in memory.list()}
    assert {id_ for gist in tree.clusters for id_ in gist.memories} == everything
    assert {id_ for gist in tree.domains for id_ in gist.memories} == everything
    assert memory.knowledge.tree() is tree


def test_profile_identity_map_and_topics_are_read(memory: Engram) -> None:
    knowledge = memory.knowledge
    assert "I prefer dark mode in every editor" in [one.text for one in knowledge.profile().traits]
    assert knowledge.identity().text == "My name is Sam and I am a nurse"
    assert sum(one.memories for one in knowledge.map().domains) == len(LIFE)
    assert {"databases", "anna keller"} <= {one.topic for one in knowledge.topics()}


def test_a_card_is_found_under_any_name_and_shown_with_the_entity(memory: Engram) -> None:
    card = memory.knowledge.card("anna")
    assert card is not None
    assert (card.name, card.memories) == ("Anna Keller", 3)
    assert ("anna keller", "live in", "bremen") in card.facts
    profile = memory.entities.get("Anna Keller")
    assert profile is not None
    assert profile.card == card
    assert memory.knowledge.card("Nobody") is None
    assert [one.name for one in memory.knowledge.cards(prefix="ANNA")] == ["Anna Keller"]


def test_boxes_tell_what_was_going_on_together(memory: Engram) -> None:
    boxes = memory.knowledge.boxes()
    assert sum(len(one.memories) for one in boxes) <= len(LIFE)
    assert all(one.started <= one.ended for one in boxes)
    assert memory.knowledge.traces() != []


def test_others_see_nothing_of_it(memory: Engram) -> None:
    ada = memory.seen_by(Access(Scope(agent="ada"), Role.AGENT), "ada").knowledge
    assert ada.tree().levels == ()
    assert (ada.profile().traits, ada.identity().text, ada.map().domains) == ((), "", ())
    assert (ada.topics(), ada.boxes(), ada.cards(), ada.patterns(), ada.traces()) == ([], [], [], [], [])
    assert ada.card("Anna Keller") is None
    rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex").knowledge
    assert rex.card("Anna Keller") is not None


def test_little_is_known_of_what_the_map_says_so_about(memory: Engram) -> None:
    known = memory.knowledge.knowing("How do we back up the PostgreSQL database?")
    assert known is None or known.unknown
    assert memory.knowledge.knowing("What is the weather on Mars?") is None


def test_a_prompt_with_little_room_tells_the_tree_instead(memory: Engram) -> None:
    roomy = memory.context("Tell me everything", budget=4_000, dry=True)
    tight = memory.context("Tell me about the database and Anna Keller", budget=190, dry=True)
    assert "clusters" not in roomy.recalled
    assert tight.tokens <= 190


def test_what_is_missing_about_a_name_is_told() -> None:
    clock = FakeClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    with Engram.open(":memory:", clock=clock) as memory:
        for what in ("a boat", "the roof", "her cat", "the paint", "our trip", "the fence"):
            memory.remember(f"We talked with Carla about {what}")
            clock.advance(days=1)
        memory.consolidate(stages=["doubt", "self_knowledge"])
        assert [one.about for one in memory.gaps.list()] == ["Carla"]
        known = memory.knowledge.knowing("What should I tell Carla?")
        assert known is not None
        assert (known.topic, known.unknown, len(known.gaps)) == ("Carla", False, 1)
        assert memory.knowledge.map().domains[0].uncertainty > 0
        assert "about Carla" in memory.context("What should I tell Carla?", dry=True).system_prompt
