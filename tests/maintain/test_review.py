"""Review by rules: the gate and its three refusals, triage, reconciling, contradictions, session notes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram
from engram.model.facts import EdgeType
from engram.model.memory import Layer, Status
from engram.model.scope import Scope
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, overheard, rules, told, use

STAGE = ["review"]
WORKING = {"layer": Layer.WORKING, "apart": True}
WEAK = {"layer": Layer.WORKING, "importance": 0.6, "category": "moment", "source": "session"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock, meaning=True) as one:
        yield one


# ---------------------------------------------------------------- the gate


def test_the_gate_lets_in_what_would_help_somebody_who_knows_nothing_else(
    memory: Engram, clock: FakeClock
) -> None:
    one = told(
        memory, "Never deploy to production on a Friday", category="constraint", importance=0.9, **WORKING
    )
    use(memory, one, 3)
    clock.advance(hours=1)
    report = memory.consolidate(stages=STAGE)
    assert rules(report)[one] == "gate.approve"
    assert now(memory, one).layer is Layer.CORE
    assert "Friday" not in report.decided[0].why


@pytest.mark.parametrize(
    ("importance", "uses", "days", "asks"),
    [
        (0.6, 3, 0.1, True),
        (0.59, 3, 0.1, False),
        (0.9, 2, 0.1, False),
        (0.9, 1, 7.1, True),
        (0.9, 1, 7.0, False),
        (0.9, 0, 8.0, False),
    ],
)
def test_who_may_ask(
    memory: Engram, clock: FakeClock, importance: float, uses: int, days: float, asks: bool
) -> None:
    one = told(memory, "it was ok there", **{**WEAK, "importance": importance, "category": "decision"})
    clock.advance(days=days)
    use(memory, one, uses, clock.now())
    clock.advance(minutes=1 if days < 1 else 0)
    assert (one in rules(memory.consolidate(stages=STAGE))) is asks


def test_refusals_come_after_a_day_after_three_days_and_then_never_again(
    memory: Engram, clock: FakeClock
) -> None:
    one = told(memory, "it was ok there", **WEAK)

    def refused() -> bool:
        use(memory, one, 3, clock.now())
        clock.advance(seconds=1)
        return rules(memory.consolidate(stages=STAGE)).get(one) == "gate.reject"

    seen = []
    for hours in range(0, 24 * 15, 12):
        if refused():
            seen.append(hours)
        clock.advance(hours=12, seconds=-1)
    assert len(seen) == 3
    first, second, third = seen
    assert second - first in (24, 36)
    assert third - second in (72, 84)
    last = memory.maintenance._caller.tools.store.upkeep.judged("gate", [one])[one]  # noqa: SLF001
    assert (last.times, last.again_at) == (3, None)
    assert now(memory, one).layer is Layer.WORKING


def test_what_was_refused_for_good_and_nobody_worded_falls_back(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "it was ok there", **{**WEAK, "importance": 0.65})
    clock.advance(days=8)
    for used, wait in ((True, 1), (False, 3), (True, 1)):
        use(memory, one, int(used), clock.now())
        clock.advance(seconds=1)
        assert rules(memory.consolidate(stages=STAGE))[one] == "gate.reject"
        clock.advance(days=wait)
    assert rules(memory.consolidate(stages=["housekeeping"])) == {one: "working.rejected"}
    assert now(memory, one).layer is Layer.BUFFER
    clock.advance(seconds=1)
    memory.consolidate(stages=["promotion"])
    assert now(memory, one).status is Status.ARCHIVED


def test_what_was_refused_but_is_much_used_stays(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "it was ok there", **WEAK)
    for _ in range(3):
        use(memory, one, 3, clock.now())
        clock.advance(seconds=1)
        memory.consolidate(stages=STAGE)
        clock.advance(days=4)
    assert now(memory, one).layer is Layer.WORKING
    # The buffer would send it back at once.
    memory.consolidate(stages=["housekeeping"])
    assert now(memory, one).layer is Layer.WORKING


def test_other_words_may_ask_anew(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "it was ok there", **WEAK)
    use(memory, one, 3, clock.now())
    clock.advance(seconds=1)
    assert rules(memory.consolidate(stages=STAGE))[one] == "gate.reject"
    memory.update(
        one, content="Never deploy to production on a Friday", category="constraint", importance=0.9
    )
    use(memory, one, 3, clock.now())
    clock.advance(seconds=1)
    assert rules(memory.consolidate(stages=STAGE))[one] == "gate.approve"


# ---------------------------------------------------------------- triage


@pytest.mark.parametrize(("minutes", "layer"), [(9, Layer.BUFFER), (10, Layer.WORKING)])
def test_triage_looks_at_what_is_ten_minutes_old(
    memory: Engram, clock: FakeClock, minutes: int, layer: Layer
) -> None:
    one = overheard(memory, "We decided to move the Berlin office to Hamburg in May", category="decision")
    clock.advance(minutes=minutes)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).layer is layer


def test_small_talk_is_left_and_looked_at_once(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "it was ok there", importance=0.3, category="general")
    clock.advance(minutes=30)
    memory.consolidate(stages=STAGE)
    known = memory.maintenance._caller.tools.store.upkeep.judged("triage", [one])  # noqa: SLF001
    assert known[one].verdict == "keep@1"
    clock.advance(minutes=30)
    memory.consolidate(stages=STAGE)
    assert memory.maintenance._caller.tools.store.upkeep.judged("triage", [one]) == known  # noqa: SLF001


# ---------------------------------------------------------------- reconciling and contradictions


def test_a_later_fact_updates_an_earlier_one(memory: Engram, clock: FakeClock) -> None:
    old = told(memory, "Anna lives in Rome", **WORKING)
    clock.advance(hours=2)
    new = told(memory, "Anna lives in Berlin", **WORKING)
    clock.advance(hours=2)
    report = memory.consolidate(stages=STAGE)
    assert rules(report)[old] in {"reconcile.update", "contradiction.replace"}
    assert now(memory, old).status is Status.SUPERSEDED
    assert now(memory, new).status is Status.ACTIVE
    assert EdgeType.SUPERSEDES in {edge.type for edge in memory.relations(new)}


def test_what_is_protected_is_shown_as_a_conflict_and_stays(memory: Engram, clock: FakeClock) -> None:
    old = told(memory, "Anna lives in Rome", pinned=True, **WORKING)
    clock.advance(hours=2)
    told(memory, "Anna lives in Berlin", **WORKING)
    clock.advance(hours=2)
    memory.consolidate(stages=STAGE)
    assert now(memory, old).status is Status.ACTIVE
    assert len(memory.conflicts.list()) == 1
    clock.advance(hours=2)
    assert memory.consolidate(stages=STAGE).changes == 0


def test_turns_of_a_conversation_and_other_scopes_are_never_superseded(
    memory: Engram, clock: FakeClock
) -> None:
    said = told(memory, "I live in Rome", speaker="Anna", **WORKING)
    there = told(memory, "Bob lives in Rome", scope=Scope(project="apollo"), **WORKING)
    clock.advance(hours=2)
    told(memory, "I live in Berlin", speaker="Anna", **WORKING)
    told(memory, "Bob lives in Berlin", **WORKING)
    clock.advance(hours=2)
    memory.consolidate(stages=STAGE)
    assert now(memory, said).status is now(memory, there).status is Status.ACTIVE


def test_what_is_true_side_by_side_stays(memory: Engram, clock: FakeClock) -> None:
    first = told(memory, "Anna likes hiking in the Alps", **WORKING)
    clock.advance(hours=2)
    second = told(memory, "Anna likes sailing on the lake", **WORKING)
    clock.advance(hours=2)
    memory.consolidate(stages=["review", "merge"])
    assert now(memory, first).status is now(memory, second).status is Status.ACTIVE


# ---------------------------------------------------------------- session notes


def notes(memory: Engram, clock: FakeClock, count: int, **more: object) -> list[str]:
    made = []
    for number in range(count):
        made.append(
            told(memory, f"The part {number} of the import works.", tags=("session",), apart=True, **more)
        )
        clock.advance(minutes=5)
    return made


def test_three_session_notes_become_one_short_memory_of_how_things_stand(
    memory: Engram, clock: FakeClock
) -> None:
    ids = notes(memory, clock, 12)
    report = memory.consolidate(stages=STAGE)
    made = next(line.memory for line in report.decided if line.rule == "distill")
    one = now(memory, made)
    assert len(one.content) <= 250
    assert one.content.endswith("The part 11 of the import works.")
    assert "part 0" not in one.content
    assert (one.layer, one.tags) == (Layer.WORKING, ("project-status", "auto-distilled"))
    assert all("distilled" in now(memory, each).tags for each in ids)
    sources = {edge.target for edge in memory.relations(made) if edge.type is EdgeType.DERIVED_FROM}
    assert sources == set(ids[-10:])
    clock.advance(hours=1)
    assert "distill" not in rules(memory.consolidate(stages=STAGE)).values()


def test_two_notes_wait_for_a_third_of_their_own_scope(memory: Engram, clock: FakeClock) -> None:
    notes(memory, clock, 2)
    notes(memory, clock, 2, scope=Scope(project="apollo"))
    assert "distill" not in rules(memory.consolidate(stages=STAGE)).values()


# ---------------------------------------------------------------- the buffer


def test_what_was_noted_twice_is_one_note(memory: Engram, clock: FakeClock) -> None:
    for _ in range(2):
        overheard(memory, "it was ok there", importance=0.3, category="general", apart=True)
    clock.advance(minutes=5)
    assert list(rules(memory.consolidate(stages=STAGE)).values()) == ["dedup.pair"]
