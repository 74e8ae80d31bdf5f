"""What somebody has a reason to turn, with its range, its meaning and where it comes from.

Every other number is a named constant beside its rule. A preset only sets settings: a number that differs
from preset to preset is therefore one. Settings that were renamed go on to work under their former names.

Values come, later ones winning, from: the defaults here, a preset, a TOML file, the environment
(`ENGRAM_RECALL__LIMIT=20`), and arguments (`{"recall.limit": 20}`). A bad value names itself and its range.

Where a number comes from: `measured` by a benchmark of this project, `design` set with the architecture, or
the name of the system whose experience it carries (`layers`, `cortex`, `files`, `retention`, `ledger`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields, replace
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from engram.errors import ConfigError
from engram.lazily import dataclass, tomllib
from engram.model.clock import zone_of

# ---------------------------------------------------------------- making
# How a setting is written down: its default, its range or its known values, its meaning and its origin.


DESIGN = "design"


def number(default: float, low: float, high: float, meaning: str, origin: str = DESIGN) -> Any:
    """A setting that is a number; whole if its default is."""
    return field(default=default, metadata={"low": low, "high": high, "meaning": meaning, "origin": origin})


def choice(default: str, known: tuple[str, ...], meaning: str, origin: str = DESIGN) -> Any:
    """A setting that is one of a few words."""
    return field(default=default, metadata={"known": known, "meaning": meaning, "origin": origin})


def words(default: str, meaning: str, origin: str = DESIGN) -> Any:
    """A setting that is free text: a name, an address, a path."""
    return field(default=default, metadata={"meaning": meaning, "origin": origin})


# ---------------------------------------------------------------- groups
# What somebody has a reason to turn, in the order in which one meets it: the file and the models, capture,
# recall, sessions and contexts, what time does, maintenance, the doors.


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """The file and its writer."""

    busy_timeout_s: float = number(10.0, 0.1, 300, "how long a write waits for another process")
    readers: int = number(4, 1, 64, "connections kept open for reading")
    synchronous: str = choice(
        "NORMAL", ("NORMAL", "FULL"), "FULL also survives a power cut, at a tenth of the write rate"
    )
    backups: int = number(3, 0, 100, "daily backups that are kept; 0: none are made")
    open_files: int = number(32, 1, 10_000, "files of a folder that are open at a time")
    audit_days: int = number(365, 0, 36_500, "days the audit is kept; 0: for good")
    in_memory: int = number(
        1_500_000,
        0,
        1_000_000_000,
        "PostgreSQL: up to so many memories of a namespace are searched in memory",
    )


@dataclass(frozen=True, slots=True)
class EmbedConfig:
    """What turns text into vectors."""

    name: str = words("static", "static, transformer, openai, ollama, or chain:first,second")
    model: str = words("", "the model's name at a remote service, or that of a pulled one")
    base_url: str = words("", "address of an OpenAI-compatible or Ollama service")
    api_key: str = words("", "key for that service; better given by the environment")
    path: str = words("", "folder of a transformer model in ONNX form")
    query_prefix: str = words("auto", "words a remote model needs before a question; auto: known by its name")
    document_prefix: str = words("auto", "the same before a document")
    timeout_s: float = number(10.0, 0.1, 600, "how long a remote call may take")
    batch: int = number(256, 1, 4_096, "texts embedded in one go")


@dataclass(frozen=True, slots=True)
class LlmConfig:
    """Which model helps, when, and what it may cost."""

    level: str = choice(
        "auto", ("off", "auto", "full"), "never; only where rules are unsure; wherever a model can help"
    )
    base_url: str = words("", "address of an OpenAI-compatible service; without one no model is asked")
    api_key: str = words("", "key for that service; better given by the environment")
    model: str = words("", "the model's name")
    small_model: str = words("", "a cheaper model for small questions; empty: the same")
    models: str = words(
        "",
        "models for some tasks alone, such as `gate=big, expand=small`; others use the one above",
        "layers",
    )
    fallback_model: str = words("", "the model to ask when the first one fails; empty: none")
    timeout_s: float = number(30.0, 0.1, 600, "how long a call may take")
    retries: int = number(1, 0, 5, "how often a failed call is tried again")
    answer_tokens: int = number(2_000, 16, 100_000, "most tokens of an answer")
    context_tokens: int = number(
        32_000, 1_000, 10_000_000, "tokens the model takes in; reasoning uses half of them"
    )
    daily_tokens: int = number(
        500_000, 0, 1_000_000_000, "most tokens of all calls of a day (UTC); 0: no limit", "layers"
    )
    prompt_price: float = number(0.0, 0, 10_000, "US dollars for a million tokens asked; 0: by the table")
    answer_price: float = number(0.0, 0, 10_000, "US dollars for a million tokens answered; 0: by the table")
    rest_s: float = number(30.0, 0, 3_600, "seconds to leave a service alone after it failed")


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """What is made of a conversation."""

    buffer_turns: int = number(5, 1, 1_000, "most turns that wait before they are read", "files")
    buffer_minutes: float = number(10.0, 0, 10_080, "most minutes that the oldest of them waits", "files")
    assistant: str = choice(
        "signals",
        ("off", "signals", "all"),
        "what is kept of an assistant's own words: nothing, decisions and results, or every statement",
    )
    least: str = choice("low", ("low", "medium", "high"), "how strong a signal a statement needs to be kept")
    speculative_below: float = number(
        0.40, 0, 1, "confidence under which a memory expires by itself", "files"
    )
    speculative_days: int = number(30, 1, 3_650, "days until such a memory expires unless confirmed", "files")
    links: str = choice("on", ("off", "on"), "whether new memories are linked to similar ones")


RERANKS = ("none", "mmr", "rrf", "rrf_then_mmr", "cross_encoder", "model")
"""The ways to put hits in order once more."""


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """How a question is answered."""

    limit: int = number(10, 1, 500, "how many hits come back unless the caller says otherwise")
    processes: int = number(
        0, 0, 64, "processes that recall beside this one while several ask at once; 0: none"
    )
    text_weight: float = number(0.8, 0, 10, "weight of the words' BM25", "measured")
    vector_weight: float = number(
        1.0, 0, 10, "weight of the cosine, for each standard deviation above the noise", "measured"
    )
    relevance_floor: float = number(
        0.26, 0, 1, "relevance that lets a memory in by itself; other evidence may do so below it", "measured"
    )
    stale: str = choice(
        "weigh", ("weigh", "leave out"), "whether stale memories count less, or are not shown", "files"
    )
    cold: str = choice(
        "as the rest",
        ("as the rest", "last"),
        "where old memories of little worth stand: where they fit, or behind the rest",
        "files",
    )
    suppress_days: int = number(
        90, 0, 3_650, "days that 'not helpful' keeps a memory out of similar questions"
    )
    rerank: str = choice("mmr", RERANKS, "how hits are put in order once more")
    auto_rerank: str = choice(
        "off",
        ("off", "rrf", "rrf_then_mmr", "cross_encoder"),
        "a reranking tried beside the plain order and switched on for the kinds of question it helps",
        "cortex",
    )
    channels: str = words("", "channels of installed extensions that search too, separated by commas")
    profile: str = choice(
        "default", ("default", "trust", "layered"), "how relevance and standing are weighed"
    )


@dataclass(frozen=True, slots=True)
class RerankConfig:
    """The cross-encoder that reads question and memory together."""

    path: str = words("", "folder of a cross-encoder in ONNX form, for the reranking of that name")
    name: str = words("", "a reranker of an installed extension, in place of that cross-encoder")


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """How often a caller that is not the owner may ask, and how much memory a process may take."""

    recalls_a_minute: int = number(20, 0, 1_000_000, "recalls of an agent in a minute; 0: no limit", "cortex")
    memories_a_day: int = number(
        10_000, 0, 100_000_000, "statements and turns that an agent may write in a day; 0: no limit"
    )
    megabytes_a_day: int = number(100, 0, 1_000_000, "how much text that may be; 0: no limit")
    noise: float = number(0.0, 0, 0.5, "random noise added to the relevance that an agent sees", "seed")
    sealed_shown: str = choice(
        "labels",
        ("nothing", "labels", "masked", "words"),
        "what callers other than the owner see of sealed words",
    )
    recalls_a_session: int = number(
        200, 0, 1_000_000, "recalls of an agent in a named session within an hour; 0: no limit", "cortex"
    )
    memory_mb: int = number(
        0, 0, 100_000_000, "memory a process may use, in MB; 0: what its container or the machine has"
    )


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What lives between the turns of a conversation, and for how long."""

    slots: int = number(9, 1, 9, "things on the mind at once, at most", "cortex")
    questions: int = number(2, 0, 100, "clarifying questions in a session, at most", "cortex")


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """What goes into a prompt, and how much of it."""

    model: str = words("", "the model that prompts are made for when a caller names none")
    models_file: str = words("", "a TOML file with models of your own, beside those known")
    reply_tokens: int = number(
        4_096, 16, 1_000_000, "tokens kept free for a reply; four times more where a model thinks", "cortex"
    )
    resume_characters: int = number(16_000, 500, 1_000_000, "characters that a resume has room for", "layers")
    resume_most: int = number(
        64_000, 500, 1_000_000, "characters it may grow to as the memory grows", "layers"
    )
    pack_words: int = number(3_000, 100, 100_000, "most words of a pack", "ledger")


