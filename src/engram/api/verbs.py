"""The nouns of the facade, and the verbs of the smallest: how single memories stand, and what happened.

The verbs had their place on the facade once. Programs that call them there still find them (`VerbsBefore`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from engram.api.caller import LAST_NUMBER, PAGE_LIMIT, Answers, CallerContext, Noun, Tokens, checked, whole
from engram.api.maintenance import Maintenance
from engram.api.remembering import Listening
from engram.errors import AccessDenied, InvalidInput, NotFound
from engram.lazily import lazily
from engram.model.capture import ImportedRecords, Turn
from engram.model.event import Event, News, Verb
from engram.model.facts import Edge, EdgeType
from engram.model.memory import Filters, Memory, Status, in_force
from engram.model.plain import member
from engram.model.scope import Role, Scope
from engram.ports import View
from engram.rules import screen
from engram.rules.promotion import step_layer

if TYPE_CHECKING:
    from engram.api import (
        browsing,
        bus,
        commitments,
        conflicts,
        facts,
        gaps,
        import_records,
        knowledge,
        sources,
        vault,
        workspace,
    )
    from engram.api.browsing import Trash
    from engram.api.bus import Bus
    from engram.api.commitments import Commitments, Triggers
    from engram.api.conflicts import Conflicts
    from engram.api.facts import Entities, Facts
    from engram.api.gaps import Gaps
    from engram.api.knowledge import Knowledge
    from engram.api.sources import Sources
    from engram.api.vault import Backups
    from engram.api.workspace import Workspaces
    from engram.capture import change
else:
    browsing = lazily("engram.api.browsing")
    bus = lazily("engram.api.bus")
    commitments = lazily("engram.api.commitments")
    conflicts = lazily("engram.api.conflicts")
    facts = lazily("engram.api.facts")
    gaps = lazily("engram.api.gaps")
    import_records = lazily("engram.api.import_records")
    knowledge = lazily("engram.api.knowledge")
    sources = lazily("engram.api.sources")
    vault = lazily("engram.api.vault")
    workspace = lazily("engram.api.workspace")
    change = lazily("engram.capture.change")

TURNS_LIMIT = 10_000
P = ParamSpec("P")
R = TypeVar("R")


class MemoryActions(Noun):
    """How single memories stand and what they are to each other. Safe from many threads."""

    def pin(self, memory_id: str, *, pinned: bool = True) -> Memory:
        """Protect a memory from forgetting, or end that.

        Raises NotFound, AmbiguousId, AccessDenied.
        """
        tools, actor = self._tools, self._caller.actor
        return change.pin(self._caller.own(memory_id), pinned=pinned, tools=tools, actor=actor)

    def confirm(self, memory_id: str, because: str = "") -> Memory:
        """Vouch for a memory. Raises NotFound, AmbiguousId, AccessDenied."""
        return change.confirm(self._caller.own(memory_id), self._tools, self._caller.actor, because)

    def promote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer up: from the buffer to working, from working to core.

        Raises NotFound, AmbiguousId, AccessDenied, NoFurtherLayer.
        """
        return self._move(memory_id, because or "promoted by hand", up=True)

    def demote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer down. Raises NotFound, AmbiguousId, AccessDenied, NoFurtherLayer."""
        return self._move(memory_id, because or "demoted by hand", up=False)

    def _move(self, memory_id: str, because: str, *, up: bool) -> Memory:
        """The memory in the next layer up or down. Raises NoFurtherLayer at the ends."""
        full, tools, actor = self._caller.own(memory_id), self._tools, self._caller.actor
        return change.alter(
            full, lambda old: replace(old, layer=step_layer(old, up=up)), Verb.UPDATED, tools, actor, because
        )

    def set_status(self, memory_id: str, status: Status | str, because: str = "") -> Memory:
        """Say that a memory is challenged, invalidated, archived … or active again.

        Raises NotFound, AmbiguousId, AccessDenied, BadTransition, UnknownValue.
        """
        wanted: Status = member("status", Status, status)
        one = self._caller.own_for_status(memory_id, wanted)
        return change.set_status(one, wanted, self._tools, self._caller.actor, because)

    def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring back what was archived, superseded, merged or invalidated. Raises NotFound, BadTransition."""
        return self.set_status(memory_id, Status.ACTIVE, because)

    def touch(self, memory_ids: Sequence[str], *, session: str = "") -> int:
        """Count a use of memories that were read by other means than recall, and return how many.

        Raises NotFound, AmbiguousId, AccessDenied.
        """
        screen.name("session", session)
        if self._caller.access.role is Role.READER:
            raise AccessDenied("count uses: a reader changes nothing")
        ids, now = [self._caller.resolve(memory_id) for memory_id in memory_ids], self._tools.clock.now()
        if ids:
            self._store.write(lambda unit: unit.touch(ids, now, session), self._caller.actor)
        return len(ids)

    def feedback(self, memory_id: str, *, helpful: bool, query: str = "", because: str = "") -> Memory:
        """Say whether a memory helped. Returns it with its counts. Raises NotFound, AccessDenied.

        If it did not, and with the question, it stays out of questions like that.
        """
        full, tools, actor = self._caller.own(memory_id), self._tools, self._caller.actor
        return change.opine(full, helpful=helpful, query=query, tools=tools, actor=actor, because=because)

    def relations(self, memory_id: str) -> list[Edge]:
        """What a memory is related to, in both directions. Raises NotFound, AmbiguousId."""
        return self._store.relations.of(self._caller.resolve(memory_id), self._caller.access)

    def relate(
        self,
        source: str,
        target: str,
        type: EdgeType | str = EdgeType.RELATED_TO,
        *,
        weight: float = 1.0,
        confidence: float = 1.0,
    ) -> Edge:
        """Relate one memory to another, and return the edge, new or stronger.

        `weight` and `confidence` are shares. Raises NotFound, AccessDenied, UnknownValue for another type,
        and CycleRefused where a memory would come to rest on itself.
        """
        screen.share("weight", weight)
        screen.share("confidence", confidence)
        kind: EdgeType = member("type", EdgeType, type)
        ends = self._caller.own(source), self._caller.own(target)
        edge = Edge(*ends, kind, weight, confidence, origin=self._caller.actor)
        if edge.source == edge.target:
            raise InvalidInput("A memory cannot be related to itself.")
        self._store.write(lambda unit: unit.relate(edge, because=""), self._caller.actor)
        return edge

    def unrelate(self, source: str, target: str, type: EdgeType | str = EdgeType.RELATED_TO) -> bool:
        """Remove a relation. Returns whether there was one. Raises NotFound, AmbiguousId, AccessDenied."""
        ends = self._caller.own(source), self._caller.own(target)
        kind: EdgeType = member("type", EdgeType, type)
        return self._store.write(lambda unit: unit.unrelate(*ends, kind, because=""), self._caller.actor)

    def count(self, *, filters: Filters | None = None, scope: Scope | None = None) -> int:
        """How many memories fit. Raises AccessDenied, InvalidInput."""
        wanted = in_force(checked(self._caller, filters), self._tools.clock.now())
        return self._store.memories.count(View(self._caller.at(scope), wanted))

    def adopt(self, records: Iterable[Mapping[str, Any]], *, dry: bool = False) -> ImportedRecords:
        """Take in what `export` wrote as it was, with ids, times and counts; what is here already stays."""
        return import_records.import_records(self._caller, records, dry=dry, within_run=True)


