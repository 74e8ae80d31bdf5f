"""Dreaming: while nobody asks, memories are replayed, linked and strengthened."""

from __future__ import annotations

from engram.maintain.dreaming import bridging, interference, linking, replay, vectors
from engram.maintain.self_knowledge import STEPS as REBUILT
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (
    Step("dreaming", "replay", replay.look),
    Step("dreaming", "vectors", vectors.look),
    Step("dreaming", "links", linking.look),
    Step("dreaming", "bridges", bridging.look),
    Step("dreaming", "interference", interference.look),
    *REBUILT,
)
