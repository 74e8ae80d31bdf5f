"""The ledger: events come in, one a line; memories come out, and checks, indexes and shorter ledgers.

An event is never edited: what corrects it is a later event that supersedes it. So the ledger alone tells
everything, and the rest of the folder can be made anew from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from engram.lazily import dataclass
from engram.model.clock import written_moment
from engram.model.facts import Edge, EdgeType
from engram.model.memory import TAG_LENGTH_LIMIT, TAG_LIMIT, Memory, Priority, Status
from engram.model.session import LoopState
from engram.rules.commitments import CATEGORY as COMMITMENT
from engram.rules.commitments import details_of, state_of, tags_of
from engram.workspace.pages import event_line

Event = Mapping[str, Any]
TYPES = ("fact", "decision", "preference", "commitment", "constraint", "procedure", "relationship")
PRIORITIES = tuple(str(priority) for priority in Priority)
TYPE_OF = {
    "principle": "constraint", "instruction": "constraint", "skill": "procedure", "person": "relationship",
}  # fmt: skip
"""Categories of ours that are told as another of the seven types; all others are facts."""
TAG_OF = {"insight": "insight", "moment": "milestone"}
"""What is a type here and a tag there."""
ACTIVE_EVENTS = 150
"""So many events the active ledger holds; the rest is archived."""
EXPIRES_DAYS = {"P2": 90, "P3": 30}
"""How long events of the lesser priorities are kept in the active ledger."""
KEPT = "ledger"
"""In the details: what an event said beyond what a memory has a place for."""
ID = re.compile(r"^EVT-(\d{8})-(\d{3,})$")
_OWN = frozenset(
    {"id", "content", "type", "category", "priority", "tags", "status", "session", "related", "supersedes"}
)


def event_type(category: str) -> str:
    """The type of event that a category is told as.

    >>> event_type("commitment"), event_type("instruction"), event_type("moment")
    ('commitment', 'constraint', 'fact')
    """
    return category if category in TYPES else TYPE_OF.get(category, "fact")


def event_id(day: date, number: int) -> str:
    """The id of the n-th event of a day.

    >>> event_id(date(2026, 1, 28), 7)
    'EVT-20260128-007'
    """
    return f"EVT-{day:%Y%m%d}-{number:03}"


class EventIds:
    """Which event stands for which memory of a folder; gives out the next free id of each day."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        """The event of each memory."""
        self.memories: dict[str, str] = {}
        """The memory of each event."""
        self.fresh: list[tuple[str, str]] = []
        """Memories and events that were joined in this sync."""
        self._last: dict[str, int] = {}

    def taken(self, ids: Iterable[str]) -> None:
        """These are given to nobody else."""
        for id_ in ids:
            if match := ID.match(id_.upper()):
                self._last[match[1]] = max(self._last.get(match[1], 0), int(match[2]))

    def join(self, memory_id: str, identity: str) -> None:
        """An event stands for a memory from now on."""
        self.memories[identity] = memory_id
        self.fresh.append((memory_id, identity))

    def read(self, memory_id: str, identity: str) -> None:
        """An event of a file stands for a memory; the last of several is its event."""
        self.of[memory_id] = max(self.of.get(memory_id, ""), identity)

    def take(self, at: datetime) -> str:
        """The next id of a day."""
        day = f"{at:%Y%m%d}"
        self._last[day] = self._last.get(day, 0) + 1
        return event_id(at.date(), self._last[day])

    def give(self, memory: Memory, at: datetime) -> str:
        """The next id of a day, for a memory."""
        self.of[memory.id] = self.take(at)
        self.join(memory.id, self.of[memory.id])
        return self.of[memory.id]

    def event_of(self, memory: Memory) -> str:
        """The event of a memory; a new one where it has none."""
        own = memory.id.upper()
        known_id = self.of.get(memory.id) or (own if ID.match(own) else "")
        self.of[memory.id] = known_id or self.give(memory, memory.local(memory.created_at))
        return self.of[memory.id]


# ---------------------------------------------------------------- from a memory


def event_fields(memory: Memory) -> dict[str, Any]:
    """The fields of an event that a person may edit."""
    tags = [tag for tag in memory.tags if tag != "closed"]
    extra = TAG_OF.get(memory.category)
    fields: dict[str, Any] = {
        "content": memory.content,
        "type": event_type(memory.category),
        "priority": str(memory.priority),
        "tags": tags if extra is None or extra in tags or "page" in memory.details else [*tags, extra],
    }
    if memory.category == COMMITMENT:
        fields["status"] = "open" if state_of(memory).is_open else "closed"
    return fields


def event_notes(
    memory: Memory, identity: str, edges: Sequence[Edge], ids: Mapping[str, str]
) -> dict[str, Any]:
    """What else the event says: when, whom it is about, where it is from, what it belongs to.

    `ids` names the events of other memories.
    """
    stored = memory.details.get(KEPT)
    more = dict(stored) if isinstance(stored, Mapping) else {}
    names = re.findall(r"\w+", memory.entities[0].casefold()) if memory.entities and not more else []
    mine = [edge for edge in edges if edge.source == memory.id and edge.target in ids]
    related = [ids[edge.target] for edge in mine if edge.type is EdgeType.RELATED_TO]
    over = [ids[edge.target] for edge in mine if edge.type is EdgeType.SUPERSEDES]
    return {
        "ts": more.pop("ts", None) or memory.local(memory.created_at).isoformat(timespec="seconds"),
        "id": identity,
        "entity": more.pop("entity", "_".join(names).strip("_") or None),
        "source": more.pop("source", None)
        or memory.details.get("source")
        or ("live" if memory.source in ("human", "agent") else memory.source),
        "session": memory.session or None,
        "related": list(dict.fromkeys(related)) or None,
        "supersedes": over[0] if over else None,
        **({} if memory.category in TYPES else {"category": memory.category}),
        **more,
    }


# ---------------------------------------------------------------- to records


def events_in(text: str) -> list[dict[str, Any]]:
    """Every event of a ledger, the first of those with one id."""
    events: dict[str, dict[str, Any]] = {}
    for line in text.split("\n"):
        event = event_line(line)
        if event is not None:
            events.setdefault(str(event["id"]), event)
    return list(events.values())


def records(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Each event as a record that is taken in as it was: with id, time, status, loop and relations."""
    ids = {str(event["id"]) for event in events}
    over = {str(event["supersedes"]): event for event in events if event.get("supersedes")}
    closed = _closings(event for event in events if event.get("type") == COMMITMENT)
    return [record(event, over.get(str(event["id"])), closed.get(str(event["id"])), ids) for event in events]


