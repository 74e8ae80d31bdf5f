"""Facts: who is what to whom, as memories state it. `memory.facts` adds, asks, follows and ends them.

A fact lives in a memory: adding one writes a memory that says it in words, so that it is found, forgotten,
superseded and erased like everything else. What a text states by itself needs no adding. Whom and what facts
and memories are about is shown, joined and parted by `memory.entities`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import datetime
from functools import cache, partial
from operator import attrgetter
from typing import Any

from engram.api.browsing import Window, known, of_entity
from engram.api.caller import PAGE_LIMIT, Noun, whole
from engram.api.knowledge import Knowledge
from engram.capture import change
from engram.errors import AccessDenied, InvalidInput, UnknownEntity, UnknownValue
from engram.lazily import dataclass
from engram.model.capture import Draft, Receipt
from engram.model.facts import ENTITY_TYPES, Claim, Entity, Fact, FactQuery
from engram.model.knowledge import Card
from engram.model.maintenance import Sketch
from engram.model.memory import ANY_STATUS, Filters, Memory
from engram.model.plain import draft, moment, plain
from engram.model.recall import TimelineStep
from engram.model.scope import Access, Scope
from engram.ports import Unit, View
from engram.rules import screen
from engram.rules.chains import ChainLimits, Path, walk
from engram.rules.entities import also_called
from engram.text import re
from engram.text.facts import stated
from engram.text.statement import USER, asked, canonical, is_functional, plain_name, worded

MOST_HOPS = 5
DISPUTES = 50
CHAINS = 20
MENTIONING = 60
"""Words of a text that are looked up among names."""
LONGEST_NAME = 3
"""Words of a name that is looked for in a text."""
_WORDS = re.compile(r"\w+")
AS_SAID = "said"
"""With a fact in the details of a memory: its predicate in the words it was stated with."""
PART_LIMIT = 200
"""The longest name, predicate or object of a fact."""
Claims = list[Claim]
Paths = list[Path]
Pairs = list[tuple[Claim, Claim]]


class Facts(Noun):
    """What is known about whom. Hangs on the facade; safe to use from many threads."""

    def add(  # noqa: PLR0913 - the parts of a fact; all but the triple by name
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the word for it
        *,
        functional: bool | None = None,
        confidence: float | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        scope: Scope | None = None,
        because: str = "",
        **given: Any,
    ) -> Receipt:
        """State a fact. It takes the place of the one with another object, if there can be only one.

        `functional` says whether there is one object at a time; left out, the predicate tells: one
        lives in one place but likes many things. Other fields are those of `Draft`.
        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        who, what, whom = _part("subject", subject), _part("predicate", predicate), _part("object", object)
        screen.share("confidence", confidence)
        since = None if valid_from is None else moment("valid_from", valid_from, self._tools.zone)
        until = None if valid_to is None else moment("valid_to", valid_to, self._tools.zone)
        over = until is not None and until <= self._tools.clock.now()
        one = is_functional(what) if functional is None else bool(functional)
        fact = {
            "subject": who,
            "predicate": canonical(what),
            "object": whom,
            "functional": one and not over,  # what is over takes nothing's place
            "valid_from": since,
            "valid_to": until,
        } | ({} if confidence is None else {"confidence": confidence})
        if canonical(what) != what:
            fact[AS_SAID] = what
        return self._caller.write([self._draft(worded(who, what, whom), fact, scope, because, given)])[0]

    def query(  # noqa: PLR0913 - each is a part of the question; all but the triple by name
        self,
        subject: str = "",
        predicate: str = "",
        object: str = "",  # noqa: A002 - the word for it
        *,
        as_of: datetime | str | None = None,
        limit: int = 50,
        scope: Scope | None = None,
        history: bool = False,
    ) -> Claims:
        """Facts that fit, newest first; every name of an entity counts, and "pet" finds a dog.

        What holds now; with `as_of` what held then; with `history` whatever was ever said.
        """
        most = whole("limit", limit, 1, PAGE_LIMIT)
        access = self._caller.at(scope)
        at = None if as_of is None else moment("as_of", as_of, self._tools.zone)
        query = FactQuery(
            self._names(subject, access), asked(predicate), self._names(object, access), as_of=at
        )
        any_time = history or at is not None
        filters = ANY_STATUS if any_time else Filters()
        now = self._tools.clock.now()
        claims = self._store.facts.find(
            query, View(access, filters), most if any_time else min(2 * most, PAGE_LIMIT)
        )
        return [claim for claim in claims if any_time or holds(claim, now)][:most]

    def mentioned(self, text: str, *, limit: int = 100) -> Claims:
        """Facts that hold and are about something whose name stands in a text, word for word."""
        words = _WORDS.findall(screen.readable("text", text).casefold())[:MENTIONING]
        sizes = range(1, LONGEST_NAME + 1)
        names = frozenset(
            " ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1)
        )
        return self._fetch(names, whole("limit", limit, 1, PAGE_LIMIT)) if names else []

    def of(self, memory_id: str) -> Claims:
        """What one memory states, in the order of its words. Raises NotFound, AmbiguousId."""
        memory = self._caller.seen(memory_id)
        facts = stated(memory.content, memory.details, memory.speaker, memory.heard_at)
        return [Claim(fact, memory) for fact in facts]

    def history(self, subject: str, predicate: str = "", *, limit: int = 100) -> Claims:
        """Everything ever stated about a subject, oldest first; each fact says from when to when it held."""
        claims = self.query(_part("subject", subject), predicate, history=True, limit=limit)
        dated_ones = [dated(claim) for claim in claims]
        return sorted(dated_ones, key=lambda one: one.fact.valid_from or one.memory.happened_at)

    def conflicts(self, limit: int = DISPUTES) -> Pairs:
        """Pairs of facts that cannot both be true and that nobody has decided about, newest first."""
        most = whole("limit", limit, 1, PAGE_LIMIT)
        return self._store.facts.disputed(View(self._caller.access, Filters()), most)

    def chain(self, start: str, *, hops: int = 2, goal: str = "", limit: int = CHAINS) -> Paths:
        """Paths of facts from a name, the surest first; only those to `goal`, if it is named.

        The object of one fact is the subject of the next, or the other way round. Raises InvalidInput.
        """
        access = self._caller.access
        limits = ChainLimits(hops=whole("hops", hops, 1, MOST_HOPS))
        begin = known(_called(_part("start", start)), self._store.entities, access)
        # Many paths pass one name: each is looked up once.
        names_of, fetch = cache(partial(self._very_names, access=access)), cache(self._fetch)
        paths = walk(begin.name if begin else _called(start), fetch, limits, names_of=names_of)
        ends = self._names(goal, access)
        kept = [path for path in paths if not ends or path.names[-1] in ends]
        return kept[: whole("limit", limit, 1, PAGE_LIMIT)]

    def end(
        self,
        claim: Claim | str,
        fact: Fact | None = None,
        *,
        at: datetime | str | None = None,
        because: str = "",
    ) -> Memory:
        """Say that a fact of a memory holds no longer, now or since `at`. Its memory keeps the words.

        A claim says which fact it is; a memory's id may stand alone if the memory states just one.
        Raises NotFound, AmbiguousId, AccessDenied.
        """
        memory = self._caller.owned(claim.memory.id if isinstance(claim, Claim) else claim)
        over = self._meant(memory, claim.fact if isinstance(claim, Claim) else fact)
        when = self._tools.clock.now() if at is None else moment("at", at, self._tools.zone)
        return self._end(memory, over, when, because or "no longer so")

    # ------------------------------------------------------------ inside

    def _draft(
        self, content: str, fact: dict[str, Any], scope: Scope | None, because: str, given: dict[str, Any]
    ) -> Draft:
        known = {f.name for f in fields(Draft)} - {"content"}
        if given.keys() - known:
            raise UnknownValue("field of a memory", min(given.keys() - known), tuple(sorted(known)))
        reason = {"because": because} if because else {}
        details = {**given.pop("details", {}), "facts": [plain(fact)], **reason}
        given.setdefault("category", "fact")
        if scope is not None:
            given["scope"] = scope
        shares = {name: fact[name] for name in ("confidence", "valid_from", "valid_to") if fact.get(name)}
        return self._caller.mine(
            replace(draft(content="", details=details, **shares, **given), content=content)
        )

    def _names(self, name: str, access: Access) -> frozenset[str]:
        """Every name of what goes by this one, in lower case."""
        if not name.strip():
            return frozenset()
        one = _called(_part("name", name))
        entity = known(one, self._store.entities, access)
        return also_called(one) | (self._very_names(entity.name, access) if entity else frozenset())

    def _very_names(self, name: str, access: Access) -> frozenset[str]:
        """The same without guessing."""
        entity = self._store.entities.get(name, access)
        return also_called(name) | (
            {plain_name(alias) for alias in entity.aliases} if entity else frozenset()
        )

    def _fetch(self, names: frozenset[str], limit: int) -> Claims:
        view, now = View(self._caller.access, Filters()), self._tools.clock.now()
        find = self._store.facts.find
        claims = [*find(FactQuery(subjects=names), view, limit), *find(FactQuery(objects=names), view, limit)]
        return [claim for claim in claims if holds(claim, now)]

    def _meant(self, memory: Memory, fact: Fact | None) -> Fact:
        facts = stated(memory.content, memory.details, memory.speaker, memory.heard_at)
        if fact is None and len(facts) == 1:
            return facts[0]
        for one in facts:
            if fact is not None and _triple(one) == _triple(fact):
                return one
        told = tuple(" ".join(_triple(one)) for one in facts)
        raise UnknownValue("fact of this memory", "" if fact is None else " ".join(_triple(fact)), told)

    def _end(self, memory: Memory, over: Fact, at: datetime, because: str) -> Memory:
        """The end is kept with the memory's own details, where no new reading of its words loses it."""
        ended = plain(replace(over, valid_to=at))
        listed = [one for one in _listed(memory) if _triple_of(one) != _triple(over)]
        changes: dict[str, Any] = {"details": {**memory.details, "facts": [*listed, ended]}}
        others = stated(memory.content, memory.details, memory.speaker, memory.heard_at)
        if all(other.valid_to is not None for other in others if _triple(other) != _triple(over)):
            changes["valid_to"] = at
        changed = change.update(memory.id, changes, self._tools, self._caller.actor, because)
        self._store.write(lambda unit: unit.end_fact(memory.id, over, at), self._caller.actor)
        return changed


