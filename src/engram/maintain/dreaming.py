"""Dreaming: while nobody asks, memories are replayed, linked and strengthened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from engram.errors import EmbedderError, EmbedderRefused
from engram.maintain.pairs import limits as limits_of
from engram.maintain.pairs import neighbour_pairs, space_of
from engram.maintain.self_knowledge import STEPS as REBUILT
from engram.maintain.step import Batch, Decision, Draw, Effect, Judge, Step, StepContext, becomes, grouped
from engram.maintain.support import in_words, may_be_shown
from engram.model.capture import Draft
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import SETTLED, Judgement, RunKind, RunState, pair_key
from engram.model.memory import Filters, Kind, Memory, Space, Status
from engram.model.scope import Access, Role
from engram.ports import Embedded, Tools, Unit, View
from engram.rules.retention import initial_strength, replayed, retention
from engram.rules.sameness import Neighbour, NewStatement, SamenessLimits, opposing
from engram.rules.sealing import is_found_by_meaning, is_turned, opened, turned, turned_space
from engram.rules.sensitivity import without_values
from engram.rules.traits import SYNTHESIS, is_drawn
from engram.rules.vectors import meant, thresholds
from engram.text.forms import key_text
from engram.text.words import content_words

REPLAYS = 50  # memories replayed in one dream (cortex)
REPLAY_DAYS = 7.0  # days before a memory is replayed again

# ---------------------------------------------------------------- touched
# What a dream has touched: the memories it replayed, and those that came since the last dream.


NEWEST: Final = 200
"""New memories that a dream looks at."""


def touched(context: StepContext) -> dict[int, Memory]:
    """By key; active and without a speaker: the turns of a conversation are linked by their order."""
    store = context.tools.store
    ids = {line.memory for line in store.upkeep.decided(context.run.id, 0, 1_000) if line.memory}
    last = store.upkeep.runs(1, RunKind.DREAM, RunState.DONE)
    since = last[0].started_at if last else None
    new = store.upkeep.slice(Filters(created_since=since), 0, NEWEST)
    keys = store.memories.keys(sorted(ids))
    found = {**dict(new), **store.memories.read(sorted(keys.values()))}
    return {
        key: one for key, one in sorted(found.items()) if not one.speaker and one.status.value == "active"
    }


# ---------------------------------------------------------------- bridging
# Bridges: memories that a dream has touched come in; those of other topics with the same name are tied.
#
# Two things said about one person or project in quite different connections rarely meet in words or
# vectors. A model, where one may be asked, puts into words what they come to together.


NAMES: Final = 3
"""Names of a memory that are followed."""
NAMING: Final = 10
"""Memories of each that are looked at."""
MOST: Final = 20
"""Bridges in one dream."""
BRIDGE: Final = "bridge"
BRIDGE_WORDS: Final = 40
"""Words of what two memories come to together."""


def plan_bridges(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Tie memories of different topics that name the same entity."""
    if cursor:
        return
    upkeep = context.tools.store.upkeep
    decisions: dict[str, Decision] = {}
    for one in touched(context).values():
        for other, name_count in _elsewhere(context, one):
            pair = pair_key(one.id, other.id)
            if len(decisions) == MOST or pair in decisions or upkeep.judged(BRIDGE, [pair]):
                continue
            edge = Edge(one.id, other.id, EdgeType.RELATED_TO, weight=0.5, confidence=0.5)
            ties = context.tools.store.relations.of(one.id, Access.everything())
            tied = any(other.id in (tie.source, tie.target) for tie in ties)
            tie = () if tied else (Draw(edge),)
            effects = (*tie, *_in_words(context, one, other))
            if effects:
                note = Judge(Judgement(BRIDGE, pair, "made", context.now))
                why = f"one name in {name_count} memories, no topic in common"
                decisions[pair] = Decision("dream.bridge", why, (*effects, note), one.id, other.id)
    yield Batch(tuple(decisions.values()), "done")


def _in_words(context: StepContext, one: Memory, other: Memory) -> tuple[Effect, ...]:
    """A memory of what both come to, drawn from both; none when no model may be asked or none has words."""
    both = (one, other)
    words = (
        in_words(context, "bridges", [each.content for each in both], BRIDGE_WORDS, always=True)
        if may_be_shown(*both)
        else None
    )
    if words is None:
        return ()
    draft = Draft(
        words,
        category="insight",
        kind=Kind.SEMANTIC,
        tags=(SYNTHESIS,),
        confidence=0.5,
        scope=one.scope,
    )
    add, edges = context.drawn(draft, "bridge", [one.id, other.id])
    return (add, *edges)