def _closings(events: Iterable[Event]) -> dict[str, Event]:
    """What each event was closed by that another says is closed."""
    closing = (event for event in events if event.get("status") == "closed")
    return {other: event for event in closing for other in _ids(event.get("related"))}


def _is_open_loop(event: Event) -> bool:
    return event.get("type") == COMMITMENT and event.get("status", "open") != "closed"


def record(
    event: Event, over: Event | None = None, closed: Event | None = None, ids: Iterable[str] = ()
) -> dict[str, Any]:
    """One event as a record; `over` supersedes it, `closed` is what closed it."""
    identity = str(event["id"])
    here = set(ids)
    more = {name: value for name, value in event.items() if name not in _OWN}
    priority = str(event.get("priority") or "P2").upper()
    tags = tuple(dict.fromkeys(str(tag)[:TAG_LENGTH_LIMIT] for tag in _ids(event.get("tags"))))[:TAG_LIMIT]
    details: dict[str, Any] = {KEPT: more}
    fields_: dict[str, Any] = {
        "id": identity,
        "content": event["content"],
        "category": str(event.get("category") or event.get("type") or "fact").lower(),
        "priority": priority if priority in PRIORITIES else "P2",
        "tags": tags,
        "session": str(event.get("session") or ""),
        "source": "import",
        "status": str(Status.SUPERSEDED if over is not None else Status.ACTIVE),
    }
    at = written_moment(event.get("ts")) or written_moment(_day_of(identity))
    if at is not None:
        fields_ |= {"created_at": at.isoformat(), "event_time": at.isoformat()}
    if fields_["category"] == COMMITMENT:
        ended = event if closed is None and event.get("status") == "closed" else closed
        state = LoopState.OPEN if ended is None else LoopState.DONE
        end = written_moment(ended.get("ts")) if ended is not None else None
        why = "" if ended is None or ended is event else str(ended["content"])
        details = details_of(state, details, closed=(end, why) if end is not None else None)
        fields_["tags"] = tags_of(state, tags)
    edges = [{"target": id_, "type": "related_to"} for id_ in _ids(event.get("related")) if id_ in here]
    if event.get("supersedes") in here:
        edges.append({"target": str(event["supersedes"]), "type": "supersedes"})
    return {**fields_, "details": details, "edges": edges}


