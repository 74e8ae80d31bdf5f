"""What the stories of maintenance share: a memory with a clock moved by hand, and ways to look at it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from engram import Engram
from engram.model.capture import Draft
from engram.model.maintenance import Report
from engram.model.memory import Memory
from engram.ports import Unit
from engram.testing import FakeClock, HashEmbedder

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def opened(clock: FakeClock, *, meaning: bool = False, **settings: Any) -> Engram:
    """A memory of its own; with the embedder that knows meanings where they matter."""
    config = {name.replace("__", "."): value for name, value in settings.items()}
    if meaning:
        return Engram.open(":memory:", clock=clock, config=config)
    return Engram.open(":memory:", clock=clock, embedder=HashEmbedder(), config=config)


def told(memory: Engram, words: str, **more: Any) -> str:
    """Remember what an agent noted; the id."""
    receipts = memory.remember_many([Draft(words, **{"source": "agent", "importance": 0.5, **more})])
    return receipts[0].memory.id  # type: ignore[union-attr]


def overheard(memory: Engram, words: str, **more: Any) -> str:
    """Keep what was taken out of talk: only such a memory can be let go by the buffer. The id."""
    details = {"turns": ["turn"], **more.pop("details", {})}
    return told(memory, words, **{"source": "session", "confidence": 0.8, "details": details, **more})


def now(memory: Engram, memory_id: str) -> Memory:
    """The memory as it is."""
    found = memory.get(memory_id)
    assert found is not None
    return found


def rules(report: Report) -> dict[str, str]:
    """Which rule fired for which memory."""
    return {line.memory: line.rule for line in report.decided}


def use(memory: Engram, memory_id: str, times: int, at: datetime = START) -> None:
    """Count uses without a search."""

    def work(unit: Unit) -> None:
        for number in range(times):
            unit.touch([memory_id], at, f"s{number}")

    memory.maintenance._caller.tools.store.write(work, "test")  # noqa: SLF001
