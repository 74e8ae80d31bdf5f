"""Enrichment: a screened draft comes in, a memory with all its axes and what it is found by comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from engram.lazily import dataclass, replace
from engram.model.capture import Draft
from engram.model.clock import check_cancelled, here, written_moment
from engram.model.facts import Named
from engram.model.memory import (
    UTC_OFFSET,
    Kind,
    Layer,
    Memory,
    Policy,
    Priority,
    Status,
    Suspicion,
    Type,
    Verification,
    trust_of,
)
from engram.ports import Embedded, Findable, KeyRing, Tools
from engram.rules.importance import affect, confidence_of, standing_of
from engram.rules.injection import marked_all
from engram.rules.sameness import NewStatement, moved, surprise
from engram.rules.sealing import is_found_by_meaning, sealed
from engram.rules.sensitivity import at_least, tier_of, without_values
from engram.rules.traits import REFERENCE, by_layers, is_overheard, is_reference
from engram.text import facts, feelings, kinds, metadata, names, words
from engram.text.cues import slots_told, things_named
from engram.text.dates import dates, happening
from engram.text.forms import FormsOnDemand
from engram.text.names import FoundName
from engram.text.reading import SHORT

COMPARED = 5  # how many near memories a new one is compared with (retention)
NOT_BELIEVED = frozenset({Status.SAID, Status.QUARANTINED})
"""What is kept and no part of what is known."""
SURPRISE_GAIN = 0.3  # how much a novel memory gains in importance at most (retention)


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A memory ready to be written, and what the decision about it needs."""

    memory: Memory
    findable: Findable
    statement: NewStatement
    vector: Embedded | None = None
    hidden_vector: Embedded | None = None
    """Of what no word is left: what it says, turned so that it tells nothing."""
    secret: str = field(default="", repr=False)
    """The words around what is secret, where only their meaning may be found."""
    weighed: bool = False
    """Whether the caller gave the importance."""
    apart: bool = False
    """Whether it is stored without a look at what is known."""


AT_ONCE = 128
"""Drafts that are read together: fewer than the texts whose reading is kept."""


def prepare(draft: Draft, tools: Tools, *, foreign: bool = False) -> PreparedDraft:
    """Everything that can be known about a draft from its own words; of a `foreign` one not who said it."""
    return prepare_all([draft], tools, foreign=foreign)[0]


def prepare_all(drafts: Sequence[Draft], tools: Tools, *, foreign: bool = False) -> list[PreparedDraft]:
    """The same of many, in order.

    One question after the other is asked of some of them: the rules and lists of one question fit into a
    processor's cache, those of all questions do not, and would be fetched anew for every text.
    """
    prepared: list[PreparedDraft] = []
    for start in range(0, len(drafts), AT_ONCE):
        some = drafts[start : start + AT_ONCE]
        check_cancelled()
        short = [draft for draft in some if len(draft.content) <= SHORT]
        for read in (names.entities, feelings.tone, metadata.language):
            for draft in short:
                read(draft.content)
        classes = [_classes(draft) for draft in some]
        times = [_times(draft, kind, tools) for draft, (_, kind, _) in zip(some, classes, strict=True)]
        for draft, when in zip(some, times, strict=True):
            if len(draft.content) <= SHORT:
                dates(draft.content, when.said)
        memories = [_enriched(*about, tools) for about in zip(some, classes, times, strict=True)]
        memories = marked_all(memories, foreign=foreign)
        telling = [memory for memory in memories if len(memory.content) <= SHORT and _states_facts(memory)]
        for one in telling:
            facts.stated(one.content, one.details, one.speaker, one.heard_at)
        for one in telling:
            if not one.speaker:
                slots_told(one.content)
        prepared += [_prepared(*about, tools) for about in zip(some, memories, strict=True)]
    return prepared


def _states_facts(memory: Memory) -> bool:
    """Whether what it says is taken for facts: neither a document's words nor what is not believed are."""
    return not is_reference(memory) and memory.status not in NOT_BELIEVED


