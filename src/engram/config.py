"""Every number and choice that anyone may want to turn, with its range, its meaning and where it comes from.

Values come, later ones winning, from: the defaults here, a preset, a TOML file, the environment
(`ENGRAM_RECALL__LIMIT=20`), and arguments (`{"recall.limit": 20}`). A bad value names itself and its range.

Where a number comes from: `measured` by a benchmark of this project, `design` set with the architecture, or
the name of the system whose experience it carries (`layers`, `cortex`, `files`, `retention`, `ledger`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from engram.errors import ConfigError
from engram.model.clock import zone_of

# ---------------------------------------------------------------- making
# How a setting is written down: its default, its range or its known values, its meaning and its origin.


def number(default: float, low: float, high: float, meaning: str, origin: str) -> Any:
    """A setting that is a number; whole if its default is."""
    return field(default=default, metadata={"low": low, "high": high, "meaning": meaning, "origin": origin})


def choice(default: str, known: tuple[str, ...], meaning: str, origin: str) -> Any:
    """A setting that is one of a few words."""
    return field(default=default, metadata={"known": known, "meaning": meaning, "origin": origin})


def words(default: str, meaning: str, origin: str) -> Any:
    """A setting that is free text: a name, an address, a path."""
    return field(default=default, metadata={"meaning": meaning, "origin": origin})


# ---------------------------------------------------------------- briefing groups
# What a session starts with: the settings of resume and recall pack, with range, meaning and origin.


@dataclass(frozen=True, slots=True)
class ResumeConfig:
    """What a session that starts cold is told."""

    characters: int = number(16_000, 500, 1_000_000, "characters of a resume at least", "layers")
    most: int = number(64_000, 500, 1_000_000, "characters it grows to as memories grow", "layers")
    per_memory: float = number(16.0, 0, 1_000, "characters that each memory adds on the way there", "design")
    compact_share: float = number(0.25, 0.01, 1, "share of them that the compact form takes", "design")
    core_share: float = number(0.45, 0, 1, "share that the core takes at most", "layers")
    working_share: float = number(0.30, 0, 1, "share that is kept free for what is being worked on", "layers")
    recent_share: float = number(0.20, 0, 1, "share that is kept free for what has changed", "layers")
    core_relevance: float = number(0.35, 0, 1, "nearness to what goes on that the core needs", "layers")
    working_relevance: float = number(0.20, 0, 1, "the same for what is being worked on", "layers")
    high_gain: float = number(0.25, 0, 1, "nearness that identity and constraints gain", "layers")
    low_gain: float = number(0.10, 0, 1, "nearness that lessons, preferences and procedures gain", "layers")
    core_most: int = number(20, 1, 1_000, "memories of the core at most", "layers")
    working_most: int = number(40, 1, 1_000, "memories being worked on at most", "layers")
    sessions_most: int = number(10, 1, 1_000, "notes of sessions at most", "design")
    recent_most: int = number(30, 1, 1_000, "memories changed lately at most", "design")
    recent_days: int = number(14, 1, 3_650, "days that lately means", "design")
    buffer_most: int = number(40, 1, 1_000, "new memories at most", "design")


@dataclass(frozen=True, slots=True)
class PackConfig:
    """The recall pack: words of each section, and what is too old for it."""

    words: int = number(3_000, 100, 100_000, "words of a pack at most", "ledger")
    rules: int = number(200, 0, 100_000, "words for what always holds (P0), which is told whole", "ledger")
    mantra: int = number(20, 0, 100_000, "words for the mantra", "ledger")
    commitments: int = number(500, 0, 100_000, "words for open commitments", "ledger")
    waiting: int = number(150, 0, 100_000, "words for what is waited for", "ledger")
    focus: int = number(300, 0, 100_000, "words for today's focus", "ledger")
    context: int = number(800, 0, 100_000, "words for the context", "ledger")
    procedures: int = number(500, 0, 100_000, "words for procedures", "ledger")
    accounts: int = number(200, 0, 100_000, "words for accounts", "ledger")
    buffer: int = number(330, 0, 100_000, "words for whatever needs more", "ledger")
    focus_most: int = number(5, 1, 100, "things in today's focus", "ledger")
    p2_days: int = number(90, 1, 36_500, "days after which P2 is left out", "ledger")
    p3_days: int = number(30, 1, 36_500, "days after which P3 is left out", "ledger")
    stale_days: int = number(30, 1, 36_500, "days unchecked after which a fact is marked stale", "ledger")
    dropped_days: int = number(
        60, 1, 36_500, "days after which it is left out unless today's tasks need it", "ledger"
    )


# ---------------------------------------------------------------- context groups
# Settings of contexts: what a prompt's sections may take, and how a conversation is shortened.


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """What goes into a prompt, and how much of it."""

    model: str = words("", "the model that prompts are made for when a caller names none", "design")
    models_file: str = words("", "a TOML file with models of your own, beside those known", "design")
    reply_tokens: int = number(
        4_096, 16, 1_000_000, "tokens kept free for a reply; four times more where a model thinks", "cortex"
    )
    uncertainty: float = number(
        0.05, 0, 0.5, "share of a window kept free where tokens are estimated, not counted", "measured"
    )
    identity_share: float = number(0.08, 0, 1, "of the free tokens: who the agent is", "cortex")
    working_share: float = number(0.15, 0, 1, "of the free tokens: what is held in mind", "cortex")
    history_share: float = number(0.45, 0, 1, "of the free tokens: the conversation so far", "cortex")
    recalled_share: float = number(0.12, 0, 1, "of the free tokens: what is remembered", "cortex")
    schemas_share: float = number(0.05, 0, 1, "of the free tokens: patterns", "cortex")
    skills_share: float = number(0.08, 0, 1, "of the free tokens: skills", "cortex")
    today_share: float = number(0.04, 0, 1, "of the free tokens: notes of today", "cortex")
    roster_share: float = number(0.03, 0, 1, "of the free tokens: other agents", "cortex")
    most_memories: int = number(500, 1, 500, "memories in one prompt at most", "cortex")
    verbatim_exchanges: int = number(3, 0, 100, "last exchanges that are kept word for word", "cortex")
    told_exchanges: int = number(10, 0, 1_000, "exchanges before those kept as one line each", "cortex")


# ---------------------------------------------------------------- door groups
# Settings of the doors that speak to other services: the proxy before a model.


PLACES = ("user", "system")


@dataclass(frozen=True, slots=True)
class ProxyConfig:
    """The proxy before a model: it adds what is remembered to a chat, and listens to it."""

    base_url: str = words(
        "", "the model service behind the proxy, as its clients write it; empty: none", "layers"
    )
    api_key: str = words("", "key for that service; empty: each caller's own is passed on", "layers")
    budget_tokens: int = number(600, 0, 100_000, "tokens of memories added to a chat; 0: none", "design")
    time_budget_ms: int = number(
        400, 1, 60_000, "recalling may take so long; then the chat goes on without", "design"
    )
    place: str = choice(
        "user", PLACES, "where memories stand: before the user's words, or in the system's", "design"
    )
    capture: str = choice("on", ("on", "off"), "whether the proxy listens to what is said", "design")
    upstream_s: float = number(600.0, 1, 86_400, "how long the model may be silent", "design")
    waiting: int = number(1_000, 1, 1_000_000, "exchanges that may wait to be listened to", "design")


# ---------------------------------------------------------------- doubt groups
# Settings of doubt: which beliefs are looked at again, against what, and what is asked about.


@dataclass(frozen=True, slots=True)
class DoubtConfig:
    """How beliefs are probed, references checked and gaps found; how much of each in a run."""

    probe_days: float = number(
        90.0, 0, 3_650, "days without use or confirmation after which a belief is probed", "cortex"
    )
    probe_again_days: float = number(
        30.0, 0, 3_650, "days before a belief that nothing speaks for or against is probed again", "design"
    )
    probes: int = number(200, 0, 100_000, "beliefs probed in a run at most", "design")
    model_calls: int = number(20, 0, 10_000, "pairs a model is asked about in a run, at most", "design")
    stale_uses: int = number(
        5, 1, 1_000, "uses that make a belief worth asking about, when only its age is known", "design"
    )
    directory: str = words(
        "", "the directory that claims about files and symbols are checked against; empty: none", "retention"
    )
    project: str = words(
        "", "only memories of this project are checked against the directory; empty: all", "design"
    )
    drift_days: float = number(
        1.0, 0, 3_650, "days for which references stay dead before their memory is invalidated", "design"
    )
    references: int = number(
        20_000, 0, 10_000_000, "memories whose references are checked in a run at most", "design"
    )
    files: int = number(20_000, 0, 10_000_000, "files of a directory that are looked at", "design")
    file_bytes: int = number(
        1_000_000, 0, 100_000_000, "bytes of a file that is read for symbols at most", "design"
    )
    mentions: int = number(
        5, 1, 1_000, "memories that name somebody before more should be known of them", "design"
    )
    asked: int = number(
        2, 1, 1_000, "questions about somebody that found nothing before they are a gap", "design"
    )
    asked_days: float = number(30.0, 0, 3_650, "days for which such questions count", "design")
    gaps: int = number(50, 0, 10_000, "gaps kept for each place, the weightiest", "design")
    names: int = number(200, 0, 100_000, "names of each place that gaps are looked for in a run", "design")
    check_days: float = number(
        1.0, 0, 3_650, "days between two looks at the soundness of the file, by maintenance", "ledger"
    )
    core_lines: int = number(12, 1, 200, "statements that the summary of the core is made of", "design")


# ---------------------------------------------------------------- elsewhere
# Variables of two older systems, as settings of this one: whoever moves here changes no environment.
#
# What is said in our own words (`ENGRAM_SERVER__PORT`) wins. Variables without a counterpart are passed
# over.


MINUTES_AN_HOUR = 60


def _same(value: str) -> str:
    return value


def _base(value: str) -> str:
    """An address without the call at its end.

    >>> _base("https://api.example/v1/chat/completions"), _base("https://api.example/v1/")
    ('https://api.example/v1', 'https://api.example/v1')
    """
    trimmed = value.strip().rstrip("/")
    for call in ("/chat/completions", "/embeddings"):
        trimmed = trimmed.removesuffix(call)
    return trimmed


def _hours(minutes: str) -> str:
    """Minutes as hours; what is no number stays, and is refused by name."""
    try:
        return str(float(minutes) / MINUTES_AN_HOUR)
    except ValueError:
        return minutes


# Variable → setting, and how its value is written there. Of two that mean one setting the later counts.
VARIABLES: Mapping[str, tuple[str, Callable[[str], str]]] = MappingProxyType(
    {
        "ENGRAM_HOST": ("server.host", _same),
        "REMNIC_HOST": ("server.host", _same),
        "ENGRAM_PORT": ("server.port", _same),
        "REMNIC_PORT": ("server.port", _same),
        "ENGRAM_AUTH_TOKEN": ("server.api_key", _same),
        "REMNIC_AUTH_TOKEN": ("server.api_key", _same),
        "ENGRAM_API_KEY": ("server.api_key", _same),
        "ENGRAM_LLM_URL": ("llm.base_url", _base),
        "ENGRAM_LLM_KEY": ("llm.api_key", _same),
        "ENGRAM_LLM_MODEL": ("llm.model", _same),
        "ENGRAM_LLM_LEVEL": ("llm.level", _same),
        "ENGRAM_EMBED_URL": ("embed.base_url", _base),
        "ENGRAM_EMBED_KEY": ("embed.api_key", _same),
        "ENGRAM_EMBED_MODEL": ("embed.model", _same),
        "ENGRAM_BUFFER_CAP": ("forgetting.buffer_cap", _same),
        "ENGRAM_CONSOLIDATE_MINS": ("maintain.every_hours", _hours),
        "ENGRAM_PROXY_UPSTREAM": ("proxy.base_url", _base),
        "ENGRAM_PROXY_KEY": ("proxy.api_key", _same),
    }
)
CHAT_MODEL, EMBED_MODEL = "gpt-4o-mini", "text-embedding-3-small"
"""The models meant by those who name a service and no model."""


def from_elsewhere(variables: Mapping[str, str]) -> dict[str, str]:
    """The settings that those variables stand for.

    >>> from_elsewhere({"ENGRAM_PORT": "4000", "ENGRAM_AUTO_MERGE": "1"})
    {'server.port': '4000'}
    >>> from_elsewhere({"ENGRAM_LLM_URL": "http://127.0.0.1:11434/v1/chat/completions"})
    {'llm.base_url': 'http://127.0.0.1:11434/v1', 'llm.model': 'gpt-4o-mini'}
    """
    told = {
        setting: written(variables[variable])
        for variable, (setting, written) in VARIABLES.items()
        if variables.get(variable)
    }
    if "llm.base_url" in told:
        told.setdefault("llm.model", CHAT_MODEL)
    if "embed.base_url" in told:
        told["embed.name"] = "openai"
        told.setdefault("embed.model", EMBED_MODEL)
    return told


# ---------------------------------------------------------------- knowledge groups
# Settings of knowledge: what makes a pattern, a conclusion, a box, a card or a tree.


@dataclass(frozen=True, slots=True)
class KnowledgeConfig:
    """What consolidation learns from memories taken together, and how much it takes for that."""

    pattern_episodes: int = number(3, 2, 100, "similar episodes that make a pattern", "cortex")
    pattern_cosine: float = number(
        0.75, 0, 1, "how near episodes of a pattern lie; on the scale of common models", "cortex"
    )
    pattern_confidence: float = number(0.8, 0, 1, "how sure they are together, at least", "cortex")
    procedure_runs: int = number(3, 2, 100, "times a sequence of actions makes a procedure", "cortex")
    inference_steps: int = number(5, 2, 10, "facts that a conclusion rests on at most", "design")
    inference_confidence: float = number(0.5, 0, 1, "how sure a conclusion is, at least", "design")
    inferences: int = number(500, 0, 100_000, "conclusions drawn in one run at most", "design")
    box_overlap: float = number(
        0.35, 0, 1, "shared topics below which another box begins; from which boxes make a trace", "files"
    )
    box_idle_minutes: float = number(30.0, 1, 100_000, "minutes of silence that seal a box", "files")
    box_memories: int = number(50, 2, 10_000, "memories after which a box is sealed", "files")
    card_mentions: int = number(3, 1, 1_000, "memories that must name somebody for a card", "design")
    cards: int = number(200, 0, 100_000, "cards kept for each place, the most spoken of", "design")
    card_facts: int = number(12, 1, 200, "facts and statements on a card", "design")
    profile_lines: int = number(60, 1, 1_000, "lines of the behavioural profile", "files")
    identity_bytes: int = number(
        8_192, 256, 1_000_000, "bytes over which reflections about oneself are compacted", "files"
    )
    guideline_days: float = number(
        1.0, 0, 3_650, "days after which a decision has shown what it was worth", "design"
    )
    guideline_cases: int = number(5, 1, 10_000, "cases before anything is concluded from them", "design")
    tree_memories: int = number(5, 2, 1_000, "memories of a cluster, on average, in a small tree", "cortex")
    tree_clusters: int = number(400, 1, 10_000, "clusters of a tree at most", "design")
    tree_tokens: int = number(200, 20, 2_000, "tokens of the paragraph that stands for all", "cortex")
    model_calls: int = number(
        20, 0, 10_000, "questions to a model in one step, where one is allowed", "design"
    )


# ---------------------------------------------------------------- lifecycle groups
# What time does to a memory, in numbers: retention, importance, lifecycle, promotion and forgetting.
#
# The rules that use them are pure functions in `engram.lifecycle`; docs/lifecycle-rules.md draws their
# curves.


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


# ---------------------------------------------------------------- maintain groups
# Settings of maintenance: when it runs, in which pieces, and how far its steps go.


@dataclass(frozen=True, slots=True)
class MaintainConfig:
    """When memories are maintained, and in which pieces."""

    slice: int = number(500, 1, 100_000, "memories looked at in one piece", "design")
    every_hours: float = number(
        24.0, 0, 8_760, "hours after which the server consolidates again; 0: never", "design"
    )
    dream_idle_minutes: float = number(
        2.0, 0, 1_440, "minutes without any call before the server dreams", "retention"
    )
    dream_every_minutes: float = number(
        30.0, 0, 10_080, "minutes between two dreams at least; 0: never", "retention"
    )
    replays: int = number(50, 0, 10_000, "memories replayed in one dream", "cortex")
    replay_days: float = number(7.0, 0, 3_650, "days before a memory is replayed again", "design")
    log_days: int = number(90, 1, 36_500, "days that reports and logs of use are kept", "design")


# ---------------------------------------------------------------- review groups
# Settings of review: how much is looked at in a run, and how near two memories are before they are
# compared.
#
# Which cosine is near depends on the embedding model: `lifecycle/calibration.py` knows it space by space.


@dataclass(frozen=True, slots=True)
class ReviewConfig:
    """How much a run reviews."""

    triage_most: int = number(
        20, 1, 1_000, "memories of a namespace that triage asks a model about in a run", "layers"
    )
    gate_most: int = number(
        50, 1, 10_000, "memories of a namespace that the gate asks a model about in a run", "design"
    )
    pairs_most: int = number(
        50, 1, 10_000, "pairs that a model is asked about in a run, for each kind of question", "design"
    )
    neighbours: int = number(8, 1, 64, "nearest memories that one is compared with", "design")
    reconcile_hours: float = number(
        1.0,
        0,
        8_760,
        "hours that two statements are apart before the later may replace the earlier",
        "layers",
    )
    notes_least: int = number(3, 2, 1_000, "session notes that are distilled into one", "layers")
    notes_most: int = number(10, 2, 1_000, "the newest of them that are looked at", "layers")
    notes_length: int = number(250, 40, 8_192, "characters that they are distilled into at most", "layers")
    audit_most: int = number(200, 2, 10_000, "memories that one audit shows to a model", "design")
    audit_together: int = number(40, 2, 500, "memories shown to it at once", "design")
    audit_days: float = number(30.0, 0, 3_650, "days before a memory is shown again unchanged", "design")
    audit_safe: float = number(
        0.70, 0, 1, "share of proposals that must be allowed before any is carried out", "layers"
    )
    audit_modified_hours: float = number(
        24.0, 0, 8_760, "hours after a change in which an audit takes no standing away", "layers"
    )
    audit_new_hours: float = number(48.0, 0, 8_760, "the same after a memory was stored", "layers")
    stuck_days: float = number(
        7.0, 0, 3_650, "days after which an unused memory is stuck in the buffer", "layers"
    )
    stuck_uses: int = number(2, 0, 1_000, "uses under which it counts as unused", "layers")
    stale_tag_hours: float = number(
        24.0, 0, 8_760, "hours without use after which marks of an old review go", "layers"
    )


# ---------------------------------------------------------------- session groups
# The settings of sessions.


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What lives between the turns of a conversation, and for how long."""

    slots: int = number(9, 1, 9, "things on the mind at once, at most", "cortex")
    half_life_minutes: float = number(
        10.0, 0.1, 10_080, "minutes after which what is on the mind is half as strong", "design"
    )
    evict_below: float = number(0.1, 0, 1, "activation under which something leaves the mind", "cortex")
    offer_above: float = number(
        0.3, 0, 1, "activation above which what leaves the mind is offered to long-term memory", "cortex"
    )
    momentum: float = number(0.4, 0, 1, "the most that the course of the talk weighs in a query", "cortex")
    recalled: int = number(
        100, 3, 500, "memories recalled for a message at most, however large the model's window", "measured"
    )
    anticipate: int = number(
        100, 0, 500, "memories prepared for the next message; 0: nothing is prepared", "measured"
    )
    alike: float = number(
        0.6, -1, 1, "cosine to what was expected above which the prepared recall is used", "cortex"
    )
    questions: int = number(2, 0, 100, "clarifying questions in a session, at most", "cortex")
    question_days: float = number(7.0, 0, 3_650, "days before the same question is asked again", "cortex")
    whole_hours: float = number(4.0, 0, 8_760, "hours for which a sleeping session stays whole", "cortex")
    decayed_hours: float = number(
        24.0, 0, 8_760, "hours after which nothing of a sleeping session comes back", "cortex"
    )
    morning: int = number(5, 0, 9, "memories that come to mind at a fresh start", "cortex")
    idle_minutes: float = number(
        30.0, 0.1, 10_080, "minutes without a turn after which a session goes to sleep", "cortex"
    )
    live: int = number(1_000, 1, 100_000, "sessions of one caller awake at once, at most", "design")


