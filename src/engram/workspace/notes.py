"""The files layout: a memory is a file with front matter, an entity or a profile a page of list items."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from engram.model.clock import written_moment
from engram.model.facts import Edge, EdgeType
from engram.model.memory import (
    TAG_LENGTH_LIMIT,
    TAG_LIMIT,
    Kind,
    Lifecycle,
    Memory,
    Policy,
    Status,
    Verification,
)
from engram.workspace.pages import Fields, Piece, page_parts

KEPT = "front_matter"
"""In the details: keys of the front matter that a memory has no place for."""
TIERS = ((0.95, "explicit"), (0.7, "implied"), (0.4, "inferred"), (0.0, "speculative"))
LEVELS = ((0.8, "critical"), (0.6, "high"), (0.4, "normal"), (0.2, "low"), (0.0, "trivial"))
STATUS_OF = {
    "pending_review": "challenged",
    "quarantined": "challenged",
    "rejected": "invalidated",
    "forgotten": "archived",
}
"""Their words for a status, and ours."""
LINKS = {
    "follows": "next", "references": "related_to", "contradicts": "contradicts", "supports": "supports",
    "related": "related_to", "causes": "caused_by",
}  # fmt: skip
_UNDERSTOOD = frozenset(
    {"id", "created", "updated", "source", "confidenceTier", "entityRef", "supersedes", "supersededBy"}
    | {"supersededAt", "archivedAt", "lifecycleState", "lastValidatedAt", "heatScore", "decayScore"}
    | {"accessCount", "lastAccessed", "importanceLevel", "links", "memoryKind"}
)
_ISO_DAY = re.compile(r"^(\d{4}-\d{2}-\d{2}):\s*(.+)$")
_LINK = re.compile(r"^\[\[([^\]]+)\]\]\s*[—–-]+\s*(.+)$")
_RELATED = re.compile(r"^Related to:\s*\[?([^\]—–]+?)\]?\s*[—–-]+\s*(.+)$")


def note_fields(memory: Memory) -> dict[str, Any]:
    """What of a memory its file tells and a person may edit."""
    fields: dict[str, Any] = {
        "content": memory.content,
        "category": memory.category,
        "confidence": round(memory.confidence, 4),
        "tags": list(memory.tags),
        "importance": round(memory.importance, 4),
        "status": str(memory.status),
        "verification": str(memory.verification),
        "policy": str(memory.policy),
        "priority": str(memory.priority),
    }
    if memory.expires_at is not None:
        fields["expires_at"] = stamp(memory.expires_at)
    if memory.pinned:
        fields["pinned"] = True
    return fields


def note_notes(memory: Memory, edges: Sequence[Edge]) -> dict[str, Any]:
    """What else the file tells: when, whence, how much in use, what it belongs to."""
    stored = memory.details.get(KEPT)
    mine = [edge for edge in edges if edge.source == memory.id]
    over = [edge.target for edge in mine if edge.type is EdgeType.SUPERSEDES]
    by = [edge.source for edge in edges if edge.type is EdgeType.SUPERSEDES and edge.target == memory.id]
    links = [
        {"targetId": edge.target, "linkType": str(edge.type), "strength": round(edge.weight, 3)}
        for edge in mine
        if edge.origin != "engine" and edge.type not in (EdgeType.SUPERSEDES, EdgeType.NEXT)
    ]
    gone = memory.status is Status.SUPERSEDED
    return {
        "id": memory.id,
        "created": stamp(memory.created_at),
        "updated": stamp(memory.modified_at),
        "source": memory.source,
        "confidenceTier": _level(memory.confidence, TIERS),
        "entityRef": memory.details.get("entity_ref"),
        "supersedes": over[0] if over else None,
        "supersededBy": by[0] if by and gone else None,
        "lifecycleState": str(memory.lifecycle),
        "lastValidatedAt": stamp(memory.verified_at) if memory.verified_at else None,
        "accessCount": memory.usage.accessed or None,
        "lastAccessed": stamp(memory.last_accessed) if memory.last_accessed else None,
        "importanceLevel": _level(memory.importance, LEVELS),
        "memoryKind": "episode" if memory.kind is Kind.EPISODIC else "note",
        "links": links or None,
        **(stored if isinstance(stored, Mapping) else {}),
    }


def stamp(at: datetime) -> str:
    """A time as these files have it.

    >>> stamp(datetime(2026, 2, 5, 21, 0, tzinfo=UTC))
    '2026-02-05T21:00:00.000Z'
    """
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _level(value: float, steps: Sequence[tuple[float, str]]) -> str:
    return next(name for least, name in steps if value >= least)


def note_path(memory: Memory) -> str:
    """Where a memory's file stands by itself: its day, and a name that nobody else has."""
    name = memory.id
    if not name.startswith((f"{memory.category}-", "artifact-", "fact-")):
        name = (
            f"{memory.category}-{int(memory.created_at.timestamp() * 1_000)}-{memory.id.replace('-', '')[:8]}"
        )
    day = f"{memory.created_at:%Y-%m-%d}"
    if memory.status is Status.ARCHIVED:
        return f"archive/{day}/{name}.md"
    if memory.id.startswith("artifact-"):
        return f"artifacts/{day}/{name}.md"
    return f"corrections/{name}.md" if memory.category == "correction" else f"facts/{day}/{name}.md"


