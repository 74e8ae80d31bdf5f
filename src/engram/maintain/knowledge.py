"""Knowledge: episodes become patterns, sequences become procedures, fragments become entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Final

from engram.lazily import dataclass
from engram.maintain import patterns
from engram.maintain.apply import UNDONE
from engram.maintain.step import (
    ACTIVE,
    CLEAR,
    Alias,
    Batch,
    Decision,
    Drop,
    Effect,
    Keep,
    Step,
    StepContext,
    batches,
    becomes,
)
from engram.maintain.support import (
    EVERYTHING,
    RecentChanges,
    changed_filters,
    changed_names,
    changed_scopes,
    changes_since,
    keep_sketch,
    mark_batch,
    model_summary,
    says_something,
)
from engram.model.facts import Claim, Entity, FactQuery, Named, mark_of
from engram.model.maintenance import Judgement, Sketch
from engram.model.memory import ANY_STATUS, Filters, Memory, Tier
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.rules.enrich import said_at, spoken_of
from engram.rules.entities import resolve
from engram.rules.grouping import Box, BoxItem, BoxLimits, boxed, by_count, counted, main_topics, trace_of
from engram.rules.traits import DRAWN
from engram.text.forms import key_text
from engram.text.names import entities as names_in

BOX_OVERLAP = 0.35  # shared topics below which another box begins; from which boxes make a trace (files)
BOX_IDLE_MINUTES = 30.0  # minutes of silence that seal a box (files)
BOX_MEMORIES = 50  # memories after which a box is sealed (files)
CARD_MENTIONS = 3  # memories that must name somebody for a card
CARD_FACTS = 12  # facts and statements on a card

# ---------------------------------------------------------------- boxing
# Boxing: memories as they came go in; what was going on together is put into a box, and boxes into traces.
#
# What stands in no box yet is looked at in the order of coming. A sealed box stays as it is, but for a
# memory of it that was erased: then it is packed again from what is left.

NAME: Final = "boxes"
BOX, BOXES, TRACE = "box", "shelf", "trace"
BOXED = replace(CLEAR, not_tags=DRAWN)
LEAST: Final = 2
"""A single memory is no box."""
TOGETHER: Final = 2_000
"""Memories that are packed in one batch."""
MOST_TRACES: Final = 2_000
LISTED: Final = 500
"""Boxes of a trace that are kept, the latest."""
NAMED: Final = 8
BoxSpan = tuple[str, int, int]
"""A box in its row: its key, and the first and last key of its memories."""


@dataclass(slots=True)
class BoxRow:
    """The boxes of one place."""

    scope: Scope
    upto: int = 0
    boxes: list[BoxSpan] = field(default_factory=list)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    about: dict[str, frozenset[str]] = field(default_factory=dict)
    """The main topics of each trace."""
    touched: dict[str, None] = field(default_factory=dict)


def plan_boxes(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """New boxes of each place, then boxes that lost a memory."""
    news = changes_since(context, NAME)
    waiting = _waiting(context) if not news.any else ()
    if not news.any and not waiting:
        return
    where = changed_scopes(context, news, BOXED) | set(waiting)
    if news.gone:
        where |= {
            sketch.scope for sketch in context.tools.store.upkeep.sketches(BOXES, EVERYTHING, MOST_TRACES)
        }
    rows = {scope: _row(context, scope) for scope in sorted(where, key=lambda scope: scope.parts)}
    if news.gone:
        for row in rows.values():
            yield from _repacked(context, row)
    yield from _packed(context, rows)
    yield from mark_batch(context, NAME, news)


def _waiting(context: StepContext) -> tuple[Scope, ...]:
    """Places whose last box was open and has been quiet since."""
    rows = context.tools.store.upkeep.sketches(BOXES, EVERYTHING, MOST_TRACES)
    latest = (context.now - timedelta(minutes=BOX_IDLE_MINUTES)).timestamp()
    return tuple(row.scope for row in rows if row.body["open_since"] and row.body["open_since"] <= latest)


def _row(context: StepContext, scope: Scope) -> BoxRow:
    store = context.tools.store.upkeep
    sketch = store.sketch(scope, BOXES, "")
    row = BoxRow(scope)
    if sketch is None:
        return row
    row.upto = sketch.body["upto"]
    row.boxes = [(key, first, last) for key, first, last in sketch.body["boxes"]]
    access = Access(scope, Role.AGENT)
    for trace in store.sketches(TRACE, access, MOST_TRACES):
        if trace.scope == scope:
            row.traces[trace.key] = dict(trace.body)
            row.about[trace.key] = main_topics(trace.body["topics"])
    return row


def _packed(context: StepContext, rows: dict[Scope, BoxRow]) -> Iterator[Batch]:
    """Boxes of everything that came since, place by place; what is open stays for the next time."""
    open_: dict[Scope, list[BoxItem]] = {scope: [] for scope in rows}
    start = min((row.upto for row in rows.values()), default=0)
    limits = BoxLimits(BOX_OVERLAP, timedelta(minutes=BOX_IDLE_MINUTES), BOX_MEMORIES)
    for part in context.memories(BOXED, start) if rows else ():
        for key, memory in part:
            if memory.scope in rows and key > rows[memory.scope].upto:
                open_[memory.scope].append(_item(key, memory))
        for scope, items in open_.items():
            if len(items) >= TOGETHER:
                sealed, rest = boxed(items, items[-1].at, limits)
                open_[scope] = rest
                yield from _sealed(context, rows[scope], sealed, rest)
    for scope, items in open_.items():
        sealed, rest = boxed(items, context.now, limits)
        yield from _sealed(context, rows[scope], sealed, rest)


def _sealed(
    context: StepContext, row: BoxRow, sealed: Sequence[Box], rest: Sequence[BoxItem]
) -> Iterator[Batch]:
    effects: list[Effect] = []
    full = [box for box in sealed if len(box) >= LEAST]
    for box in full:
        key = f"{box[0].at:%Y%m%dT%H%M%S}-{box[0].id[:8]}"
        row.boxes.append((key, box[0].key, box[-1].key))
        effects += _box(context, row, key, box)
    if sealed:
        row.upto = sealed[-1][-1].key
    for key in row.touched:
        title = ", ".join(sorted(row.about[key]))
        effects.append(Keep(Sketch(row.scope, TRACE, key, row.traces[key], context.now, title)))
    row.touched.clear()
    open_since = rest[-1].at.timestamp() if rest else None
    body = {"upto": row.upto, "boxes": row.boxes, "open_since": open_since}
    if sealed:
        effects.append(Keep(Sketch(row.scope, BOXES, "", body, context.now)))
    elif rest:
        effects += keep_sketch(context, row.scope, BOXES, "", body)
    if effects:
        why = f"{len(full)} boxes with {sum(map(len, full))} memories"
        yield Batch((Decision("box.sealed", why, tuple(effects), quiet=not full),))


def _repacked(context: StepContext, row: BoxRow) -> Iterator[Batch]:
    """Boxes that went with an erased memory, packed again from what is left."""
    store = context.tools.store.upkeep
    lost = [box for box in row.boxes if store.sketch(row.scope, BOX, box[0]) is None]
    effects: list[Effect] = []
    for key, first, last in lost:
        items = [_item(at, memory) for at, memory in _between(context, row.scope, first, last)]
        if len(items) >= LEAST:
            effects += _box(context, row, key, items, woven=True)
        else:
            row.boxes.remove((key, first, last))
    if effects or lost:
        body = {"upto": row.upto, "boxes": row.boxes, "open_since": None}
        effects += keep_sketch(context, row.scope, BOXES, "", body)
        yield Batch((Decision("box.repacked", f"{len(lost)} boxes", tuple(effects)),))


def _between(context: StepContext, scope: Scope, first: int, last: int) -> Iterator[tuple[int, Memory]]:
    for part in context.memories(BOXED, first - 1):
        for key, memory in part:
            if key > last:
                return
            if memory.scope == scope:
                yield key, memory


def _box(
    context: StepContext, row: BoxRow, key: str, box: Sequence[BoxItem], *, woven: bool = False
) -> Sequence[Effect]:
    about = counted(item.about for item in box)
    topics = {topic: count for topic, count in about.items() if topic in _topics()}
    names = [name for name in about if name not in topics][:NAMED]
    trace = _weave(row, key, box, topics) if not woven else ""
    body = {
        "from": box[0].at.isoformat(),
        "to": box[-1].at.isoformat(),
        "memories": [item.id for item in box],
        "topics": topics,
        "names": names,
        "trace": trace,
    }
    title = ", ".join([*sorted(main_topics(topics)), *names[:3]])
    sources = tuple(item.id for item in box)
    return [Keep(Sketch(row.scope, BOX, key, body, context.now, title, sources))]


def _weave(row: BoxRow, key: str, box: Sequence[BoxItem], topics: dict[str, int]) -> str:
    """The trace that a box goes on with, or the one that it begins; a box about nothing has none."""
    if not topics:
        return ""
    trace = trace_of(main_topics(topics), row.about, BOX_OVERLAP) or key
    old = row.traces.get(trace, {"topics": {}, "boxes": [], "first": box[0].at.isoformat(), "count": 0})
    merged = by_count(Counter(old["topics"]) + Counter(topics))
    row.traces[trace] = {
        "topics": merged,
        "boxes": [*old["boxes"], key][-LISTED:],
        "first": old["first"],
        "last": box[-1].at.isoformat(),
        "count": old["count"] + 1,
    }
    row.about[trace] = main_topics(merged)
    row.touched[trace] = None
    return trace


def _item(key: int, memory: Memory) -> BoxItem:
    metadata = memory.metadata
    names = (*metadata.get("technologies", ()), *metadata.get("paths", ()))
    about = frozenset((*metadata.get("topics", ()), *(name.casefold() for name in names)))
    return BoxItem(memory.id, key, memory.happened_at, about)


def _topics() -> frozenset[str]:
    from engram.text import lexicon

    return frozenset(lexicon.headings("topics"))


# ---------------------------------------------------------------- cards
# Cards: memories that name somebody or something come in; a card about it comes out, place by place.
#
# A card holds what is stated about it, the weightiest statements that name it, and whom it is named with.
# Cards are for the names most spoken of.

CARDS_NAME: Final = "cards"
KIND: Final = "card"
CARDS_CLEAR = replace(CLEAR, statuses=ACTIVE)
SAMPLE: Final = 50
"""Memories of an entity that a card is made of, the latest."""
BESIDE: Final = 10
CARDS_TOGETHER: Final = 50
WORDS: Final = 60
"""Words of a card that a model writes."""


def plan_cards(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Cards of the names that news speaks of; of all names when something was erased."""
    news = changes_since(context, CARDS_NAME)
    if not news.any:
        return
    everything = RecentChanges(whole=True) if news.gone else news
    for scope, names in _named(context, everything).items():
        entities = _entities(context, scope, names, everything)
        for start in range(0, len(entities), CARDS_TOGETHER):
            chunk = entities[start : start + CARDS_TOGETHER]
            effects = [effect for entity in chunk for effect in _card(context, scope, entity)]
            if effects:
                yield Batch((Decision("card.written", f"{len(effects)} cards", tuple(effects)),))
    yield from mark_batch(context, CARDS_NAME, news)


