"""The core summed up: what has proved itself comes in, place by place; a few lines for it come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from engram.maintain.decisions import Batch, Decision, Drop, Effect, Keep
from engram.maintain.near import last_look, looked
from engram.maintain.room import ACTIVE, Room
from engram.maintain.since import News, memories, seen, since
from engram.maintain.sketching import keep
from engram.model.axes import Layer, Tier
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import View

NAME: Final = "core summary"
KIND: Final = "core"
KEY: Final = "core"
DONE: Final = "done"
CORE = Filters(statuses=ACTIVE, layers=frozenset({Layer.CORE}), tiers=frozenset({Tier.CLEAR}))
SAMPLE: Final = 500
"""Memories of a core that are weighed, the newest."""
WORDS: Final = 120
"""Words of a summary that a model writes."""


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Sum up the core of every place in which something changed; of all when something was erased."""
    if cursor == DONE:
        return
    news = since(room, NAME)
    places = _places(room, news)
    for scope in places:
        effects = tuple(_summed(room, scope))
        if effects:
            kept = sum(len(one.sketch.sources) for one in effects if isinstance(one, Keep))
            yield Batch((Decision("core.summed", f"{kept} statements of the core", effects),))
    if places:
        yield Batch((looked(room, NAME), *seen(room, NAME, news)), DONE)


def _places(room: Room, news: News) -> list[Scope]:
    """Where memories came, went or moved: that a memory moves to the core is no news to other steps."""
    upkeep = room.tools.store.upkeep
    last, _ = last_look(room, NAME)
    if news.whole or news.gone or last is None:
        found = set(upkeep.scopes())
    else:
        moved = room.memories(replace(ANY_STATUS, modified_since=last))
        came = memories(room, news, ANY_STATUS)  # an import has old times
        found = {one.scope for part in (*moved, *came) for _, one in part}
    return sorted(found, key=lambda one: one.parts)


def _summed(room: Room, scope: Scope) -> Sequence[Effect]:
    view = View(Access(scope, Role.AGENT), CORE)
    page = room.tools.store.memories.page(view, SAMPLE)
    here = [one for one in page if one.scope == scope and not one.speaker]
    best = sorted(here, key=_weight, reverse=True)[: room.tools.config.doubt.core_lines]
    if not best:
        known = room.tools.store.upkeep.sketch(scope, KIND, KEY)
        return () if known is None else (Drop(scope, KIND, KEY),)
    lines = list(dict.fromkeys(one.forms.key_fact or one.content for one in best))
    old = room.tools.store.upkeep.sketch(scope, KIND, KEY)
    same = old is not None and old.body["lines"] == lines
    text = old.body["text"] if old is not None and same else _text(room, lines)
    body = {"text": text, "lines": lines, "memories": len(here)}
    return keep(room, scope, KIND, KEY, body, sources=[one.id for one in best])


def _text(room: Room, lines: Sequence[str]) -> str:
    """A paragraph: a model's where one is always asked, else the statements themselves."""
    written = room.tools.advisor.summarize(lines, WORDS) if room.tools.config.llm.level == "full" else None
    return written or " ".join(line if line.endswith((".", "!", "?", "。")) else f"{line}." for line in lines)


def _weight(memory: Memory) -> tuple[bool, float, int, float]:
    return memory.pinned, memory.importance, memory.usage.accessed, memory.happened_at.timestamp()
