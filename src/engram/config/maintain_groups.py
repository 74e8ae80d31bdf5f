"""Settings of maintenance: when it runs, in which pieces, and how far its steps go."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number


@dataclass(frozen=True, slots=True)
class MaintainConfig:
    """When memories are maintained, and in which pieces."""

    slice: int = number(500, 1, 100_000, "memories looked at in one piece", "design")
    every_hours: float = number(
        24.0, 0, 8_760, "hours after which the server consolidates again; 0: never", "design"
    )
    dream_idle_minutes: float = number(
        2.0, 0, 1_440, "minutes without any call before the server dreams", "retention"
    )
    dream_every_minutes: float = number(
        30.0, 0, 10_080, "minutes between two dreams at least; 0: never", "retention"
    )
    replays: int = number(50, 0, 10_000, "memories replayed in one dream", "cortex")
    replay_days: float = number(7.0, 0, 3_650, "days before a memory is replayed again", "design")
    log_days: int = number(90, 1, 36_500, "days that reports and logs of use are kept", "design")