CURVES: Final = ("l2", "huber", "elastic", "ebbinghaus")
"""The shapes that forgetting can have."""


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """How much of a memory is left after some time without use."""

    mode: str = choice("huber", CURVES, "the shape of forgetting", "retention")
    half_life_days: float = number(30.0, 0.1, 36_500, "half-life of what a person told, in days", "retention")


@dataclass(frozen=True, slots=True)
class PromotionConfig:
    """How a memory proves itself, layer by layer, and how it falls back."""

    rules: str = choice(
        "own",
        ("own", "layers"),
        "whose rules decide what rises, falls and goes: Engram's, or those of *layers* to the letter",
        "layers",
    )
    buffer_reinforcement: float = number(
        5.0, 0, 1_000, "reinforcement that takes a memory out of the buffer", "layers"
    )
    buffer_minutes: float = number(
        0.0,
        0,
        525_600,
        "minutes after which everything leaves the buffer; 0: time alone is not enough",
        "retention",
    )
    buffer_accesses: int = number(
        0, 0, 1_000, "uses that are enough to leave the buffer; 0: none are", "retention"
    )
    ttl_hours: float = number(24.0, 0, 87_600, "hours that the buffer holds a memory", "layers")
    core_reinforcement: float = number(
        3.0, 0, 1_000, "reinforcement from which a memory may ask for the core", "layers"
    )
    core_days: float = number(
        7.0, 0, 3_650, "age in days from which any reinforcement is enough to ask", "layers"
    )
    core_importance: float = number(0.6, 0, 1, "importance a memory needs for the core in any case", "layers")
    demote_rejections: int = number(
        3, 1, 100, "rejections after which an extracted memory leaves the working layer"
    )