class _Times(NamedTuple):
    """When a draft came in, when it was said and when what it tells happened, on the clocks there."""

    now: datetime
    said: datetime
    happened: datetime | None


def _times(draft: Draft, kind: str, tools: Tools) -> _Times:
    now, told, heard = tools.clock.now(), draft.event_time, written_moment(draft.details.get("heard_at"))
    said = here(heard or told or now, tools.zone)
    if told is None:
        return _Times(now, said, _happened(draft.content, kind, said))
    return _Times(now, said, said if heard is None else here(told, tools.zone))


_Classes = tuple[str, str, str]
"""Category, kind and type."""


def _classes(draft: Draft) -> _Classes:
    return kinds.classify(
        draft.content, tags=draft.tags, category=draft.category, kind=draft.kind, type=draft.type
    )


def _enriched(draft: Draft, classes: _Classes, times: _Times, tools: Tools) -> Memory:
    """The memory that a draft becomes."""
    category, kind, type_ = classes
    standing = standing_of(category)
    confidence = confidence_of(draft.source) if draft.confidence is None else draft.confidence
    # Where priorities have an age (preset `ledger`), who says P2 or P3 says that it may go in time.
    ages = {Priority.P2: tools.config.forgetting.p2_days, Priority.P3: tools.config.forgetting.p3_days}
    lesser = draft.priority is not None and ages.get(draft.priority, 0.0) > 0
    asked_for = draft.source == "human" and not draft.speaker and not lesser
    found: Sequence[FoundName] = names.entities(draft.content)
    moment = draft.event_time or times.happened
    of_a_document = category == REFERENCE or kind == Kind.CODEBASE
    return Memory(
        id=tools.new_id(),
        content=draft.content,
        content_hash=words.content_hash(draft.content),
        created_at=times.now,
        modified_at=times.now,
        scope=draft.scope,
        session=draft.session,
        speaker=draft.speaker,
        kind=Kind(kind),
        category=category,
        type=Type(type_),
        tags=draft.tags,
        entities=() if of_a_document else tuple(dict.fromkeys(entity.name for entity in found)),
        details=draft.details,
        metadata=spoken_of(draft.content, times.said, found, times.happened),
        status=Status.ACTIVE if draft.believed else Status.SAID,
        layer=draft.layer or (Layer.BUFFER if is_overheard(draft) else Layer.WORKING),
        verification=Verification.UNVERIFIED,
        policy=draft.policy or (Policy.PROTECTED if asked_for else standing.policy),
        priority=draft.priority or _priority(draft, standing.priority, tools),
        pinned=draft.pinned,
        importance=standing.importance if draft.importance is None else draft.importance,
        confidence=confidence,
        affect=affect(draft.content, outcome=str(draft.details.get("outcome", ""))),
        event_time=moment and moment.astimezone(UTC),
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        expires_at=draft.expires_at or _expiry(confidence, tools),
        source=draft.source,
        trust=trust_of(draft.source),
        tier=at_least(draft.tier, tier_of(draft.content)),
        forms=FormsOnDemand(draft.content),
    )


def _prepared(draft: Draft, memory: Memory, tools: Tools) -> PreparedDraft:
    """A memory as it is kept, with what it is found by and what it says."""
    found: Sequence[FoundName] = names.entities(draft.content)
    weighed = draft.importance is not None
    apart = draft.apart or memory.status in NOT_BELIEVED or memory.suspicion is not Suspicion.NONE
    secret = ""
    if tools.keys is not None:
        memory, found, secret = without_words(memory, found, tools.keys)
    statement = NewStatement(memory)
    return PreparedDraft(
        memory, findable(memory, found), statement, secret=secret, weighed=weighed, apart=apart
    )


def without_words(
    memory: Memory, found: Sequence[FoundName], keys: KeyRing
) -> tuple[Memory, Sequence[FoundName], str]:
    """A memory as it is kept under a key, the names left in it, and what it is about if no word is left."""
    kept = sealed(memory, keys)
    if not kept.sealed:
        return kept, found, ""
    if is_found_by_meaning(kept):
        return kept, (), without_values(memory.content)
    left = names.entities(kept.content)
    told = spoken_of(kept.content, said_at(memory), left)
    return (replace(kept, entities=tuple(dict.fromkeys(one.name for one in left)), metadata=told), left, "")