class History(Noun):
    """What happened and what was said. Hangs on the facade; safe to use from many threads."""

    def events(
        self, memory_id: str | None = None, *, limit: int = 100, before: str | None = None
    ) -> list[Event]:
        """The history of a memory, or of all that the caller may see, newest first.

        An erased memory has a history too: its full id still finds the bare facts.
        Raises NotFound, AmbiguousId, OutOfRange.
        """
        most, access = whole("limit", limit, 1, PAGE_LIMIT), self._caller.access
        try:
            full = None if memory_id is None else self._caller.resolve(memory_id)
        except NotFound:
            found = self._store.ledger.events(str(memory_id).strip().lower(), access, most, before)
            if not found:
                raise
            return found
        return self._store.ledger.events(full, access, most, before)

    def news(self, after: str | None = None, *, limit: int = 100) -> News:
        """What has happened since a place in the ledger, oldest first, and the place to go on from.

        Without a place: nothing yet, and where the ledger ends now. Raises InvalidInput.
        """
        ledger = self._store.ledger
        end = ledger.newest()
        if after is None:
            return News((), end)
        events = ledger.after(after, self._caller.access, whole("limit", limit, 1, PAGE_LIMIT))
        # `end` was looked up first: what came in between is found the next time, and nothing twice.
        return News(tuple(events), events[-1].id if events else end)

    def turns(self, session: str, *, limit: int = 1_000, after: int = 0) -> list[Turn]:
        """A session word for word, in order; `after` is the key of the last turn already seen."""
        most, seen = whole("limit", limit, 1, TURNS_LIMIT), whole("after", after, 0, LAST_NUMBER)
        return self._store.turns.of_session(session, self._caller.access, most, seen)

    def unread(self, *, limit: int = 1_000) -> list[Turn]:
        """What was said and waits to be read for memories, place by place, oldest first."""
        turns, access = self._store.turns, self._caller.access
        places = [scope for scope in turns.scopes_waiting() if access.may_read(scope)]
        return [turn for scope in places for turn in turns.waiting(scope, limit)][:limit]

    def said(self, memory_id: str) -> list[Turn]:
        """The turns a memory came from, word for word. Raises NotFound, AmbiguousId."""
        return self._store.turns.of_memory(self._caller.resolve(memory_id), self._caller.access)


