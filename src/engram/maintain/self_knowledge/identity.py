"""Identity: reflections about oneself come in; all of them come out, or their gist when they grow too long.

The memories themselves stay: what is compacted is what is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engram.maintain.decisions import Batch, Decision, Drop
from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known, census
from engram.maintain.sketching import in_words, keep
from engram.model.scope import Scope
from engram.text.words import normalized

NAME: Final = "identity"
READ: Final = 500
"""Reflections that are read, the weightiest."""
BYTES_A_WORD: Final = 7
SHOWN: Final = 60
"""Reflections that a model is shown."""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """What each place knows about itself."""
    for scope, known in census(room).items():
        own = sorted((one for one in known if one.is_reflection and not one.doubtful), key=_order)[:READ]
        if own:
            yield from _written(room, scope, own)
        elif room.tools.store.upkeep.sketch(scope, NAME, "") is not None:
            yield Batch((Decision("identity.dropped", "nothing is left", (Drop(scope, NAME, ""),)),))


def _written(room: Room, scope: Scope, own: Sequence[Known]) -> Iterator[Batch]:
    limit = room.tools.config.knowledge.identity_bytes
    read = room.tools.store.memories.read([one.key for one in own])
    whole = [read[one.key].content for one in own if one.key in read]
    size = sum(len(text.encode()) + 1 for text in whole)
    if size <= limit:
        text, shown = "\n".join(whole), own
    else:
        text, shown = _compacted(room, scope, own, limit)
    body = {"text": text, "bytes": size, "compacted": size > limit, "memories": len(own)}
    effects = keep(room, scope, NAME, "", body, sources=[one.id for one in shown])
    if effects:
        rule = "identity.compacted" if size > limit else "identity.kept"
        why = f"{size} bytes of {len(own)} reflections, {len(text.encode())} shown, {limit} allowed"
        yield Batch((Decision(rule, why, effects),))


def _compacted(room: Room, scope: Scope, own: Sequence[Known], limit: int) -> tuple[str, Sequence[Known]]:
    """A model's words for them, or as many key facts as there is room for, each said once."""
    shown = own[:SHOWN]
    known = room.tools.store.upkeep.sketch(scope, NAME, "")
    if known is not None and known.body["compacted"] and set(known.sources) == {one.id for one in shown}:
        return known.body["text"], shown
    told = [one.text for one in shown]
    written = in_words(room, NAME, told, limit // BYTES_A_WORD, always=True)
    if written is not None and len(written.encode()) <= limit:
        return written, shown
    lines: list[str] = []
    chosen: list[Known] = []
    said: set[str] = set()
    left = limit
    for one in own:
        size, words = len(one.text.encode()) + 1, normalized(one.text)
        if words not in said and size <= left:
            said.add(words)
            lines.append(one.text)
            chosen.append(one)
            left -= size
    return "\n".join(lines), chosen


def _order(one: Known) -> tuple[bool, float, int]:
    return not one.pinned, -one.importance, one.key
