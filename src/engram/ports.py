"""The parts that can be swapped, as small protocols, and `Tools`, the bundle a flow receives.

A *key* is a memory's row number in its store: short, ordered by time of storing, and never shown to a caller.
Channels and indexes speak in keys; everything public speaks in ids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from engram.errors import EngramError
from engram.model.clock import zone_of
from engram.pressure import PressureGauge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.config import Config
    from engram.model.capture import Turn, Waiting
    from engram.model.clock import Clock
    from engram.model.event import (
        ArchiveReport,
        AuditEntry,
        Backup,
        Delivery,
        Event,
        Finding,
        KeptAnswer,
        Page,
        Publication,
        PurgeOrder,
        Stats,
        Subscription,
        Verb,
    )
    from engram.model.facts import Claim, Edge, EdgeType, Entity, Fact, FactQuery, Named, ToldFact
    from engram.model.knowledge import (
        Chosen,
        Cited,
        Comparison,
        Extracted,
        ModelCall,
        Proposal,
        Reconciled,
        Spent,
    )
    from engram.model.maintenance import Decided, Judgement, Run, RunKind, RunState, Sketch, Tally
    from engram.model.memory import Filters, Memory, Space, Status, Tier
    from engram.model.recall import Question, Recall, Recalled
    from engram.model.scope import Access, Scope, Token
    from engram.model.session import Snapshot, Trigger


# ---------------------------------------------------------------- bus
# The bus in the store.


class BusStore(Protocol):
    """Who offers what, who wants what, what was delivered."""

    def publications(self, after: int, limit: int, access: Access | None = None) -> list[Publication]:
        """In the order of publishing, beginning after a number; of scopes a caller may see, if one asks."""

    def publication(self, publication_id: str) -> Publication | None:
        """One offer by its id."""

    def subscriptions(self, access: Access | None = None) -> list[Subscription]:
        """All, oldest first; of scopes a caller may see, if one asks."""

    def newest(self) -> int:
        """The number of the last publication."""

    def delivered(self, origins: list[str], scope: Scope) -> dict[str, Delivery]:
        """Of each of these memories that was delivered to a place: its copy there."""


class BusWork(Protocol):
    """What is written, inside a unit of work."""

    def publish(self, publication: Publication) -> None:
        """Offer a memory; a former offer of the same memory is withdrawn."""

    def withdraw(self, publication_id: str) -> bool:
        """Take an offer back; copies stay. Whether there was one."""

    def subscribe(self, subscription: Subscription) -> None:
        """Keep a subscription, or what has changed of it."""

    def unsubscribe(self, subscription_id: str) -> bool:
        """Drop a subscription; whether there was one."""

    def deliver(self, delivery: Delivery) -> None:
        """Say that a copy was delivered; erasing the original erases it too."""


# ---------------------------------------------------------------- nouns
# The store, noun by noun: what may be read.


class Memories(Protocol):
    """The records."""

    def get(self, memory_id: str, access: Access) -> Memory | None:
        """The memory with this full id, in any status, if the caller may see it."""

    def resolve(self, prefix: str, access: Access) -> str:
        """The full id that begins with `prefix`. Raises NotFound or AmbiguousId."""

    def read(self, keys: Sequence[int]) -> dict[int, Memory]:
        """The records of keys that a search has already allowed. Missing keys are left out."""

    def keys(self, ids: Sequence[str]) -> dict[str, int]:
        """The keys of full ids. Missing ids are left out."""

    def page(self, view: View, limit: int, cursor: str | None = None) -> Page:
        """Newest first. Raises BadCursor."""

    def count(self, view: View) -> int:
        """How many the view allows."""

    def select(self, view: View, limit: int) -> Keys | None:
        """All keys the view allows, in order; None when they are more than `limit`."""

    def allow(self, view: View, keys: Sequence[int]) -> set[int]:
        """Those of the keys that the view allows."""

    def used_since(self, at: datetime, limit: int) -> list[Memory]:
        """What the latest recalls since a time have used; at most so many uses are looked at."""

    def unembedded(self, space: Space, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories without a vector in this space, by key, beginning after a key."""

    def unsealed(self, tier: Tier, limit: int) -> list[Memory]:
        """Memories of a tier whose words are not sealed."""
        ...

    def sealed(self, limit: int) -> list[Memory]:
        """Memories whose words are sealed."""
        ...

    def without_words(self, limit: int) -> list[Memory]:
        """Memories whose words were lost, so that no question finds them by a word."""

    def reach(self, access: Access) -> Reach:
        """The access, resolved."""

    def stats(self, access: Access, space: Space | None) -> Stats:
        """Counts of what the caller may see; pending counts active memories without a vector in `space`."""


