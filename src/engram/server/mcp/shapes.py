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
"""Decisions of a run that are listed; the counts are of all."""
_HIDDEN = frozenset({"content_hash", "forms", "scope", "affect", "strength", "surprise", "metadata"})


def shaped(value: Any, access: Access) -> Any:
    """A value as agents get it: known kinds in a shape of their own, all others without empty fields."""
    shape = _SHAPES.get(type(value))
    if shape is not None:
        return shape(value, access)
    if is_dataclass(value) and not isinstance(value, type):
        return without_empty({f.name: shaped(getattr(value, f.name), access) for f in fields(value)})
    if isinstance(value, Mapping):
        return {str(plain(key)): shaped(item, access) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [shaped(item, access) for item in value]
    return plain(value)


def without_empty(fields_: Mapping[str, Any]) -> dict[str, Any]:
    """Only the fields that say something."""
    return {name: value for name, value in fields_.items() if value not in (None, "", [], {})}


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


def hit(match: Hit, access: Access) -> dict[str, Any]:
    """A memory that answers, and how well: to an agent in a word, for figures can be misused."""
    score = public_score(match, access)
    shown = score if isinstance(score, str) else round(score, 4)
    return brief_memory(match.memory) | {"content": match.text, "score": shown}


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
        "memories": [receipt(each) for each in heard.receipts],
        "waiting": heard.waiting,
        "because": heard.because,
        **({"trouble": heard.trouble} if heard.trouble else {}),
    }


def profile(profile_: Profile, access: Access) -> dict[str, Any]:
    """What is known about one entity."""
    return {
        **_entity(profile_.entity, access),
        "facts": [_claim(fact, access) for fact in profile_.facts],
        "memories": [brief_memory(memory) for memory in profile_.memories],
        "beside": [name for name, _ in profile_.beside],
        **without_empty({"card": profile_.card.text if profile_.card else ""}),
    }


def label(memory: Memory) -> str:
    """A title for a memory: its own label, or the beginning of its words."""
    words = memory.forms.label or memory.forms.key_fact or " ".join(memory.content.split())
    return words if len(words) <= LABEL_LENGTH else words[: LABEL_LENGTH - 1].rstrip() + "…"


def _claim(stated: Claim, _: Access) -> dict[str, Any]:
    shown = {name: value for name, value in plain(stated.fact).items() if value is not None}
    return shown | {"memory": stated.memory.id}


def _entity(entity: Entity, _: Access) -> dict[str, Any]:
    shown = {
        "name": entity.name,
        "type": entity.type,
        "aliases": [*entity.aliases],
        "mentions": entity.mentions,
    }
    return without_empty(shown)


def _step(step: TimelineStep, _: Access) -> dict[str, Any]:
    shown = {"at": step.at.isoformat(), "kind": str(step.kind), "what": step.what, "memory": step.memory.id}
    return shown | without_empty({"change": step.change})


def _reasoning(thought: Reasoning, access: Access) -> dict[str, Any]:
    return {
        "answer": [
            {"claim": conclusion.claim, "memories": [*conclusion.memories]} for conclusion in thought.answer
        ],
        "tree": _branch(thought.tree, access),
        "gaps": [*thought.gaps],
        "notes": [*thought.notes],
    }


def _branch(branch: Branch, access: Access) -> dict[str, Any]:
    shown = {
        "question": branch.question,
        "memories": [hit(match, access) for match in branch.hits],
        "branches": [_branch(inner, access) for inner in branch.branches],
    }
    return without_empty(shown)


def _completed(done: Completed, _: Access) -> dict[str, Any]:
    memories = [memory for memory in (done.summary, *done.lessons) if memory is not None]
    return {"kept": [memory.id for memory in memories], "promoted": [memory.id for memory in done.promoted]}


def _report(report: Report, _: Access) -> dict[str, Any]:
    answer: dict[str, Any] = plain(report)
    more = answer["more"] or len(answer["decided"]) > DECISIONS
    return {**answer, "decided": answer["decided"][:DECISIONS], "more": more}


def _drift(report: DriftReport, _: Access) -> dict[str, Any]:
    answer: dict[str, Any] = plain(report)
    run = answer.pop("run")
    return answer | ({"run": run["run"]["id"]} if run else {})


def _parts(page: Resume | RecallPack, access: Access, size: str) -> dict[str, Any]:
    return {"text": page.text, size: getattr(page, size), "sections": shaped(page.sections, access)}


_SHAPES: Mapping[type, Callable[[Any, Access], Any]] = {
    Begun: lambda begun, _: {
        "messages": plain(begun.messages),
        "topic": begun.topic.value,
        "questions": [gap.question for gap in begun.questions],
    },
    Claim: _claim,
    Completed: _completed,
    DriftReport: _drift,
    Entity: _entity,
    Event: lambda event, _: without_empty(plain(event)),
    Hit: hit,
    IngestReport: lambda report, _: {
        "counts": dict(report.counts),
        "memories": [memory for item in report.items for memory in item.memories],
        "dry": report.dry,
    },
    Learned: lambda way, _: {"id": way.memory.id, "runs": way.runs, "success_rate": way.success_rate},
    Lying: lambda lying, _: {
        "memories": [
            {"id": item.memory.id, "content": item.memory.content, "deleted_at": item.deleted_at.isoformat()}
            for item in lying.items
        ],
        "total": lying.total,
    },
    Memory: brief_memory,
    Observation: observation,
    Path: lambda path, _: {"names": [*path.names], "text": str(path)},
    Profile: profile,
    Reasoning: _reasoning,
    RecallHealth: lambda health, _: {"ok": health.ok, "health": plain(health)},
    RecallPack: lambda pack, access: {**_parts(pack, access, "words"), "triggered": [*pack.triggered]},
    Receipt: receipt,
    Report: _report,
    Resume: lambda resume, access: _parts(resume, access, "characters"),
    Timeline: lambda line, access: {"about": line.about, "steps": [_step(step, access) for step in line]},
    TimelineStep: _step,
    Turn: lambda turn, _: {
        "id": turn.id,
        "who": turn.speaker or str(turn.part),
        "at": turn.at.isoformat(timespec="seconds"),
        "content": turn.content,
    },
}