# ---------------------------------------------------------------- to records


def note_record(piece: Piece, path: str) -> dict[str, Any]:
    """A file as a record that is taken in as it was."""
    fields, notes = piece.fields, piece.notes
    source = " ".join(str(notes.get("source") or "import").split())[:64]
    record: dict[str, Any] = {
        "content": fields["content"],
        "category": str(fields.get("category") or "fact").lower(),
        "tags": tags_of(fields.get("tags")),
        "confidence": share(fields.get("confidence"), 0.8),
        "status": status_of(fields.get("status"), path),
        "source": {"extraction": "import", "manual": "human", "unknown": "import"}.get(source, source),
    }
    importance = fields.get("importance")
    if isinstance(importance, int | float) and not isinstance(importance, bool):
        record["importance"] = min(1.0, max(0.0, float(importance)))
    for name, words in (("verification", Verification), ("policy", Policy)):
        value = str(fields.get(name) or "").lower()
        if value in {str(word) for word in words}:
            record[name] = value
    if str(fields.get("priority") or "") in ("P0", "P1", "P2", "P3"):
        record["priority"] = fields["priority"]
    if fields.get("pinned") is True:
        record["pinned"] = True
    record |= _fields_from_notes(notes)
    if expires := written_moment(fields.get("expires_at")):
        record["expires_at"] = expires.isoformat()
    return record


def _fields_from_notes(notes: Fields) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if notes.get("id"):
        record["id"] = str(notes["id"])
    times = {
        "created_at": "created",
        "modified_at": "updated",
        "last_accessed": "lastAccessed",
        "verified_at": "lastValidatedAt",
    }
    for name, key in times.items():
        if at := written_moment(notes.get(key)):
            record[name] = at.isoformat()
    if "created_at" in record:
        record["event_time"] = record["created_at"]
    state = str(notes.get("lifecycleState") or "").lower()
    if state in {str(member) for member in Lifecycle}:
        record["lifecycle"] = state
    if isinstance(notes.get("accessCount"), int):
        record["usage"] = {"accessed": max(0, notes["accessCount"])}
    kind = notes.get("memoryKind")
    if kind in ("episode", "note"):
        record["kind"] = "episodic" if kind == "episode" else "semantic"
    details: dict[str, Any] = {}
    if notes.get("entityRef"):
        details["entity_ref"] = str(notes["entityRef"])
    more = {key: value for key, value in notes.items() if key not in _UNDERSTOOD}
    if more:
        details[KEPT] = more
    return {**record, "details": details, "edges": _edges(notes)}