class WordSearch(Protocol):
    """The terms of one question, looked up among what one caller may read. Lives as long as the question."""

    @property
    def terms(self) -> tuple[str, ...]:
        """What is looked up, each once: the columns of what is found."""

    @property
    def rarity(self) -> Mapping[str, float]:
        """The inverse document frequency of each term, among what the caller may read."""

    def search(self, view: View, limit: int) -> Matched:
        """The memories that fit best by BM25 among those that a view allows, best first."""

    def of(self, keys: Sequence[int] | Keys) -> Matched:
        """What the words of given memories say, in the order given; unknown ones are left out."""

    def turns(self, keys: Keys, view: View) -> NeighbouringTurns:
        """The two turns of a talk before and the two after each of these that the view allows."""

    def within(self, view: View, limit: int) -> Keys | None:
        """All keys that a view allows, in order; None when they are more than `limit`."""

    def passing(self, keys: Keys, view: View) -> NDArray[np.bool_]:
        """Which of the keys a view allows."""
        ...

    def only(self, terms: Sequence[str]) -> WordSearch:
        """The same search for some of its terms."""


class Texts(Protocol):
    """What memories are found by."""

    def ask(self, terms: Terms, access: Access) -> WordSearch:
        """The terms of a question, looked up once for everything that is asked of them."""

    def search(self, terms: Terms, view: View, limit: int) -> list[tuple[int, Match]]:
        """The keys that fit these terms best by BM25, best first, with what fits of each."""

    def matches(self, terms: Terms, keys: Sequence[int], access: Access) -> dict[int, Match]:
        """What fits of given keys; keys that are not indexed are left out. Counted is what one may read."""

    def rarity(self, terms: Sequence[str], access: Access) -> dict[str, float]:
        """The inverse document frequency of each term, among what the caller may read."""


class Vectors(Protocol):
    """The vectors, space by space."""

    def changes(self, space: Space, after: int, limit: int, *, rows: bool = False) -> VectorChanges:
        """What changed after a point, for an index that keeps itself in step; with the vectors, if wanted."""

    def rows(self, space: Space, keys: Sequence[int]) -> VectorRows:
        """Stored vectors of these keys; missing keys are left out."""

    def centre(self, space: Space) -> Floats | None:
        """What signatures of this space are centred on, once the space is large enough to need them."""

    def sign(self, space: Space, centre: Floats) -> None:
        """Fix the centre of a space and give every row its signature; later rows get theirs at once."""

    def spaces(self) -> dict[str, int]:
        """Each space's key with the number of its vectors."""

    def searched(self, space: Space) -> SearchedSpace | None:
        """The space, if it is too large for an index in memory and the store searches it; else None."""


class SearchedSpace(Protocol):
    """A space of vectors that the store itself searches."""

    @property
    def centre(self) -> Floats:
        """What its signatures are centred on."""
        ...

    def near(
        self, signature: NDArray[np.uint8], reach: Reach, statuses: frozenset[Status], count: int
    ) -> Keys:
        """The keys whose signatures differ in the fewest bits, nearly, of what a caller may reach."""
        ...

    def sample(self, reach: Reach, count: int) -> Keys:
        """Some keys, spread over what a caller may reach."""
        ...


class Relations(Protocol):
    """The edges."""

    def of(self, memory_id: str, access: Access) -> list[Edge]:
        """Edges from and to a memory; the far ends are visible to the caller too."""

    def links(self, keys: Sequence[int], types: Iterable[EdgeType], view: View) -> list[Link]:
        """Edges of these types at these keys, in both directions, whose far ends the view allows."""

    def at(self, keys: Sequence[int]) -> list[EdgeLine]:
        """All edges at these keys, in both directions, as they are kept, whoever may see their ends."""


