"""Health: a cheap look at the open memory, in words, with what to do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from engram._version import __version__
from engram.errors import EngramError
from engram.model.plain import plain
from engram.server.caller import NOBODY, Caller
from engram.server.house import House

CROWDED = 0.8
"""The share of the line of writes from which on it is told."""


@dataclass(frozen=True, slots=True)
class Health:
    """How the server is. Strangers are told whether it is up, and only the owner of the file is told all."""

    status: str
    version: str = __version__
    uptime_s: float = 0.0
    advice: tuple[str, ...] = ()
    """What to do, in words; empty when all is well."""
    memories: int | None = None
    writes_waiting: int | None = None

    @property
    def ok(self) -> bool:
        """Whether requests are answered."""
        return self.status != "down"


def look(house: House) -> Health:
    """How the server is now."""
    uptime = round(time.monotonic() - house.started, 1)
    if house.is_closing:
        return Health("down", uptime_s=uptime, advice=("the server is stopping: try again in a moment",))
    try:
        house.memory.news()
        stats, waiting = house.stats(), house.memory.writes_waiting
    except EngramError as error:
        return Health("down", uptime_s=uptime, advice=(error.message, "run `engram doctor`"))
    advice = []
    if waiting > CROWDED * house.memory.config.store.queue_limit:
        advice.append("many writes are waiting: send fewer at a time")
    if stats.pending:
        advice.append(f"{stats.pending:,} memories have no vector yet: POST /v1/reembed makes them")
    if trouble := house.memory.model_trouble:
        advice.append(f"no model helps, rules decide: {trouble}")
    if house.upkeep.trouble:
        advice.append(f"maintenance failed and is tried again: {house.upkeep.trouble}")
    return Health("degraded" if advice else "ok", __version__, uptime, tuple(advice), stats.memories, waiting)


def told_to(house: House, caller: Caller, found: Health) -> dict[str, Any]:
    """What a caller is told of it."""
    if not found.ok and caller is NOBODY:
        return {"status": found.status}
    if not found.ok or house.owns_file(caller):
        return {**plain(found), "uptime_secs": int(found.uptime_s)}
    return {"status": "ok"} if caller is NOBODY else {"status": "ok", "version": found.version}
