"""Patterns, procedures and conclusions: what memories taken together say again and again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from engram.lazily import dataclass
from engram.maintain.pairs import neighbour_pairs, space_of
from engram.maintain.step import (
    ACTIVE,
    Add,
    Batch,
    Decision,
    Draw,
    Effect,
    Erase,
    MemoryChange,
    StepContext,
    batches,
    becomes,
    grouped,
)
from engram.maintain.support import (
    EVERYTHING,
    RecentChanges,
    changed_names,
    changed_scopes,
    changes_since,
    keep_sketch,
    mark_batch,
    model_summary,
)
from engram.model.capture import Draft
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType, FactQuery
from engram.model.memory import ANY_STATUS, Filters, Kind, Memory, Space, Status, Tier, Type
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.rules.chains import InferredFact, conclude, predicates
from engram.rules.grouping import Repeated, joined, repeated
from engram.rules.traits import DRAWN, is_overheard
from engram.rules.vectors import meant
from engram.text import facts, forms
from engram.text.junk import is_filler
from engram.text.sentences import Shared, common
from engram.text.signals import has_subject
from engram.text.statement import worded
from engram.text.words import content_words

PATTERN_EPISODES = 3  # similar episodes that make a pattern (cortex)
PROCEDURE_RUNS = 3  # times a sequence of actions makes a procedure (cortex)

PATTERN_COSINE = 0.75  # how near episodes of a pattern lie; on the scale of common models (cortex)
PATTERN_CONFIDENCE = 0.8  # how sure they are together, at least (cortex)
INFERENCE_STEPS = 5  # facts that a conclusion rests on at most
INFERENCE_CONFIDENCE = 0.5  # how sure a conclusion is, at least
INFERENCES = 500  # conclusions drawn in one run at most

# ---------------------------------------------------------------- patterns
# Patterns: episodes that say nearly the same come in; what they have in common is known from then on.
#
# Episodes of one place and one speaker that lie near each other make a group. When they are enough, and
# together sure enough, what they share becomes a semantic memory, derived from each of them, and a schema:
# the shared words with the values that stood in the gaps. A pattern that is known only grows.

NAME: Final = "patterns"
TAG: Final = "pattern"
EPISODES = Filters(
    kinds=frozenset({Kind.EPISODIC}), statuses=ACTIVE, tiers=frozenset({Tier.CLEAR}), not_tags=DRAWN
)
MOST: Final = 60
"""Episodes of a pattern that are read; the latest of a larger group."""
TIGHT: Final = 0.85
"""How near episodes of a group lie that would be too large otherwise, on the same scale."""
TOLD: Final = 12
"""Of so many the words are compared."""
LEAST_WORDS: Final = 3
LEAST_SHARE: Final = 0.5
"""Shared words say enough when they are so many, and so much of the shortest episode."""
GAIN: Final = 0.1
"""How much weightier a pattern is than its episodes."""
TOGETHER: Final = 50
"""Groups that are decided about in one batch."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What a pattern says."""

    text: str
    shared: Shared
    words_of: str = ""
    """The episode whose own words it has; empty when all of them have these words."""


