"""Importing records: they come in as they were elsewhere, with ids, times, counts, status and relations.

Unlike remembering, nothing is compared with what is known: a record is there already, or it is taken. All of
it belongs to one run, which `undo` takes back as a whole; cut off, it goes on where it stopped.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from engram.api.caller import CallerContext
from engram.capture.enrich import PreparedDraft
from engram.capture.link import link
from engram.capture.pipeline import make_ready
from engram.capture.screen import screen
from engram.errors import AccessDenied, EngramError, InvalidInput, WrongType
from engram.maintain.pipeline import begin
from engram.model.capture import Draft, ImportedRecords, Refusal
from engram.model.clock import check_cancelled
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Run, RunKind, RunState
from engram.model.memory import Lifecycle, Memory, Status, Usage, Verification
from engram.model.plain import draft_from, member, moment
from engram.model.scope import HERE, Scope
from engram.ports import Unit
from engram.rules.traits import noted_tags

AT_ONCE = 200
"""So many are written in one unit of work."""
LARGEST_COUNT = 2**53
"""Counts beyond this are none that anybody counted, and no file holds them."""
STRANGE_CONFIDENCE = 0.5
"""The most confidence in what is brought by somebody who does not own the file."""
BECAUSE = "brought in as it was elsewhere"
RULE = "import"
UNDO_RULE = "undo"
TIMES = ("created_at", "modified_at", "last_accessed", "verified_at")
OF_PERSONS = "import"
"""Where a relation comes from that a record brought along."""
_ID = re.compile(r"[0-9a-z][0-9a-z_.-]{7,63}")
_EDGE_TYPES = {str(one): one for one in EdgeType}


@dataclass(frozen=True, slots=True)
class _Ready:
    index: int
    draft: Draft
    kept: Mapping[str, Any]
    """The fields that come from elsewhere instead of from here."""


def import_records(
    caller: CallerContext,
    records: Iterable[Mapping[str, Any]],
    *,
    dry: bool = False,
    within_run: bool = False,
    refuse_others: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportedRecords:
    """Take in records as `export` writes them.

    Args:
        caller: who asks.
        records: each with at least `content`; `id`, times, `usage`, `status`, `verification`, `lifecycle` and
            `edges` are kept. An edge names its other end by `target` or `source`, and its `type`.
        dry: check everything and write nothing.
        within_run: whether all of it belongs to one run that can be taken back.
        refuse_others: whether a record of a place the caller may not write to is refused by itself, instead
            of all of them.
        progress: hears how many more are done.

    Returns:
        What became of each record.

    """
    ready, refused = _all_ready(
        caller, records, (InvalidInput, AccessDenied) if refuse_others else (InvalidInput,)
    )
    if dry:
        known = {one.index: str(one.kept["id"]) for one in ready if _is_there(caller, one)}
        return ImportedRecords((), tuple(known.values()), tuple(refused), _in_order(known, ready, refused))
    run = (
        begin(caller.tools.store, RunKind.IMPORT, caller.tools.clock, caller.actor)
        if within_run and ready
        else None
    )
    taken: list[str] = []
    known_ids: list[str] = []
    ids: dict[int, str] = {}
    for start in range(0, len(ready), AT_ONCE):
        some = ready[start : start + AT_ONCE]
        new, old, where = _write(caller, some, run)
        taken += new
        known_ids += old
        ids |= where
        if progress is not None:
            progress(len(some))
    related = _relate(caller, ready, ids, frozenset(taken), run)
    if run is not None:
        _end(caller, run)
    made = run.id if run is not None and (taken or related) else ""
    placed = _in_order(ids, ready, refused)
    return ImportedRecords(tuple(taken), tuple(known_ids), tuple(refused), placed, related, made)


def _in_order(ids: Mapping[int, str], ready: Sequence[_Ready], refused: Sequence[Refusal]) -> tuple[str, ...]:
    return tuple(ids.get(index, "") for index in range(len(ready) + len(refused)))


def _all_ready(
    caller: CallerContext, records: Iterable[Mapping[str, Any]], faults: tuple[type[EngramError], ...]
) -> tuple[list[_Ready], list[Refusal]]:
    ready: list[_Ready] = []
    refused: list[Refusal] = []
    for index, record in enumerate(records):
        check_cancelled()
        try:
            ready.append(_ready(caller, record, index))
        except faults as error:
            refused.append(Refusal(index, error))
        except OverflowError:
            told: EngramError = WrongType(
                "time", record.get("created_at"), "a time between the years 1 and 9999"
            )
            refused.append(Refusal(index, told))
    return ready, refused


def _ready(caller: CallerContext, record: Mapping[str, Any], index: int) -> _Ready:
    if not isinstance(record, Mapping):
        raise WrongType("record", record, "an object")
    kept = _kept(record)
    draft = draft_from({name: value for name, value in record.items() if name not in TIMES})
    # A record that was kept in the default place is taken in where the caller stands.
    draft = caller.mine(replace(draft, scope=HERE) if draft.scope == Scope() else draft)
    caller.check_write(draft.scope)
    return _Ready(index, screen(replace(draft, tags=noted_tags(draft))), kept)


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {
        name: moment(name, record[name]) for name in TIMES if record.get(name) is not None
    }
    if record.get("usage") is not None:
        kept["usage"] = _usage(record["usage"])
    for name, words in (("status", Status), ("verification", Verification), ("lifecycle", Lifecycle)):
        if record.get(name) is not None:
            kept[name] = member(name, words, record[name])
    given = record.get("id")
    if isinstance(given, str) and given.strip():
        kept["id"] = id_of(given)
    edges = record.get("edges")
    kept["edges"] = [one for one in edges if isinstance(one, Mapping)] if isinstance(edges, list) else []
    return kept


def id_of(name: str) -> str:
    """The id that a record of this name gets here: its own where that can be one.

    >>> id_of("EVT-20260128-001"), id_of("7")
    ('evt-20260128-001', 'b1a5efc7-0c4d-5c7f-9eed-6b08e4426ee6')
    """
    given = name.strip().lower()
    return given if _ID.fullmatch(given) else str(uuid.uuid5(uuid.NAMESPACE_OID, f"record\n{name}"))


def _usage(value: Any) -> Usage:
    names = {f.name for f in fields(Usage)}
    if not isinstance(value, Mapping) or not all(
        isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= LARGEST_COUNT
        for count in value.values()
    ):
        raise WrongType("usage", value, "counts")
    return Usage(**{name: count for name, count in value.items() if name in names})


def _is_there(caller: CallerContext, one: _Ready) -> bool:
    there = caller.tools.store.memories.get(one.kept["id"], caller.access) if "id" in one.kept else None
    return there is not None and there.scope == one.draft.scope and not _was_taken_back(caller, there)


def _was_taken_back(caller: CallerContext, memory: Memory) -> bool:
    """Whether it lies in the archive because the import that brought it was taken back."""
    if memory.status is not Status.ARCHIVED:
        return False
    last = caller.tools.store.ledger.events(memory.id, caller.access, 1)
    return bool(last) and last[0].rule == UNDO_RULE


def _write(
    caller: CallerContext, ready: Sequence[_Ready], run: Run | None
) -> tuple[list[str], list[str], dict[int, str]]:
    """The ids that are new, those that were there, and the id of each record."""
    prepared = link(make_ready([one.draft for one in ready], caller.tools), caller.tools)
    made = [(one, item, _as_it_was(item, one.kept)) for item, one in zip(prepared, ready, strict=True)]
    back = {memory.id for one, _, memory in made if _came_back(caller, one)}
    taken: list[str] = []
    known: list[str] = []
    ids: dict[int, str] = {}

    def work(unit: Unit) -> None:
        taken.clear()
        known.clear()
        ids.clear()
        if run is not None:
            unit.within_run(run.id, RULE)
        for one, item, memory in made:
            there = unit.get(memory.id)
            mine = memory
            if there is not None and there.scope == memory.scope:
                ids[one.index] = memory.id
                if memory.id in back:
                    unit.change(replace(there, status=memory.status), Verb.RESTORED, BECAUSE)
                    taken.append(memory.id)
                else:
                    known.append(memory.id)
                continue
            if there is not None:
                mine = replace(memory, id=item.memory.id)
            if not caller.owns_file:
                # Whether the id is taken elsewhere is none of this caller's business: it gets its own.
                mine = _from_a_stranger(replace(memory, id=_id_at(memory)))
                if unit.get(mine.id) is not None:
                    known.append(mine.id)
                    ids[one.index] = mine.id
                    continue
            unit.add(mine, item.findable, item.vector, BECAUSE)
            taken.append(mine.id)
            ids[one.index] = mine.id
        if run is not None:
            unit.within_run("", "")

    caller.tools.store.write(work, caller.actor)
    return list(taken), list(known), dict(ids)


def _came_back(caller: CallerContext, one: _Ready) -> bool:
    there = caller.tools.store.memories.get(one.kept["id"], caller.access) if "id" in one.kept else None
    return there is not None and _was_taken_back(caller, there)


def _id_at(memory: Memory) -> str:
    """An id that a record always gets at one place, whatever there is at others."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\n".join((memory.id, *memory.scope.parts))))


