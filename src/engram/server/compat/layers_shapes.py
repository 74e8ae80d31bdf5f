"""Shapes: memories and facts as clients of *layers* know them: integer layers, times in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from engram.api.facts import AS_SAID
from engram.errors import InvalidInput, WrongType
from engram.model.facts import Claim, Fact
from engram.model.memory import Kind, Layer, Memory
from engram.model.plain import member
from engram.model.recall import Hit
from engram.model.scope import DEFAULT_NAMESPACE
from engram.rules.retention import LAYER_RATES, PROCEDURAL_RATE

SUPERSEDED_BY = "superseded_by"
"""With a fact in the details of a memory: the fact that took its place."""
KINDS = (Kind.SEMANTIC, Kind.EPISODIC, Kind.PROCEDURAL)
LATEST_MS = 253_402_300_799_000
"""The end of the year 9999."""


def decay_rate(memory: Memory) -> float:
    """How quickly a memory grows old there."""
    return PROCEDURAL_RATE if memory.kind is Kind.PROCEDURAL else LAYER_RATES[memory.layer]


def memory_of(memory: Memory) -> dict[str, Any]:
    """A memory as those clients know it."""
    told: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "layer": memory.layer.number,
        "layer_name": memory.layer.name.lower(),
        "importance": memory.importance,
        "created_at": millis(memory.created_at),
        "last_accessed": millis(memory.last_accessed or memory.created_at),
        "access_count": memory.usage.accessed,
        "repetition_count": memory.usage.repeated,
        "decay_rate": decay_rate(memory),
        "source": memory.source,
        "tags": list(memory.tags),
        "kind": kind_of(memory.kind).value,
        "modified_at": millis(memory.modified_at),
    }
    if memory.scope.namespace != DEFAULT_NAMESPACE:
        told["namespace"] = memory.scope.namespace
    return told


def hit_of(hit: Hit, score: float | str) -> dict[str, Any]:
    """A memory that was found, with its numbers."""
    return {
        **memory_of(hit.memory),
        "score": score,
        "relevance": round(hit.relevance, 4),
        "recency": round(hit.trust.freshness, 4),
    }


def brief_of(memory: Memory) -> dict[str, Any]:
    """A memory as a summary shows it: what is usual is left out."""
    told: dict[str, Any] = {
        "content": memory.content,
        "layer": memory.layer.number,
        "importance": memory.importance,
        "created_at": millis(memory.created_at),
    }
    if memory.tags:
        told["tags"] = list(memory.tags)
    if kind_of(memory.kind) is not Kind.SEMANTIC:
        told["kind"] = memory.kind.value
    return told


def fact_of(claim: Claim) -> dict[str, Any]:
    """A fact as those clients know it; what holds without an end has no end."""
    fact, memory = claim.fact, claim.memory
    told: dict[str, Any] = {
        "id": fact_id(claim),
        **as_said(claim),
        "memory_id": memory.id,
        "namespace": memory.scope.namespace,
        "created_at": millis(memory.created_at),
    }
    since, until = fact.valid_from or memory.valid_from, fact.valid_to or memory.valid_to
    if since is not None:
        told["valid_from"] = millis(since)
    if until is not None:
        told["valid_until"] = millis(until)
    if by := _superseded_by(claim):
        told["superseded_by"] = by
    return told


def _superseded_by(claim: Claim) -> str:
    listed = claim.memory.details.get("facts")
    for one in listed if isinstance(listed, list | tuple) else ():
        parts = one if isinstance(one, Mapping) else {}
        if (str(parts.get("subject", "")).lower(), str(parts.get("object", "")).lower()) == (
            claim.fact.subject,
            claim.fact.object,
        ):
            return str(parts.get(SUPERSEDED_BY) or "")
    return ""


def as_said(claim: Claim) -> dict[str, str]:
    """The fact with its names as they were written, where it was stated as a fact."""
    told, listed = triple_of(claim.fact), claim.memory.details.get("facts")
    for one in listed if isinstance(listed, list | tuple) else ():
        parts = one if isinstance(one, Mapping) else {}
        said = {name: str(parts.get(name, "")) for name in ("subject", "object")}
        if all(word.lower() == told[name] for name, word in said.items()):
            predicate = str(parts.get(AS_SAID) or parts.get("predicate") or told["predicate"])
            return {**told, **said, "predicate": predicate}
    return told


def triple_of(fact: Fact) -> dict[str, str]:
    """What a fact says."""
    return {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}


def fact_id(claim: Claim) -> str:
    """A name for a fact: its memory's id, and what tells it from the other facts of that memory."""
    said = "\n".join(triple_of(claim.fact).values())
    return f"{claim.memory.id}.{sha256(said.encode()).hexdigest()[:8]}"


def kind_of(kind: Kind) -> Kind:
    """The kind as far as those clients tell kinds apart."""
    return kind if kind in KINDS else Kind.SEMANTIC


def kind_from(value: Any) -> Kind:
    """The kind a client names. Raises UnknownValue."""
    found: Kind = member("kind", Kind, value)
    return found


def layer_from(value: Any) -> Layer:
    """The layer a client names, by number or by name."""
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or (isinstance(value, int) and value not in {one.number for one in Layer}):
        raise InvalidInput(f"invalid layer: {value}; 1 is buffer, 2 working, 3 core")
    found: Layer = member("layer", Layer, value)
    return found


def millis(at: datetime) -> int:
    """Milliseconds since 1970.

    >>> millis(datetime(1970, 1, 2, tzinfo=UTC))
    86400000
    """
    return round(at.timestamp() * 1_000)


def moment_from(name: str, value: float | None) -> datetime | None:
    """The time that milliseconds since 1970 stand for.

    >>> moment_from("since", 86_400_000)
    datetime.datetime(1970, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if value is None:
        return None
    if not 0 <= value <= LATEST_MS:
        raise WrongType(name, value, "milliseconds since 1970")
    return datetime.fromtimestamp(value / 1_000, UTC)
