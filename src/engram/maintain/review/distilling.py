"""Distilling: the notes of several sessions come in; one short memory of how things stand comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engram.lifecycle.traits import SESSION_NOTES
from engram.maintain.asking import level, may_be_shown
from engram.maintain.decisions import Batch, Decision, Draw
from engram.maintain.room import Room, becomes
from engram.model.axes import Layer, Tier
from engram.model.draft import Draft
from engram.model.filters import Filters
from engram.model.memory import TAG_LIMIT, Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Scope
from engram.text.forms import key_fact

DONE = "distilled"
MADE = ("project-status", "auto-distilled")
NOTES = Filters(tags_any=SESSION_NOTES, not_tags=frozenset({DONE, *MADE}))


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Distil the notes of each scope that has several; they are marked, so that it happens once."""
    settings = room.tools.config.review
    groups: dict[Scope, list[Memory]] = {}
    for part in room.memories(NOTES):
        for _, one in part:
            # Marked notes are left out above: one that triage has just moved can be taken as well.
            if not one.speaker and one.created_at < room.now:
                groups.setdefault(one.scope, []).append(one)
    for notes in groups.values():
        if len(notes) >= settings.notes_least:
            yield Batch((_distilled(notes, room),))


def _distilled(notes: Sequence[Memory], room: Room) -> Decision:
    settings = room.tools.config.review
    ordered = sorted(notes, key=lambda one: (one.happened_at, one.id))
    newest = ordered[-settings.notes_most :]
    words, how = _words(newest, room)
    tier = max((one.tier for one in newest), key=tuple(Tier).index)
    draft = Draft(
        words,
        category="context",
        tags=MADE,
        source="engine",
        layer=Layer.WORKING,
        scope=newest[0].scope,
        tier=tier,
        event_time=newest[-1].happened_at,
    )
    add = room.new(draft, "distill", *(one.id for one in newest))
    drawn = tuple(Draw(Edge(add.memory.id, one.id, EdgeType.DERIVED_FROM)) for one in newest)
    marked = tuple(becomes(one, tags=(*one.tags[: TAG_LIMIT - 1], DONE)) for one in notes)
    why = f"{len(notes)} session notes, the newest {len(newest)} in {len(words)} characters, {how}"
    return Decision("distill", why, (add, *drawn, *marked), add.memory.id)


def _words(notes: Sequence[Memory], room: Room) -> tuple[str, str]:
    """A model's words for how things stand, or what the newest notes say themselves."""
    longest = room.tools.config.review.notes_length
    if level(room) != "off" and may_be_shown(*notes):
        said = room.tools.advisor.distill([one.content for one in notes], longest)
        if said is not None:
            return said, "by a model"
    return extract([one.content for one in notes], longest), "by rule"


def extract(notes: Sequence[str], longest: int) -> str:
    """What the notes say in one clause each, as many of the newest as there is room for, in their order.

    >>> extract(["The import is planned.", "The import works.", "The tests are open."], 40)
    'The import works. The tests are open.'
    """
    chosen: list[str] = []
    for note in reversed(notes):
        clause = key_fact(note).strip()
        if clause in chosen:
            continue
        if sum(map(len, (clause, *chosen))) + len(chosen) > longest:
            break
        chosen.insert(0, clause)
    return " ".join(chosen) or notes[-1][:longest].rstrip()