@dataclass(frozen=True, slots=True)
class ForgettingConfig:
    """What may go, when, and what never does."""

    protected: str = words(
        "commitment, correction, decision, preference, principle",
        "categories that are never archived by maintenance, separated by commas",
        "files",
    )
    archive_days: float = number(90.0, 0, 36_500, "age above which a memory may be archived", "retention")
    retention_below: float = number(
        0.15, 0, 1, "retention under which it may be archived; 0: never, 1: always", "retention"
    )
    importance_below: float = number(0.3, 0, 1, "importance under which it may be archived", "retention")
    importance_kind: str = choice(
        "effective",
        ("effective", "stored"),
        "which importance that is: effective (nine factors), or as stored",
    )
    accesses_below: int = number(3, 0, 1_000, "uses under which it may be archived", "retention")
    strength_below: float = number(0.05, 0, 10, "strength under which it is archived; 0: never", "cortex")
    kept_importance: float = number(0.7, 0, 1, "importance from which a weak memory is kept", "cortex")
    kept_arousal: float = number(0.5, 0, 1, "arousal from which a weak memory is kept", "cortex")
    p2_days: float = number(
        0.0, 0, 36_500, "days without use after which priority P2 is archived; 0: never for that", "ledger"
    )
    p3_days: float = number(0.0, 0, 36_500, "the same for priority P3", "ledger")
    purge_days: float = number(90.0, 0, 36_500, "days in the archive after which it is erased", "cortex")
    buffer_cap: int = number(200, 0, 1_000_000, "memories in the buffer of a scope; 0: no limit", "layers")
    unverified_days: float = number(
        0.0, 0, 36_500, "days after which a fact that nobody verified again is stale; 0: never", "ledger"
    )
    importance_loss: float = number(0.05, 0, 1, "importance lost in each whole day without use", "layers")


