"""The steps of a consolidation, stage by stage, in the order in which they run; and those of a dream."""

from __future__ import annotations

from engram.maintain import (
    doubt,
    dreaming,
    forgetting,
    housekeeping,
    knowledge,
    merge,
    promotion,
    publish,
    review,
    self_knowledge,
)
from engram.maintain.step import Step

CONSOLIDATION: tuple[Step, ...] = (
    *housekeeping.STEPS,
    *promotion.STEPS,
    *review.STEPS,
    *merge.STEPS,
    *knowledge.STEPS,
    *doubt.STEPS,
    *self_knowledge.STEPS,
    *forgetting.STEPS,
    *publish.STEPS,
)
DREAM: tuple[Step, ...] = dreaming.STEPS
