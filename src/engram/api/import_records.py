"""Adopting: records of another file come in as they were there: with their ids, times and counts.

Unlike remembering, nothing is compared with what is known: a record is there already, or it is taken.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from engram.api.caller import CallerContext
from engram.capture.enrich import PreparedDraft
from engram.capture.link import link
from engram.capture.pipeline import make_ready
from engram.capture.screen import screen
from engram.errors import InvalidInput, WrongType
from engram.model.capture import Draft, Refusal
from engram.model.clock import check_cancelled
from engram.model.memory import Memory, Status, Usage, Verification
from engram.model.plain import draft_from, member, moment
from engram.model.scope import HERE, Scope
from engram.ports import Unit
from engram.rules.traits import noted_tags

AT_ONCE = 200
"""So many are written in one unit of work."""
LARGEST_COUNT = 2**53
"""Counts beyond this are none that anybody counted, and no file holds them."""
BECAUSE = "brought in as it was elsewhere"
TIMES = ("created_at", "modified_at", "last_accessed")
_ID = re.compile(r"[0-9a-z][0-9a-z_-]{7,63}")


@dataclass(frozen=True, slots=True)
class ImportedRecords:
    """What became of the records: ids that are new here, ids that were here already, and refusals."""

    taken: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ready:
    draft: Draft
    kept: Mapping[str, Any]
    """The fields that come from elsewhere instead of from here."""


def import_records(desk: CallerContext, records: Iterable[Mapping[str, Any]]) -> ImportedRecords:
    """Take in records as `export` writes them."""
    ready: list[_Ready] = []
    refused: list[Refusal] = []
    for index, record in enumerate(records):
        check_cancelled()
        try:
            ready.append(_ready(desk, record))
        except InvalidInput as error:
            refused.append(Refusal(index, error))
    taken: list[str] = []
    known: list[str] = []
    for start in range(0, len(ready), AT_ONCE):
        new, old = _write(desk, ready[start : start + AT_ONCE])
        taken += new
        known += old
    return ImportedRecords(tuple(taken), tuple(known), tuple(refused))


def _ready(desk: CallerContext, record: Mapping[str, Any]) -> _Ready:
    if not isinstance(record, Mapping):
        raise WrongType("record", record, "an object")
    kept = _kept(record)
    draft = draft_from({name: value for name, value in record.items() if name not in TIMES})
    # A record that was kept in the default place is taken in where the caller stands.
    draft = desk.mine(replace(draft, scope=HERE) if draft.scope == Scope() else draft)
    desk.check_write(draft.scope)
    return _Ready(screen(replace(draft, tags=noted_tags(draft))), kept)


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {
        name: moment(name, record[name]) for name in TIMES if record.get(name) is not None
    }
    if record.get("usage") is not None:
        kept["usage"] = _usage(record["usage"])
    if record.get("status") is not None:
        kept["status"] = member("status", Status, record["status"])
    if record.get("verification") is not None:
        kept["verification"] = member("verification", Verification, record["verification"])
    name = record.get("id")
    if isinstance(name, str) and _ID.fullmatch(name.lower()):
        kept["id"] = name.lower()
    return kept


def _usage(value: Any) -> Usage:
    names = {f.name for f in fields(Usage)}
    if not isinstance(value, Mapping) or not all(
        isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= LARGEST_COUNT
        for count in value.values()
    ):
        raise WrongType("usage", value, "counts")
    return Usage(**{name: count for name, count in value.items() if name in names})


def _write(desk: CallerContext, ready: list[_Ready]) -> tuple[list[str], list[str]]:
    """The ids that are new and those that were there."""
    prepared = link(make_ready([one.draft for one in ready], desk.tools), desk.tools)
    pairs = [(item, _as_it_was(item, one.kept)) for item, one in zip(prepared, ready, strict=True)]
    taken: list[str] = []
    known: list[str] = []

    def work(unit: Unit) -> None:
        taken.clear()
        known.clear()
        for item, memory in pairs:
            there = unit.get(memory.id)
            if there is not None and there.scope == memory.scope:
                known.append(memory.id)
                continue
            mine = memory if there is None else replace(memory, id=item.memory.id)
            if not desk.owns_file:
                # Whether the id is taken elsewhere is none of this caller's business: it gets its own.
                mine = replace(memory, id=_id_at(memory))
                if unit.get(mine.id) is not None:
                    known.append(mine.id)
                    continue
            unit.add(mine, item.findable, item.vector, BECAUSE)
            taken.append(mine.id)

    desk.tools.store.write(work, desk.actor)
    return taken, known


def _id_at(memory: Memory) -> str:
    """An id that a record always gets at one place, whatever there is at others."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\n".join((memory.id, *memory.scope.parts))))


def _as_it_was(item: PreparedDraft, kept: Mapping[str, Any]) -> Memory:
    memory = replace(item.memory, **kept)
    first: datetime = memory.created_at
    return memory if memory.modified_at >= first else replace(memory, modified_at=first)
