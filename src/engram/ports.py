"""The parts that can be swapped: small protocols, and `Tools`, the bundle a flow receives.

A *key* is a memory's row number in its store: short, ordered by time of storing, and never shown to a caller.
Channels and indexes speak in keys; everything public speaks in ids.

A protocol stands here where several classes fulfil it. The store and the index are one family of classes each
(PostgreSQL's are made of SQLite's): what they must do is written where it is done, and flows know them by the
names below, which only the type checker looks at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime, tzinfo
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from engram.config import models_of
from engram.errors import EngramError
from engram.lazily import dataclass
from engram.model.clock import zone_of
from engram.pressure import PressureGauge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.config import Config
    from engram.model.capture import Turn
    from engram.model.clock import Clock
    from engram.model.facts import EdgeType, Fact, Named
    from engram.model.knowledge import Chosen, Cited, Comparison, Extracted, ModelCall, Proposal, Reconciled
    from engram.model.memory import Filters, Space
    from engram.model.scope import Access

    # isort: split
    from engram.crew import RecallPool
    from engram.embed import FormerEmbedders
    from engram.index.signature_index import SignatureIndex
    from engram.keys import VaultKeys
    from engram.store.postgres.large import ServerSpace
    from engram.store.sqlite.entities import SqliteEntities
    from engram.store.sqlite.feedback import SqliteRecalls
    from engram.store.sqlite.store import SqliteStore
    from engram.store.sqlite.texts import TableSearch
    from engram.store.sqlite.unit import SqliteUnit
    from engram.store.sqlite.vectors import SqliteVectors

    Store = SqliteStore
    Unit = SqliteUnit
    EntityStore = SqliteEntities
    Recalls = SqliteRecalls
    Vectors = SqliteVectors
    WordSearch = TableSearch
    VectorIndex = SignatureIndex
    SearchedSpace = ServerSpace
    FormerModels = FormerEmbedders
    Finder = RecallPool
    KeyRing = VaultKeys
else:
    Finder = FormerModels = KeyRing = SearchedSpace = EntityStore = Recalls = Store = Unit = VectorIndex = (
        Vectors
    ) = WordSearch = Any


# ---------------------------------------------------------------- parts
# What stands beside the store: embedder, index, advisor; and `Tools`, the bundle a flow receives.


class Embedder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def space(self) -> Space:
        """Where the vectors of the next call will belong."""

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row each, of zeros for a text without a known word; and the space they belong to.

        Raises EmbedderDown when no vectors can be made at the moment.
        """

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question: one vector, and its space. Raises EmbedderDown."""

    def health(self) -> Health:
        """Whether vectors can be made at the moment."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How near a question lies to vectors in general: mean and deviation of its cosines with a sample."""

    mean: float
    deviation: float
    sample: int

    def deviations(self, cosine: float) -> float:
        """How far a cosine stands above the noise, in deviations."""
        return (cosine - self.mean) / self.deviation


@dataclass(frozen=True, slots=True)
class IndexStats:
    """What a vector index holds."""

    vectors: int
    mode: str
    """How it searches: exact, signatures …"""
    bytes: int


class NearSearch(Protocol):
    """The vector of one question among what one caller may read. Lives as long as the question."""

    @property
    def noise(self) -> Noise:
        """How near the question lies to those vectors of its space that the caller may read."""

    def search(self, view: View, k: int) -> list[tuple[int, float]]:
        """The k nearest keys a view of the same caller allows, with their cosine, best first."""

    def among(self, keys: Keys, k: int) -> list[tuple[int, float]]:
        """The k nearest of these keys, which the caller may read."""

    def compare(self, keys: Keys) -> Floats:
        """The cosine of each of these keys; no number (NaN) where there is no vector."""

    def between(self, keys: Keys) -> Floats:
        """The cosine of each pair of these keys; no number (NaN) where one has no vector."""
        ...


class Reranker(Protocol):
    """Reads a question and a memory together and says how well the one answers the other."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number for each text, higher is better. Raises RerankerDown."""


