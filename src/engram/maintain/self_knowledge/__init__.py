"""Self-knowledge: what the memory as a whole is like, in profiles, maps and a tree."""

from __future__ import annotations

from engram.maintain.self_knowledge import confidence, guidelines, identity, profile, topics, tree
from engram.maintain.step import Step

STAGE = "self_knowledge"
STEPS: tuple[Step, ...] = (
    Step(STAGE, topics.NAME, topics.look),
    Step(STAGE, profile.NAME, profile.look),
    Step(STAGE, identity.NAME, identity.look),
    Step(STAGE, guidelines.NAME, guidelines.look),
    Step(STAGE, tree.NAME, tree.look),
    Step(STAGE, confidence.NAME, confidence.look),
)
