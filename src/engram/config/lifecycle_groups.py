"""What time does to a memory, in numbers: retention, importance, lifecycle, promotion and forgetting.

The rules that use them are pure functions in `engram.lifecycle`; docs/lifecycle-rules.md draws their curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engram.config.making import choice, number, words

CURVES: Final = ("l2", "huber", "elastic", "ebbinghaus")
"""The shapes that forgetting can have."""


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """How much of a memory is left after some time without use."""

    mode: str = choice("huber", CURVES, "the shape of forgetting", "retention")
    half_life_days: float = number(
        30.0, 0.1, 36_500, "days after which half of a human-made episode is left", "retention"
    )
    extracted_factor: float = number(
        3.0, 1, 100, "how much faster goes what no person wrote down", "retention"
    )
    shrink: float = number(
        0.1, 0, 1, "elastic: share of what is gone that is taken off again, so that weak ones end", "design"
    )
    access_gain: float = number(0.1, 0, 1, "retention for each e-fold of uses", "retention")
    access_limit: float = number(0.3, 0, 1, "retention that uses can bring at most", "retention")
    spacing_gain: float = number(0.3, 0, 5, "share more for each e-fold of distinct sessions", "cortex")
    arousal_slows: float = number(
        1.0, 0, 10, "how much longer a memory lasts that stirred, by its arousal", "cortex"
    )
    arousal_strength: float = number(0.5, 0, 5, "initial strength more, by arousal", "cortex")
    replay_gain: float = number(0.2, 0, 5, "hold that a replay adds", "cortex")
    most_held: float = number(3.0, 1, 100, "hold that replays can reach", "design")
    buffer_rate: float = number(5.0, 0, 100, "decay of recency in a week, in the buffer", "layers")
    working_rate: float = number(1.0, 0, 100, "the same in the working layer", "layers")
    core_rate: float = number(0.05, 0, 100, "the same in the core", "layers")


FACTORS: Final = (
    "base", "frequency", "recency", "emotion", "stability", "layer", "trust", "confirmations", "activation",
)  # fmt: skip
"""What effective importance is made of."""


@dataclass(frozen=True, slots=True)
class ImportanceConfig:
    """The nine factors of effective importance, and how importance fades. The weights sum to 1."""

    base: float = number(0.25, 0, 1, "weight of the importance it has by itself", "design")
    frequency: float = number(0.12, 0, 1, "weight of how often it was used", "design")
    recency: float = number(0.15, 0, 1, "weight of how lately it was used", "design")
    emotion: float = number(0.08, 0, 1, "weight of how strongly it was felt", "design")
    stability: float = number(0.06, 0, 1, "weight of use that is regular rather than in bursts", "design")
    layer: float = number(0.08, 0, 1, "weight of how far it has come", "design")
    trust: float = number(0.10, 0, 1, "weight of how far its source is trusted", "design")
    confirmations: float = number(0.08, 0, 1, "weight of how often it was confirmed", "design")
    activation: float = number(0.08, 0, 1, "weight of its base-level activation (ACT-R)", "design")
    repetition_weight: float = number(
        2.5, 0, 100, "uses that being said again counts for, in reinforcement", "layers"
    )
    loss_a_day: float = number(0.05, 0, 1, "importance lost in each whole day without use", "layers")
    floor: float = number(0.3, 0, 1, "importance that disuse leaves in any case", "layers")

    @property
    def weights(self) -> dict[str, float]:
        """The nine weights by name."""
        return {name: getattr(self, name) for name in FACTORS}


@dataclass(frozen=True, slots=True)
class LifecycleConfig:
    """The policy's view: what is hot, what is stale, and how precisely a vector is kept."""

    heat_uses: float = number(2.0, 0.1, 1_000, "reinforcement that gives 63 % of the heat", "design")
    heat_days: float = number(
        7.0, 0.1, 3_650, "days without use after which half of the heat is left", "design"
    )
    active_heat: float = number(0.55, 0, 1, "heat from which a memory is active", "design")
    stale_decay: float = number(0.65, 0, 1, "decay from which an unverified memory is stale", "design")
    unverified_days: float = number(
        0.0, 0, 36_500, "days after which a fact that nobody verified again is stale; 0: never", "ledger"
    )
    hot_retention: float = number(0.8, 0, 1, "retention above which a vector is kept in full", "retention")
    hot_days: float = number(7.0, 0, 3_650, "days since its last use that keep a vector in full", "design")
    warm_retention: float = number(0.4, 0, 1, "retention above which it is kept in eight bits", "design")
    cold_days: float = number(14.0, 0, 3_650, "age before a memory may leave the hot tier", "design")
    cold_value: float = number(0.35, 0, 1, "value up to which it leaves the hot tier", "design")
    hot_value: float = number(0.7, 0, 1, "value from which it comes back to the hot tier", "design")


