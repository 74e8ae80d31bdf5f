"""A candidate: a memory on its way to becoming a hit, with every number the steps gave it.

The X-ray is made from these numbers; it is not a second computation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from typing import cast

from engram.lazily import dataclass
from engram.model.memory import Memory, Status
from engram.model.recall import Evidence
from engram.ports import Match, Matched
from engram.text.cues import THING

NO_MATCH = Match({}, 0)
NOT_READ = cast("Memory", None)

FACTORS: tuple[Callable[[Memory], str], ...] = (
    lambda memory: f"layer {memory.layer.name.lower()}",
    lambda memory: f"lifecycle {memory.lifecycle}",
    lambda memory: f"verification {memory.verification}",
    lambda _: "pinned",
    lambda memory: f"status {memory.status}",
    lambda _: "importance",
    lambda _: "freshness",
    lambda memory: f"{memory.kind} wanted",
    lambda _: "has such a value",
    lambda _: "its fact answers",
    lambda _: "of whoever asks",
)
"""What the parts of a memory's standing are called, in their order."""


@dataclass(slots=True)
class Candidate:
    """Mutable on purpose: it lives inside one recall and each step writes its own fields."""

    key: int
    matched: tuple[Matched, int] | None = None
    """Where it is told what fits of its words."""
    bm25: float = 0.0
    """Fit of the words."""
    said: float = 0.0
    """Share of the question's words that it says, each by how much it tells."""
    text: float = 0.0
    """The same as the share of the most a memory could reach, 0 to 1."""
    cosine: float | None = None
    vector: float = 0.0
    """The cosine as distance from noise, 0 to 1."""
    meaning: float = 0.0
    """The cosine as weighted deviations from the noise, above or below."""
    own: float = 0.0
    """Fit by its own words and meaning."""
    relevance: float = 0.0
    lent: float = 0.0
    """Fit lent by neighbouring turns."""
    lent_relevance: float = 0.0
    dated: float = 0.0
    """Fit for having happened at the time asked about, when nothing else is asked."""
    time: float = 1.0
    """Factor for having happened at the time asked about."""
    text_rank: int | None = None
    vector_rank: int | None = None
    reached: float = 0.0
    """Fit lent along edges and by facts that lead there."""
    answers: float = 1.0
    """Factor for a fact that answers all of what somebody asks of themselves."""
    speaker: float = 1.0
    """Factor for a speaker the question names."""
    phrase: float = 1.0
    """Factor for quoted words that stand together in it."""
    fresh: float = 1.0
    """Factor for being new, when that is asked for."""
    session: float = 0.0
    """Fit lent by the best of its session."""
    tied: str = ""
    """The explicit edge that leads to it from a hit, in words; empty: none does."""
    tied_to: int = 0
    """The key of that hit."""
    wording: str = ""
    """The other wording of the question that it fits best; empty: the question's own."""
    freshness: float = 1.0
    standing: float = 1.0
    """Factor for layer, lifecycle, verification and the like."""
    score: float = 0.0
    record: Memory = NOT_READ
    """The memory, which every step after the reading may count on."""
    parts: tuple[float, ...] = ()
    """The parts of the standing, one for each of `FACTORS`."""
    let_in: tuple[float, str] = (0.0, "")
    """Its relevance when it was let in, and what let it in."""
    told: list[Evidence] = field(default_factory=list)
    """What any step wants to have told beside its numbers."""

    _moments: tuple[datetime, ...] = ()
    _match: Match | None = None

    @property
    def moments(self) -> tuple[datetime, ...]:
        """When it happened, and the days that its words speak of."""
        if not self._moments:
            self._moments = moments(self.record)
        return self._moments

    @property
    def match(self) -> Match:
        """What fits of its words, by the words."""
        if self._match is None:
            self._match = NO_MATCH if self.matched is None else self.matched[0].match(self.matched[1])
        return self._match

    @property
    def fit(self) -> float:
        """All fit together: what the order of the default profile comes from."""
        return self.found * self.speaker * self.phrase * self.fresh + self.session

    @property
    def found(self) -> float:
        """The fit by what was searched: which candidates are read comes from it."""
        return (self.own + self.lent + self.reached + self.dated) * self.time


def moments(memory: Memory) -> tuple[datetime, ...]:
    """When a memory happened, and the days that its words speak of."""
    happened = memory.happened_at
    found = [happened]
    for day in memory.metadata.get("dates", ()):
        with suppress(ValueError):
            found.append(datetime.fromisoformat(str(day)).replace(hour=12, tzinfo=happened.tzinfo))
    return tuple(found)


LAST = frozenset({"drop", "rerank"})
"""Steps that speak after the judge."""


def evidence(candidate: Candidate) -> tuple[Evidence, ...]:
    """The numbers of a candidate as reasons, in the order in which they came about."""
    rows: list[Evidence] = []
    if candidate.bm25 > 0:
        rows.append(Evidence("text", "bm25", candidate.bm25, _rank(candidate.text_rank)))
        rows += (
            Evidence("text", "names a thing of the kind asked for", value, term.removeprefix(THING))
            for term, value in candidate.match.terms.items()
            if term.startswith(THING)
        )
    if candidate.cosine is not None:
        rows.append(Evidence("vector", "cosine", candidate.cosine, _rank(candidate.vector_rank)))
    rows.append(Evidence("fuse", "own fit", candidate.own))
    _tell_changes(candidate, rows)
    rows += [one for one in candidate.told if one.step not in LAST]
    rows.append(Evidence("judge", "relevance", candidate.relevance))
    memory = candidate.record
    for name, value in zip(FACTORS, candidate.parts, strict=False):
        if value != 1.0:
            rows.append(Evidence("judge", name(memory), value, "factor"))
    if memory.status is not Status.ACTIVE:
        until = f"held until {memory.valid_to:%Y-%m-%d}" if memory.valid_to else ""
        rows.append(Evidence("status", str(memory.status), 1.0, until))
    if candidate.let_in[1]:
        rows.append(Evidence("drop", "let in", *candidate.let_in))
    rows += [one for one in candidate.told if one.step in LAST]
    rows.append(Evidence("rank", "score", candidate.score))
    return tuple(rows)


def _tell_changes(one: Candidate, rows: list[Evidence]) -> None:
    """Write down what moved the fit, as far as it did."""
    if one.wording:
        rows.append(Evidence("expand", "fits another wording", one.own, one.wording))
    if one.lent:
        rows.append(Evidence("neighbours", "lent by neighbouring turns", one.lent))
    if one.session:
        rows.append(Evidence("neighbours", "lent by its session", one.session))
    if one.dated:
        rows.append(Evidence("time", "happened then", one.dated))
    if one.speaker != 1.0:
        rows.append(Evidence("neighbours", "speaker named", one.speaker, "factor"))
    if one.phrase != 1.0:
        rows.append(Evidence("text", "quoted words stand together", one.phrase, "factor"))
    if one.time != 1.0:
        rows.append(Evidence("time", "near the time asked about", one.time, "factor"))
    if one.fresh != 1.0:
        rows.append(Evidence("time", "new", one.fresh, "factor"))


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank is not None else "not found by this channel"