# ---------------------------------------------------------------- groups
# Every number and choice that anyone may want to turn, group by group, with range, meaning and origin.


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """The file and its writer."""

    busy_timeout_s: float = number(10.0, 0.1, 300, "how long a write waits for another process", "design")
    queue_limit: int = number(
        10_000, 1, 1_000_000, "writes that may wait before callers are told to slow down", "design"
    )
    group_limit: int = number(256, 1, 10_000, "writes committed together at most", "design")
    readers: int = number(4, 1, 64, "connections kept open for reading", "design")
    synchronous: str = choice(
        "NORMAL", ("NORMAL", "FULL"), "FULL also survives a power cut, at a tenth of the write rate", "design"
    )


@dataclass(frozen=True, slots=True)
class EmbedConfig:
    """What turns text into vectors."""

    name: str = words("static", "static, transformer, openai, ollama, or chain:first,second", "design")
    model: str = words("", "the model's name at a remote service", "design")
    base_url: str = words("", "address of an OpenAI-compatible or Ollama service", "design")
    api_key: str = words("", "key for that service; better given by the environment", "design")
    path: str = words("", "folder of a transformer model in ONNX form", "design")
    timeout_s: float = number(10.0, 0.1, 600, "how long a remote call may take", "design")
    batch: int = number(256, 1, 4_096, "texts embedded in one go", "design")


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """How nearest vectors are found."""

    exact_limit: int = number(
        20_000, 100, 1_000_000, "up to so many vectors each is compared exactly", "design"
    )
    rescore: int = number(
        400, 10, 10_000, "candidates of the signature scan that are compared exactly", "design"
    )


