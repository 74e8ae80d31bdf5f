"""What the lives of memories under each preset share: opening one, letting time pass, looking at a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engram import Engram
from engram.config import load
from engram.model.maintenance import Carried, Report
from engram.testing import FakeClock, HashEmbedder


def living(preset: str, clock: FakeClock, path: str | Path = ":memory:", **settings: Any) -> Engram:
    """A memory that lives by a preset; settings given by name go before it."""
    # Without backups: what is erased lives on in them until they are replaced.
    given = {"store.backups": 0} | {name.replace("__", "."): value for name, value in settings.items()}
    config = load(environment={}, preset=preset, arguments=given)
    return Engram.open(path, config=config, clock=clock, embedder=HashEmbedder())


def later(memory: Engram, clock: FakeClock, about: str, **time: float) -> list[str]:
    """Let time pass and consolidate: which rules moved this memory. How the policy views it is left out."""
    clock.advance(**time)
    return decided(memory.consolidate(), about)


def decided(report: Report, about: str) -> list[str]:
    """Which rules of a run moved this memory."""
    lines = (line.rule for line in report.decided if line.memory == about and line.outcome is Carried.DONE)
    return [rule for rule in lines if not rule.startswith(("lifecycle.", "tier."))]


def fields(memory: Engram, memory_id: str, name: str) -> list[str]:
    """The values that a field of a memory has had, oldest first, as the ledger tells them."""
    events = [event for event in reversed(memory.events(memory_id)) if name in event.after]
    return [str(event.after[name]) for event in events]


def bytes_of(folder: Path) -> bytes:
    """Everything that lies in the files of a folder."""
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())
