"""Engram: a long-term memory for AI agents.

from engram import Engram

with Engram.open() as memory:
    memory.remember("I moved from vim to Helix")
    for hit in memory.recall("which editor do I use?"):
        print(hit.score, hit.memory.content)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engram._version import __version__

if TYPE_CHECKING:
    from engram.aio import AsyncEngram as AsyncEngram
    from engram.config import Config as Config
    from engram.engine import Engram as Engram
    from engram.errors import EngramError as EngramError
    from engram.model.abstraction import Abstraction as Abstraction
    from engram.model.axes import Kind as Kind
    from engram.model.axes import Layer as Layer
    from engram.model.axes import Mode as Mode
    from engram.model.axes import Status as Status
    from engram.model.briefing import RecallPack as RecallPack
    from engram.model.briefing import Resume as Resume
    from engram.model.commitment import Commitment as Commitment
    from engram.model.context import Context as Context
    from engram.model.context import Sections as Sections
    from engram.model.draft import Draft as Draft
    from engram.model.drift import DriftReport as DriftReport
    from engram.model.filters import Filters as Filters
    from engram.model.health import RecallHealth as RecallHealth
    from engram.model.knowledge import Behaviour as Behaviour
    from engram.model.knowledge import Card as Card
    from engram.model.knowledge import KnowledgeMap as KnowledgeMap
    from engram.model.memory import Memory as Memory
    from engram.model.reasoning import Reasoning as Reasoning
    from engram.model.recall import Hit as Hit
    from engram.model.recall import Recall as Recall
    from engram.model.recall import public_score as public_score
    from engram.model.receipt import Outcome as Outcome
    from engram.model.receipt import Receipt as Receipt
    from engram.model.relations import EdgeType as EdgeType
    from engram.model.scope import Access as Access
    from engram.model.scope import Role as Role
    from engram.model.scope import Scope as Scope
    from engram.model.session import Gap as Gap
    from engram.model.session import SessionInfo as SessionInfo
    from engram.model.session import Slot as Slot
    from engram.model.timeline import Timeline as Timeline
    from engram.model.trigger import Trigger as Trigger
    from engram.nouns.session import Session as Session
    from engram.nouns.session_turn import SessionTurn as SessionTurn

_HOMES = {
    "Abstraction": "engram.model.abstraction",
    "Access": "engram.model.scope",
    "AsyncEngram": "engram.aio",
    "Behaviour": "engram.model.knowledge",
    "Card": "engram.model.knowledge",
    "Commitment": "engram.model.commitment",
    "Config": "engram.config",
    "Context": "engram.model.context",
    "Draft": "engram.model.draft",
    "DriftReport": "engram.model.drift",
    "EdgeType": "engram.model.relations",
    "Engram": "engram.engine",
    "EngramError": "engram.errors",
    "Filters": "engram.model.filters",
    "Gap": "engram.model.session",
    "Hit": "engram.model.recall",
    "Kind": "engram.model.axes",
    "KnowledgeMap": "engram.model.knowledge",
    "Layer": "engram.model.axes",
    "Memory": "engram.model.memory",
    "Mode": "engram.model.axes",
    "Outcome": "engram.model.receipt",
    "Reasoning": "engram.model.reasoning",
    "Recall": "engram.model.recall",
    "RecallHealth": "engram.model.health",
    "RecallPack": "engram.model.briefing",
    "Receipt": "engram.model.receipt",
    "Resume": "engram.model.briefing",
    "Role": "engram.model.scope",
    "Scope": "engram.model.scope",
    "Sections": "engram.model.context",
    "Session": "engram.nouns.session",
    "SessionInfo": "engram.model.session",
    "SessionTurn": "engram.nouns.session_turn",
    "Slot": "engram.model.session",
    "Status": "engram.model.axes",
    "Timeline": "engram.model.timeline",
    "Trigger": "engram.model.trigger",
    "public_score": "engram.model.recall",
}

__all__ = [
    "Abstraction",
    "Access",
    "AsyncEngram",
    "Behaviour",
    "Card",
    "Commitment",
    "Config",
    "Context",
    "Draft",
    "DriftReport",
    "EdgeType",
    "Engram",
    "EngramError",
    "Filters",
    "Gap",
    "Hit",
    "Kind",
    "KnowledgeMap",
    "Layer",
    "Memory",
    "Mode",
    "Outcome",
    "Reasoning",
    "Recall",
    "RecallHealth",
    "RecallPack",
    "Receipt",
    "Resume",
    "Role",
    "Scope",
    "Sections",
    "Session",
    "SessionInfo",
    "SessionTurn",
    "Slot",
    "Status",
    "Timeline",
    "Trigger",
    "__version__",
    "public_score",
]


def __getattr__(name: str) -> Any:
    """Public names are brought in when they are first used: importing engram costs next to nothing."""
    if name not in _HOMES:
        message = f"module 'engram' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)