def _named(context: StepContext, news: RecentChanges) -> dict[Scope, Counter[str]]:
    """The names in memories, place by place. What a memory was put away with may stand on a card still."""
    names_by_scope: dict[Scope, Counter[str]] = {}
    for part in changed_names(context, news, CARDS_CLEAR if news.whole else ANY_STATUS):
        for _, record in part:
            names = (*record.entities, record.speaker) if record.speaker else record.entities
            if names:
                names_by_scope.setdefault(record.scope, Counter()).update(name.casefold() for name in names)
    return names_by_scope


def _entities(context: StepContext, scope: Scope, names: Counter[str], news: RecentChanges) -> list[Entity]:
    """Who gets a card: the most spoken of; later also newcomers while there is room, and who has one."""
    settings, store = context.tools.config.knowledge, context.tools.store
    access = Access(scope, Role.AGENT)
    if news.whole:
        common = [name for name, count in names.most_common(settings.cards * 2) if count]
        entities = store.entities.among(common, access)
        counts = {entity.key: sum(names[alias] for alias in entity.aliases) for entity in entities}
        enough = [entity for entity in entities if counts[entity.key] >= CARD_MENTIONS]
        return sorted(enough, key=lambda entity: (-counts[entity.key], entity.name))[: settings.cards]
    have = {
        sketch.key
        for sketch in store.upkeep.sketches(KIND, access, settings.cards * 2)
        if sketch.scope == scope
    }
    free = settings.cards - len(have)
    entities = sorted(store.entities.among(list(names), access), key=lambda entity: entity.name)
    with_card = [entity for entity in entities if entity.name.casefold() in have]
    return with_card + [entity for entity in entities if entity.name.casefold() not in have][: max(0, free)]


