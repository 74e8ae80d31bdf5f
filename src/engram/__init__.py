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
    from engram.aio import AsyncEngram
    from engram.api.session import Session, SessionTurn
    from engram.config import Config
    from engram.engine import Engram
    from engram.errors import EngramError
    from engram.model.capture import Draft, Outcome, Receipt
    from engram.model.context import Context, RecallPack, Resume, Sections
    from engram.model.facts import EdgeType
    from engram.model.knowledge import Abstraction, Behaviour, Card, KnowledgeMap
    from engram.model.maintenance import DriftReport
    from engram.model.memory import Filters, Kind, Layer, Memory, Mode, Status
    from engram.model.recall import Hit, Reasoning, Recall, RecallHealth, Timeline, public_score
    from engram.model.scope import Access, Role, Scope
    from engram.model.session import Commitment, Gap, SessionInfo, Slot, Trigger
    from engram.remote import connect

_NAMES = {
    "aio": "AsyncEngram",
    "api.session": "Session SessionTurn",
    "config": "Config",
    "engine": "Engram",
    "errors": "EngramError",
    "model.capture": "Draft Outcome Receipt",
    "model.context": "Context RecallPack Resume Sections",
    "model.facts": "EdgeType",
    "model.knowledge": "Abstraction Behaviour Card KnowledgeMap",
    "model.maintenance": "DriftReport",
    "model.memory": "Filters Kind Layer Memory Mode Status",
    "model.recall": "Hit Reasoning Recall RecallHealth Timeline public_score",
    "model.scope": "Access Role Scope",
    "model.session": "Commitment Gap SessionInfo Slot Trigger",
    "remote": "connect",
}
_HOMES = {name: f"engram.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Abstraction", "Access", "AsyncEngram", "Behaviour", "Card", "Commitment", "Config", "Context", "Draft",
    "DriftReport", "EdgeType", "Engram", "EngramError", "Filters", "Gap", "Hit", "Kind", "KnowledgeMap",
    "Layer", "Memory", "Mode", "Outcome", "Reasoning", "Recall", "RecallHealth", "RecallPack", "Receipt",
    "Resume", "Role", "Scope", "Sections", "Session", "SessionInfo", "SessionTurn", "Slot", "Status",
    "Timeline", "Trigger", "__version__", "connect", "public_score",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Public names are brought in when they are first used: importing engram costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'engram' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
