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
from engram.maintain.support import EVERYTHING, RecentChanges, in_words, keep, named, noted, places, since
from engram.model.capture import Draft
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType, FactQuery
from engram.model.memory import (
    ANY_STATUS,
    Filters,
    Kind,
    Memory,
    Space,
    Status,
    Tier,
    Type,
)
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
    news, space = since(context, NAME), space_of(context)
    if not news.any or space is None:
        return
    if news.gone:
        yield from _withdrawn(context, news)
    episodes = ((one.scope, key) for part in named(context, news, EPISODES) for key, one in part)
    for scope, keys in grouped(episodes).items():
        groups = _groups(context, space, scope, keys, news)
        decided = (_decide(context, group) for group in groups)
        yield from batches((one for one in decided if one is not None), TOGETHER)
    yield from noted(context, NAME, news)


def _withdrawn(context: StepContext, news: RecentChanges) -> Iterator[Batch]:
    """Patterns that have the own words of an erased memory go with it; others are found anew without it."""
    for part in context.memories(replace(ANY_STATUS, tags_any=frozenset({TAG}))):
        gone = [one for _, one in part if one.details.get("words_of") in news.gone]
        why = "the episode whose words it has was erased"
        if gone:
            yield Batch(tuple(Decision("pattern.erased", why, (Erase(one),), one.id) for one in gone))


def _groups(
    context: StepContext, space: Space, scope: Scope, keys: Sequence[int], news: RecentChanges
) -> list[list[int]]:
    """Keys of episodes that hang together, each group in order."""
    near = list(neighbour_pairs(context, space, scope, keys, meant(PATTERN_COSINE, space.key)))
    known = frozenset(keys)
    if not news.whole:
        known |= _fitting(context, scope, {other for _, other, _ in near} - known)
    near = [pair for pair in near if pair[1] in known]
    groups: list[list[int]] = []
    tight = meant(TIGHT, space.key)
    for group in joined((one, other) for one, other, _ in near):
        if len(group) <= MOST:
            groups.append(group)
            continue
        # Much that hangs together by a few steps says less in common than its parts do.
        some = frozenset(group)
        groups += joined((one, other) for one, other, cosine in near if cosine >= tight and one in some)
    return [sorted(group) for group in groups if len(group) >= PATTERN_EPISODES]


def _fitting(context: StepContext, scope: Scope, keys: set[int]) -> frozenset[int]:
    """Those of the keys that are episodes of this very place."""
    store = context.tools.store
    allowed = store.memories.allow(View(EVERYTHING, EPISODES), sorted(keys))
    read = store.memories.read(sorted(allowed))
    return frozenset(key for key, one in read.items() if one.scope == scope)


def _decide(context: StepContext, group: Sequence[int]) -> Decision | None:
    """What becomes of a group: it is a new pattern, part of a known one, or none."""
    read = context.tools.store.memories.read(list(group)[-MOST:])
    members = _one_voice(sorted(read.items()))
    known = _known(context, [key for key, _ in members])
    if known is not None:
        return _grown(context, known, members)
    episodes = [one for _, one in members]
    sure = 1.0 - math.prod(1.0 - episode.confidence for episode in episodes)
    if len(episodes) < PATTERN_EPISODES or sure <= PATTERN_CONFIDENCE:
        return None
    return _found(context, episodes, sure)


def _one_voice(members: Sequence[tuple[int, Memory]]) -> list[tuple[int, Memory]]:
    """Those of the speaker who has most of them, each wording once: others' "I" is somebody else.

    What states nothing ("Thanks so much!") is left out.
    """
    voice = Counter(one.speaker for _, one in members).most_common(1)[0][0] if members else ""
    said: dict[str, tuple[int, Memory]] = {}
    for key, one in members:
        if one.speaker == voice and not is_filler(one.content):
            said.setdefault(one.content_hash, (key, one))
    return list(said.values())


def _known(context: StepContext, keys: Sequence[int]) -> tuple[int, Memory] | None:
    """The pattern that most of these episodes belong to, in whatever status a person left it."""
    view = View(EVERYTHING, replace(ANY_STATUS, tags_any=frozenset({TAG})))
    links = context.tools.store.relations.links(keys, (EdgeType.DERIVED_FROM,), view)
    counts = Counter(link.other for link in links if not link.forward)
    if not counts:
        return None
    key = min(counts, key=lambda one: (-counts[one], one))
    return key, context.tools.store.memories.read([key])[key]


def _found(context: StepContext, episodes: Sequence[Memory], sure: float) -> Decision | None:
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
    add, edges = context.drawn(draft, "pattern", ids)
    schema = _schema(wording.shared, episodes)
    sketch = keep(context, first.scope, "schema", add.memory.id, schema, sources=ids)
    why = f"{len(episodes)} similar episodes, together sure to {sure:.2f}"
    return Decision("pattern.found", why, (add, *edges, *sketch), add.memory.id)


