"""Presets: named overlays with the numbers of each system this one grew out of.

Whatever a preset says, what is pinned, protected, procedural or of priority P0 and P1 is never forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LAYERS: Final[Mapping[str, Any]] = {
    "recall.profile": "layered",
    # Buffer, working, core: what is used or said again rises, the buffer forgets the rest within two days.
    "promotion.buffer_reinforcement": 5.0,
    "promotion.lesson_hours": 2.0,
    "promotion.ttl_hours": 24.0,
    "promotion.untriaged_hours": 48.0,
    "promotion.core_reinforcement": 3.0,
    "promotion.core_days": 7.0,
    "promotion.core_importance": 0.6,
    "promotion.demote_rejections": 1,
    "importance.loss_a_day": 0.05,
    "importance.floor": 0.3,
    "forgetting.buffer_cap": 200,
    # Beyond the buffer only what has all but gone is dropped.
    "forgetting.retention_below": 0.0,
    "forgetting.strength_below": 0.01,
    "forgetting.kept_importance": 1.0,
    "forgetting.kept_arousal": 1.0,
}

RETENTION: Final[Mapping[str, Any]] = {
    "recall.profile": "trust",
    "trust.half_life_days": 30.0,
    "trust.extracted_factor": 3.0,
    "retention.mode": "huber",
    "retention.half_life_days": 30.0,
    "retention.extracted_factor": 3.0,
    # The buffer is a short stay: half an hour, or two uses.
    "promotion.buffer_minutes": 30.0,
    "promotion.buffer_accesses": 2,
    "forgetting.buffer_cap": 0,
    "promotion.semantic_importance": 0.7,
    "promotion.semantic_accesses": 5,
    # Importance is weighed by nine factors and loses nothing by the day; one rule archives.
    "importance.loss_a_day": 0.0,
    "forgetting.archive_days": 90.0,
    "forgetting.retention_below": 0.15,
    "forgetting.importance_below": 0.3,
    "forgetting.importance_kind": "effective",
    "forgetting.accesses_below": 3,
    "forgetting.strength_below": 0.0,
    "forgetting.protected": "",
}

FILES: Final[Mapping[str, Any]] = {
    "remember.speculative_below": 0.40,
    "remember.speculative_days": 30,
    "capture.buffer_turns": 5,
    # What is extracted is written at once: no buffer lets go of it.
    "promotion.buffer_minutes": 1.0,
    "forgetting.buffer_cap": 0,
    # Facts are archived by age, importance and use, whatever is left of them.
    "importance.loss_a_day": 0.0,
    "forgetting.archive_days": 90.0,
    "forgetting.retention_below": 1.0,
    "forgetting.importance_below": 0.3,
    "forgetting.importance_kind": "stored",
    "forgetting.accesses_below": 3,
    "forgetting.strength_below": 0.0,
    "forgetting.commitment_days": 90.0,
    "forgetting.protected": "commitment, correction, decision, preference, principle",
}

LEDGER: Final[Mapping[str, Any]] = {
    "recall.profile": "trust",
    "recall.suppress_days": 90,
    "store.synchronous": "FULL",
    # What is written down counts from the next consolidation on; its priority says for how long.
    "promotion.buffer_minutes": 1.0,
    "forgetting.buffer_cap": 0,
    "importance.loss_a_day": 0.0,
    "lifecycle.unverified_days": 60.0,
    "forgetting.p2_days": 90.0,
    "forgetting.p3_days": 30.0,
    "forgetting.retention_below": 0.0,
    "forgetting.strength_below": 0.0,
}

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "layers": LAYERS,
    "retention": RETENTION,
    "files": FILES,
    "ledger": LEDGER,
}
"""The overlays by name."""