class Advisor(Protocol):
    """A model that may help. Every answer may be None: no model may be asked, or none gave a usable answer.

    No call raises for what a model or a network does, and none takes longer than the configured time.
    """

    def extract(self, turns: Sequence[Turn], before: Sequence[Turn] = ()) -> tuple[Extracted, ...] | None:
        """The statements worth keeping in these turns; the turns before them are there to be understood."""

    def merge(self, old: str, new: str) -> str | None:
        """One statement that says what both say."""

    def compare(self, old: str, new: str) -> Comparison | None:
        """What a new statement is to an old one."""

    def rank(self, question: str, texts: Sequence[str]) -> tuple[int, ...] | None:
        """The places of the texts in the order in which they answer the question, every one of them once."""

    def decompose(self, question: str, known: Sequence[str]) -> tuple[str, ...] | None:
        """The smaller questions that what is known leaves open; empty when it suffices."""

    def expand(self, question: str) -> tuple[str, ...] | None:
        """Other words in which what answers the question may be told; a few short phrases."""

    def synthesize(self, question: str, known: Sequence[str]) -> tuple[Cited, ...] | None:
        """The answer, claim by claim, each with the places in `known` that it rests on."""

    def summarize(self, texts: Sequence[str], words: int) -> str | None:
        """What several statements come to, in so many words at most."""

    def gate(self, texts: Sequence[str]) -> tuple[Chosen, ...] | None:
        """Of each memory whether it alone would help somebody who wakes up knowing nothing else."""

    def triage(self, texts: Sequence[str]) -> tuple[Chosen, ...] | None:
        """Of each memory whether it is worth more than a day."""

    def reconcile(self, old: str, new: str) -> Reconciled | None:
        """What becomes of an older memory beside a newer one about the same thing."""

    def distill(self, notes: Sequence[str], longest: int) -> str | None:
        """How things stand by several notes, the oldest first, in at most so many characters."""

    def audit(self, lines: Sequence[str], texts: Sequence[str]) -> tuple[Proposal, ...] | None:
        """What should stand higher, lower or together; `lines` tell each memory with its numbers."""

    def health(self) -> Health:
        """Whether a model can be asked at the moment, and if not, why."""


class NoAdvisor:
    """The advisor when no model is there: every rule decides by itself."""

    def extract(self, *_: Any, **__: Any) -> None:
        """Nobody to ask."""

    merge = compare = rank = decompose = expand = synthesize = summarize = extract
    gate = triage = reconcile = distill = audit = extract

    def health(self) -> Health:
        """Well: no model is needed."""
        return Health(ok=True, detail="no model is configured; rules decide")


_In = TypeVar("_In")
_Out = TypeVar("_Out")


MOMENT_S = 0.001
"""How long the next one waits for those who were served last."""
TOGETHER_MOST = 64
"""Calls that one thread does for the others at most: nobody waits longer than for so many."""