def _from_a_stranger(memory: Memory) -> Memory:
    """What somebody brings who does not own the file counts for less, and nobody has vouched for it here."""
    return replace(
        memory,
        confidence=min(memory.confidence, STRANGE_CONFIDENCE),
        trust=min(memory.trust, STRANGE_CONFIDENCE),
        pinned=False,
        verification=Verification.UNVERIFIED,
    )


def _as_it_was(item: PreparedDraft, kept: Mapping[str, Any]) -> Memory:
    put_aside = item.memory.status is Status.QUARANTINED
    left_out = {"edges", "status"} if put_aside else {"edges"}
    memory = replace(item.memory, **{name: value for name, value in kept.items() if name not in left_out})
    first: datetime = memory.created_at
    if "modified_at" not in kept or memory.modified_at < first:
        memory = replace(memory, modified_at=first)
    return memory


# ---------------------------------------------------------------- relations


def _relate(
    caller: CallerContext,
    ready: Sequence[_Ready],
    ids: Mapping[int, str],
    new: frozenset[str],
    run: Run | None,
) -> int:
    """Draw the relations whose both ends are here and one of which is new; forbidden circles stay out."""
    by_name = {one.kept["id"]: ids[one.index] for one in ready if "id" in one.kept and one.index in ids}
    wanted: dict[tuple[str, str, EdgeType], Edge] = {}
    for one in ready:
        mine = ids.get(one.index)
        for told in one.kept["edges"] if mine is not None else ():
            edge = _edge(told, str(mine), by_name, caller)
            if edge is not None and (edge.source in new or edge.target in new):
                wanted.setdefault((edge.source, edge.target, edge.type), edge)
    edges = list(wanted.values())
    done = 0
    for start in range(0, len(edges), AT_ONCE):
        done += _draw(caller, edges[start : start + AT_ONCE], run)
    return done


