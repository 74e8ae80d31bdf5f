"""Browsing: filters come in, memories go out, page by page or all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from engram.errors import NotFound
from engram.model.filters import ANY_STATUS, Filters, in_force
from engram.model.memory import Memory
from engram.model.pages import Page
from engram.model.plain import plain
from engram.model.scope import Scope
from engram.nouns.asking import checked
from engram.nouns.desk import PAGE_LIMIT, Desk, whole
from engram.ports import View
from engram.recall.past import then


def get(desk: Desk, memory_id: str) -> Memory | None:
    """One memory by its id or the beginning of it."""
    try:
        return desk.tools.store.memories.get(desk.resolve(memory_id), desk.access)
    except NotFound:
        return None


def page(
    desk: Desk,
    filters: Filters | None,
    window: tuple[int, str | None],
    scope: Scope | None,
    as_of: datetime | str | None,
) -> Page:
    """One page, newest first; `window` is the limit and the cursor. With `as_of` as it was then."""
    view = View(desk.at(scope), in_force(checked(desk, filters, as_of), desk.tools.clock.now()))
    found = desk.tools.store.memories.page(view, whole("limit", window[0], 1, PAGE_LIMIT), window[1])
    if view.filters.as_of is None:
        return found
    was = then(found, desk.tools.store, view.filters.as_of)
    return replace(found, memories=tuple(was[one.id] for one in found if one.id in was))


def count(desk: Desk, filters: Filters | None, scope: Scope | None) -> int:
    """How many memories fit."""
    wanted = in_force(checked(desk, filters, None), desk.tools.clock.now())
    return desk.tools.store.memories.count(View(desk.at(scope), wanted))


def everything(desk: Desk, scope: Scope | None, *, vectors: bool = False) -> Iterator[dict[str, Any]]:
    """Every memory in every status as plain data, newest first, with its relations; its vector if asked."""
    cursor: str | None = None
    while True:
        found = page(desk, ANY_STATUS, (PAGE_LIMIT, cursor), scope, None)
        vector_of = _vectors(desk, [memory.id for memory in found]) if vectors else {}
        for memory in found:
            edges = desk.tools.store.relations.of(memory.id, desk.at(scope))
            also = {"vector": vector_of.get(memory.id)} if vectors else {}
            yield {**plain(memory), "edges": plain(edges), **also}
        cursor = found.cursor
        if cursor is None:
            return


def _vectors(desk: Desk, ids: list[str]) -> dict[str, list[float]]:
    """The vectors in the present space, as far as they are there."""
    space = desk.space()
    if space is None:
        return {}
    keys = desk.tools.store.memories.keys(ids)
    rows = desk.tools.store.vectors.rows(space, sorted(keys.values()))
    whole_rows = rows.rows * rows.scales[:, None]
    by_key = {int(key): row.tolist() for key, row in zip(rows.keys, whole_rows, strict=True)}
    return {memory_id: by_key[key] for memory_id, key in keys.items() if key in by_key}
