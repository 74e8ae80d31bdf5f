"""Every number and choice that anyone may want to turn, group by group, with range, meaning and origin."""

from __future__ import annotations

from dataclasses import dataclass, field

from engram.config.briefing_groups import PackConfig, ResumeConfig
from engram.config.context_groups import ContextConfig
from engram.config.door_groups import ProxyConfig
from engram.config.doubt_groups import DoubtConfig
from engram.config.knowledge_groups import KnowledgeConfig
from engram.config.lifecycle_groups import (
    ForgettingConfig,
    ImportanceConfig,
    LifecycleConfig,
    PromotionConfig,
    RetentionConfig,
)
from engram.config.maintain_groups import MaintainConfig
from engram.config.making import choice, number, words
from engram.config.review_groups import ReviewConfig
from engram.config.session_groups import SessionConfig


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
        8.0, 1, 20, "deviations above the noise that make a sure match", "measured"
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
        0.25, 0, 1, "hits that fit worse are left out: nothing rather than noise", "measured"
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
