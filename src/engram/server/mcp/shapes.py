"""Shapes: a value of the model comes in; what an agent needs of it goes out, in few words: they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
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
from engram.operations.values import pick
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
    shown = pick(memory, "id content:shown category when:happened_at", time=_to_the_second)
    status = "" if memory.status is Status.ACTIVE else str(memory.status)
    seldom = {"tags": [*memory.tags], "pinned": memory.pinned or None, "status": status}
    return shown | without_empty(seldom)


def _to_the_second(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def full_memory(memory: Memory) -> dict[str, Any]:
    """Everything about a memory that says something: empty fields and inner workings are left out."""
    return without_empty({name: value for name, value in plain(memory).items() if name not in _HIDDEN})


def changed_memory(memory: Memory) -> dict[str, Any]:
    """A memory after a change."""
    return pick(memory, "id status content layer pinned")


def hit(match: Hit, access: Access) -> dict[str, Any]:
    """A memory that answers, and how well: to an agent in a word, for figures can be misused."""
    score = public_score(match, access)
    shown = score if isinstance(score, str) else round(score, 4)
    return brief_memory(match.memory) | {"content": match.text, "score": shown}


def receipt(done: Receipt, _: Access | None = None) -> dict[str, Any]:
    """What became of a statement."""
    shown = pick(done, "id:memory.id outcome because content:memory.content")
    return shown | without_empty({"other": done.other})


def observation(heard: Observation, _: Access | None = None) -> dict[str, Any]:
    """What was made of something said."""
    return {
        "logged": heard.logged,
        "memories": [*map(receipt, heard.receipts)],
        **pick(heard, "waiting because"),
        **without_empty({"trouble": heard.trouble}),
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
    return without_empty(pick(entity, "name type aliases mentions"))


def _step(step: TimelineStep, _: Access) -> dict[str, Any]:
    return pick(step, "at kind what memory:memory.id") | without_empty({"change": step.change})


def _reasoning(thought: Reasoning, access: Access) -> dict[str, Any]:
    return {
        "answer": [pick(conclusion, "claim memories") for conclusion in thought.answer],
        "tree": _branch(thought.tree, access),
        **pick(thought, "gaps notes"),
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
    Learned: lambda way, _: pick(way, "id:memory.id runs success_rate"),
    Lying: lambda lying, _: {
        "memories": [pick(item, "id:memory.id content:memory.content deleted_at") for item in lying.items],
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
        **pick(turn, "at content", time=_to_the_second),
    },
}