def _card(context: StepContext, scope: Scope, entity: Entity) -> Sequence[Effect]:
    store = context.tools.store
    view = View(Access(scope, Role.AGENT), CARDS_CLEAR)
    naming = [memory for _, memory in store.entities.memories(entity, view, SAMPLE) if memory.scope == scope]
    key = entity.name.casefold()
    if len(naming) < CARD_MENTIONS:
        old_card = store.upkeep.sketch(scope, KIND, key)
        return () if old_card is None else (Drop(scope, KIND, key),)
    claims = _claims(context, scope, entity, view)
    own = _own(context, scope, entity)
    weighty = [*own, *_weightiest(naming)][:CARD_FACTS]
    body = _body(context, entity, naming, weighty, claims)
    sources = [memory.id for memory in (*naming, *weighty)] + [claim.memory.id for claim in claims]
    return keep_sketch(context, scope, KIND, key, body, title=entity.name, sources=sources)


def _own(context: StepContext, scope: Scope, entity: Entity) -> list[Memory]:
    """What somebody says of themselves, who seldom name themselves: the weightiest of their last words."""
    filters = replace(CARDS_CLEAR, speakers=frozenset({entity.name}))
    page = context.tools.store.memories.page(View(Access(scope, Role.AGENT), filters), SAMPLE)
    return list(islice(_telling_first([memory for memory in page if memory.scope == scope]), CARD_FACTS // 2))


def _weightiest(memories: Sequence[Memory]) -> list[Memory]:
    """As many as a card takes that say something by themselves; of all when none does."""
    return list(islice(_telling_first(memories), CARD_FACTS)) or sorted(memories, key=_WEIGHT, reverse=True)


def _telling_first(memories: Sequence[Memory]) -> Iterator[Memory]:
    """Those that say something by themselves, the weightiest first; no more are read than are wanted."""
    ordered = sorted(memories, key=_WEIGHT, reverse=True)
    return (memory for memory in ordered if says_something(_key_fact(memory), memory.speaker))


_WEIGHT: Final = attrgetter("pinned", "importance", "happened_at")


def _claims(context: StepContext, scope: Scope, entity: Entity, view: View) -> list[Claim]:
    names = frozenset({entity.name.lower(), *entity.aliases})
    claims = context.tools.store.facts.find(FactQuery(subjects=names, as_of=context.now), view, SAMPLE)
    here = [claim for claim in claims if claim.memory.scope == scope and claim.memory.status in ACTIVE]
    return [claim for claim in here if claim.memory.tier is Tier.CLEAR][:CARD_FACTS]


def _body(
    context: StepContext,
    entity: Entity,
    naming: Sequence[Memory],
    weighty: Sequence[Memory],
    claims: Sequence[Claim],
) -> dict[str, Any]:
    own = {entity.name.casefold(), *entity.aliases}
    beside = Counter(name for memory in naming for name in memory.entities if name.casefold() not in own)
    times = sorted(memory.happened_at for memory in naming)
    facts = [[claim.fact.subject, claim.fact.predicate, claim.fact.object] for claim in claims]
    lines = list(dict.fromkeys(key_text(_key_fact(memory), memory.speaker) for memory in weighty))
    return {
        "name": entity.name,
        "type": entity.type,
        "aliases": [alias for alias in entity.aliases if alias != entity.name.casefold()],
        "facts": [list(fact) for fact in dict.fromkeys(map(tuple, facts))],
        "lines": lines,
        "text": model_summary(context, CARDS_NAME, lines, WORDS)
        or "; ".join(line.rstrip(".") for line in lines[:3]),
        "beside": [list(pair) for pair in sorted(beside.items(), key=lambda it: (-it[1], it[0]))[:BESIDE]],
        "memories": len(naming),
        "first": times[0].isoformat(),
        "last": times[-1].isoformat(),
    }


def _key_fact(memory: Memory) -> str:
    return memory.forms.key_fact or memory.content


# ---------------------------------------------------------------- fragments
# Fragments: entities come in; two that are one, known under two names, become one.
#
# Names are resolved when they are first heard. What could not be told then may be plain later: "Smith"
# while there were two of them, "k8s" before its type was known. Both must mean the other, and be spoken of
# in one place; a doubt leaves them apart.

FRAGMENTS_NAME: Final = "fragments"
RULE: Final = "entity.joined"
CANDIDATES: Final = 20
FRAGMENTS_SAMPLE: Final = 20
FRAGMENTS_TOGETHER: Final = 100


def plan_name_fragments(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Names that came up since the last time, each compared with those like it."""
    news = changes_since(context, FRAGMENTS_NAME)
    if not news.any:
        return
    names: dict[Scope, dict[str, None]] = {}
    for part in changed_names(context, news, CLEAR):
        for _, record in part:
            names.setdefault(record.scope, {}).update((name.casefold(), None) for name in record.entities)
    joined: set[int] = set()
    for scope, names_here in names.items():
        listed = list(names_here)
        for start in range(0, len(listed), FRAGMENTS_TOGETHER):
            chunk = listed[start : start + FRAGMENTS_TOGETHER]
            yield from batches(_decide(context, scope, chunk, joined), FRAGMENTS_TOGETHER)
    yield from mark_batch(context, FRAGMENTS_NAME, news)


def _decide(context: StepContext, scope: Scope, names: list[str], joined: set[int]) -> Iterator[Decision]:
    access = Access(scope, Role.AGENT)
    for entity, other in _same_entities(context, context.tools.store.entities.among(names, access), access):
        if not joined.isdisjoint((entity.key, other.key)):
            continue
        joined |= {entity.key, other.key}
        keep, part = _fuller(context, entity, other, access)
        if _places(context, keep).isdisjoint(_places(context, part)):
            continue
        why = f"one name means the other, {_mentions(context, part, access)} memories"
        name = Alias(part.name, keep, keep.namespace)
        part_mark, keep_mark = (mark_of(entity.namespace, entity.name) for entity in (part, keep))
        yield Decision(RULE, why, (name,), part_mark, keep_mark)


def _same_entities(
    context: StepContext, entities: Sequence[Entity], access: Access
) -> Iterator[tuple[Entity, Entity]]:
    candidates = [
        (entity, other)
        for entity, other in _meant(context, entities, access)
        if other is not None and other.namespace == entity.namespace
    ]
    back = _meant(context, [other for _, other in candidates], access)
    for (entity, other), (_, back_again) in zip(candidates, back, strict=True):
        if back_again is not None and back_again.key == entity.key:
            yield entity, other


def _meant(
    context: StepContext, entities: Sequence[Entity], access: Access
) -> list[tuple[Entity, Entity | None]]:
    if not entities:
        return []
    alike = context.tools.store.entities.like_each([entity.name for entity in entities], access, CANDIDATES)
    return [
        (
            entity,
            resolve(Named(entity.name, entity.type), [each for each in others if each.key != entity.key]),
        )
        for entity, others in zip(entities, alike, strict=True)
    ]


def _fuller(context: StepContext, entity: Entity, other: Entity, access: Access) -> tuple[Entity, Entity]:
    """The one that stays and the one that becomes part of it: the longer name, then the commoner."""
    ranked = sorted(
        (entity, other),
        key=lambda it: (len(it.name.split()), it.type != "unknown", _mentions(context, it, access), it.name),
        reverse=True,
    )
    return ranked[0], ranked[1]


def _mentions(context: StepContext, entity: Entity, access: Access) -> int:
    current = context.tools.store.entities.get(entity.name, access)
    return 0 if current is None else current.mentions


def _places(context: StepContext, entity: Entity) -> frozenset[Scope]:
    naming = context.tools.store.entities.memories(entity, View(EVERYTHING, Filters()), FRAGMENTS_SAMPLE)
    return frozenset(memory.scope for _, memory in naming)


def parted(name: str, other_name: str, namespace: str, at: datetime) -> Iterator[Judgement]:
    """What to remember when a person says that two names are not one: it is not said again by rule."""
    marks = (mark_of(namespace, name), mark_of(namespace, other_name))
    for part, keep in (marks, marks[::-1]):
        yield Judgement(UNDONE, Decision(RULE, "", (), part, keep).key, "parted", at)


# ---------------------------------------------------------------- metadata
# Metadata: memories from before it was worked out come in; what their words speak of goes into them.

METADATA_NAME: Final = "metadata"


def plan_metadata(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Memories without metadata whose words speak of something."""
    news = changes_since(context, METADATA_NAME)
    if not news.any:
        return
    for part in chain.from_iterable(map(context.bare, changed_filters(context, news, CLEAR))):
        decisions: list[Decision] = []
        for _, memory in part:
            if metadata := spoken_of(memory.content, said_at(memory), names_in(memory.content)):
                filled = becomes(memory, metadata=metadata)
                decisions.append(Decision("metadata.filled", f"{len(metadata)} kinds", (filled,), memory.id))
        if decisions:
            yield Batch(tuple(decisions))
    yield from mark_batch(context, METADATA_NAME, news)


STAGE = "knowledge"
STEPS: tuple[Step, ...] = (
    Step(STAGE, METADATA_NAME, plan_metadata),
    Step(STAGE, patterns.NAME, patterns.plan_patterns),
    Step(STAGE, patterns.PROCEDURES_NAME, patterns.plan_procedures),
    Step(STAGE, FRAGMENTS_NAME, plan_name_fragments),
    Step(STAGE, patterns.INFERENCE_NAME, patterns.plan_inferences),
    Step(STAGE, CARDS_NAME, plan_cards),
    Step(STAGE, NAME, plan_boxes),
)
