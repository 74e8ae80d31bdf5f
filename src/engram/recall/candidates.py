"""A candidate: a memory on its way to becoming a hit, with every number the steps gave it.

The X-ray is made from these numbers; it is not a second computation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engram.model.memory import Memory
from engram.model.recall import Evidence, Trust


@dataclass(slots=True)
class Candidate:
    """Mutable on purpose: it lives inside one recall and each step writes its own fields."""

    key: int
    bm25: float = 0.0
    """Fit of the words, as the text index gives it."""
    text: float = 0.0
    """The same as the share of the most a memory could reach, 0 to 1."""
    text_rank: int | None = None
    cosine: float | None = None
    vector: float = 0.0
    """The cosine as distance from noise, 0 to 1."""
    vector_rank: int | None = None
    meaning: float = 0.0
    """The cosine as weighted deviations from the noise, above or below."""
    own: float = 0.0
    """Fit by its own words and meaning."""
    lent: float = 0.0
    """Fit lent by neighbouring turns."""
    lent_relevance: float = 0.0
    speaker: float = 1.0
    """Factor for a speaker the question names."""
    phrase: float = 1.0
    """Factor for quoted words that stand together in it."""
    time: float = 1.0
    """Factor for having happened at the time asked about."""
    dated: float = 0.0
    """Fit for having happened then, when nothing else is asked."""
    fresh: float = 1.0
    """Factor for being new, when that is asked for."""
    session: float = 0.0
    """Fit lent by the best of its session."""
    wording: str = ""
    """The other wording of the question that it fits best; empty: the question's own."""
    relevance: float = 0.0
    trust: Trust = Trust(0.0, 0.0, 0.0, 0.0)
    standing: float = 1.0
    """Factor for layer, lifecycle, verification and the like."""
    score: float = 0.0
    memory: Memory | None = None
    factors: list[tuple[str, float]] = field(default_factory=list)
    """The parts of the standing, by name."""
    told: list[Evidence] = field(default_factory=list)
    """What any step wants to have told beside its numbers."""

    @property
    def fit(self) -> float:
        """All fit together: what the order of the default profile comes from."""
        return self.found * self.speaker * self.phrase * self.fresh + self.session

    @property
    def found(self) -> float:
        """The fit by what was searched: which candidates are read comes from it."""
        return (self.own + self.lent + self.dated) * self.time

    @property
    def record(self) -> Memory:
        """The memory, which every step after the reading may count on."""
        if self.memory is None:
            message = f"candidate {self.key} was not read"
            raise LookupError(message)
        return self.memory


def evidence(candidate: Candidate) -> tuple[Evidence, ...]:
    """The numbers of a candidate as reasons, in the order in which they came about."""
    rows: list[Evidence] = []
    if candidate.bm25 > 0:
        rows.append(Evidence("text", "bm25", candidate.bm25, _rank(candidate.text_rank)))
    if candidate.cosine is not None:
        rows.append(Evidence("vector", "cosine", candidate.cosine, _rank(candidate.vector_rank)))
    rows.append(Evidence("fuse", "own fit", candidate.own))
    if candidate.wording:
        rows.append(Evidence("expand", "fits another wording", candidate.own, candidate.wording))
    if candidate.lent:
        rows.append(Evidence("neighbours", "lent by neighbouring turns", candidate.lent))
    if candidate.speaker != 1.0:
        rows.append(Evidence("neighbours", "speaker named", candidate.speaker, "factor"))
    if candidate.phrase != 1.0:
        rows.append(Evidence("text", "quoted words stand together", candidate.phrase, "factor"))
    if candidate.dated:
        rows.append(Evidence("time", "happened then", candidate.dated))
    if candidate.time != 1.0:
        rows.append(Evidence("time", "near the time asked about", candidate.time, "factor"))
    if candidate.fresh != 1.0:
        rows.append(Evidence("time", "new", candidate.fresh, "factor"))
    if candidate.session:
        rows.append(Evidence("neighbours", "lent by its session", candidate.session))
    rows.append(Evidence("judge", "relevance", candidate.relevance))
    rows += [Evidence("judge", name, value, "factor") for name, value in candidate.factors if value != 1.0]
    rows += candidate.told
    rows.append(Evidence("rank", "score", candidate.score))
    return tuple(rows)


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank is not None else "not found by this channel"