def plan_patterns(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Patterns over what is new, and those whose words were erased."""
    news, space = changes_since(context, NAME), space_of(context)
    if not news.any or space is None:
        return
    if news.gone:
        yield from _withdrawn(context, news)
    slices = changed_names(context, news, EPISODES)
    episodes = ((record.scope, key) for part in slices for key, record in part)
    for scope, keys in grouped(episodes).items():
        groups = _groups(context, space, scope, keys, news)
        decisions = (_decide(context, group) for group in groups)
        yield from batches((decision for decision in decisions if decision is not None), TOGETHER)
    yield from mark_batch(context, NAME, news)


def _withdrawn(context: StepContext, news: RecentChanges) -> Iterator[Batch]:
    """Patterns that have the own words of an erased memory go with it; others are found anew without it."""
    for part in context.memories(replace(ANY_STATUS, tags_any=frozenset({TAG}))):
        gone = [memory for _, memory in part if memory.details.get("words_of") in news.gone]
        why = "the episode whose words it has was erased"
        if gone:
            erased = (Decision("pattern.erased", why, (Erase(memory),), memory.id) for memory in gone)
            yield Batch(tuple(erased))


def _groups(
    context: StepContext, space: Space, scope: Scope, keys: Sequence[int], news: RecentChanges
) -> list[list[int]]:
    """Keys of episodes that hang together, each group in order."""
    near = list(neighbour_pairs(context, space, scope, keys, meant(PATTERN_COSINE, space.key)))
    usable = frozenset(keys)
    if not news.whole:
        usable |= _fitting(context, scope, {other for _, other, _ in near} - usable)
    near = [pair for pair in near if pair[1] in usable]
    groups: list[list[int]] = []
    tight = meant(TIGHT, space.key)
    for group in joined((key, other) for key, other, _ in near):
        if len(group) <= MOST:
            groups.append(group)
            continue
        # Much that hangs together by a few steps says less in common than its parts do.
        members = frozenset(group)
        groups += joined((key, other) for key, other, cosine in near if cosine >= tight and key in members)
    return [sorted(group) for group in groups if len(group) >= PATTERN_EPISODES]


def _fitting(context: StepContext, scope: Scope, keys: set[int]) -> frozenset[int]:
    """Those of the keys that are episodes of this very place."""
    store = context.tools.store
    allowed = store.memories.allow(View(EVERYTHING, EPISODES), sorted(keys))
    read = store.memories.read(sorted(allowed))
    return frozenset(key for key, memory in read.items() if memory.scope == scope)


def _decide(context: StepContext, group: Sequence[int]) -> Decision | None:
    """What becomes of a group: it is a new pattern, part of a known one, or none."""
    read = context.tools.store.memories.read(list(group)[-MOST:])
    members = _one_voice(sorted(read.items()))
    pattern = _known_pattern(context, [key for key, _ in members])
    if pattern is not None:
        return _grown(context, pattern, members)
    episodes = [episode for _, episode in members]
    sure = 1.0 - math.prod(1.0 - episode.confidence for episode in episodes)
    if len(episodes) < PATTERN_EPISODES or sure <= PATTERN_CONFIDENCE:
        return None
    return _new_pattern(context, episodes, sure)


def _one_voice(members: Sequence[tuple[int, Memory]]) -> list[tuple[int, Memory]]:
    """Those of the speaker who has most of them, each wording once: others' "I" is somebody else.

    What states nothing ("Thanks so much!") is left out.
    """
    voice = Counter(episode.speaker for _, episode in members).most_common(1)[0][0] if members else ""
    by_wording: dict[str, tuple[int, Memory]] = {}
    for key, episode in members:
        if episode.speaker == voice and not is_filler(episode.content):
            by_wording.setdefault(episode.content_hash, (key, episode))
    return list(by_wording.values())


def _known_pattern(context: StepContext, keys: Sequence[int]) -> tuple[int, Memory] | None:
    """The pattern that most of these episodes belong to, in whatever status a person left it."""
    view = View(EVERYTHING, replace(ANY_STATUS, tags_any=frozenset({TAG})))
    links = context.tools.store.relations.links(keys, (EdgeType.DERIVED_FROM,), view)
    counts = Counter(link.other for link in links if not link.forward)
    if not counts:
        return None
    key = min(counts, key=lambda other_key: (-counts[other_key], other_key))
    return key, context.tools.store.memories.read([key])[key]


def _new_pattern(context: StepContext, episodes: Sequence[Memory], sure: float) -> Decision | None:
    wording = _wording(context, episodes)
    if wording is None:
        return None
    first = episodes[0]
    category = Counter(episode.category for episode in episodes).most_common(1)[0][0]
    details: dict[str, Any] = {"pattern": {"episodes": len(episodes)}}
    if wording.words_of:
        details["words_of"] = wording.words_of
    draft = Draft(
        wording.text,
        category="insight" if category in PASSING else category,
        kind=Kind.SEMANTIC,
        tags=(TAG,),
        details=details,
        importance=min(0.9, sum(episode.importance for episode in episodes) / len(episodes) + GAIN),
        confidence=min(0.95, _weighed(episodes)),
        scope=first.scope,
        speaker=first.speaker,
    )
    ids = [episode.id for episode in episodes]
    add, edges = context.derived(draft, "pattern", ids)
    schema = _schema(wording.shared, episodes)
    sketch = keep_sketch(context, first.scope, "schema", add.memory.id, schema, sources=ids)
    why = f"{len(episodes)} similar episodes, together sure to {sure:.2f}"
    return Decision("pattern.found", why, (add, *edges, *sketch), add.memory.id)


def _grown(
    context: StepContext, pattern: tuple[int, Memory], members: Sequence[tuple[int, Memory]]
) -> Decision | None:
    """The known pattern has further episodes; one that a person put away stays as it is."""
    key, memory = pattern
    has = _drawn_from(context, key)
    fresh = [(episode_key, episode) for episode_key, episode in members if episode_key not in has]
    if memory.status not in ACTIVE or memory.speaker != members[0][1].speaker or not fresh:
        return None
    old = context.tools.store.memories.read(sorted(has)[-MOST:])
    keyed = sorted({**old, **dict(fresh)}.items())
    episodes = [episode for _, episode in keyed if episode.tier is Tier.CLEAR]
    effects: list[Effect] = [Draw(Edge(memory.id, episode.id, EdgeType.DERIVED_FROM)) for _, episode in fresh]
    body = _schema(common([episode.content for episode in episodes[-TOLD:]]), episodes)
    body["episodes"] = len(has) + len(fresh)
    effects += keep_sketch(
        context, memory.scope, "schema", memory.id, body, sources=[episode.id for episode in episodes]
    )
    why = f"{len(fresh)} further episodes, {len(has) + len(fresh)} now"
    return Decision("pattern.grown", why, tuple(effects), memory.id, fresh[-1][1].id)


def _drawn_from(context: StepContext, key: int) -> set[int]:
    """The memories that one was derived from, by key."""
    view = View(EVERYTHING, ANY_STATUS)
    links = context.tools.store.relations.links([key], (EdgeType.DERIVED_FROM,), view)
    return {link.other for link in links if link.forward}


def _schema(shared: Shared, episodes: Sequence[Memory]) -> dict[str, Any]:
    times = sorted(episode.happened_at for episode in episodes)
    return {
        "template": str(shared) if shared.says else episodes[-1].content,
        "slots": [list(values) for values in shared.slots],
        "episodes": len(episodes),
        "first": times[0].isoformat(),
        "last": times[-1].isoformat(),
    }


PASSING: Final = frozenset({"moment", "general", "context", "question"})
"""What only says that something happened: a pattern of it is an insight."""


def _weighed(episodes: Sequence[Memory]) -> float:
    """How sure the episodes are on average, the stronger ones counting more."""
    whole = sum(max(episode.strength, 0.01) for episode in episodes)
    return sum(episode.confidence * max(episode.strength, 0.01) for episode in episodes) / whole


# ---------------------------------------------------------------- in which words


def _wording(context: StepContext, episodes: Sequence[Memory]) -> Wording | None:
    """A fact that all state, the words that all have, a model's words, or those of the most typical one."""
    latest = episodes[-TOLD:]
    shared = common([episode.content for episode in latest])
    stated = _stated(latest)
    if stated:
        return Wording(stated, shared)
    shortest = min(len(content_words(episode.content)) for episode in latest)
    alike = len(shared.says) >= max(LEAST_WORDS, LEAST_SHARE * shortest)
    if alike and shared.whole and not shared.ends_open and _is_whole(str(shared), latest):
        return Wording(str(shared), shared)
    written = model_summary(context, NAME, [episode.content for episode in latest], WORDS, always=True)
    if written is not None:
        return Wording(written, shared)
    typical = _typical(latest)
    # Words that all have and that break off at an end are no sentence, and one's own end is not the others'.
    if alike or _agreement(typical, latest) < LEAST_SHARE:
        return None
    fact = forms.key_fact(typical.content)
    if fact.endswith(("…", "...")) or not _is_whole(fact, latest):
        return None
    return Wording(f"Recurring: {fact}", shared, typical.id)


def _is_whole(text: str, episodes: Sequence[Memory]) -> bool:
    """Whether a sentence says who does what; a note that somebody gave may leave out its writer."""
    return has_subject(text) or not any(map(is_overheard, episodes))


WORDS: Final = 30
"""Words of a pattern that a model puts into words."""


def _stated(episodes: Sequence[Memory]) -> str:
    each = [
        facts.stated(episode.content, episode.details, episode.speaker, episode.heard_at)
        for episode in episodes
    ]
    first = next(iter(each), ())
    for fact in first:
        if all(fact in others for others in each):
            return worded(fact.subject, fact.predicate, fact.object)
    return ""


def _agreement(typical: Memory, episodes: Sequence[Memory]) -> float:
    """How much of what the typical one says the others say too, on average."""
    words = content_words(typical.content)
    others = [content_words(episode.content) for episode in episodes if episode.id != typical.id]
    return sum(len(words & other) for other in others) / (max(len(words), 1) * max(len(others), 1))


def _typical(episodes: Sequence[Memory]) -> Memory:
    """The episode that shares most words with the others; of equal ones the latest."""
    words = [content_words(episode.content) for episode in episodes]
    spread = Counter(word for own_words in words for word in own_words)
    scores = [sum(spread[word] for word in own_words) / math.sqrt(len(own_words) or 1) for own_words in words]
    return max(zip(scores, range(len(scores)), episodes, strict=True))[2]


# ---------------------------------------------------------------- procedures
# Procedures: results of tasks and flows come in; what was done again and again in one order is known then.
#
# Each flow tells its own steps; tasks of one session follow on one another. A sequence that was done often
# enough becomes a procedural memory with the number of times it succeeded, failed, or did in part.

PROCEDURES_NAME: Final = "procedures"
PROCEDURES_TAG: Final = "procedure"
RESULTS = Filters(
    statuses=ACTIVE,
    tiers=frozenset({Tier.CLEAR}),
    tags_any=frozenset({"task", "flow"}),
    not_tags=frozenset({PROCEDURES_TAG}),
)
ENDINGS: Final = ("success", "failure", "partial")
EDGES: Final = 50
"""Results that a procedure is linked to, the latest."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """One occasion: what was done, how it ended, and the memories that tell of it."""

    actions: tuple[str, ...]
    outcome: str
    times: int
    results: tuple[Memory, ...]
    name: str = ""


def plan_procedures(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Procedures of every place that has new results."""
    news = changes_since(context, PROCEDURES_NAME)
    if not news.any:
        return
    any_status = replace(RESULTS, statuses=ANY_STATUS.statuses)
    where = changed_scopes(context, news, any_status)
    known_by_scope = _known_procedures(context)
    if news.gone:
        where |= known_by_scope.keys()
    for scope, occasions in _occasions(context, where).items():
        decisions = tuple(_decide_procedures(context, scope, occasions, known_by_scope.get(scope, {})))
        if decisions:
            yield Batch(decisions)
    yield from mark_batch(context, PROCEDURES_NAME, news)


def _known_procedures(context: StepContext) -> dict[Scope, dict[str, Memory]]:
    """Procedures that were learned, in every status, by place and sequence."""
    procedures: dict[Scope, dict[str, Memory]] = {}
    for part in context.memories(replace(ANY_STATUS, tags_any=frozenset({PROCEDURES_TAG}))):
        for _, memory in part:
            procedure = memory.details.get("procedure")
            if memory.source == "engine" and isinstance(procedure, Mapping):
                procedures.setdefault(memory.scope, {})[_sequence_key(procedure.get("steps", ()))] = memory
    return procedures


def _occasions(context: StepContext, places: set[Scope]) -> dict[Scope, dict[str, Occasion]]:
    ordered = sorted(places, key=lambda scope: scope.parts)
    flows: dict[Scope, dict[str, Occasion]] = {scope: {} for scope in ordered}
    tasks: dict[Scope, dict[str, list[Memory]]] = {scope: {} for scope in flows}
    for part in context.memories(RESULTS) if flows else ():
        for _, result in part:
            if result.scope not in flows:
                continue
            steps = _steps(result)
            if steps:
                name = str(result.details.get("flow") or result.details.get("task") or "")
                flow = Occasion(steps, _outcome(result), 1 + result.usage.repeated, (result,), name)
                flows[result.scope][result.id] = flow
            elif result.details.get("task"):
                session = result.session or f"{result.happened_at:%Y-%m-%d}"
                tasks[result.scope].setdefault(session, []).append(result)
    for scope, sessions in tasks.items():
        several = {session: results for session, results in sessions.items() if len(results) > 1}
        flows[scope] |= {session: _session(results) for session, results in several.items()}
    return flows


def _session(results: Sequence[Memory]) -> Occasion:
    """Tasks that followed on one another; it failed if the last of them did."""
    ordered = sorted(results, key=lambda result: result.happened_at)
    actions = tuple(" ".join(str(result.details["task"]).split()) for result in ordered)
    return Occasion(actions, _outcome(ordered[-1]), 1, tuple(ordered))


def _decide_procedures(
    context: StepContext, scope: Scope, occasions: Mapping[str, Occasion], procedures: Mapping[str, Memory]
) -> Iterator[Decision]:
    # An occasion that was told again in the same words counts as often as it was told.
    actions_by_occasion = {
        (name, number): occasion.actions
        for name, occasion in occasions.items()
        for number in range(min(occasion.times, MOST_REPEATS))
    }
    often = repeated(actions_by_occasion, PROCEDURE_RUNS)
    sequences = {_sequence_key(sequence.actions): sequence for sequence in often}
    for name, sequence in sequences.items():
        performed = [occasions[name_] for name_ in dict.fromkeys(name_ for name_, _ in sequence.occasions)]
        if name not in procedures:
            yield _learned(context, scope, sequence, performed)
        elif procedures[name].status in ACTIVE:
            yield from _counted(context, procedures[name], performed)
    for name, memory in procedures.items():
        performed_once = (name in _sequence_key(occasion.actions) for occasion in occasions.values())
        if name not in sequences and not any(performed_once):
            yield from _gone(context, memory)


MOST_REPEATS: Final = 100


def _learned(
    context: StepContext, scope: Scope, sequence: Repeated[tuple[str, int]], occasions: Sequence[Occasion]
) -> Decision:
    counts = _counts(occasions)
    names = Counter(occasion.name for occasion in occasions if occasion.actions == sequence.actions)
    name = names.most_common(1)[0][0] if names else ""
    steps = "; ".join(f"{number}. {action}" for number, action in enumerate(sequence.actions, 1))
    draft = Draft(
        f"How {name} is done: {steps}" if name else f"What is usually done in this order: {steps}",
        category="procedure",
        kind=Kind.PROCEDURAL,
        type=Type.PROCEDURE,
        tags=(PROCEDURES_TAG,),
        details={"procedure": {"name": name, "steps": list(sequence.actions), **counts}},
        confidence=_sure(counts),
        scope=scope,
    )
    result_ids = [result.id for occasion in occasions for result in occasion.results][-EDGES:]
    add, edges = context.derived(draft, "procedure", result_ids, f"{scope}|{_sequence_key(sequence.actions)}")
    return Decision("procedure.learned", _why(counts), (add, *edges), add.memory.id)


def _counted(context: StepContext, memory: Memory, occasions: Sequence[Occasion]) -> Iterator[Decision]:
    counts, procedure = _counts(occasions), dict(memory.details["procedure"])
    if {name: procedure.get(name) for name in counts} == counts:
        return
    details = {**memory.details, "procedure": {**procedure, **counts}}
    effects: list[Effect] = [MemoryChange(memory, replace(memory, details=details, confidence=_sure(counts)))]
    store = context.tools.store
    has = _drawn_from(context, store.memories.keys([memory.id])[memory.id])
    result_ids = [result.id for occasion in occasions for result in occasion.results][-EDGES:]
    keys = store.memories.keys(result_ids)
    effects += [
        Draw(Edge(memory.id, id_, EdgeType.DERIVED_FROM))
        for id_ in result_ids
        if keys.get(id_, -1) not in has
    ]
    related = result_ids[-1] if result_ids else ""
    yield Decision("procedure.counted", _why(counts), tuple(effects), memory.id, related)


def _gone(context: StepContext, memory: Memory) -> Iterator[Decision]:
    """No result shows it any longer: archived; erased when all its results were."""
    if not _drawn_from(context, context.tools.store.memories.keys([memory.id])[memory.id]):
        why = "all results it rested on were erased"
        yield Decision("procedure.erased", why, (Erase(memory),), memory.id)
    elif memory.status in ACTIVE:
        away = MemoryChange(memory, replace(memory, status=Status.ARCHIVED))
        yield Decision("procedure.unlearned", "no result tells of it any longer", (away,), memory.id)


def _counts(occasions: Sequence[Occasion]) -> dict[str, int]:
    totals = Counter[str]()
    for occasion in occasions:
        totals[occasion.outcome] += occasion.times
    return {"succeeded": totals["success"], "failed": totals["failure"], "partial": totals["partial"]}


def _sure(counts: Mapping[str, int]) -> float:
    """How far it can be relied on: successes among all, with one of each to begin with."""
    good = counts["succeeded"] + counts["partial"] / 2
    return round((good + 1) / (sum(counts.values()) + 2), 4)


def _why(counts: Mapping[str, int]) -> str:
    return f"succeeded {counts['succeeded']}, failed {counts['failed']}, in part {counts['partial']} times"


def _steps(memory: Memory) -> tuple[str, ...]:
    steps = memory.details.get("steps")
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        return ()
    names = [step.get("name", "") if isinstance(step, Mapping) else step for step in steps]
    return tuple(" ".join(str(name).split()) for name in names if name)


def _outcome(memory: Memory) -> str:
    outcome: Any = memory.details.get("outcome")
    return outcome if outcome in ENDINGS else "success"


def _sequence_key(actions: Sequence[str]) -> str:
    return "\x1f".join(action.casefold() for action in actions)


# ---------------------------------------------------------------- inference
# Inference: facts of one place come in; what follows from them is remembered, as long as they hold.

INFERENCE_NAME: Final = "inference"
INFERENCE_TAG: Final = "inferred"
STATED = Filters(statuses=ACTIVE, tiers=frozenset({Tier.CLEAR}), not_tags=frozenset({INFERENCE_TAG}))
MOST_FACTS: Final = 100_000
INFERENCE_TOGETHER: Final = 100
Triple = tuple[str, str, str]


def plan_inferences(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Conclusions of every place where something changed; those that no longer follow are withdrawn."""
    news = changes_since(context, INFERENCE_NAME)
    if not news.any:
        return
    where = changed_scopes(context, news, ANY_STATUS)
    known_by_scope = _known_inference(context)
    if news.gone:
        where |= known_by_scope.keys()
    left = INFERENCES
    for scope in sorted(where, key=lambda scope: scope.parts):
        conclusions = _conclusions(context, scope)
        inferred = known_by_scope.get(scope, {})
        yield from batches(_withdrawn_inference(context, inferred, conclusions), INFERENCE_TOGETHER)
        fresh = [conclusion for triple, conclusion in conclusions.items() if triple not in inferred][:left]
        left -= len(fresh)
        yield from batches(_drawn(context, scope, fresh), INFERENCE_TOGETHER)
    yield from mark_batch(context, INFERENCE_NAME, news)


def _known_inference(context: StepContext) -> dict[Scope, dict[Triple, Memory]]:
    """What was concluded before, in every status: what a person put away is not concluded again."""
    inferred: dict[Scope, dict[Triple, Memory]] = {}
    for part in context.memories(replace(ANY_STATUS, tags_any=frozenset({INFERENCE_TAG}))):
        for _, memory in part:
            for fact in memory.details.get("facts", ()) if memory.source == "engine" else ():
                triple = (fact["subject"], fact["predicate"], fact["object"])
                inferred.setdefault(memory.scope, {})[triple] = memory
    return inferred


def _conclusions(context: StepContext, scope: Scope) -> dict[Triple, InferredFact]:
    view = View(Access(scope, Role.AGENT), STATED)
    query = FactQuery(predicates=predicates())
    fact_rows = [
        row
        for row in context.tools.store.facts.told(query, view, MOST_FACTS)
        if row.until is None or row.until > context.now
    ]
    conclusions = conclude(fact_rows, INFERENCE_STEPS, INFERENCE_CONFIDENCE)
    keys = sorted({premise.key for conclusion in conclusions for premise in conclusion.premises})
    read = context.tools.store.memories.read(keys)
    here = {key for key, memory in read.items() if memory.scope == scope}
    return {
        (conclusion.fact.subject, conclusion.fact.predicate, conclusion.fact.object): conclusion
        for conclusion in conclusions
        if all(premise.key in here for premise in conclusion.premises)
    }


def _withdrawn_inference(
    context: StepContext, inferred: Mapping[Triple, Memory], conclusions: Mapping[Triple, InferredFact]
) -> Iterator[Decision]:
    for triple, memory in inferred.items():
        premises = [str(premise) for premise in memory.details.get("premises", ())]
        if len(context.tools.store.memories.keys(premises)) < len(premises):
            why = "a memory it followed from was erased"
            yield Decision("inference.erased", why, (Erase(memory),), memory.id)
        elif triple not in conclusions and memory.status in ACTIVE:
            why = f"no longer follows from {len(premises)} facts"
            away = becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED)
            yield Decision("inference.withdrawn", why, (away,), memory.id)


def _drawn(context: StepContext, scope: Scope, conclusions: Sequence[InferredFact]) -> Iterator[Decision]:
    keys = sorted({premise.key for conclusion in conclusions for premise in conclusion.premises})
    read = context.tools.store.memories.read(keys)
    for conclusion in conclusions:
        premises = list(dict.fromkeys(read[premise.key].id for premise in conclusion.premises))
        if len(premises) < len({premise.key for premise in conclusion.premises}):
            continue
        add, edges = _memory(context, scope, conclusion, premises)
        why = f"follows from {len(conclusion.premises)} facts, sure to {conclusion.sure:.2f}"
        yield Decision("inference.drawn", why, (add, *edges), add.memory.id)


def _memory(
    context: StepContext, scope: Scope, conclusion: InferredFact, premises: Sequence[str]
) -> tuple[Add, tuple[Draw, ...]]:
    fact = {
        "subject": conclusion.fact.subject,
        "predicate": conclusion.fact.predicate,
        "object": conclusion.fact.object,
        "functional": False,
        "confidence": round(conclusion.sure, 4),
    }
    who, whom = (_called(context, scope, name) for name in (conclusion.fact.subject, conclusion.fact.object))
    draft = Draft(
        worded(who, conclusion.fact.predicate, whom),
        category="fact",
        kind=Kind.SEMANTIC,
        type=Type.FACT,
        tags=(INFERENCE_TAG,),
        details={"facts": [fact], "premises": list(premises)},
        confidence=round(conclusion.sure, 4),
        scope=scope,
    )
    known_by = (*premises, conclusion.fact.predicate, conclusion.fact.subject, conclusion.fact.object)
    return context.derived(draft, "inference", premises, *known_by, by=EdgeType.INFERRED_FROM)


def _called(context: StepContext, scope: Scope, name: str) -> str:
    """A name as people write it; facts have it in lower case."""
    entity = context.tools.store.entities.get(name, Access(scope, Role.AGENT))
    return entity.name if entity is not None and entity.name.casefold() == name else name