class FactStore(Protocol):
    """What memories state, as subject, predicate and object."""

    def stated(self, subject: str, predicate: str, scope: Scope, limit: int) -> list[Claim]:
        """Such facts of active memories of this very scope, newest first."""

    def find(self, query: FactQuery, view: View, limit: int) -> list[Claim]:
        """Facts that fit the query, of memories that the view allows, newest first.

        With `as_of`, those that held then: said and begun before it, not ended by it, whatever the memory's
        status is today.
        """

    def told(self, query: FactQuery, view: View, limit: int) -> list[ToldFact]:
        """As `find`, without the records."""

    def disputed(self, view: View, limit: int) -> list[tuple[Claim, Claim]]:
        """Pairs that cannot both be true, of active or challenged memories, newest first.

        Two functional facts of one scope with one subject and predicate but two objects, both held at
        present: the newest with the newest of each other object.
        """


class EntityStore(Protocol):
    """Who and what is spoken of. An entity is seen by those who see a memory that names it."""

    def get(self, name: str, access: Access) -> Entity | None:
        """The entity with this name or alias, without case."""

    def page(self, access: Access, limit: int, entity_type: str = "", prefix: str = "") -> list[Entity]:
        """Entities, last seen first; of one type; with a name or alias that begins so."""

    def like(self, name: str, access: Access, limit: int) -> list[Entity]:
        """Entities with a name that shares a word or the beginning with this one."""

    def like_each(self, names: Sequence[str], access: Access, limit: int) -> list[list[Entity]]:
        """The same for many names."""

    def known(self, names: Iterable[str], namespace: str) -> set[str]:
        """Those of the names, without case, that stand for something in a namespace, whoever may see it."""

    def among(self, words: Sequence[str], access: Access) -> list[Entity]:
        """Entities one of whose names is in `words`: how a question's entities are recognised."""

    def memories(self, entity: Entity, view: View, limit: int) -> list[tuple[int, Memory]]:
        """Memories that name it, by any of its names, the latest happening first, with their keys."""


class Turns(Protocol):
    """The raw log of conversations."""

    def waiting(self, scope: Scope, limit: int, session: str | None = None) -> list[Turn]:
        """Turns of this very scope that are not captured yet, oldest first; of one session if named."""

    def scopes_waiting(self) -> list[Scope]:
        """The scopes in which turns wait."""

    def before(self, turn: Turn, limit: int) -> list[Turn]:
        """The turns said just before this one in its session, oldest first."""

    def of_session(self, session: str, access: Access, limit: int, after: int = 0) -> list[Turn]:
        """A session's turns in order, beginning after a key, of scopes the caller may see."""

    def of_memory(self, memory_id: str, access: Access) -> list[Turn]:
        """The turns a memory came from."""

    def read_before(self, after: int, limit: int, session: str = "") -> list[Turn]:
        """Turns that have been read, in the order of logging, after a key; of one session if named."""

    def count_read(self, session: str = "") -> int:
        """How many turns have been read, of one session or of all."""

    def made_from(self, turns: Sequence[int]) -> dict[int, frozenset[int]]:
        """The keys of memories that came from these turns, each with the keys of all turns it came from."""


class Origins(Protocol):
    """Where imported memories came from: which file, which part of it, in which version."""

    def known(self, scope: Scope, beginning: str) -> dict[str, tuple[str, str]]:
        """Of each origin that begins so: the memory's id and the digest of what it was made from."""


class Spending(Protocol):
    """What calls to models have cost, and what was found out about models by calling them."""

    def form(self, model: str) -> str:
        """How a model of a service is spoken to; empty when nobody has found out, or it is long ago."""

    def keep_form(self, model: str, form: str) -> None:
        """Write down how a model of a service is spoken to."""

    def record(self, call: ModelCall) -> None:
        """Account for a call."""

    def tokens_since(self, at: datetime) -> int:
        """All tokens of calls since a time."""

    def summary(self, since: datetime) -> list[Spent]:
        """Calls since a time, added up by component and model, most tokens first."""

    def by_day(self, since: datetime) -> list[Spent]:
        """The same day by day, the latest first; days as UTC counts them."""

    def failing(self, models: Sequence[str]) -> tuple[int, str]:
        """How many of the last calls to these models brought nothing, and why the latest did not.

        0 when the latest brought something, or there was none.
        """

    def clear(self) -> int:
        """Forget all calls; how many there were."""


