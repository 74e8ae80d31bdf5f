"""Dreaming: while nobody asks, memories are replayed, linked and strengthened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from engram.errors import EmbedderError, EmbedderRefused
from engram.maintain.pairs import neighbour_pairs, sameness_limits, space_of
from engram.maintain.self_knowledge import STEPS as REBUILT
from engram.maintain.step import Batch, Decision, Draw, Effect, Judge, Step, StepContext, becomes, grouped
from engram.maintain.support import may_be_shown, model_summary
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
    memories = {**dict(new), **store.memories.read(sorted(keys.values()))}
    unspoken = ((key, memory) for key, memory in sorted(memories.items()) if not memory.speaker)
    return {key: memory for key, memory in unspoken if memory.status.value == "active"}


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
    for memory in touched(context).values():
        for other, name_count in _other_topics(context, memory):
            pair = pair_key(memory.id, other.id)
            if len(decisions) == MOST or pair in decisions or upkeep.judged(BRIDGE, [pair]):
                continue
            edge = Edge(memory.id, other.id, EdgeType.RELATED_TO, weight=0.5, confidence=0.5)
            ties = context.tools.store.relations.of(memory.id, Access.everything())
            tied = any(other.id in (tie.source, tie.target) for tie in ties)
            tie = () if tied else (Draw(edge),)
            effects = (*tie, *_synthesis(context, memory, other))
            if effects:
                note = Judge(Judgement(BRIDGE, pair, "made", context.now))
                why = f"one name in {name_count} memories, no topic in common"
                decisions[pair] = Decision("dream.bridge", why, (*effects, note), memory.id, other.id)
    yield Batch(tuple(decisions.values()), "done")


def _synthesis(context: StepContext, memory: Memory, other: Memory) -> tuple[Effect, ...]:
    """A memory of what both come to, drawn from both; none when no model may be asked or none has words."""
    if not may_be_shown(memory, other):
        return ()
    contents = [memory.content, other.content]
    words = model_summary(context, "bridges", contents, BRIDGE_WORDS, always=True)
    if words is None:
        return ()
    draft = Draft(
        words, category="insight", kind=Kind.SEMANTIC, tags=(SYNTHESIS,), confidence=0.5, scope=memory.scope
    )
    add, edges = context.derived(draft, "bridge", [memory.id, other.id])
    return (add, *edges)


def _other_topics(context: StepContext, memory: Memory) -> Iterator[tuple[Memory, int]]:
    """The latest memory of another topic for each of its names."""
    if is_drawn(memory):
        return
    view = View(Access(memory.scope, Role.AGENT), Filters())
    for name in memory.entities[:NAMES]:
        entity = context.tools.store.entities.get(name, view.access)
        if entity is None:
            continue
        naming = context.tools.store.entities.memories(entity, view, NAMING)
        names = content_words(" ".join((name, *entity.aliases)))
        for _, other in naming:
            same_place = other.scope == memory.scope and other.id != memory.id and not is_drawn(other)
            if same_place and _topics(memory, names).isdisjoint(_topics(other, names)):
                yield other, len(naming)
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
    memories, limits = touched(context), sameness_limits(near.strong, near)
    decisions: dict[str, Decision] = {}
    for scope in dict.fromkeys(memory.scope for memory in memories.values()):
        keys = [key for key, memory in memories.items() if memory.scope == scope]
        pairs = list(neighbour_pairs(context, space, scope, keys, limits.related))
        neighbours = context.tools.store.memories.read(sorted({other for _, other, _ in pairs}))
        for key, other, cosine in pairs:
            if other in neighbours and neighbours[other].scope == scope:
                decision = _conflict_decision(memories[key], neighbours[other], cosine, limits, context)
                decisions.update({decision.key: decision} if decision else {})
    flagged = [_pair(decision) for decision in decisions.values()]
    upkeep = context.tools.store.upkeep
    flagged_before = {**upkeep.judged(INTERFERENCE, flagged), **upkeep.judged(SETTLED, flagged)}
    new = (decision for decision in decisions.values() if _pair(decision) not in flagged_before)
    yield Batch(tuple(new), "done")


def _conflict_decision(
    memory: Memory, other: Memory, cosine: float, limits: SamenessLimits, context: StepContext
) -> Decision | None:
    first, second = sorted((memory, other), key=lambda end: (end.happened_at, end.id))
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
    memories = touched(context)
    least = meant(ALIKE, space.key)
    decisions: list[Decision] = []
    for scope in dict.fromkeys(memory.scope for memory in memories.values()):
        keys = [key for key, memory in memories.items() if memory.scope == scope]
        pairs = neighbour_pairs(context, space, scope, keys, least)
        near = grouped((key, (other, cosine)) for key, other, cosine in pairs)
        decisions += _links(context, memories, near)
    yield Batch(tuple(decisions), "done")


def _links(
    context: StepContext, memories: dict[int, Memory], near: dict[int, list[tuple[int, float]]]
) -> Iterator[Decision]:
    links = context.tools.store.relations.links(list(near), LINKS, View(Access.everything(), Filters()))
    linked = grouped((link.key, link.other) for link in links)
    neighbours = context.tools.store.memories.read(sorted({key for hits in near.values() for key, _ in hits}))
    done: set[frozenset[int]] = set()
    for key, hits in near.items():
        memory = memories[key]
        fresh = [
            (other, cosine)
            for other, cosine in hits
            if frozenset({key, other}) not in done
            and other not in linked.get(key, ())
            and other in neighbours
            and neighbours[other].scope == memory.scope
            and neighbours[other].status is Status.ACTIVE
        ][:LINKING_MOST]
        if not fresh:
            continue
        done.update(frozenset({key, other}) for other, _ in fresh)
        effects: list[Effect] = [
            Draw(Edge(memory.id, neighbours[other].id, EdgeType.RELATED_TO, round(cosine, 2), 0.7))
            for other, cosine in fresh
        ]
        if len(fresh) >= INSIGHT_LINKS and memory.importance < 1.0:
            effects.append(becomes(memory, importance=min(1.0, round(memory.importance + INSIGHT, 3))))
        why = f"{len(fresh)} alike, the nearest at {max(cosine for _, cosine in fresh):.2f}"
        yield Decision("dream.link", why, tuple(effects), memory.id)


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
    former = context.tools.store.upkeep.judged(PLACE, [PLACE]).get(PLACE)
    last_key, chosen = candidates(context, int(former.verdict) if former is not None else 0)
    again = context.now + timedelta(days=REPLAY_DAYS)
    decisions = [
        Decision(
            "dream.replay",
            f"{retained:.2f} of it was left; held {memory.strength:.1f} times, now {hold:.1f}",
            (
                becomes(memory, Verb.REINFORCED, strength=hold),
                Judge(Judgement(REPLAY, memory.id, "replayed", context.now, again)),
            ),
            memory.id,
        )
        for memory, retained in chosen
        for hold in (replayed(memory),)
    ]
    place = Judgement(PLACE, PLACE, str(last_key), context.now)
    mark = Decision("dream.place", "", (Judge(place),), quiet=True)
    yield Batch((*decisions, mark), "done")


def candidates(context: StepContext, start: int) -> tuple[int, list[tuple[Memory, float]]]:
    """How far was looked, and the memories most worth replaying with what is left of each."""
    episodes = Filters(kinds=frozenset({Kind.EPISODIC}), statuses=frozenset({Status.ACTIVE}), pinned=False)
    at_risk: list[tuple[float, int, Memory, float]] = []
    looked, last = 0, start
    for part in context.memories(episodes, start):
        replays = context.tools.store.upkeep.judged(REPLAY, [memory.id for _, memory in part])
        resting = {id_ for id_, mark in replays.items() if mark.again_at and mark.again_at > context.now}
        for key, memory in part:
            retained = retention(memory, context.now, context.tools.config)
            if memory.id not in resting and is_at_risk(memory, retained):
                at_risk.append((worth(memory, retained), key, memory, retained))
        looked, last = looked + len(part), part[-1][0]
        if looked >= LOOKED_AT:
            break
    else:
        last = 0  # the end: the next dream begins anew
    best = sorted(at_risk, key=lambda entry: (-entry[0], entry[1]))[:REPLAYS]
    return last, [(memory, retained) for _, _, memory, retained in best]


def is_at_risk(memory: Memory, retained: float) -> bool:
    """Whether it mattered and is about to go.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> is_at_risk(Memory("1", "We won", "h", day, day, importance=0.8), 0.3)
    True
    >>> is_at_risk(Memory("1", "It rained", "h", day, day, importance=0.4), 0.3)
    False
    """
    mattered = memory.usage.accessed > 0 or memory.importance >= MATTERS or memory.affect.arousal > STIRRED
    return mattered and LOST < retained < SAFE


LOST: Final = 0.05
SAFE: Final = 0.6
"""Between these a memory is worth holding: below it is gone, above it needs nothing."""


def worth(memory: Memory, retained: float) -> float:
    """How much would be lost with it; what stirred counts double, what was received goes first."""
    value = initial_strength(memory) * (1.0 - retained)
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
        count = embed_missing(context.tools, most=VECTORS_MOST)
    except EmbedderError:
        return
    if count:
        yield Batch((Decision("dream.embed", f"{count:,} vectors made", ()),), "done")


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
        vectors = _vectors([memory for _, memory in waiting], tools)
        tools.store.write(partial(_put_vectors, vectors), "engine")
        after = waiting[-1][0]
        done += len(vectors)
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
        return [pair for memory in memories for pair in _vectors([memory], tools)]
    vectors = [(memory, Embedded(space, row)) for memory, row in zip(memories, rows, strict=True)]
    hidden = [memory for memory in memories if is_found_by_meaning(memory)]
    if tools.keys is not None and hidden:
        words = [without_values(opened(memory, tools.keys).content) for memory in hidden]
        space, rows = tools.embedder.embed(words)
        sealed = [turned(Embedded(space, row), tools.keys) for row in rows]
        vectors += zip(hidden, sealed, strict=True)
    return vectors


def _put_vectors(vectors: Sequence[tuple[Memory, Embedded]], unit: Unit) -> None:
    for memory, vector in vectors:
        current = unit.get(memory.id)
        if current is not None and (current.content, current.sealed) == (memory.content, memory.sealed):
            unit.embed(memory.id, vector)


STEPS: tuple[Step, ...] = (
    Step("dreaming", "replay", plan_replay),
    Step("dreaming", "vectors", plan_missing_vectors),
    Step("dreaming", "links", plan_links),
    Step("dreaming", "bridges", plan_bridges),
    Step("dreaming", "interference", plan_interference_flags),
    *REBUILT,
)