class Together:
    """Like work of many threads, done by one of them at once: eight small writes cost little more than one.

    Whoever comes while such work is under way waits; at its end the first of those who wait does it for all
    of them. Whom it was done for is mostly about to come again, so the next one waits a moment for as many:
    else the first would do it for itself alone each time.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._as_many = Condition(self._lock)
        self._last = 1
        """For how many it was done last."""
        self._under_way = False
        self._waiting: deque[_SharedCall] = deque()

    def do(self, asked: _In, work: Callable[[Sequence[_In]], Sequence[_Out]]) -> _Out:
        """What the work makes of this one; the others are those that are asked for at the same time."""
        mine = _SharedCall(asked)
        with self._lock:
            self._waiting.append(mine)
            waits, self._under_way = self._under_way, True
            if len(self._waiting) >= self._last:
                self._as_many.notify()
        if waits:
            mine.turn.acquire()
        if mine.answer is None:
            self._do_some(work)
        if not mine.answer:
            return work([asked])[0]
        found: _Out = mine.answer[0]
        return found

    def _do_some(self, work: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        """Do it for those who wait, and let the next one do it for who came meanwhile."""
        with self._as_many:
            self._as_many.wait_for(lambda: len(self._waiting) >= self._last, MOMENT_S)
            group = [self._waiting.popleft() for _ in range(min(len(self._waiting), TOGETHER_MOST))]
            self._last = len(group)
        answers: Sequence[Any] = ()
        try:
            with suppress(EngramError):  # one may have spoilt it for the others: each tries by itself
                answers = work([one.asked for one in group])
        finally:
            for place, one in enumerate(group):
                one.answer = (answers[place],) if answers else ()
                one.turn.release()
            with self._lock:
                self._under_way = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].turn.release()


class _SharedCall:
    __slots__ = ("answer", "asked", "turn")

    def __init__(self, asked: Any) -> None:
        self.asked = asked
        self.answer: tuple[Any, ...] | None = None
        """None: nobody has tried yet; empty: it failed for all."""
        self.turn = Lock()
        """Free when there is an answer, or when it is this one's turn to do the work."""
        self.turn.acquire()


@dataclass(frozen=True, slots=True)
class Tools:
    """Everything a flow may use. The engine builds it; tests build it from fakes."""

    store: Store
    index: VectorIndex
    embedder: Embedder
    clock: Clock
    config: Config
    new_id: Callable[[], str]
    """Makes the id of a new memory: chance is passed in like time."""
    count_tokens: Callable[[str], int]
    advisor: Advisor = field(default_factory=NoAdvisor)
    former: FormerModels | None = None
    """Models whose vectors the present one has not replaced yet; None where nobody looks for them."""
    reranker: Reranker | None = None
    """Reads question and memory together; None when nobody configured one."""
    finder: Finder | None = None
    """Processes that recall beside this one; None when nobody asked for them."""
    keys: KeyRing | None = None
    """What opens and seals; None when the file is no vault."""
    pressure: PressureGauge = field(default_factory=PressureGauge)
    """How much memory is in use, and what gives way for it."""
    writes: Together = field(default_factory=Together)
    """Small writes of many threads."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What many questions ask for and few writes change, with what it was read at."""

    @property
    def zone(self) -> tzinfo:
        """The time zone of whoever speaks, if nothing nearer tells."""
        return zone_of(self.config.timezone)

    def here(self) -> datetime:
        """The present moment on the clocks of that zone: it tells what "today" is."""
        return self.clock.now().astimezone(self.zone)

    def model_trouble(self) -> str:
        """That the last calls to the model brought nothing, and why; empty when it works or there is none."""
        llm = self.config.llm
        if llm.level == "off" or not llm.base_url or not llm.model:
            return ""
        named = (llm.model, llm.small_model, llm.fallback_model, *models_of(llm).values())
        models = [name for name in named if name]
        calls, reason = self.store.spending.failing(models)
        if not calls:
            return ""
        which = "the last call" if calls == 1 else f"each of the last {calls} calls"
        whose = llm.model if {*models} == {llm.model} else "the models"
        return f"{which} to {whose} failed: {reason or 'nobody knows why.'}"


# ---------------------------------------------------------------- store
# What the stores do each in a way of its own, or a test does otherwise.


class Spending(Protocol):
    """What calls to models have cost, and what was found out by calling them, as far as an advisor asks."""

    def form(self, model: str) -> str:
        """How a model of a service is spoken to; empty when nobody has found out, or it is long ago."""

    def keep_form(self, model: str, form: str) -> None:
        """Write down how a model of a service is spoken to."""

    def record(self, call: ModelCall) -> None:
        """Account for a call."""

    def tokens_since(self, at: datetime) -> int:
        """All tokens of calls since a time."""


# ---------------------------------------------------------------- values
# Small values that parts hand to each other.


if TYPE_CHECKING:
    Floats = NDArray[np.float32]
    Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class View:
    """What a question may find: who asks, and the filters. Every search applies it inside."""

    access: Access
    filters: Filters