class Recalls(Protocol):
    """How the last recalls went."""

    def record(self, one: Recalled, most: int) -> None:
        """Keep one without making the caller wait, and no more than `most` in all. May be lost."""

    def last(self, limit: int) -> list[Recalled]:
        """The last recalls, oldest first."""


class Audit(Protocol):
    """Who looked, and who was not let."""

    def note(self, entry: AuditEntry) -> None:
        """Write it down soon, without making the caller wait."""
        ...

    def entries(self, limit: int, after: int = 0) -> list[AuditEntry]:
        """Oldest first, after a number."""
        ...


class Ledger(Protocol):
    """The events."""

    def events(
        self, memory_id: str | None, access: Access, limit: int, before: str | None = None
    ) -> list[Event]:
        """Newest first, of one memory or of all that the caller may see; `before` is an event to go on from.

        Events of an erased memory stay visible to those who could see the memory.
        """

    def as_of(self, memory_ids: Sequence[str], at: datetime) -> dict[str, dict[str, Any]]:
        """Of each of these memories that has changed since: those fields as they were at that time.

        Plain values, as events have them; None for words that were not kept because they are a secret.
        """

    def after(self, event_id: str, access: Access, limit: int) -> list[Event]:
        """Oldest first, those the caller may see that were written after an event, whoever may see that one.

        An empty id stands for the beginning.
        """

    def newest(self) -> str:
        """The id of the event written last; empty when nothing has happened yet."""


class TokenStore(Protocol):
    """Who may come in from outside."""

    def add(self, token: Token, digest: str) -> None:
        """Keep a new token with the digest of its secret."""

    def known(self) -> list[tuple[str, Token]]:
        """Every token with its digest, also those that are no longer valid, oldest first."""

    def revoke(self, token_id: str, at: datetime) -> bool:
        """Take a token back; whether it was there to be taken."""

    def used(self, token_id: str, at: datetime) -> None:
        """Note a use. It may be lost."""


class AnswerStore(Protocol):
    """Answers to writes that carried a key."""

    def find(self, caller: str, key: str) -> KeptAnswer | None:
        """What was answered to this caller under this key."""

    def keep(self, answer: KeptAnswer, before: datetime, most: int) -> None:
        """Keep one, and drop those before a time and those beyond so many."""


class Opinions(Protocol):
    """Feedback that still counts."""

    def against(self, keys: Sequence[int], space: Space, since: datetime) -> list[Suppression]:
        """Suppressions of these keys, made in this space, not older than `since`."""


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


class FormerModels(Protocol):
    """The models that were used before the present one, as long as memories have vectors of theirs alone."""

    def embed_query(self, text: str, present: Space) -> list[Embedded]:
        """A question as each of them means it; nothing once all memories are in the present space."""

    def replaced(self, present: Space) -> list[str]:
        """Keys of spaces that nobody asks any more once all memories have a vector in the present one."""

    def forget(self) -> None:
        """Look again at the next question: vectors were made or dropped."""


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


class VectorIndex(Protocol):
    """Finds the nearest vectors. The store stays the truth; an index catches up with it by itself."""

    def ask(self, space: Space, vector: Floats, access: Access) -> NearSearch:
        """The vector of a question, looked at once for everything that is asked of it."""

    def let_go(self) -> None:
        """Give up what was worked out for questions and can be worked out again: memory is short."""

    def search(self, space: Space, vector: Floats, k: int, view: View) -> list[tuple[int, float]]:
        """The k nearest keys the view allows, with their cosine, best first."""

    def nearest(self, space: Space, vectors: Floats, k: int, reach: Reach) -> list[list[tuple[int, float]]]:
        """For many vectors at once: the nearest active keys inside a reach (for deduplication)."""

    def stats(self, space: Space) -> IndexStats:
        """What the index holds of a space."""

    def settle(self) -> None:
        """Wait for work in the background; called before the store is closed."""


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

    def extract(self, turns: Sequence[Turn], before: Sequence[Turn] = ()) -> None:
        """Nobody to ask."""

    def merge(self, old: str, new: str) -> None:
        """Nobody to ask."""

    def compare(self, old: str, new: str) -> None:
        """Nobody to ask."""

    def rank(self, question: str, texts: Sequence[str]) -> None:
        """Nobody to ask."""

    def decompose(self, question: str, known: Sequence[str]) -> None:
        """Nobody to ask."""

    def expand(self, question: str) -> None:
        """Nobody to ask."""

    def synthesize(self, question: str, known: Sequence[str]) -> None:
        """Nobody to ask."""

    def summarize(self, texts: Sequence[str], words: int) -> None:
        """Nobody to ask."""

    def gate(self, texts: Sequence[str]) -> None:
        """Nobody to ask."""

    def triage(self, texts: Sequence[str]) -> None:
        """Nobody to ask."""

    def reconcile(self, old: str, new: str) -> None:
        """Nobody to ask."""

    def distill(self, notes: Sequence[str], longest: int) -> None:
        """Nobody to ask."""

    def audit(self, lines: Sequence[str], texts: Sequence[str]) -> None:
        """Nobody to ask."""

    def health(self) -> Health:
        """Well: no model is needed."""
        return Health(ok=True, detail="no model is configured; rules decide")


