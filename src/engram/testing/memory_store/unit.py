"""One piece of work: it changes its own copy of the tables, and each change of a memory writes its event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

import numpy as np

from engram.errors import CycleRefused, EmbedderMismatch, NotFound
from engram.model.axes import Status
from engram.model.clock import Clock
from engram.model.entity import Entity
from engram.model.event import Event, Verb
from engram.model.facts import Fact
from engram.model.memory import Memory
from engram.model.relations import ACYCLIC, Edge, EdgeType
from engram.model.scope import Scope
from engram.model.turn import Turn, Waiting
from engram.ports import Embedded, Findable, Suppression
from engram.testing.memory_store import naming
from engram.testing.memory_store.bus import MemoryBusWork
from engram.testing.memory_store.differences import NO_CHANGE, Change, differences
from engram.testing.memory_store.tables import KeptVector, Tables
from engram.testing.memory_store.turns import waiting
from engram.testing.memory_store.upkeep import MemoryUpkeepWork
from engram.vectors.quantize import quantize

REINFORCEMENT = 0.1
"""What an edge gains in confidence each time it is drawn again."""
COUNTED = 1_000
"""How many waiting turns are counted at most."""


class MemoryUnit:
    """`Unit` over a copy of the tables; lives as long as one call of `write`."""

    def __init__(self, tables: Tables, clock: Clock, actor: str) -> None:
        self._tables = tables
        self._clock = clock
        self._actor = actor
        self._under = ("", "")
        self.upkeep = MemoryUpkeepWork(tables)
        self.bus = MemoryBusWork(tables)

    def under(self, run: str, rule: str) -> None:
        """From here on events belong to this run and this rule."""
        self._under = (run, rule)

    def get(self, memory_id: str) -> Memory | None:
        """The memory as it is now."""
        return self._tables.records.get(self._tables.keys.get(memory_id, 0))

    def same_content(self, content_hash: str, scope: Scope) -> Memory | None:
        """The active memory that says the same in this very scope."""
        for memory in self._tables.records.values():
            if (memory.content_hash, memory.scope, memory.status) == (content_hash, scope, Status.ACTIVE):
                return memory
        return None

    def last_of_session(self, session: str, scope: Scope) -> str | None:
        """The newest memory of a session."""
        for memory in reversed(self._tables.records.values()):
            if (memory.session, memory.scope) == (session, scope):
                return memory.id
        return None

    def add(self, memory: Memory, findable: Findable, vector: Embedded | None, because: str) -> None:
        """Write a new memory."""
        key = self._tables.next_number("key")
        self._tables.keys[memory.id] = key
        self._tables.records[key] = memory
        self._tables.findables[key] = findable
        self._tables.number_scope(memory.scope)
        naming.mention(self._tables, key, memory, findable)
        if vector is not None:
            self.embed(memory.id, vector)
        self._tell(Verb.STORED, memory.id, because)

    def change(
        self, new: Memory, verb: Verb, because: str, findable: Findable | None = None, related: str = ""
    ) -> None:
        """Replace a record."""
        key = self._key(new.id)
        old = self._tables.records[key]
        self._tables.records[key] = new
        self._tables.number_scope(new.scope)
        if findable is not None or new.entities != old.entities or new.scope.namespace != old.scope.namespace:
            before = self._tables.mentions[key]
            naming.mention(self._tables, key, new, findable)
            naming.sweep(self._tables, old.scope.namespace, before)
        if findable is not None:
            ended = {fact: fact.valid_to for fact in self._tables.findables[key].facts}
            facts = tuple(replace(one, valid_to=one.valid_to or ended.get(one)) for one in findable.facts)
            self._tables.findables[key] = replace(findable, facts=facts)
        if new.content != old.content:
            self._drop_vectors(key)
        elif (new.status, new.scope) != (old.status, old.scope):
            self._renumber_vectors(key)
        self._tell(verb, new.id, because, related, differences(old, new))

    def embed(self, memory_id: str, vector: Embedded) -> None:
        """Set a vector."""
        if vector.vector.shape != (vector.space.dims,):
            raise EmbedderMismatch(
                f"The space {vector.space.key} takes no vector of {vector.vector.size} parts."
            )
        place = (vector.space.key, self._key(memory_id))
        rows, scales = quantize(np.asarray(vector.vector, dtype=np.float32)[np.newaxis])
        self._tables.gone.pop(place, None)
        self._tables.vectors[place] = KeptVector(self._tables.next_number("seq"), rows[0], float(scales[0]))

    def relate(self, edge: Edge, because: str) -> None:
        """Draw an edge, or draw it again."""
        self._key(edge.source)
        self._key(edge.target)
        place = (edge.source, edge.target, edge.type)
        known = self._tables.edges.get(place)
        if known is not None:
            confidence = min(known.confidence + REINFORCEMENT, 1.0)
            edge = replace(known, confidence=confidence, last_reinforced_at=self._clock.now())
        elif edge.type in ACYCLIC and edge.source in self._origins(edge.target):
            raise CycleRefused(edge.type)
        elif edge.type is EdgeType.NEXT:
            edge = replace(edge, last_reinforced_at=None)
        elif edge.last_reinforced_at is None:
            edge = replace(edge, last_reinforced_at=self._clock.now())
        self._tables.edges[place] = edge
        if edge.type is not EdgeType.NEXT:
            told = {"type": edge.type.value, "new": known is None}
            self._tell(Verb.RELATED, edge.source, because, edge.target, ({}, told))

    def draw(self, edges: Sequence[Edge], most: int) -> None:
        """Add edges that come by themselves."""
        for edge in edges:
            place = (edge.source, edge.target, edge.type)
            if sum(target == edge.target for _, target, _ in self._tables.edges) < most:
                self._tables.edges.setdefault(place, replace(edge, last_reinforced_at=self._clock.now()))

    def confirm(self, ids: Sequence[str], types: Iterable[EdgeType], gain: float) -> None:
        """Let edges gain confidence."""
        wanted, now = frozenset(types), self._clock.now()
        for place, edge in self._tables.edges.items():
            if edge.type in wanted and edge.source in ids and edge.target in ids:
                surer = min(edge.confidence + gain, 1.0)
                self._tables.edges[place] = replace(edge, confidence=surer, last_reinforced_at=now)

    def naming(self, name: str, scope: Scope, limit: int, common: int) -> tuple[int, list[str]]:
        """Who was spoken of lately."""
        keys = [key for key, names in self._tables.mentions.items() if name.casefold() in names]
        count = min(common + 1, len(keys))
        latest = islice(self._active(sorted(keys, reverse=True), scope), limit)
        return count, [] if count > common else list(latest)

    def hanging_on(self, fact: Fact, scope: Scope, limit: int) -> list[str]:
        """Whose facts hang together with this one."""
        keys = [
            key
            for key, findable in self._tables.findables.items()
            if any(one.subject == fact.object or one.object == fact.subject for one in findable.facts)
        ]
        return list(islice(self._active(sorted(keys, reverse=True), scope), limit))

    def unrelate(self, source: str, target: str, edge_type: EdgeType, because: str) -> bool:
        """Take an edge away."""
        if self._tables.edges.pop((source, target, edge_type), None) is None:
            return False
        self._tell(Verb.UNRELATED, source, because, target, ({"type": edge_type.value}, {}))
        return True

    def touch(self, ids: Sequence[str], at: datetime, session: str) -> None:
        """Count a use; what was erased meanwhile is left out."""
        for key in (self._tables.keys[memory_id] for memory_id in ids if memory_id in self._tables.keys):
            memory = self._tables.records[key]
            new_session = session != "" and (key, session) not in self._tables.used_in
            if new_session:
                self._tables.used_in[key, session] = None
            self._tables.uses[self._tables.next_number("use")] = (key, at)
            usage = replace(
                memory.usage,
                accessed=memory.usage.accessed + 1,
                sessions=memory.usage.sessions + new_session,
            )
            self._tables.records[key] = replace(memory, usage=usage, last_accessed=at)

    def opine(self, memory_id: str, *, helpful: bool, question: Embedded | None, because: str) -> None:
        """Keep feedback."""
        key, now = self._key(memory_id), self._clock.now()
        old = self._tables.records[key]
        usage = replace(
            old.usage, helpful=old.usage.helpful + helpful, unhelpful=old.usage.unhelpful + (not helpful)
        )
        new = self._tables.records[key] = replace(old, usage=usage)
        if question is not None and not helpful:
            number = self._tables.next_number("opinion")
            self._tables.opinions[number] = Suppression(key, question.space.key, question.vector, now)
        self._tell(Verb.FEEDBACK, memory_id, because, change=differences(old, new))

    def log(self, turns: Sequence[Turn]) -> tuple[Waiting, int]:
        """Add turns that are not known yet."""
        tables, before = self._tables, len(self._tables.turns)
        known = {(turn.scope, turn.session, turn.id) for turn in tables.turns.values()}
        for turn in turns:
            if (turn.scope, turn.session, turn.id) not in known:
                known.add((turn.scope, turn.session, turn.id))
                key = tables.next_number("turn")
                tables.turns[key] = replace(turn, key=key)
                tables.number_scope(turn.scope)
        found = [turn.at for turn in islice(waiting(tables, turns[0].scope), COUNTED)] if turns else []
        return Waiting(len(found), min(found, default=None)), len(tables.turns) - before

    def captured(self, turns: Sequence[Turn], at: datetime) -> int:
        """Let turns wait no longer."""
        wanted = {turn.key for turn in turns}
        named = {(turn.scope, turn.session, turn.id) for turn in turns if not turn.key}
        meant = [
            turn
            for key, turn in self._tables.turns.items()
            if key in wanted or (turn.scope, turn.session, turn.id) in named
        ]
        fresh = {turn.key: replace(turn, captured_at=at) for turn in meant if turn.captured_at is None}
        self._tables.turns.update(fresh)
        return len(fresh)

    def come_from(self, memory_id: str, turns: Sequence[int]) -> None:
        """Link a memory to its turns."""
        key = self._key(memory_id)
        known = (turn for turn in turns if turn in self._tables.turns)
        self._tables.turn_memories.update(dict.fromkeys((turn, key) for turn in known))

    def end_fact(self, memory_id: str, fact: Fact, at: datetime) -> None:
        """Say until when it held."""
        key = self._key(memory_id)
        findable = self._tables.findables[key]
        facts = tuple(replace(one, valid_to=at) if _says(one, fact) else one for one in findable.facts)
        self._tables.findables[key] = replace(findable, facts=facts)

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name."""
        naming.alias(self._tables, name, entity)

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for itself again."""
        return naming.split(self._tables, name, namespace)

    def came(self, memory_id: str, scope: Scope, origin: str, digest: str) -> None:
        """Keep an origin."""
        self._tables.number_scope(scope)
        self._tables.origins[scope, origin] = (self._key(memory_id), digest)

    def left(self, scope: Scope, origins: Sequence[str]) -> None:
        """Drop origins."""
        for origin in origins:
            self._tables.origins.pop((scope, origin), None)

    def erase(self, memory_id: str, because: str) -> None:
        """Remove a memory; its events stay, without what they said about it."""
        tables, key = self._tables, self._key(memory_id)
        for copy in [one.memory for one in tables.deliveries.values() if one.origin == memory_id]:
            self.erase(copy, because)
        tables.deliveries.pop(memory_id, None)
        tables.publications = {
            name: one for name, one in tables.publications.items() if one.memory != memory_id
        }
        self._drop_vectors(key)
        self._tell(Verb.ERASED, memory_id, because)
        memory = tables.records[key]
        del tables.keys[memory_id], tables.records[key], tables.findables[key]
        tables.edges = {place: edge for place, edge in tables.edges.items() if memory_id not in place[:2]}
        tables.opinions = {number: said for number, said in tables.opinions.items() if said.key != key}
        names = tables.mentions.pop(key)
        naming.sweep(tables, memory.scope.namespace, names)
        said = {turn for turn, row in tables.turn_memories if row == key}
        talks = {tables.turns[turn].session for turn in said} | {memory.session} - {""}
        tables.snapshots = {
            place: one
            for place, one in tables.snapshots.items()
            if memory_id not in one.memories and one.session not in talks
        }
        tables.turns = {number: turn for number, turn in tables.turns.items() if number not in said}
        tables.turn_memories = {link: None for link in tables.turn_memories if link[0] not in said}
        tables.origins = {place: kept for place, kept in tables.origins.items() if kept[0] != key}
        tables.used_in = {use: None for use in tables.used_in if use[0] != key}
        tables.uses = {number: use for number, use in tables.uses.items() if use[0] != key}
        tables.sketches = {
            place: sketch for place, sketch in tables.sketches.items() if memory_id not in sketch.sources
        }
        for number, event in tables.events.items():
            if event.memory == memory_id:
                tables.events[number] = replace(event, before={}, after={})

    def _active(self, keys: Iterable[int], scope: Scope) -> Iterator[str]:
        for key in keys:
            memory = self._tables.records[key]
            if memory.scope == scope and memory.status is Status.ACTIVE:
                yield memory.id

    def _key(self, memory_id: str) -> int:
        if memory_id not in self._tables.keys:
            raise NotFound(memory_id)
        return self._tables.keys[memory_id]

    def _drop_vectors(self, key: int) -> None:
        for place in [place for place in self._tables.vectors if place[1] == key]:
            del self._tables.vectors[place]
            self._tables.gone[place] = self._tables.next_number("seq")

    def _renumber_vectors(self, key: int) -> None:
        """Let an index see that the memory's status or place is another one now."""
        for place, kept in self._tables.vectors.items():
            if place[1] == key:
                self._tables.vectors[place] = replace(kept, seq=self._tables.next_number("seq"))

    def _origins(self, memory_id: str) -> set[str]:
        """The memory and everything it comes from, over all types that may not run in circles."""
        found, waiting = {memory_id}, [memory_id]
        while waiting:
            here = waiting.pop()
            next_ones = {
                edge.target
                for edge in self._tables.edges.values()
                if edge.source == here and edge.type in ACYCLIC and edge.target not in found
            }
            found |= next_ones
            waiting.extend(next_ones)
        return found

    def _tell(
        self, verb: Verb, memory_id: str, because: str, related: str = "", change: Change = NO_CHANGE
    ) -> None:
        now = self._clock.now()
        count = self._tables.event_counts.get(now.date(), 0) + 1
        self._tables.event_counts[now.date()] = count
        event_id = f"EVT-{now:%Y%m%d}-{count:03d}"
        event = Event(event_id, now, self._actor, verb, memory_id, because, *change, related, *self._under)
        self._tables.events[self._tables.next_number("event")] = event
        self._tables.event_scopes[event_id] = self._tables.records[self._key(memory_id)].scope


def _says(one: Fact, other: Fact) -> bool:
    return (one.subject, one.predicate, one.object) == (other.subject, other.predicate, other.object)
