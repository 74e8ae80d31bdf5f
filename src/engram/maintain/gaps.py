"""Gaps: what was said and asked comes in; questions about what is not known come out, and close when it is.

Found are names spoken of often without any fact, facts one expects and that are missing, open conflicts,
commitments without a day, and names that were asked about in vain. A gap that was answered or dismissed does
not come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from engram.lazily import dataclass
from engram.maintain.apply import UNDONE
from engram.maintain.step import CLEAR, Batch, Decision, Drop, Keep, StepContext
from engram.maintain.support import RecentChanges, changed_memories, changes_since, mark_decisions
from engram.model.facts import EdgeType, Entity, FactQuery
from engram.model.maintenance import SETTLED, Sketch, pair_key
from engram.model.memory import ANY_STATUS, Filters, Layer, Memory, Status, Tier
from engram.model.scope import Access, Role, Scope
from engram.model.session import Gap, LoopState
from engram.ports import Store, View
from engram.rules.commitments import is_loop, loop
from engram.rules.doubt import DUE, GAP, IN_VAIN, STALE, about_entity, asked_about, of_conflict, of_memory
from engram.rules.traits import is_reference, settles

NAMED_BY = 5  # memories that name somebody before more should be known of them
ASKED_TIMES = 2  # questions about somebody that found nothing before they are a gap
ASKED_DAYS = 30.0  # days for which such questions count
GAPS_MOST = 50  # gaps kept for each place, the weightiest
NAMES_MOST = 200  # names of each place that gaps are looked for in a run

# ---------------------------------------------------------------- disputes
# Disputes: a place comes in; pairs of its memories that cannot both be true and are not settled come out.

LOOKED_AT: Final = 200
"""So many challenged memories, and so many of the newest, are looked at for edges."""


def disputes(context: StepContext, scope: Scope, most: int) -> list[tuple[Memory, Memory]]:
    """Open pairs of this very place, each once: marked by an edge, or with facts that exclude each other."""
    store, view = context.tools.store, View(Access(scope, Role.AGENT), CLEAR)
    torn = ((first.memory, second.memory) for first, second in store.facts.disputed(view, max(1, most)))
    open_pairs: dict[str, tuple[Memory, Memory]] = {}
    for first, second in (*contradicting(store, view, LOOKED_AT), *torn):
        if first.scope == scope == second.scope and first.tier is second.tier is Tier.CLEAR:
            open_pairs.setdefault(pair_key(first.id, second.id), (first, second))
    settled = store.upkeep.judged(SETTLED, open_pairs)
    return [pair for key, pair in open_pairs.items() if key not in settled][:most]


def contradicting(store: Store, view: View, looked_at: int) -> Iterator[tuple[Memory, Memory]]:
    """Pairs with a `contradicts` edge of which both still stand, from one to the other, the latest first."""
    # All layers are named because an index of layer and status then finds these few at once.
    rare = replace(view.filters, statuses=frozenset({Status.CHALLENGED}), layers=frozenset(Layer))
    pages = (store.memories.page(each_view, looked_at) for each_view in (View(view.access, rare), view))
    keys = store.memories.keys(list(dict.fromkeys(memory.id for page in pages for memory in page)))
    links = store.relations.links(sorted(keys.values()), {EdgeType.CONTRADICTS}, view)
    ends = {(link.key, link.other) if link.forward else (link.other, link.key) for link in links}
    records = store.memories.read(sorted({key for pair in ends for key in pair}))
    for source, target in sorted(ends, reverse=True):
        first, second = records.get(source), records.get(target)
        if first and second and not settles(first, second) and not settles(second, first):
            yield first, second


NAME: Final = "gaps"
DONE: Final = "done"
FOUND: Final = "gap.found"
SOURCES: Final = 5
"""Memories that a gap about a name is held by: without one of them it goes, and is found anew."""
CLAIMS: Final = 100
EVERY: Final = 100_000
GapFinding = tuple[Gap, tuple[str, ...], str]
"""A gap, the memories it has words of, and why it is one."""


@dataclass(slots=True)
class GapPlace:
    """What is to be looked at in one place."""

    names: Counter[str] = field(default_factory=Counter)
    loops: set[str] = field(default_factory=set)
    """Ids of commitments."""
    has_news: bool = False
    open: dict[str, Sketch] = field(default_factory=dict)
    """Gaps known so far."""
    asked: dict[str, Sketch] = field(default_factory=dict)


def plan_gaps(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Gaps of every place in which something was said, asked or is still open."""
    if cursor == DONE:
        return
    news = changes_since(context, NAME)
    for scope, place in sorted(_places(context, news).items(), key=lambda item: item[0].parts):
        decisions = tuple(_gap_decisions(context, scope, place))
        if decisions:
            yield Batch(decisions)
    if mark := mark_decisions(context, NAME, news):
        yield Batch(mark, DONE)


