"""Judging: candidates come in; the best are read, weighed with what is known about them, and put in order.

The fit says how well a memory answers. The standing says how far the memory has proved itself; in the default
profile it only tips the balance between memories that fit alike: that is what public benchmarks reward.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import count
from math import inf, log1p, log2, prod
from operator import truediv
from types import MappingProxyType
from typing import TYPE_CHECKING

from engram.model.memory import Layer, Lifecycle, Memory, Status, Verification
from engram.model.recall import Hit, Intent, Quality, Question, Trust
from engram.recall import channels, intents
from engram.recall.plan import SHORT_RELEVANCE, Planned
from engram.rules.retention import DAY_S, freshness, half_life
from engram.rules.traits import REFERENCE
from engram.text import lexicon, re, words
from engram.text.bm25 import phrase_share
from engram.text.slots import kinds_asked, value_kinds

if TYPE_CHECKING:
    from engram.config import RetentionConfig
    from engram.model.scope import Scope
    from engram.ports import Tools
    from engram.recall.candidates import Candidate
    from engram.recall.pool import Pool

JUDGED = 25  # candidates whose records are read and judged, at least (measured)
SESSION_SHARE = 0.3  # share that the best turns of a session lend to all of it (measured)
PHRASE_GAIN = 1.0  # factor more when quoted words stand together
SPEAKER_GAIN = 1.3  # factor when the question names the speaker (measured)
PREFER_GAIN = 0.05  # factor more for the kind a question is after

ACCURACY_BASE = 0.5  # accuracy of a memory nobody vouched for (cortex)
ACCURACY_CORROBORATED = 0.1  # gain for each corroborating source (cortex)
ACCURACY_CONFIRMED = 0.3  # gain when a person confirmed it (cortex)
ACCURACY_CONTRADICTED = 0.2  # loss when it is challenged or disputed (cortex)
MOST_USED = log1p(20)  # so many uses make a memory as useful as can be

# ---------------------------------------------------------------- quality
# Self-measurement: how good a recall thinks it was.


def measure(
    hits: Sequence[Hit],
    candidates: int,
    ms: float,
    grades: Sequence[float] | None = None,
    rerank: str = "",
    rerank_gain: float | None = None,
) -> Quality:
    """The figures of one recall; `grades` is each hit's own relevance, where the one shown is another."""
    grades = [hit.relevance for hit in hits] if grades is None else grades
    return Quality(
        top_relevance=max(grades, default=0.0),
        mean_relevance=sum(grades) / len(grades) if grades else 0.0,
        ndcg=ndcg(grades),
        candidates=candidates,
        returned=len(hits),
        tokens=sum(hit.tokens for hit in hits),
        ms=ms,
        rerank=rerank,
        rerank_gain=rerank_gain,
    )


def ndcg(grades: Sequence[float]) -> float:
    """The order as it is against the best order of the same grades.

    >>> ndcg([1.0, 0.5]), ndcg([])
    (1.0, 0.0)
    """
    best = gain(sorted(grades, reverse=True))
    return gain(grades) / best if best else 0.0


def gain(grades: Sequence[float]) -> float:
    """What grades are worth in their order, each the less the further down."""
    return float(sum(map(truediv, grades, map(log2, count(2)))))


LAYER_BONUS = MappingProxyType({Layer.BUFFER: 0.9, Layer.WORKING: 1.0, Layer.CORE: 1.1})
LIFECYCLE_WEIGHT = MappingProxyType(
    {Lifecycle.CANDIDATE: 0.98, Lifecycle.VALIDATED: 1.03, Lifecycle.ACTIVE: 1.03, Lifecycle.STALE: 0.85}
)
VERIFICATION_WEIGHT = MappingProxyType({Verification.USER_CONFIRMED: 1.05, Verification.DISPUTED: 0.85})
PINNED_BONUS = 1.05
STATUS_STANDING: Mapping[Status, float] = MappingProxyType({Status.CHALLENGED: 0.8, Status.SAID: 0.6})
"""What a memory counts by its status, of those that recall searches (`Filters.statuses`); others whole."""
TIP = 0.01
"""How far importance and freshness tip the default profile, up or down: enough to decide between equals."""

