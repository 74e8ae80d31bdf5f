"""Patterns: episodes that say nearly the same come in; what they have in common is known from then on.

Episodes of one place and one speaker that lie near each other make a group. When they are enough, and
together sure enough, what they share becomes a semantic memory, derived from each of them, and a schema: the
shared words with the values that stood in the gaps. A pattern that is known only grows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engram.graph.clusters import joined
from engram.lifecycle.calibration import meant
from engram.lifecycle.traits import DRAWN
from engram.maintain.decisions import Batch, Decision, Draw, Effect, Erase
from engram.maintain.neighbours import pairs, space_of
from engram.maintain.room import ACTIVE, Room
from engram.maintain.since import EVERYTHING, News, memories, noted, since
from engram.maintain.sketching import in_words, keep
from engram.model.axes import Kind, Layer, Tier, Verification
from engram.model.draft import Draft
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Scope
from engram.model.vectors import Space
from engram.ports import View
from engram.text import facts, forms
from engram.text.common import Shared, common
from engram.text.junk import is_filler
from engram.text.predicates import worded
from engram.text.words import content_words

NAME: Final = "patterns"
TAG: Final = "pattern"
EPISODES = Filters(
    kinds=frozenset({Kind.EPISODIC}), statuses=ACTIVE, tiers=frozenset({Tier.CLEAR}), not_tags=DRAWN
)
MOST: Final = 60
"""Episodes of a pattern that are read; the latest of a larger group."""
TIGHT: Final = 0.85
"""How near episodes of a group lie that would be too large otherwise, on the same scale."""
TOLD: Final = 12
"""Of so many the words are compared."""
LEAST_WORDS: Final = 3
LEAST_SHARE: Final = 0.5
"""Shared words say enough when they are so many, and so much of the shortest episode."""
GAIN: Final = 0.1
"""How much weightier a pattern is than its episodes."""
TOGETHER: Final = 50
"""Groups that are decided about in one batch."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a pattern says."""

    text: str
    shared: Shared
    words_of: str = ""
    """The episode whose own words it has; empty when all of them have these words."""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Patterns over what is new, and those whose words were erased."""
    news, space = since(room, NAME), space_of(room)
    if not news.any or space is None:
        return
    if news.gone:
        yield from _withdrawn(room, news)
    for scope, keys in _episodes(room, news).items():
        groups = _groups(room, space, scope, keys, news)
        for start in range(0, len(groups), TOGETHER):
            decided = [_decide(room, group) for group in groups[start : start + TOGETHER]]
            if any(decided):
                yield Batch(tuple(one for one in decided if one is not None))
    yield from noted(room, NAME, news)


def _withdrawn(room: Room, news: News) -> Iterator[Batch]:
    """Patterns that have the own words of an erased memory go with it; others are found anew without it."""
    for part in room.memories(replace(ANY_STATUS, tags_any=frozenset({TAG}))):
        gone = [one for _, one in part if one.details.get("words_of") in news.gone]
        why = "the episode whose words it has was erased"
        if gone:
            yield Batch(tuple(Decision("pattern.erased", why, (Erase(one),), one.id) for one in gone))


def _episodes(room: Room, news: News) -> dict[Scope, list[int]]:
    found: dict[Scope, list[int]] = {}
    for part in memories(room, news, EPISODES):
        for key, one in part:
            found.setdefault(one.scope, []).append(key)
    return found


def _groups(room: Room, space: Space, scope: Scope, keys: Sequence[int], news: News) -> list[list[int]]:
    """Keys of episodes that hang together, each group in order."""
    settings = room.tools.config.knowledge
    near = list(pairs(room, space, scope, keys, meant(settings.pattern_cosine, space.key)))
    known = frozenset(keys)
    if not news.whole:
        known |= _fitting(room, scope, {other for _, other, _ in near} - known)
    near = [pair for pair in near if pair[1] in known]
    groups: list[list[int]] = []
    tight = meant(TIGHT, space.key)
    for group in joined((one, other) for one, other, _ in near):
        if len(group) <= MOST:
            groups.append(group)
            continue
        # Much that hangs together by a few steps says less in common than its parts do.
        some = frozenset(group)
        groups += joined((one, other) for one, other, cosine in near if cosine >= tight and one in some)
    return [sorted(group) for group in groups if len(group) >= settings.pattern_episodes]


def _fitting(room: Room, scope: Scope, keys: set[int]) -> frozenset[int]:
    """Those of the keys that are episodes of this very place."""
    store = room.tools.store
    allowed = store.memories.allow(View(EVERYTHING, EPISODES), sorted(keys))
    read = store.memories.read(sorted(allowed))
    return frozenset(key for key, one in read.items() if one.scope == scope)


def _decide(room: Room, group: Sequence[int]) -> Decision | None:
    """What becomes of a group: it is a new pattern, part of a known one, or none."""
    read = room.tools.store.memories.read(list(group)[-MOST:])
    members = _one_voice(sorted(read.items()))
    known = _known(room, [key for key, _ in members])
    if known is not None:
        return _grown(room, known, members)
    settings = room.tools.config.knowledge
    episodes = [one for _, one in members]
    sure = 1.0 - math.prod(1.0 - one.confidence for one in episodes)
    if len(episodes) < settings.pattern_episodes or sure <= settings.pattern_confidence:
        return None
    return _found(room, episodes, sure)


def _one_voice(members: Sequence[tuple[int, Memory]]) -> list[tuple[int, Memory]]:
    """Those of the speaker who has most of them, each wording once: others' "I" is somebody else.

    What states nothing ("Thanks so much!") is left out.
    """
    voice = Counter(one.speaker for _, one in members).most_common(1)[0][0] if members else ""
    said: dict[str, tuple[int, Memory]] = {}
    for key, one in members:
        if one.speaker == voice and not is_filler(one.content):
            said.setdefault(one.content_hash, (key, one))
    return list(said.values())


def _known(room: Room, keys: Sequence[int]) -> tuple[int, Memory] | None:
    """The pattern that most of these episodes belong to, in whatever status a person left it."""
    view = View(EVERYTHING, replace(ANY_STATUS, tags_any=frozenset({TAG})))
    links = room.tools.store.relations.links(keys, (EdgeType.DERIVED_FROM,), view)
    counts = Counter(link.other for link in links if not link.forward)
    if not counts:
        return None
    key = min(counts, key=lambda one: (-counts[one], one))
    return key, room.tools.store.memories.read([key])[key]


def _found(room: Room, episodes: Sequence[Memory], sure: float) -> Decision | None:
    wording = _wording(room, episodes)
    if wording is None:
        return None
    first = episodes[0]
    details: dict[str, Any] = {"pattern": {"episodes": len(episodes)}}
    if wording.words_of:
        details["words_of"] = wording.words_of
    draft = Draft(
        wording.text,
        category=_category(episodes),
        kind=Kind.SEMANTIC,
        tags=(TAG,),
        details=details,
        importance=min(0.9, sum(one.importance for one in episodes) / len(episodes) + GAIN),
        confidence=min(0.95, _weighed(episodes)),
        layer=Layer.WORKING,
        scope=first.scope,
        speaker=first.speaker,
        source="engine",
    )
    add = room.new(draft, "pattern", *(one.id for one in episodes))
    add = replace(add, memory=replace(add.memory, verification=Verification.SYSTEM_INFERRED))
    effects: list[Effect] = [add]
    effects += [Draw(Edge(add.memory.id, one.id, EdgeType.DERIVED_FROM)) for one in episodes]
    effects += keep(
        room,
        first.scope,
        "schema",
        add.memory.id,
        _schema(wording.shared, episodes),
        sources=[one.id for one in episodes],
    )
    why = f"{len(episodes)} similar episodes, together sure to {sure:.2f}"
    return Decision("pattern.found", why, tuple(effects), add.memory.id)


def _grown(room: Room, pattern: tuple[int, Memory], members: Sequence[tuple[int, Memory]]) -> Decision | None:
    """The known pattern has further episodes; one that a person put away stays as it is."""
    key, memory = pattern
    store = room.tools.store
    links = store.relations.links([key], (EdgeType.DERIVED_FROM,), View(EVERYTHING, ANY_STATUS))
    has = {link.other for link in links if link.forward}
    fresh = [(at, one) for at, one in members if at not in has]
    if memory.status not in ACTIVE or memory.speaker != members[0][1].speaker or not fresh:
        return None
    old = store.memories.read(sorted(has)[-MOST:])
    episodes = [one for _, one in sorted({**old, **dict(fresh)}.items()) if one.tier is Tier.CLEAR]
    effects: list[Effect] = [Draw(Edge(memory.id, one.id, EdgeType.DERIVED_FROM)) for _, one in fresh]
    body = _schema(common([one.content for one in episodes[-TOLD:]]), episodes)
    body["episodes"] = len(has) + len(fresh)
    effects += keep(room, memory.scope, "schema", memory.id, body, sources=[one.id for one in episodes])
    why = f"{len(fresh)} further episodes, {len(has) + len(fresh)} now"
    return Decision("pattern.grown", why, tuple(effects), memory.id, fresh[-1][1].id)


def _schema(shared: Shared, episodes: Sequence[Memory]) -> dict[str, Any]:
    times = sorted(one.happened_at for one in episodes)
    return {
        "template": str(shared),
        "slots": [list(values) for values in shared.slots],
        "episodes": len(episodes),
        "first": times[0].isoformat(),
        "last": times[-1].isoformat(),
    }


def _category(episodes: Sequence[Memory]) -> str:
    """The commonest; what only says that something happened becomes an insight."""
    common_one = Counter(one.category for one in episodes).most_common(1)[0][0]
    return "insight" if common_one in PASSING else common_one


PASSING: Final = frozenset({"moment", "general", "context", "question"})


def _weighed(episodes: Sequence[Memory]) -> float:
    """How sure the episodes are on average, the stronger ones counting more."""
    whole = sum(max(one.strength, 0.01) for one in episodes)
    return sum(one.confidence * max(one.strength, 0.01) for one in episodes) / whole


# ---------------------------------------------------------------- in which words


def _wording(room: Room, episodes: Sequence[Memory]) -> Wording | None:
    """A fact that all state, the words that all have, a model's words, or those of the most typical one."""
    told = episodes[-TOLD:]
    shared = common([one.content for one in told])
    stated = _stated(told)
    if stated:
        return Wording(stated, shared)
    shortest = min(len(content_words(one.content)) for one in told)
    alike = len(shared.says) >= max(LEAST_WORDS, LEAST_SHARE * shortest)
    if alike and shared.whole:
        return Wording(str(shared), shared)
    written = in_words(room, NAME, [one.content for one in told], WORDS, always=True)
    if written is not None:
        return Wording(written, shared)
    typical = _typical(told)
    # Words that all have and that break off at an end are no sentence, and one's own end is not the others'.
    if alike or _agreement(typical, told) < LEAST_SHARE:
        return None
    fact = forms.key_fact(typical.content)
    return None if fact.endswith(("…", "...")) else Wording(f"Recurring: {fact}", shared, typical.id)


WORDS: Final = 30
"""Words of a pattern that a model puts into words."""


def _stated(episodes: Sequence[Memory]) -> str:
    """The fact that every episode states, as a sentence."""
    each = [facts.stated(one.content, one.details, one.speaker, one.heard_at) for one in episodes]
    first = next(iter(each), ())
    for fact in first:
        if all(fact in others for others in each):
            return worded(fact.subject, fact.predicate, fact.object)
    return ""


def _agreement(typical: Memory, episodes: Sequence[Memory]) -> float:
    """How much of what the typical one says the others say too, on average."""
    words = content_words(typical.content)
    others = [content_words(one.content) for one in episodes if one.id != typical.id]
    return sum(len(words & other) for other in others) / (max(len(words), 1) * max(len(others), 1))


def _typical(episodes: Sequence[Memory]) -> Memory:
    """The episode that shares most words with the others; of equal ones the latest."""
    words = [content_words(one.content) for one in episodes]
    spread = Counter(word for found in words for word in found)
    scores = [sum(spread[word] for word in found) / math.sqrt(len(found) or 1) for found in words]
    return max(zip(scores, range(len(scores)), episodes, strict=True))[2]
