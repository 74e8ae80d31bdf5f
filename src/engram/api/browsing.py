"""Browsing: filters come in, memories go out, page by page or all of them; or how something changed.

A timeline is told of a name ("Anna", an entity), of a fact of the user ("my editor"), or of anything else by
recalling it and following what took the place of what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from engram.api.caller import PAGE_LIMIT, CallerContext, Noun, checked, whole
from engram.capture import change
from engram.errors import AccessDenied, NotFound
from engram.lazily import dataclass
from engram.model.event import Audited, Event, Page, Verb
from engram.model.facts import EdgeType, Entity, FactQuery, Named
from engram.model.memory import ANY_STATUS, Filters, Memory, Status, in_force
from engram.model.plain import moment, plain
from engram.model.recall import Question, StepKind, Timeline, TimelineStep
from engram.model.scope import Access, Role, Scope
from engram.ports import EntityStore, Unit, View
from engram.recall.past import then
from engram.recall.pipeline import recall
from engram.rules.entities import also_called, resolve
from engram.text.marks import is_correction
from engram.text.statement import USER, asked
from engram.text.subquestions import owner_and_thing, topic_of_change


def get(caller: CallerContext, memory_id: str) -> Memory | None:
    """One memory by its id or the beginning of it."""
    try:
        return caller.shown([caller.seen(memory_id)])[0]
    except NotFound:
        return None


def page(
    caller: CallerContext,
    filters: Filters | None,
    window: tuple[int, str | None],
    scope: Scope | None,
    as_of: datetime | str | None,
) -> Page:
    """One page, newest first; `window` is the limit and the cursor. With `as_of` as it was then."""
    view = View(caller.at(scope), in_force(checked(caller, filters, as_of), caller.tools.clock.now()))
    found = caller.tools.store.memories.page(view, whole("limit", window[0], 1, PAGE_LIMIT), window[1])
    if view.filters.as_of is None:
        return found
    was = then(found, caller.tools.store, view.filters.as_of)
    return replace(found, memories=tuple(was[memory.id] for memory in found if memory.id in was))


def everything(
    caller: CallerContext, scope: Scope | None, *, vectors: bool = False
) -> Iterator[dict[str, Any]]:
    """Every memory in every status as plain data, newest first, with its relations; its vector if asked."""
    cursor: str | None = None
    while True:
        found = page(caller, ANY_STATUS, (PAGE_LIMIT, cursor), scope, None)
        vector_of = _vectors(caller, [memory.id for memory in found]) if vectors else {}
        for memory in found:
            edges = caller.tools.store.relations.of(memory.id, caller.at(scope))
            also = {"vector": vector_of.get(memory.id)} if vectors else {}
            yield {**plain(memory), "edges": plain(edges), **also}
        caller.note(Audited.EXPORTED, "", {"memories": len(found)})
        cursor = found.cursor
        if cursor is None:
            return


def _vectors(caller: CallerContext, ids: list[str]) -> dict[str, list[float]]:
    """The vectors in the present space, as far as they are there."""
    space = caller.space()
    if space is None:
        return {}
    keys = caller.tools.store.memories.keys(ids)
    rows = caller.tools.store.vectors.rows(space, sorted(keys.values()))
    whole_rows = rows.rows * rows.scales[:, None]
    by_key = {int(key): row.tolist() for key, row in zip(rows.keys, whole_rows, strict=True)}
    return {memory_id: by_key[key] for memory_id, key in keys.items() if key in by_key}


# ---------------------------------------------------------------- trash
# The trash: what was forgotten, replaced or merged and can be brought back.
#
# `memory.trash` lists, restores and empties it.


GONE = frozenset({Status.ARCHIVED, Status.SUPERSEDED, Status.MERGED})
"""Forgotten, replaced by a newer statement, or taken in by another memory: its status says which."""
LYING = Filters(statuses=GONE)
AT_ONCE = 200
"""So many are erased in one unit of work."""
FURTHEST = 10_000_000


@dataclass(frozen=True, slots=True)
class Discarded:
    """A memory in the trash, and since when it lies there."""

    memory: Memory
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class Lying:
    """Some of what lies in the trash, and how much there is."""

    items: tuple[Discarded, ...]
    total: int


class Trash(Noun):
    """What was forgotten, replaced or merged. Hangs on the facade; safe to use from many threads."""

    def list(self, *, limit: int = 100, offset: int = 0) -> Lying:
        """What lies there, the newest memory first. Raises InvalidInput."""
        first, most = whole("offset", offset, 0, FURTHEST), whole("limit", limit, 1, PAGE_LIMIT)
        total = self._store.memories.count(View(self._caller.access, LYING))
        found = islice(self._all(), first, first + most) if first < total else ()
        return Lying(tuple(Discarded(memory, memory.modified_at) for memory in found), total)

    def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring a memory back. Raises NotFound when it does not lie there."""
        memory = self._caller.owned(memory_id)
        if memory.status not in GONE:
            raise NotFound(memory_id)
        return change.set_status(memory.id, Status.ACTIVE, self._tools, self._caller.actor, because)

    def purge(
        self, because: str = "", *, before: datetime | str | None = None, also_in_use: bool = False
    ) -> int:
        """Remove what lies there for good, all of it or what was forgotten before a time. Returns how many.

        With `also_in_use` everything of the caller's place goes; only an owner may ask for that.
        """
        until = None if before is None else moment("before", before, self._tools.zone)
        if also_in_use and self._caller.access.role is not Role.OWNER:
            raise AccessDenied("remove what is in use; only an owner may")
        mine = [
            memory.id
            for memory in self._all(ANY_STATUS if also_in_use else LYING)
            if self._caller.access.may_write(memory.scope) and (until is None or memory.modified_at < until)
        ]
        for start in range(0, len(mine), AT_ONCE):
            self._erase(mine[start : start + AT_ONCE], because)
        if mine:
            self._store.leave_nothing(compact=True)
        return len(mine)

    def _all(self, filters: Filters = LYING) -> Iterator[Memory]:
        return self._store.memories.every(View(self._caller.access, filters))

    def _erase(self, ids: Sequence[str], because: str) -> None:
        def work(unit: Unit) -> None:
            for memory_id in ids:
                unit.erase(memory_id, because)

        self._store.write(work, self._caller.actor)


