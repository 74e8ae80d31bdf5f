"""Review: candidates for the core, waiting memories, near pairs and session notes are judged, once each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from engram.maintain import merge
from engram.maintain import pairs as maintain_pairs
from engram.maintain.pairs import NearPair, doubt_decision, supersede_decision
from engram.maintain.step import (
    ACTIVE,
    Batch,
    Decision,
    Draw,
    Effect,
    Judge,
    MemoryChange,
    Slice,
    Step,
    StepContext,
    becomes,
    grouped,
    is_fresh,
    sweep,
)
from engram.maintain.support import (
    GATE,
    LOOKED_AT,
    REFUSED,
    TRIAGE,
    Questions,
    Weighing,
    changed_memories,
    changes_since,
    judge,
    judgements_of,
    mark_batch,
    may_be_shown,
    model_level,
    questions,
)
from engram.model.capture import Draft
from engram.model.facts import Claim, Edge, EdgeType
from engram.model.knowledge import Chosen, Comparison, Reconciled
from engram.model.maintenance import Judgement
from engram.model.memory import TAG_LIMIT, Filters, Kind, Layer, Memory, Status, Tier
from engram.model.scope import Access, Scope
from engram.model.session import LoopState
from engram.ports import View
from engram.rules.commitments import (
    CATEGORY,
    CLOSED_TAG,
    details_of,
    is_kept_by,
    is_loop,
    promise_in,
    state_of,
    tags_of,
)
from engram.rules.joining import apart, stands
from engram.rules.promotion import FINAL, core_candidate, next_try
from engram.rules.review import gate_review, triage_due, triage_review
from engram.rules.sameness import SamenessLimits
from engram.rules.traits import SESSION_NOTES, by_layers
from engram.rules.vectors import thresholds
from engram.text.forms import key_fact
from engram.text.signals import Deed, done, ended_by, fulfils, promised

TRIAGE_MOST = 20  # memories of a namespace that triage asks a model about in a run (layers)
GATE_MOST = 50  # memories of a namespace that the gate asks a model about in a run
RECONCILE_HOURS = 1.0  # hours that two statements are apart before the later may replace the earlier (layers)
NOTES_LEAST = 3  # session notes that are distilled into one (layers)
NOTES_MOST = 10  # the newest of them that are looked at (layers)
NOTES_LENGTH = 250  # characters that they are distilled into at most (layers)

# ---------------------------------------------------------------- contradictions
# Contradictions: facts that cannot both be true come in; the later one replaces, or the pair is in doubt.

KIND: Final = "reconcile"
"""Remembered together with what is reconciled: a pair is judged once, whoever meets it first."""
MOST: Final = 1_000
"""Pairs that are looked at in one run."""
TOGETHER: Final = 100
"""Pairs that are decided in one piece."""
EVERYTHING: Final = View(Access.everything(), Filters())


def plan_contradictions(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Judge pairs of facts of which one object at a time can hold; each pair once."""
    pairs = _pairs(context)
    asked = questions(context, KIND)
    changed: frozenset[str] = frozenset()
    for start in range(0, len(pairs), TOGETHER):
        chunk = pairs[start : start + TOGETHER]
        judged = context.tools.store.upkeep.judged(KIND, [pair.key for _, pair in chunk])
        decisions: list[Decision] = []
        for mark, pair in chunk:
            if pair.key not in judged and changed.isdisjoint({pair.older.id, pair.newer.id}):
                decision = _decided(pair, asked, context)
                if decision is not None:
                    note = Judge(Judgement(FACTS, mark, "seen", context.now))
                    decisions.append(replace(decision, effects=(*decision.effects, note)))
                    changed |= decision.changes
        if decisions:
            yield Batch(tuple(decisions))


def _pairs(context: StepContext) -> list[tuple[str, NearPair]]:
    """What is in dispute and may be judged: no turns of a conversation, nothing this run has changed.

    Of a fact that several memories state one is in dispute; when that one is merged, another comes forward.
    What another run has judged at this very moment waits for the next.
    """
    disputed = [
        (_mark(newer, older), NearPair(older.memory, newer.memory, 0.0))
        for newer, older in context.tools.store.facts.disputed(EVERYTHING, MOST)
        if not any(claim.memory.speaker or is_fresh(claim.memory, context) for claim in (older, newer))
    ]
    judged = context.tools.store.upkeep.judged(FACTS, [mark for mark, _ in disputed])
    return [(mark, pair) for mark, pair in disputed if mark not in judged or judged[mark].at != context.now]