@dataclass(frozen=True, slots=True)
class TextConfig:
    """How words are ranked."""

    k1: float = number(0.9, 0, 5, "how much a repeated word adds (BM25)", "measured")
    b: float = number(0.6, 0, 1, "how much long memories are held back (BM25)", "measured")
    cue_weight: float = number(
        1.0, 0, 2, "what a cue word (speaker, date, tag) counts against a content word", "measured"
    )
    rows_cap: int = number(1_500, 100, 1_000_000, "matching rows a search may touch", "design")
    share_cap: float = number(0.005, 0, 1, "the same as a share of all memories, if that is more", "design")


@dataclass(frozen=True, slots=True)
class RememberConfig:
    """What happens to a new statement."""

    jaccard_same: float = number(
        0.50, 0, 1, "shared words, beside a near vector, that make a repetition", "design"
    )
    jaccard_alone: float = number(0.85, 0, 1, "shared words that make a repetition without vectors", "design")
    neighbours: int = number(5, 1, 50, "how many near memories a new one is compared with", "retention")
    inherited_confidence: float = number(
        0.2, 0, 1, "share of the old confidence a correction takes over", "design"
    )
    surprise_gain: float = number(
        0.3, 0, 1, "how much a novel memory gains in importance at most", "retention"
    )
    speculative_below: float = number(
        0.40, 0, 1, "confidence under which a memory expires by itself", "files"
    )
    speculative_days: int = number(30, 1, 3_650, "days until such a memory expires unless confirmed", "files")