WORDING: Final = 1
"""The edition of the rules by which words to be found by are read; what an older one read is read again."""


@dataclass(frozen=True, slots=True)
class Findable:
    """What a memory is found by: its own words, cues that are not in the content, facts, and names."""

    terms: tuple[str, ...]
    cues: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    names: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector and the space it belongs to."""

    space: Space
    vector: Floats


EdgeLine = tuple[int, int, str, int, float, float, int | None]
"""An edge as it is kept: key, other key, type, 1 in its own direction, weight, confidence, when drawn."""


class Link(NamedTuple):
    """An edge as a walk sees it: from one key to another, in the edge's own direction or against it."""

    key: int
    other: int
    type: EdgeType
    forward: bool
    weight: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Match:
    """What the words of a memory say to a question."""

    terms: Mapping[str, float]
    """The BM25 of each asked term that it has."""
    length: int
    """How many terms it has in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """What the words of some memories say to a question, as arrays: a line each, a column for each term."""

    terms: tuple[str, ...]
    keys: Keys
    parts: Floats
    """The BM25 of each term in each memory; 0 where it is not said."""
    lengths: NDArray[np.int32]
    """How many terms each has in all."""

    @property
    def scores(self) -> Floats:
        """All terms of each together."""
        scores: Floats = self.parts.sum(axis=1)
        return scores

    def take(self, places: NDArray[np.intp]) -> Matched:
        """Some of the lines, in the order given."""
        return Matched(self.terms, self.keys[places], self.parts[places], self.lengths[places])

    def match(self, place: int) -> Match:
        """One line by the names of its terms."""
        line = self.parts[place]
        told = {self.terms[term]: float(line[term]) for term in line.nonzero()[0].tolist()}
        return Match(told, int(self.lengths[place]))


@dataclass(frozen=True, slots=True, eq=False)
class NeighbouringTurns:
    """Of each of some turns: the keys of the two before and the two after it, and whether it asks."""

    before: Keys
    """A line for each step, the nearest first; 0 where there is none."""
    after: Keys
    asking: NDArray[np.bool_]


Terms = Sequence[str] | Mapping[str, float]
"""What the words of a memory are asked for: terms, or each with the share that it counts."""


@dataclass(frozen=True, slots=True)
class Reach:
    """An access, resolved to what a store can compare quickly."""

    everything: bool = False
    namespace: int | None = None
    """Number of the namespace that is seen whole."""
    scopes: frozenset[int] = frozenset()
    """Numbers of the scopes that are seen, when not everything is."""


@dataclass(frozen=True, slots=True)
class VectorChanges:
    """What changed in a space since a point: rows new or changed, as parallel arrays, and keys that went."""

    upto: int
    """Ask for changes after this the next time."""
    keys: Keys
    scopes: NDArray[np.int32]
    namespaces: NDArray[np.int32]
    statuses: NDArray[np.int8]
    """Position of the status in `tuple(Status)`."""
    signatures: NDArray[np.uint8] | None
    """One row of packed bits each; None while the space has no centre."""
    gone: Keys
    rows: NDArray[np.int8] | None = None
    """The vectors in 8 bits, where they were asked for."""
    more: bool = False
    """Whether the answer was cut at the limit."""


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Stored vectors in 8 bits, each with its own scale: `rows[i] * scales[i]` is the vector of `keys[i]`."""

    keys: Keys
    rows: NDArray[np.int8]
    scales: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ConversationBias:
    """Where a talk has been going, and how much of it a question takes along."""

    space: Space
    vector: Floats
    """Of unit length."""
    share: float
    """From 0, nothing, to 1, nothing else."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Words of the talk, as the text index writes them, with what each counts, up to 1."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Somebody said that a memory did not help; the question's vector says in which context."""

    key: int
    space: str
    vector: Floats
    at: datetime


HEALTH_SECONDS: Final = 30.0
"""How long it is believed that an embedder is well, or down."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a part works, in words."""

    ok: bool
    detail: str = ""
