"""Changing: a memory and what should be different about it come in; the memory as it is now goes out.

Each change happens inside the writer on the memory as it is there: two callers cannot overwrite each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from engram.errors import EmbedderError, NotFound, UnknownValue
from engram.model.event import Verb
from engram.model.maintenance import Judgement
from engram.model.memory import (
    ANY_STATUS,
    SUSPICION,
    UNSEALED,
    Kind,
    Lifecycle,
    Memory,
    Policy,
    Priority,
    Status,
    Tier,
    Type,
    Verification,
)
from engram.model.plain import member, moment
from engram.model.scope import Access
from engram.ports import Embedded, Tools, Unit, View
from engram.rules import screen
from engram.rules.archival import check_transition
from engram.rules.enrich import findable, said_at, spoken_of, without_words
from engram.rules.injection import SIGNS, marked, released
from engram.rules.sealing import (
    ALL,
    KEY,
    fingerprint,
    opened,
    opened_turn,
    sealed_turn,
    turned,
    without_secrets,
)
from engram.rules.sensitivity import at_least, tier_of
from engram.text import names, words
from engram.text.forms import FormsOnDemand, key_text
from engram.text.names import FoundName

_AXES = {"kind": Kind, "type": Type, "priority": Priority, "policy": Policy, "tier": Tier}
_TIMES = ("event_time", "valid_from", "valid_to", "expires_at")
_SHARES = ("importance", "confidence")
CHANGEABLE = ("content", "category", "tags", "details", *_AXES, *_SHARES, *_TIMES)
"""What `update` may change; the rest has verbs of its own."""

_STANDING = {"status": Status, "verification": Verification}
SLICE = 200
"""Memories that are sealed between two looks for more."""
SEALED, OPENED = "sealed", "the vault was taken away"
YES = "yes, 2"
"""The judgement that everything is sealed that is sensitive, and by which rules it was told."""
STATUS_VERBS = {Status.ARCHIVED: Verb.ARCHIVED, Status.ACTIVE: Verb.RESTORED}


def update(memory_id: str, changes: Mapping[str, Any], tools: Tools, actor: str, because: str) -> Memory:
    """Change fields of a memory as a new version of it. Nothing to change changes nothing."""
    return _rewrite(memory_id, {f: _clean(f, value) for f, value in changes.items()}, tools, actor, because)


def revise(memory_id: str, changes: Mapping[str, Any], tools: Tools, actor: str, because: str) -> Memory:
    """As `update`, and what a person says of a memory's standing in the same breath.

    That is `status`, `verification`, `verified_at` and `pinned`, as a page of the workspace tells them.
    """
    clean: dict[str, Any] = {}
    for field, value in changes.items():
        if field in _STANDING:
            clean[field] = member(field, _STANDING[field], value)
        elif field == "verified_at":
            clean[field] = moment(field, value)
        elif field == "pinned":
            clean[field] = bool(value)
        else:
            clean[field] = _clean(field, value)
    return _rewrite(memory_id, clean, tools, actor, because)


def _rewrite(memory_id: str, clean: Mapping[str, Any], tools: Tools, actor: str, because: str) -> Memory:
    before = _read(memory_id, tools)
    vectors: list[Embedded] = []
    if before is not None:
        new, _, secret = _become(before, clean, tools)
        if (new.content, new.sealed) != (before.content, before.sealed):
            vectors = _embed(new, secret, tools)

    def work(unit: Unit) -> Memory:
        old = memory_in(unit, memory_id)
        new, found, _ = _become(old, clean, tools)
        if new == old:
            return old
        if new.status is not old.status:
            check_transition(old.status, new.status)
        new = replace(new, version=old.version + 1, modified_at=tools.clock.now())
        only = STATUS_VERBS.get(new.status, Verb.STATUS_CHANGED) if set(clean) == {"status"} else Verb.UPDATED
        unit.change(new, only, because or "edited", findable=findable(new, found))
        if (new.content, new.sealed) != (old.content, old.sealed):
            for vector in vectors:
                unit.embed(new.id, vector)
        if new.sealed and not old.sealed and tools.keys is not None:
            unit.seal_turns(new.id, partial(sealed_turn, keys=tools.keys, least=new.tier))
        return new

    changed = tools.store.write(work, actor, before.scope.namespace if before else "")
    if changed.sealed and before is not None and not before.sealed:
        tools.store.leave_nothing()  # of words that were in clear until now
    return changed


def _become(old: Memory, clean: Mapping[str, Any], tools: Tools) -> tuple[Memory, Sequence[FoundName], str]:
    """The memory after a change, the names in it, and its words if none of them may be found."""
    return _kept(_with(opened(old, tools.keys), clean), tools)


def _kept(new: Memory, tools: Tools) -> tuple[Memory, Sequence[FoundName], str]:
    found = names.entities(new.content)
    if tools.keys is None:
        return new, found, ""
    return without_words(replace(new, sealed=UNSEALED), found, tools.keys)


def _read(memory_id: str, tools: Tools) -> Memory | None:
    keys = tools.store.memories.keys([memory_id])
    return next(iter(tools.store.memories.read(list(keys.values())).values()), None)


def _namespace(memory_id: str, tools: Tools) -> str:
    memory = _read(memory_id, tools)
    return memory.scope.namespace if memory else ""


def seal_everything(tools: Tools, actor: str) -> int:
    """Seal what came before there was a key, or before rules told it; how many memories and turns.

    Once done it is not done again, until rules tell more.
    """
    keys, store = tools.keys, tools.store
    done = store.upkeep.judged(SEALED, [ALL]).get(ALL)
    if keys is None or (done is not None and done.verdict == YES):
        return 0
    now = tools.clock.now()
    store.write(lambda unit: unit.upkeep.judge(Judgement(KEY, ALL, fingerprint(keys), now)), actor)
    count = store.write(lambda unit: unit.seal_turns("", partial(sealed_turn, keys=keys)), actor)
    told = [one.id for one in store.memories.every(View(Access.everything(), ANY_STATUS)) if _tells(one)]
    for memory_id in told:
        update(memory_id, {"tier": Tier.CLEAR}, tools, actor, SEALED)
    count += len(told)
    for tier in (Tier.SENSITIVE, Tier.CONFIDENTIAL):
        while found := store.memories.unsealed(tier, SLICE):
            for memory in found:
                update(memory.id, {"tier": tier}, tools, actor, SEALED)
            count += len(found)
    if count:
        store.vacuum()
    store.write(lambda unit: unit.upkeep.judge(Judgement(SEALED, ALL, YES, now)), actor)
    return count


def _tells(memory: Memory) -> bool:
    """Whether something sensitive lies in clear in a memory that was not told to be."""
    return memory.tier is Tier.CLEAR and (
        tier_of(memory.content) is not Tier.CLEAR or without_secrets(memory) is not memory
    )


def open_everything(tools: Tools, actor: str) -> int:
    """Put back into clear what was sealed: the key is to go. How many memories."""
    keys, store, count = tools.keys, tools.store, 0
    if keys is None:
        return 0
    in_clear = replace(tools, keys=None)
    while found := store.memories.sealed(SLICE):
        for memory in found:
            clear = replace(opened(memory, keys), sealed=UNSEALED)
            words_of = _with(replace(clear, content=""), {"content": clear.content})
            _put_in_clear(replace(words_of, tier=memory.tier), in_clear, actor)
        count += len(found)

    def work(unit: Unit) -> None:
        unit.seal_turns("", partial(opened_turn, keys=keys), back=True)
        for kind in (KEY, SEALED):
            unit.upkeep.judge(Judgement(kind, ALL, "", tools.clock.now()))

    store.write(work, actor)
    return count


def _put_in_clear(memory: Memory, tools: Tools, actor: str) -> None:
    vectors = _embed(memory, "", tools)

    def work(unit: Unit) -> None:
        unit.change(memory, Verb.UPDATED, OPENED, findable=findable(memory))
        for vector in vectors:
            unit.embed(memory.id, vector)

    tools.store.write(work, actor)


def set_status(memory_id: str, status: Status, tools: Tools, actor: str, because: str) -> Memory:
    """Move a memory to another status; the ledger keeps old, new, reason, time and actor."""

    def change(old: Memory) -> Memory:
        if old.status is not status:
            check_transition(old.status, status)
        new = replace(old, status=status, valid_to=None if status is Status.ACTIVE else old.valid_to)
        return released(new) if old.status is Status.QUARANTINED and status is Status.ACTIVE else new

    verb = STATUS_VERBS.get(status, Verb.STATUS_CHANGED)
    return alter(memory_id, change, verb, tools, actor, because)


def pin(memory_id: str, *, pinned: bool, tools: Tools, actor: str) -> Memory:
    """Make a memory immune to forgetting, or let it go again."""
    verb = Verb.PINNED if pinned else Verb.UNPINNED
    return alter(memory_id, lambda old: replace(old, pinned=pinned), verb, tools, actor, "")


def confirm(memory_id: str, tools: Tools, actor: str, because: str) -> Memory:
    """A person vouches for it: it is verified now, and no longer expires as a mere guess."""
    now = tools.clock.now()

    def change(old: Memory) -> Memory:
        return replace(
            old,
            verification=Verification.USER_CONFIRMED,
            lifecycle=Lifecycle.VALIDATED,
            confidence=max(old.confidence, 0.95),
            expires_at=None,
            verified_at=now,
            usage=replace(old.usage, confirmed=old.usage.confirmed + 1),
        )

    return alter(memory_id, change, Verb.CONFIRMED, tools, actor, because)


def opine(memory_id: str, *, helpful: bool, query: str, tools: Tools, actor: str, because: str) -> Memory:
    """Keep whether a memory helped, and with which question: "not helpful" counts for like questions only."""
    question = _embed_query(query, tools) if query else None

    def work(unit: Unit) -> Memory:
        memory_in(unit, memory_id)
        unit.add_feedback(memory_id, helpful=helpful, question=question, because=because)
        return memory_in(unit, memory_id)

    return tools.store.write(work, actor, _namespace(memory_id, tools))


def alter(
    memory_id: str, change: Callable[[Memory], Memory], verb: Verb, tools: Tools, actor: str, because: str
) -> Memory:
    """Let a memory become what `change` makes of it, as a new version. Raises NotFound and what it raises."""

    def work(unit: Unit) -> Memory:
        old = memory_in(unit, memory_id)
        known = opened(old, tools.keys)
        is_shut = known is old and bool(old.sealed)  # damaged: what is left of it stays as it is
        new = change(old) if is_shut else _kept(change(known), tools)[0]
        if new == old:
            return old
        new = replace(new, version=old.version + 1, modified_at=tools.clock.now())
        believed = old.status is Status.QUARANTINED and new.status is Status.ACTIVE
        found = findable(new) if believed else None
        unit.change(new, verb, because, findable=found)
        return new

    return tools.store.write(work, actor, _namespace(memory_id, tools))


def memory_in(unit: Unit, memory_id: str) -> Memory:
    """A memory as it is inside the writer. Raises NotFound."""
    memory = unit.get(memory_id)
    if memory is None:
        raise NotFound(memory_id)
    return memory


def _clean(field: str, value: Any) -> Any:
    if field not in CHANGEABLE:
        raise UnknownValue("field that can be updated", field, CHANGEABLE)
    if field in _AXES:
        return member(field, _AXES[field], value)
    if field in _TIMES:
        return None if value is None else moment(field, value)
    if field in _SHARES:
        screen.share(field, value)
        return value
    checks: dict[str, Callable[[Any], Any]] = {
        "content": screen.content,
        "category": screen.category,
        "tags": screen.tags,
        "details": screen.details,
    }
    return checks[field](value)


def _with(old: Memory, clean: Mapping[str, Any]) -> Memory:
    new = replace(old, **clean)
    if new.content != old.content:
        found = names.entities(new.content)
        new = replace(
            new,
            content_hash=words.content_hash(new.content),
            forms=FormsOnDemand(new.content),
            entities=tuple(dict.fromkeys(entity.name for entity in found)),
            metadata=spoken_of(new.content, said_at(old), found),
        )
        new = marked(new)
    else:
        noted = {name: old.details[name] for name in (SUSPICION, SIGNS) if name in old.details}
        told = {name: value for name, value in new.details.items() if name not in (SUSPICION, SIGNS)}
        new = replace(new, details={**told, **noted})
    return replace(new, tier=at_least(new.tier, tier_of(new.content)))


def _embed(memory: Memory, secret: str, tools: Tools) -> list[Embedded]:
    """The vectors of what a memory says now: of what is left, and of what no word is left of."""
    texts = [key_text(memory.content, memory.told_by, memory.after), *filter(None, [secret])]
    try:
        space, rows = tools.embedder.embed(texts)
    except EmbedderError:
        return []
    made = [Embedded(space, row) for row in rows]
    return made if tools.keys is None else [*made[:1], *(turned(one, tools.keys) for one in made[1:])]


def _embed_query(query: str, tools: Tools) -> Embedded | None:
    try:
        return Embedded(*tools.embedder.embed_query(query))
    except EmbedderError:
        return None