@dataclass(frozen=True, slots=True)
class EdgesConfig:
    """How memories are linked by themselves, and how sure a link stays."""

    draw: str = choice(
        "on", ("off", "on"), "whether new memories are linked to like ones by themselves", "design"
    )
    similar: int = number(3, 0, 20, "near memories a new one is linked to", "design")
    entities: int = number(3, 0, 20, "names in a memory that link it to others with the same name", "design")
    mentions: int = number(2, 0, 20, "memories linked for each such name, the latest", "design")
    common_name: int = number(
        200, 1, 100_000, "a name that more memories have says too little to link them", "design"
    )
    facts: int = number(3, 0, 20, "memories linked because their facts hang together", "design")
    most: int = number(20, 1, 1_000, "links that come by themselves to one memory", "design")
    gain: float = number(
        0.1, 0, 1, "confidence a link gains when it is drawn again or proves itself", "design"
    )
    grace_days: float = number(30.0, 0, 3_650, "days without use before a link begins to fade", "design")
    window_days: float = number(30.0, 0.1, 3_650, "the span after which it has lost the next part", "design")
    loss: float = number(0.1, 0, 1, "confidence lost in each such span", "design")
    floor: float = number(0.1, 0, 1, "confidence that a link keeps in any case", "design")


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """What is made of a conversation."""

    buffer_turns: int = number(
        5, 1, 1_000, "turns that wait at most before memories are made of them", "files"
    )
    buffer_minutes: float = number(10.0, 0, 10_080, "minutes that the oldest of them waits at most", "files")
    assistant: str = choice(
        "signals",
        ("off", "signals", "all"),
        "what is kept of an assistant's own words: nothing, decisions and results, or every statement",
        "design",
    )
    least: str = choice(
        "low", ("low", "medium", "high"), "how strong a signal a statement needs to be kept", "design"
    )
    rule_confidence: float = number(0.7, 0, 1, "how far a statement found by rules is believed", "cortex")
    echo_hours: float = number(
        24.0, 0, 8_760, "hours back that recalls of other processes are recognised as an echo", "design"
    )


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Which model helps, when, and what it may cost."""

    level: str = choice(
        "auto",
        ("off", "auto", "full"),
        "never; only where rules are unsure; wherever a model can help",
        "design",
    )
    base_url: str = words(
        "", "address of an OpenAI-compatible service; without one no model is asked", "design"
    )
    api_key: str = words("", "key for that service; better given by the environment", "design")
    model: str = words("", "the model's name", "design")
    small_model: str = words("", "a cheaper model for small questions; empty: the same", "design")
    fallback_model: str = words("", "the model to ask when the first one fails; empty: none", "design")
    timeout_s: float = number(30.0, 0.1, 600, "how long a call may take", "design")
    retries: int = number(1, 0, 5, "times a call that failed for the moment is tried again", "design")
    answer_tokens: int = number(2_000, 16, 100_000, "tokens of an answer at most", "design")
    context_tokens: int = number(
        32_000, 1_000, 10_000_000, "tokens the model takes in; reasoning uses half of them", "design"
    )
    daily_tokens: int = number(
        500_000, 0, 1_000_000_000, "tokens of all calls of a day (UTC) at most; 0: no limit", "layers"
    )
    prompt_price: float = number(
        0.0, 0, 10_000, "US dollars for a million tokens asked; 0: by the table", "design"
    )
    answer_price: float = number(
        0.0, 0, 10_000, "US dollars for a million tokens answered; 0: by the table", "design"
    )
    rest_s: float = number(30.0, 0, 3_600, "seconds a service that failed is left alone", "design")


RERANKS = ("none", "mmr", "rrf", "rrf_then_mmr", "cross_encoder", "model")
"""The ways to put hits in order once more."""


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """How a question is answered."""

    limit: int = number(10, 1, 500, "how many hits come back unless the caller says", "design")
    processes: int = number(
        0, 0, 64, "processes that recall beside this one, for many callers; 0: none", "design"
    )
    text_candidates: int = number(120, 10, 2_000, "candidates by words", "design")
    vector_candidates: int = number(60, 10, 2_000, "candidates by meaning", "design")
    judged: int = number(40, 10, 1_000, "candidates whose records are read and judged", "measured")
    text_weight: float = number(0.8, 0, 10, "weight of the words' BM25", "measured")
    vector_weight: float = number(1.0, 0, 10, "weight of a standard deviation above the noise", "measured")
    certain_deviations: float = number(
        4.0, 1, 20, "deviations above the noise that make a sure match", "measured"
    )
    lenders: int = number(
        40, 0, 500, "candidates that lend to their neighbours in a conversation", "measured"
    )
    next_share: float = number(0.4, 0, 1, "share of its fit a turn lends to the following one", "measured")
    answer_share: float = number(0.4, 0, 1, "share more that a question lends to its answer", "measured")
    previous_share: float = number(0.3, 0, 1, "share of its fit a turn lends to the one before", "measured")
    far_share: float = number(0.5, 0, 1, "share of such a loan that reaches the turn beyond", "measured")
    lending_words: int = number(
        100,
        1,
        100_000,
        "words of a turn that lends and borrows half: longer ones speak for themselves",
        "measured",
    )
    session_share: float = number(
        0.3, 0, 1, "share that the best turns of a session lend to all of it", "measured"
    )
    graph_share: float = number(
        0.3, 0, 1, "share of its fit a hit lends along a sure edge of full weight", "measured"
    )
    graph_starts: int = number(10, 0, 200, "memories from which edges are followed in each step", "design")
    graph_decay: float = number(0.6, 0, 1, "what is left of it after each step", "cortex")
    graph_confidence: float = number(0.2, 0, 1, "edges that are less sure are not followed", "files")
    graph_nodes: int = number(200, 1, 10_000, "memories that are reached over edges at most", "design")
    graph_rounds: int = number(
        0, 0, 100, "rounds of PageRank over what was reached; 0: none, 8 is usual", "measured"
    )
    fact_share: float = number(
        0.6, 0, 2, "fit of a memory whose facts answer, as a share of the best hit's", "measured"
    )
    fact_relevance: float = number(0.8, 0, 1, "relevance of a memory whose facts answer all of it", "design")
    fact_hops: int = number(3, 0, 5, "facts in a row that lead from the question to an answer", "cortex")
    phrase_gain: float = number(1.0, 0, 10, "factor more when quoted words stand together", "design")
    speaker_gain: float = number(1.3, 1, 3, "factor when the question names the speaker", "measured")
    relevance_floor: float = number(
        0.26,
        0,
        1,
        "relevance that lets a hit in by itself; other evidence may, too: nothing only when none speaks",
        "measured",
    )
    touch_above: float = number(0.5, 0, 1, "only hits at least so relevant count as used", "design")
    suppress_days: int = number(
        90, 0, 3_650, "days that 'not helpful' keeps a memory out of like questions", "design"
    )
    mmr_lambda: float = number(0.7, 0, 1, "relevance against variety when reranking", "design")
    mmr_depth: int = number(30, 2, 500, "how far down the list reranking looks", "measured")
    rerank: str = choice(
        "mmr", RERANKS, "how the list is put in order once more, near-duplicates apart", "design"
    )
    auto_rerank: str = choice(
        "off",
        ("off", "rrf", "rrf_then_mmr", "cross_encoder"),
        "a reranking tried beside the plain order and switched on for the kinds of question it helps",
        "cortex",
    )
    reason_depth: int = number(3, 1, 5, "how often a question is taken apart again to reason", "cortex")
    profile: str = choice(
        "default", ("default", "trust", "layered"), "how relevance and standing are weighed", "design"
    )


@dataclass(frozen=True, slots=True)
class PlanConfig:
    """What is made of a question before anything is searched."""

    shape: float = number(
        0.0, 0, 1, "how far the look of a question moves the balance of words and meaning", "measured"
    )
    time_gain: float = number(0.5, 0, 5, "factor more for what happened in the time asked about", "measured")
    time_candidates: int = number(40, 0, 500, "candidates from the time asked about", "design")
    alias_share: float = number(
        0.5, 0, 1, "what another name of an entity counts against its own", "measured"
    )
    fresh_gain: float = number(0.05, 0, 5, "factor more for what is new when that is asked for", "measured")
    fresh_days: float = number(30.0, 0.1, 3_650, "days after which half of that is left", "design")
    prefer_gain: float = number(0.05, 0, 1, "factor more for the kind a question is after", "design")
    expand_below: float = number(
        0.25, 0, 1, "best relevance under which a model is asked for other words", "design"
    )
    expand_share: float = number(
        0.8, 0, 1, "what a find by other words counts against the question's", "design"
    )


@dataclass(frozen=True, slots=True)
class RerankConfig:
    """The cross-encoder that reads question and memory together."""

    path: str = words("", "folder of a cross-encoder in ONNX form, for the reranking of that name", "design")
    depth: int = number(30, 2, 500, "hits that a cross-encoder or a model puts in order", "design")


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """How often a caller that is not the owner may ask: many questions in a row can feel out a secret."""

    recalls_a_minute: int = number(20, 0, 1_000_000, "recalls of an agent in a minute; 0: no limit", "cortex")
    recalls_a_session: int = number(
        200, 0, 1_000_000, "recalls of an agent in a named session within an hour; 0: no limit", "cortex"
    )


@dataclass(frozen=True, slots=True)
class TrustConfig:
    """How far a hit is believed."""

    accuracy_base: float = number(0.5, 0, 1, "accuracy of a memory nobody vouched for", "cortex")
    accuracy_corroborated: float = number(0.1, 0, 1, "gain for each corroborating source", "cortex")
    accuracy_confirmed: float = number(0.3, 0, 1, "gain when a person confirmed it", "cortex")
    accuracy_contradicted: float = number(0.2, 0, 1, "loss when it is challenged or disputed", "cortex")
    half_life_days: float = number(
        30.0, 0.1, 3_650, "days after which a human-made episode keeps half its freshness", "retention"
    )
    extracted_factor: float = number(
        3.0, 1, 100, "how much faster what was extracted by itself fades", "retention"
    )


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How a memory is served over HTTP."""

    host: str = words(
        "127.0.0.1", "the address to listen on; this machine only, unless another is named", "design"
    )
    port: int = number(3917, 0, 65_535, "the port to listen on; 0: any that is free", "layers")
    api_key: str = words(
        "", "the secret that lets the owner in; empty: one is made and kept beside the memory file", "layers"
    )
    access: str = choice(
        "secret",
        ("secret", "open"),
        "open: callers on this machine need no secret; never behind a proxy",
        "design",
    )
    hosts: str = words("", "further host names the server goes by, with commas between", "design")
    origins: str = words("", "sites whose pages may ask from a browser, with commas between", "design")
    body_bytes: int = number(10_000_000, 1_000, 1_000_000_000, "the largest body of a request", "design")
    requests_a_minute: int = number(
        6_000, 0, 10_000_000, "requests of one caller in a minute; 0: no limit", "design"
    )
    time_limit_s: float = number(60.0, 0.1, 3_600, "how long a call may take", "design")
    drain_s: float = number(20.0, 0, 600, "how long requests are waited for when the server stops", "design")
    threads: int = number(0, 0, 1_000, "calls carried out at once; 0: by the number of cores", "design")
    idempotency_hours: float = number(24.0, 0, 720, "hours for which an idempotency key is known", "design")
    idempotency_keys: int = number(10_000, 0, 1_000_000, "idempotency keys known at most", "design")

    @property
    def is_open(self) -> bool:
        """Whether callers on this machine need no secret: an owner's secret that is set is always needed."""
        return self.access == "open" and not self.api_key


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, group by group."""

    timezone: str = words(
        "",
        "where you are: an IANA name such as Europe/Oslo, or +02:00; empty: as this system is set",
        "design",
    )
    store: StoreConfig = StoreConfig()
    embed: EmbedConfig = EmbedConfig()
    index: IndexConfig = IndexConfig()
    text: TextConfig = TextConfig()
    remember: RememberConfig = RememberConfig()
    edges: EdgesConfig = EdgesConfig()
    capture: CaptureConfig = CaptureConfig()
    llm: LlmConfig = LlmConfig()
    recall: RecallConfig = RecallConfig()
    plan: PlanConfig = PlanConfig()
    rerank: RerankConfig = RerankConfig()
    trust: TrustConfig = TrustConfig()
    retention: RetentionConfig = field(default=RetentionConfig())
    importance: ImportanceConfig = field(default=ImportanceConfig())
    lifecycle: LifecycleConfig = field(default=LifecycleConfig())
    promotion: PromotionConfig = field(default=PromotionConfig())
    forgetting: ForgettingConfig = field(default=ForgettingConfig())
    maintain: MaintainConfig = field(default=MaintainConfig())
    review: ReviewConfig = field(default=ReviewConfig())
    knowledge: KnowledgeConfig = field(default=KnowledgeConfig())
    doubt: DoubtConfig = field(default=DoubtConfig())
    resume: ResumeConfig = field(default=ResumeConfig())
    pack: PackConfig = field(default=PackConfig())
    session: SessionConfig = field(default=SessionConfig())
    context: ContextConfig = field(default=ContextConfig())
    limits: LimitsConfig = LimitsConfig()
    server: ServerConfig = ServerConfig()
    proxy: ProxyConfig = field(default=ProxyConfig())


# ---------------------------------------------------------------- presets
# Presets: named overlays with the numbers of each system this one grew out of.
#
# Whatever a preset says, what is pinned, protected, procedural or of priority P0 and P1 is never forgotten.


LAYERS: Final[Mapping[str, Any]] = {
    "recall.profile": "layered",
    # Buffer, working, core: what is used or said again rises, the buffer forgets the rest within two days.
    "promotion.buffer_reinforcement": 5.0,
    "promotion.lesson_hours": 2.0,
    "promotion.ttl_hours": 24.0,
    "promotion.untriaged_hours": 48.0,
    "promotion.core_reinforcement": 3.0,
    "promotion.core_days": 7.0,
    "promotion.core_importance": 0.6,
    "promotion.demote_rejections": 1,
    "importance.loss_a_day": 0.05,
    "importance.floor": 0.3,
    "forgetting.buffer_cap": 200,
    # Beyond the buffer only what has all but gone is dropped.
    "forgetting.retention_below": 0.0,
    "forgetting.strength_below": 0.01,
    "forgetting.kept_importance": 1.0,
    "forgetting.kept_arousal": 1.0,
}

RETENTION: Final[Mapping[str, Any]] = {
    "recall.profile": "trust",
    "trust.half_life_days": 30.0,
    "trust.extracted_factor": 3.0,
    "retention.mode": "huber",
    "retention.half_life_days": 30.0,
    "retention.extracted_factor": 3.0,
    # The buffer is a short stay: half an hour, or two uses.
    "promotion.buffer_minutes": 30.0,
    "promotion.buffer_accesses": 2,
    "forgetting.buffer_cap": 0,
    "promotion.semantic_importance": 0.7,
    "promotion.semantic_accesses": 5,
    # Importance is weighed by nine factors and loses nothing by the day; one rule archives.
    "importance.loss_a_day": 0.0,
    "forgetting.archive_days": 90.0,
    "forgetting.retention_below": 0.15,
    "forgetting.importance_below": 0.3,
    "forgetting.importance_kind": "effective",
    "forgetting.accesses_below": 3,
    "forgetting.strength_below": 0.0,
    "forgetting.protected": "",
}

FILES: Final[Mapping[str, Any]] = {
    "remember.speculative_below": 0.40,
    "remember.speculative_days": 30,
    "capture.buffer_turns": 5,
    # What is extracted is written at once: no buffer lets go of it.
    "promotion.buffer_minutes": 1.0,
    "forgetting.buffer_cap": 0,
    # Facts are archived by age, importance and use, whatever is left of them.
    "importance.loss_a_day": 0.0,
    "forgetting.archive_days": 90.0,
    "forgetting.retention_below": 1.0,
    "forgetting.importance_below": 0.3,
    "forgetting.importance_kind": "stored",
    "forgetting.accesses_below": 3,
    "forgetting.strength_below": 0.0,
    "forgetting.commitment_days": 90.0,
    "forgetting.protected": "commitment, correction, decision, preference, principle",
}

LEDGER: Final[Mapping[str, Any]] = {
    "recall.profile": "trust",
    "recall.suppress_days": 90,
    "store.synchronous": "FULL",
    # What is written down counts from the next consolidation on; its priority says for how long.
    "promotion.buffer_minutes": 1.0,
    "forgetting.buffer_cap": 0,
    "importance.loss_a_day": 0.0,
    "lifecycle.unverified_days": 60.0,
    "forgetting.p2_days": 90.0,
    "forgetting.p3_days": 30.0,
    "forgetting.retention_below": 0.0,
    "forgetting.strength_below": 0.0,
}

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "layers": LAYERS,
    "retention": RETENTION,
    "files": FILES,
    "ledger": LEDGER,
}
"""The overlays by name."""


# ---------------------------------------------------------------- config


ENVIRONMENT_PREFIX = "ENGRAM_"
PRESET, PRESET_VARIABLE = "preset", "ENGRAM_PRESET"
"""What a preset is chosen by: among arguments and in the file, and in the environment."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as a person reads it."""

    name: str
    default: Any
    meaning: str
    origin: str
    low: float | None = None
    high: float | None = None
    known: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """What values it takes, in words."""
        if self.known:
            return ", ".join(self.known)
        if isinstance(self.default, bool):
            return "true, false"
        return f"{self.low:,} to {self.high:,}" if self.low is not None else "text"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return ENVIRONMENT_PREFIX + self.name.upper().replace(".", "__")


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    preset: str = "",
) -> Config:
    """The configuration from all its sources. Raises ConfigError, naming the setting and its range.

    Arguments are named in full (`{"recall.limit": 20}`) or, as in the file, by group (`{"recall": {…}}`).
    A preset is named by `preset`, among the arguments, in the environment or in the file; the first counts.

    >>> load(environment={}, arguments={"preset": "layers", "recall": {"limit": 3}}).recall.limit
    3
    """
    variables = os.environ if environment is None else environment
    from_file = dict(_read(file)) if file is not None else {}
    given = dict(_named_in_full(arguments or {}))
    named = (given.pop(PRESET, ""), preset, variables.get(PRESET_VARIABLE), from_file.pop(PRESET, ""))
    chosen = str(next((name for name in named if name), "default"))
    if chosen not in PRESETS:
        message = f"There is no preset {chosen!r}; known are: {', '.join(PRESETS)}."
        raise ConfigError(message)
    config = Config()
    own = dict(_from_environment(variables))
    for source in (PRESETS[chosen], from_file, from_elsewhere(variables), own, given):
        config = _overlaid(config, source)
    return _fitting(config)