def keep_gap(context: StepContext, gap: Gap, sources: Sequence[str]) -> Keep:
    """The effect that keeps a gap."""
    body = {name: getattr(gap, name) for name in ("question", "about", "weight", "kind", "expects")}
    body["memories"] = list(gap.memories)
    return Keep(Sketch(gap.scope, GAP, gap.key, body, context.now, "", tuple(dict.fromkeys(sources))))


def closed_gaps(context: StepContext, keys: Iterable[str]) -> frozenset[str]:
    """Those that were answered or dismissed, or that a person has taken back."""
    every, upkeep = list(keys), context.tools.store.upkeep
    undone = upkeep.judged(UNDONE, [Decision(FOUND, "", (), key).key for key in every])
    taken_back = {key for key in every if Decision(FOUND, "", (), key).key in undone}
    return frozenset(upkeep.judged(GAP, every)) | taken_back


# ---------------------------------------------------------------- where to look


def _places(context: StepContext, news: RecentChanges) -> dict[Scope, GapPlace]:
    """Where something was said or asked since the last time, or waits for an answer."""
    store = context.tools.store
    places: dict[Scope, GapPlace] = {}
    if news.any:
        everything = RecentChanges(whole=True) if news.gone else news
        for part in changed_memories(context, everything, CLEAR if everything.whole else ANY_STATUS):
            for _, memory in part:
                _note_memory(places.setdefault(memory.scope, GapPlace()), memory)
    for sketch in store.upkeep.sketches(GAP, Access.everything(), EVERY):
        places.setdefault(sketch.scope, GapPlace()).open[sketch.key] = sketch
    for sketch in store.upkeep.sketches(IN_VAIN, Access.everything(), EVERY):
        places.setdefault(sketch.scope, GapPlace()).asked[sketch.key] = sketch
    return places


def _note_memory(place: GapPlace, memory: Memory) -> None:
    if is_reference(memory):
        return
    place.has_news = True
    place.names.update(name.casefold() for name in memory.entities)
    if is_loop(memory):
        place.loops.add(memory.id)


# ---------------------------------------------------------------- what is missing


def _gap_decisions(context: StepContext, scope: Scope, place: GapPlace) -> Iterator[Decision]:
    gaps = {gap.key: (gap, sources, why) for gap, sources, why in _find_gaps(context, scope, place)}
    for key in place.open.keys() - gaps.keys():
        yield Decision("gap.closed", "it is known, or asked for no more", (Drop(scope, GAP, key),))
    yield from _dropped_questions(context, place, {gap.about.casefold() for gap, _, _ in gaps.values()})
    gone = closed_gaps(context, gaps)
    room = GAPS_MOST - len(place.open.keys() & gaps.keys())
    for gap, sources, why in sorted(gaps.values(), key=lambda entry: (-entry[0].weight, entry[0].key)):
        sketch = place.open.get(gap.key)
        if gap.key in gone or (sketch is not None and sketch.body["question"] == gap.question):
            continue
        if sketch is None and room <= 0:
            continue
        room -= sketch is None
        yield Decision(FOUND, why, (keep_gap(context, gap, sources),), gap.key)


def _find_gaps(context: StepContext, scope: Scope, place: GapPlace) -> Iterator[GapFinding]:
    yield from _about_names(context, scope, place)
    yield from _in_vain(context, scope, place)
    due = (sketch for sketch in place.open.values() if _kind(sketch) == DUE)
    loops = place.loops | {sketch.body["memories"][0] for sketch in due}
    for memory in _read(context, loops):
        open_loop = loop(memory, context.now) if is_loop(memory) and _stands(memory) else None
        if open_loop is not None and open_loop.state is LoopState.OPEN and open_loop.due is None:
            yield of_memory(DUE, memory), (memory.id,), "an open commitment without a day"
    for sketch in place.open.values():
        if _kind(sketch) == STALE:
            yield from _still_stale(context, sketch)
    if place.has_news or any(_kind(sketch) == "conflict" for sketch in place.open.values()):
        for first, second in disputes(context, scope, GAPS_MOST):
            yield of_conflict(first, second), (first.id, second.id), "two memories exclude each other"


