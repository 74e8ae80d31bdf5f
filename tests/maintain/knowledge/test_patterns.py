"""Patterns: three episodes alike become knowledge, grow with further ones, and forget what is erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.model.facts import EdgeType
from engram.model.memory import Kind, Status, Tier, Verification
from engram.testing import FakeClock
from tests.maintain.knowledge.stories import FAILED, learned, place, rules, sketches, tagged, told, words_in


def test_three_similar_episodes_become_a_semantic_memory_with_its_sources(
    memory: Engram, clock: FakeClock
) -> None:
    ids = told(
        memory, clock, [*FAILED, "I ate noodles at the harbour", "Anna told me about her trip to Peru"]
    )
    report = learned(memory)
    assert rules(report)["pattern.found"] == 1
    (pattern,) = tagged(memory, "pattern")
    assert pattern.content == "Deployed the billing service to …, the migration failed"
    assert (pattern.kind, pattern.verification) == (Kind.SEMANTIC, Verification.SYSTEM_INFERRED)
    edges = memory.relations(pattern.id)
    assert {edge.target for edge in edges if edge.type is EdgeType.DERIVED_FROM} == set(ids[:3])
    (schema,) = sketches(memory, "schema")
    assert schema.body["slots"] == [["staging", "production", "the canary host"]]
    assert "billing" not in " ".join(line.why for line in report.decided)


def test_two_are_not_enough_and_the_third_makes_it_a_pattern_later(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, FAILED[:2])
    assert "pattern.found" not in rules(learned(memory))
    told(memory, clock, FAILED[2:])
    assert rules(learned(memory))["pattern.found"] == 1


def test_nothing_new_means_nothing_decided(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, FAILED)
    learned(memory)
    assert learned(memory).decided == ()


def test_a_known_pattern_grows_instead_of_being_found_again(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, FAILED)
    learned(memory)
    (fourth,) = told(
        memory, clock, ["Deployed the billing service to the test cluster, the migration failed"]
    )
    assert rules(learned(memory)) == {"pattern.grown": 1}
    (pattern,) = tagged(memory, "pattern")
    assert fourth in {edge.target for edge in memory.relations(pattern.id)}
    (schema,) = sketches(memory, "schema")
    assert schema.body["episodes"] == 4
    assert learned(memory).decided == ()


def test_a_pattern_that_a_person_put_away_does_not_come_back(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, FAILED)
    learned(memory)
    (pattern,) = tagged(memory, "pattern")
    memory.forget(pattern.id)
    told(memory, clock, ["Deployed the billing service to the test cluster, the migration failed"])
    assert "pattern.found" not in rules(learned(memory))
    assert memory.get(pattern.id).status is Status.ARCHIVED  # type: ignore[union-attr]


@pytest.mark.parametrize("confidence", [0.4, 0.3])
def test_episodes_nobody_is_sure_of_make_no_pattern(
    memory: Engram, clock: FakeClock, confidence: float
) -> None:
    told(memory, clock, FAILED, confidence=confidence)
    assert "pattern.found" not in rules(learned(memory))


def test_places_are_never_mixed(memory: Engram, clock: FakeClock) -> None:
    for name, line in zip(("rex", "ada", "rex"), FAILED, strict=True):
        told(memory, clock, [line], scope=place(name))
    assert "pattern.found" not in rules(learned(memory))


def test_what_is_secret_is_left_out(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, FAILED, tier=Tier.SENSITIVE)
    assert "pattern.found" not in rules(learned(memory))


def test_small_talk_is_no_pattern(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, ["Thanks so much!", "Thanks very much!", "Thank you so much!"])
    assert "pattern.found" not in rules(learned(memory))


def test_an_undone_run_leaves_no_pattern_and_is_not_done_again(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, FAILED)
    memory.undo(learned(memory).run.id)
    assert tagged(memory, "pattern") == []
    assert "pattern.found" not in rules(learned(memory))
    assert tagged(memory, "pattern") == []


def test_erasing_an_episode_takes_its_words_out_of_the_schema(
    memory: Engram, clock: FakeClock, file: Path
) -> None:
    ids = told(memory, clock, FAILED)
    learned(memory)
    memory.erase(ids[2])
    assert sketches(memory, "schema") == []
    memory.close()
    assert not words_in(file, "canary host")


def test_a_pattern_in_the_words_of_one_episode_goes_with_it(
    memory: Engram, clock: FakeClock, file: Path
) -> None:
    lines = (
        "The zeppelin build is broken after the merge",
        "After merging, our zeppelin build was broken",
        "Zeppelin: broken build once merged",
    )
    ids = dict(zip(told(memory, clock, lines), lines, strict=True))
    learned(memory)
    found = tagged(memory, "pattern")
    if not found:
        pytest.skip("the embedder does not find them alike")
    typical = found[0].details["words_of"]
    memory.erase(typical)
    learned(memory)
    assert tagged(memory, "pattern") == []
    memory.close()
    assert not words_in(file, ids[typical])


def test_a_pattern_is_no_repetition_of_its_episodes(memory: Engram, clock: FakeClock) -> None:
    for line in FAILED:
        memory.remember(line, source="agent", kind="episodic")
        clock.advance(minutes=40)
    memory.consolidate()
    for _ in range(3):
        clock.advance(days=1)
        memory.consolidate()
    (pattern,) = tagged(memory, "pattern")
    assert pattern.content == "Deployed the billing service to …, the migration failed"
    assert [one.content for one in memory.list() if "pattern" not in one.tags] == list(FAILED[::-1])


@pytest.mark.parametrize(
    "said",
    [
        [f"Dr. Osei prescribed ibuprofen for my {part} in May" for part in ("knee", "sinuses", "back")],
        [f"Booked the night train to Lisbon for {who}" for who in ("Anna", "Bob", "Mia")],
        [f"{day} the blood pressure was high after the run" for day in ("Monday", "Tuesday", "Friday")],
        [f"We asked for two-space indentation on {day}" for day in ("Monday", "Tuesday", "Friday")],
    ],
)
def test_what_would_be_cut_off_at_an_end_is_not_written(
    memory: Engram, clock: FakeClock, said: list[str]
) -> None:
    told(memory, clock, said)
    learned(memory)

    for one in tagged(memory, "pattern"):
        ends = (one.content.split()[0], one.content.split()[-1])
        assert all({row.split()[0], row.split()[-1]} == set(ends) for row in said)