def overlay(config: Config, values: Mapping[str, Any]) -> Config:
    """The configuration with some settings changed, each checked.

    >>> overlay(Config(), {"recall.limit": "20"}).recall.limit
    20
    """
    return _fitting(_overlaid(config, dict(_named_in_full(values))))


def _overlaid(config: Config, values: Mapping[str, Any]) -> Config:
    for name, value in values.items():
        group, _, key = name.partition(".")
        checked = _checked(name, value)
        changed = replace(getattr(config, group), **{key: checked}) if key else checked
        config = replace(config, **{group: changed})
    return config


def _fitting(config: Config) -> Config:
    """The configuration, if settings that belong together agree."""
    for group, weights in (
        ("importance", config.importance.weights),
        ("promotion", config.promotion.weights),
    ):
        whole = sum(weights.values())
        if abs(whole - 1.0) > SLACK:
            message = f"The weights of {group} ({', '.join(weights)}) sum to {whole:.3f}, they must sum to 1."
            raise ConfigError(message)
    try:
        zone_of(config.timezone)
    except ValueError as error:
        raise ConfigError(f"timezone: {error}.") from error
    table = values(config)
    for low, high in ORDERED:
        if table[low] > table[high]:
            message = f"{low} is {table[low]}, it must not be above {high}, which is {table[high]}."
            raise ConfigError(message)
    return config