def _ids(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(item) for item in value] if isinstance(value, Sequence) else []


def _day_of(identity: str) -> str:
    match = ID.match(identity.upper())
    return f"{match[1][:4]}-{match[1][4:6]}-{match[1][6:]}" if match else ""


# ---------------------------------------------------------------- indexes and checks


def open_loops(events: Sequence[Event]) -> list[str]:
    """Ids of the commitments that are open, oldest first."""
    over = {str(event.get("supersedes")) for event in events if event.get("supersedes")}
    ended = over.union(_closings(event for event in events if event.get("type") == COMMITMENT))
    loops = [event for event in events if _is_open_loop(event) and str(event["id"]) not in ended]
    loops.sort(key=lambda event: (str(event.get("ts") or ""), str(event["id"])))
    return [str(event["id"]) for event in loops]


def checkpoint(
    events: Sequence[Event], now: datetime, before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """How far the ledger has been worked through."""
    last = str(events[-1]["id"]) if events else ""
    return {
        **(before or {}),
        "last_processed_event_id": last,
        "last_run_ts": now.isoformat(timespec="seconds"),
        "events_processed": len(events),
    }


@dataclass
class Integrity:
    """What a check of the ledger found."""

    passed: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, name: str, failures: Sequence[str]) -> None:
        """Note how one check went."""
        self.failures += [f"{name}: {failure}" for failure in failures]
        self.passed += [] if failures else [name]

    def as_json(self, now: datetime) -> dict[str, Any]:
        """The report as it is kept in the folder."""
        return {
            "ts": now.isoformat(timespec="seconds"),
            "checks_passed": self.passed,
            "checks_failed": len(self.failures),
            "failures": self.failures,
            "warnings": [],
        }


