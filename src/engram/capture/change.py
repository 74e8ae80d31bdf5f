"""Changing: a memory and what should be different about it come in; the memory as it is now goes out.

Each change happens inside the writer on the memory as it is there: two callers cannot overwrite each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engram.capture import screen
from engram.capture.enrich import findable, said_at, spoken_of
from engram.errors import EmbedderError, NotFound, UnknownValue
from engram.model.event import Verb
from engram.model.memory import (
    SUSPICION,
    Kind,
    Lifecycle,
    Memory,
    Policy,
    Priority,
    Status,
    Tier,
    Type,
    Verification,
)
from engram.model.plain import member, moment
from engram.ports import Embedded, Tools, Unit
from engram.rules.archival import check_transition
from engram.rules.injection import SIGNS, marked, released
from engram.rules.sensitivity import at_least, tier_of
from engram.text import names, words
from engram.text.forms import FormsOnDemand, key_text

_AXES = {"kind": Kind, "type": Type, "priority": Priority, "policy": Policy, "tier": Tier}
_TIMES = ("event_time", "valid_from", "valid_to", "expires_at")
_SHARES = ("importance", "confidence")
CHANGEABLE = ("content", "category", "tags", "details", *_AXES, *_SHARES, *_TIMES)
"""What `update` may change; the rest has verbs of its own."""

_STANDING = {"status": Status, "verification": Verification}
STATUS_VERBS = {Status.ARCHIVED: Verb.ARCHIVED, Status.ACTIVE: Verb.RESTORED}


def update(memory_id: str, changes: Mapping[str, Any], tools: Tools, actor: str, because: str) -> Memory:
    """Change fields of a memory as a new version of it. Nothing to change changes nothing."""
    return _rewrite(memory_id, {f: _clean(f, value) for f, value in changes.items()}, tools, actor, because)


def revise(memory_id: str, changes: Mapping[str, Any], tools: Tools, actor: str, because: str) -> Memory:
    """As `update`, and what a person says of a memory's standing in the same breath.

    That is `status`, `verification`, `verified_at` and `pinned`, as a page of the workspace tells them.
    """
    clean: dict[str, Any] = {}
    for field, value in changes.items():
        if field in _STANDING:
            clean[field] = member(field, _STANDING[field], value)
        elif field == "verified_at":
            clean[field] = moment(field, value)
        elif field == "pinned":
            clean[field] = bool(value)
        else:
            clean[field] = _clean(field, value)
    return _rewrite(memory_id, clean, tools, actor, because)


def _rewrite(memory_id: str, clean: Mapping[str, Any], tools: Tools, actor: str, because: str) -> Memory:
    vector = _embed(clean["content"], memory_id, tools) if "content" in clean else None

    def work(unit: Unit) -> Memory:
        old = _get(unit, memory_id)
        new = _with(old, clean)
        if new == old:
            return old
        if new.status is not old.status:
            check_transition(old.status, new.status)
        new = replace(new, version=old.version + 1, modified_at=tools.clock.now())
        found = findable(new, names.entities(new.content))
        only = STATUS_VERBS.get(new.status, Verb.STATUS_CHANGED) if set(clean) == {"status"} else Verb.UPDATED
        unit.change(new, only, because or "edited", findable=found)
        if vector is not None and new.content != old.content:
            unit.embed(new.id, vector)
        return new

    return tools.store.write(work, actor)


def set_status(memory_id: str, status: Status, tools: Tools, actor: str, because: str) -> Memory:
    """Move a memory to another status; the ledger keeps old, new, reason, time and actor."""

    def change(old: Memory) -> Memory:
        if old.status is not status:
            check_transition(old.status, status)
        new = replace(old, status=status, valid_to=None if status is Status.ACTIVE else old.valid_to)
        return released(new) if old.status is Status.QUARANTINED and status is Status.ACTIVE else new

    verb = STATUS_VERBS.get(status, Verb.STATUS_CHANGED)
    return _change(memory_id, change, verb, tools, actor, because)


def pin(memory_id: str, *, pinned: bool, tools: Tools, actor: str) -> Memory:
    """Make a memory immune to forgetting, or let it go again."""
    verb = Verb.PINNED if pinned else Verb.UNPINNED
    return _change(memory_id, lambda old: replace(old, pinned=pinned), verb, tools, actor, "")


def confirm(memory_id: str, tools: Tools, actor: str, because: str) -> Memory:
    """A person vouches for it: it is verified now, and no longer expires as a mere guess."""
    now = tools.clock.now()

    def change(old: Memory) -> Memory:
        return replace(
            old,
            verification=Verification.USER_CONFIRMED,
            lifecycle=Lifecycle.VALIDATED,
            confidence=max(old.confidence, 0.95),
            expires_at=None,
            verified_at=now,
            usage=replace(old.usage, confirmed=old.usage.confirmed + 1),
        )

    return _change(memory_id, change, Verb.CONFIRMED, tools, actor, because)


def opine(memory_id: str, *, helpful: bool, query: str, tools: Tools, actor: str, because: str) -> Memory:
    """Keep whether a memory helped, and with which question: "not helpful" counts for like questions only."""
    question = _embed_query(query, tools) if query else None

    def work(unit: Unit) -> Memory:
        _get(unit, memory_id)
        unit.add_feedback(memory_id, helpful=helpful, question=question, because=because)
        return _get(unit, memory_id)

    return tools.store.write(work, actor)


def _change(
    memory_id: str, change: Callable[[Memory], Memory], verb: Verb, tools: Tools, actor: str, because: str
) -> Memory:
    def work(unit: Unit) -> Memory:
        old = _get(unit, memory_id)
        new = change(old)
        if new == old:
            return old
        new = replace(new, version=old.version + 1, modified_at=tools.clock.now())
        believed = old.status is Status.QUARANTINED and new.status is Status.ACTIVE
        found = findable(new, names.entities(new.content)) if believed else None
        unit.change(new, verb, because, findable=found)
        return new

    return tools.store.write(work, actor)


def _get(unit: Unit, memory_id: str) -> Memory:
    memory = unit.get(memory_id)
    if memory is None:
        raise NotFound(memory_id)
    return memory


def _clean(field: str, value: Any) -> Any:
    if field not in CHANGEABLE:
        raise UnknownValue("field that can be updated", field, CHANGEABLE)
    if field in _AXES:
        return member(field, _AXES[field], value)
    if field in _TIMES:
        return None if value is None else moment(field, value)
    if field in _SHARES:
        screen.share(field, value)
        return value
    checks: dict[str, Callable[[Any], Any]] = {
        "content": screen.content,
        "category": screen.category,
        "tags": screen.tags,
        "details": screen.details,
    }
    return checks[field](value)


def _with(old: Memory, clean: Mapping[str, Any]) -> Memory:
    new = replace(old, **clean)
    if new.content != old.content:
        found = names.entities(new.content)
        new = replace(
            new,
            content_hash=words.content_hash(new.content),
            forms=FormsOnDemand(new.content),
            entities=tuple(dict.fromkeys(entity.name for entity in found)),
            metadata=spoken_of(new.content, said_at(old), found),
        )
        new = marked(new)
    else:
        noted = {name: old.details[name] for name in (SUSPICION, SIGNS) if name in old.details}
        told = {name: value for name, value in new.details.items() if name not in (SUSPICION, SIGNS)}
        new = replace(new, details={**told, **noted})
    return replace(new, tier=at_least(new.tier, tier_of(new.content)))


def _embed(content: str, memory_id: str, tools: Tools) -> Embedded | None:
    keys = tools.store.memories.keys([memory_id])
    known = next(iter(tools.store.memories.read(list(keys.values())).values()), None)
    beside = (known.told_by, known.after) if known is not None else ("", "")
    try:
        space, vectors = tools.embedder.embed([key_text(content, *beside)])
    except EmbedderError:
        return None
    return Embedded(space, vectors[0])


def _embed_query(query: str, tools: Tools) -> Embedded | None:
    try:
        return Embedded(*tools.embedder.embed_query(query))
    except EmbedderError:
        return None