SLACK = 1e-6
ORDERED = (
    ("promotion.gate_reject", "promotion.gate_approve"),
    ("promotion.triage_keep", "promotion.triage_promote"),
    ("lifecycle.warm_retention", "lifecycle.hot_retention"),
    ("lifecycle.cold_value", "lifecycle.hot_value"),
)
"""Settings of which the first is the lower bound of the second."""


def settings() -> tuple[Setting, ...]:
    """Every setting, in the order of this file."""
    return SETTINGS


def values(config: Config) -> dict[str, Any]:
    """The configuration as a flat table of names and values."""
    return {setting.name: attrgetter(setting.name)(config) for setting in SETTINGS}


def _collect() -> Iterator[Setting]:
    for group in fields(Config):
        if group.metadata:  # a setting that belongs to no group
            yield Setting(name=group.name, default=group.default, **group.metadata)
            continue
        for item in fields(type(getattr(Config(), group.name))):
            yield Setting(name=f"{group.name}.{item.name}", default=item.default, **item.metadata)


SETTINGS: tuple[Setting, ...] = tuple(_collect())
_BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


def _checked(name: str, value: Any) -> Any:
    setting = _BY_NAME.get(name)
    if setting is None:
        message = f"There is no setting {name!r}; `engram config` lists them all."
        raise ConfigError(message)
    try:
        typed = _typed(setting.default, value)
    except (TypeError, ValueError):
        typed = None
    if typed is None or not _fits(setting, typed):
        message = f"{name} is {value!r}, it takes: {setting.range}."
        raise ConfigError(message)
    return typed