@dataclass(frozen=True, slots=True)
class PromotionConfig:
    """How a memory proves itself, layer by layer, and how it falls back."""

    buffer_reinforcement: float = number(
        5.0, 0, 1_000, "reinforcement that takes a memory out of the buffer", "layers"
    )
    lesson_hours: float = number(2.0, 0, 8_760, "hours after which lessons and procedures leave it", "layers")
    buffer_minutes: float = number(
        0.0, 0, 525_600, "minutes after which everything leaves it; 0: time alone is not enough", "retention"
    )
    buffer_accesses: int = number(
        0, 0, 1_000, "uses that alone are enough to leave it; 0: they are not", "retention"
    )
    ttl_hours: float = number(24.0, 0, 87_600, "hours that the buffer holds a memory", "layers")
    untriaged_hours: float = number(
        48.0, 0, 87_600, "hours that it holds one which was never looked at", "layers"
    )
    rescue_share: float = number(
        0.5, 0, 1, "share of the reinforcement needed that rescues an expired memory", "layers"
    )
    rescue_importance: float = number(0.70, 0, 1, "importance that rescues an expired memory", "layers")
    core_reinforcement: float = number(
        3.0, 0, 1_000, "reinforcement from which a memory may ask for the core", "layers"
    )
    core_days: float = number(7.0, 0, 3_650, "age from which any reinforcement is enough for that", "layers")
    core_importance: float = number(0.6, 0, 1, "importance it needs in any case", "layers")
    semantic_importance: float = number(
        0.7, 0, 1, "importance from which an episode may become knowledge", "retention"
    )
    semantic_accesses: int = number(5, 0, 1_000, "uses it needs for that", "retention")
    gate_reject: float = number(0.45, 0, 1, "score under which the gate rejects by itself", "design")
    gate_approve: float = number(0.62, 0, 1, "score from which the gate approves by itself", "design")
    triage_keep: float = number(0.38, 0, 1, "score under which triage leaves it in the buffer", "design")
    triage_promote: float = number(0.48, 0, 1, "score from which triage promotes by itself", "design")
    triage_minutes: float = number(10.0, 0, 10_080, "age from which triage looks at a memory", "layers")
    worth_weight: float = number(
        0.35, 0, 1, "weight of category, importance and feeling in the score", "design"
    )
    specificity_weight: float = number(0.10, 0, 1, "weight of names, numbers and times in it", "design")
    standalone_weight: float = number(0.20, 0, 1, "weight of being understood alone in it", "design")
    reinforcement_weight: float = number(0.20, 0, 1, "weight of reinforcement in it", "design")
    trust_weight: float = number(0.15, 0, 1, "weight of the source's trust in it", "design")
    first_retry_hours: float = number(
        24.0, 0, 87_600, "hours until a rejected memory may ask again", "layers"
    )
    second_retry_hours: float = number(
        72.0, 0, 87_600, "hours after the second rejection; after the third it never asks again", "layers"
    )
    demote_rejections: int = number(
        3, 1, 100, "rejections after which what was extracted by itself leaves the working layer", "design"
    )

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the score by the name of the part."""
        names = ("worth", "specificity", "standalone", "reinforcement", "trust")
        return {name: getattr(self, f"{name}_weight") for name in names}


@dataclass(frozen=True, slots=True)
class ForgettingConfig:
    """What may go, when, and what never does."""

    protected: str = words(
        "commitment, correction, decision, preference, principle",
        "categories that are never archived by themselves, with commas between",
        "files",
    )
    archive_days: float = number(90.0, 0, 36_500, "age above which a memory may be archived", "retention")
    retention_below: float = number(
        0.15, 0, 1, "retention under which it may; 0: never, 1: whatever is left", "retention"
    )
    importance_below: float = number(0.3, 0, 1, "importance under which it may", "retention")
    importance_kind: str = choice(
        "effective",
        ("effective", "stored"),
        "which importance is meant: by all nine factors, or the one it has by itself",
        "design",
    )
    accesses_below: int = number(3, 0, 1_000, "uses under which it may", "retention")
    strength_below: float = number(0.05, 0, 10, "strength under which it is archived; 0: never", "cortex")
    kept_importance: float = number(
        0.7, 0, 1, "importance from which a memory is not archived for want of strength", "cortex"
    )
    kept_arousal: float = number(
        0.5, 0, 1, "arousal from which a memory is not archived for want of strength", "cortex"
    )
    commitment_days: float = number(90.0, 0, 36_500, "days after which a resolved commitment goes", "files")
    p2_days: float = number(
        0.0, 0, 36_500, "days without use after which priority P2 goes; 0: not for that", "ledger"
    )
    p3_days: float = number(0.0, 0, 36_500, "the same for priority P3", "ledger")
    purge_days: float = number(90.0, 0, 36_500, "days in the archive after which it is erased", "cortex")
    buffer_cap: int = number(200, 0, 1_000_000, "memories in the buffer of a scope; 0: no limit", "layers")