GONE = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED})
"""Statuses that never stand above a memory that holds."""

PROFILES: Mapping[str, tuple[float, float, float, float]] = MappingProxyType(
    {"trust": (0.35, 0.25, 0.20, 0.20), "layered": (0.6, 0.0, 0.2, 0.2)}
)
"""Weights of relevance, accuracy, freshness, utility; `layered` has importance in the place of utility."""

OF_THE_ASKER = 1.3
"""What somebody said of themselves counts so much more when they ask about themselves."""
KIND_GAIN = 1.8
"""What has a value of the kind that is asked for (a day, a price, a count) counts so much more."""
TIED_READ = 5
"""So many more are read that an explicit edge ties to a hit."""
SESSION_BEST = 3
"""How many of a session's best turns speak for it."""


def chosen(pool: Pool, question: Question) -> dict[int, Candidate]:
    """The candidates that may be shown: the best so far, and those from which edges are followed."""
    depth = max(JUDGED, 2 * question.limit)
    lines = dict.fromkeys((*pool.best(depth, "found").tolist(), *pool.best(channels.GRAPH_STARTS).tolist()))
    return pool.candidates(pool.matched.keys[list(lines)].tolist())


def judge(
    candidates: Mapping[int, Candidate], plan: Planned, question: Question, tools: Tools
) -> list[Candidate]:
    """The best candidates, read and in order, best first."""
    depth = max(JUDGED, 2 * question.limit)
    in_order = sorted(candidates.values(), key=lambda c: (-c.found, c.key))
    best = in_order[:depth] + [one for one in in_order[depth:] if one.tied][:TIED_READ]
    read = _read(best, tools)
    _hear_speakers(read, plan)
    _find_phrases(read, plan)
    channels.weigh(read, plan, tools)
    _lend_within_sessions(read)
    now, retention, prefer = tools.clock.now(), tools.config.retention, plan.shown.prefer
    own = asks_of_oneself(question.text, plan)
    kinds = kinds_asked(intents.asking(question.text))
    for one in read:
        memory = one.record
        one.relevance = 1.0 - (1.0 - one.relevance) * (1.0 - one.lent_relevance)
        if plan.whole and plan.whole in memory.content:
            one.relevance = max(one.relevance, SHORT_RELEVANCE)
        one.freshness = fresh(memory, now, retention)
        one.parts = (
            *standing(memory, one.freshness),
            1.0 + PREFER_GAIN if memory.kind in prefer else 1.0,
            KIND_GAIN if kinds and kinds & value_kinds(memory.content) else 1.0,
            one.answers,
            OF_THE_ASKER if own and is_own(memory) else 1.0,
        )
        one.standing = prod(one.parts)
    _score(read, question.profile)
    return sorted(read, key=_place)


def asks_of_oneself(question: str, plan: Planned) -> bool:
    """Whether a question is about whoever asks it: "how old am I?", not "how do I reset the router?"."""
    if plan.shown.intent is Intent.PROCEDURAL and not plan.slots:
        return False
    return _FIRST_PERSON.search(question) is not None


def is_own(memory: Memory) -> bool:
    """Whether somebody says it of themselves and is believed; they may be left out: "sold the piano"."""
    if memory.speaker or memory.status is Status.SAID or memory.category == REFERENCE:
        return False
    if _FIRST_PERSON.search(memory.content) is not None:
        return True
    verb = _FIRST_VERB.match(memory.content)
    return verb is not None and (verb[1].endswith("ed") or verb[1].lower() in lexicon.words("verbs_past"))


_FIRST_VERB = re.compile(r"(?:(?:and|so|just|finally|also|btw|then),? )*([^\W\d_]{3,})\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|my|me|mine|we|we're|our|us)\b|[我咱俺]", re.IGNORECASE)


def fresh(memory: Memory, now: datetime, settings: RetentionConfig) -> float:
    """How fresh a memory is: 1 for what does not fade."""
    days = half_life(memory, settings)
    if days == inf:
        return 1.0
    age_days = max(0.0, (now - (memory.event_time or memory.created_at)).total_seconds() / DAY_S)
    return freshness(age_days, days, memory.usage.accessed)


