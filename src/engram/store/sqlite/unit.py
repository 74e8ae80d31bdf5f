"""The unit of work: what a caller does inside one write. Row, words, vector, edges and event go together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

from engram.errors import NotFound, StoreError
from engram.model.capture import Turn, Waiting
from engram.model.clock import Clock, to_micros
from engram.model.event import PurgeOrder, Verb
from engram.model.facts import Edge, EdgeType, Entity, Fact
from engram.model.memory import Memory, Space, Status
from engram.model.scope import Scope
from engram.ports import Embedded, Findable
from engram.rules.sensitivity import redacted
from engram.store.sqlite import (
    bus,
    facts,
    feedback,
    ledger,
    maintenance,
    purging,
    relations,
    rows,
    snapshots,
    texts,
    vectors,
    views,
)
from engram.store.sqlite import names as sqlite_names
from engram.store.sqlite import turns as sqlite_turns
from engram.store.sqlite.connection import Db, Line, delete
from engram.store.sqlite.ledger import Difference, PendingEvent
from engram.store.sqlite.maintenance import SqliteUpkeepWork
from engram.store.sqlite.memories import by_id, by_ids, keys_of
from engram.store.sqlite.names import RecentMentions
from engram.store.sqlite.views import Places

DROPS = (snapshots.drop, vectors.drop, relations.drop, sqlite_turns.drop_turns, maintenance.drop_sketches)
"""What takes away what tells of a memory's words in more than a line of its own; the record goes last."""
TABLES = (
    "texts", "facts", "facets", "mentions", "versions", "feedback", "access_log", "origins", "publications",
    "deliveries", "memory_tags", "memories",
)  # fmt: skip
"""Where lines of a memory stand under its row."""
INDEXED_AT_ONCE = 1_000
"""New memories whose words are held back at most."""
READ_AT_ONCE = 1_000
"""Records that are kept in mind at most."""
TOLD_AT_ONCE = 5_000
"""Events, and vectors with them, that wait for their numbers at most."""


KEPT_AT_MOST = 50_000
"""Names and sessions that are kept from one piece of work to the next."""


class NotWithin(StoreError):
    """A unit that was to keep to one namespace is about more: it has to be done while nobody else writes."""

    def __init__(self, within: str) -> None:
        super().__init__(f"A unit of work within {within} is about more than that.")


class WriterNotes:
    """What one piece of work found in the file and the next need not look for. The writer's own."""

    def __init__(self, db: Db, version: object = None) -> None:
        self.version = version
        """What the file was when all of it held; `SqliteStore` compares it with what the file is."""
        self.places: dict[Scope, tuple[int, int]] = {}
        self.spaces: dict[Space, vectors.SpaceLine] = {}
        self.ledger = ledger.LedgerEnd()
        self.aliases: dict[int, dict[str, int]] = {}
        self.company = RecentMentions(db)
        self.last: dict[tuple[str, Scope], tuple[str, int] | None] = {}

    @property
    def are_many(self) -> bool:
        """Whether it is time to begin anew."""
        return len(self.company) + len(self.last) + sum(map(len, self.aliases.values())) > KEPT_AT_MOST


