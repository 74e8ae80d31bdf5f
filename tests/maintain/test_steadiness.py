"""Steadiness: asked twice at one moment a run changes nothing; taken back, everything is as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.model.maintenance import Report
from engram.model.memory import Kind, Layer, Policy, Priority
from engram.model.scope import Scope
from engram.testing import FakeClock
from tests.maintain.story import START, opened, told, use

STAGES = ["housekeeping", "promotion", "review", "merge", "forgetting"]
WORDS = (
    "The backup of the billing database runs every night",
    "The backup of the billing database runs every night really",
    "Anna lives in Rome",
    "Anna lives in Berlin",
    "We decided to move the Berlin office to Hamburg in May",
    "it was ok there",
    "The part of the import works",
    "Never deploy to production on a Friday",
)
NOTES = st.lists(
    st.fixed_dictionaries(
        {
            "words": st.sampled_from(WORDS),
            "layer": st.sampled_from(Layer),
            "kind": st.sampled_from((Kind.EPISODIC, Kind.SEMANTIC)),
            "importance": st.sampled_from((0.1, 0.6, 0.7, 0.9)),
            "tags": st.sampled_from(((), ("session",), ("lesson",), ("gate-rejected",))),
            "policy": st.sampled_from((Policy.DURABLE, Policy.EPHEMERAL, Policy.PROTECTED)),
            "priority": st.sampled_from((Priority.P1, Priority.P2)),
            "source": st.sampled_from(("agent", "import")),
            "scope": st.sampled_from((Scope(), Scope(project="apollo"))),
            "speaker": st.sampled_from(("", "", "", "Anna")),
            "confidence": st.sampled_from((0.3, 0.9)),
        }
    ),
    min_size=2,
    max_size=14,
)
AGES = st.sampled_from((0.1, 1.0, 30.0, 60.0, 24.0 * 40, 24.0 * 120))


def filled(memory: Engram, clock: FakeClock, notes: list[dict[str, Any]], hours: float) -> None:
    """Notes some time apart, used now and then."""
    for place, note in enumerate(notes):
        one = told(memory, note["words"], **{k: v for k, v in note.items() if k != "words"}, apart=True)
        use(memory, one, (0, 1, 3, 6)[place % 4], clock.now())
        clock.advance(hours=hours / len(notes))
    clock.advance(seconds=1)


def state(memory: Engram) -> dict[str, Any]:
    """Every memory in every status, with its relations, by id."""
    return {record["id"]: record for record in memory.export()}


def without_stamps(record: dict[str, Any]) -> dict[str, Any]:
    """What a run cannot give back, nor anybody misses: when it was touched, and how many wordings it had."""
    kept = {name: value for name, value in record.items() if name not in {"modified_at", "version"}}
    ends = [
        tuple(
            sorted((name, str(value)) for name, value in edge.items() if name in {"source", "target", "type"})
        )
        for edge in record.get("relations", ())
    ]
    return {**kept, "relations": sorted(ends)}


def done(report: Report) -> list[tuple[str, str]]:
    return [(line.rule, line.why) for line in report.decided]


@pytest.mark.slow
@settings(max_examples=12)
@given(NOTES, AGES)
def test_a_second_run_at_the_same_moment_finds_nothing_to_do(
    notes: list[dict[str, Any]], hours: float
) -> None:
    clock = FakeClock(START)
    with opened(clock, maintain__slice=3) as memory:
        filled(memory, clock, notes, hours)
        for _ in range(2):
            memory.consolidate(stages=STAGES)
            before = state(memory)
            again = memory.consolidate(stages=STAGES)
            assert (done(again), state(memory)) == ([], before)
            clock.advance(days=1)


@pytest.mark.slow
@settings(max_examples=8)
@given(NOTES, AGES)
def test_a_run_that_is_taken_back_leaves_everything_as_it_was(
    notes: list[dict[str, Any]], hours: float
) -> None:
    clock = FakeClock(START)
    with opened(clock, maintain__slice=3) as memory:
        filled(memory, clock, notes, hours)
        before = state(memory)
        report = memory.consolidate(stages=STAGES)
        undone = memory.undo(report.run.id)
        after = state(memory)
        assert undone.left == ()
        assert {id_: without_stamps(after[id_]) for id_ in before} == {
            id_: without_stamps(one) for id_, one in before.items()
        }
        assert all(after[id_]["status"] == "archived" for id_ in after.keys() - before.keys())
