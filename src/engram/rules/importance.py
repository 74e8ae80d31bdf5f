"""Importance: a memory, its uses and the time come in; how much it matters now comes out, factor by factor.

The stored importance is what a memory is worth by itself. What disuse takes off is worked out when it is
asked for and never written: a memory that is used again counts in full again, nothing is taken off twice,
and no run has to remember what an earlier one did.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from engram.config import Config
from engram.lazily import dataclass
from engram.model.memory import Affect, Kind, Layer, Lifecycle, Memory, Policy, Priority
from engram.rules.retention import DAY_S, age_days, half_life_by_source, l2, retention, unused_days
from engram.rules.traits import by_layers, is_confirmed, is_disputed, protected
from engram.text import feelings
from engram.text.lexicon import listed
from engram.text.marks import is_correction

if TYPE_CHECKING:
    from engram.model.maintenance import Judgement

REPETITION_WEIGHT = 2.5  # uses that being said again counts for, in reinforcement (layers)
HEAT_USES = 2.0  # reinforcement that gives 63 % of the heat
HEAT_DAYS = 7.0  # days without use after which half of the heat is left
ACTIVE_HEAT = 0.55  # heat from which a memory is active
IMPORTANCE_FLOOR = 0.3  # importance that disuse leaves in any case (layers)
STALE_DECAY = 0.65  # decay from which an unverified memory is stale

# ---------------------------------------------------------------- affect
# Affect: what was said, how new it was and how it ended come in; how it felt comes out.
#
# Valence says whether it was good or bad, intensity how much was felt, arousal how much it stirs: a memory
# with high arousal fades more slowly. Emphasis, urgency, novelty and corrections stir, but have no
# direction.


def affect(text: str, *, novelty: float = 0.0, outcome: str = "") -> Affect:
    """How `text` felt; `novelty` from 0 (well known) to 1, `outcome` as a task reports it ("failed", "成功").

    >>> affect("The meeting is on Monday") == Affect()
    True
    >>> joy, anger = affect("I love this, amazing!"), affect("I hate it when the build breaks")
    >>> joy.valence > 0.5, anger.valence < -0.5, affect("Deployed v2", outcome="failed").valence < 0
    (True, True, True)
    """
    tone = feelings.tone(text)
    ended = outcome_of(outcome)
    felt = feelings.strength_of(tone)
    stirred = min(
        MOST_STIRRED,
        0.3 * tone.emphasis
        + 0.25 * tone.urgency
        + 0.2 * min(1.0, max(0.0, novelty))
        + (0.15 if is_correction(text) else 0.0),
    )
    return Affect(
        valence=_within(feelings.valence_of(tone) + ended, -1.0),
        intensity=_within(felt + stirred + abs(ended)),
        arousal=_within(LEXICAL * tone.arousal + stirred + abs(ended) / 2),
    )


MOST_STIRRED: Final = 0.45
"""What has no direction adds at most this: alone it never makes a text a mixed feeling."""
LEXICAL: Final = 0.75
"""How much of a word's arousal counts when it is said calmly."""


def outcome_of(outcome: str) -> float:
    """What an outcome adds to valence; 0 for one that is not known.

    >>> outcome_of("Success"), outcome_of("partial"), outcome_of("失败"), outcome_of("?")
    (0.3, 0.1, -0.3, 0.0)
    """
    return _outcomes().get(outcome.strip().lower(), 0.0)


@cache
def _outcomes() -> dict[str, float]:
    return {word: float(value) for word, value in listed("feelings", "outcomes")}


def _within(value: float, least: float = 0.0) -> float:
    return round(min(1.0, max(least, value)), 3)