@dataclass(frozen=True, slots=True)
class MaintainConfig:
    """When memories are maintained, and in which pieces."""

    slice: int = number(500, 1, 100_000, "memories looked at in one piece")
    every_hours: float = number(24.0, 0, 8_760, "hours between two consolidations by the server; 0: never")
    dream_every_minutes: float = number(
        30.0, 0, 10_080, "fewest minutes between two dreams; 0: no dreams", "retention"
    )
    model_calls: int = number(20, 0, 10_000, "questions to a model in one step of a run, at most")


@dataclass(frozen=True, slots=True)
class KnowledgeConfig:
    """What consolidation learns from memories taken together, and how much it takes for that."""

    cards: int = number(200, 0, 100_000, "cards kept for each scope: those most spoken of")
    profile_lines: int = number(60, 1, 1_000, "lines of the behavioural profile", "files")


@dataclass(frozen=True, slots=True)
class DoubtConfig:
    """How beliefs are probed, references checked and gaps found; how much of each in a run."""

    directory: str = words(
        "", "the directory that claims about files and symbols are checked against; empty: none", "retention"
    )
    project: str = words("", "only memories of this project are checked against the directory; empty: all")


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How a memory is served over HTTP."""

    host: str = words("127.0.0.1", "the address to listen on; this machine only, unless another is named")
    port: int = number(3917, 0, 65_535, "the port to listen on; 0: any that is free", "layers")
    api_key: str = words(
        "", "the secret that lets the owner in; empty: one is made and kept beside the memory file", "layers"
    )
    access: str = choice(
        "secret", ("secret", "open"), "open: callers on this machine need no secret; never behind a proxy"
    )
    hosts: str = words("", "further host names of the server, separated by commas")
    origins: str = words("", "sites whose pages may call from a browser, separated by commas")
    body_bytes: int = number(10_000_000, 1_000, 1_000_000_000, "the largest body of a request")
    requests_a_minute: int = number(6_000, 0, 10_000_000, "requests of one caller in a minute; 0: no limit")
    time_limit_s: float = number(60.0, 0.1, 3_600, "how long a call may take")
    drain_s: float = number(20.0, 0, 600, "how long a stopping server waits for its requests")
    threads: int = number(0, 0, 1_000, "calls carried out at once; 0: by the number of cores")

    @property
    def is_open(self) -> bool:
        """Whether callers on this machine need no secret: an owner's secret that is set is always needed."""
        return self.access == "open" and not self.api_key


PLACES = ("user", "system")