FACTS: Final = "reconciled facts"


def _mark(newer: Claim, older: Claim) -> str:
    """What stands for two facts that exclude each other, without their words."""
    scope, fact = newer.memory.scope, newer.fact
    key = "\n".join((str(scope), fact.subject, fact.predicate, *sorted((fact.object, older.fact.object))))
    return hashlib.blake2b(key.encode(), digest_size=12).hexdigest()


def _decided(pair: NearPair, questions: Questions, context: StepContext) -> Decision | None:
    """What becomes of a pair; None when it has to wait until a model may be asked again."""
    compared = maintain_pairs.compared_space(context)
    limits = maintain_pairs.sameness_limits(1.0, compared[1] if compared else thresholds(""))
    ruled = questions.compared.replaces(pair.older, pair.newer, None, limits)
    advised: Comparison | None = None
    if questions.level == "full" or not ruled:
        if questions.may_ask(pair.older, pair.newer):
            advised = context.tools.advisor.compare(pair.older.content, pair.newer.content)
        elif pair.older.id in questions.postponed:
            return None
    answer = advised or (Comparison.REPLACES if ruled else Comparison.CONTRADICTS)
    why = f"{'by rule' if advised is None else 'a model says'}: {answer.value}"
    if answer is Comparison.REPLACES:
        decision = supersede_decision(pair.older, pair.newer, "contradiction.replace", why)
    elif answer is Comparison.CONTRADICTS:
        decision = doubt_decision(pair.older, pair.newer, "contradiction.doubt", why)
    else:
        decision = Decision("contradiction.keep", why, (), pair.older.id, pair.newer.id, quiet=True)
    note = Judge(Judgement(KIND, pair.key, answer.value, context.now))
    return replace(decision, effects=(*decision.effects, note))


# ---------------------------------------------------------------- distilling
# Distilling: the notes of several sessions come in; one short memory of how things stand comes out.

DONE = "distilled"
MADE = ("project-status", "auto-distilled")
NOTES = Filters(tags_any=SESSION_NOTES, not_tags=frozenset({DONE, *MADE}))