def _typed(default: Any, value: Any) -> Any:
    if isinstance(default, bool):
        return {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}.get(
            str(value).lower()
        )
    if isinstance(value, bool):
        return None
    if isinstance(default, int):
        return int(value) if not isinstance(value, float) or value.is_integer() else None
    return type(default)(value)


def _fits(setting: Setting, value: Any) -> bool:
    if setting.known:
        return value in setting.known
    # A NaN compares false with everything, and so falls out here as well.
    return setting.low is None or setting.high is None or setting.low <= value <= setting.high


def _read(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        tree = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"The configuration {file} cannot be read: {error.strerror}."
        raise ConfigError(message) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        message = f"The configuration {file} is not valid TOML: {error}."
        raise ConfigError(message) from error
    yield from _named_in_full(tree)


def _named_in_full(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Settings under their whole names; those of a group may stand together under the group's."""
    for group, content in tree.items():
        if isinstance(content, Mapping):
            yield from ((f"{group}.{key}", value) for key, value in content.items())
        else:
            yield group, content


def _from_environment(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Settings by name; ENGRAM_FILE and the like, without a group in their name, belong to the doors."""
    for variable, value in variables.items():
        if variable == ENVIRONMENT_PREFIX + "TIMEZONE":
            yield "timezone", value
        elif variable.startswith(ENVIRONMENT_PREFIX) and "__" in variable:
            group, _, key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
            yield f"{group}.{key}", value