@dataclass(frozen=True, slots=True)
class ProxyConfig:
    """The proxy before a model: it adds what is remembered to a chat, and listens to it."""

    base_url: str = words("", "base URL of the model service behind the proxy; empty: none", "layers")
    api_key: str = words("", "key for that service; empty: each caller's own is passed on", "layers")
    budget_tokens: int = number(600, 0, 100_000, "tokens of memories added to a chat; 0: none")
    time_budget_ms: int = number(
        400, 1, 60_000, "how long recalling may take; then the chat goes on without it"
    )
    place: str = choice("user", PLACES, "where memories stand: before the user's words, or in the system's")
    capture: str = choice("on", ("on", "off"), "whether the proxy listens to what is said")
    upstream_s: float = number(600.0, 1, 86_400, "how long the model may be silent")


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, group by group."""

    timezone: str = words(
        "", "where you are: an IANA name such as Europe/Oslo, or +02:00; empty: as this system is set"
    )
    store: StoreConfig = StoreConfig()
    embed: EmbedConfig = EmbedConfig()
    llm: LlmConfig = LlmConfig()
    capture: CaptureConfig = CaptureConfig()
    recall: RecallConfig = RecallConfig()
    rerank: RerankConfig = RerankConfig()
    limits: LimitsConfig = LimitsConfig()
    session: SessionConfig = SessionConfig()
    context: ContextConfig = ContextConfig()
    retention: RetentionConfig = RetentionConfig()
    promotion: PromotionConfig = PromotionConfig()
    forgetting: ForgettingConfig = ForgettingConfig()
    maintain: MaintainConfig = MaintainConfig()
    knowledge: KnowledgeConfig = KnowledgeConfig()
    doubt: DoubtConfig = DoubtConfig()
    server: ServerConfig = ServerConfig()
    proxy: ProxyConfig = ProxyConfig()


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
TASKS = ("merge", "extract", "rerank", "expand", "gate", "audit", "resume")
"""Tasks that can have a model of their own: `ENGRAM_GATE_MODEL` and so on."""
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
    own = {task: variables.get(f"ENGRAM_{task.upper()}_MODEL", "").strip() for task in TASKS}
    if any(own.values()):
        told["llm.models"] = ", ".join(f"{task}={model}" for task, model in own.items() if model)
    if "llm.base_url" in told:
        told.setdefault("llm.model", CHAT_MODEL)
    if "embed.base_url" in told:
        told["embed.name"] = "openai"
        told.setdefault("embed.model", EMBED_MODEL)
    return told


# ---------------------------------------------------------------- presets
# Presets: named overlays with the numbers of each system this one grew out of.
#
# Whatever a preset says, what is pinned, protected or procedural is never forgotten; nor what has priority P0
# or P1, but for the buffer of *layers*.


LAYERS: Final[Mapping[str, Any]] = {
    "recall.profile": "layered",
    "maintain.every_hours": 0.5,
    "promotion.rules": "layers",
    # Buffer, working, core: what is used or said again rises, the buffer forgets the rest within two days.
    "promotion.buffer_reinforcement": 5.0,
    "promotion.ttl_hours": 24.0,
    "promotion.core_reinforcement": 3.0,
    "promotion.core_days": 7.0,
    "promotion.core_importance": 0.6,
    "promotion.demote_rejections": 1,
    "forgetting.importance_loss": 0.05,
    "forgetting.buffer_cap": 200,
    # Beyond the buffer only what has all but gone is dropped.
    "forgetting.retention_below": 0.0,
    "forgetting.strength_below": 0.01,
    "forgetting.kept_importance": 1.0,
    "forgetting.kept_arousal": 1.0,
    "forgetting.protected": "",
}

RETENTION: Final[Mapping[str, Any]] = {
    "recall.profile": "trust",
    "retention.mode": "huber",
    "retention.half_life_days": 30.0,
    # The buffer is a short stay: half an hour, or two uses.
    "promotion.buffer_minutes": 30.0,
    "promotion.buffer_accesses": 2,
    "forgetting.buffer_cap": 0,
    # Importance is weighed by nine factors and loses nothing by the day; one rule archives.
    "forgetting.importance_loss": 0.0,
    "forgetting.archive_days": 90.0,
    "forgetting.retention_below": 0.15,
    "forgetting.importance_below": 0.3,
    "forgetting.importance_kind": "effective",
    "forgetting.accesses_below": 3,
    "forgetting.strength_below": 0.0,
    "forgetting.protected": "",
}

FILES: Final[Mapping[str, Any]] = {
    "recall.cold": "last",
    "capture.speculative_below": 0.40,
    "capture.speculative_days": 30,
    "capture.buffer_turns": 5,
    # What is extracted is written at once: no buffer lets go of it.
    "promotion.buffer_minutes": 1.0,
    "forgetting.buffer_cap": 0,
    # Facts are archived by age, importance and use, whatever is left of them.
    "forgetting.importance_loss": 0.0,
    "forgetting.archive_days": 90.0,
    "forgetting.retention_below": 1.0,
    "forgetting.importance_below": 0.3,
    "forgetting.importance_kind": "stored",
    "forgetting.accesses_below": 3,
    "forgetting.strength_below": 0.0,
    "forgetting.protected": "commitment, correction, decision, preference, principle",
}

LEDGER: Final[Mapping[str, Any]] = {
    "recall.profile": "trust",
    "recall.suppress_days": 90,
    "store.synchronous": "FULL",
    # What is written down counts from the next consolidation on; its priority says for how long.
    "promotion.buffer_minutes": 1.0,
    "forgetting.buffer_cap": 0,
    "forgetting.importance_loss": 0.0,
    "forgetting.unverified_days": 60.0,
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
        raise ConfigError(f"There is no preset {chosen!r}; known are: {', '.join(PRESETS)}.")
    config = Config()
    own = dict(_from_environment(variables))
    for source in (PRESETS[chosen], from_file, from_elsewhere(variables), own, given):
        config = _overlaid(config, source)
    return _fitting(config)


def own_folder(kind: Literal["config", "data"]) -> Path:
    """The user's folder on this system for settings or for memories."""
    if "linux" in sys.platform:  # as `platformdirs` has it, which takes five milliseconds to load
        variable, usual = _FOLDERS[kind]
        return Path(os.environ.get(variable, "").strip() or Path.home() / usual) / "engram"
    import platformdirs

    if kind == "data":
        return platformdirs.user_data_path("engram")
    return platformdirs.user_config_path("engram", appauthor=False)


