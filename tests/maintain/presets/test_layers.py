"""The life of memories under the preset `layers`: buffer, working layer, core, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.memory import Kind, Layer, Policy, Status
from engram.testing import FakeClock
from tests.maintain.presets.lives import bytes_of, decided, fields, later, living
from tests.maintain.story import START, now, overheard, rules

VAGUE: dict[str, Any] = {"category": "moment", "kind": Kind.SEMANTIC}
"""Of little worth and not understood alone: triage keeps it waiting, the gate refuses it."""
MINUTE = 1 / 60


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with living("layers", clock) as one:
        yield one


def test_the_life_of_a_memory_from_the_buffer_to_the_last_byte(tmp_path: Path, clock: FakeClock) -> None:
    with living("layers", clock, tmp_path / "one.engram") as memory:
        port = "the marzipan server listens on port 8443"
        one = overheard(memory, port, category="moment", kind=Kind.EPISODIC, importance=0.65)

        # It is heard and waits; being said again counts two and a half times as much as a use.
        assert now(memory, one).layer is Layer.BUFFER
        overheard(memory, port)
        later(memory, clock, one, minutes=5)
        assert now(memory, one).layer is Layer.BUFFER  # 2.5 < 5
        overheard(memory, port)
        assert later(memory, clock, one, minutes=1) == ["promote.buffer-reinforced"]
        assert now(memory, one).layer is Layer.WORKING

        # It asks for the core and is let in: it stands alone and has proved itself.
        assert later(memory, clock, one, minutes=1) == ["gate.approve"]
        assert now(memory, one).layer is Layer.CORE
        assert fields(memory, one, "layer") == ["working", "core"]

        # Nobody asks for it. A dream holds it better for a while.
        clock.advance(days=20)
        assert decided(memory.dream(), one) == ["dream.replay"]
        assert now(memory, one).strength == pytest.approx(1.2)

        # What is in the core stays, whether or not anybody asks for it.
        assert later(memory, clock, one, days=600) == []
        assert now(memory, one).status is Status.ACTIVE

        # Somebody lets it go after all: ninety days in the archive, then it is erased.
        memory.forget(one)
        later(memory, clock, one, days=90)
        assert now(memory, one).status is Status.ARCHIVED
        assert later(memory, clock, one, minutes=1) == ["archive.purge"]
        assert memory.get(one) is None
    assert b"marzipan" not in bytes_of(tmp_path)


def test_the_gate_refuses_for_a_day_for_three_and_for_good(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "it was fine there in the end", **VAGUE, importance=0.8, layer=Layer.WORKING)

    def asked(hours: float) -> str | None:
        clock.advance(hours=hours)
        memory.touch([one])  # unused, its importance would sink below what the gate wants
        return rules(memory.consolidate(stages=["review"])).get(one)

    for _ in range(3):
        memory.touch([one])
    assert asked(1) == "gate.reject"
    assert asked(24 - MINUTE) is None
    assert asked(MINUTE) == "gate.reject"
    assert asked(72 - MINUTE) is None
    assert asked(MINUTE) == "gate.reject"
    for _ in range(3):
        assert asked(24 * 300) is None
    assert now(memory, one).layer is Layer.WORKING
    whys = [
        line.why for run in memory.maintenance.runs(20) for line in memory.maintenance.report(run.id).decided
    ]
    assert any(why.endswith("rejection 3, asks never again") for why in whys)


def test_what_was_extracted_goes_down_after_its_first_refusal_and_then_out(
    memory: Engram, clock: FakeClock
) -> None:
    one = overheard(
        memory,
        "it was fine there in the end",
        **VAGUE,
        importance=0.65,
        layer=Layer.WORKING,
    )
    clock.advance(days=7, minutes=1)
    memory.touch([one])
    assert decided(memory.consolidate(), one) == ["gate.reject"]
    assert later(memory, clock, one, minutes=1) == ["working.rejected"]
    assert now(memory, one).layer is Layer.BUFFER
    assert later(memory, clock, one, minutes=1) == ["stuck.archive"]
    assert fields(memory, one, "layer") == ["buffer"]


@pytest.mark.parametrize(
    ("said", "used", "layer"), [(1, 2, Layer.BUFFER), (2, 0, Layer.WORKING), (1, 3, Layer.WORKING)]
)
def test_reinforcement_of_five_leaves_the_buffer(
    memory: Engram, clock: FakeClock, said: int, used: int, layer: Layer
) -> None:
    one = overheard(memory, "it was fine there in the end", **VAGUE)
    for _ in range(said):
        overheard(memory, "it was fine there in the end", **VAGUE)
    for _ in range(used):
        memory.touch([one])
    later(memory, clock, one, minutes=5)
    assert now(memory, one).layer is layer


@pytest.mark.parametrize(
    ("hours", "tags", "layer"),
    [
        (2 - MINUTE, ("lesson",), Layer.BUFFER),
        (2, ("lesson",), Layer.WORKING),
        (2 + MINUTE, ("lesson", "distilled"), Layer.BUFFER),
    ],
)
def test_a_lesson_rises_after_two_hours(
    memory: Engram, clock: FakeClock, hours: float, tags: tuple[str, ...], layer: Layer
) -> None:
    one = overheard(memory, "it broke again", **VAGUE, tags=tags)
    clock.advance(hours=hours)
    memory.consolidate(stages=["promotion"])
    assert now(memory, one).layer is layer


@pytest.mark.parametrize(
    ("triaged", "hours", "status"),
    [
        (True, 24, Status.ACTIVE),
        (True, 24 + MINUTE, Status.ARCHIVED),
        (False, 24 + MINUTE, Status.ACTIVE),
        (False, 48, Status.ACTIVE),
        (False, 48 + MINUTE, Status.ARCHIVED),
    ],
)
def test_the_buffer_holds_a_day_and_two_for_what_was_never_looked_at(
    memory: Engram, clock: FakeClock, hours: float, status: Status, *, triaged: bool
) -> None:
    one = overheard(memory, "it was ok there", **VAGUE, importance=0.2, tags=("_triaged",) * triaged)
    clock.advance(hours=hours)
    memory.consolidate(stages=["promotion"])
    assert now(memory, one).status is status


@pytest.mark.parametrize(
    ("importance", "said", "used", "rule"),
    [
        (0.69, 0, 2, "buffer.expire"),
        (0.70, 0, 0, "buffer.rescue"),
        (0.20, 1, 0, "buffer.rescue"),
        (0.20, 0, 3, "buffer.rescue"),
    ],
)
def test_half_the_reinforcement_or_importance_rescues(
    memory: Engram, clock: FakeClock, importance: float, said: int, used: int, rule: str
) -> None:
    one = overheard(memory, "it was ok there", **VAGUE, importance=importance)
    for _ in range(said):
        overheard(memory, "it was ok there", **VAGUE, importance=importance)
    for _ in range(used):
        memory.touch([one])
    clock.advance(hours=48 + MINUTE)
    report = memory.consolidate(stages=["promotion"])
    assert rules(report)[one] == rule
    layer, status = now(memory, one).layer, now(memory, one).status
    assert (layer, status) == (
        (Layer.WORKING, Status.ACTIVE) if rule == "buffer.rescue" else (Layer.BUFFER, Status.ARCHIVED)
    )


@pytest.mark.slow
def test_the_buffer_holds_two_hundred_and_lets_go_of_the_oldest_but_not_of_lessons(
    memory: Engram, clock: FakeClock
) -> None:
    lesson = overheard(memory, "never grind wet corn", **VAGUE, tags=("lesson",))
    first = overheard(memory, "note 0 of the mill", **VAGUE, apart=True)
    notes = (f"note {number} of the mill" for number in range(1, 199))
    for words in notes:
        overheard(memory, words, **VAGUE, apart=True)
    clock.advance(minutes=1)
    assert memory.consolidate(stages=["promotion"]).changes == 0  # 200: not one too many
    overheard(memory, "note 199 of the mill", **VAGUE, apart=True)
    clock.advance(minutes=1)
    assert rules(memory.consolidate(stages=["promotion"])) == {first: "buffer.cap"}
    assert now(memory, lesson).status is Status.ACTIVE


@pytest.mark.parametrize(
    ("used", "days", "importance", "asks"),
    [
        (3, 1, 0.60, True),
        (3, 1, 0.59, False),
        (2, 1, 0.9, False),
        (1, 7, 1.0, False),
        (1, 7 + 1 / 1_440, 1.0, True),
        (0, 8, 1.0, False),
    ],
)
def test_who_may_ask_for_the_core(
    memory: Engram, clock: FakeClock, used: int, days: float, importance: float, *, asks: bool
) -> None:
    one = overheard(memory, "Anna runs the mill", **VAGUE, importance=importance, layer=Layer.WORKING)
    for _ in range(used):
        memory.touch([one])
    clock.advance(days=days)
    assert (one in rules(memory.consolidate(stages=["review"]))) is asks


@pytest.mark.parametrize("barred", [{"tags": ("session",)}, {"policy": Policy.EPHEMERAL}])
def test_notes_of_a_day_never_ask_and_leave_the_core(
    memory: Engram, clock: FakeClock, barred: dict[str, Any]
) -> None:
    below = overheard(memory, "Anna runs the mill", layer=Layer.WORKING, importance=0.9, **barred)
    above = overheard(memory, "Bob owns the quay", layer=Layer.CORE, importance=0.9, **barred)
    for _ in range(9):
        memory.touch([below, above])
    assert later(memory, clock, below, minutes=5) == []
    assert now(memory, above).layer is Layer.WORKING


def test_importance_sinks_by_the_day_but_never_below_its_floor(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "Anna runs the mill", **VAGUE, importance=0.42, layer=Layer.WORKING)
    kept = overheard(memory, "Bob owns the quay", **VAGUE, importance=0.42, layer=Layer.CORE)

    def sunk(hours: float) -> float:
        clock.advance(hours=hours)
        memory.consolidate(stages=["forgetting"])
        return now(memory, one).importance

    assert sunk(23.9) == 0.42
    assert sunk(0.2) == pytest.approx(0.37)
    assert sunk(0.5) == pytest.approx(0.37)  # once a day, however often it is looked at
    assert [sunk(24), sunk(24)] == [pytest.approx(0.32), 0.3]
    assert now(memory, kept).importance == 0.42
    memory.touch([one])
    assert sunk(23.9) == 0.3


@pytest.mark.parametrize(("days", "status"), [(27.3, Status.ACTIVE), (27.5, Status.ARCHIVED)])
def test_beyond_the_buffer_only_what_has_all_but_gone_is_dropped(
    memory: Engram, clock: FakeClock, days: float, status: Status
) -> None:
    told: dict[str, Any] = {"category": "moment", "kind": Kind.EPISODIC, "importance": 0.5}
    one = overheard(memory, "the bus was late", **told, layer=Layer.WORKING)  # 0.5 e^(-27.4 / 7) is 0.01
    lasting = overheard(memory, "buses run on diesel", **told, layer=Layer.CORE)
    clock.advance(days=days)
    memory.consolidate(stages=["forgetting"])
    assert now(memory, one).status is status
    assert now(memory, lasting).status is Status.ACTIVE


@pytest.mark.parametrize("kept", [{"pinned": True}, {"kind": Kind.PROCEDURAL}, {"tags": ("lesson",)}])
def test_lessons_procedures_and_what_is_pinned_outlive_the_buffer(
    memory: Engram, clock: FakeClock, kept: dict[str, Any]
) -> None:
    one = overheard(memory, "it was ok there", **{**VAGUE, **kept}, importance=0.1)
    for _ in range(3):
        later(memory, clock, one, days=30)
    assert now(memory, one).status is Status.ACTIVE
    assert now(memory, one).layer > Layer.BUFFER
