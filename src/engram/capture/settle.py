"""Settling: a verdict about one statement becomes rows, edges and events, and a receipt.

The receipt tells the reason in the statement's own words. The ledger cannot be rewritten and words may have
to be erased, so its events name the rule only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engram.model.capture import Outcome, Receipt
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType, Fact
from engram.model.memory import TAG_LIMIT, Memory, Policy, Status
from engram.model.plain import plain
from engram.ports import Unit
from engram.rules.enrich import PreparedDraft
from engram.rules.sameness import Challenge, Merge, New, Reinforce, Supersede, Verdict
from engram.rules.traits import is_overheard, is_reference

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