def _grown(
    context: StepContext, pattern: tuple[int, Memory], members: Sequence[tuple[int, Memory]]
) -> Decision | None:
    """The known pattern has further episodes; one that a person put away stays as it is."""
    key, memory = pattern
    has = _drawn_from(context, key)
    fresh = [(at, one) for at, one in members if at not in has]
    if memory.status not in ACTIVE or memory.speaker != members[0][1].speaker or not fresh:
        return None
    old = context.tools.store.memories.read(sorted(has)[-MOST:])
    episodes = [one for _, one in sorted({**old, **dict(fresh)}.items()) if one.tier is Tier.CLEAR]
    effects: list[Effect] = [Draw(Edge(memory.id, one.id, EdgeType.DERIVED_FROM)) for _, one in fresh]
    body = _schema(common([episode.content for episode in episodes[-TOLD:]]), episodes)
    body["episodes"] = len(has) + len(fresh)
    effects += keep(
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
    told = episodes[-TOLD:]
    shared = common([one.content for one in told])
    stated = _stated(told)
    if stated:
        return Wording(stated, shared)
    shortest = min(len(content_words(one.content)) for one in told)
    alike = len(shared.says) >= max(LEAST_WORDS, LEAST_SHARE * shortest)
    if alike and shared.whole and not shared.ends_open and _is_whole(str(shared), told):
        return Wording(str(shared), shared)
    written = in_words(context, NAME, [one.content for one in told], WORDS, always=True)
    if written is not None:
        return Wording(written, shared)
    typical = _typical(told)
    # Words that all have and that break off at an end are no sentence, and one's own end is not the others'.
    if alike or _agreement(typical, told) < LEAST_SHARE:
        return None
    fact = forms.key_fact(typical.content)
    if fact.endswith(("…", "...")) or not _is_whole(fact, told):
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
    spread = Counter(word for found in words for word in found)
    scores = [sum(spread[word] for word in found) / math.sqrt(len(found) or 1) for found in words]
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
class Done:
    """One occasion: what was done, how it ended, and the memories that tell of it."""

    actions: tuple[str, ...]
    outcome: str
    times: int
    told_by: tuple[Memory, ...]
    name: str = ""


def plan_procedures(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Procedures of every place that has new results."""
    news = since(context, PROCEDURES_NAME)
    if not news.any:
        return
    told = replace(RESULTS, statuses=ANY_STATUS.statuses)
    where = places(context, news, told)
    known = _known_procedures(context)
    if news.gone:
        where |= known.keys()
    for scope, done in _occasions(context, where).items():
        decided = tuple(_decide_procedures(context, scope, done, known.get(scope, {})))
        if decided:
            yield Batch(decided)
    yield from noted(context, PROCEDURES_NAME, news)


def _known_procedures(context: StepContext) -> dict[Scope, dict[str, Memory]]:
    """Procedures that were learned, in every status, by place and sequence."""
    found: dict[Scope, dict[str, Memory]] = {}
    for part in context.memories(replace(ANY_STATUS, tags_any=frozenset({PROCEDURES_TAG}))):
        for _, one in part:
            told = one.details.get("procedure")
            if one.source == "engine" and isinstance(told, Mapping):
                found.setdefault(one.scope, {})[_named(told.get("steps", ()))] = one
    return found


def _occasions(context: StepContext, places: set[Scope]) -> dict[Scope, dict[str, Done]]:
    flows: dict[Scope, dict[str, Done]] = {scope: {} for scope in sorted(places, key=lambda one: one.parts)}
    tasks: dict[Scope, dict[str, list[Memory]]] = {scope: {} for scope in flows}
    for part in context.memories(RESULTS) if flows else ():
        for _, one in part:
            if one.scope not in flows:
                continue
            steps = _steps(one)
            if steps:
                name = str(one.details.get("flow") or one.details.get("task") or "")
                flow = Done(steps, _outcome(one), 1 + one.usage.repeated, (one,), name)
                flows[one.scope][one.id] = flow
            elif one.details.get("task"):
                tasks[one.scope].setdefault(one.session or f"{one.happened_at:%Y-%m-%d}", []).append(one)
    for scope, sessions in tasks.items():
        flows[scope] |= {session: _session(some) for session, some in sessions.items() if len(some) > 1}
    return flows


def _session(results: Sequence[Memory]) -> Done:
    """Tasks that followed on one another; it failed if the last of them did."""
    ordered = sorted(results, key=lambda one: one.happened_at)
    actions = tuple(" ".join(str(one.details["task"]).split()) for one in ordered)
    return Done(actions, _outcome(ordered[-1]), 1, tuple(ordered))


def _decide_procedures(
    context: StepContext, scope: Scope, done: Mapping[str, Done], known: Mapping[str, Memory]
) -> Iterator[Decision]:
    # An occasion that was told again in the same words counts as often as it was told.
    occasions_told = {
        (occasion, number): one.actions
        for occasion, one in done.items()
        for number in range(min(one.times, MOST_REPEATS))
    }
    found = {_named(one.actions): one for one in repeated(occasions_told, PROCEDURE_RUNS)}
    for name, one in found.items():
        occasions = [done[occasion] for occasion in dict.fromkeys(at for at, _ in one.occasions)]
        if name not in known:
            yield _learned(context, scope, one, occasions)
        elif known[name].status in ACTIVE:
            yield from _counted(context, known[name], occasions)
    for name, memory in known.items():
        if name not in found and not any(name in _named(one.actions) for one in done.values()):
            yield from _gone(context, memory)


MOST_REPEATS: Final = 100


def _learned(
    context: StepContext, scope: Scope, one: Repeated[tuple[str, int]], occasions: Sequence[Done]
) -> Decision:
    counts = _counts(occasions)
    names = Counter(occasion.name for occasion in occasions if occasion.actions == one.actions)
    name = names.most_common(1)[0][0] if names else ""
    steps = "; ".join(f"{place}. {action}" for place, action in enumerate(one.actions, 1))
    draft = Draft(
        f"How {name} is done: {steps}" if name else f"What is usually done in this order: {steps}",
        category="procedure",
        kind=Kind.PROCEDURAL,
        type=Type.PROCEDURE,
        tags=(PROCEDURES_TAG,),
        details={"procedure": {"name": name, "steps": list(one.actions), **counts}},
        confidence=_sure(counts),
        scope=scope,
    )
    told_by = [told.id for occasion in occasions for told in occasion.told_by][-EDGES:]
    add, edges = context.drawn(draft, "procedure", told_by, f"{scope}|{_named(one.actions)}")
    return Decision("procedure.learned", _why(counts), (add, *edges), add.memory.id)


def _counted(context: StepContext, memory: Memory, occasions: Sequence[Done]) -> Iterator[Decision]:
    counts, told = _counts(occasions), dict(memory.details["procedure"])
    if {name: told.get(name) for name in counts} == counts:
        return
    details = {**memory.details, "procedure": {**told, **counts}}
    effects: list[Effect] = [MemoryChange(memory, replace(memory, details=details, confidence=_sure(counts)))]
    store = context.tools.store
    has = _drawn_from(context, store.memories.keys([memory.id])[memory.id])
    told_by = [one.id for occasion in occasions for one in occasion.told_by][-EDGES:]
    keys = store.memories.keys(told_by)
    effects += [
        Draw(Edge(memory.id, one, EdgeType.DERIVED_FROM)) for one in told_by if keys.get(one, -1) not in has
    ]
    related = told_by[-1] if told_by else ""
    yield Decision("procedure.counted", _why(counts), tuple(effects), memory.id, related)


def _gone(context: StepContext, memory: Memory) -> Iterator[Decision]:
    """Nobody tells of it any longer: put away; erased when what told of it was."""
    if not _drawn_from(context, context.tools.store.memories.keys([memory.id])[memory.id]):
        why = "all results it rested on were erased"
        yield Decision("procedure.erased", why, (Erase(memory),), memory.id)
    elif memory.status in ACTIVE:
        away = MemoryChange(memory, replace(memory, status=Status.ARCHIVED))
        yield Decision("procedure.unlearned", "no result tells of it any longer", (away,), memory.id)


def _counts(occasions: Sequence[Done]) -> dict[str, int]:
    totals = Counter[str]()
    for one in occasions:
        totals[one.outcome] += one.times
    return {"succeeded": totals["success"], "failed": totals["failure"], "partial": totals["partial"]}


def _sure(counts: Mapping[str, int]) -> float:
    """How far it can be relied on: successes among all, with one of each to begin with."""
    good = counts["succeeded"] + counts["partial"] / 2
    return round((good + 1) / (sum(counts.values()) + 2), 4)


def _why(counts: Mapping[str, int]) -> str:
    return f"succeeded {counts['succeeded']}, failed {counts['failed']}, in part {counts['partial']} times"


def _steps(memory: Memory) -> tuple[str, ...]:
    given = memory.details.get("steps")
    if not isinstance(given, Sequence) or isinstance(given, str):
        return ()
    names = [one.get("name", "") if isinstance(one, Mapping) else one for one in given]
    return tuple(" ".join(str(name).split()) for name in names if name)


def _outcome(memory: Memory) -> str:
    told: Any = memory.details.get("outcome")
    return told if told in ENDINGS else "success"


def _named(actions: Sequence[str]) -> str:
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
    news = since(context, INFERENCE_NAME)
    if not news.any:
        return
    where = places(context, news, ANY_STATUS)
    known = _known_inference(context)
    if news.gone:
        where |= known.keys()
    left = INFERENCES
    for scope in sorted(where, key=lambda one: one.parts):
        found = _conclusions(context, scope)
        inferred = known.get(scope, {})
        yield from batches(_withdrawn_inference(context, inferred, found), INFERENCE_TOGETHER)
        fresh = [one for triple, one in found.items() if triple not in inferred][:left]
        left -= len(fresh)
        yield from batches(_drawn(context, scope, fresh), INFERENCE_TOGETHER)
    yield from noted(context, INFERENCE_NAME, news)


def _known_inference(context: StepContext) -> dict[Scope, dict[Triple, Memory]]:
    """What was concluded before, in every status: what a person put away is not concluded again."""
    found: dict[Scope, dict[Triple, Memory]] = {}
    for part in context.memories(replace(ANY_STATUS, tags_any=frozenset({INFERENCE_TAG}))):
        for _, one in part:
            for fact in one.details.get("facts", ()) if one.source == "engine" else ():
                triple = (fact["subject"], fact["predicate"], fact["object"])
                found.setdefault(one.scope, {})[triple] = one
    return found


def _conclusions(context: StepContext, scope: Scope) -> dict[Triple, InferredFact]:
    view = View(Access(scope, Role.AGENT), STATED)
    query = FactQuery(predicates=predicates())
    told = [
        one
        for one in context.tools.store.facts.told(query, view, MOST_FACTS)
        if one.until is None or one.until > context.now
    ]
    found = conclude(told, INFERENCE_STEPS, INFERENCE_CONFIDENCE)
    keys = sorted({premise.key for one in found for premise in one.premises})
    read = context.tools.store.memories.read(keys)
    here = {key for key, one in read.items() if one.scope == scope}
    return {
        (one.fact.subject, one.fact.predicate, one.fact.object): one
        for one in found
        if all(premise.key in here for premise in one.premises)
    }


def _withdrawn_inference(
    context: StepContext, inferred: Mapping[Triple, Memory], found: Mapping[Triple, InferredFact]
) -> Iterator[Decision]:
    for triple, memory in inferred.items():
        premises = [str(one) for one in memory.details.get("premises", ())]
        if len(context.tools.store.memories.keys(premises)) < len(premises):
            why = "a memory it followed from was erased"
            yield Decision("inference.erased", why, (Erase(memory),), memory.id)
        elif triple not in found and memory.status in ACTIVE:
            why = f"no longer follows from {len(premises)} facts"
            away = becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED)
            yield Decision("inference.withdrawn", why, (away,), memory.id)


def _drawn(context: StepContext, scope: Scope, found: Sequence[InferredFact]) -> Iterator[Decision]:
    keys = sorted({premise.key for one in found for premise in one.premises})
    read = context.tools.store.memories.read(keys)
    for one in found:
        premises = list(dict.fromkeys(read[premise.key].id for premise in one.premises))
        if len(premises) < len({premise.key for premise in one.premises}):
            continue
        add, edges = _memory(context, scope, one, premises)
        why = f"follows from {len(one.premises)} facts, sure to {one.sure:.2f}"
        yield Decision("inference.drawn", why, (add, *edges), add.memory.id)


def _memory(
    context: StepContext, scope: Scope, one: InferredFact, premises: Sequence[str]
) -> tuple[Add, tuple[Draw, ...]]:
    fact = {
        "subject": one.fact.subject,
        "predicate": one.fact.predicate,
        "object": one.fact.object,
        "functional": False,
        "confidence": round(one.sure, 4),
    }
    who, whom = (_called(context, scope, name) for name in (one.fact.subject, one.fact.object))
    draft = Draft(
        worded(who, one.fact.predicate, whom),
        category="fact",
        kind=Kind.SEMANTIC,
        type=Type.FACT,
        tags=(INFERENCE_TAG,),
        details={"facts": [fact], "premises": list(premises)},
        confidence=round(one.sure, 4),
        scope=scope,
    )
    known_by = (*premises, one.fact.predicate, one.fact.subject, one.fact.object)
    return context.drawn(draft, "inference", premises, *known_by, by=EdgeType.INFERRED_FROM)


def _called(context: StepContext, scope: Scope, name: str) -> str:
    """A name as people write it; facts have it in lower case."""
    entity = context.tools.store.entities.get(name, Access(scope, Role.AGENT))
    return entity.name if entity is not None and entity.name.casefold() == name else name
