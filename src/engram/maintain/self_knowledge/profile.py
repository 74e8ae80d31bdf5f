"""The behavioural profile: memories come in; how somebody is and wants things comes out, in so many lines.

Lines are taken by weight, section after section in turn, so that many preferences do not crowd out the one
rule. Beside the lines stand habits in numbers: topics, languages, hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from engram.lifecycle.traits import REFERENCE
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known, census
from engram.maintain.sketching import keep
from engram.model.axes import Kind
from engram.text.words import normalized

NAME: Final = "profile"
SECTIONS: Final = {
    "identity": ("identity",),
    "rules": ("constraint", "instruction"),
    "preferences": ("preference",),
    "principles": ("principle",),
    "corrections": ("correction",),
    "people": ("relationship", "person"),
    "skills": ("skill",),
    "decisions": ("decision",),
    "commitments": ("commitment",),
}
SECTION_OF: Final = {category: name for name, some in SECTIONS.items() for category in some}
HABITS: Final = 5
LEAST: Final = 3
"""Fewer memories are no habit."""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """A profile for each place that has something to say about somebody."""
    most = room.tools.config.knowledge.profile_lines
    for scope, everything in census(room).items():
        known = [one for one in everything if one.category != REFERENCE and one.kind is not Kind.CODEBASE]
        lines = _lines(known, most)
        if not lines and room.tools.store.upkeep.sketch(scope, "profile", "") is None:
            continue
        body = {
            "lines": [{"section": name, "text": one.statement, "memory": one.id} for name, one in lines],
            "habits": _habits(known),
        }
        effects = keep(room, scope, "profile", "", body, sources=[one.id for _, one in lines])
        if effects:
            yield Batch((Decision("profile.written", f"{len(lines)} lines of at most {most}", effects),))


def _lines(known: Sequence[Known], most: int) -> list[tuple[str, Known]]:
    """The weightiest of each section in turn, in the order of the sections."""
    sections: dict[str, list[Known]] = {name: [] for name in SECTIONS}
    said: set[str] = set()
    for one in sorted(known, key=lambda one: one.weight, reverse=True):
        section = SECTION_OF.get(one.category)
        words = normalized(one.text)
        if section is None or one.doubtful or words in said or len(sections[section]) >= most:
            continue
        if one.tells:
            said.add(words)
            sections[section].append(one)
    chosen: dict[str, list[Known]] = {name: [] for name in SECTIONS}
    left = most
    for place in range(max(map(len, sections.values()))):
        for name, some in sections.items():
            if place < len(some) and left:
                chosen[name].append(some[place])
                left -= 1
    return [(name, one) for name, some in chosen.items() for one in some]


def _habits(known: Sequence[Known]) -> dict[str, Any]:
    """What comes up most, in which languages, at which hours (UTC). No words of a memory."""
    return {
        "topics": _most(Counter(topic for one in known for topic in one.topics)),
        "languages": _most(Counter(language for one in known for language in one.languages)),
        "hours": sorted(int(hour) for hour in _most(Counter(f"{one.at.hour}" for one in known))),
    }


def _most(counts: Counter[str]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, count in ordered[:HABITS] if count >= LEAST]
