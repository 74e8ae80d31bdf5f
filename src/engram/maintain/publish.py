"""Publishing: what was decided is delivered and summed up, and the file is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from operator import attrgetter
from typing import Final

from engram.maintain.pairs import last_look, mark_looked
from engram.maintain.step import (
    ACTIVE,
    Add,
    Batch,
    Decision,
    Deliver,
    Draw,
    Drop,
    Effect,
    GoOnFrom,
    Judge,
    Keep,
    MemoryChange,
    Step,
    StepContext,
    becomes,
)
from engram.maintain.support import (
    RecentChanges,
    changed_memories,
    changes_since,
    keep_sketch,
    mark_decisions,
)
from engram.model.capture import Draft
from engram.model.event import Delivery, Publication, Subscription, Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Judgement
from engram.model.memory import ANY_STATUS, Filters, Layer, Memory, Status, Tier
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.rules.maintenance import DeliveryOrder, inherited, joined, order, prevails, seen, wants

CHECK_DAYS = 1.0  # days between two looks at the soundness of the file, by maintenance (ledger)
WHOLE_CHECK_DAYS = 7.0  # days between two that leave nothing out
CORE_LINES = 12  # statements that the summary of the core is made of

# ---------------------------------------------------------------- checking
# Checking: the file is checked once a day; what can be rebuilt is repaired, what cannot is reported.

NAME: Final = "integrity"
CHECK: Final = "check"
"""The kind of judgement that says when the file was looked at."""
FILE, WHOLE = "file", "all of the file"


def plan_store_check(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Look at pages, references, text index and counters; only what is wrong is touched."""
    store = context.tools.store
    checks = store.upkeep.judged(CHECK, [FILE, WHOLE])
    rests = {name for name, mark in checks.items() if mark.again_at and mark.again_at > context.now}
    if cursor or FILE in rests:
        return
    wrong = [finding for finding in store.check(quick=WHOLE in rests) if not finding.ok]
    mended = [finding for finding in store.check(repair=True) if finding.mended] if wrong else []
    names = {finding.name for finding in mended}
    verdict = "wrong" if wrong else "sound"
    decisions = [Decision("file.mended", f"{each.name}: {each.mended:,} put right", ()) for each in mended]
    decisions += [
        Decision("file.damaged", f"{finding.name}: `engram doctor` says what to do", ())
        for finding in wrong
        if finding.name not in names
    ]
    next_looks = {FILE: CHECK_DAYS} if WHOLE in rests else {FILE: CHECK_DAYS, WHOLE: WHOLE_CHECK_DAYS}
    marks = tuple(
        Judge(Judgement(CHECK, name, verdict, context.now, context.now + timedelta(days=days)))
        for name, days in next_looks.items()
    )
    yield Batch((*decisions, Decision("file.checked", "", marks, quiet=True)), "done")


# ---------------------------------------------------------------- delivering
# Delivering: publications come in; each subscriber gets copies of what it wants, as many as it takes.
#
# A copy belongs to its receiver, is believed a little less than the original, and says where it comes from.
# A later version of the original changes the copy. A copy that its receiver has changed as well stays
# beside it, the surer or later of the two in force, and the pair is shown among the conflicts: nothing is
# lost.

LOOKED_AT: Final = 1_000
"""Publications that one subscriber is shown in one delivery."""
EVERYTHING: Final = Access.everything()