def _edges(notes: Fields) -> list[dict[str, Any]]:
    edges: list[dict[str, Any]] = []
    if notes.get("supersedes"):
        edges.append({"target": str(notes["supersedes"]), "type": "supersedes"})
    if notes.get("supersededBy"):
        edges.append({"source": str(notes["supersededBy"]), "type": "supersedes"})
    links = notes.get("links")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, Mapping) and link.get("targetId"):
            kind = str(link.get("linkType") or "related")
            edge_types = {str(member) for member in EdgeType}
            edges.append(
                {
                    "target": str(link["targetId"]),
                    "type": kind if kind in edge_types else LINKS.get(kind, "related_to"),
                    "weight": share(link.get("strength"), 1.0),
                }
            )
    return edges


def status_of(value: Any, path: str = "") -> str:
    """A status in our words.

    >>> status_of("rejected"), status_of(None, "archive/2026-01-28/fact-1.md"), status_of("superseded")
    ('invalidated', 'archived', 'superseded')
    """
    status = str(value or ("archived" if path.startswith("archive/") else "active")).lower()
    status = STATUS_OF.get(status, status)
    return status if status in {str(member) for member in Status} else "active"


def share(value: Any, usual: float) -> float:
    """A number between 0 and 1; the usual one when it is none."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if good else usual


def tags_of(value: Any) -> tuple[str, ...]:
    """Tags, each once, no longer than a tag may be."""
    tags = value if isinstance(value, Sequence) and not isinstance(value, str) else [value] if value else []
    clean = (" ".join(str(tag).split())[:TAG_LENGTH_LIMIT] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in clean if tag))[:TAG_LIMIT]


# ---------------------------------------------------------------- entities

SECTIONS = {
    "key facts": "fact", "facts": "fact", "relationships": "relationship", "connected to": "relationship",
    "active context": "context", "history": "moment", "activity": "moment", "aliases": "",
    "summary": "",
}  # fmt: skip
"""Sections of an entity's page, and what their items are."""


def entity_name(text: str) -> tuple[str, str]:
    """Whom a page is about, and what sort of thing that is."""
    title, meta, body = page_parts(text)
    kind = meta.get("Type", "")
    if not kind and (match := re.search(r"^\*\*Type:\*\*\s*(\S+)", body, re.MULTILINE)):
        kind = match[1]
    return title, kind.split("|")[0].strip().lower()


def item_record(piece: Piece, name: str, path: str) -> dict[str, Any] | None:
    """An item of an entity's page or a profile as a record; None for what states nothing."""
    section = str(piece.notes.get("section") or "").lower()
    if section in SECTIONS and not SECTIONS[section]:
        return None
    words = str(piece.fields["content"])
    category = SECTIONS.get(section, "fact")
    record: dict[str, Any] = {"category": category}
    details: dict[str, Any] = {"page": path, **({"entity": name} if name else {})}
    if dated := _ISO_DAY.match(words):
        at = written_moment(dated[1])
        if at is not None:
            record |= {"event_time": at.isoformat()}
    if match := _LINK.match(words) or _RELATED.match(words):
        other = match[1].strip()
        details["facts"] = [{"subject": name, "predicate": match[2].strip(), "object": other}] if name else []
    if verified := written_moment(piece.fields.get("verified_at")):
        record["verified_at"] = verified.isoformat()
        record["created_at"] = verified.isoformat()
    if piece.notes.get("source"):
        details["source"] = piece.notes["source"]
    return {**record, "content": statement(name, words), "details": details, "source": "import"}


def statement(name: str, words: str) -> str:
    """An item as a statement that stands alone.

    >>> statement("Anna", "Works at Acme"), statement("Anna", "Anna likes tea"), statement("", "Likes tea")
    ('Anna: Works at Acme', 'Anna likes tea', 'Likes tea')
    """
    return words if not name or name.casefold() in words.casefold() else f"{name}: {words}"


def item_words(name: str, content: str) -> str:
    """A statement as an item of the page about somebody: what `about` made of it, taken back."""
    words = " ".join(content.split())
    return words.removeprefix(f"{name}: ") if name else words