class Finder(Protocol):
    """Recalls elsewhere, so that several questions are computed at once."""

    def find(
        self, question: Question, lean: ConversationBias | None, here: Callable[[], Recall]
    ) -> tuple[Recall, bool]:
        """The answer, and whether it was found elsewhere: then it has left no trace. `here` recalls here."""

    def close(self) -> None:
        """Let go of whoever finds."""


_In = TypeVar("_In")
_Out = TypeVar("_Out")


class Together:
    """Like work of many threads, done by one of them at once: eight look-ups cost little more than one.

    Whoever comes while a look-up is under way waits for its end; then one of those who wait does it for all.
    """

    def __init__(self) -> None:
        self._one_at_a_time = Lock()
        self._waiting: deque[_LookUp] = deque()

    def do(self, asked: _In, work: Callable[[Sequence[_In]], Sequence[_Out]]) -> _Out:
        """What the work makes of this one; the others are those that are asked for at the same time."""
        mine = _LookUp(asked)
        self._waiting.append(mine)
        with self._one_at_a_time:
            if mine.answer is None:
                self._do_all(work)
        if not mine.answer:
            return work([asked])[0]
        found: _Out = mine.answer[0]
        return found

    def _do_all(self, work: Callable[[Sequence[Any]], Sequence[Any]]) -> None:
        group = [self._waiting.popleft() for _ in range(len(self._waiting))]
        for one in group:
            one.answer = ()
        with suppress(EngramError):  # one may have spoilt it for the others: each tries by itself
            for one, answer in zip(group, work([one.asked for one in group]), strict=True):
                one.answer = (answer,)


class _LookUp:
    __slots__ = ("answer", "asked")

    def __init__(self, asked: Any) -> None:
        self.asked = asked
        self.answer: tuple[Any, ...] | None = None
        """None: nobody has tried yet; empty: it failed for all."""


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
    lookups: Together = field(default_factory=Together)
    """What small writes of many threads look up at the same time."""

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
        models = [name for name in (llm.model, llm.small_model, llm.fallback_model) if name]
        calls, reason = self.store.spending.failing(models)
        if not calls:
            return ""
        which = "the last call" if calls == 1 else f"each of the last {calls} calls"
        return f"{which} to {llm.model} failed: {reason or 'nobody knows why.'}"


# ---------------------------------------------------------------- keys
# Keys: one that never leaves, and others made of it, one for each purpose.


class KeyRing(Protocol):
    """The keys of a vault."""

    @property
    def covers(self) -> str:
        """`file`: all of it is encrypted; `fields`: only contents that are sensitive or confidential are."""

    @property
    def database(self) -> bytes | None:
        """What the file is encrypted with; None when only contents of memories are sealed."""
        ...

    def key(self, purpose: str) -> bytes:
        """32 bytes for one purpose; another purpose gets others."""


# ---------------------------------------------------------------- snapshots
# Snapshots in the store: sessions that sleep, sealed.