def _about_names(context: StepContext, scope: Scope, place: GapPlace) -> Iterator[GapFinding]:
    """What is not known of those spoken of."""
    names = [name for name, _ in place.names.most_common(NAMES_MOST)]
    names += [sketch.body["about"].casefold() for sketch in place.open.values() if sketch.body["about"]]
    entities = context.tools.store.entities.among(list(dict.fromkeys(names)), Access(scope, Role.AGENT))
    for entity in sorted(entities, key=lambda entity: entity.name):
        named = _memories_naming(context, scope, entity, NAMED_BY)
        if len(named) < NAMED_BY:
            continue
        facts = [claim.fact for claim in _claims(context, scope, entity)]
        for gap in about_entity(entity, len(named), facts, scope):
            why = f"named in {len(named)} memories or more, {len(facts)} facts"
            yield gap, tuple(memory.id for memory in named[-SOURCES:]), why


def _memories_naming(context: StepContext, scope: Scope, entity: Entity, least: int) -> list[Memory]:
    """Memories of this very place that name it, the latest first; a few more than it takes."""
    view = View(Access(scope, Role.AGENT), CLEAR)
    memories = context.tools.store.entities.memories(entity, view, least * 4)
    return [memory for _, memory in memories if memory.scope == scope]


def _claims(context: StepContext, scope: Scope, entity: Entity) -> list[Any]:
    """What is stated about it or names it; also what is seen from above, or is a secret, is known."""
    names = frozenset({entity.name.casefold(), *entity.aliases})
    view = View(Access(scope, Role.AGENT), Filters())
    find = context.tools.store.facts.find
    return [*find(FactQuery(subjects=names), view, CLAIMS), *find(FactQuery(objects=names), view, CLAIMS)]


def _in_vain(context: StepContext, scope: Scope, place: GapPlace) -> Iterator[GapFinding]:
    """Names that were asked about several times, and of which nothing was said since."""
    for sketch in place.asked.values():
        name, times = str(sketch.body["name"]), int(sketch.body["times"])
        if times >= ASKED_TIMES and not _is_over(sketch, context) and not _said_since(context, scope, sketch):
            named = [memory.id for memory in _memories_by_name(context, scope, name)]
            yield asked_about(name, times, scope), tuple(named[-SOURCES:]), f"asked about {times} times"


def _dropped_questions(context: StepContext, place: GapPlace, wanted: set[str]) -> Iterator[Decision]:
    """What was asked in vain long ago, or is known by now, counts no more."""
    for sketch in place.asked.values():
        wanted_still = str(sketch.body["name"]).casefold() in wanted
        if not wanted_still and (_is_over(sketch, context) or _said_since(context, sketch.scope, sketch)):
            yield Decision("gap.asked", "", (Drop(sketch.scope, IN_VAIN, sketch.key),), quiet=True)


def _is_over(sketch: Sketch, context: StepContext) -> bool:
    last = datetime.fromisoformat(sketch.body["last"])
    return last <= context.now - timedelta(days=ASKED_DAYS)


def _said_since(context: StepContext, scope: Scope, sketch: Sketch) -> bool:
    last = datetime.fromisoformat(sketch.body["last"])
    memories = _memories_by_name(context, scope, str(sketch.body["name"]))
    return any(memory.created_at > last for memory in memories)


def _memories_by_name(context: StepContext, scope: Scope, name: str) -> list[Memory]:
    entity = context.tools.store.entities.get(name, Access(scope, Role.AGENT))
    return [] if entity is None else _memories_naming(context, scope, entity, SOURCES)


def _still_stale(context: StepContext, sketch: Sketch) -> Iterator[GapFinding]:
    """The question stands until somebody vouches for the memory or it changes."""
    for memory in _read(context, sketch.body["memories"]):
        gap = of_memory(STALE, memory)
        if gap.key == sketch.key and _stands(memory) and memory.status is Status.ACTIVE:
            yield gap, (memory.id,), "long not confirmed"


def _stands(memory: Memory) -> bool:
    return memory.status in {Status.ACTIVE, Status.CHALLENGED} and memory.tier is Tier.CLEAR


def _read(context: StepContext, ids: Iterable[str]) -> list[Memory]:
    store = context.tools.store.memories
    return list(store.read(sorted(store.keys(sorted(ids)).values())).values())


def _kind(sketch: Sketch) -> str:
    return str(sketch.body["kind"])