REINFORCED = 20
"""Of so many repeated memories it is looked up when they were repeated."""
EVENTS = 200
GENERATIONS = 10
"""So often it is asked what took the place of what."""
FEW_WORDS = 3
Found = Sequence[tuple[int, Memory]]
OVER = {Status.INVALIDATED, Status.ARCHIVED}


@dataclass(frozen=True, slots=True)
class Window:
    """Which steps are wanted."""

    limit: int
    since: datetime | None = None
    until: datetime | None = None

    def of(self, steps: Iterable[TimelineStep]) -> tuple[TimelineStep, ...]:
        """The steps inside, oldest first; of a long story the latest."""
        inside = [
            step
            for step in steps
            if (self.since is None or step.at >= self.since) and (self.until is None or step.at < self.until)
        ]
        return tuple(sorted(inside, key=lambda step: step.at)[-self.limit :])


def timeline(about: str | tuple[str, str], window: Window, access: Access, caller: CallerContext) -> Timeline:
    """How something changed; without steps when nothing is known of it."""
    if not isinstance(about, str):
        return _of_fact(*about, window, access, caller) or Timeline(" ".join(about), "fact")
    topic = topic_of_change(about) or about.strip()
    owned = owner_and_thing(topic)
    if owned and (found := _of_fact(*owned, window, access, caller)):
        return found
    entity = known(topic, caller.tools.store.entities, access)
    if entity is not None:
        return Timeline(entity.name, "entity", window.of(of_entity(entity, window.limit, access, caller)))
    few = len(topic.split()) <= FEW_WORDS
    return (few and _of_fact(USER, topic, window, access, caller)) or _of_words(topic, window, access, caller)


def of_entity(entity: Entity, limit: int, access: Access, caller: CallerContext) -> list[TimelineStep]:
    """How the knowledge about an entity grew."""
    view = View(access, ANY_STATUS)
    found = caller.tools.store.entities.memories(entity, view, limit)
    return steps_of(found, view, caller, complete=len(found) < limit)


def steps_of(found: Found, view: View, caller: CallerContext, *, complete: bool = True) -> list[TimelineStep]:
    """What each memory did to what was known, oldest first. `complete`: the first of all is among them."""
    former = _former([key for key, _ in found], view, caller)
    told = sorted(found, key=lambda pair: (pair[1].happened_at, pair[0]))
    steps = [
        _step(key, memory, former, first=complete and not place) for place, (key, memory) in enumerate(told)
    ]
    memories = [memory for _, memory in told]
    replaced = {memory.id for olds in former.values() for memory in olds}
    steps += _reinforcements(memories, view.access, caller)
    steps += _ends([one for one in memories if one.id not in replaced], view.access, caller)
    return sorted(steps, key=lambda step: step.at)