class Snapshots(Protocol):
    """Sessions that sleep. The store keeps what is sealed and never opens it."""

    def key(self) -> bytes:
        """32 bytes to seal with. They are not in the file: a copy of the file alone opens no snapshot."""

    def put(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, in place of the one of its session."""

    def get(self, session: str, scope: Scope) -> Snapshot | None:
        """The snapshot of a session of this very place."""

    def known(self, access: Access) -> list[Snapshot]:
        """Those of the places where the caller may write, the latest first, without their bodies."""

    def remove(self, session: str, scope: Scope) -> bool:
        """Drop a snapshot; whether there was one."""

    def expire(self, before: datetime) -> int:
        """Drop all that were saved before a time; how many."""


# ---------------------------------------------------------------- store
# The store: a bundle of nouns, one way to write, and upkeep.


T = TypeVar("T")


KeptBackups = list["Backup"]
"""`list` below hides the builtin inside the class."""


class BackupStore(Protocol):
    """Copies of the whole store."""

    def make(self, target: Path | None = None) -> Backup:
        """Copy everything acknowledged so far to a file, or to the folder of backups, and check it."""

    def list(self) -> KeptBackups:
        """The backups there are, oldest first."""

    def drop_old(self, keep: int) -> None:
        """Delete all but the newest so many."""

    def check(self, backup: Backup) -> Finding:
        """Whether a backup can be opened and is sound."""

    def archive(self, out: IO[bytes], passphrase: str = "") -> ArchiveReport:
        """Write everything as one archive, encrypted if there is a passphrase."""

    def last_at(self) -> datetime | None:
        """When the newest was made; without one, since when there is something to lose, if ever."""


class Store(Protocol):
    """A bundle of nouns, one way to write, and upkeep."""

    @property
    def memories(self) -> Memories:
        """The records."""

    @property
    def texts(self) -> Texts:
        """The text index."""

    @property
    def vectors(self) -> Vectors:
        """The vectors."""

    @property
    def relations(self) -> Relations:
        """The edges."""

    @property
    def facts(self) -> FactStore:
        """What memories state."""

    @property
    def entities(self) -> EntityStore:
        """Who and what is spoken of."""

    @property
    def turns(self) -> Turns:
        """The raw log."""

    @property
    def origins(self) -> Origins:
        """Where imports came from."""

    @property
    def spending(self) -> Spending:
        """What models have cost."""

    @property
    def audit(self) -> Audit:
        """Who looked, and who was not let."""
        ...

    @property
    def recalls(self) -> Recalls:
        """How the last recalls went."""

    @property
    def ledger(self) -> Ledger:
        """The events."""

    @property
    def answers(self) -> AnswerStore:
        """What was answered to writes with a key."""

    @property
    def tokens(self) -> TokenStore:
        """Who may come in from outside."""

    @property
    def opinions(self) -> Opinions:
        """The feedback."""

    @property
    def snapshots(self) -> Snapshots:
        """Sessions that sleep."""

    @property
    def triggers(self) -> TriggerStore:
        """Words that load pages."""

    @property
    def bus(self) -> BusStore:
        """What agents tell each other."""

    @property
    def upkeep(self) -> MaintenanceStore:
        """Runs of maintenance, what they decided, and what they worked out."""

    def write(self, work: Callable[[Unit], T], actor: str) -> T:
        """Run the work inside the writer and wait until it is on disk. An exception leaves nothing behind."""

    def write_later(self, work: Callable[[Unit], object], actor: str, *, patient: bool = False) -> None:
        """Hand work over without waiting, for what may be lost (counting a use). A full queue drops it."""

    def reading(self) -> AbstractContextManager[None]:
        """Inside, all that this thread reads is of one moment. Nothing else is to be waited for there."""
        ...

    def flush(self) -> None:
        """Wait until everything handed over so far is written."""

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out."""

    def leave_nothing(self, *, compact: bool = False) -> None:
        """Leave nothing of what was erased; with `compact` give space back when much is free."""

    def vacuum(self, *, full: bool = True) -> None:
        """Give freed space back and leave nothing of erased memories in the file or its log.

        Unless `full`, only what can be done without writing the whole file anew.
        """

    def check(self, *, repair: bool = False) -> list[Finding]:
        """Look for damage; with `repair` mend what can be rebuilt (text index, names, counters)."""

    def lease(self, name: str) -> AbstractContextManager[None]:
        """Hold a certain work for oneself, over all processes; raises UpkeepBusy when somebody else does."""

    @property
    def backups(self) -> BackupStore:
        """Copies of all of it."""

    def copy(self) -> Store:
        """A private copy of everything as it is now, to try things on; closing it removes it."""

    def let_go(self) -> None:
        """Give up what is held in memory and can be read again: memory is short."""

    def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""


# ---------------------------------------------------------------- triggers
# Triggers in the store: which words load which pages.


class TriggerStore(Protocol):
    """Words in a message that load pages into the recall pack."""

    def put(self, trigger: Trigger) -> None:
        """Keep a trigger, in place of the one with its id."""

    def known(self, access: Access) -> list[Trigger]:
        """Those of the places that the caller sees, oldest first."""

    def remove(self, trigger_id: str) -> bool:
        """Drop a trigger; whether there was one."""


# ---------------------------------------------------------------- unit
# The unit of work: what may be written.


class Unit(Protocol):
    """One piece of work inside the writer: reads see its own writes, all of it happens or none.

    Each call that changes a memory appends its event by itself.
    """

    @property
    def bus(self) -> BusWork:
        """What agents tell each other."""

    @property
    def upkeep(self) -> MaintenanceWork:
        """What maintenance writes beside the records."""

    def purge(self, what: PurgeOrder) -> dict[str, int]:
        """Erase a person, a place or a conversation with all that tells of it; how much of what."""

    def within_run(self, run: str, rule: str) -> None:
        """From here on events belong to this run of upkeep and this rule."""

    def get(self, memory_id: str) -> Memory | None:
        """The memory as it is inside this unit."""

    def read_ahead(self, ids: Iterable[str]) -> None:
        """Read memories at once before `get` asks for each."""

    def look_up_contents(self, hashes: Sequence[str], scope: Scope) -> None:
        """Look for memories with these normalized contents at once, before `same_content` asks for each."""

    def same_content(self, content_hash: str, scope: Scope) -> Memory | None:
        """The active memory of this very scope with the same normalized content."""

    def last_of_session(self, session: str, scope: Scope) -> str | None:
        """The id of the memory stored last in a session of this very scope."""

    def add(self, memory: Memory, findable: Findable, vector: Embedded | None, because: str) -> None:
        """Write a new memory with its words, its vector and its event."""

    def change(
        self, new: Memory, verb: Verb, because: str, findable: Findable | None = None, related: str = ""
    ) -> None:
        """Replace a memory's record; the event names the fields that differ. `findable` re-indexes it.

        A new content makes the old vectors wrong: they are dropped until `embed` brings the new one.
        """

    def embed(self, memory_id: str, vector: Embedded) -> None:
        """Set a memory's vector in a space. Writes no event: a vector is derived from the content."""

    def drop_replaced(self, former: str, space: Space, limit: int) -> int:
        """Drop vectors of a former space, by its key, where this one has others; at most `limit`."""

    def relate(self, edge: Edge, because: str) -> None:
        """Add an edge, or reinforce the one that is there. Raises CycleRefused for the acyclic types.

        A `next` edge writes no event: it says only in which order two memories of a session came.
        """

    def add_edges(self, edges: Sequence[Edge], most: int) -> None:
        """Add edges that follow from what memories say, but for those that are there.

        Writes no event: like a vector, such an edge is derived from the contents. A memory to which `most`
        edges lead gets no more of them.
        """

    def confirm(self, ids: Sequence[str], types: Iterable[EdgeType], gain: float) -> None:
        """Let the edges of these types among these memories gain confidence: they proved themselves.

        Writes no event: it is a use, as in `touch`.
        """

    def naming(self, name: str, scope: Scope, limit: int, common: int) -> tuple[int, list[str]]:
        """How many memories have this name, up to `common` and one, and the latest in this very scope.

        The latest are the ids of active memories; none of a name that is more common than that.
        """

    def hanging_on(self, fact: Fact, scope: Scope, limit: int) -> list[str]:
        """Active memories of this very scope that go on where a fact ends, or end where it begins."""

    def unrelate(self, source: str, target: str, edge_type: EdgeType, because: str) -> bool:
        """Take an edge away; whether there was one."""

    def touch(self, ids: Sequence[str], at: datetime, session: str) -> None:
        """Count a use of each: accesses, last access, distinct sessions. Use is logged, it is no event."""

    def add_feedback(self, memory_id: str, *, helpful: bool, question: Embedded | None, because: str) -> None:
        """Keep feedback and count it on the memory."""

    def seal_turns(self, memory_id: str, seal: Callable[[Turn], Turn], *, back: bool = False) -> int:
        """Replace the turns a memory came from, or all, by what `seal` makes of them; how many changed.

        Only those that are not sealed; with `back` those that are, and they are not any more.
        """
        ...

    def log(self, turns: Sequence[Turn]) -> tuple[Waiting, int]:
        """Add turns of one scope to the raw log but for those whose id their session knows.

        What waits in the scope now, counted up to a limit, and how many of the turns were new.
        """

    def captured(self, turns: Sequence[Turn], at: datetime) -> int:
        """Say that memories were made of these turns: they wait no longer. How many of them still did."""

    def link_turns(self, memory_id: str, turns: Sequence[int]) -> None:
        """Say which turns (by key) a memory came from; erasing the memory erases their words too."""

    def end_fact(self, memory_id: str, fact: Fact, at: datetime) -> None:
        """Say until when a fact of a memory held."""

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name; an entity of that name becomes part of it."""

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for an entity of its own again; whether it was an alias."""

    def set_origin(self, memory_id: str, scope: Scope, origin: str, digest: str) -> None:
        """Keep where an imported memory came from; the origin's former memory is forgotten here only."""

    def remove_origins(self, scope: Scope, origins: Sequence[str]) -> None:
        """Drop origins that are no more."""

    def erase(self, memory_id: str, because: str) -> None:
        """Remove a memory, its words, vectors, edges, feedback, log and the turns it came from.

        The ledger keeps the bare fact.
        """


# ---------------------------------------------------------------- upkeep
# Upkeep in the store: what may be read about runs, judgements and sketches, and what may be written.


class MaintenanceStore(Protocol):
    """What maintenance reads. It sees the whole file."""

    def slice(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories of all scopes that fit, by key, beginning after a key: a pass in bounded pieces."""

    def uses(self, keys: Sequence[int], most: int) -> dict[int, list[datetime]]:
        """When each of these memories was used, the latest first, at most so many times each."""

    def scopes(self) -> list[Scope]:
        """Every place that has memories."""

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""

    def runs(self, limit: int, kind: RunKind | None = None, state: RunState | None = None) -> list[Run]:
        """The last runs, newest first."""

    def decided(self, run_id: str, after: int, limit: int) -> list[Decided]:
        """What a run decided, in order, beginning after a number."""

    def tallies(self, run_id: str) -> list[Tally]:
        """What a run has carried out, counted by step and rule, in the order of the steps."""

    def events(self, run_id: str, limit: int, before: str = "") -> list[Event]:
        """The events of a run, newest first; `before` is an event to go on from."""

    def judged(self, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
        """Those of the keys about which something was decided."""

    def judgements(self, kind: str, limit: int, verdict: str = "") -> list[Judgement]:
        """What was decided last under a kind, newest first."""

    def sketch(self, scope: Scope, kind: str, key: str) -> Sketch | None:
        """One sketch of this very scope."""

    def sketches(self, kind: str, access: Access, limit: int, prefix: str = "") -> list[Sketch]:
        """Sketches of a kind in the scopes the caller may see, by key."""


class MaintenanceWork(Protocol):
    """What maintenance writes, inside a unit of work."""

    def note(self, run: Run) -> None:
        """Keep a run as it stands."""

    def decided(self, run_id: str, lines: Sequence[Decided]) -> None:
        """Add decisions to a run's report; they are numbered here."""

    def judge(self, judgement: Judgement) -> None:
        """Keep a judgement in place of the former one."""

    def sketch(self, sketch: Sketch) -> None:
        """Keep a sketch in place of the former one."""

    def unsketch(self, scope: Scope, kind: str, key: str) -> bool:
        """Drop a sketch; whether there was one."""

    def unsketch_run(self, run_id: str) -> None:
        """Drop the sketches that a run made: the next one makes them anew."""

    def prune(self, before: datetime) -> int:
        """Drop decisions of finished runs and logs of uses from before a time; how many lines went."""


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

    @property
    def score(self) -> float:
        """All terms together."""
        return sum(self.terms.values())


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

    def matches(self) -> dict[int, Match]:
        """All lines so, by key."""
        return {key: self.match(place) for place, key in enumerate(self.keys.tolist())}


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
