"""Filtering: a view comes in, the memories it allows come out. Plain enough to check others against."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.ports import View
from engram.testing.memory_store.tables import Tables


def allowed(tables: Tables, view: View) -> Iterator[tuple[int, Memory]]:
    """Keys and memories that the caller may read and that fit the filters, oldest first."""
    readable = {scope for scope in tables.scopes if view.access.may_read(scope)}
    return (
        (key, memory)
        for key, memory in tables.records.items()
        if memory.scope in readable and fits(tables, memory, view.filters)
    )


def allows(tables: Tables, view: View, memory: Memory) -> bool:
    """Whether the caller may read the memory and it fits the filters."""
    return view.access.may_read(memory.scope) and fits(tables, memory, view.filters)


def fits(tables: Tables, memory: Memory, filters: Filters) -> bool:
    """Whether every condition holds that is asked."""
    return (
        _fits_axes(memory, filters)
        and _fits_words(memory, filters)
        and _fits_names(tables, memory, filters)
        and _fits_numbers(memory, filters)
    )


def _fits_axes(memory: Memory, filters: Filters) -> bool:
    asked = (
        (filters.kinds, memory.kind),
        (filters.categories, memory.category),
        (filters.types, memory.type),
        (filters.layers, memory.layer),
        (filters.statuses, memory.status),
        (filters.verifications, memory.verification),
        (filters.tiers, memory.tier),
        (filters.speakers, memory.speaker),
        (filters.sources, memory.source),
    )
    return all(not wanted or value in wanted for wanted, value in asked)


def _fits_words(memory: Memory, filters: Filters) -> bool:
    return (
        (not filters.tags_any or not filters.tags_any.isdisjoint(memory.tags))
        and filters.tags_all.issubset(memory.tags)
        and filters.session in ("", memory.session)
    )


def _fits_names(tables: Tables, memory: Memory, filters: Filters) -> bool:
    """Whether it mentions one of the names, or another name of the same entity."""
    if not filters.entities:
        return True
    wanted = {name.casefold() for name in filters.entities}
    namespace = memory.scope.namespace
    meant = {tables.aliases[namespace, name][0] for name in wanted if (namespace, name) in tables.aliases}
    names = tables.mentions[tables.keys[memory.id]]
    return any(name in wanted or tables.aliases.get((namespace, name), (0, ""))[0] in meant for name in names)


def _fits_numbers(memory: Memory, filters: Filters) -> bool:
    return (
        _within(memory.created_at, filters.created_since, filters.created_until)
        and _within(memory.happened_at, filters.happened_since, filters.happened_until)
        and _within(memory.last_accessed, filters.accessed_since, None)
        and memory.importance >= filters.min_importance
        and memory.confidence >= filters.min_confidence
        and filters.pinned in (None, memory.pinned)
    )


def _within(moment: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    if since is None and until is None:
        return True
    return moment is not None and (since is None or moment >= since) and (until is None or moment <= until)