def integrity(
    text: str, archived: str = "", loops: Any = None, at: Mapping[str, Any] | None = None
) -> Integrity:
    """Check a ledger: its JSON, ids, references, index and checkpoint.

    `archived` are lines that were moved out: what they hold may be referred to.
    """
    checks = Integrity()
    bad, ids, events = [], [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        event = event_line(line)
        if event is None:
            bad.append(f"line {number} is no event")
            continue
        ids.append(str(event["id"]))
        events.append(event)
    checks.add("valid JSON", bad)
    ids_known = {*ids, *(str(event["id"]) for event in events_in(archived))}
    checks.add("no duplicate ids", sorted({f"{id_} occurs twice" for id_ in ids if ids.count(id_) > 1}))
    checks.add("ids of the right form", [f"{id_} is no EVT-YYYYMMDD-NNN" for id_ in ids if not ID.match(id_)])
    checks.add("sequential ids", _gaps(sorted({id_ for id_ in ids_known if ID.match(id_)})))
    checks.add("supersession references", _dangling(events, "supersedes", ids_known))
    checks.add("related references", _dangling(events, "related", ids_known))
    for name, title, known in (("type", "types", TYPES), ("priority", "priorities", PRIORITIES)):
        odd = [event for event in events if event.get(name) not in known]
        checks.add(title, [f"{event['id']} has {name} {event.get(name)!r}" for event in odd])
    if loops is not None:
        listed = loops.get("open_commitments", []) if isinstance(loops, Mapping) else loops
        named = [entry.get("id", "") if isinstance(entry, Mapping) else str(entry) for entry in listed]
        wrong = sorted(set(named) ^ set(open_loops(events)))
        checks.add("open loops", [f"{id_} is wrong in the index" for id_ in wrong])
    if at:
        last = at.get("last_processed_event_id")
        checks.add("checkpoint", [f"{last} is no event"] if last and last not in ids_known else [])
    return checks


def _gaps(ids: Sequence[str]) -> list[str]:
    days: dict[str, list[int]] = {}
    for id_ in ids:
        match = ID.match(id_)
        if match:
            days.setdefault(match[1], []).append(int(match[2]))
    return [
        f"EVT-{day}: {number:03} is missing"
        for day, numbers in days.items()
        for number in sorted(set(range(1, max(numbers))) - set(numbers))
    ]


def _dangling(events: Sequence[Event], name: str, ids: set[str]) -> list[str]:
    return [f"{e['id']} names {id_}" for e in events for id_ in _ids(e.get(name)) if id_ not in ids]


def repair(text: str) -> tuple[str, str, list[str]]:
    r"""A ledger whose ids are one of a kind, the lines that are no events, and what was done, in words.

    >>> good = '{"id": "EVT-20260128-001", "content": "a"}'
    >>> text, damaged, repairs = repair(good + "\n{broken\n" + good.replace('"a"', '"b"'))
    >>> damaged, repairs[0]
    ('{broken\n', 'line 2 is no event: moved aside')
    >>> repairs[1]
    'EVT-20260128-001 occurred twice: the later is EVT-20260128-002'
    """
    lines, damaged, repairs = [], [], []
    ids = EventIds()
    ids.taken(str(event["id"]) for event in map(event_line, text.split("\n")) if event)
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        event = event_line(line)
        if event is None:
            damaged.append(line)
            repairs.append(f"line {number} is no event: moved aside")
            continue
        if event["id"] in seen:
            at = written_moment(event.get("ts")) or written_moment(_day_of(str(event["id"])))
            fresh = ids.take(at or datetime.now(UTC))
            repairs.append(f"{event['id']} occurred twice: the later is {fresh}")
            event = {**event, "id": fresh}
            lines.append(json.dumps(event, ensure_ascii=False))
        else:
            lines.append(line)
        seen.add(str(event["id"]))
    end = "\n" if lines else ""
    return "\n".join(lines) + end, "".join(f"{line}\n" for line in damaged), repairs


def split_for_compaction(
    events: Sequence[Event], now: datetime, most: int = ACTIVE_EVENTS
) -> tuple[list[Event], list[Event]]:
    """The events that stay in the active ledger and those that are archived, each in their order.

    Closed loops and superseded facts leave their last word; P2 and P3 leave when they expire. If that is not
    enough, the oldest of P3 go, then of P2. P0 and P1 always stay.
    """
    gone = {str(event.get("supersedes")) for event in events if event.get("supersedes")}
    gone.update(_closings(events))
    for event in events:
        at = written_moment(event.get("ts"))
        age = EXPIRES_DAYS.get(str(event.get("priority")))
        expired = age is not None and at is not None and now - at > timedelta(days=age)
        if expired and not _is_open_loop(event):
            gone.add(str(event["id"]))
    for priority in ("P3", "P2"):
        staying = [event for event in events if str(event["id"]) not in gone]
        lesser = [
            event for event in staying if event.get("priority") == priority and not _is_open_loop(event)
        ]
        gone.update(str(event["id"]) for event in lesser[: max(0, len(staying) - most)])
    stay = [event for event in events if str(event["id"]) not in gone]
    return stay, [event for event in events if str(event["id"]) in gone]
