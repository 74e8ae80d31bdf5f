"""Drift: a directory comes in; what memories claim about it and is gone goes out, to the caller alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from engram.config import overlay
from engram.errors import InvalidInput
from engram.model.axes import Status
from engram.model.drift import Drifted, DriftReport, Landscape
from engram.model.filters import Filters
from engram.model.scope import Scope
from engram.model.upkeep import Report
from engram.nouns.desk import Desk, whole
from engram.nouns.landscape import landscape
from engram.nouns.upkeep import Upkeep
from engram.ports import View

CLAIMS: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.INVALIDATED})


def drifted(
    desk: Desk, directory: str | Path, scope: Scope | None, limit: int, *, apply: bool
) -> DriftReport:
    """What is dead, of memories the caller sees; with `apply` they are doubted, in a run of its own."""
    desk.check_owns_file("look at directories of this machine")
    settings = desk.tools.config.doubt
    where = str(directory) or settings.directory
    place = landscape(where, settings) if where else None
    if place is None:
        message = f"There is no directory {where[:200]!r} to check against." if where else NONE_SET
        raise InvalidInput(message)
    report = _looked(desk, place, scope, whole("limit", limit, 0, 100_000))
    return replace(report, run=_carried(desk, where)) if apply else report


NONE_SET: Final = "Say against which directory to check, or set `doubt.directory`."


def _looked(desk: Desk, place: Landscape, scope: Scope | None, limit: int) -> DriftReport:
    from engram.maintain.doubt.drifting import checked

    store, config = desk.tools.store, desk.tools.config
    view = View(desk.at(scope), Filters(statuses=CLAIMS))
    memories = references = 0
    dead: list[Drifted] = []
    cursor: str | None = None
    while True:
        page = store.memories.page(view, config.maintain.slice, cursor)
        for one in page.memories:
            found = checked(one, place, config.doubt.project)
            memories, references = memories + bool(found.checked), references + found.checked
            for reference, instead in found.dead:
                told = f"{reference.name} {reference.version}".strip()
                dead.append(Drifted(one.id, reference.kind, told, instead))
        cursor = page.cursor
        if cursor is None:
            break
    return DriftReport(
        place.root, len(place.paths), place.complete, memories, references, tuple(dead[:limit])
    )


def _carried(desk: Desk, where: str) -> Report:
    config = overlay(desk.tools.config, {"doubt.directory": where})
    return Upkeep(Desk(replace(desk.tools, config=config), desk.access, desk.actor, desk.opened)).drift()