def moved(noun: str, verb: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A verb that has moved to a noun, where it was before."""
    find = attrgetter(f"{noun}.{verb.__name__}")

    @wraps(verb)
    def forward(self: object, /, *args: P.args, **kwargs: P.kwargs) -> R:
        found: Callable[P, R] = find(self)
        return found(*args, **kwargs)

    return forward


class VerbsBefore:
    """The old names of verbs, in one place: each is found on its noun by now."""

    adopt = moved("memories", MemoryActions.adopt)
    audit = moved("maintenance", Maintenance.audit)
    confirm = moved("memories", MemoryActions.confirm)
    count = moved("memories", MemoryActions.count)
    demote = moved("memories", MemoryActions.demote)
    doctor = moved("maintenance", Maintenance.doctor)
    dream = moved("maintenance", Maintenance.dream)
    drift = moved("maintenance", Maintenance.drift)
    events = moved("history", History.events)
    feedback = moved("memories", MemoryActions.feedback)
    forget_spending = moved("maintenance", Maintenance.forget_spending)
    news = moved("history", History.news)
    pin = moved("memories", MemoryActions.pin)
    promote = moved("memories", MemoryActions.promote)
    recall_health = moved("maintenance", Maintenance.recall_health)
    reembed = moved("maintenance", Maintenance.reembed)
    relate = moved("memories", MemoryActions.relate)
    relations = moved("memories", MemoryActions.relations)
    reread = moved("maintenance", Maintenance.reread)
    restore = moved("memories", MemoryActions.restore)
    said = moved("history", History.said)
    set_status = moved("memories", MemoryActions.set_status)
    spending = moved("maintenance", Maintenance.spending)
    touch = moved("memories", MemoryActions.touch)
    turns = moved("history", History.turns)
    undo = moved("maintenance", Maintenance.undo)
    unrelate = moved("memories", MemoryActions.unrelate)
    vacuum = moved("maintenance", Maintenance.vacuum)


# ---------------------------------------------------------------- nouns
# What hangs on the facade: each is made when it is first asked for, for the caller.


class Nouns:
    """What the facade has beside its verbs. The facade owns it; safe to use from many threads."""

    def __init__(self, caller: CallerContext) -> None:
        self._caller = caller
        self._listening = Listening(caller)

    @cached_property
    def memories(self) -> MemoryActions:
        """How single memories stand and what they are to each other: pin, confirm, move, count."""
        return MemoryActions(self._caller)

    @cached_property
    def history(self) -> History:
        """What happened and what was said: events, news, conversations word for word."""
        return History(self._caller)

    @cached_property
    def facts(self) -> Facts:
        """What is known about whom: add, ask, follow and end facts."""
        return facts.Facts(self._caller)

    @cached_property
    def entities(self) -> Entities:
        """Who and what is spoken of: profiles, names, timelines."""
        return facts.Entities(self._caller)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What was learned from memories taken together: profile, map, tree, cards, topics, boxes."""
        return knowledge.Knowledge(self._caller)

    @cached_property
    def bus(self) -> Bus:
        """What agents tell each other: offer, ask for and deliver memories."""
        return bus.Bus(self._caller)

    @cached_property
    def backups(self) -> Backups:
        """Copies of the whole file: make, list and check them."""
        return vault.Backups(self._caller)

    @cached_property
    def trash(self) -> Trash:
        """What was forgotten and can still be brought back: look, restore, empty."""
        return browsing.Trash(self._caller)

    @cached_property
    def answers(self) -> Answers:
        """What was answered to writes that carried a key; for the doors."""
        return Answers(self._caller)

    @cached_property
    def tokens(self) -> Tokens:
        """Who may come in from outside: make, list and revoke tokens."""
        return Tokens(self._caller)

    @cached_property
    def conflicts(self) -> Conflicts:
        """What contradicts what, and settling it."""
        return conflicts.Conflicts(self._caller)

    @cached_property
    def commitments(self) -> Commitments:
        """Open loops: what was promised, what is waited for, what is done."""
        return commitments.Commitments(self._caller)

    @cached_property
    def gaps(self) -> Gaps:
        """What is not known and would be good to know: ask, answer, let be."""
        return gaps.Gaps(self._caller)

    @cached_property
    def triggers(self) -> Triggers:
        """Words in a message that load pages into the recall pack."""
        return commitments.Triggers(self._caller)

    @cached_property
    def sources(self) -> Sources:
        """What comes from elsewhere: documents, chats of other services, code, results."""
        return sources.Sources(self._caller, self._listening)

    @cached_property
    def workspace(self) -> Workspaces:
        """Folders of plain files that people read and edit, in step with the memory."""
        return workspace.Workspaces(self._caller, Maintenance(self._caller).undo)
