"""What the tests of knowledge tell with: statements over days, and what a consolidation made of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engram import Engram, Memory, Scope
from engram.model.maintenance import Report, Sketch
from engram.testing import FakeClock

FAILED = (
    "Deployed the billing service to staging, the migration failed",
    "Deployed the billing service to production, the migration failed",
    "Deployed the billing service to the canary host, the migration failed",
)


def told(memory: Engram, clock: FakeClock, lines: Iterable[str], **given: Any) -> list[str]:
    """Statements of an agent, a day apart; their ids."""
    ids = []
    for line in lines:
        ids.append(memory.remember(line, **{"source": "agent", "kind": "episodic", **given}).memory.id)
        clock.advance(days=1)
    return ids


def learned(memory: Engram, *stages: str) -> Report:
    return memory.consolidate(stages=stages or ("knowledge",))


def rules(report: Report) -> dict[str, int]:
    return {tally.rule: tally.count for tally in report.tallies}


def tagged(memory: Engram, tag: str) -> list[Memory]:
    return [one for one in memory.list(limit=1_000) if tag in one.tags]


def sketches(memory: Engram, kind: str) -> list[Sketch]:
    return memory.maintenance._caller.tools.store.upkeep.sketches(kind, memory.access, 10_000)  # noqa: SLF001


def words_in(file: Path, words: str) -> bool:
    """Whether words stand anywhere in the file or its log."""
    return any(words.encode() in path.read_bytes() for path in file.parent.iterdir() if path.is_file())


def place(name: str) -> Scope:
    return Scope(agent=name)