def _priority(draft: Draft, usual: Priority, tools: Tools) -> Priority:
    """What was overheard about somebody is no rule that must never be broken: only a constraint is.

    By the rules of *layers* no category keeps anything.
    """
    if by_layers(tools.config):
        return Priority.P2
    identity = usual is Priority.P0 and is_overheard(draft) and draft.category == "identity"
    return Priority.P1 if identity else usual


def findable(memory: Memory, found: Sequence[FoundName] | None = None) -> Findable:
    """The words, facts and names a memory is found by; an answer also by the question it answers.

    `found` are the names in its content, where they are known already. What a document states and names is
    found by its words alone: it is no fact of the user's life.
    """
    if is_found_by_meaning(memory):
        return Findable(())
    found = names.entities(memory.content) if found is None else found
    apart = is_reference(memory)
    when = memory.happened_at if memory.event_time else None
    told = names.cue_words(memory.content, speaker=memory.speaker or None, when=when)
    beside = (str(memory.details[name]) for name in _SAID_BESIDE if name in memory.details)
    more = (*told, *memory.tags, *filter(None, beside))
    terms = tuple(words.terms(memory.content))
    cues = tuple(dict.fromkeys([term for cue in more for term in words.terms(cue)]))
    if not (apart or memory.speaker or memory.status in NOT_BELIEVED):
        cues += (*slots_told(memory.content), *things_named(memory.content, terms))
    if memory.status in NOT_BELIEVED:
        named = found if memory.status is Status.SAID else ()
        return Findable(terms=terms, cues=cues, names=tuple(Named(one.name, one.type) for one in named))
    return Findable(
        terms=terms,
        cues=cues,
        facts=() if apart else facts.stated(memory.content, memory.details, memory.speaker, memory.heard_at),
        names=() if apart else tuple(Named(entity.name, entity.type) for entity in found),
    )


_SAID_BESIDE: Final = ("context", "said_by", "about", "after")


def spoken_of(
    content: str, when: datetime, found: Sequence[FoundName], happened: datetime | None = None
) -> dict[str, Any]:
    """What the words tell, to be filtered by; "tomorrow" is read as said at `when`, on the clocks there."""
    told = metadata.metadata(content, when, found)
    ahead = (happened or when).utcoffset()
    return told | {UTC_OFFSET: ahead // timedelta(minutes=1)} if ahead else told


def said_at(memory: Memory) -> datetime:
    """What "yesterday" in a memory counts from: the time it came with, or else when it was stored."""
    if "heard_at" in memory.details:
        return memory.local(memory.heard_at)
    stored = memory.local(memory.created_at)
    if memory.event_time is None or memory.event_time == _happened(memory.content, memory.kind, stored):
        return stored
    return memory.happened_at


def _happened(content: str, kind: str, now: datetime) -> datetime | None:
    """When an episode happened, if its words name one time in the past."""
    if kind != Kind.EPISODIC:
        return None
    when = happening(content, now)
    return None if when is None or when.first is None or when.first > now else when.first


def with_surprise(prepared: PreparedDraft, cosines: Sequence[float]) -> PreparedDraft:
    """The importance moved by how far the nearest memories lie: up for the novel, down for the well known.

    With fewer neighbours than are asked for there is nothing to be surprised about yet.
    """
    found = surprise(cosines, COMPARED)
    if found is None:
        return prepared
    memory = prepared.memory
    importance = memory.importance
    if not prepared.weighed:
        importance = moved(importance, found, SURPRISE_GAIN)
    return replace(prepared, memory=replace(memory, surprise=found, importance=importance))


def _expiry(confidence: float, tools: Tools) -> datetime | None:
    settings = tools.config.capture
    if confidence >= settings.speculative_below:
        return None
    return tools.clock.now() + timedelta(days=settings.speculative_days)
