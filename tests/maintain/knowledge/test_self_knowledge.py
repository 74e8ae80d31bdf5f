"""Self-knowledge: profile, identity, topics, guidelines, map and tree follow what is kept."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from engram import Engram
from engram.maintain.pipeline import CONSOLIDATION, begin_run, run_steps
from engram.maintain.step import StepContext
from engram.model.capture import Draft
from engram.model.maintenance import RunKind, RunState, Sketch
from engram.model.memory import Tier
from engram.testing import FakeClock, HashEmbedder
from tests.maintain.knowledge.conftest import START
from tests.maintain.knowledge.stories import learned, place, rules, sketches, told, words_in

STAGE = "self_knowledge"
LIFE = (
    "I prefer dark mode in every editor",
    "Always answer in short sentences",
    "My name is Sam and I am a nurse",
    "The PostgreSQL migration is slow",
    "The database index was missing",
    "We use PostgreSQL 16 for the billing database",
    "The backup of the database runs at night",
    "I cooked pasta for dinner",
    "The recipe needs more garlic",
    "We baked bread on Sunday",
    "We decided to use Rust for the parser",
    "The parser fails on nested quotes",
)


def only(memory: Engram, kind: str) -> Sketch:
    (found,) = sketches(memory, kind)
    return found


def test_a_profile_says_how_somebody_is_section_by_section(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, LIFE, kind=None)
    learned(memory, STAGE)
    lines = only(memory, "profile").body["lines"]
    assert [(one["section"], one["text"]) for one in lines] == [
        ("identity", "My name is Sam and I am a nurse"),
        ("rules", "Always answer in short sentences"),
        ("preferences", "I prefer dark mode in every editor"),
        ("decisions", "We decided to use Rust for the parser"),
    ]
    assert only(memory, "profile").body["habits"]["topics"] == ["databases", "food"]


def test_a_closed_promise_is_no_part_of_a_profile(memory: Engram) -> None:
    owed = memory.commitments.open("Pay Otto back for the sander")
    memory.commitments.open("Call the plumber")
    memory.commitments.close(owed.id)
    learned(memory, STAGE)
    assert [one.text for one in memory.knowledge.profile().traits] == ["Call the plumber"]


@pytest.mark.parametrize(("cap", "sections"), [(1, 1), (2, 2), (3, 3)])
def test_a_profile_has_no_more_lines_than_it_may(clock: FakeClock, cap: int, sections: int) -> None:
    with Engram.open(":memory:", clock=clock, config={"knowledge.profile_lines": cap}) as memory:
        told(memory, clock, [*LIFE, "I like tea more than coffee", "I prefer trains to planes"], kind=None)
        learned(memory, STAGE)
        lines = only(memory, "profile").body["lines"]
        assert len(lines) == cap
        assert len({one["section"] for one in lines}) == sections


@pytest.mark.parametrize(("count", "compacted"), [(1, False), (2, False), (3, True)])
def test_reflections_are_compacted_over_their_limit(
    clock: FakeClock,
    count: int,
    compacted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.maintain.self_knowledge.IDENTITY_BYTES", 1_000)
    said = [f"I am somebody who {what:<481}" for what in ("listens.", "reads.", "walks.")]
    lines = [line.rstrip() + "x" * (499 - len(line.rstrip())) for line in said[:count]]
    with Engram.open(":memory:", clock=clock) as memory:
        memory.remember_many([Draft(line, category="identity") for line in lines])
        clock.advance(days=1)
        report = learned(memory, STAGE)
        identity = only(memory, "identity").body
        assert (identity["bytes"], identity["compacted"]) == (500 * count, compacted)
        assert len(identity["text"].encode()) <= 1_000
        assert ("identity.compacted" in rules(report)) is compacted


def test_topics_are_counted_place_by_place(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, LIFE[3:7], scope=place("rex"))
    told(memory, clock, LIFE[7:10], scope=place("ada"))
    learned(memory, STAGE)
    counted = {one.scope.agent: one.body["topics"][0] for one in sketches(memory, "topics")}
    assert {agent: one["topic"] for agent, one in counted.items()} == {"rex": "databases", "ada": "food"}


def test_topics_are_also_what_the_memories_themselves_name(memory: Engram, clock: FakeClock) -> None:
    said = [
        "the boiler makes a noise",
        "I called about the boiler",
        "Is the boiler new?",
        "we painted a wall",
    ]
    told(memory, clock, [*said, "Zwiebelturm opens at nine", "I met Otto at Zwiebelturm"])
    ids = told(memory, clock, ["Seeds go in first", "Weeds come out"], tags=["allotment"])
    learned(memory, STAGE)
    assert {"boiler", "allotment"} <= {one.topic for one in memory.knowledge.topics()}
    memory.erase(ids[0])
    assert "allotment" not in {one.topic for one in memory.knowledge.topics()}


def test_the_tree_has_every_memory_in_one_cluster_and_every_cluster_in_one_domain(
    memory: Engram, clock: FakeClock
) -> None:
    ids = told(memory, clock, LIFE, kind=None)
    learned(memory, STAGE)
    branches = sketches(memory, "branch")
    tree = only(memory, "tree").body
    assert sorted(id_ for one in branches for id_ in one.sources) == sorted(ids)
    assert sorted(key for one in tree["domains"] for key in one["branches"]) == sorted(
        one.key for one in branches
    )
    assert "databases" in {one.title for one in branches}
    assert memory.maintenance._caller.tools.count_tokens(tree["paragraph"]) <= 200  # noqa: SLF001


MORE = (
    "My flight to Lisbon leaves at noon",
    "The hotel in Lisbon is booked",
    "I need a visa for the trip",
    "The dog needs a new leash",
    "We walked the dog in the park",
    "The vet checked our dog",
)


def test_only_branches_that_changed_are_written_again(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, [*LIFE, *MORE], kind=None)
    first = learned(memory, STAGE).run.id
    (new,) = told(memory, clock, ["The database needs another PostgreSQL index"], kind=None)
    second = learned(memory, STAGE).run.id
    runs: dict[str, list[Sketch]] = {one.run: [] for one in sketches(memory, "branch")}
    for one in sketches(memory, "branch"):
        runs[one.run].append(one)
    assert len(runs[first]) > len(runs[second]) == 1
    assert new in runs[second][0].sources


def test_nothing_new_means_nothing_decided(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, LIFE, kind=None)
    learned(memory, STAGE)
    assert learned(memory, STAGE).decided == ()


def test_what_left_leaves_tree_map_and_profile(memory: Engram, clock: FakeClock) -> None:
    ids = told(memory, clock, LIFE, kind=None)
    learned(memory, STAGE)
    memory.forget(ids[0])
    learned(memory, STAGE)
    assert ids[0] not in {id_ for one in sketches(memory, "branch") for id_ in one.sources}
    assert ids[0] not in {one["memory"] for one in only(memory, "profile").body["lines"]}
    assert sum(one["memories"] for one in only(memory, "map").body["domains"]) == len(ids) - 1


def test_erasing_takes_the_words_out_of_every_sketch(memory: Engram, clock: FakeClock, file: Path) -> None:
    ids = told(memory, clock, [*LIFE, "I prefer xylophonequartz in the database"], kind=None)
    learned(memory, "knowledge", STAGE)
    memory.erase(ids[-1])
    learned(memory, "knowledge", STAGE)
    assert len(only(memory, "tree").body["domains"]) > 0
    memory.close()
    assert not words_in(file, "xylophonequartz")


def test_what_is_secret_is_in_no_sketch(memory: Engram, clock: FakeClock) -> None:
    told(memory, clock, ["I prefer the blue zeppelin"], kind=None, tier=Tier.SENSITIVE)
    learned(memory, "knowledge", STAGE)
    for kind in ("profile", "branch", "tree", "map", "identity", "card", "box", "topics"):
        assert sketches(memory, kind) == []


def test_the_map_knows_little_of_what_is_old_or_in_doubt(memory: Engram, clock: FakeClock) -> None:
    ids = told(memory, clock, LIFE[3:7], kind=None)
    learned(memory, STAGE)
    fresh = only(memory, "map").body["coverage"]
    clock.advance(days=180)
    learned(memory, STAGE)
    old = only(memory, "map").body["coverage"]
    memory.set_status(ids[0], "challenged")
    learned(memory, STAGE)
    doubted = only(memory, "map").body["coverage"]
    assert fresh > old > doubted > 0
    assert old == pytest.approx(fresh / 2, rel=0.05)


def test_guidelines_wait_for_cases_and_then_say_what_is_worth_keeping(
    memory: Engram, clock: FakeClock
) -> None:
    told(memory, clock, [f"The {word} arrived at the harbour" for word in ("ship", "boat", "raft", "tug")])
    learned(memory, STAGE)
    assert [one.body["categories"] for one in sketches(memory, "guidelines")] in ([], [[]])
    told(memory, clock, ["The ferry arrived at the harbour", "The canoe arrived at the harbour"])
    for word in ("ship", "boat", "raft", "tug", "ferry"):
        memory.recall(f"Which {word} arrived at the harbour?", limit=1)
    memory.settle()
    learned(memory, STAGE)
    (one,) = only(memory, "guidelines").body["categories"]
    assert (one["category"], one["advice"]) == ("general", "whole")


def test_a_rule_whose_decisions_are_taken_back_is_told_to_hold_back(memory: Engram, clock: FakeClock) -> None:
    for line in (
        "Deployed the billing service to {}, the migration failed",
        "Watered the roses and the tulips in {} before breakfast",
        "Anna missed the early train to {} because of the rain",
        "The orchestra played the violin concerto in {} to a full house",
        "Bought fresh bread and garlic in {} for the soup",
    ):
        told(memory, clock, [line.format(city) for city in ("Rome", "Oslo", "Lima")])
    first = learned(memory)
    assert rules(first)["pattern.found"] == 5
    memory.undo(first.run.id)
    learned(memory, STAGE)
    clock.advance(days=2)
    learned(memory, STAGE)
    (one,) = [rule for rule in only(memory, "guidelines").body["rules"] if rule["rule"] == "pattern.found"]
    assert (one["done"], one["taken_back"], one["advice"]) == (5, 5, "hold_back")
    told(
        memory,
        clock,
        [f"Walked the dog along the canal in {city} at dawn" for city in ("Kyiv", "Bern", "Faro")],
    )
    held = learned(memory)
    assert "pattern.found" not in rules(held)
    kept_back = [one for one in held.decided if one.rule == "pattern.found"]
    assert all("held back" in one.why for one in kept_back)
    assert kept_back


@pytest.mark.slow
def test_a_run_cut_off_anywhere_ends_as_if_it_were_not(tmp_path: Path) -> None:
    clock = FakeClock(START)
    with Engram.open(tmp_path / "start.db", clock=clock, embedder=HashEmbedder()) as memory:
        failed = [f"Deployed the billing service to host {n}, it failed" for n in "abcd"]
        told(memory, clock, [*LIFE, *failed, "Anna works at Siemens", "Siemens is located in Munich"])
    whole = _after_cuts(tmp_path, clock, None)
    assert {"card", "tree", "map", "box", "schema"} & {one[0] for one in whole}
    for cut in (1, 2, 3):
        assert _after_cuts(tmp_path, clock, cut) == whole


def _after_cuts(folder: Path, clock: FakeClock, cut: int | None) -> list[tuple[object, ...]]:
    """Everything that was worked out, when the run was stopped after every few batches."""
    file = folder / f"{cut}.db"
    shutil.copy(folder / "start.db", file)
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        tools = memory.maintenance._caller.tools  # noqa: SLF001 - a run is cut off where no caller can
        steps = [one for one in CONSOLIDATION if one.stage in {"knowledge", STAGE}]
        state = RunState.RUNNING
        while state is RunState.RUNNING:
            run = begin_run(tools.store, RunKind.CONSOLIDATE, tools.clock, "human")
            count = iter(range(1, 10_000))
            stopping = partial(lambda count: cut is not None and next(count) >= cut, count)
            state = run_steps(StepContext(tools, run, stopping=stopping), steps).state
        kinds = ("schema", "card", "box", "shelf", "trace", "topics", "profile", "branch", "tree", "map")
        every = [one for kind in kinds for one in sketches(memory, kind)]
        found = [(one.kind, one.key, one.body, one.sources) for one in every]
        return [*found, *((one.id, one.content, one.kind) for one in memory.list(limit=100))]
