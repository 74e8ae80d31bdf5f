"""Importing records: they come in as they were elsewhere, with ids, times, counts, status and relations.

Unlike remembering, nothing is compared with what is known: a record is there already, or it is taken. All of
it belongs to one run, which `undo` takes back as a whole; cut off, it goes on where it stopped.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from engram.api.caller import CallerContext
from engram.capture.pipeline import make_ready
from engram.capture.settle import link
from engram.errors import AccessDenied, CycleRefused, EngramError, InvalidInput, WrongType
from engram.lazily import dataclass
from engram.maintain.pipeline import begin_run
from engram.model.capture import Draft, ImportedRecords, Refusal
from engram.model.clock import check_cancelled
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Run, RunKind, RunState
from engram.model.memory import Lifecycle, Memory, Status, Usage, Verification
from engram.model.plain import draft_from, member, moment
from engram.model.scope import HERE, Scope
from engram.ports import Unit
from engram.rules.enrich import PreparedDraft
from engram.rules.screen import screen
from engram.rules.traits import noted_tags
from engram.text import re

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
_EDGE_TYPES = {str(edge_type): edge_type for edge_type in EdgeType}


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
    caller.tools.pressure.check_room("import")
    ready, refused = _all_ready(
        caller, records, (InvalidInput, AccessDenied) if refuse_others else (InvalidInput,)
    )
    if dry:
        known = {one.index: str(one.kept["id"]) for one in ready if _is_there(caller, one)}
        return ImportedRecords((), tuple(known.values()), tuple(refused), _in_order(known, ready, refused))
    run = (
        begin_run(caller.tools.store, RunKind.IMPORT, caller.tools.clock, caller.actor)
        if within_run and ready
        else None
    )
    taken: list[str] = []
    known_ids: list[str] = []
    ids: dict[int, str] = {}
    relations = _Relations(caller, ready)
    for start in range(0, len(ready), AT_ONCE):
        some = ready[start : start + AT_ONCE]
        new, old, where = _write(caller, some, run, relations)
        taken += new
        known_ids += old
        ids |= where
        if progress is not None:
            progress(len(some))
    related = relations.drawn
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
    kept["edges"] = [edge for edge in edges if isinstance(edge, Mapping)] if isinstance(edges, list) else []
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


def _there(caller: CallerContext, ready: _Ready) -> tuple[Memory | None, bool]:
    """The memory that has a record's id, and whether it is archived as the import of it was taken back."""
    memory = caller.tools.store.memories.get(ready.kept["id"], caller.access) if "id" in ready.kept else None
    if memory is None or memory.status is not Status.ARCHIVED:
        return memory, False
    last = caller.tools.store.ledger.events(memory.id, caller.access, 1)
    return memory, bool(last) and last[0].rule == UNDO_RULE


def _is_there(caller: CallerContext, ready: _Ready) -> bool:
    there, taken_back = _there(caller, ready)
    return there is not None and there.scope == ready.draft.scope and not taken_back


def _write(
    caller: CallerContext, ready: Sequence[_Ready], run: Run | None, relations: _Relations
) -> tuple[list[str], list[str], dict[int, str]]:
    """The ids that are new, those that were there, and the id of each record."""
    prepared = link(make_ready([one.draft for one in ready], caller.tools, foreign=True), caller.tools)
    made = [(one, item, _as_it_was(item, one.kept)) for item, one in zip(prepared, ready, strict=True)]
    back = {memory.id for one, _, memory in made if _there(caller, one)[1]}
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
        relations.draw(unit, ids, frozenset(taken))
        if run is not None:
            unit.within_run("", "")

    namespaces = {memory.scope.namespace for _, _, memory in made}
    caller.tools.store.write(work, caller.actor, namespaces.pop() if len(namespaces) == 1 else "")
    relations.settle()
    return list(taken), list(known), dict(ids)


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


class _Relations:
    """The relations that records bring, each drawn in the unit of work that writes the later of its ends.

    So a memory never stands without them, wherever an import is cut off; taken up again, the relations of
    what is there already are left as they are. Lives for one import, in one thread.
    """

    def __init__(self, caller: CallerContext, ready: Sequence[_Ready]) -> None:
        self._names = {one.index: str(one.kept["id"]) for one in ready if "id" in one.kept}
        self._coming = {*self._names.values()}
        self._told = {one.index: [e for e in one.kept["edges"] if _edge_type(e)] for one in ready}
        ends = {id_of(name) for some in self._told.values() for told in some for name in _ends(told)}
        found = caller.tools.store.memories
        there = (found.get(name, caller.access) for name in ends - self._coming)
        self._placed: dict[str, str] = {memory.id: memory.id for memory in there if memory is not None}
        self._ahead: list[tuple[str, Mapping[str, Any]]] = []
        """Relations, and whose they are, whose other end comes later."""
        self._left: list[tuple[str, Mapping[str, Any]]] = []
        self._drawing = 0
        self.drawn = 0

    def draw(self, unit: Unit, ids: Mapping[int, str], new: frozenset[str]) -> None:
        """Draw what has both ends now, one of them new; forbidden circles stay out."""
        self._placed |= {self._names[index]: mine for index, mine in ids.items() if index in self._names}
        waiting = [*self._ahead, *((ids[index], told) for index in ids for told in self._told[index])]
        wanted: dict[tuple[str, str, EdgeType], Edge] = {}
        self._left, self._drawing = [], 0
        for mine, told in waiting:
            edge = _edge(told, mine, self._placed)
            if edge is None:
                if all(one in self._coming or one in self._placed for one in map(id_of, _ends(told))):
                    self._left.append((mine, told))
            elif edge.source in new or edge.target in new:
                wanted.setdefault((edge.source, edge.target, edge.type), edge)
        for edge in wanted.values():
            with suppress(CycleRefused):
                unit.relate(edge, BECAUSE)
                self._drawing += 1

    def settle(self) -> None:
        """The unit of work is written: what it drew is done."""
        self.drawn += self._drawing
        self._ahead = self._left


def _edge_type(told: Mapping[str, Any]) -> EdgeType | None:
    """The type of a relation as a record tells it; what the engine drew itself it draws again."""
    return None if told.get("origin") == "engine" else _EDGE_TYPES.get(str(told.get("type", "")).lower())


def _ends(told: Mapping[str, Any]) -> list[str]:
    return [str(told[name]) for name in ("source", "target") if told.get(name) is not None]


def _edge(told: Mapping[str, Any], mine: str, placed: Mapping[str, str]) -> Edge | None:
    kind = _edge_type(told)
    ends = [
        mine if told.get(name) is None else placed.get(id_of(str(told[name])), "")
        for name in ("source", "target")
    ]
    if kind is None or not all(ends) or ends[0] == ends[1] or mine not in ends:
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


def _end(caller: CallerContext, run: Run) -> None:
    done = replace(run, state=RunState.DONE, finished_at=caller.tools.clock.now())
    caller.tools.store.write(lambda unit: unit.upkeep.note(done), caller.actor)