def _of_fact(
    subject: str, predicate: str, window: Window, access: Access, caller: CallerContext
) -> Timeline | None:
    """The story of one fact; None when nobody ever stated it."""
    store, view = caller.tools.store, View(access, ANY_STATUS)
    who = USER if subject.lower() in {"i", "me", "my", USER} else subject.lower()
    entity = known(who, store.entities, access)
    names = frozenset({who, *((entity.name.lower(), *entity.aliases) if entity else ())})
    claims = store.facts.find(FactQuery(names, asked(predicate)), view, window.limit)
    if not claims:
        return None
    by_id = {claim.memory.id: claim for claim in reversed(claims)}
    keys = store.memories.keys(list(by_id))
    found = [(keys[one], claim.memory) for one, claim in by_id.items() if one in keys]
    steps, last = list[TimelineStep](), ""
    for step in steps_of(found, view, caller):
        fact = by_id[step.memory.id].fact
        corrects = step.kind is StepKind.CORRECTED and last not in {"", fact.object}
        change = f"{last} → {fact.object}" if corrects else step.change
        steps.append(replace(step, what=f"{fact.subject} {fact.predicate} {fact.object}", change=change))
        last = last if step.kind in {StepKind.REINFORCED, StepKind.ENDED} else fact.object
    return Timeline(f"{who} {predicate}", "fact", window.of(steps))


def _of_words(topic: str, window: Window, access: Access, caller: CallerContext) -> Timeline:
    """What a recall finds in any status, and what took the place of it."""
    view = View(access, ANY_STATUS)
    question = Question(topic, access, limit=window.limit, filters=ANY_STATUS, dry=True, expand=False)
    memories = {hit.memory.id: hit.memory for hit in recall(question, caller.tools)}
    keys = caller.tools.store.memories.keys(list(memories))
    found = {keys[one]: memory for one, memory in memories.items() if one in keys}
    for _ in range(GENERATIONS):
        links = caller.tools.store.relations.links(list(found), {EdgeType.SUPERSEDES}, view)
        new = {link.other for link in links} - found.keys()
        if not new or len(found) >= window.limit:
            break
        found |= caller.tools.store.memories.read(sorted(new))
    return Timeline(topic, "words", window.of(steps_of(list(found.items()), view, caller)))


def _former(keys: Sequence[int], view: View, caller: CallerContext) -> dict[int, list[Memory]]:
    """For each memory those whose place it took."""
    store, olds = caller.tools.store, dict[int, list[int]]()
    for link in store.relations.links(keys, {EdgeType.SUPERSEDES}, view):
        new, old = (link.key, link.other) if link.forward else (link.other, link.key)
        olds.setdefault(new, []).append(old)
    read = store.memories.read(sorted({old for found in olds.values() for old in found}))
    return {new: [read[old] for old in dict.fromkeys(found) if old in read] for new, found in olds.items()}


def _step(key: int, memory: Memory, former: Mapping[int, list[Memory]], *, first: bool) -> TimelineStep:
    olds = former.get(key, [])
    change = " and ".join(f"in the place of “{label(old)}”" for old in olds)
    if first and not olds:
        return TimelineStep(memory.happened_at, StepKind.FIRST, label(memory), memory)
    corrects = bool(olds) or is_correction(memory.content)
    kind = StepKind.CORRECTED if corrects else StepKind.ADDED
    return TimelineStep(memory.happened_at, kind, label(memory), memory, change)


def _reinforcements(
    memories: Iterable[Memory], access: Access, caller: CallerContext
) -> Iterator[TimelineStep]:
    repeated = [memory for memory in memories if memory.usage.repeated][:REINFORCED]
    for memory in repeated:
        for event in _events(memory, access, caller):
            if event.verb is Verb.REINFORCED:
                yield TimelineStep(event.at, StepKind.REINFORCED, label(memory), memory, "said again")


def _ends(memories: Iterable[Memory], access: Access, caller: CallerContext) -> Iterator[TimelineStep]:
    """What holds no longer though nothing took its place."""
    now = caller.tools.clock.now()
    for memory in memories:
        if memory.valid_to is not None and memory.valid_to <= now:
            yield TimelineStep(memory.valid_to, StepKind.ENDED, label(memory), memory, "held until then")
        elif memory.status in OVER:
            verbs = {Verb.ARCHIVED, Verb.STATUS_CHANGED}
            event = next((one for one in _events(memory, access, caller) if one.verb in verbs), None)
            why = f"{memory.status}: {event.because}" if event and event.because else str(memory.status)
            yield TimelineStep(
                event.at if event else memory.modified_at, StepKind.ENDED, label(memory), memory, why
            )


def _events(memory: Memory, access: Access, caller: CallerContext) -> list[Event]:
    return caller.tools.store.ledger.events(memory.id, access, EVENTS)


def label(memory: Memory) -> str:
    """What a memory says, in short."""
    return memory.forms.key_fact or memory.forms.label or memory.content


ALIKE = 50
"""So many entities with a like name are looked at when none has the very name."""


def known(name: str, entities: EntityStore, access: Access) -> Entity | None:
    """The entity of this name; if there is none, the only one that the name can mean."""
    entity = entities.get(name, access)
    if entity is not None:
        return entity
    near = [*entities.among(sorted(also_called(name)), access), *entities.like(name, access, ALIKE)]
    return resolve(Named(name), near)
