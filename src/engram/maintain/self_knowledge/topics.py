"""Topics: memories come in; what they are about, counted, comes out, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known, census
from engram.maintain.sketching import keep

NAME: Final = "topics"


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """A list of topics for each place; it holds no words of a memory."""
    for scope, known in census(room).items():
        topics = _counted(known)
        effects = keep(room, scope, "topics", "", {"memories": len(known), "topics": topics})
        if effects:
            yield Batch((Decision("topics.counted", f"{len(topics)} topics", effects),))


def _counted(known: Sequence[Known]) -> list[dict[str, Any]]:
    """Each topic with how many memories are about it, how weighty they are, and when it came up."""
    groups: dict[str, list[Known]] = {}
    for one in known:
        for topic in one.topics:
            groups.setdefault(topic, []).append(one)
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "topic": topic,
            "memories": len(some),
            "importance": round(sum(one.importance for one in some) / len(some), 3),
            "first": min(one.at for one in some).isoformat(),
            "last": max(one.at for one in some).isoformat(),
        }
        for topic, some in ordered
    ]