# ---------------------------------------------------------------- defaults
# What a category means for a memory that says nothing else: importance, priority, policy.


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a memory of some category starts."""

    importance: float
    priority: Priority
    policy: Policy = Policy.DURABLE


STANDINGS: Mapping[str, Standing] = MappingProxyType(
    {
        "identity": Standing(0.9, Priority.P0),
        "constraint": Standing(0.9, Priority.P0),
        "instruction": Standing(0.85, Priority.P1),
        "principle": Standing(0.8, Priority.P1),
        "correction": Standing(0.8, Priority.P1),
        "commitment": Standing(0.8, Priority.P1),
        "decision": Standing(0.75, Priority.P1),
        "preference": Standing(0.7, Priority.P1),
        "procedure": Standing(0.7, Priority.P1),
        "relationship": Standing(0.65, Priority.P1),
        "person": Standing(0.65, Priority.P1),
        "skill": Standing(0.65, Priority.P2),
        "insight": Standing(0.65, Priority.P2),
        "entity": Standing(0.6, Priority.P2),
        "project": Standing(0.6, Priority.P2),
        "technical": Standing(0.6, Priority.P2),
        "fact": Standing(0.6, Priority.P2),
        "context": Standing(0.5, Priority.P2),
        "general": Standing(0.5, Priority.P2),
        "question": Standing(0.4, Priority.P3, Policy.EPHEMERAL),
        "moment": Standing(0.4, Priority.P3),
    }
)
GENERAL = STANDINGS["general"]

SOURCE_CONFIDENCE: Mapping[str, float] = MappingProxyType({"human": 0.95, "agent": 0.8})
EXTRACTED_CONFIDENCE = 0.7
"""What rules took out of a conversation, or an import brought, is believed so far."""


def standing_of(category: str) -> Standing:
    """Where a memory of this category starts; a custom category like a general one."""
    return STANDINGS.get(category, GENERAL)


def confidence_of(source: str) -> float:
    """How far a statement of this source is believed at first."""
    return SOURCE_CONFIDENCE.get(source.partition(":")[0], EXTRACTED_CONFIDENCE)


USUAL = Config()
HOUR_S: Final = 3_600.0
LEAST_H: Final = 1.0 / 60.0
"""A use counts as at least a minute ago: the power law knows no end at zero."""
ACTIVATION_DECAY: Final = 0.5
ACTIVATION_MIDDLE: Final = -2.0
"""The base level at which a memory comes to mind every other time; one use two days ago is about there."""
MANY_USES: Final = 20
LAYER_SHARE: Final = {Layer.BUFFER: 0.3, Layer.WORKING: 0.6, Layer.CORE: 1.0}
KNOWLEDGE_SHARE: Final = 0.8
"""What knowledge counts for at least, whatever its layer."""
SEVERAL: Final = 3
"""Moments that make two gaps: fewer tell nothing about regularity."""


WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "base": 0.25,  # the importance it has by itself
        "frequency": 0.12,  # how often it was used
        "recency": 0.15,  # how lately it was used
        "emotion": 0.08,  # how strongly it was felt
        "stability": 0.06,  # use that is regular rather than in bursts
        "layer": 0.08,  # how far it has come
        "trust": 0.10,  # how far its source is trusted
        "confirmations": 0.08,  # how often it was confirmed
        "activation": 0.08,  # its base-level activation (ACT-R)
    }
)
"""What each factor of effective importance counts; together 1."""


@dataclass(frozen=True, slots=True)
class Importance:
    """What each factor says, from 0 to 1, and the weighted sum of all nine."""

    base: float
    frequency: float
    recency: float
    emotion: float
    stability: float
    layer: float
    trust: float
    confirmations: float
    activation: float
    total: float

    def told(self) -> str:
        """The factors in words, for an explanation."""
        named = ((name, getattr(self, name)) for name in self.__slots__ if name != "total")
        return ", ".join(f"{name} {value:.2f}" for name, value in named)


def effective_importance(
    memory: Memory, uses: Sequence[datetime], now: datetime, config: Config = USUAL
) -> Importance:
    """How much a memory matters by all that is known. `uses` are the times of its uses, where they are kept.

    >>> from datetime import UTC
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> found = effective_importance(Memory("1", "We met", "h", day, day), [], day)
    >>> found.base, found.recency, found.trust, round(found.total, 3)
    (0.5, 1.0, 1.0, 0.478)
    """
    factors = {
        "base": decayed_importance(memory, now, config),
        "frequency": min(1.0, math.log1p(memory.usage.accessed) / math.log1p(MANY_USES)),
        "recency": _recency(memory, now, config),
        "emotion": min(1.0, max(abs(memory.affect.valence), memory.affect.arousal)),
        "stability": stability(uses, memory),
        "layer": _layer(memory),
        "trust": min(1.0, max(0.0, memory.trust)),
        "confirmations": 1.0 - 0.5 ** max(memory.usage.confirmed, int(is_confirmed(memory))),
        "activation": comes_to_mind(activation(memory, uses, now)),
    }
    return Importance(**factors, total=sum(WEIGHTS[name] * value for name, value in factors.items()))


def decayed_importance(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """The importance after so many whole days without use. A number for this moment: it is not to be stored.

    What is protected keeps all of it. By the rules of *layers* a run of maintenance takes it off instead.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day, importance=0.5)
    >>> [decayed_importance(memory, day + timedelta(days=days)) for days in (0.9, 1, 3, 4, 400)]
    [0.5, 0.45, 0.35, 0.3, 0.3]
    """
    settings = config.forgetting
    if protected(memory, config) or by_layers(config):
        return memory.importance
    lost = settings.importance_loss * math.floor(unused_days(memory, now))
    return min(memory.importance, max(IMPORTANCE_FLOOR, round(memory.importance - lost, 9)))


def reinforcement(memory: Memory) -> float:
    """How often a memory proved itself: uses, and 2.5 for each time it was said again.

    >>> from engram.model.memory import Usage
    >>> day = datetime(2026, 1, 1)
    >>> reinforcement(Memory("1", "Hi", "h", day, day, usage=Usage(accessed=2, repeated=2)))
    7.0
    """
    return memory.usage.accessed + REPETITION_WEIGHT * memory.usage.repeated


def activation(memory: Memory, uses: Sequence[datetime], now: datetime) -> float:
    """The base level of ACT-R, ln Σ t^-0.5 over the hours since each use; storing it was the first.

    Uses whose times are not kept any more count as spread evenly over the memory's life.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day)
    >>> (
    ...     activation(memory, [], day + timedelta(hours=1)),
    ...     round(activation(memory, [], day + timedelta(days=2)), 2),
    ... )
    (0.0, -1.94)
    """
    known = [_since(at, now) ** -ACTIVATION_DECAY for at in (memory.created_at, *uses)]
    unknown = max(0, memory.usage.accessed - len(uses))
    life = max(LEAST_H, age_days(memory, now) * 24.0)
    spread = unknown * life**-ACTIVATION_DECAY / (1.0 - ACTIVATION_DECAY)
    return math.log(sum(known) + spread)


def comes_to_mind(base_level: float) -> float:
    """A base level as a chance, from 0 to 1.

    >>> comes_to_mind(ACTIVATION_MIDDLE), comes_to_mind(2.0) > 0.95
    (0.5, True)
    """
    return 1.0 / (1.0 + math.exp(ACTIVATION_MIDDLE - base_level))


def stability(uses: Sequence[datetime], memory: Memory) -> float:
    """How regular its use is: 1 like clockwork, 0.5 by chance, near 0 in one burst; 0 for one never used.

    With too few times to tell, uses of several sessions speak for regularity.
    """
    moments = sorted((memory.created_at, *uses))
    if len(moments) < SEVERAL:
        used = memory.usage.accessed
        return 0.5 * min(1.0, memory.usage.sessions / used) if used else 0.0
    gaps = [(later - one).total_seconds() for one, later in pairwise(moments)]
    middle = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - middle) ** 2 for gap in gaps) / len(gaps))
    return middle / (middle + spread) if middle > 0 else 0.0


def _recency(memory: Memory, now: datetime, config: Config) -> float:
    """Also of knowledge: what does not fade may yet be long unused."""
    return l2(unused_days(memory, now), half_life_by_source(memory, config.retention))


def _layer(memory: Memory) -> float:
    share = LAYER_SHARE[memory.layer]
    return share if memory.kind is Kind.EPISODIC else max(share, KNOWLEDGE_SHARE)


def _since(at: datetime, now: datetime) -> float:
    return max(LEAST_H, (now - at).total_seconds() / HOUR_S)


# ---------------------------------------------------------------- heat
# Heat and decay: a memory and the time come in; how much it is in use and what that makes it comes out.


def heat(memory: Memory, now: datetime) -> float:
    """How much a memory is in use, from 0 to 1: often and lately.

    >>> from datetime import UTC, timedelta
    >>> from engram.model.memory import Usage
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day, usage=Usage(accessed=4))
    >>> round(heat(memory, day), 2), round(heat(memory, day + timedelta(days=7)), 2)
    (0.86, 0.43)
    """
    used = 1.0 - math.exp(-reinforcement(memory) / HEAT_USES)
    return used * l2(unused_days(memory, now), HEAT_DAYS)


def decay(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """How far a memory has gone, from 0 to 1: what its retention has lost."""
    return 1.0 - retention(memory, now, config)


def lifecycle_state(memory: Memory, now: datetime, config: Config = USUAL) -> Lifecycle:
    """The policy's view of a memory.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day)
    >>> lifecycle_state(memory, day), lifecycle_state(memory, day + timedelta(days=60))
    (<Lifecycle.CANDIDATE: 'candidate'>, <Lifecycle.STALE: 'stale'>)
    """
    if _is_stale(memory, now, config):
        return Lifecycle.STALE
    if is_disputed(memory):
        return Lifecycle.CANDIDATE
    if heat(memory, now) >= ACTIVE_HEAT:
        return Lifecycle.ACTIVE
    used = memory.usage.accessed or memory.usage.repeated or memory.usage.helpful
    return Lifecycle.VALIDATED if used or is_confirmed(memory) else Lifecycle.CANDIDATE


COLD, HOT = "cold", "hot"
COLD_DAYS = 14.0  # age from which a memory can become cold (files)
COLD_VALUE = 0.35  # value up to which it does
HOT_VALUE = 0.7  # value from which it is hot again
VALUE_USES, VALUE_DAYS = 20, 90.0  # uses that count in full, and days without use after which nothing counts


def tier_value(memory: Memory, now: datetime) -> float:
    """What it is worth to have a memory at hand (files): sure, used, used lately, important, helpful.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day, importance=0.3, confidence=0.7)
    >>> round(tier_value(memory, day), 2), round(tier_value(memory, day + timedelta(days=90)), 2)
    (0.48, 0.28)
    """
    used = memory.usage
    votes = used.helpful + used.unhelpful
    value = (
        0.24 * memory.confidence
        + 0.26 * min(1.0, math.log1p(used.accessed) / math.log1p(VALUE_USES))
        + 0.20 * max(0.0, 1.0 - unused_days(memory, now) / VALUE_DAYS)
        + 0.20 * memory.importance
        + 0.10 * (used.helpful / votes if votes else 0.5)
        + 0.08 * (memory.category == "correction")
        + 0.05 * is_confirmed(memory)
        - 0.10 * is_disputed(memory)
    )
    return _within(value)


def cold_ones(noted: Mapping[str, Judgement]) -> frozenset[str]:
    """The ids of memories that have become cold, by what maintenance noted of them."""
    return frozenset(id_ for id_, one in noted.items() if one.verdict == COLD)


def tier_move(memory: Memory, now: datetime, *, is_cold: bool) -> str:
    """The tier a memory goes to; empty when it stays. Between the two bounds it stays where it is."""
    value = tier_value(memory, now)
    if is_cold:
        return HOT if value >= HOT_VALUE else ""
    return COLD if age_days(memory, now) >= COLD_DAYS and value <= COLD_VALUE else ""


LASTING = frozenset(
    {"preference", "principle", "identity", "relationship"}
    | {"procedure", "person", "constraint", "instruction"}
)
"""Categories that do not grow old for want of a second look; standing rules are among them."""


def _is_stale(memory: Memory, now: datetime, config: Config) -> bool:
    settings = config.forgetting
    if settings.unverified_days and _grows_old(memory):
        seen = memory.verified_at or memory.created_at
        if (now - seen).total_seconds() > settings.unverified_days * DAY_S:
            return True
    return not is_confirmed(memory) and decay(memory, now, config) >= STALE_DECAY


def _grows_old(memory: Memory) -> bool:
    held = memory.pinned or memory.kind is Kind.PROCEDURAL or memory.priority is Priority.P0
    return not held and memory.category not in LASTING