def _edge(
    told: Mapping[str, Any], mine: str, by_name: Mapping[str, str], caller: CallerContext
) -> Edge | None:
    """A relation as a record tells it; what the engine drew itself it draws again."""
    kind = _EDGE_TYPES.get(str(told.get("type", "")).lower())
    if kind is None or told.get("origin") == "engine":
        return None
    ends = []
    for name in ("source", "target"):
        other = told.get(name)
        if other is None:
            ends.append(mine)
            continue
        given = id_of(str(other))
        there = by_name.get(given)
        if there is None and caller.tools.store.memories.get(given, caller.access) is not None:
            there = given
        if there is None:
            return None
        ends.append(there)
    if ends[0] == ends[1] or mine not in ends:
        return None
    return Edge(
        ends[0],
        ends[1],
        kind,
        weight=_share(told.get("weight")),
        confidence=_share(told.get("confidence")),
        origin=OF_PERSONS,
    )


def _share(value: Any) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if good else 1.0


def _draw(caller: CallerContext, edges: Sequence[Edge], run: Run | None) -> int:
    drawn = 0
    for edge in edges:

        def work(unit: Unit, edge: Edge = edge) -> None:
            if run is not None:
                unit.within_run(run.id, RULE)
            unit.relate(edge, BECAUSE)
            if run is not None:
                unit.within_run("", "")

        try:
            caller.tools.store.write(work, caller.actor)
        except InvalidInput:
            continue
        drawn += 1
    return drawn


def _end(caller: CallerContext, run: Run) -> None:
    done = replace(run, state=RunState.DONE, finished_at=caller.tools.clock.now())
    caller.tools.store.write(lambda unit: unit.upkeep.note(done), caller.actor)