def plan_session_notes(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Distil the notes of each scope that has several; they are marked, so that it happens once."""
    every = (note for part in context.memories(NOTES) for _, note in part)
    settled = ((note.scope, note) for note in every if not note.speaker and note.created_at < context.now)
    for notes in grouped(settled).values():
        if len(notes) >= NOTES_LEAST:
            yield Batch((_distilled(notes, context),))


def _distilled(notes: Sequence[Memory], context: StepContext) -> Decision:
    ordered = sorted(notes, key=lambda note: (note.happened_at, note.id))
    newest = ordered[-NOTES_MOST:]
    words, how = _words(newest, context)
    tier = max((note.tier for note in newest), key=tuple(Tier).index)
    draft = Draft(
        words,
        category="context",
        tags=MADE,
        source="engine",
        layer=Layer.WORKING,
        scope=newest[0].scope,
        tier=tier,
        event_time=newest[-1].happened_at,
    )
    add = context.new(draft, "distill", *(note.id for note in newest))
    drawn = tuple(Draw(Edge(add.memory.id, note.id, EdgeType.DERIVED_FROM)) for note in newest)
    marked = tuple(becomes(note, tags=(*note.tags[: TAG_LIMIT - 1], DONE)) for note in notes)
    why = f"{len(notes)} session notes, the newest {len(newest)} in {len(words)} characters, {how}"
    return Decision("distill", why, (add, *drawn, *marked), add.memory.id)


def _words(notes: Sequence[Memory], context: StepContext) -> tuple[str, str]:
    """A model's words for how things stand, or what the newest notes say themselves."""
    words = [note.content for note in notes]
    if model_level(context) != "off" and may_be_shown(*notes):
        distilled = context.tools.advisor.distill(words, NOTES_LENGTH)
        if distilled is not None:
            return distilled, "by a model"
    return extract(words, NOTES_LENGTH), "by rule"


def extract(notes: Sequence[str], longest: int) -> str:
    """What the notes say in one clause each, as many of the newest as there is room for, in their order.

    >>> extract(["The import is planned.", "The import works.", "The tests are open."], 40)
    'The import works. The tests are open.'
    """
    chosen: list[str] = []
    for note in reversed(notes):
        clause = key_fact(note).strip()
        if clause in chosen:
            continue
        if sum(map(len, (clause, *chosen))) + len(chosen) > longest:
            break
        chosen.insert(0, clause)
    return " ".join(chosen) or notes[-1][:longest].rstrip()


# ---------------------------------------------------------------- gate
# The gate: memories of the working layer that proved themselves come in; each is let into the core, or not.
#
# A refused one may ask again after a day, then after three days, then never again.


def plan_gate(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Weigh every candidate that may ask."""
    config = context.tools.config
    # Disuse only takes importance off: what has too little stored can be left out unread.
    working = Filters(layers=frozenset({Layer.WORKING}), min_importance=config.promotion.core_importance)
    weighing = Weighing(context.tools.advisor.gate, GATE_MOST, model_level(context), _with_use)

    def decide(part: Slice) -> Iterable[Decision]:
        candidates = [memory for _, memory in part if core_candidate(memory, context.now, config)]
        judgements = judgements_of(GATE, candidates, context)
        asking = [memory for memory in candidates if _may_ask(judgements.get(memory.id), context)]
        weighed = [(memory, gate_review(memory, config)) for memory in asking]
        for memory, yes, why in weighing.outcomes(weighed):
            last = judgements.get(memory.id)
            if yes:
                effects = (_risen(memory, Layer.CORE, yes), judge(GATE, memory, "approve", context.now))
                yield Decision("gate.approve", why, effects, memory.id)
            else:
                yield _rejected(memory, why, last, context)

    return sweep(context, cursor, working, decide)


OFTEN_USED, OFTEN_SAID = 30, 2
"""Uses, and repetitions, from which the gate is shown them (layers)."""


def _with_use(memory: Memory) -> str:
    """A memory's words, with the counts of its uses and repetitions where they are high."""
    used, repeated = memory.usage.accessed, memory.usage.repeated
    marks = [f"used {used} times"] * (used >= OFTEN_USED)
    marks += [f"said again {repeated} times"] * (repeated >= OFTEN_SAID)
    return f"{memory.content} ({', '.join(marks)})" if marks else memory.content


def _may_ask(last: Judgement | None, context: StepContext) -> bool:
    if last is None:
        return True
    return last.verdict.startswith("reject") and last.again_at is not None and last.again_at <= context.now


def _risen(memory: Memory, layer: Layer, yes: Chosen) -> MemoryChange:
    """The memory a layer up; what a model takes for a way to do something is kept as one."""
    return becomes(memory, layer=layer, kind=Kind.PROCEDURAL if yes is Chosen.PROCEDURE else memory.kind)


def _rejected(memory: Memory, why: str, last: Judgement | None, context: StepContext) -> Decision:
    times = last.times + 1 if last is not None else 1
    again = next_try(times, context.now)
    wait = "asks never again" if again is None else f"may ask again at {again:%Y-%m-%d %H:%M}"
    effect: Effect = judge(GATE, memory, "reject", context.now, again_at=again, times=times)
    if by_layers(context.tools.config):
        effect = _tagged(memory, next(tag for tag, count in REFUSED.items() if count == min(times, FINAL)))
    return Decision("gate.reject", f"{why}; rejection {times}, {wait}", (effect,), memory.id)


def _tagged(memory: Memory, mark: str) -> Effect:
    """The memory with a mark of a review in place of earlier ones of its kind."""
    over = REFUSED if mark in REFUSED else {mark: 1}
    tags = [tag for tag in memory.tags if tag not in over]
    return becomes(memory, tags=(*tags[: TAG_LIMIT - 1], mark))


# ---------------------------------------------------------------- keeping
# Keeping: what was said since the last time comes in; a promise that it certainly says was kept is closed.
#
# A statement that would fit two promises closes none.

STEP: Final = "commitments"
OPEN: Final = (
    Filters(statuses=ACTIVE, categories=frozenset({CATEGORY}), not_tags=frozenset({CLOSED_TAG})),
    Filters(statuses=ACTIVE, tags_any=frozenset({CATEGORY}), not_tags=frozenset({CLOSED_TAG})),
)
SPOKEN: Final = Filters(statuses=frozenset({Status.ACTIVE, Status.SAID}))
MOST_OPEN: Final = 10_000
"""Open promises that are looked at, the newest: nobody keeps a promise that is older than so many others."""


def plan_commitments(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Compare what is new with what is open, in each scope by itself."""
    news = changes_since(context, STEP)
    owed = _open_promises(context) if news.any else {}
    for part in changed_memories(context, news, SPOKEN) if news.any else ():
        statements = [memory for _, memory in part if not is_loop(memory) and memory.scope in owed]
        closed: dict[str, Decision] = {}
        for statement in statements:
            if (promise := _kept(statement, owed[statement.scope])) is not None:
                closed.setdefault(promise.id, _closed(promise, statement, context))
        if closed:
            yield Batch(tuple(closed.values()))
    yield from mark_batch(context, STEP, news)


class Owed:
    """The open promises of one scope, by what they promise."""

    def __init__(self) -> None:
        self._owed: list[tuple[Deed, Memory]] = []
        self.verbs: set[str] = set()

    def add(self, promise: Memory) -> None:
        """Know one more; what promises nothing plainly can not be seen to be kept."""
        deed = promised(promise_in(promise), promise.happened_at)
        if deed is not None:
            self._owed.append((deed, promise))
            self.verbs |= ended_by(deed)

    def of(self, deed: Deed) -> list[Memory]:
        """Those that promise just this."""
        return [promise for promised_deed, promise in self._owed if fulfils(deed, promised_deed)]


def _open_promises(context: StepContext) -> dict[Scope, Owed]:
    """What is open, scope by scope, up to a limit; the newest are the last to be left out."""
    owed: dict[Scope, Owed] = {}
    parts = (part for filters in OPEN for part in context.memories(filters))
    loops = (memory for part in parts for _, memory in part if is_loop(memory))
    promises = {loop.id: loop for loop in loops if state_of(loop).is_open}
    for promise in list(promises.values())[-MOST_OPEN:]:
        owed.setdefault(promise.scope, Owed()).add(promise)
    return owed


def _kept(statement: Memory, owed: Owed) -> Memory | None:
    """The one open promise of its scope that a statement says was kept; None when there is none, or two."""
    deed = done(statement.content, statement.happened_at, owed.verbs)
    promises = owed.of(deed) if deed is not None else ()
    kept = [promise for promise in promises if is_kept_by(promise, statement)]
    return kept[0] if len(kept) == 1 else None


def _closed(promise: Memory, statement: Memory, context: StepContext) -> Decision:
    because = (context.now, f"memory {statement.id} says so")
    details = details_of(LoopState.DONE, promise.details, closed=because)
    change = becomes(promise, details=details, tags=tags_of(LoopState.DONE, promise.tags))
    why = "a later statement of the same person says that it was done"
    return Decision("commitment.kept", why, (change,), promise.id, statement.id)


# ---------------------------------------------------------------- reconciling
# Reconciling: memories about the same thing come in; a later one may update or absorb an earlier one.

RECONCILING_STEP = "reconcile"
NEAREST = 3
"""What updates a memory is among the nearest that are not the same: only so many of each are looked at."""
LAYERS = frozenset({Layer.WORKING, Layer.CORE})
BUFFER = frozenset({Layer.BUFFER})
Outcome = tuple[Reconciled, str]


def plan_reconciliation(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Judge pairs that are near but not the same, and were stored some time apart; each pair once."""
    compared = maintain_pairs.compared_space(context)
    if compared is None:
        return iter(())
    near = compared[1]
    asked = questions(context, RECONCILING_STEP)
    limits = maintain_pairs.sameness_limits(near.reconcile, near)

    def later(pair: NearPair) -> bool:
        return pair.newer.created_at - pair.older.created_at >= timedelta(hours=RECONCILE_HOURS)

    def decide(near_pairs: Sequence[NearPair], unseen: Sequence[Memory]) -> Iterator[Decision]:
        due = [pair for pair in near_pairs if later(pair) and not apart(pair.older, pair.newer)]
        yield from _decided_reconciling(due, limits, asked, context)
        yield from merge.note_open_pairs(asked, unseen, RECONCILING_STEP, context)

    return maintain_pairs.plan_pairs(
        context, cursor, RECONCILING_STEP, LAYERS, near.reconcile, decide, below=near.merge, most=NEAREST
    )


def _decided_reconciling(
    pairs: Sequence[NearPair], limits: SamenessLimits, questions: Questions, context: StepContext
) -> Iterator[Decision]:
    """What was changed by one decision is not looked at for another: it is fresh."""
    if questions.level == "off":  # nobody will be asked about what rules leave as it is
        pairs = [pair for pair in pairs if _by_rule(pair, limits, questions) is not None]
    judged = context.tools.store.upkeep.judged(RECONCILING_STEP, [pair.key for pair in pairs])
    changed: frozenset[str] = frozenset()
    for pair in pairs:
        if pair.key in judged or not changed.isdisjoint({pair.older.id, pair.newer.id}):
            continue
        outcome = _outcome(pair, limits, questions, context)
        if outcome is not None:
            verdict, why = outcome
            if verdict is Reconciled.UPDATE:
                decision = supersede_decision(pair.older, pair.newer, "reconcile.update", why)
            else:
                decision = merge.take_in(pair.newer, pair.older, "reconcile.absorb", why, context)
            changed |= decision.changes
            note = Judge(Judgement(RECONCILING_STEP, pair.key, verdict.value, context.now))
            yield replace(decision, effects=(*decision.effects, note))


def _outcome(
    pair: NearPair, limits: SamenessLimits, questions: Questions, context: StepContext
) -> Outcome | None:
    """What becomes of the older one; None: both stay."""
    ruled = _by_rule(pair, limits, questions)
    if (questions.level != "full" and ruled is not None) or not questions.may_ask(pair.older, pair.newer):
        return ruled
    answer = context.tools.advisor.reconcile(pair.older.content, pair.newer.content)
    if answer is None:
        return ruled
    questions.answered.append(Judgement(RECONCILING_STEP, pair.key, answer.value, context.now))
    # What only the older one tells must not be lost.
    tells_more = stands(pair.older) or bool(questions.compared.differing(pair.older, pair.newer))
    if answer is Reconciled.KEEP_BOTH or (answer is Reconciled.ABSORB and tells_more):
        return None
    return answer, f"cosine {pair.cosine:.2f}, a model says {answer.value}"


def _by_rule(pair: NearPair, limits: SamenessLimits, questions: Questions) -> Outcome | None:
    why = f"cosine {pair.cosine:.2f}"
    if questions.compared.replaces(pair.older, pair.newer, pair.cosine, limits):
        return Reconciled.UPDATE, f"{why}, states it otherwise later"
    verdict = questions.compared.same(pair.older, pair.newer, pair.cosine, limits)
    if verdict is not None and verdict.fuller is pair.newer and not stands(pair.older):
        return Reconciled.ABSORB, f"{why}, the later one says all of it"
    return None


# ---------------------------------------------------------------- triage
# Triage: memories of the buffer come in; each is looked at once, and worth the working layer or left.

TRIAGE_BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def plan_triage(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Weigh what has lain in the buffer for some minutes and was not weighed in these words yet."""
    config = context.tools.config
    weighing = Weighing(context.tools.advisor.triage, TRIAGE_MOST, model_level(context))
    if by_layers(config) and weighing.level == "off" and config.llm.level != "off":
        return iter(())  # there only a model's word takes a memory out of the buffer before its time

    def decide(part: Slice) -> Iterable[Decision]:
        due = [memory for _, memory in part if triage_due(memory, context.now, config)]
        judgements = judgements_of(TRIAGE, due, context)
        weighed = [(memory, triage_review(memory, config)) for memory in due if memory.id not in judgements]
        for memory, yes, why in weighing.outcomes(weighed):
            if yes:
                effects = (_risen(memory, Layer.WORKING, yes), judge(TRIAGE, memory, "promote", context.now))
                yield Decision("triage.promote", why, effects, memory.id)
            else:  # by the rules of *layers* a tag says so, which its clients see
                seen = judge(TRIAGE, memory, "keep", context.now)
                note = _tagged(memory, LOOKED_AT) if by_layers(config) else seen
                yield Decision("triage.keep", why, (note,), memory.id, quiet=True)

    return sweep(context, cursor, TRIAGE_BUFFER, decide)


STEPS: tuple[Step, ...] = (
    Step("review", "gate", plan_gate),
    Step("review", "reconcile", plan_reconciliation),
    Step("review", "contradictions", plan_contradictions),
    Step("review", "commitments", plan_commitments),
    Step("review", "session notes", plan_session_notes),
    Step("review", "buffer repetitions", partial(merge.plan_joins, step="dedup", layers=BUFFER)),
    Step("review", "triage", plan_triage),
)
