"""Cards: memories that name somebody or something come in; a card about it comes out, place by place.

A card holds what is stated about it, the weightiest statements that name it, and whom it is named with.
Cards are for the names most spoken of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from engram.maintain.decisions import Batch, Decision, Drop, Effect
from engram.maintain.room import ACTIVE, Room
from engram.maintain.since import News, memories, noted, since
from engram.maintain.sketching import in_words, keep
from engram.maintain.telling import tells
from engram.model.axes import Tier
from engram.model.entity import Entity
from engram.model.facts import Claim, FactQuery
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.text.key import key_text

NAME: Final = "cards"
KIND: Final = "card"
CLEAR = Filters(statuses=ACTIVE, tiers=frozenset({Tier.CLEAR}))
SAMPLE: Final = 50
"""Memories of an entity that a card is made of, the latest."""
BESIDE: Final = 10
TOGETHER: Final = 50
WORDS: Final = 60
"""Words of a card that a model writes."""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Cards of the names that news speaks of; of all names when something was erased."""
    news = since(room, NAME)
    if not news.any:
        return
    everything = News(whole=True) if news.gone else news
    for scope, names in _named(room, everything).items():
        entities = _entities(room, scope, names, everything)
        for start in range(0, len(entities), TOGETHER):
            some = entities[start : start + TOGETHER]
            effects = [effect for one in some for effect in _card(room, scope, one)]
            if effects:
                yield Batch((Decision("card.written", f"{len(effects)} cards", tuple(effects)),))
    yield from noted(room, NAME, news)


def _named(room: Room, news: News) -> dict[Scope, Counter[str]]:
    """The names in memories, place by place. What a memory was put away with may stand on a card still."""
    found: dict[Scope, Counter[str]] = {}
    for part in memories(room, news, CLEAR if news.whole else ANY_STATUS):
        for _, one in part:
            names = (*one.entities, one.speaker) if one.speaker else one.entities
            if names:
                found.setdefault(one.scope, Counter()).update(name.casefold() for name in names)
    return found


def _entities(room: Room, scope: Scope, names: Counter[str], news: News) -> list[Entity]:
    """Who gets a card: the most spoken of; later also newcomers while there is room, and who has one."""
    settings, store = room.tools.config.knowledge, room.tools.store
    access = Access(scope, Role.AGENT)
    if news.whole:
        common = [name for name, count in names.most_common(settings.cards * 2) if count]
        found = store.entities.among(common, access)
        counts = {one.key: sum(names[alias] for alias in one.aliases) for one in found}
        enough = [one for one in found if counts[one.key] >= settings.card_mentions]
        return sorted(enough, key=lambda one: (-counts[one.key], one.name))[: settings.cards]
    have = {one.key for one in store.upkeep.sketches(KIND, access, settings.cards * 2) if one.scope == scope}
    free = settings.cards - len(have)
    found = sorted(store.entities.among(list(names), access), key=lambda one: one.name)
    known = [one for one in found if one.name.casefold() in have]
    return known + [one for one in found if one.name.casefold() not in have][: max(0, free)]


def _card(room: Room, scope: Scope, entity: Entity) -> Sequence[Effect]:
    settings, store = room.tools.config.knowledge, room.tools.store
    view = View(Access(scope, Role.AGENT), CLEAR)
    found = [one for _, one in store.entities.memories(entity, view, SAMPLE) if one.scope == scope]
    key = entity.name.casefold()
    if len(found) < settings.card_mentions:
        known = store.upkeep.sketch(scope, KIND, key)
        return () if known is None else (Drop(scope, KIND, key),)
    claims = _claims(room, scope, entity, view)
    own = _own(room, scope, entity)
    weighty = [*own[: settings.card_facts // 2], *_weighty(found)][: settings.card_facts]
    body = _body(room, entity, found, weighty, claims)
    sources = [one.id for one in (*found, *weighty)] + [one.memory.id for one in claims]
    return keep(room, scope, KIND, key, body, title=entity.name, sources=sources)


def _own(room: Room, scope: Scope, entity: Entity) -> list[Memory]:
    """What somebody says of themselves, who seldom name themselves: the weightiest of their last words."""
    said = replace(CLEAR, speakers=frozenset({entity.name}))
    page = room.tools.store.memories.page(View(Access(scope, Role.AGENT), said), SAMPLE)
    return [
        one for one in _weighty([one for one in page if one.scope == scope]) if tells(_said(one), one.speaker)
    ]


def _weighty(found: Sequence[Memory]) -> list[Memory]:
    telling = [one for one in found if tells(_said(one), one.speaker)] or list(found)
    return sorted(telling, key=_weight, reverse=True)


def _claims(room: Room, scope: Scope, entity: Entity, view: View) -> list[Claim]:
    names = frozenset({entity.name.lower(), *entity.aliases})
    found = room.tools.store.facts.find(FactQuery(subjects=names, as_of=room.now), view, SAMPLE)
    here = [one for one in found if one.memory.scope == scope and one.memory.status in ACTIVE]
    clear = [one for one in here if one.memory.tier is Tier.CLEAR]
    return clear[: room.tools.config.knowledge.card_facts]


def _body(
    room: Room, entity: Entity, found: Sequence[Memory], weighty: Sequence[Memory], claims: Sequence[Claim]
) -> dict[str, Any]:
    own = {entity.name.casefold(), *entity.aliases}
    beside = Counter(name for one in found for name in one.entities if name.casefold() not in own)
    times = sorted(one.happened_at for one in found)
    facts = [[one.fact.subject, one.fact.predicate, one.fact.object] for one in claims]
    lines = list(dict.fromkeys(key_text(_said(one), one.speaker) for one in weighty))
    return {
        "name": entity.name,
        "type": entity.type,
        "aliases": [alias for alias in entity.aliases if alias != entity.name.casefold()],
        "facts": [list(one) for one in dict.fromkeys(map(tuple, facts))],
        "lines": lines,
        "text": _text(room, lines),
        "beside": [list(pair) for pair in sorted(beside.items(), key=lambda it: (-it[1], it[0]))[:BESIDE]],
        "memories": len(found),
        "first": times[0].isoformat(),
        "last": times[-1].isoformat(),
    }


def _text(room: Room, lines: Sequence[str]) -> str:
    """A few sentences: a model's where one is always asked, else the weightiest statements."""
    return in_words(room, NAME, lines, WORDS) or "; ".join(line.rstrip(".") for line in lines[:3])


def _said(memory: Memory) -> str:
    return memory.forms.key_fact or memory.content


def _weight(memory: Memory) -> tuple[bool, float, float]:
    return memory.pinned, memory.importance, memory.happened_at.timestamp()
