"""A run of maintenance: steps come in, in their order; each looks and decides, and that is carried out.

    begin or go on → for each step: look → decide → carry out, slice by slice → end

Every slice and the place to go on from are written in one unit of work: a process that dies in between loses
nothing and does nothing twice. Between slices the writer is free, and whoever waits for it goes first.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock

from engram import plugins
from engram.maintain import doubt, dreaming, knowledge, layers, merge, publish, review, self_knowledge
from engram.maintain.apply import apply_decisions
from engram.maintain.pairs import forget_nearest
from engram.maintain.step import PURGE, Batch, Step, StepContext
from engram.model.clock import Clock, check_cancelled
from engram.model.maintenance import Run, RunKind, RunState
from engram.ports import Store, Unit

# ---------------------------------------------------------------- order
# The steps of a consolidation, stage by stage, in the order in which they run; and those of a dream.

CONSOLIDATION: tuple[Step, ...] = (
    *layers.STEPS,
    *review.STEPS,
    *merge.STEPS,
    *knowledge.STEPS,
    *doubt.STEPS,
    *self_knowledge.STEPS,
    *layers.FORGETTING,
    *publish.STEPS,
)
DREAM: tuple[Step, ...] = dreaming.STEPS


def consolidation() -> tuple[Step, ...]:
    """The steps of a consolidation, with those of installed extensions at the end of the stage they name."""
    steps = list(CONSOLIDATION)
    for _, step in plugins.installed("steps"):
        same_stage = (index for index, other in enumerate(steps) if other.stage == step.stage)
        last = max(same_stage, default=len(steps))
        steps.insert(last + 1, step)
    return tuple(steps)


ACTOR = "engine"
LAST_RUNS = 100
"""Runs that are looked at for the number of the next one."""
PATIENCE_S = 0.25
"""How long a run waits at most, before each slice, for writers that are in a hurry."""


def begin_run(store: Store, kind: RunKind, clock: Clock, actor: str) -> Run:
    """The run that was cut off, or a new one."""
    cut_off = store.upkeep.runs(1, kind, RunState.RUNNING)
    if cut_off:
        return cut_off[0]
    now = clock.now()
    run = Run(_next_id(store, now), kind, now, actor)
    store.write(lambda unit: unit.upkeep.note(run), ACTOR)
    return run


class Background:
    """During a run the cyclic garbage collector runs seldom, and threads switch often.

    Passes make many objects and no circles: looking for them takes a tenth of a run otherwise. Who asks
    something meanwhile would wait ten times as long for each turn. Any number of runs of a process may go on
    at once.
    """

    def __init__(self, young: int, turn_s: float) -> None:
        self._young, self._turn_s = young, turn_s
        self._lock = Lock()
        self._runs = 0
        self._usual = gc.get_threshold(), sys.getswitchinterval()

    def __enter__(self) -> None:
        with self._lock:
            if not self._runs:
                (first, *older), turn_s = self._usual = gc.get_threshold(), sys.getswitchinterval()
                if first:  # else nobody wants it at all
                    gc.set_threshold(max(self._young, first), *older)
                sys.setswitchinterval(min(self._turn_s, turn_s))
            self._runs += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._runs -= 1
            if not self._runs:
                gc.set_threshold(*self._usual[0])
                sys.setswitchinterval(self._usual[1])


BACKGROUND = Background(young=10_000, turn_s=0.0005)


def run_steps(context: StepContext, steps: Sequence[Step]) -> Run:
    """Carry the run on to its end, or until somebody wants it to pause. The run as it stands then."""
    with BACKGROUND:
        try:
            return _run_steps(context, steps)
        finally:
            forget_nearest(context)


def _run_steps(context: StepContext, steps: Sequence[Step]) -> Run:
    run, store = context.run, context.tools.store
    names = [step.name for step in steps]
    first = names.index(run.step) if run.step in names else 0
    pausing = False
    for step in steps[first:]:
        cursor = run.cursor if step.name == run.step else ""
        context.progress(step.name, cursor)
        run = replace(run, step=step.name, cursor=cursor)  # written with the first thing it does
        if pausing:
            return _write_run(run, store)
        for batch in step.plan(replace(context, run=run), cursor):
            if pausing:  # only now is it clear that the step has more to do: its end is never repeated
                return run
            check_cancelled()
            _make_way(context)
            run = _apply_batch(batch, step, replace(context, run=run))
            pausing = context.stopping()
    if any(tally.rule == PURGE for tally in store.upkeep.tallies(context.run.id)):
        store.leave_nothing(compact=True)  # what it erased leaves the file once, not memory by memory
    ended = context.tools.clock.now()
    return _write_run(replace(run, state=RunState.DONE, finished_at=ended, step="", cursor=""), store)


def _apply_batch(batch: Batch, step: Step, context: StepContext) -> Run:
    run = replace(context.run, cursor=batch.cursor)

    def work(unit: Unit) -> None:
        lines = apply_decisions(unit, batch.decisions, step.name, context)
        unit.upkeep.decided(run.id, lines)
        unit.upkeep.note(run)

    context.tools.store.write(work, ACTOR)
    context.progress(step.name, batch.cursor)
    return run


def _write_run(run: Run, store: Store) -> Run:
    store.write(lambda unit: unit.upkeep.note(run), ACTOR)
    return run


def _make_way(context: StepContext) -> None:
    """Let writers that wait go first, for a while."""
    if context.tools.store.writes_waiting:
        until = context.tools.clock.monotonic() + PATIENCE_S
        while context.tools.store.writes_waiting and context.tools.clock.monotonic() < until:
            context.tools.store.flush()


def _next_id(store: Store, now: datetime) -> str:
    """The next number of the day; compared as a number, for a day may have more than 999 runs."""
    day = f"RUN-{now:%Y%m%d}-"
    numbers = (run.id.removeprefix(day) for run in store.upkeep.runs(LAST_RUNS) if run.id.startswith(day))
    number = max(map(int, numbers), default=0) + 1
    while store.upkeep.run(f"{day}{number:03d}") is not None:
        number += 1
    return f"{day}{number:03d}"
