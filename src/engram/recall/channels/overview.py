"""The overview: a question that asks for everything and nothing in particular gets what matters most."""

from __future__ import annotations

from dataclasses import replace

from engram.model.axes import Kind
from engram.model.recall import Question
from engram.ports import Tools, View
from engram.recall import intents
from engram.recall.candidates import Candidate
from engram.recall.channels import text
from engram.recall.fuse import include
from engram.recall.plan import Planned

READ = 200
"""So many of the latest statements are looked at."""
FIT, RELEVANCE = 6.0, 0.6
"""The fit of what matters most, and its relevance: nothing was asked that it could fail to answer."""
PINNED = 0.2


def search(candidates: dict[int, Candidate], plan: Planned, question: Question, tools: Tools) -> None:
    """Take in what matters most, for a question that asks for an overview."""
    if not intents.is_overview(question.text):
        return
    filters = plan.view.filters
    lasting = (
        filters if filters.kinds else replace(filters, kinds=frozenset({Kind.SEMANTIC, Kind.PROCEDURAL}))
    )
    page = tools.store.memories.page(View(plan.view.access, lasting), READ)
    weight = {one.id: one.importance + PINNED * one.pinned for one in page}
    best = sorted(weight, key=lambda memory_id: -weight[memory_id])[: 2 * question.limit]
    keys = tools.store.memories.keys(best)
    include(candidates, text.matches(plan, list(keys.values()), tools), plan, tools)
    for memory_id, key in keys.items():
        if key in candidates:
            candidates[key].dated = FIT * weight[memory_id]
            candidates[key].lent_relevance = max(candidates[key].lent_relevance, RELEVANCE)
