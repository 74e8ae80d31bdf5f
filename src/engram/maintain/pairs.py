"""Pairs of memories that lie near each other, and what has replaced what."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from engram.errors import EmbedderError
from engram.lazily import dataclass
from engram.maintain.step import Batch, Decision, Draw, Effect, Judge, StepContext, becomes, grouped
from engram.maintain.support import COMPARED, give_back_if_much
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Judgement
from engram.model.memory import Filters, Layer, Memory, Space, Status
from engram.model.scope import Access, Role, Scope
from engram.rules.joining import stands
from engram.rules.sameness import JACCARD_ALONE, JACCARD_SAME, SamenessLimits
from engram.rules.traits import is_drawn
from engram.rules.vectors import Thresholds, restore, thresholds, unit

if TYPE_CHECKING:
    from engram.ports import Floats

NEAREST = 8  # nearest memories that one is compared with


# ---------------------------------------------------------------- neighbours
# Neighbours: keys of one scope come in; pairs that are near enough come out, from the index.

NEIGHBOURS: Final = 12
"""How many of the nearest are looked at."""
NOBODY: Final = (0, -1.0)
"""Stands for a neighbour where there are fewer; no memory has this key."""
TOGETHER: Final = 512
"""Vectors that are compared in one question to the index."""


def space_of(context: StepContext) -> Space | None:
    """Where vectors are compared; None while nobody can say."""
    try:
        return context.tools.embedder.space
    except EmbedderError:
        return None


def neighbour_pairs(
    context: StepContext, space: Space, scope: Scope, keys: Sequence[int], least: float
) -> Iterator[tuple[int, int, float]]:
    """Each of these keys with its near ones; scopes above are searched too: the caller checks the scope."""
    for key, hits in nearest(context, space, scope, keys):
        yield from ((key, other, cosine) for other, cosine in hits if cosine >= least)


def nearest(
    context: StepContext, space: Space, scope: Scope, keys: Sequence[int]
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """Of each of these keys that has a vector: the nearest others, with their cosines.

    Found once in a run: what a step changes meanwhile is left alone by the others until the next run.
    """
    cache = nearest_cache(context, space)
    for start in range(0, len(keys), TOGETHER):
        chunk = keys[start : start + TOGETHER]
        embedded, vectors = vectors_of(context, space, [key for key in chunk if key not in cache])
        if embedded:
            reach = context.tools.store.memories.reach(Access(scope, Role.AGENT))
            # One more than wanted: each memory finds itself.
            answers = context.tools.index.nearest(space, vectors, NEIGHBOURS + 1, reach, hold=True)
            cache.keep(embedded, answers)
        yield from ((key, cache.of(key)) for key in chunk if key in cache)


def nearest_cache(context: StepContext, space: Space) -> NearestCache:
    """What was found in this run."""
    caches: dict[Space, NearestCache] = context.notes.setdefault("nearest", {})
    if space not in caches:
        caches[space] = NearestCache()
        context.tools.index.stats(space)  # is brought up to date, and signed if it has become large:
        context.tools.index.settle()  # until then everything is compared with everything
    return caches[space]


def forget_nearest(context: StepContext) -> None:
    """Free the neighbours that were found and the texts read of them: they take much memory."""
    for note in ("nearest", COMPARED):
        context.notes.pop(note, None)
    context.tools.index.let_go()
    give_back_if_much()


class NearestCache:
    """The nearest of each key as far as somebody asked, packed: a run may ask for all there are."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._keys = array("q")
        self._cosines = array("f")

    def __contains__(self, key: int) -> bool:
        return key in self._places

    def keep(self, keys: Sequence[int], answers: Sequence[Sequence[tuple[int, float]]]) -> None:
        """Keep the nearest of these keys."""
        for key, hits in zip(keys, answers, strict=True):
            self._places[key] = len(self._keys)
            others = [hit for hit in hits if hit[0] != key][:NEIGHBOURS]
            others += [NOBODY] * (NEIGHBOURS - len(others))
            self._keys.extend([other for other, _ in others])
            self._cosines.extend([cosine for _, cosine in others])

    def of(self, key: int) -> list[tuple[int, float]]:
        """The nearest of a key, nearest first; none of one that nobody asked for."""
        place = self._places.get(key)
        if place is None:
            return []
        part = slice(place, place + NEIGHBOURS)
        hits = list(zip(self._keys[part], self._cosines[part], strict=True))
        return [hit for hit in hits if hit[0] != NOBODY[0]] if hits[-1][0] == NOBODY[0] else hits


def vectors_of(context: StepContext, space: Space, keys: Sequence[int]) -> tuple[list[int], Floats]:
    """Those of the keys that have a vector, and the vectors."""
    rows = context.tools.store.vectors.rows(space, list(keys))
    return rows.keys.tolist(), unit(restore(rows.rows, rows.scales))


