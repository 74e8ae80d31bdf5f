"""Cut off after any batch, a run of doubt and publishing ends as if nobody had disturbed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.capture import Draft
from engram.model.maintenance import RunState
from engram.model.memory import Layer
from engram.testing import FakeClock
from tests.maintain.story import START, opened, told, use

STAGES = ["doubt", "publish"]
State = tuple[Any, ...]


def begun(clock: FakeClock, project: Path) -> Engram:
    """Some of everything that these stages look at."""
    settings: dict[str, Any] = {"maintain__slice": 2, "doubt__directory": str(project)}
    memory = opened(clock, **settings)
    for thing in ("office", "museum", "library"):
        told(memory, f"The {thing} is open on Sundays", kind="semantic", type="fact", layer=Layer.CORE)
    used = told(memory, "Bob plays chess on Mondays", kind="semantic", type="fact")
    use(memory, used, 6)
    for words in ("Sessions are kept in src/session.py", "The auth code lives in src/auth.py"):
        told(memory, words, kind="semantic", type="fact")
    for words in ("We met Carla at the lake", "I saw Carla on the bus", "Lunch with Carla was late"):
        told(memory, words)
    memory.commitments.open("I'll call the plumber")
    clock.advance(days=40)
    drafts = [
        Draft(words, speaker="Ann", session="talk", source="session")
        for words in ("The office is not open on Sundays", "The library is open on Sundays")
    ]
    memory.remember_many(drafts)
    clock.advance(days=60)
    return memory


def state(memory: Engram) -> State:
    memories = sorted((one.content, one.status, one.lifecycle, one.usage.confirmed) for one in memory.list())
    gaps = sorted((one.kind, one.question) for one in memory.gaps.list())
    return memories, gaps, sorted(memory.knowledge.core().lines), len(memory.conflicts.list())


def carried(memory: Engram, every: int) -> int:
    """Go on until the run is done, cutting it off after so many batches each time; how often it was cut."""
    for cuts in range(100):
        count = iter(range(1, 1_000))
        done = memory.maintenance.consolidate(stages=STAGES, stopping=lambda: next(count) >= every)  # noqa: B023
        if done.run.state is RunState.DONE:
            return cuts
    pytest.fail("it does not come to an end")


@pytest.mark.parametrize("every", [1, 2, 3])
def test_a_run_that_is_cut_off_ends_like_one_that_is_not(
    tmp_path: Path, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engram.maintain.gaps.NAMED_BY", 3)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "auth.py").write_text("def login(): ...", encoding="utf-8")
    with begun(FakeClock(START), tmp_path) as whole, begun(FakeClock(START), tmp_path) as cut:
        whole.consolidate(stages=STAGES)
        assert carried(cut, every) >= 1
        assert state(cut) == state(whole)
        assert {"stale", "due", "unknown", "conflict"} == {one.kind for one in cut.gaps.list()}
        assert cut.consolidate(stages=STAGES).decided == ()
        assert whole.consolidate(stages=STAGES).decided == ()
