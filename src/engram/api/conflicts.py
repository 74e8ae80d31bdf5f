"""Conflicts: pairs of memories that cannot both be true. `memory.conflicts` lists them and settles them.

Nothing is lost by settling: what gives way is superseded or merged, says to whom, and can be restored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from engram.api.caller import PAGE_LIMIT, Noun, whole
from engram.capture import change
from engram.errors import InvalidInput, UnknownValue
from engram.lazily import dataclass
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType, Fact
from engram.model.knowledge import Comparison
from engram.model.maintenance import SETTLED, Judgement, pair_key
from engram.model.memory import CONTENT_LIMIT, Filters, Memory, Status
from engram.model.plain import plain
from engram.ports import Unit, View
from engram.rules import screen
from engram.rules.archival import check_transition
from engram.text.facts import stated

KEEP = ("a", "b", "both", "merge")
LOOKED_AT = 500
"""So many challenged memories, and so many of the newest, are looked at for edges."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both be true, and why."""

    a: Memory
    b: Memory
    because: str
    facts: tuple[Fact, Fact] | None = None
    """The two facts that exclude each other, when facts are what is in conflict."""


Found = list[Conflict]


class Conflicts(Noun):
    """What contradicts what. Hangs on the facade; safe to use from many threads."""

    def list(self, limit: int = 50) -> Found:
        """Pairs that are still open, those a rule or a person marked first; each pair once."""
        most = whole("limit", limit, 1, PAGE_LIMIT)
        view = View(self._caller.access, Filters())
        pairs: dict[frozenset[str], Conflict] = {}
        for conflict in (*self._marked(view), *self._disputed(view, most)):
            pair = frozenset({conflict.a.id, conflict.b.id})
            if pair not in pairs or pairs[pair].facts is None:
                pairs[pair] = conflict
        return [*pairs.values()][:most]

    def resolve(self, id_a: str, id_b: str, keep: str, because: str = "") -> Memory:
        """Settle a pair: keep `a`, keep `b`, keep `both` as they are, or `merge` their words.

        The one that gives way is superseded or merged. Returns the memory that stands (of both, the first).
        Raises NotFound, AmbiguousId, AccessDenied.
        """
        if keep not in KEEP:
            raise UnknownValue("keep", keep, KEEP)
        one, two = self._caller.owned(id_a), self._caller.owned(id_b)
        if one.id == two.id:
            raise InvalidInput("A memory cannot be in conflict with itself.")
        if keep == "both":
            kept = self._keep_both(one, two, because or "both are true")
        elif keep == "merge":
            kept = self._merge(one, two, because or "said in one")
        else:
            stays, goes = (one, two) if keep == "a" else (two, one)
            kept = self._replace(stays, goes, because or "decided between two that contradicted each other")
        self._settled(one, two, keep)
        return kept

    def review(self, limit: int = 20) -> Found:
        """Ask a model about open pairs. Returns those it settled; without a model, none.

        Raises NotFound, AmbiguousId, AccessDenied.
        """
        return [conflict for conflict in self.list(limit) if self.ask(conflict.a.id, conflict.b.id)]

    def ask(self, id_a: str, id_b: str) -> bool:
        """Ask a model about one pair. Returns whether it was settled. What it finds contradictory stays open.

        Raises NotFound, AmbiguousId, AccessDenied.
        """
        pair = {memory.id: memory for memory in (self._caller.owned(id_a), self._caller.owned(id_b))}
        stored = self._store.memories.keys(list(pair))
        older, newer = sorted(pair.values(), key=lambda one: (one.happened_at, stored[one.id]))
        answer = self._tools.advisor.compare(older.content, newer.content)
        keep = _SETTLES.get(answer) if answer is not None else None
        if keep is None:
            return False
        self.resolve(older.id, newer.id, keep, f"a model says: {answer}")
        return True

    # ------------------------------------------------------------ looking

    def _marked(self, view: View) -> Iterator[Conflict]:
        from engram.maintain.gaps import contradicting  # with all of maintenance

        for one, two in contradicting(self._store, view, LOOKED_AT):
            yield Conflict(one, two, "one is said to contradict the other")

    def _disputed(self, view: View, limit: int) -> Iterator[Conflict]:
        for one, two in self._store.facts.disputed(view, limit):
            because = f"{one.fact.subject} {one.fact.predicate}: {one.fact.object!r} or {two.fact.object!r}"
            yield Conflict(one.memory, two.memory, because, (one.fact, two.fact))

    # ------------------------------------------------------------ settling

    def _settled(self, one: Memory, two: Memory, keep: str) -> None:
        """Maintenance does not raise it again."""
        at = self._tools.clock.now()
        judgement = Judgement(SETTLED, pair_key(one.id, two.id), keep, at)
        self._store.write(lambda unit: unit.upkeep.judge(judgement), self._caller.actor)

    def _replace(self, stays: Memory, goes: Memory, because: str) -> Memory:
        def work(unit: Unit) -> Memory:
            kept = self._stand(unit, stays.id, because)
            self._give_way(unit, goes.id, Status.SUPERSEDED, kept, because)
            return kept

        return self._store.write(work, self._caller.actor)

    def _keep_both(self, one: Memory, two: Memory, because: str) -> Memory:
        """Both stand, the edge between them goes, and facts that excluded each other do so no longer."""

        def work(unit: Unit) -> None:
            for memory in (one, two):
                self._stand(unit, memory.id, because)
            for ends in ((one.id, two.id), (two.id, one.id)):
                unit.unrelate(*ends, EdgeType.CONTRADICTS, because)

        self._store.write(work, self._caller.actor)
        shared = _subjects(one) & _subjects(two)
        kept, _ = (self._loosen(memory, shared, because) for memory in (one, two))
        return kept

    def _loosen(self, memory: Memory, shared: frozenset[tuple[str, str]], because: str) -> Memory:
        facts = [
            plain(replace(fact, functional=False) if (fact.subject, fact.predicate) in shared else fact)
            for fact in _facts(memory)
        ]
        changes: dict[str, Any] = {"details": {**memory.details, "facts": facts}} if shared else {}
        return change.update(memory.id, changes, self._tools, self._caller.actor, because)

    def _merge(self, one: Memory, two: Memory, because: str) -> Memory:
        """The newer takes the words of both; the older is merged into it."""
        older, newer = sorted((one, two), key=lambda memory: memory.happened_at)
        words = self._tools.advisor.merge(older.content, newer.content) or _joined(older, newer)
        changes = {"content": screen.content(words[:CONTENT_LIMIT])}
        merged = change.update(newer.id, changes, self._tools, self._caller.actor, because)

        def work(unit: Unit) -> Memory:
            kept = self._stand(unit, merged.id, because)
            self._give_way(unit, older.id, Status.MERGED, kept, because)
            return kept

        return self._store.write(work, self._caller.actor)

    def _stand(self, unit: Unit, memory_id: str, because: str) -> Memory:
        old = change.memory_in(unit, memory_id)
        if old.status is Status.ACTIVE:
            return old
        check_transition(old.status, Status.ACTIVE)
        new = self._changed(old, Status.ACTIVE)
        unit.change(replace(new, valid_to=None), Verb.RESTORED, because)
        return replace(new, valid_to=None)

    def _give_way(self, unit: Unit, memory_id: str, status: Status, to: Memory, because: str) -> None:
        old = change.memory_in(unit, memory_id)
        if status is Status.SUPERSEDED:
            check_transition(old.status, status)
        until = old.valid_to or max(to.happened_at, old.happened_at)
        new = replace(self._changed(old, status), valid_to=until)
        verb = Verb.MERGED if status is Status.MERGED else Verb.SUPERSEDED
        unit.change(new, verb, because, related=to.id)
        unit.relate(Edge(to.id, old.id, EdgeType.SUPERSEDES, origin=self._caller.actor), because)

    def _changed(self, old: Memory, status: Status) -> Memory:
        return replace(old, status=status, version=old.version + 1, modified_at=self._tools.clock.now())


_SETTLES: Mapping[Comparison, str] = MappingProxyType(
    {
        Comparison.REPLACES: "b",
        Comparison.SAME: "merge",
        Comparison.ADDS: "merge",
        Comparison.DIFFERENT: "both",
    }
)
"""What a model's answer about an older (a) and a newer (b) statement means for them."""


def _facts(memory: Memory) -> tuple[Fact, ...]:
    return stated(memory.content, memory.details, memory.speaker, memory.heard_at)


def _subjects(memory: Memory) -> frozenset[tuple[str, str]]:
    return frozenset((fact.subject, fact.predicate) for fact in _facts(memory) if fact.functional)


def _joined(older: Memory, newer: Memory) -> str:
    """Both contents one after the other; one that the other holds already is not said twice."""
    if older.content.lower() in newer.content.lower():
        return newer.content
    if newer.content.lower() in older.content.lower():
        return older.content
    end = "" if older.content.endswith((".", "!", "?", "。", "！", "？")) else "."
    return f"{older.content}{end} {newer.content}"
