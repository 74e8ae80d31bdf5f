"""What stands beside the store: embedder, index, advisor; and `Tools`, the bundle a flow receives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Protocol

from engram.model.clock import zone_of

if TYPE_CHECKING:
    from engram.config import Config
    from engram.model.advice import Cited, Comparison, Extracted, Proposal, Reconciled
    from engram.model.clock import Clock
    from engram.model.recall import Question, Recall
    from engram.model.scope import Access
    from engram.model.turn import Turn
    from engram.model.vectors import Space
    from engram.ports.store import Store
    from engram.ports.values import (
        Floats,
        Health,
        Lean,
        Reach,
        View,
    )


class Embedder(Protocol):
    """Turns text into vectors of unit length."""

    @property
    def space(self) -> Space:
        """Where the vectors of the next call will belong."""
        ...

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row each, of zeros for a text without a known word; and the space they belong to.

        Raises EmbedderDown when no vectors can be made at the moment.
        """
        ...

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question: one vector, and its space. Raises EmbedderDown."""
        ...

    def health(self) -> Health:
        """Whether vectors can be made at the moment."""
        ...


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


class VectorIndex(Protocol):
    """Finds the nearest vectors. The store stays the truth; an index catches up with it by itself."""

    def search(self, space: Space, vector: Floats, k: int, view: View) -> list[tuple[int, float]]:
        """The k nearest keys the view allows, with their cosine, best first."""
        ...

    def nearest(self, space: Space, vectors: Floats, k: int, reach: Reach) -> list[list[tuple[int, float]]]:
        """For many vectors at once: the nearest active keys inside a reach (for deduplication)."""
        ...

    def noise(self, space: Space, vector: Floats, access: Access) -> Noise:
        """How near this question lies to those vectors of its space that the caller may read."""
        ...

    def stats(self, space: Space) -> IndexStats:
        """What the index holds of a space."""
        ...

    def settle(self) -> None:
        """Wait for work in the background; called before the store is closed."""
        ...


class Reranker(Protocol):
    """Reads a question and a memory together and says how well the one answers the other."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number for each text, higher is better. Raises RerankerDown."""
        ...


class Advisor(Protocol):
    """A model that may help. Every answer may be None: no model may be asked, or none gave a usable answer.

    No call raises for what a model or a network does, and none takes longer than the configured time.
    """

    def extract(self, turns: Sequence[Turn], before: Sequence[Turn] = ()) -> tuple[Extracted, ...] | None:
        """The statements worth keeping in these turns; the turns before them are there to be understood."""
        ...

    def merge(self, old: str, new: str) -> str | None:
        """One statement that says what both say."""
        ...

    def compare(self, old: str, new: str) -> Comparison | None:
        """What a new statement is to an old one."""
        ...

    def rank(self, question: str, texts: Sequence[str]) -> tuple[int, ...] | None:
        """The places of the texts in the order in which they answer the question, every one of them once."""
        ...

    def decompose(self, question: str, known: Sequence[str]) -> tuple[str, ...] | None:
        """The smaller questions that what is known leaves open; empty when it suffices."""
        ...

    def expand(self, question: str) -> tuple[str, ...] | None:
        """Other words in which what answers the question may be told; a few short phrases."""
        ...

    def synthesize(self, question: str, known: Sequence[str]) -> tuple[Cited, ...] | None:
        """The answer, claim by claim, each with the places in `known` that it rests on."""
        ...

    def summarize(self, texts: Sequence[str], words: int) -> str | None:
        """What several statements come to, in so many words at most."""
        ...

    def gate(self, texts: Sequence[str]) -> tuple[bool, ...] | None:
        """Of each memory whether it alone would help somebody who wakes up knowing nothing else."""
        ...

    def triage(self, texts: Sequence[str]) -> tuple[bool, ...] | None:
        """Of each memory whether it is worth more than a day."""
        ...

    def reconcile(self, old: str, new: str) -> Reconciled | None:
        """What becomes of an older memory beside a newer one about the same thing."""
        ...

    def distill(self, notes: Sequence[str], longest: int) -> str | None:
        """How things stand by several notes, the oldest first, in at most so many characters."""
        ...

    def audit(self, lines: Sequence[str], texts: Sequence[str]) -> tuple[Proposal, ...] | None:
        """What should stand higher, lower or together; `lines` tell each memory with its numbers."""
        ...

    def health(self) -> Health:
        """Whether a model can be asked at the moment, and if not, why."""
        ...


class Alone:
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
        from engram.ports.values import Health

        return Health(ok=True, detail="no model is configured; rules decide")


class Finder(Protocol):
    """Recalls elsewhere, so that several questions are computed at once."""

    def find(self, question: Question, lean: Lean | None = None) -> Recall | None:
        """The answer, without a trace of its own; None when nobody can give it: recall here."""
        ...

    def close(self) -> None:
        """Let go of whoever finds."""
        ...


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
    advisor: Advisor = field(default_factory=Alone)
    reranker: Reranker | None = None
    """Reads question and memory together; None when nobody configured one."""
    finder: Finder | None = None
    """Processes that recall beside this one; None when nobody asked for them."""

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
