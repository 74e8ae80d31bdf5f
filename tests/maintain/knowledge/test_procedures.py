"""Procedures: what was done in one order again and again is known, with how often it worked."""

from __future__ import annotations

from collections.abc import Sequence

from engram import Engram
from engram.model.facts import EdgeType
from engram.model.memory import Kind, Status
from engram.testing import FakeClock
from tests.maintain.knowledge.stories import learned, rules, tagged

STEPS = ("build the image", "run the tests", "push to the registry")


def deploy(
    memory: Engram, clock: FakeClock, outcome: str, result: str, steps: Sequence[str] = STEPS
) -> list[str]:
    report = memory.sources.flow("deploy", steps=list(steps), result=result, outcome=outcome)
    clock.advance(days=1)
    return [one for item in report.items for one in item.memories]


def test_a_flow_that_ran_three_times_is_a_procedure_with_counts(memory: Engram, clock: FakeClock) -> None:
    deploy(memory, clock, "success", "version 1.4 is out")
    deploy(memory, clock, "failure", "the registry refused the password")
    assert tagged(memory, "procedure") == []
    deploy(memory, clock, "success", "version 1.5 is out after a retry")
    assert rules(learned(memory))["procedure.learned"] == 1
    (procedure,) = tagged(memory, "procedure")
    assert procedure.kind is Kind.PROCEDURAL
    assert procedure.content.startswith("How deploy is done: 1. build the image; 2. run the tests")
    told = procedure.details["procedure"]
    assert (told["succeeded"], told["failed"], told["partial"]) == (2, 1, 0)
    assert len([edge for edge in memory.relations(procedure.id) if edge.type is EdgeType.DERIVED_FROM]) == 3
    assert learned(memory).decided == ()


def test_further_runs_are_counted_on_the_same_procedure(memory: Engram, clock: FakeClock) -> None:
    for number in range(3):
        deploy(memory, clock, "success", f"version 1.{number} is out in cluster {number}")
    learned(memory)
    before = tagged(memory, "procedure")[0]
    deploy(memory, clock, "failure", "the registry refused the password")
    assert rules(learned(memory)) == {"procedure.counted": 1}
    (procedure,) = tagged(memory, "procedure")
    assert procedure.details["procedure"]["failed"] == 1
    assert procedure.confidence < before.confidence
    assert learned(memory).decided == ()


def test_tasks_that_follow_on_one_another_in_several_sessions_are_one(
    memory: Engram, clock: FakeClock
) -> None:
    for day in range(3):
        for task in ("read the logs", "restart the worker"):
            memory.sources.task(
                task, f"done on day {day} for host h{day}", outcome="success", details={"host": f"h{day}"}
            )
            clock.advance(minutes=10)
        clock.advance(days=1)
    learned(memory)
    (procedure,) = tagged(memory, "procedure")
    assert procedure.details["procedure"]["steps"] == ["read the logs", "restart the worker"]


def test_a_procedure_nobody_tells_of_any_longer_goes(memory: Engram, clock: FakeClock) -> None:
    told = [
        one
        for number in range(3)
        for one in deploy(memory, clock, "success", f"version 1.{number} is out in cluster {number}")
    ]
    learned(memory)
    (procedure,) = tagged(memory, "procedure")
    memory.forget(told[0])
    memory.forget(told[1])
    memory.forget(told[2])
    assert rules(learned(memory)) == {"procedure.unlearned": 1}
    assert memory.get(procedure.id).status is Status.ARCHIVED  # type: ignore[union-attr]
    for one in told:
        memory.erase(one)
    assert rules(learned(memory)) == {"procedure.erased": 1}
    assert memory.get(procedure.id) is None