# ---------------------------------------------------------------- near
# Near memories: a slice comes in; the pairs that lie near each other in meaning come out.
#
# Candidates come from the index, the nearest few of each memory; nothing is ever compared with everything.
# A step looks only at what came or changed since it last came to its end, and at what it had to leave open.

LOOKED: Final = "looked"
"""The kind of judgement that says up to which moment a step has looked."""
LATE: Final = "late"
AGAIN: Final = "again"
"""Where in its look a step stands: at what came with an old time, or at what it had left open."""
OPEN_MOST: Final = 1_000
"""Memories left open that are looked at again in one run."""
ACTIVE: Final = frozenset({Status.ACTIVE})
Slice = Sequence[tuple[int, Memory]]
Neighbours = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two memories of one scope near each other, the one that was stored first and the other."""

    older: Memory
    newer: Memory
    cosine: float

    @property
    def key(self) -> str:
        """What the pair is known by when it has been judged: ids and versions, never words."""
        memory, two = sorted(f"{memory.id}@{memory.version}" for memory in (self.older, self.newer))
        return f"{memory} {two}"


def compared_space(context: StepContext) -> tuple[Space, Thresholds] | None:
    """The space vectors are compared in, and what near means there; None while there are no vectors."""
    space = space_of(context)
    return None if space is None else (space, thresholds(space.key))


def sameness_limits(least: float, cosines: Thresholds) -> SamenessLimits:
    """What the rules about sameness call near, when pairs from `least` on are looked at."""
    return SamenessLimits(
        duplicate=least,
        strong=least,
        related=cosines.related,
        jaccard=JACCARD_SAME,
        jaccard_alone=JACCARD_ALONE,
    )


def slices_to_compare(
    context: StepContext, step: str, layers: frozenset[Layer], cursor: str
) -> Iterator[tuple[Slice, str, int]]:
    """What a step has to compare, in slices, each with the cursor after it.

    The last number is the key up to which everything was looked at before it; 0 when not everything was.
    """
    phase, _, after = cursor.rpartition(" ")
    start = int(after or 0)
    since, last_key = last_look(context, step)
    if not phase:
        for part in context.memories(Filters(statuses=ACTIVE, layers=layers, modified_since=since), start):
            _note_key(context, step, part[-1][0] if since is None else last_key)
            yield part, str(part[-1][0]), part[0][0] if since is None else 0
        start = 0
    if phase != AGAIN and since is not None:
        # What was imported brings old times along: that it is new here is told by its key alone.
        for part in context.memories(Filters(statuses=ACTIVE, layers=layers), max(start, last_key)):
            _note_key(context, step, part[-1][0])
            yield [entry for entry in part if entry[1].modified_at < since], f"{LATE} {part[-1][0]}", 0
        start = 0
    ids = frozenset(judgement.key for judgement in left_open(context, step))
    if ids:
        for part in context.memories(Filters(statuses=ACTIVE, layers=layers, ids=ids), start):
            yield part, f"{AGAIN} {part[-1][0]}", 0


def plan_pairs(  # noqa: PLR0913 - what a step looks for
    context: StepContext,
    cursor: str,
    step: str,
    layers: frozenset[Layer],
    least: float,
    decide: Callable[[Sequence[NearPair], Sequence[Memory]], Iterable[Decision]],
    *,
    below: float = 2.0,
    most: int = 64,
) -> Iterator[Batch]:
    """Show a step the pairs inside these layers that are new to it, slice by slice, as `pairs` finds them.

    The memories that have no vector yet are shown beside.
    """
    for part, place, passed in slices_to_compare(context, step, layers, cursor):
        near, unseen = near_pairs(part, context, least, below=below, most=most, passed=passed)
        inside = [pair for pair in near if {pair.older.layer, pair.newer.layer} <= layers]
        if decisions := tuple(decide(inside, unseen)):
            yield Batch(decisions, place)
    yield Batch((mark_looked(context, step),), cursor)


def last_look(context: StepContext, step: str) -> tuple[datetime | None, int]:
    """When a step last came to its end, and the last key it had seen then."""
    mark = context.tools.store.upkeep.judged(LOOKED, [step]).get(step)
    if mark is None:
        return None, 0
    at, _, key = mark.verdict.partition(" ")
    return datetime.fromisoformat(at), int(key or 0)


def _note_key(context: StepContext, step: str, key: int) -> None:
    context.notes[f"{LOOKED} {step}"] = max(key, context.notes.get(f"{LOOKED} {step}", 0))


def mark_looked(context: StepContext, step: str) -> Decision:
    """Says that a step has come to its end: the next time it looks at what has changed since.

    What was open from earlier runs and is not open anew has been dealt with.
    """
    last_key = max(context.notes.pop(f"{LOOKED} {step}", 0), last_look(context, step)[1])
    mark = Judgement(LOOKED, step, f"{context.now.isoformat()} {last_key}", context.now)
    closed = (replace(mark, verdict="done", at=context.now) for mark in left_open(context, step))
    return Decision(f"{step}.looked", "", (*map(Judge, closed), Judge(mark)), quiet=True)


def left_open(context: StepContext, step: str) -> list[Judgement]:
    """The memories that a step could not deal with in earlier runs."""
    judgements = context.tools.store.upkeep.judgements(f"open {step}", OPEN_MOST, "open")
    return [judgement for judgement in judgements if judgement.at < context.now]


def near_pairs(
    part: Slice, context: StepContext, least: float, *, below: float = 2.0, most: int = 64, passed: int = 0
) -> tuple[list[NearPair], list[Memory]]:
    """Pairs of these memories with the nearest ones, nearest first; and the memories without vectors.

    Both ends are active, of one scope, no turns of a conversation, not drawn from others, not sealed, and
    were not changed by this run. A pair that was met from its other end, whose key is below `passed`, is
    left out.
    """
    compared = compared_space(context)
    usable = [(key, memory) for key, memory in part if _is_usable(memory, context)]
    if compared is None:
        return [], [memory for _, memory in usable]
    space = compared[0]
    searched: dict[int, Neighbours] = {}
    for scope, keys in grouped((memory.scope, key) for key, memory in usable).items():
        searched.update(nearest(context, space, scope, keys))
    least = max(least, thresholds(space.key).reconcile)

    def within(hits: Neighbours) -> Neighbours:
        return [hit for hit in hits[:NEAREST] if least <= hit[1] < below][:most]

    earlier = nearest_cache(context, space)
    near = {
        (key, other): cosine
        for key, hits in searched.items()
        for other, cosine in within(hits)
        if other >= passed or not any(key == again for again, _ in within(earlier.of(other)))
    }
    records = _records(usable, (other for _, other in near), context)
    by_ends: dict[tuple[int, int], NearPair] = {}
    for (key, other), cosine in near.items():
        ends = (key, other) if key < other else (other, key)
        if ends not in by_ends and other in records and records[other].scope == records[key].scope:
            older, newer = sorted(ends, key=lambda end: (records[end].created_at, end))
            by_ends[ends] = NearPair(records[older], records[newer], cosine)
    ordered = sorted(by_ends.items(), key=lambda item: (-item[1].cosine, item[0]))
    return [pair for _, pair in ordered], [memory for key, memory in usable if key not in searched]


def _records(part: Slice, others: Iterable[int], context: StepContext) -> dict[int, Memory]:
    """The memories of the slice and those near to them that may be looked at."""
    records = dict(part)
    unread = sorted(set(others) - records.keys())
    read = context.tools.store.memories.read(unread) if unread else {}
    return records | {key: memory for key, memory in read.items() if _is_usable(memory, context)}


def _is_usable(memory: Memory, context: StepContext) -> bool:
    if memory.speaker or is_drawn(memory) or memory.sealed:
        return False
    return memory.status is Status.ACTIVE and memory.modified_at < context.now


# ---------------------------------------------------------------- replaced
# Replaced memories: an older and a newer one come in; what is decided when one gives way or is in doubt.


def supersede_decision(older: Memory, newer: Memory, rule: str, why: str) -> Decision:
    """The older one gives way to the newer one; one that stands for good is only shown as in conflict."""
    if stands(older):
        return doubt_decision(older, newer, rule, f"{why}, but it is protected")
    until = older.valid_to or max(newer.happened_at, older.happened_at)
    gone = becomes(older, Verb.SUPERSEDED, status=Status.SUPERSEDED, valid_to=until)
    edges = (
        Draw(Edge(newer.id, older.id, EdgeType.SUPERSEDES)),
        Draw(Edge(newer.id, older.id, EdgeType.CONTRADICTS)),
    )
    return Decision(rule, why, (replace(gone, related=newer.id), *edges), older.id, newer.id)


def doubt_decision(older: Memory, newer: Memory, rule: str, why: str) -> Decision:
    """Both stay; the older one is in doubt, and the pair waits among the conflicts."""
    effects: tuple[Effect, ...] = (Draw(Edge(newer.id, older.id, EdgeType.CONTRADICTS)),)
    if older.status is Status.ACTIVE and not stands(older):
        doubt = becomes(older, Verb.STATUS_CHANGED, status=Status.CHALLENGED)
        effects = (replace(doubt, related=newer.id), *effects)
    return Decision(rule, why, effects, older.id, newer.id)
