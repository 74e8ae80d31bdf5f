"""Shapes: a value of the model comes in; what an agent needs of it goes out, in few words: they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from engram.api.browsing import Lying
from engram.api.facts import Profile
from engram.api.session_services import Completed, Learned
from engram.api.sessions import Begun
from engram.model.capture import IngestReport, Observation, Receipt, Turn
from engram.model.context import RecallPack, Resume
from engram.model.event import Event
from engram.model.facts import Claim, Entity
from engram.model.maintenance import DriftReport, Report
from engram.model.memory import Memory, Status
from engram.model.plain import plain
from engram.model.recall import Branch, Hit, Reasoning, RecallHealth, Timeline, TimelineStep, public_score
from engram.rules.chains import Path

if TYPE_CHECKING:
    from engram.model.scope import Access

LABEL_LENGTH = 80
DECISIONS = 50
"""Decisions of a run that are told; the counts tell of all."""
_HIDDEN = frozenset({"content_hash", "forms", "scope", "affect", "strength", "surprise", "metadata"})


def shaped(value: Any, access: Access) -> Any:
    """A value as an agent is told it: known kinds in their own words, all others without what is empty."""
    made = _SHAPES.get(type(value))
    if made is not None:
        return made(value, access)
    if is_dataclass(value) and not isinstance(value, type):
        return without_empty({f.name: shaped(getattr(value, f.name), access) for f in fields(value)})
    if isinstance(value, Mapping):
        return {str(plain(key)): shaped(item, access) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [shaped(item, access) for item in value]
    return plain(value)


def without_empty(told: Mapping[str, Any]) -> dict[str, Any]:
    """Only the fields that say something."""
    return {name: value for name, value in told.items() if value not in (None, "", [], {})}


def brief_memory(memory: Memory, _: Access | None = None) -> dict[str, Any]:
    """A memory in a list: what it says, when, and what a reader must be warned of."""
    shown: dict[str, Any] = {
        "id": memory.id,
        "content": memory.shown,
        "category": memory.category,
        "when": memory.happened_at.isoformat(timespec="seconds"),
    }
    if memory.tags:
        shown["tags"] = [*memory.tags]
    if memory.pinned:
        shown["pinned"] = True
    if memory.status is not Status.ACTIVE:
        shown["status"] = str(memory.status)
    return shown


def full_memory(memory: Memory) -> dict[str, Any]:
    """Everything about a memory that says something: empty fields and inner workings are left out."""
    return without_empty({name: value for name, value in plain(memory).items() if name not in _HIDDEN})


def changed_memory(memory: Memory) -> dict[str, Any]:
    """A memory after a change."""
    return {
        "id": memory.id,
        "status": str(memory.status),
        "content": memory.content,
        "layer": str(memory.layer),
        "pinned": memory.pinned,
    }


def hit(found: Hit, access: Access) -> dict[str, Any]:
    """A memory that answers, and how well: to an agent in a word, for figures can be misused."""
    score = public_score(found, access)
    told = score if isinstance(score, str) else round(score, 4)
    return brief_memory(found.memory) | {"content": found.text, "score": told}


def receipt(done: Receipt, _: Access | None = None) -> dict[str, Any]:
    """What became of a statement."""
    shown = {
        "id": done.memory.id,
        "outcome": str(done.outcome),
        "because": done.because,
        "content": done.memory.content,
    }
    return shown | ({"other": done.other} if done.other else {})


def observation(heard: Observation, _: Access | None = None) -> dict[str, Any]:
    """What was made of something said."""
    return {
        "logged": heard.logged,
        "memories": [receipt(one) for one in heard.receipts],
        "waiting": heard.waiting,
        "because": heard.because,
        **({"trouble": heard.trouble} if heard.trouble else {}),
    }


def profile(known: Profile, access: Access) -> dict[str, Any]:
    """What is known about one entity."""
    return {
        **_entity(known.entity, access),
        "facts": [_claim(one, access) for one in known.facts],
        "memories": [brief_memory(one) for one in known.memories],
        "beside": [name for name, _ in known.beside],
        **without_empty({"card": known.card.text if known.card else ""}),
    }


def label(memory: Memory) -> str:
    """A title for a memory: its own label, or the beginning of its words."""
    words = memory.forms.label or memory.forms.key_fact or " ".join(memory.content.split())
    return words if len(words) <= LABEL_LENGTH else words[: LABEL_LENGTH - 1].rstrip() + "…"


def _turn(said: Turn, _: Access) -> dict[str, Any]:
    who = said.speaker or str(said.part)
    return {"id": said.id, "who": who, "at": said.at.isoformat(timespec="seconds"), "content": said.content}


def _event(happened: Event, _: Access) -> dict[str, Any]:
    return without_empty(plain(happened))


def _claim(stated: Claim, _: Access) -> dict[str, Any]:
    shown = {name: value for name, value in plain(stated.fact).items() if value is not None}
    return shown | {"memory": stated.memory.id}


def _path(path: Path, _: Access) -> dict[str, Any]:
    return {"names": [*path.names], "text": str(path)}


def _entity(one: Entity, _: Access) -> dict[str, Any]:
    shown = {"name": one.name, "type": one.type, "aliases": [*one.aliases], "mentions": one.mentions}
    return without_empty(shown)


def _timeline(told: Timeline, access: Access) -> dict[str, Any]:
    return {"about": told.about, "steps": [_step(one, access) for one in told]}


def _step(one: TimelineStep, _: Access) -> dict[str, Any]:
    shown = {"at": one.at.isoformat(), "kind": str(one.kind), "what": one.what, "memory": one.memory.id}
    return shown | without_empty({"change": one.change})


def _reasoning(thought: Reasoning, access: Access) -> dict[str, Any]:
    return {
        "answer": [{"claim": one.claim, "memories": [*one.memories]} for one in thought.answer],
        "tree": _branch(thought.tree, access),
        "gaps": [*thought.gaps],
        "notes": [*thought.notes],
    }


def _branch(one: Branch, access: Access) -> dict[str, Any]:
    shown = {
        "question": one.question,
        "memories": [hit(found, access) for found in one.hits],
        "branches": [_branch(branch, access) for branch in one.branches],
    }
    return without_empty(shown)


def _trash(lying: Lying, _: Access) -> dict[str, Any]:
    memories = [
        {"id": one.memory.id, "content": one.memory.content, "deleted_at": one.deleted_at.isoformat()}
        for one in lying.items
    ]
    return {"memories": memories, "total": lying.total}


def _begun(begun: Begun, _: Access) -> dict[str, Any]:
    return {
        "messages": plain(begun.messages),
        "topic": begun.topic.value,
        "questions": [gap.question for gap in begun.questions],
    }


def _learned(learned: Learned, _: Access) -> dict[str, Any]:
    return {"id": learned.memory.id, "runs": learned.runs, "success_rate": learned.success_rate}


def _completed(done: Completed, _: Access) -> dict[str, Any]:
    kept = [one for one in (done.summary, *done.lessons) if one is not None]
    return {"kept": [one.id for one in kept], "promoted": [one.id for one in done.promoted]}


def _ingested(report: IngestReport, _: Access) -> dict[str, Any]:
    kept = [one for item in report.items for one in item.memories]
    return {"counts": dict(report.counts), "memories": kept, "dry": report.dry}


def _report(report: Report, _: Access) -> dict[str, Any]:
    told: dict[str, Any] = plain(report)
    more = told["more"] or len(told["decided"]) > DECISIONS
    return {**told, "decided": told["decided"][:DECISIONS], "more": more}


def _drift(found: DriftReport, _: Access) -> dict[str, Any]:
    told: dict[str, Any] = plain(found)
    run = told.pop("run")
    return told | ({"run": run["run"]["id"]} if run else {})


def _resume(found: Resume, access: Access) -> dict[str, Any]:
    return {
        "text": found.text,
        "characters": found.characters,
        "sections": shaped(found.sections, access),
    }


def _pack(found: RecallPack, access: Access) -> dict[str, Any]:
    return {
        "text": found.text,
        "words": found.words,
        "sections": shaped(found.sections, access),
        "triggered": [*found.triggered],
    }


def _health(health: RecallHealth, _: Access) -> dict[str, Any]:
    return {"ok": health.ok, "health": plain(health)}


_SHAPES: Mapping[type, Callable[[Any, Access], Any]] = {
    Begun: _begun,
    Claim: _claim,
    Completed: _completed,
    DriftReport: _drift,
    Entity: _entity,
    Event: _event,
    Hit: hit,
    IngestReport: _ingested,
    Learned: _learned,
    Lying: _trash,
    Memory: brief_memory,
    Observation: observation,
    Path: _path,
    Profile: profile,
    Reasoning: _reasoning,
    RecallHealth: _health,
    RecallPack: _pack,
    Receipt: receipt,
    Report: _report,
    Resume: _resume,
    Timeline: _timeline,
    TimelineStep: _step,
    Turn: _turn,
}
