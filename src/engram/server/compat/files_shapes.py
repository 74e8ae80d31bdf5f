"""Shapes: memories, hits, events and entities as clients of *files* know them: ISO times, camel case."""

from __future__ import annotations

from typing import Any

from engram.model.capture import Turn
from engram.model.event import Event
from engram.model.facts import Entity
from engram.model.memory import Memory
from engram.model.recall import Hit, public_score
from engram.model.scope import Access

PREVIEW = 200


def memory_of(memory: Memory) -> dict[str, Any]:
    """A whole memory."""
    return {
        "id": memory.id,
        "content": memory.content,
        "category": memory.category,
        "status": memory.status.value,
        "lifecycleState": memory.lifecycle.value,
        "verificationState": memory.verification.value,
        "policyClass": memory.policy.value,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "entityRef": memory.details.get("entityRef") or next(iter(memory.entities), None),
        "namespace": memory.scope.namespace,
        "source": memory.source,
        "created": memory.created_at.isoformat(),
        "updated": memory.modified_at.isoformat(),
        "lastAccessed": None if memory.last_accessed is None else memory.last_accessed.isoformat(),
        "accessCount": memory.usage.accessed,
    }


def row_of(memory: Memory) -> dict[str, Any]:
    """A memory in a list: a line of its words instead of all."""
    told = memory_of(memory)
    return {**told, "preview": told["content"][:PREVIEW]}


def hit_of(hit: Hit, access: Access) -> dict[str, Any]:
    """A memory that was found, and how well it fits."""
    return {**row_of(hit.memory), "text": hit.text, "score": public_score(hit, access)}


def event_of(event: Event) -> dict[str, Any]:
    """Something that happened to a memory."""
    return {
        "eventId": event.id,
        "memoryId": event.memory,
        "eventType": event.verb.value,
        "timestamp": event.at.isoformat(),
        "actor": event.actor,
        "reason": event.because,
        "relatedMemoryId": event.related or None,
    }


def entity_of(entity: Entity) -> dict[str, Any]:
    """Somebody or something that memories speak of."""
    seen = entity.last_seen or entity.first_seen
    return {
        "name": entity.name,
        "type": entity.type,
        "aliases": list(entity.aliases),
        "mentions": entity.mentions,
        "updated": None if seen is None else seen.isoformat(),
    }


def turn_of(turn: Turn) -> dict[str, Any]:
    """Something that was said, word for word."""
    return {
        "sessionKey": turn.session,
        "role": turn.part.value,
        "content": turn.content,
        "timestamp": turn.at.isoformat(),
    }
