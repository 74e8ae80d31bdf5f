"""Remembering: what a caller gives comes in, in any of its shapes; receipts go out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from engram.capture.partly import remember_partly
from engram.errors import UnknownValue
from engram.model.draft import Draft
from engram.model.plain import draft, draft_from
from engram.model.receipt import Receipt, Refusal
from engram.nouns.desk import Desk
from engram.nouns.gaps import forget_names
from engram.ports import Unit

Given = Draft | Mapping[str, Any] | str
Results = list[Receipt | Refusal]


def one(desk: Desk, content: str, given: Mapping[str, Any]) -> Receipt:
    """Keep one statement."""
    unknown = given.keys() - {f.name for f in fields(Draft)}
    if unknown:
        raise UnknownValue("field of a memory", min(unknown), tuple(f.name for f in fields(Draft)))
    return desk.write([desk.mine(replace(draft(desk.tools.zone, content="", **given), content=content))])[0]


def many(
    desk: Desk, drafts: Iterable[Given], progress: Callable[[int], None] | None, *, partial: bool
) -> Results:
    """Keep many: all or none; or each good one, and a refusal for each other."""
    if partial:
        results = remember_partly(
            [*drafts], lambda item: _draft(desk, item), desk.tools, desk.actor, progress
        )
        desk.pay([result for result in results if isinstance(result, Receipt)])
        return results
    done: Results = [*desk.write([_draft(desk, item) for item in drafts])]
    if progress is not None:
        progress(len(done))
    return done


def erase(desk: Desk, memory_id: str, because: str) -> None:
    """Remove a memory for good."""
    full = desk.own(memory_id)

    def work(unit: Unit) -> None:
        forget_names(unit, full, desk.access.scope)
        unit.erase(full, because)

    desk.tools.store.write(work, desk.actor)
    desk.tools.store.vacuum()


def _draft(desk: Desk, item: Given) -> Draft:
    if isinstance(item, str):
        item = Draft(item)
    elif not isinstance(item, Draft):
        item = draft_from(item, desk.tools.zone)
    mine = desk.mine(item)
    desk.check_write(mine.scope)
    return mine
