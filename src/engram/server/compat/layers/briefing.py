"""Briefing of *layers*: what a session starts with, what an action calls for, and maintenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from engram.errors import UnknownValue
from engram.model.briefing import BriefSection, Resume
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.upkeep import Report
from engram.server.compat.ask import Ask
from engram.server.compat.layers.shapes import brief_of, memory_of
from engram.server.compat.old import Old, Told

FORMATS = ("json", "text")
SECTIONS = ("core", "working", "buffer", "recent", "sessions")
LEAST, MOST = 200, 10_000_000
"""Characters of a resume; those clients say 0 for no limit."""
TRIGGER = "trigger:"
TRIGGERED_MOST = 200
CALLED = {
    "promote": "promoted",
    "demote": "demoted",
    "merge": "merged",
    "archive": "decayed",
    "buffer.rescue": "promoted",
    "buffer.expire": "decayed",
    "buffer.cap": "decayed",
    "reconcile": "reconciled",
    "distill": "distilled",
    "triage": "triaged",
}
"""What a rule of ours, or a family of them, is called there."""
GOOD, BAD = "Good", "Bad"
REFUSED = "audit.refused"
UNSAFE = "audit.refused: unsafe"
ALWAYS = ("promoted", "decayed", "demoted", "merged")
WOULD = {"would_promote": "promoted", "would_decay": "decayed", "would_demote": "demoted"}


def resume(ask: Ask) -> Told:
    """What a session that starts cold should know: its memories, or a text where one is asked for."""
    budget = ask.number("budget")
    room = None if budget is None else int(min(max(budget, LEAST), MOST)) if budget else MOST
    workspace = next(iter(ask.words("workspace")), "")
    found = ask.memory.resume(room, workspace=workspace)
    wanted = ask.text("format", "text" if ask.has("recent_epochs") else "json")
    if wanted not in FORMATS:
        raise UnknownValue("format", wanted, FORMATS)
    return Told(found.text or " ") if wanted == "text" else Told(_listed(ask, found))


def triggers(ask: Ask) -> dict[str, Any]:
    """The memories that an action calls for; each counts as used."""
    action = ask.placed["action"]
    filters = Filters(tags_any=frozenset({TRIGGER + action}))
    found = list(ask.memory.list(filters=filters, limit=TRIGGERED_MOST))
    ask.memory.touch([one.id for one in found])
    return {"action": action, "count": len(found), "memories": [memory_of(one) for one in found]}


def consolidate(ask: Ask) -> dict[str, Any]:
    """Let memories mature; with `dry_run` only tell what would happen."""
    dry = ask.truth("dry_run")
    report = ask.memory.consolidate(dry=dry)
    ids = _ids(report)
    told: dict[str, Any] = {name: len(ids.pop(name, ())) for name in ALWAYS}
    told |= {name: len(found) for name, found in ids.items()}
    if not dry:
        return {**told, "run": report.run.id}
    would = {name: [_would(ask, one) for one in _ids(report).get(done, ())] for name, done in WOULD.items()}
    return {**told, "dry_run": True, **would}


def audit(ask: Ask) -> dict[str, Any]:
    """Let a model look over what is known; what the sandbox allows is carried out."""
    return _graded(ask.memory.audit())


def sandbox(ask: Ask) -> dict[str, Any]:
    """What an audit would do, without doing it."""
    return _graded(ask.memory.audit(dry=True))


def _graded(report: Report) -> dict[str, Any]:
    """Each proposal with its grade, as the audit of those clients tells it."""
    grades = [
        {
            "op": {"rule": one.rule, "id": one.memory, "others": one.related.split()},
            "grade": BAD if one.rule.startswith(REFUSED) else GOOD,
            "reason": one.why,
        }
        for one in report.decided
    ]
    good = sum(one["grade"] == GOOD for one in grades)
    return {
        "run": report.run.id,
        "ops_proposed": len(grades),
        "grades": grades,
        "score": good / len(grades) if grades else 1.0,
        "safe_to_apply": not any(one.rule == UNSAFE for one in report.decided),
        "applied": 0 if report.dry else good,
        "skipped": len(grades) - good,
        "summary": f"{len(grades)} proposals, {good} of them good",
    }


def _ids(report: Report) -> dict[str, list[str]]:
    """Which memories had what happen to them, by what those clients call it; else by the rule's own name."""
    found: dict[str, list[str]] = {}
    for one in report.decided:
        family = one.rule.partition(".")[0]
        name = CALLED.get(one.rule) or CALLED.get(family, family)
        found.setdefault(name, []).append(one.memory)
    return found


def _would(ask: Ask, memory_id: str) -> dict[str, Any]:
    memory = ask.memory.get(memory_id)
    return {"id": memory_id} if memory is None else {"id": memory_id, "content": memory.content}


def _listed(ask: Ask, found: Resume) -> dict[str, Any]:
    hours = ask.number("hours")
    hours = 4.0 if hours is None else min(max(hours, 0.0), 87_600.0)
    since, most = datetime.now(UTC) - timedelta(hours=hours), ask.whole("limit", 100, 1, 1_000)
    sections = {section.name: section for section in found.sections}
    memories = {name: _memories(ask, sections.get(name)) for name in SECTIONS}
    memories["recent"] = [one for one in memories["recent"] if one.modified_at >= since]
    shape: Callable[[Memory], Mapping[str, Any]] = (
        brief_of if ask.truth("compact", default=True) else memory_of
    )
    told = {name: [shape(one) for one in every[:most]] for name, every in memories.items()}
    core = sections.get("core")
    return {
        **told,
        "hours": hours,
        "core_count": len(told["core"]),
        "core_total": len(memories["core"]) + (core.left_out if core else 0),
        "core_summary_used": core is not None and core.how in {"model", "cached"},
        "working_count": len(told["working"]),
        "buffer_count": len(told["buffer"]),
        "recent_count": len(told["recent"]),
        "session_count": len(told["sessions"]),
    }


def _memories(ask: Ask, section: BriefSection | None) -> Sequence[Memory]:
    ids = () if section is None else section.ids
    return [one for one in map(ask.memory.get, ids) if one is not None]


ROUTES: tuple[Old, ...] = (
    Old("GET", "/resume", resume),
    Old("GET", "/triggers/{action:path}", triggers, waits=True),
    Old("POST", "/consolidate", consolidate, owner_only=True),
    Old("POST", "/audit", audit, owner_only=True),
    Old("POST", "/audit/sandbox", sandbox, owner_only=True),
)