def _elsewhere(context: StepContext, one: Memory) -> Iterator[tuple[Memory, int]]:
    """The latest memory of another topic for each of its names."""
    if is_drawn(one):
        return
    view = View(Access(one.scope, Role.AGENT), Filters())
    for name in one.entities[:NAMES]:
        entity = context.tools.store.entities.get(name, view.access)
        if entity is None:
            continue
        found = context.tools.store.entities.memories(entity, view, NAMING)
        names = content_words(" ".join((name, *entity.aliases)))
        for _, other in found:
            same_place = other.scope == one.scope and other.id != one.id and not is_drawn(other)
            if same_place and _topics(one, names).isdisjoint(_topics(other, names)):
                yield other, len(found)
                break


def _topics(memory: Memory, names: frozenset[str]) -> frozenset[str]:
    return (content_words(memory.content) | frozenset(memory.metadata.get("topics", ()))) - names


# ---------------------------------------------------------------- interference
# Interference: near memories that say different things of the same come in; each pair is flagged once.
#
# Nothing is decided here: the pair is shown among the conflicts, where a person or a model settles it.


INTERFERENCE = "interference"


def plan_interference_flags(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Flag pairs that are near in words and opposed in what they say."""
    space = space_of(context)
    if cursor or space is None:
        return
    near = thresholds(space.key)
    known, limits = touched(context), limits_of(near.strong, near)
    decisions: dict[str, Decision] = {}
    for scope in dict.fromkeys(one.scope for one in known.values()):
        keys = [key for key, one in known.items() if one.scope == scope]
        found = list(neighbour_pairs(context, space, scope, keys, limits.related))
        others = context.tools.store.memories.read(sorted({other for _, other, _ in found}))
        for key, other, cosine in found:
            if other in others and others[other].scope == scope:
                decision = _opposed(known[key], others[other], cosine, limits, context)
                decisions.update({decision.key: decision} if decision else {})
    flagged = [_pair(one) for one in decisions.values()]
    upkeep = context.tools.store.upkeep
    seen = {**upkeep.judged(INTERFERENCE, flagged), **upkeep.judged(SETTLED, flagged)}
    yield Batch(tuple(one for one in decisions.values() if _pair(one) not in seen), "done")


def _opposed(
    one: Memory, other: Memory, cosine: float, limits: SamenessLimits, context: StepContext
) -> Decision | None:
    first, second = sorted((one, other), key=lambda each: (each.happened_at, each.id))
    if other.status is not Status.ACTIVE or other.speaker:
        return None
    because = opposing(NewStatement(second), Neighbour(first, NewStatement(first), cosine), limits)
    if not because:
        return None
    edge = Edge(second.id, first.id, EdgeType.CONTRADICTS, confidence=0.5)
    key = pair_key(first.id, second.id)
    judge = Judge(Judgement(INTERFERENCE, key, "flagged", context.now))
    why = f"{because} (cosine {cosine:.2f})"
    return Decision("dream.interference", why, (Draw(edge), judge), second.id, first.id)


def _pair(decision: Decision) -> str:
    return pair_key(decision.memory, decision.related)


# ---------------------------------------------------------------- linking
# Linking: what a dream has touched comes in; it is linked to what is like it and was never linked.
#
# A memory that finds several links at once gains a little importance: it holds others together.


ALIKE: Final = 0.75
"""The cosine, in terms of the common models, above which two memories belong together."""
LINKING_MOST: Final = 3
"""New links of one memory in one dream."""
INSIGHT_LINKS: Final = 3
INSIGHT: Final = 0.05
"""Importance that a memory gains when it finds so many links."""
LINKS: Final = frozenset({EdgeType.RELATED_TO, EdgeType.SIMILAR_TO, EdgeType.SAME_ENTITY, EdgeType.NEXT})


def plan_links(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Draw edges between what is alike and not linked yet."""
    space = space_of(context)
    if cursor or space is None:
        return
    known = touched(context)
    least = meant(ALIKE, space.key)
    decisions: list[Decision] = []
    for scope in dict.fromkeys(one.scope for one in known.values()):
        keys = [key for key, one in known.items() if one.scope == scope]
        found = neighbour_pairs(context, space, scope, keys, least)
        near = grouped((key, (other, cosine)) for key, other, cosine in found)
        decisions += _links(context, known, near)
    yield Batch(tuple(decisions), "done")


def _links(
    context: StepContext, known: dict[int, Memory], near: dict[int, list[tuple[int, float]]]
) -> Iterator[Decision]:
    links = context.tools.store.relations.links(list(near), LINKS, View(Access.everything(), Filters()))
    linked = grouped((link.key, link.other) for link in links)
    others = context.tools.store.memories.read(sorted({key for found in near.values() for key, _ in found}))
    done: set[frozenset[int]] = set()
    for key, found in near.items():
        mine = known[key]
        fresh = [
            (other, cosine)
            for other, cosine in found
            if frozenset({key, other}) not in done
            and other not in linked.get(key, ())
            and other in others
            and others[other].scope == mine.scope
            and others[other].status is Status.ACTIVE
        ][:LINKING_MOST]
        if not fresh:
            continue
        done.update(frozenset({key, other}) for other, _ in fresh)
        alike = [
            Edge(mine.id, others[other].id, EdgeType.RELATED_TO, round(near, 2), 0.7) for other, near in fresh
        ]
        effects: list[Effect] = [Draw(edge) for edge in alike]
        if len(fresh) >= INSIGHT_LINKS and mine.importance < 1.0:
            effects.append(becomes(mine, importance=min(1.0, round(mine.importance + INSIGHT, 3))))
        why = f"{len(fresh)} alike, the nearest at {max(cosine for _, cosine in fresh):.2f}"
        yield Decision("dream.link", why, tuple(effects), mine.id)


# ---------------------------------------------------------------- replay
# Replay: strong memories that are about to fade come in; each is held a little better afterwards.
#
# Which ones: those that mattered (used, important or stirring) and of which little is left. What stirred
# counts double, what came from another agent goes first. Each dream looks at a bounded number of memories
# and goes on from there the next time, so a large memory is gone through in several nights.


REPLAY: Final = "replay"
"""The kind of judgement that says when a memory was replayed."""
PLACE: Final = "dream.place"
"""The kind that says how far the last dream looked."""
LOOKED_AT: Final = 5_000
STIRRED: Final = 0.6
"""Arousal above which a memory is twice as likely to be replayed."""
RECEIVED: Final = "bus"
"""The source of what came from another agent."""
MATTERS: Final = 0.6
"""Importance that makes a memory worth holding though nobody has used it."""


def plan_replay(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Replay those at risk; the next dream goes on where this one stopped."""
    if cursor:  # cut off after its only batch
        return
    known = context.tools.store.upkeep.judged(PLACE, [PLACE]).get(PLACE)
    seen, chosen = candidates(context, int(known.verdict) if known is not None else 0)
    again = context.now + timedelta(days=REPLAY_DAYS)
    decisions = [
        Decision(
            "dream.replay",
            f"{left:.2f} of it was left; held {one.strength:.1f} times, now {hold:.1f}",
            (
                becomes(one, Verb.REINFORCED, strength=hold),
                Judge(Judgement(REPLAY, one.id, "replayed", context.now, again)),
            ),
            one.id,
        )
        for one, left in chosen
        for hold in (replayed(one),)
    ]
    place = Judgement(PLACE, PLACE, str(seen), context.now)
    mark = Decision("dream.place", "", (Judge(place),), quiet=True)
    yield Batch((*decisions, mark), "done")


def candidates(context: StepContext, start: int) -> tuple[int, list[tuple[Memory, float]]]:
    """How far was looked, and the memories most worth replaying with what is left of each."""
    episodes = Filters(kinds=frozenset({Kind.EPISODIC}), statuses=frozenset({Status.ACTIVE}), pinned=False)
    found: list[tuple[float, int, Memory, float]] = []
    looked, last = 0, start
    for part in context.memories(episodes, start):
        known = context.tools.store.upkeep.judged(REPLAY, [one.id for _, one in part])
        resting = {id_ for id_, one in known.items() if one.again_at and one.again_at > context.now}
        for key, one in part:
            left = retention(one, context.now, context.tools.config)
            if one.id not in resting and is_at_risk(one, left):
                found.append((worth(one, left), key, one, left))
        looked, last = looked + len(part), part[-1][0]
        if looked >= LOOKED_AT:
            break
    else:
        last = 0  # the end: the next dream begins anew
    best = sorted(found, key=lambda each: (-each[0], each[1]))[:REPLAYS]
    return last, [(one, left) for _, _, one, left in best]


def is_at_risk(memory: Memory, left: float) -> bool:
    """Whether it mattered and is about to go.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> is_at_risk(Memory("1", "We won", "h", day, day, importance=0.8), 0.3)
    True
    >>> is_at_risk(Memory("1", "It rained", "h", day, day, importance=0.4), 0.3)
    False
    """
    mattered = memory.usage.accessed > 0 or memory.importance >= MATTERS or memory.affect.arousal > STIRRED
    return mattered and LOST < left < SAFE


LOST: Final = 0.05
SAFE: Final = 0.6
"""Between these a memory is worth holding: below it is gone, above it needs nothing."""


def worth(memory: Memory, left: float) -> float:
    """How much would be lost with it; what stirred counts double, what was received goes first."""
    value = initial_strength(memory) * (1.0 - left)
    stirred = value * 2.0 if memory.affect.arousal > STIRRED else value
    return stirred + (10.0 if memory.source.partition(":")[0] == RECEIVED else 0.0)


# ---------------------------------------------------------------- vectors
# Vectors: memories that went without one, because no embedder was there, get theirs while nobody asks.


VECTORS_MOST: Final = 1_000
"""Vectors made in one dream."""
DROPPED_AT_ONCE: Final = 2_000


def plan_missing_vectors(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Make vectors that are missing, in the present model's space."""
    if cursor:
        return
    try:
        made = embed_missing(context.tools, most=VECTORS_MOST)
    except EmbedderError:
        return
    if made:
        yield Batch((Decision("dream.embed", f"{made:,} vectors made", ()),), "done")


def embed_missing(
    tools: Tools, *, most: int | None = None, progress: Callable[[int], None] | None = None
) -> int:
    """Embed what has no vector in the present space, slice by slice; how many were done.

    Each slice is on disk before the next begins, so a run that is cut off goes on where it stopped; meanwhile
    questions are asked in both spaces. When nothing waits, the vectors that former models made go. A text
    that the embedder refuses is passed over: it keeps what it has. Raises EmbedderDown.
    """
    done, after = 0, 0
    while most is None or done < most:
        space = tools.embedder.space
        waiting = tools.store.memories.unembedded(space, after, tools.config.embed.batch)
        if not waiting:
            _drop_replaced(space, tools)
            break
        made = _vectors([memory for _, memory in waiting], tools)
        tools.store.write(partial(_put_vectors, made), "engine")
        after = waiting[-1][0]
        done += len(made)
        if progress is not None:
            progress(done)
    return done


def _drop_replaced(space: Space, tools: Tools) -> None:
    """Take away what former models made where the present one has its own, slice by slice."""
    if tools.former is None:
        return
    for key in tools.former.replaced(space):
        present = turned_space(space) if is_turned(key) else space
        while tools.store.write(partial(_drop_some, key, present), "engine"):
            pass
    tools.former.forget()


def _drop_some(former: str, space: Space, unit: Unit) -> int:
    return unit.drop_replaced(former, space, DROPPED_AT_ONCE)


def _vectors(memories: Sequence[Memory], tools: Tools) -> list[tuple[Memory, Embedded]]:
    """The vectors of all; where one text spoils it for the others, one by one without those refused."""
    try:
        space, rows = tools.embedder.embed(
            [key_text(memory.content, memory.told_by, memory.after) for memory in memories]
        )
    except EmbedderRefused:
        if len(memories) == 1:
            return []
        return [made for memory in memories for made in _vectors([memory], tools)]
    made = [(memory, Embedded(space, row)) for memory, row in zip(memories, rows, strict=True)]
    hidden = [memory for memory in memories if is_found_by_meaning(memory)]
    if tools.keys is not None and hidden:
        words = [without_values(opened(memory, tools.keys).content) for memory in hidden]
        space, rows = tools.embedder.embed(words)
        made += [
            (one, turned(Embedded(space, row), tools.keys)) for one, row in zip(hidden, rows, strict=True)
        ]
    return made


def _put_vectors(made: Sequence[tuple[Memory, Embedded]], unit: Unit) -> None:
    for memory, vector in made:
        now = unit.get(memory.id)
        if now is not None and (now.content, now.sealed) == (memory.content, memory.sealed):
            unit.embed(memory.id, vector)


STEPS: tuple[Step, ...] = (
    Step("dreaming", "replay", plan_replay),
    Step("dreaming", "vectors", plan_missing_vectors),
    Step("dreaming", "links", plan_links),
    Step("dreaming", "bridges", plan_bridges),
    Step("dreaming", "interference", plan_interference_flags),
    *REBUILT,
)
