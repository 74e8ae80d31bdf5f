"""A run: what steps decide is carried out in slices, reported, resumed after a cut, tried dry, undone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from engram import Engram
from engram.errors import AccessDenied, NotUndoable, UnknownRun, UnknownValue, UpkeepBusy
from engram.maintain.pipeline import _write_run, begin_run, run_steps
from engram.maintain.step import Batch, Decision, Draw, Step, StepContext, becomes
from engram.model.capture import Draft
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Carried, RunKind, RunState
from engram.model.memory import Filters, Layer, Status
from engram.model.scope import Access, Role
from engram.testing import FakeClock, HashEmbedder

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engram]:
    clock = FakeClock(START)
    with Engram.open(":memory:", clock=clock, embedder=HashEmbedder(), config={"maintain.slice": 2}) as one:
        yield one


def lift(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Every memory of the buffer moves up."""
    for part in context.memories(Filters(layers=frozenset({Layer.BUFFER})), int(cursor or 0)):
        decisions = [
            Decision("test.lift", "it is there", (becomes(one, layer=Layer.WORKING),), one.id)
            for _, one in part
        ]
        yield Batch(tuple(decisions), str(part[-1][0]))


def notice(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """A memory about all memories, linked to each."""
    found = [one for part in context.memories(Filters()) for _, one in part if not one.tags]
    if not found:
        return
    ids = [one.id for one in found]
    draft = Draft("There is a garden to be seen to", tags=("noticed",), source="engine", scope=found[0].scope)
    add = context.new(draft, "test.notice", *ids)
    edges = tuple(Draw(Edge(add.memory.id, one, EdgeType.DERIVED_FROM)) for one in ids)
    yield Batch((Decision("test.notice", f"{len(ids)} memories", (add, *edges), add.memory.id),))


STEPS = (Step("test", "lift", lift), Step("test", "notice", notice))


def fill(memory: Engram, count: int = 5) -> list[str]:
    said = (
        "the roses need water",
        "the gate squeaks",
        "the hedge is high",
        "the pond froze",
        "the shed leaks",
    )
    drafts = [Draft(words, source="agent", layer=Layer.BUFFER) for words in said[:count]]
    return [one.memory.id for one in memory.remember_many(drafts)]  # type: ignore[union-attr]


def carried(memory: Engram, stopping: int | None = None) -> StepContext:
    """Run both steps; stop after so many slices."""
    tools = memory.maintenance._caller.tools  # noqa: SLF001 - the steps of this test are no steps of the engine
    run = begin_run(tools.store, RunKind.CONSOLIDATE, tools.clock, "human")
    count = iter(range(100))
    context = StepContext(
        tools,
        run,
        stopping=lambda: stopping is not None and next(count) + 1 >= stopping,
    )
    return replace(context, run=run_steps(context, STEPS))


def test_what_is_decided_is_carried_out_and_reported_with_its_reason(memory: Engram) -> None:
    ids = fill(memory)
    run = carried(memory).run
    assert run.state is RunState.DONE
    assert all(one.layer is Layer.WORKING for one in memory.list() if one.id in ids)
    report = memory.maintenance.report(run.id)
    assert [(tally.rule, tally.count) for tally in report.tallies] == [("test.lift", 5), ("test.notice", 1)]
    assert report.decided[0].why == "it is there"
    event = memory.events(ids[0])[0]
    assert (event.run, event.rule, event.actor) == (run.id, "test.lift", "engine")
    assert (event.before["layer"], event.after["layer"]) == ("buffer", "working")


def test_a_run_that_was_cut_off_goes_on_with_its_own_time(memory: Engram) -> None:
    fill(memory)
    first = carried(memory, stopping=2).run
    assert (first.state, first.step, first.cursor) == (RunState.RUNNING, "lift", "4")
    clock = memory.maintenance._caller.tools.clock  # noqa: SLF001
    assert isinstance(clock, FakeClock)
    clock.advance(days=3)
    last = carried(memory).run
    assert (last.id, last.started_at, last.state) == (first.id, START, RunState.DONE)
    assert memory.maintenance.report(last.id).changes == 6


def test_a_run_is_taken_back_as_a_whole_and_not_done_again(memory: Engram) -> None:
    ids = fill(memory)
    run = carried(memory).run
    made = next(one.id for one in memory.list() if one.tags)
    undone = memory.undo(run.id)
    assert (undone.restored, undone.left) == (6, ())
    assert all(memory.get(one).layer is Layer.BUFFER for one in ids)  # type: ignore[union-attr]
    assert memory.get(made).status is Status.ARCHIVED  # type: ignore[union-attr]
    assert memory.relations(ids[0]) == []
    again = memory.maintenance.report(carried(memory).run.id)
    assert {line.outcome for line in again.decided} == {Carried.LEFT}
    with pytest.raises(NotUndoable):
        memory.undo(run.id)


def test_what_a_person_changed_since_stays(memory: Engram) -> None:
    ids = fill(memory)
    run = carried(memory).run
    memory.forget(ids[0])
    memory.update(ids[1], content="the gate was oiled")
    undone = memory.undo(run.id)
    assert memory.get(ids[0]).status is Status.ARCHIVED  # type: ignore[union-attr]
    assert memory.get(ids[1]).content == "the gate was oiled"  # type: ignore[union-attr]
    assert undone.restored == 6


def test_a_decision_about_what_changed_meanwhile_is_left(memory: Engram) -> None:
    ids = fill(memory, 1)
    context = carried(memory)
    seen = memory.get(ids[0])
    assert seen is not None
    memory.update(ids[0], content="the roses were watered")

    def late(_context: StepContext, _cursor: str) -> Iterator[Batch]:
        yield Batch((Decision("test.late", "too late", (becomes(seen, layer=Layer.CORE),), seen.id),))

    tools = context.tools
    run = begin_run(tools.store, RunKind.CONSOLIDATE, tools.clock, "human")
    done = run_steps(replace(context, run=run), [Step("test", "late", late)])
    assert memory.maintenance.report(done.id).decided[0].outcome is Carried.LEFT
    assert memory.get(ids[0]).layer is Layer.WORKING  # type: ignore[union-attr]


def test_a_dry_run_reports_the_same_and_changes_nothing(memory: Engram) -> None:
    fill(memory)
    before = list(memory.export())
    dry = memory.consolidate(dry=True)
    assert (dry.dry, list(memory.export()), memory.maintenance.runs()) == (True, before, [])
    real = memory.consolidate()
    assert real.tallies == dry.tallies
    assert [(x.rule, x.memory, x.why) for x in real.decided] == [
        (x.rule, x.memory, x.why) for x in dry.decided
    ]


def test_only_one_maintains_a_file_at_a_time(memory: Engram) -> None:
    with memory.maintenance._caller.tools.store.lease("upkeep"), pytest.raises(UpkeepBusy):  # noqa: SLF001
        memory.consolidate()
    assert memory.consolidate().run.state is RunState.DONE


def test_bad_wishes_are_refused_with_a_reason(memory: Engram) -> None:
    with pytest.raises(UnknownRun):
        memory.undo("RUN-20260101-001")
    with pytest.raises(UnknownValue):
        memory.consolidate(stages=["nonsense"])
    with pytest.raises(AccessDenied):
        memory.seen_by(Access(role=Role.AGENT), "rex").consolidate()
    agent = memory.seen_by(Access(role=Role.AGENT), "rex")
    for asked in (agent.maintenance.runs, lambda: agent.maintenance.report("RUN-20260101-001")):
        with pytest.raises(AccessDenied):
            asked()


@pytest.mark.slow
def test_a_day_may_have_more_than_a_thousand_runs(memory: Engram) -> None:
    store, clock = memory.maintenance._caller.tools.store, memory.maintenance._caller.tools.clock  # noqa: SLF001
    ids = []
    for _ in range(1_003):
        run = begin_run(store, RunKind.CONSOLIDATE, clock, "human")
        _write_run(replace(run, state=RunState.DONE, finished_at=clock.now()), store)
        ids.append(run.id)

    assert len(set(ids)) == len(ids)
    assert ids[-1] == "RUN-20260301-1003"
    assert [run.id for run in memory.maintenance.runs(2)] == ids[:-3:-1]
