"""Filtering: a view comes in, the memories it allows come out. Plain enough to check others against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from engram.model.axes import Status
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.ports import View
from engram.testing.memory_store.tables import Tables
from engram.text import facets


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
        _fits_axes(_then(tables, memory, filters), filters)
        and (filters.as_of is None or memory.created_at <= filters.as_of)
        and _fits_words(memory, filters)
        and _fits_names(tables, memory, filters)
        and _fits_numbers(memory, filters)
        and _fits_facets(memory, filters)
        and _fits_details(memory, filters)
        and _fits_origin(tables, memory, filters)
    )


def _then(tables: Tables, memory: Memory, filters: Filters) -> Memory:
    """The memory with the status it had at the time that is asked for."""
    at = filters.as_of
    if at is None:
        return memory
    changes = (
        event.before["status"]
        for event in tables.events.values()
        if event.memory == memory.id and event.at > at and "status" in event.before
    )
    return replace(memory, status=Status(next(changes, memory.status)))


def _fits_axes(memory: Memory, filters: Filters) -> bool:
    asked = (
        (filters.kinds, memory.kind),
        (filters.categories, memory.category),
        (filters.types, memory.type),
        (filters.layers, memory.layer),
        (filters.statuses, memory.status),
        (filters.verifications, memory.verification),
        (filters.tiers, memory.tier),
        (filters.priorities, memory.priority),
        (filters.speakers, memory.speaker),
        (filters.sources, memory.source),
        (filters.ids, memory.id),
    )
    return all(not wanted or value in wanted for wanted, value in asked)


def _fits_words(memory: Memory, filters: Filters) -> bool:
    return (
        (not filters.tags_any or not filters.tags_any.isdisjoint(memory.tags))
        and filters.tags_all.issubset(memory.tags)
        and filters.not_tags.isdisjoint(memory.tags)
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
        and _within(memory.last_accessed, filters.accessed_since, filters.accessed_until)
        and _within(memory.modified_at, filters.modified_since, filters.modified_until)
        and filters.min_importance <= memory.importance <= filters.max_importance
        and memory.confidence >= filters.min_confidence
        and memory.trust >= filters.min_trust
        and memory.affect.arousal >= filters.min_arousal
        and filters.pinned in (None, memory.pinned)
    )


def _fits_facets(memory: Memory, filters: Filters) -> bool:
    held = facets.values(memory.metadata)
    spoken = {name: {value for facet, value in held if facet == name} for name, _ in held}
    spoken.setdefault(facets.SENTIMENT, {facets.NEUTRAL})
    first, last = facets.days(filters)
    return (
        not any(_asks(filters, name).isdisjoint(spoken.get(name, ())) for name in _equal(filters))
        and all(
            any(value.startswith(tuple(_asks(filters, name))) for value in spoken.get(name, ()))
            for name in facets.BEGINNING
            if getattr(filters, name)
        )
        and (not filters.sentiments or not spoken[facets.SENTIMENT].isdisjoint(_asks(filters, "sentiments")))
        and (
            filters.about_since is filters.about_until is None
            or any(first <= day <= last for day in spoken.get(facets.DATES, ()))
        )
    )


def _equal(filters: Filters) -> list[str]:
    return [name for name in facets.EQUAL if getattr(filters, name)]


def _asks(filters: Filters, name: str) -> set[str]:
    return {facets.asked(name, wanted) for wanted in getattr(filters, name)}


def _fits_details(memory: Memory, filters: Filters) -> bool:
    return all(
        name in memory.details and _says(memory.details[name], value)
        for name, value in filters.details.items()
    )


def _says(held: Any, wanted: Any) -> bool:
    """Whether a detail is what is asked for: numbers as numbers, a text also as what it spells."""
    if isinstance(held, bool) or held is None:
        return held is wanted or (held is not None and wanted == str(held).lower())
    if isinstance(wanted, bool) or wanted is None:
        return False
    if isinstance(wanted, str):
        return bool(held == wanted) or (isinstance(held, int) and str(held) == wanted)
    return isinstance(held, int | float) and held == wanted


def _fits_origin(tables: Tables, memory: Memory, filters: Filters) -> bool:
    key = tables.keys[memory.id]
    return not filters.origin_prefix or any(
        row == key and origin.startswith(filters.origin_prefix)
        for (_, origin), (row, _) in tables.origins.items()
    )


def _within(moment: datetime | None, since: datetime | None, until: datetime | None) -> bool:
    if since is None and until is None:
        return True
    return moment is not None and (since is None or moment >= since) and (until is None or moment <= until)