class SqliteUnit:
    """One piece of work inside the writer: reads see its own writes, all of it happens or none.

    Lives inside the writer's thread, for one piece of work.
    """

    def __init__(
        self, db: Db, seen: Places, clock: Clock, actor: str, notes: WriterNotes, within: str = ""
    ) -> None:
        self._db = db
        self._within = within
        self._seen = seen
        self._clock = clock
        self._actor = actor
        self._places = notes.places
        self._spaces = notes.spaces
        self._ledger = notes.ledger
        self._rows: dict[str, int] = {}
        self.has_erased = False
        """Whether something was removed for good."""
        self._naming = sqlite_names.Naming(db, notes.aliases)
        self._company = notes.company
        self._unindexed: list[Line] = []
        self._unfiled: list[Line] = []
        self._undrawn: list[tuple[int, Edge, int]] = []
        self._unplaced: dict[Space, list[vectors.Placed]] = {}
        self._vector_work: list[Callable[[Db], None]] = []
        self._events: list[PendingEvent] = []
        self._last = notes.last
        self._under = ("", "")
        self._read: dict[str, tuple[int, Memory] | None] = {}
        self._same: dict[tuple[str, int], int | None] = {}
        self._scopes: dict[str, Scope] = {}
        self.upkeep = SqliteUpkeepWork(db, self._place, self._read.clear)
        self.bus = bus.SqliteBusWork(db, self._place)

    def act_for(self, actor: str) -> None:
        """From here on events are this actor's."""
        self._actor = actor

    def within_run(self, run: str, rule: str) -> None:
        """From here on events belong to this run of upkeep and this rule."""
        self._under = (run, rule)

    def get(self, memory_id: str) -> Memory | None:
        """The memory as it is inside this unit."""
        found = self._by_id(memory_id)
        return found[1] if found else None

    def read_ahead(self, ids: Iterable[str]) -> None:
        """Read memories at once before `get` asks for each."""
        wanted = [one for one in dict.fromkeys(ids) if one not in self._read][:READ_AT_ONCE]
        if len(self._read) + len(wanted) > READ_AT_ONCE:
            self._read.clear()
        found = {memory.id: (row, memory) for row, memory in by_ids(self._db, wanted)} if wanted else {}
        for _, memory in found.values():
            self._check_within(memory.scope)
        self._read.update((one, found.get(one)) for one in wanted)

    def same_content(self, content_hash: str, scope: Scope) -> Memory | None:
        """The active memory of this very scope with the same normalized content."""
        place = self._known_place(scope)
        if place is None:
            return None
        if (content_hash, place[0]) not in self._same:
            self.look_up_contents([content_hash], scope)
        row = self._same[content_hash, place[0]]
        return None if row is None else rows.by_row(self._db, row)

    def look_up_contents(self, hashes: Sequence[str], scope: Scope) -> None:
        """Look for memories with these normalized contents at once, before `same_content` asks for each."""
        if (place := self._known_place(scope)) is not None:
            found = rows.with_hashes(self._db, hashes, place[0])
            self._same.update(((one, place[0]), found.get(one)) for one in hashes)

    def last_of_session(self, session: str, scope: Scope) -> str | None:
        """The id of the memory stored last in a session of this very scope."""
        if (session, scope) not in self._last:
            place = self._known_place(scope)
            found = rows.last_of_session(self._db, session, place[0]) if place else None
            self._last[session, scope] = found
        last = self._last[session, scope]
        if last is None:
            return None
        self._rows[last[0]] = last[1]
        return last[0]

    def add(self, memory: Memory, findable: Findable, vector: Embedded | None, because: str) -> None:
        """Write a new memory with its words, its vector and its event."""
        place = self._place(memory.scope)
        self._read.pop(memory.id, None)
        row = self._rows[memory.id] = rows.add(self._db, memory, place[0])
        self._scopes[memory.id] = memory.scope
        if memory.status is Status.ACTIVE and self._same.get((memory.content_hash, place[0])) is None:
            self._same[memory.content_hash, place[0]] = row
        if memory.session:
            self._last[memory.session, memory.scope] = (memory.id, row)
        self._unindexed.append(texts.line(row, findable))
        self._unfiled += rows.lines(row, memory)
        if len(self._unindexed) >= INDEXED_AT_ONCE:
            self.finish()
        facts.add(self._db, row, findable.facts)
        names = sqlite_names.named(findable.names, memory.entities)
        self._naming.add(row, place[1], names, to_micros(memory.happened_at))
        self._company.heard(names, place, memory.id)
        if vector is not None:
            self._put_vector(row, vector, memory)
        self._tell(Verb.STORED, memory, because)

    def change(
        self, new: Memory, verb: Verb, because: str, findable: Findable | None = None, related: str = ""
    ) -> None:
        """Replace a memory's record; the event names the fields that differ. `findable` re-indexes it.

        A new content makes the old vectors wrong: they are dropped until `embed` brings the new one.
        """
        row, old = self._find(new.id)
        self._read[new.id] = row, new
        place = self._place(new.scope)
        hides = (bool(new.sealed) and not old.sealed) or ledger.takes_out_secrets(old, new)
        named = sqlite_names.mentioned(self._db, row) if hides else None
        differing = old.differing(new)
        change = ledger.difference(row, old, new, differing)
        self._last.clear()
        self._same.clear()
        self._scopes.pop(new.id, None)
        self._company.changed()
        rows.replace(self._db, row, old, new, differing, place[0])
        if "metadata" in differing:
            self.finish()
            rows.change(self._db, row, new)
        if findable is not None or "entities" in differing or new.scope.namespace != old.scope.namespace:
            names = sqlite_names.named(findable.names if findable else (), new.entities)
            places = (self._place(old.scope)[1], place[1])
            self._naming.change(row, places, names, to_micros(new.happened_at))
        if findable is not None:
            self.finish()
            texts.put(self._db, texts.line(row, findable))
            facts.change(self._db, row, findable.facts)
        elif new.scope != old.scope:
            self.finish()
        if new.content != old.content:
            self._after_vectors(partial(vectors.drop, row=row))
        elif (new.status, new.scope) != (old.status, old.scope):
            self._after_vectors(partial(vectors.move, row=row, place=place, status=new.status.value))
        if named is not None:
            self._forget_words(row, new, named)
        self._tell(verb, new, because, related, change)

    def _forget_words(self, row: int, memory: Memory, named: Sequence[str]) -> None:
        """What tells of the words of a memory that is sealed from now on, beside its record."""
        self.has_erased = True
        self._take_place()
        for drop in (maintenance.drop_sketches, snapshots.drop, texts.drop_blocks):
            drop(self._db, row)
        delete(self._db, "versions", row=row)
        ledger.drop_reasons(self._db, memory.id)
        self._naming.finish()
        self._naming.sweep(self._place(memory.scope)[1], named)
        maintenance.forget_names(self._db, named)

    def embed(self, memory_id: str, vector: Embedded) -> None:
        """Set a memory's vector in a space. Writes no event: a vector is derived from the content."""
        row, memory = self._find(memory_id)
        self._put_vector(row, vector, memory)

    def reword(self, memory_id: str, findable: Findable) -> None:
        """Set the words a memory is found by. Writes no event: they are derived from the content."""
        row, _ = self._find(memory_id)
        self.finish()
        texts.put(self._db, texts.line(row, findable))

    def drop_replaced(self, former: str, space: Space, limit: int) -> int:
        """Drop vectors of a former space, by its key, where this one has others; at most `limit`."""
        self.finish()
        return vectors.drop_replaced(self._db, former, space, limit)

    def relate(self, edge: Edge, because: str) -> None:
        """Add an edge, or reinforce the one that is there. Raises CycleRefused for the acyclic types.

        A `next` edge writes no event: it says only in which order two memories of a session came.
        """
        ends = self._row(edge.source), self._row(edge.target)
        fresh = relations.put(self._db, *ends, edge, to_micros(self._clock.now()))
        if edge.type is not EdgeType.NEXT:
            told = {"type": edge.type.value, "new": fresh}
            change = Difference(ends[0], {}, told, is_secret=False)
            scope = self._scopes.get(edge.source) or self._find(edge.source)[1].scope
            self._tell_of(Verb.RELATED, edge.source, scope, because, edge.target, change)

    def add_edges(self, edges: Sequence[Edge], most: int) -> None:
        """Add edges that follow from what memories say, but for those that are there."""
        self._undrawn += [(self._row(edge.source), edge, most) for edge in edges]

    def confirm(self, ids: Sequence[str], types: Iterable[EdgeType], gain: float) -> None:
        """Let the edges of these types among these memories gain confidence: they proved themselves.

        Writes no event: it is a use, as in `touch`.
        """
        relations.confirm(self._db, self._keys(ids), types, gain, to_micros(self._clock.now()))

    def naming(
        self, name: str, scope: Scope, limit: int, common: int, least: int = 1
    ) -> tuple[int, list[str]]:
        """How many memories have this name, up to `common` and one, and the latest in this very scope.

        The latest are the ids of active memories; none of a name that is more common than that, or that fewer
        than `least` have.
        """
        place, alias = self._known_place(scope), name.casefold()
        if place is None:
            return 0, []
        count = self._company.count(alias, place[1], common + 1)
        return count, self._company.latest(alias, place, limit) if least <= count <= common else []

    def hanging_on(self, fact: Fact, scope: Scope, limit: int) -> list[str]:
        """Active memories of this very scope that go on where a fact ends, or end where it begins."""
        place = self._known_place(scope)
        return self._company.hanging_on(fact, place[0], limit) if place else []

    def unrelate(self, source: str, target: str, edge_type: EdgeType, because: str) -> bool:
        """Take an edge away; whether there was one."""
        ends = self._by_id(source), self._by_id(target)
        if ends[0] is None or ends[1] is None:
            return False
        if not relations.remove(self._db, ends[0][0], ends[1][0], edge_type):
            return False
        change = Difference(ends[0][0], {"type": edge_type.value}, {}, is_secret=False)
        self._tell(Verb.UNRELATED, ends[0][1], because, target, change)
        return True

    def touch(self, ids: Sequence[str], at: datetime, session: str) -> None:
        """Count a use of each; what was erased meanwhile is left out."""
        self._read.clear()
        feedback.use(self._db, self._keys(ids), at, session)

    def add_feedback(self, memory_id: str, *, helpful: bool, question: Embedded | None, because: str) -> None:
        """Keep feedback and count it on the memory."""
        row, old = self._find(memory_id)
        feedback.add(self._db, row, question, self._clock.now(), helpful=helpful)
        self._read.clear()
        new = self._find(memory_id)[1]
        change = ledger.difference(row, old, new, old.differing(new))
        self._tell(Verb.FEEDBACK, old, because, change=change)

    def log(self, turns: Sequence[Turn]) -> tuple[Waiting, int]:
        """Add turns of one scope to the raw log but for those whose id their session knows.

        What waits in the scope now, counted up to a limit, and how many of the turns were new.
        """
        if not turns:
            return Waiting(), 0
        fresh = sqlite_turns.add(self._db, turns, self._place)
        return sqlite_turns.waiting(self._db, self._place(turns[0].scope)[0]), fresh

    def seal_turns(self, memory_id: str, seal: Callable[[Turn], Turn], *, back: bool = False) -> int:
        """Replace the turns a memory came from, or all, by what `seal` makes of them; how many changed.

        Only those that are not sealed; with `back` those that are, and they are not any more.
        """
        changed = sqlite_turns.seal_turns(
            self._db, self._row(memory_id) if memory_id else None, seal, back=back
        )
        self.has_erased = self.has_erased or changed > 0
        return changed

    def captured(self, turns: Sequence[Turn], at: datetime) -> int:
        """Say that memories were made of these turns: they wait no longer. How many of them still did."""
        return sqlite_turns.captured(self._db, turns, at, self._place)

    def link_turns(self, memory_id: str, turns: Sequence[int]) -> None:
        """Say which turns (by key) a memory came from; erasing the memory erases their words too."""
        sqlite_turns.link(self._db, self._row(memory_id), turns)

    def end_fact(self, memory_id: str, fact: Fact, at: datetime) -> None:
        """Say until when a fact of a memory held."""
        facts.end(self._db, self._row(memory_id), fact, at)

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name; an entity of that name becomes part of it."""
        self._naming.alias(name, entity)

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for an entity of its own again; whether it was an alias."""
        return self._naming.split(name, namespace)

    def set_origin(self, memory_id: str, scope: Scope, origin: str, digest: str) -> None:
        """Keep where an imported memory came from; the origin's former memory is forgotten here only."""
        sqlite_turns.put_origin(self._db, self._place(scope)[0], origin, self._row(memory_id), digest)

    def remove_origins(self, scope: Scope, origins: Sequence[str]) -> None:
        """Drop origins that are no more."""
        sqlite_turns.remove(self._db, self._place(scope)[0], origins)

    def erase(self, memory_id: str, because: str) -> None:
        """Remove a memory, its words, vectors, edges, feedback, log and the turns it came from.

        The ledger keeps the bare fact.
        """
        row, memory = self._find(memory_id)
        self.has_erased = True
        for copy in bus.copies(self._db, row):
            self.erase(copy, because)
        self.finish()
        self._take_place()
        names = sqlite_names.mentioned(self._db, row)
        for drop in DROPS:
            drop(self._db, row)
        for table in TABLES:
            delete(self._db, table, row=row)
        ledger.drop_reasons(self._db, memory.id)
        self._read.clear()
        self._same.clear()
        self._scopes.pop(memory_id, None)
        self._naming.sweep(self._place(memory.scope)[1], names)
        maintenance.forget_names(self._db, names)
        self._rows.pop(memory_id, None)
        self._last.clear()
        self._company.changed()
        self._tell(Verb.ERASED, memory, ledger.unless_it_tells(because, memory))

    def purge(self, what: PurgeOrder) -> dict[str, int]:
        """Erase a person, a place or a conversation with all that tells of it; how much of what."""
        self.has_erased = True
        self.finish()
        self._take_place()
        if what.person:
            targets = purging.person(self._db, what.person)
        elif what.scope is not None:
            targets = purging.place(self._db, what.scope)
        else:
            targets = purging.conversation(self._db, what)
        erased, turns = 0, purging.count_turns(self._db)
        for memory_id in purging.memories_to_erase(self._db, targets):
            if self.get(memory_id) is not None:
                self.erase(memory_id, "")
                erased += 1
        self._read.clear()
        self._last.clear()
        counts = {"memories": erased, **purging.sweep(self._db, targets)}
        if gone := turns - purging.count_turns(self._db):  # those of the memories went with them
            counts["turns"] = gone
        return counts | {"remaining": purging.count_remaining(self._db, targets)}

    def finish(self) -> None:
        """Index the words of what was added: at once, at the end or before they change."""
        self._naming.finish()
        if self._unindexed:
            texts.add(self._db, self._unindexed)
            self._unindexed = []
        if self._undrawn:
            relations.draw(self._db, self._undrawn, to_micros(self._clock.now()))
            self._undrawn = []
        if self._unfiled:
            rows.add_facets(self._db, self._unfiled)
            self._unfiled = []
        if len(self._events) >= TOLD_AT_ONCE:
            self.number()

    def number(self) -> None:
        """Write what is followed by number: vectors and events. Last: a database lets one unit at a time."""
        self._after_vectors()
        work, self._vector_work = self._vector_work, []
        for one in work:
            one(self._db)
        events, self._events = self._events, []
        if events:
            ledger.append(self._db, events, self._ledger)

    def _after_vectors(self, *work: Callable[[Db], None]) -> None:
        """Do this to vectors once those are written that wait."""
        waiting, self._unplaced = self._unplaced, {}
        self._vector_work += [
            *(partial(self._write_vectors, space=space, placed=placed) for space, placed in waiting.items()),
            *work,
        ]

    def _take_place(self) -> None:
        """Write what waits, for something of it is about to go. Only where nobody else writes meanwhile."""
        if self._within:
            raise NotWithin(self._within)
        self.number()

    def _by_id(self, memory_id: str) -> tuple[int, Memory] | None:
        """A record as it was read last: whoever decides and then changes reads it once."""
        if memory_id not in self._read:
            if len(self._read) >= READ_AT_ONCE:
                self._read.clear()
            self._read[memory_id] = found = by_id(self._db, memory_id)
            if found is not None:
                self._check_within(found[1].scope)
        return self._read[memory_id]

    def _find(self, memory_id: str) -> tuple[int, Memory]:
        found = self._by_id(memory_id)
        if found is None:
            raise NotFound(memory_id)
        return found

    def _put_vector(self, row: int, vector: Embedded, memory: Memory) -> None:
        place = (*self._place(memory.scope), memory.status.value)
        self._unplaced.setdefault(vector.space, []).append((row, vectors.checked(vector), place))

    def _write_vectors(self, db: Db, space: Space, placed: Sequence[vectors.Placed]) -> None:
        if space not in self._spaces:
            self._spaces[space] = vectors.find_or_add(db, space)
        vectors.put(db, self._spaces[space], placed)

    def _keys(self, ids: Sequence[str]) -> list[int]:
        """The keys of those that are there."""
        if unknown := [one for one in ids if one not in self._rows]:
            self._rows |= keys_of(self._db, unknown)
        return [self._rows[one] for one in ids if one in self._rows]

    def _row(self, memory_id: str) -> int:
        row = self._rows.get(memory_id) or rows.row_of(self._db, memory_id)
        if row is None:
            raise NotFound(memory_id)
        return row

    def _known_place(self, scope: Scope) -> tuple[int, int] | None:
        """The same of a scope that may never have been written to."""
        self._check_within(scope)
        place = self._places.get(scope)
        if place is None:
            place = self._seen.numbers(scope) or views.find(self._db, scope)
            if place is not None:
                self._places[scope] = place
        return place

    def _check_within(self, scope: Scope) -> None:
        if self._within and scope.namespace != self._within:
            raise NotWithin(self._within)

    def _place(self, scope: Scope) -> tuple[int, int]:
        """Numbers of a scope and its namespace."""
        self._check_within(scope)
        place = self._places.get(scope)
        if place is None:
            place = self._places[scope] = self._seen.numbers(scope) or views.find_or_add(self._db, scope)
        return place

    def _tell(
        self, verb: Verb, memory: Memory, because: str, related: str = "", change: Difference | None = None
    ) -> None:
        told = "" if memory.sealed else because  # a reason may repeat its words, and the ledger stays
        self._tell_of(verb, memory.id, memory.scope, told, related, change)

    def _tell_of(
        self, verb: Verb, memory_id: str, scope: Scope, because: str, related: str, change: Difference | None
    ) -> None:
        place, told = self._place(scope)[0], redacted(because)
        event = PendingEvent(
            self._clock.now(), self._actor, verb, memory_id, place, told, related, *self._under
        )
        self._events.append(event if change is None else ledger.changing(self._db, event, change))
