"""Settling: a verdict about one statement becomes rows, edges and events, and a receipt.

The receipt tells the reason in the statement's own words. The ledger cannot be rewritten and words may have
to be erased, so its events name the rule only. Names are linked before: each to the entity it means, if that
is known already; one look for all names of a call, and only a name that nobody has used before is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log2

from engram.lazily import replace
from engram.model.capture import Outcome, Receipt
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType, Fact, FactQuery, Named
from engram.model.memory import TAG_LIMIT, Filters, Memory, Policy, Status
from engram.model.plain import plain
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools, Unit, View
from engram.rules.enrich import PreparedDraft
from engram.rules.entities import may_be_one, resolve, roles_in
from engram.rules.sameness import Challenge, Merge, New, Reinforce, Supersede, Verdict
from engram.rules.traits import is_overheard, is_reference
from engram.text.statement import USER, plain_name

INHERITED_CONFIDENCE = 0.2  # share of the old confidence a correction takes over

SAID_AGAIN = "said again"
SAID_MORE_FULLY = "said more fully"
REPLACED = "replaced by a newer statement"
PARTLY_REPLACED = "a part of it is replaced by a newer statement"
REPLACES = "replaces an older statement"
DISPUTES = "cannot be true beside another statement"
SAID_NEXT = "said next"
REPEATED_IS_GONE = "what it repeated is gone"


def settle(unit: Unit, item: PreparedDraft, verdict: Verdict) -> Receipt:
    """Carry the verdict out, inside the writer; what changed since it was made is looked at again."""
    same = None if item.apart else unit.same_content(item.memory.content_hash, item.memory.scope)
    if same is not None and same.told_by == item.memory.told_by and _alike(same, item.memory):
        return _reinforce(unit, same, item, "the same words again")
    old = None if isinstance(verdict, New) else _still_there(unit, verdict.memory)
    if isinstance(verdict, New) or old is None:
        return _store(unit, item, verdict.because if isinstance(verdict, New) else REPEATED_IS_GONE)
    match verdict:
        case Reinforce(because=because):
            return _reinforce(unit, old, item, because)
        case Merge(because=because):
            return _merge(unit, old, item, because)
        case Supersede():
            receipt = _supersede(unit, old, item, verdict)
            for one in verdict.also:
                if (other := _still_there(unit, one.memory)) is not None:
                    end(unit, other, receipt.memory, one)
            return receipt
        case Challenge():
            return _challenge(unit, old, item, verdict)


def _alike(old: Memory, new: Memory) -> bool:
    """What a document says is not what somebody said in the same words."""
    return is_reference(old) == is_reference(new)


def _still_there(unit: Unit, memory: Memory) -> Memory | None:
    now = unit.get(memory.id)
    return now if now is not None and now.status is Status.ACTIVE and now.content == memory.content else None


def _store(unit: Unit, item: PreparedDraft, because: str) -> Receipt:
    memory = item.memory
    before = unit.last_of_session(memory.session, memory.scope) if memory.session else None
    unit.add(memory, item.findable, item.vector, because)
    if item.hidden_vector is not None:
        unit.embed(memory.id, item.hidden_vector)
    if before is not None:
        unit.relate(Edge(before, memory.id, EdgeType.NEXT), SAID_NEXT)
    return Receipt(memory, Outcome.STORED, because, embedded=item.vector is not None)


def _reinforce(unit: Unit, old: Memory, item: PreparedDraft, because: str) -> Receipt:
    """The known memory counts one more repetition, and a confirmation when it comes from another source."""
    usage = old.usage
    another = old.source != item.memory.source
    stronger = replace(
        _given(old, item.memory),
        usage=replace(usage, repeated=usage.repeated + 1, confirmed=usage.confirmed + another),
        confidence=max(old.confidence, item.memory.confidence),
        expires_at=item.memory.expires_at if old.expires_at else None,
        last_accessed=item.memory.created_at,
    )
    unit.change(stronger, Verb.REINFORCED, SAID_AGAIN)
    return Receipt(stronger, Outcome.REINFORCED, because)


def _given(old: Memory, new: Memory) -> Memory:
    """What was overheard and is now given on purpose is kept as what was given."""
    if not is_overheard(old) or is_overheard(new):
        return old
    return replace(
        old,
        source=new.source,
        trust=max(old.trust, new.trust),
        layer=max(old.layer, new.layer),
        policy=new.policy if new.policy is Policy.PROTECTED else old.policy,
    )


def _merge(unit: Unit, old: Memory, item: PreparedDraft, because: str) -> Receipt:
    """The known memory takes the fuller words; its old ones stay in its history."""
    new = item.memory
    merged = replace(
        _given(old, new),
        content=new.content,
        content_hash=new.content_hash,
        forms=new.forms,
        metadata=new.metadata,
        entities=tuple(dict.fromkeys((*old.entities, *new.entities))),
        tags=tuple(dict.fromkeys((*old.tags, *new.tags)))[:TAG_LIMIT],
        importance=max(old.importance, new.importance),
        confidence=max(old.confidence, new.confidence),
        usage=replace(old.usage, repeated=old.usage.repeated + 1),
        modified_at=new.created_at,
        version=old.version + 1,
        tier=max(old.tier, new.tier, key=tuple(type(new.tier)).index),
    )
    unit.change(merged, Verb.MERGED, SAID_MORE_FULLY, findable=item.findable)
    if item.vector is not None:
        unit.embed(merged.id, item.vector)
    return Receipt(merged, Outcome.MERGED, because, embedded=item.vector is not None)


def _supersede(unit: Unit, old: Memory, item: PreparedDraft, verdict: Supersede) -> Receipt:
    """The new memory stands; what it replaces of the old one ends. Both stay in the history."""
    share = INHERITED_CONFIDENCE
    new = replace(item.memory, confidence=min(1.0, item.memory.confidence + share * old.confidence))
    _store(unit, replace(item, memory=new), REPLACES)
    end(unit, old, new, verdict)
    return Receipt(new, Outcome.SUPERSEDED, verdict.because, other=old.id, embedded=item.vector is not None)


def end(unit: Unit, old: Memory, new: Memory, verdict: Supersede) -> None:
    """Let what a newer statement replaces of an older one hold no longer."""
    if verdict.whole:
        _give_way(unit, old, new)
    else:
        _end_partly(unit, old, new, verdict.over)


def _end_partly(unit: Unit, old: Memory, new: Memory, over: Sequence[Fact]) -> None:
    """The memory stays with what still holds, and says what does not, since when and by whose word."""
    known = old.details.get("no_longer")
    told = [
        {
            "fact": f"{fact.subject} {fact.predicate} {fact.object}",
            "since": new.happened_at.isoformat(),
            "by": new.id,
        }
        for fact in over
    ]
    given = old.details.get("facts")
    ended = [plain(replace(fact, valid_to=new.happened_at)) for fact in over]
    details = {
        **old.details,
        "no_longer": [*(known if isinstance(known, list) else ()), *told],
        "facts": [*(given if isinstance(given, list) else ()), *ended],
    }
    changed = replace(old, details=details, modified_at=new.created_at, version=old.version + 1)
    unit.change(changed, Verb.UPDATED, PARTLY_REPLACED, related=new.id)
    for fact in over:
        unit.end_fact(old.id, fact, new.happened_at)
    unit.relate(Edge(new.id, old.id, EdgeType.CONTRADICTS), PARTLY_REPLACED)


def _give_way(unit: Unit, old: Memory, new: Memory) -> None:
    gone = replace(
        old,
        status=Status.SUPERSEDED,
        valid_to=new.happened_at,
        modified_at=new.created_at,
        version=old.version + 1,
    )
    unit.change(gone, Verb.SUPERSEDED, REPLACED, related=new.id)
    unit.relate(Edge(new.id, old.id, EdgeType.SUPERSEDES), REPLACES)
    unit.relate(Edge(new.id, old.id, EdgeType.CONTRADICTS), REPLACES)


def _challenge(unit: Unit, old: Memory, item: PreparedDraft, verdict: Challenge) -> Receipt:
    """Both stay; the one in doubt is marked, and the pair waits to be looked at."""
    new = item.memory
    if verdict.new_doubtful:
        new = replace(new, status=Status.CHALLENGED)
    receipt = _store(unit, replace(item, memory=new), DISPUTES)
    if not verdict.new_doubtful:
        doubted = replace(old, status=Status.CHALLENGED, modified_at=new.created_at, version=old.version + 1)
        unit.change(doubted, Verb.STATUS_CHANGED, DISPUTES, related=new.id)
    unit.relate(Edge(new.id, old.id, EdgeType.CONTRADICTS), DISPUTES)
    return replace(receipt, outcome=Outcome.CHALLENGED, because=verdict.because, other=old.id)


SIMILAR_LINKS = 3  # near memories a new one is linked to
NAMES_LINKED = 3  # names in a memory that link it to others with the same name
LINKS_A_NAME = 2  # memories linked for each such name, the latest
COMMON_NAME = 200  # a name that more memories have says too little to link them
FACT_LINKS = 3  # memories linked because their facts hang together
LINKS_MOST = 20  # links that come by themselves to one memory

CANDIDATES = 20
"""How many entities with a like name a new name is compared with."""


def link(prepared: Sequence[PreparedDraft], tools: Tools) -> list[PreparedDraft]:
    """The same, with each name resolved; a namesake in another role goes by a name of its own."""
    meant: dict[tuple[Scope, str], str] = {}
    prepared = [_namesakes_apart(item, tools) if item.findable.facts else item for item in prepared]
    for scope in dict.fromkeys(item.memory.scope for item in prepared):
        here = [item for item in prepared if item.memory.scope == scope]
        named = {one.name.casefold(): one for item in here for one in item.findable.names}
        roles = {name: role for item in here for name, role in roles_in(item.findable.facts).items()}
        meant |= {(scope, name): entity for name, entity in _meant(named.values(), roles, scope, tools)}
    return [_resolved(item, meant) for item in prepared]


def _namesakes_apart(item: PreparedDraft, tools: Tools) -> PreparedDraft:
    """My boss Tom is not my brother Tom: whoever comes later is known as "Tom (boss)"."""
    for name, role in roles_in(item.findable.facts).items():
        known = _known_roles(frozenset({name}), item.memory.scope, tools)
        if known and not may_be_one(role, known):
            item = _renamed(item, name, role)
    return item


def _known_roles(names: frozenset[str], scope: Scope, tools: Tools) -> frozenset[str]:
    view = View(Access(scope, Role.AGENT), Filters())
    told = tools.store.facts.told(FactQuery(objects=names), view, CANDIDATES)
    return frozenset(role for one in told for role in roles_in((one.fact,)).values())


def _renamed(item: PreparedDraft, name: str, role: str) -> PreparedDraft:
    def shown(one: str) -> str:
        return f"{one} ({role})" if plain_name(one).casefold() == name else one

    facts = tuple(
        replace(fact, subject=shown(fact.subject), object=shown(fact.object)) for fact in item.findable.facts
    )
    names = tuple(replace(one, name=shown(one.name)) for one in item.findable.names)
    memory = replace(item.memory, entities=tuple(map(shown, item.memory.entities)))
    return replace(item, memory=memory, findable=replace(item.findable, facts=facts, names=names))


def _meant(
    named: Iterable[Named], roles: Mapping[str, str], scope: Scope, tools: Tools
) -> Iterable[tuple[str, str]]:
    """Names that are new and mean an entity that is known under another name."""
    names = {one.name.casefold(): one for one in named}
    if not names:
        return
    access = Access(scope, Role.AGENT)
    entities = tools.store.entities
    known = entities.known(names, scope.namespace)
    new = {name: one for name, one in names.items() if name not in known}
    alike = entities.like_each([one.name for one in new.values()], access, CANDIDATES) if new else []
    for (name, one), candidates in zip(new.items(), alike, strict=True):
        found = resolve(one, candidates)
        if found is None:
            continue
        role = roles.get(plain_name(name), "")
        theirs = _known_roles(frozenset(found.aliases), scope, tools) if role else frozenset()
        if not theirs or may_be_one(role, theirs):
            yield name, found.name


def _resolved(item: PreparedDraft, meant: dict[tuple[Scope, str], str]) -> PreparedDraft:
    scope = item.memory.scope
    if not any((scope, name.name.casefold()) in meant for name in item.findable.names):
        return item
    names = tuple(
        replace(name, canonical=meant.get((scope, name.name.casefold()), "")) for name in item.findable.names
    )
    return replace(item, findable=replace(item.findable, names=names))


# ---------------------------------------------------------------- connect
# Connecting: a new memory comes in; edges to what it is like, speaks of and goes on from are drawn.
#
# The work for each memory is bounded and never goes over pairs: a few nearest ones, which are known
# already, the latest mentions of a few names, and the ends of its facts. One edge leads to each, of the
# most telling type.


CONFIDENCE = 0.7
"""How sure an edge is that nobody drew: it has to prove itself, or it fades."""


def connect(
    unit: Unit, item: PreparedDraft, memory: Memory, near: Sequence[tuple[Memory, float]], tools: Tools
) -> None:
    """Draw the edges of a memory that was just stored; `near` are its nearest ones with their cosines."""
    if tools.config.capture.links == "off":
        return
    edges: dict[str, Edge] = {}
    for target, kind, weight in (
        *_similar(near, SIMILAR_LINKS),
        *_hanging_together(unit, item, FACT_LINKS),
        *_same_names(unit, item),
    ):
        if target != memory.id:
            edges.setdefault(target, Edge(memory.id, target, kind, weight, CONFIDENCE))
    if edges:
        unit.add_edges(list(edges.values()), LINKS_MOST)


Drawn = tuple[str, EdgeType, float]


def _similar(near: Sequence[tuple[Memory, float]], most: int) -> Iterator[Drawn]:
    nearest = sorted(near, key=lambda pair: -pair[1])[:most]
    return ((memory.id, EdgeType.SIMILAR_TO, min(1.0, cosine)) for memory, cosine in nearest)


def _hanging_together(unit: Unit, item: PreparedDraft, most: int) -> Iterator[Drawn]:
    left = most
    for fact in item.findable.facts:
        if left <= 0 or item.memory.speaker:
            return
        # Nothing ends with the user of whom everything else is told.
        found = unit.hanging_on(fact, item.memory.scope, left) if fact.object != USER else []
        left -= len(found)
        yield from ((target, EdgeType.RELATED_TO, 1.0) for target in found)


def _same_names(unit: Unit, item: PreparedDraft) -> Iterator[Drawn]:
    if not LINKS_A_NAME or item.memory.speaker:
        return
    for named in item.findable.names[:NAMES_LINKED]:
        # The new memory has the name too, unless it means another: one more than wanted is looked for.
        name, least = (named.canonical, 1) if named.canonical else (named.name, 2)
        count, latest = unit.naming(name, item.memory.scope, LINKS_A_NAME + 1, COMMON_NAME, least)
        others = [target for target in latest if target != item.memory.id][:LINKS_A_NAME]
        yield from ((target, EdgeType.SAME_ENTITY, _telling(count)) for target in others)


def _telling(count: int) -> float:
    """What a name that so many memories have says: all when it is rare, little when it is everywhere.

    >>> [round(_telling(count), 2) for count in (1, 2, 16, 200)]
    [1.0, 0.67, 0.33, 0.21]
    """
    return 1.0 / (1.0 + log2(max(1, count)) / 2)