_FOLDERS: Final = {"config": ("XDG_CONFIG_HOME", ".config"), "data": ("XDG_DATA_HOME", ".local/share")}


def own_settings() -> Path | None:
    """The user's own file of settings, the one that `ENGRAM_CONFIG` names first; None where there is none."""
    named = os.environ.get("ENGRAM_CONFIG")
    path = Path(named) if named else own_folder("config") / "config.toml"
    return path if named or path.is_file() else None


def save_settings(file: Path, values: Mapping[str, Any]) -> None:
    """Write settings into a TOML file, which is made if need be; its comments and all else in it stay.

    Args:
        file: the configuration to change.
        values: settings by their whole name.

    Raises:
        ConfigError: a setting is unknown or out of range, or the file cannot be read or written.

    """
    import tomlkit

    checked = {name: _checked(name, value) for name, value in values.items()}
    _fitting(_overlaid(Config(), values))
    if file.exists():
        _overlaid(Config(), {name: value for name, value in _read(file) if name != PRESET})
    try:
        tree = tomlkit.parse(file.read_text(encoding="utf-8")) if file.exists() else tomlkit.document()
        for name, value in checked.items():
            group, _, key = name.rpartition(".")
            target = tree.setdefault(group, tomlkit.table()) if group else tree
            target[key] = value
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_name(file.name + ".new")
        written.write_text(tomlkit.dumps(tree), encoding="utf-8")
        written.replace(file)
    except OSError as error:
        raise ConfigError(f"The configuration {file} cannot be written: {error.strerror}.") from error


