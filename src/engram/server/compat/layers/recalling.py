"""Asking of *layers*: recall, search, and what is new."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from engram.errors import UnknownValue
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.recall import BUCKETS, Hit, Recall, public_score
from engram.model.scope import Access, Role
from engram.server.compat.ask import Ask
from engram.server.compat.layers.shapes import (
    hit_of,
    layer_from,
    memory_of,
    millis,
    moment_from,
    triple_of,
)
from engram.server.compat.old import Old

BUDGET = 2_000
MOST = 500
"""No recall gives more hits than this, however far a client pages."""
ORDERS = ("score", "recent", "accessed")
ROUGH = {word: least for least, word in BUCKETS} | {"minimal": 0.2}
"""The number that stands for each word that those who are no owner are told."""
CHAINS = 5


def recall(ask: Ask) -> dict[str, Any]:
    """What helps with a question, best first, within a budget of tokens."""
    limit, offset = ask.whole("limit", 20, 1, 100), ask.whole("offset", 0, 0, MOST - 100)
    budget = ask.whole("budget_tokens", BUDGET, 0, 10_000_000)
    found = ask.memory.recall(
        ask.text("query"),
        limit=offset + limit,
        budget=budget or None,
        filters=_filters(ask),
        rerank="model" if ask.truth("rerank") else None,
        min_relevance=ask.share("min_score"),
        dry=ask.truth("dry"),
        expand=ask.truth("expand") if ask.has("expand") else None,
    )
    hits = _ordered(list(found), ask.text("sort_by", "score") or "score")[offset:]
    access = ask.memory.access
    told: dict[str, Any] = {
        "memories": [hit_of(hit, score_of(hit, access)) for hit in hits],
        "query": ask.text("query"),
        "total_tokens": sum(hit.tokens for hit in hits),
        "layer_breakdown": Counter(hit.memory.layer.name.lower() for hit in hits),
        "search_mode": mode_of(found),
        "total": len(found),
        "offset": offset,
        "limit": limit,
    }
    return told | _more(ask, found)


def search(ask: Ask) -> dict[str, Any]:
    """A quick look that leaves no trace."""
    query = ask.text("q") if ask.has("q") else ask.text("query")
    found = ask.memory.recall(query, limit=ask.whole("limit", 10, 1, 50), dry=True, expand=False)
    access = ask.memory.access
    memories = [hit_of(hit, score_of(hit, access)) for hit in found]
    return {"memories": memories, "count": len(memories)}


def recent(ask: Ask) -> dict[str, Any]:
    """What was kept in the last hours, newest first."""
    hours = ask.number("hours")
    hours = min(max(2.0 if hours is None else hours, 0.0), 87_600.0)
    since = datetime.now(UTC) - timedelta(hours=hours)
    filters = Filters(
        created_since=since,
        layers=frozenset({layer_from(ask.given["layer"])}) if ask.has("layer") else frozenset(),
        min_importance=ask.share("min_importance") or 0.0,
        sources=frozenset(ask.words("source")),
    )
    found: list[Memory] = list(ask.memory.list(filters=filters, limit=ask.whole("limit", 20, 1, 100)))
    memories = [memory_of(one) for one in found]
    return {"memories": memories, "count": len(memories), "since_ms": millis(since), "hours": hours}


def score_of(hit: Hit, access: Access) -> float:
    """The score: exact for the owner, a rough number for everybody else."""
    if access.role is Role.OWNER:
        return round(hit.score, 4)
    return ROUGH[str(public_score(hit, access))]


def mode_of(found: Recall) -> str:
    """How it was searched, in that system's words."""
    mode = "semantic+fts" if found.plan.space else "fts"
    return f"{mode}+rerank" if found.quality.rerank == "model" else mode


def _filters(ask: Ask) -> Filters:
    layers = ask.given.get("layers") or []
    return Filters(
        layers=frozenset(layer_from(one) for one in (layers if isinstance(layers, list) else [layers])),
        min_importance=ask.share("min_importance") or 0.0,
        sources=frozenset(ask.words("source")),
        tags_all=frozenset(ask.words("tags")),
        created_since=moment_from("since", ask.number("since")),
        created_until=moment_from("until", ask.number("until")),
    )


def _ordered(hits: list[Hit], order: str) -> list[Hit]:
    if order not in ORDERS:
        raise UnknownValue("sort_by", order, ORDERS)
    if order == "recent":
        return sorted(hits, key=lambda hit: hit.memory.created_at, reverse=True)
    if order == "accessed":
        return sorted(hits, key=lambda hit: hit.memory.last_accessed or hit.memory.created_at, reverse=True)
    return hits


def _more(ask: Ask, found: Recall) -> dict[str, Any]:
    """What is told only where there is something to tell."""
    told: dict[str, Any] = {}
    times = {name: ask.number(name) for name in ("since", "until") if ask.has(name)}
    if times:
        told["time_filter"] = times
    if found.plan.phrases:
        told["expanded_queries"] = list(found.plan.phrases)
    chains = [
        {"path": [triple_of(claim.fact) for claim in path.claims]}
        for name in found.plan.entities[:CHAINS]
        for path in ask.memory.facts.chain(name, limit=CHAINS)
    ]
    if chains:
        told["fact_chains"] = chains
    return told


ROUTES: tuple[Old, ...] = (
    Old("POST", "/recall", recall, waits=False),
    Old("GET", "/search", search),
    Old("GET", "/recent", recent),
)