def plan_deliveries(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Serve each subscription, in the order in which they were made."""
    for subscription in context.tools.store.bus.subscriptions():
        if f"{subscription.made_at.isoformat()} {subscription.id}" > cursor:
            decisions = tuple(_serve(context, subscription))
            if decisions:
                yield Batch(decisions, f"{subscription.made_at.isoformat()} {subscription.id}")


def _serve(context: StepContext, subscription: Subscription) -> Iterator[Decision]:
    offers = context.tools.store.bus.publications(subscription.place, LOOKED_AT)
    wanted = [offer for offer in offers if wants(subscription, offer)]
    taken = wanted[: subscription.rate]
    copies = context.tools.store.bus.delivered([offer.memory for offer in taken], subscription.scope)
    for offer in taken:
        original = context.tools.store.memories.get(offer.memory, EVERYTHING)
        if original is not None and original.status is Status.ACTIVE and original.tier is Tier.CLEAR:
            yield from _deliver(context, subscription, offer, original, copies.get(offer.memory))
    shown = taken if len(wanted) > subscription.rate else offers
    upto = shown[-1].number if shown else subscription.place
    if upto != subscription.place:
        yield Decision("bus.place", "", (GoOnFrom(replace(subscription, place=upto)),), quiet=True)


def _deliver(
    context: StepContext, wish: Subscription, offer: Publication, original: Memory, former: Delivery | None
) -> Iterator[Decision]:
    copy = context.tools.store.memories.get(former.memory, EVERYTHING) if former is not None else None
    if former is None or copy is None:
        add, note = _copied(context, wish, offer, original)
        why = f"importance {original.importance:.2f}"
        yield Decision("bus.deliver", why, (add, note), add.memory.id, original.id)
        return
    mine = seen(former, copy, wish.agent)
    match order(offer.clock, mine):
        case DeliveryOrder.NEWER:
            yield _later(wish, offer, original, (former, copy))
        case DeliveryOrder.CONCURRENT:
            yield _beside(context, wish, offer, original, copy)
        case _:
            return


def _copied(
    context: StepContext, subscription: Subscription, offer: Publication, original: Memory
) -> tuple[Add, Deliver]:
    """A memory of the receiver's own, and the note of what it is a copy of."""
    draft = Draft(
        original.content,
        scope=subscription.scope,
        category=original.category,
        kind=original.kind,
        type=original.type,
        tags=original.tags,
        importance=original.importance,
        layer=Layer.BUFFER,
        event_time=original.event_time,
        source=f"bus:{offer.agent}",
    )
    add = context.new(draft, "bus.deliver", offer.id, subscription.id)
    trust, confidence = inherited(original.trust, original.confidence)
    memory = replace(add.memory, trust=trust, confidence=confidence)
    delivery = Delivery(memory.id, original.id, offer.id, subscription.id, dict(offer.clock), memory.version)
    return replace(add, memory=memory), Deliver(delivery)


def _later(
    subscription: Subscription, offer: Publication, original: Memory, held: tuple[Delivery, Memory]
) -> Decision:
    """The original was changed, the copy was not: the copy follows; its former words stay in its history."""
    former, copy = held
    change = becomes(copy, Verb.UPDATED, content=original.content, tags=original.tags)
    delivery = Delivery(
        copy.id, original.id, offer.id, subscription.id, joined(former.clock, offer.clock), copy.version + 1
    )
    return Decision("bus.update", "a later version came", (change, Deliver(delivery)), copy.id, original.id)


def _beside(
    context: StepContext, subscription: Subscription, offer: Publication, original: Memory, copy: Memory
) -> Decision:
    """Both were changed: both stay, one of them in doubt."""
    add, note = _copied(context, subscription, offer, original)
    theirs = add.memory
    stands = prevails(copy, theirs)
    doubted: tuple[Effect, ...]
    if stands:
        doubted = (replace(add, memory=replace(theirs, status=Status.CHALLENGED)),)
    else:
        doubted = (add, MemoryChange(copy, replace(copy, status=Status.CHALLENGED), Verb.STATUS_CHANGED))
    source, target = (copy.id, theirs.id) if stands else (theirs.id, copy.id)
    edge = Draw(Edge(source, target, EdgeType.CONTRADICTS))
    why = f"both were changed; the {'own' if stands else 'received'} one stands"
    return Decision("bus.conflict", why, (*doubted, edge, note), theirs.id, copy.id)


# ---------------------------------------------------------------- summing
# The core summed up: what has proved itself comes in, place by place; a few lines for it come out.

SUMMING_NAME: Final = "core summary"
KIND: Final = "core"
KEY: Final = "core"
DONE: Final = "done"
CORE = Filters(statuses=ACTIVE, layers=frozenset({Layer.CORE}), tiers=frozenset({Tier.CLEAR}))
SAMPLE: Final = 500
"""Memories of a core that are weighed, the newest."""
WORDS: Final = 120
"""Words of a summary that a model writes."""


def plan_core_summaries(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Sum up the core of every place in which something changed; of all when something was erased."""
    if cursor == DONE:
        return
    news = changes_since(context, SUMMING_NAME)
    places = _places(context, news)
    for scope in places:
        effects = tuple(_summed(context, scope))
        if effects:
            count = sum(len(effect.sketch.sources) for effect in effects if isinstance(effect, Keep))
            yield Batch((Decision("core.summed", f"{count} statements of the core", effects),))
    if places:
        yield Batch((mark_looked(context, SUMMING_NAME), *mark_decisions(context, SUMMING_NAME, news)), DONE)


def _places(context: StepContext, news: RecentChanges) -> list[Scope]:
    """Where memories came, went or moved: that a memory moves to the core is no news to other steps."""
    upkeep = context.tools.store.upkeep
    last, _ = last_look(context, SUMMING_NAME)
    if news.whole or news.gone or last is None:
        scopes = set(upkeep.scopes())
    else:
        moved = context.memories(replace(ANY_STATUS, modified_since=last))
        came = changed_memories(context, news, ANY_STATUS)  # an import has old times
        scopes = {memory.scope for part in chain(moved, came) for _, memory in part}
    return sorted(scopes, key=lambda scope: scope.parts)


def _summed(context: StepContext, scope: Scope) -> Sequence[Effect]:
    view = View(Access(scope, Role.AGENT), CORE)
    page = context.tools.store.memories.page(view, SAMPLE)
    here = [memory for memory in page if memory.scope == scope and not memory.speaker]
    weight = attrgetter("pinned", "importance", "usage.accessed", "happened_at")
    best = sorted(here, key=weight, reverse=True)[:CORE_LINES]
    old = context.tools.store.upkeep.sketch(scope, KIND, KEY)
    if not best:
        return () if old is None else (Drop(scope, KIND, KEY),)
    lines = list(dict.fromkeys(memory.forms.key_fact or memory.content for memory in best))
    same = old is not None and old.body["lines"] == lines
    text = old.body["text"] if old is not None and same else _text(context, lines)
    body = {"text": text, "lines": lines, "memories": len(here)}
    return keep_sketch(context, scope, KIND, KEY, body, sources=[memory.id for memory in best])


def _text(context: StepContext, lines: Sequence[str]) -> str:
    """A paragraph: a model's where one is always asked, else the statements themselves."""
    written = (
        context.tools.advisor.summarize(lines, WORDS) if context.tools.config.llm.level == "full" else None
    )
    return written or " ".join(line if line.endswith((".", "!", "?", "。")) else f"{line}." for line in lines)


STAGE = "publish"
STEPS: tuple[Step, ...] = (
    Step(STAGE, "bus", plan_deliveries),
    Step(STAGE, SUMMING_NAME, plan_core_summaries),
    Step(STAGE, NAME, plan_store_check),
)
