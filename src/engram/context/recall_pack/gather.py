"""Gathering for the pack: who asks comes in; the memories that may stand in it come out.

Every question to the store has a limit and is answered by an index: how large the file is hardly matters.
What comes out is sorted by what memories say, never by how they were stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from engram.context.recall_pack.rules import holds
from engram.context.resume_rules import in_workspace
from engram.context.telling import may_be_told
from engram.lifecycle.commitments import CATEGORY as COMMITMENT
from engram.lifecycle.commitments import state_of
from engram.model.axes import Layer, Priority
from engram.model.memory import Memory
from engram.ports import Tools, View

FIRST = 1_000
"""What always holds is read up to so many."""
LATEST = 400
CORE = 200
OF_A_KIND = 60
MANTRA_TAGS = frozenset({"mantra", "mission"})
FOCUS_TAGS = frozenset({"today", "focus"})
ACCOUNT_TAGS = frozenset({"account", "accounts"})
ACCOUNTS = frozenset({"account"})
PROCEDURES = frozenset({"procedure"})
STANDING = frozenset({"project", "principle", "instruction", "relationship"})
"""Categories that belong into the context however long ago they were told."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What may stand in a pack, part by part; a memory may be in several."""

    rules: list[Memory]
    mantra: list[Memory]
    focus: list[Memory]
    context: list[Memory]
    procedures: list[Memory]
    accounts: list[Memory]


def gather(view: View, workspace: str, now: datetime, tools: Tools) -> Gathered:
    """Everything that holds now and belongs to the workspace."""

    def page(limit: int, **asked: Any) -> list[Memory]:
        found = tools.store.memories.page(View(view.access, replace(view.filters, **asked)), limit)
        return _fitting(found, workspace, now)

    return Gathered(
        rules=[one for one in page(FIRST, priorities=frozenset({Priority.P0})) if not _is_closed(one)],
        mantra=page(OF_A_KIND, tags_any=MANTRA_TAGS),
        focus=page(OF_A_KIND, tags_any=FOCUS_TAGS),
        context=_each_once(
            _but(page(LATEST), {COMMITMENT, "question"}),
            page(CORE, layers=frozenset({Layer.CORE})),
            page(OF_A_KIND, categories=STANDING),
        ),
        procedures=page(OF_A_KIND, categories=PROCEDURES),
        accounts=_each_once(page(OF_A_KIND, categories=ACCOUNTS), page(OF_A_KIND, tags_any=ACCOUNT_TAGS)),
    )


def load(pages: Sequence[str], view: View, now: datetime, tools: Tools) -> list[Memory]:
    """The memories of knowledge pages, page by page, the newest of each first."""
    found: list[Memory] = []
    for one in pages:
        kind, _, name = one.partition(":")
        wanted = View(view.access, replace(view.filters, **_page(kind, name)))
        found += sorted(
            _fitting(tools.store.memories.page(wanted, OF_A_KIND), "", now),
            key=lambda memory: (-memory.happened_at.timestamp(), memory.content, memory.id),
        )
    return list({memory.id: memory for memory in found}.values())


def _page(kind: str, name: str) -> dict[str, Any]:
    """The filter that finds what a page holds."""
    if kind == "origin":
        return {"origin_prefix": name}
    return {_FILTERS[kind]: frozenset({name})}


_FILTERS = MappingProxyType(
    {"entity": "entities", "tag": "tags_any", "category": "categories", "memory": "ids"}
)


def _fitting(found: Iterable[Memory], workspace: str, now: datetime) -> list[Memory]:
    return [one for one in found if holds(one, now) and in_workspace(one, workspace) and may_be_told(one)]


def _is_closed(memory: Memory) -> bool:
    return memory.category == COMMITMENT and not state_of(memory).is_open


def _but(memories: Iterable[Memory], categories: set[str]) -> list[Memory]:
    return [memory for memory in memories if memory.category not in categories]


def _each_once(*lists: Sequence[Memory]) -> list[Memory]:
    return list({memory.id: memory for memories in lists for memory in memories}.values())