def holds(claim: Claim, now: datetime) -> bool:
    """Whether a claim is true at a time, by what is known of its beginning and end."""
    since, until = claim.fact.valid_from, claim.fact.valid_to or claim.memory.valid_to
    return (since is None or since <= now) and (until is None or until > now)


def dated(claim: Claim) -> Claim:
    """The claim with its validity filled in from the memory that states it."""
    fact, memory = claim.fact, claim.memory
    since = fact.valid_from or memory.valid_from or memory.happened_at
    return Claim(replace(fact, valid_from=since, valid_to=fact.valid_to or memory.valid_to), memory)


def _part(field: str, value: str) -> str:
    return screen.some_name(field, value, PART_LIMIT)


def _called(name: str) -> str:
    plain = plain_name(name)
    return USER if plain in {"i", "me", "myself"} else plain


def _triple(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.predicate, fact.object


def _triple_of(one: Any) -> tuple[str, ...]:
    facts = stated("", {"facts": [one]}, "")
    return _triple(facts[0]) if facts else ()


def _listed(memory: Memory) -> list[Any]:
    listed = memory.details.get("facts", [])
    return list(listed) if isinstance(listed, list | tuple) else []


SAMPLE = 200
"""So many memories of an entity are looked at for its profile: the latest."""
SHOWN = 5
BESIDE = 10
JOINED = "joined"
"""The kind of sketch that says which name leads to which in a place."""
FACTS = 50


_MINE = re.compile(r"(?:my|our|the user's|user's) (?P<role>[\w' -]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about one entity."""

    entity: Entity
    facts: tuple[Claim, ...] = ()
    """What holds about it now, newest first."""
    memories: tuple[Memory, ...] = ()
    """The weightiest memories that name it."""
    beside: tuple[tuple[str, int], ...] = ()
    """Other names in the same memories with how often, counted over the latest of them."""
    card: Card | None = None
    """The card that consolidation wrote about it, if it did."""


Found = list[Entity]
Steps = list[TimelineStep]


class Entities(Noun):
    """Who and what is spoken of. Hangs on the facade; safe to use from many threads."""

    def get(self, name: str) -> Profile | None:
        """What is known about somebody or something, under any of its names; None when nothing is.

        A name that nobody has may still mean one: the first name of one person, a known short form, or
        "my sister", where it was told who that is. Raises AccessDenied, InvalidInput.
        """
        entity = known(_name(name), self._store.entities, self._caller.access)
        entity = entity or self._of_mine(_name(name))
        return None if entity is None else self._profile(entity)

    def list(self, *, type: str = "", prefix: str = "", limit: int = 50) -> Found:
        """Entities, last seen first: of one type, or with a name that begins so. Raises InvalidInput."""
        if type and type not in ENTITY_TYPES:
            raise UnknownValue("type", type, ENTITY_TYPES)
        most = whole("limit", limit, 1, PAGE_LIMIT)
        beginning = screen.readable("prefix", prefix).strip()
        return self._store.entities.page(self._caller.access, most, type, beginning)

    def alias(self, name: str, other: str) -> Entity:
        """Let an entity go by one more name; what was known under that name becomes part of it.

        The owner of a namespace says so for all of it, others for their own place and what lies below.
        `split` takes it back. Raises UnknownEntity, AccessDenied, InvalidInput.
        """
        entity, also = self._known(name), _name(other)
        if also.casefold() in entity.aliases:
            return entity
        self._caller.check_write(self._caller.access.scope)

        def work(unit: Unit) -> None:
            if self._caller.access.owns_namespace:
                unit.alias(also, entity)
            else:
                body = {"to": entity.name.casefold()}
                scope, now = self._caller.access.scope, self._tools.clock.now()
                unit.upkeep.sketch(Sketch(scope, JOINED, also.casefold(), body, now))

        self._store.write(work, self._caller.actor)
        return self._known(entity.name)

    def merge(self, keep: str, other: str) -> Entity:
        """Say that two entities are one; it is shown by the first name. `split` takes it back.

        Raises UnknownEntity, AccessDenied, InvalidInput.
        """
        kept, gone = self._known(keep), self._known(other)
        if kept.key == gone.key:
            raise InvalidInput(f"{keep!r} and {other!r} are names of one entity already.")
        return self.alias(kept.name, gone.name)

    def split(self, name: str) -> Entity | None:
        """Make a name an entity of its own again, with the memories that use this name.

        None when no memory that the caller may see does. Raises UnknownEntity, AccessDenied, InvalidInput.
        """
        entity = self._known(name)
        self._caller.check_write(self._caller.access.scope)
        if not self._caller.access.owns_namespace:
            return self._part_here(_name(name))

        def work(unit: Unit) -> bool:
            from engram.maintain.knowledge import parted

            for judgement in parted(entity.name, _name(name), entity.namespace, self._tools.clock.now()):
                unit.upkeep.judge(judgement)
            return unit.split(_name(name), entity.namespace)

        done = self._store.write(work, self._caller.actor)
        if not done:
            raise InvalidInput(f"{name!r} is the entity's own name: split off one of its other names.")
        return self._store.entities.get(_name(name), self._caller.access)

    def timeline(self, name: str, limit: int = 50) -> Steps:
        """How the knowledge about an entity grew, oldest first; of a long story the latest steps.

        Raises UnknownEntity, InvalidInput.
        """
        most = whole("limit", limit, 1, PAGE_LIMIT)
        entity = known(_name(name), self._store.entities, self._caller.access)
        if entity is None:
            raise UnknownEntity(name)
        return list(Window(most).of(of_entity(entity, most, self._caller.access, self._caller)))

    # ------------------------------------------------------------ inside

    def _of_mine(self, name: str) -> Entity | None:
        """Whom "my sister" or "my boss" means by what was told last."""
        role = _MINE.match(name)
        if role is None:
            return None
        store, view = self._store, View(self._caller.access, Filters())
        claims = store.facts.find(FactQuery(predicates=asked(role["role"])), view, FACTS)
        now = self._tools.clock.now()
        named = [claim.fact.object for claim in claims if holds(claim, now)]
        entities = (store.entities.get(one, self._caller.access) for one in named)
        return next((entity for entity in entities if entity is not None), None)

    def _known(self, name: str) -> Entity:
        entity = self._store.entities.get(_name(name), self._caller.access)
        if entity is None:
            raise UnknownEntity(name)
        return entity

    def _part_here(self, name: str) -> Entity | None:
        """Take back what was joined in the caller's own place; what holds for all is the owner's to part."""
        scope, key = self._caller.access.scope, name.casefold()
        done = self._store.write(lambda unit: unit.upkeep.unsketch(scope, JOINED, key), self._caller.actor)
        if not done:
            raise AccessDenied(f"part {name!r} for everybody: only the owner of the namespace may")
        return self._store.entities.get(name, self._caller.access)

    def _profile(self, entity: Entity) -> Profile:
        store, view = self._store, View(self._caller.access, Filters())
        now = self._tools.clock.now()
        names = frozenset(map(plain_name, (entity.name, *entity.aliases)))
        claims = store.facts.find(FactQuery(subjects=names), view, FACTS)
        memories = [memory for _, memory in store.entities.memories(entity, view, SAMPLE)]
        weight = attrgetter("pinned", "importance", "happened_at")
        return Profile(
            entity,
            tuple(claim for claim in claims if holds(claim, now)),
            tuple(sorted(memories, key=weight, reverse=True)[:SHOWN]),
            _beside(memories, names),
            Knowledge(self._caller).card(entity.name),
        )


def _name(name: str) -> str:
    return screen.some_name("name", name)


def _beside(memories: Iterable[Memory], own: frozenset[str]) -> tuple[tuple[str, int], ...]:
    counts = Counter(name for memory in memories for name in memory.entities if plain_name(name) not in own)
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:BESIDE])