def trust(memory: Memory, relevance: float, freshness: float) -> Trust:
    """The four parts a person can check."""
    usage = memory.usage
    accuracy = ACCURACY_BASE + ACCURACY_CORROBORATED * usage.confirmed
    if memory.verification is Verification.USER_CONFIRMED:
        accuracy += ACCURACY_CONFIRMED
    if memory.status is Status.CHALLENGED or memory.verification is Verification.DISPUTED:
        accuracy -= ACCURACY_CONTRADICTED
    accuracy += 0.05 * max(-4, min(4, usage.helpful - usage.unhelpful))
    useful = log1p(usage.accessed + 2 * usage.helpful + usage.repeated) / MOST_USED
    utility = min(1.0, max(0.0, useful - 0.1 * usage.unhelpful))
    return Trust(relevance, min(1.0, max(0.0, accuracy)), freshness, utility)


def standing(memory: Memory, freshness: float) -> tuple[float, ...]:
    """What a memory's standing makes of its fit, part by part: see `candidates.FACTORS`."""
    return (
        LAYER_BONUS[memory.layer],
        LIFECYCLE_WEIGHT[memory.lifecycle],
        VERIFICATION_WEIGHT.get(memory.verification, 1.0),
        PINNED_BONUS if memory.pinned else 1.0,
        STATUS_STANDING.get(memory.status, 1.0),
        1.0 + TIP * (2 * memory.importance - 1.0),
        1.0 + TIP * (2 * freshness - 1.0),
    )


def _read(best: list[Candidate], tools: Tools) -> list[Candidate]:
    records = tools.store.memories.read([c.key for c in best])
    read = [one for one in best if one.key in records]
    for one in read:
        one.record = records[one.key]
    return read


def _hear_speakers(read: Iterable[Candidate], plan: Planned) -> None:
    for one in read:
        speaker = one.record.speaker
        if speaker and not plan.named.isdisjoint(speaker.lower().split()):
            one.speaker = SPEAKER_GAIN


def _find_phrases(read: Iterable[Candidate], plan: Planned) -> None:
    if not plan.phrases:
        return
    for one in read:
        share = phrase_share(plan.phrases, words.terms(one.record.content))
        one.phrase = 1.0 + PHRASE_GAIN * share


def _lend_within_sessions(read: list[Candidate]) -> None:
    """A session whose best turns fit well is what the question is about: all its turns gain.

    Only turns of a talk do, which know who spoke: the beliefs of one session are about many things.
    """
    sessions: dict[tuple[str, Scope], list[Candidate]] = defaultdict(list)
    for one in read:
        memory = one.record
        if memory.session and memory.speaker:
            sessions[memory.session, memory.scope].append(one)
    for members in sessions.values():
        best = sorted([member.fit for member in members], reverse=True)[:SESSION_BEST]
        lent = SESSION_SHARE * sum(best) / SESSION_BEST
        for one in members:
            one.session = lent


def _score(read: list[Candidate], profile: str) -> None:
    """Scores from 0 up; in the default profile the best one is 1, also when it stands alone."""
    weights = PROFILES.get(profile)
    for one in read:
        one.score = one.standing * one.fit
    top = max((one.score for one in read), default=0.0) or 1.0
    for one in read:
        if weights is None:
            one.score /= top
            continue
        parts = trust(one.record, one.relevance, one.freshness)
        last = one.record.importance if profile == "layered" else parts.utility
        relevance, accuracy, freshness, rest = weights
        sum_ = (
            relevance * parts.relevance
            + accuracy * parts.accuracy
            + freshness * parts.freshness
            + rest * last
        )
        one.score = one.standing * sum_


def _place(one: Candidate) -> tuple[bool, float, bool, int, int]:
    """The order, with ties decided by standing and then by age, newest first: the same every time."""
    memory = one.record
    return (memory.status in GONE, -round(one.score, 9), not memory.pinned, -memory.layer.number, -one.key)
