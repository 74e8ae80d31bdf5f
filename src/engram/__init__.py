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
    from engram.api.session import Session, SessionTurn
    from engram.config import Config as Config
    from engram.engine import Engram as Engram
    from engram.errors import EngramError as EngramError
    from engram.model.capture import Draft, Outcome, Receipt
    from engram.model.context import Context as Context
    from engram.model.context import RecallPack, Resume
    from engram.model.context import Sections as Sections
    from engram.model.facts import EdgeType
    from engram.model.knowledge import Abstraction
    from engram.model.knowledge import Behaviour as Behaviour
    from engram.model.knowledge import Card as Card
    from engram.model.knowledge import KnowledgeMap as KnowledgeMap
    from engram.model.maintenance import DriftReport
    from engram.model.memory import Filters, Kind, Layer, Mode, Status
    from engram.model.memory import Memory as Memory
    from engram.model.recall import Hit as Hit
    from engram.model.recall import Reasoning, RecallHealth, Timeline
    from engram.model.recall import Recall as Recall
    from engram.model.recall import public_score as public_score
    from engram.model.scope import Access as Access
    from engram.model.scope import Role as Role
    from engram.model.scope import Scope as Scope
    from engram.model.session import Commitment, Trigger
    from engram.model.session import Gap as Gap
    from engram.model.session import SessionInfo as SessionInfo
    from engram.model.session import Slot as Slot
    from engram.remote import connect

_HOMES = {
    "Abstraction": "engram.model.knowledge",
    "Access": "engram.model.scope",
    "AsyncEngram": "engram.aio",
    "Behaviour": "engram.model.knowledge",
    "Card": "engram.model.knowledge",
    "Commitment": "engram.model.session",
    "Config": "engram.config",
    "Context": "engram.model.context",
    "Draft": "engram.model.capture",
    "DriftReport": "engram.model.maintenance",
    "EdgeType": "engram.model.facts",
    "Engram": "engram.engine",
    "EngramError": "engram.errors",
    "Filters": "engram.model.memory",
    "Gap": "engram.model.session",
    "Hit": "engram.model.recall",
    "Kind": "engram.model.memory",
    "KnowledgeMap": "engram.model.knowledge",
    "Layer": "engram.model.memory",
    "Memory": "engram.model.memory",
    "Mode": "engram.model.memory",
    "Outcome": "engram.model.capture",
    "Reasoning": "engram.model.recall",
    "Recall": "engram.model.recall",
    "RecallHealth": "engram.model.recall",
    "RecallPack": "engram.model.context",
    "Receipt": "engram.model.capture",
    "Resume": "engram.model.context",
    "Role": "engram.model.scope",
    "Scope": "engram.model.scope",
    "Sections": "engram.model.context",
    "Session": "engram.api.session",
    "SessionInfo": "engram.model.session",
    "SessionTurn": "engram.api.session",
    "Slot": "engram.model.session",
    "Status": "engram.model.memory",
    "Timeline": "engram.model.recall",
    "Trigger": "engram.model.session",
    "connect": "engram.remote",
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
    "connect",
    "public_score",
]


def __getattr__(name: str) -> Any:
    """Public names are brought in when they are first used: importing engram costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'engram' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