def overlay(config: Config, values: Mapping[str, Any]) -> Config:
    """The configuration with some settings changed, each checked.

    >>> overlay(Config(), {"recall.limit": "20"}).recall.limit
    20
    """
    return _fitting(_overlaid(config, dict(_named_in_full(values))))


AT_OPENING: Final = frozenset(
    {"timezone", "store", "embed", "llm", "rerank", "server", "proxy", "recall.processes", "limits.memory_mb"}
)
"""Settings, and groups of them, read when a memory is opened or a server begins; others whenever needed."""


def own_copy(config: Config) -> Config:
    """The same settings in groups of their own, for one memory that may change them while it is open."""
    groups = {one.name: replace(getattr(config, one.name)) for one in fields(Config) if not one.metadata}
    return replace(config, **groups)


def change_now(config: Config, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Change settings of an open memory; every part that holds them sees it. Those that differ now.

    Args:
        config: the memory's own (`own_copy`).
        wanted: settings by their whole name.

    Raises:
        ConfigError: one is unknown, out of range, or read only when a memory is opened. Nothing is changed.

    """
    after, before = values(overlay(config, wanted)), values(config)
    changed = {name: value for name, value in after.items() if value != before[name]}
    for name in changed:
        if {name, name.partition(".")[0]} & AT_OPENING:
            raise ConfigError(
                f"{name} is read when a memory is opened: `engram config set` keeps it, a restart brings it."
            )
    for name, value in changed.items():
        group, _, key = name.partition(".")
        object.__setattr__(getattr(config, group), key, value)  # frozen to everybody else
    return changed


def _overlaid(config: Config, values: Mapping[str, Any]) -> Config:
    for given, value in values.items():
        name = RENAMED.get(given, given)
        group, _, key = name.partition(".")
        checked = _checked(name, value)
        changed = replace(getattr(config, group), **{key: checked}) if key else checked
        config = replace(config, **{group: changed})
    return config


def _fitting(config: Config) -> Config:
    """The configuration, if settings that belong together agree."""
    try:
        zone_of(config.timezone)
    except ValueError as error:
        raise ConfigError(f"timezone: {error}.") from error
    if odd := [task for task in models_of(config.llm) if task not in TASKS]:
        raise ConfigError(f"llm.models: there is no task {odd[0]!r}; known are: {', '.join(TASKS)}.")
    return config


def models_of(config: LlmConfig) -> dict[str, str]:
    """The models of tasks that have one of their own.

    >>> models_of(LlmConfig(models="gate=big, expand=small"))
    {'gate': 'big', 'expand': 'small'}
    """
    pairs = (part.partition("=") for part in config.models.split(",") if part.strip())
    return {task.strip(): model.strip() for task, _, model in pairs}


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
"""Every setting, in the order of this file."""
_BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


RENAMED: Final[Mapping[str, str]] = {
    "doubt.model_calls": "maintain.model_calls",
    "edges.draw": "capture.links",
    "importance.loss_a_day": "forgetting.importance_loss",
    "knowledge.model_calls": "maintain.model_calls",
    "lifecycle.unverified_days": "forgetting.unverified_days",
    "pack.words": "context.pack_words",
    "remember.speculative_below": "capture.speculative_below",
    "remember.speculative_days": "capture.speculative_days",
    "resume.characters": "context.resume_characters",
    "resume.most": "context.resume_most",
    "trust.half_life_days": "retention.half_life_days",
}
"""Settings under the names of earlier versions, which go on to work."""


def _checked(name: str, value: Any) -> Any:
    setting = _BY_NAME.get(name)
    if setting is None:
        raise ConfigError(f"There is no setting {name!r}; `engram config` lists them all.")
    try:
        typed = _typed(setting.default, value)
    except (TypeError, ValueError):
        typed = None
    if typed is None or not _fits(setting, typed):
        raise ConfigError(f"{name} is {value!r}, it takes: {setting.range}.")
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
        raise ConfigError(f"The configuration {file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration {file} is not valid TOML: {error}.") from error
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
