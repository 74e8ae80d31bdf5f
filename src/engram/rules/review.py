"""Review: a memory comes in; how well it would stand alone in a later life comes out, part by part.

The question is: would this alone be useful to somebody who wakes up knowing nothing else? The gate to the
core and the triage of the buffer ask it with different bounds. Under the lower bound the answer is no, from
the upper bound yes; between them a model may be asked, and without one the middle of the bounds decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from engram.config import Config
from engram.lazily import dataclass
from engram.model.maintenance import Verdict, no, yes
from engram.model.memory import Layer, Memory
from engram.rules.importance import reinforcement, standing_of
from engram.rules.retention import age_days
from engram.rules.traits import by_layers, is_banter, is_distilled, is_ephemeral, is_overheard, is_passing
from engram.text import re
from engram.text.junk import is_filler
from engram.text.marks import marks
from engram.text.propositions import has_substance, leans
from engram.text.words import is_wide

GATE_REJECT = 0.45  # score under which the gate rejects by itself
GATE_APPROVE = 0.62  # score from which the gate approves by itself
TRIAGE_KEEP = 0.38  # score under which triage leaves it in the buffer
TRIAGE_PROMOTE = 0.48  # score from which triage promotes by itself
RESCUE_IMPORTANCE = 0.70  # importance that takes a memory out of the buffer (layers)
TRIAGE_MINUTES = 10.0  # age from which triage looks at a memory (layers)

USUAL = Config()
MINUTES: Final = 1_440.0
LEAST_STANDING: Final = 0.4
MOST_STANDING: Final = 0.9
"""The importance with which the least and the most telling category starts."""
FEW_NAMES: Final = 2
FEW_WORDS: Final = 3
FEW_SIGNS: Final = 6
"""A text of fewer words, or of fewer Chinese characters, hardly says anything alone."""


class ReviewDecision(StrEnum):
    """What a review comes to."""

    APPROVE = "approve"
    ASK = "ask"
    REJECT = "reject"


WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "worth": 0.35,  # category, importance and feeling
        "specificity": 0.10,  # names, numbers and times
        "standalone": 0.20,  # being understood alone
        "reinforcement": 0.20,
        "trust": 0.15,  # how far its source is trusted
    }
)
"""What each part of the score counts; together 1."""


@dataclass(frozen=True, slots=True)
class Score:
    """How well a memory would stand alone: each part and their weighted sum, from 0 to 1."""

    worth: float
    specificity: float
    standalone: float
    reinforcement: float
    trust: float
    total: float

    def told(self) -> str:
        """The parts in words, for the reason of an event."""
        named = ((name, getattr(self, name)) for name in self.__slots__ if name != "total")
        return f"score {self.total:.2f}: " + ", ".join(f"{name} {value:.2f}" for name, value in named)


@dataclass(frozen=True, slots=True)
class Review:
    """A decision, the score it rests on, and what rules alone would say."""

    decision: ReviewDecision
    score: Score
    by_rule: Verdict
    """The answer when no model may be asked."""


def gate_review(memory: Memory, config: Config = USUAL) -> Review:
    """Whether a memory is worth the core.

    >>> day = datetime(2026, 1, 1)
    >>> rule = Memory("1", "Never deploy on a Friday", "h", day, day, category="constraint", importance=0.9)
    >>> gate_review(rule).decision.value, gate_review(Memory("1", "it was ok", "h", day, day)).decision.value
    ('approve', 'reject')
    """
    score = gate_score(memory, config)
    if is_passing(memory.content):
        score = replace(score, total=0.0)  # however well it is told: tomorrow it is not true any more
    if by_layers(config):
        return _gate_of_layers(memory, score)
    return _review("gate", score, GATE_REJECT, GATE_APPROVE)


def triage_review(memory: Memory, config: Config = USUAL) -> Review:
    """Whether a memory of the buffer is worth the working layer."""
    if by_layers(config):
        return _triage_of_layers(memory, gate_score(memory, config))
    return _review("triage", gate_score(memory, config), TRIAGE_KEEP, TRIAGE_PROMOTE)


SIGNALS: Final = frozenset({"lesson", "procedural", "preference", "constraint"})
"""Tags that say by themselves that something is to last (layers)."""
SHORT: Final = 20
"""Characters under which what nobody used stays in the buffer unasked (layers)."""
TRIAGE_USES, TRIAGE_TIMES, GATE_USES, GATE_TIMES = 4, 2, 5, 2
"""Uses, and times it was said again, from which no model need be asked (layers)."""
_OF_THE_DAY = re.compile(
    r"\b(?:today|tonight|right now|just now|this (?:morning|evening))\b|今天|刚才", re.IGNORECASE
)


def _triage_of_layers(memory: Memory, score: Score) -> Review:
    """Used, said again, marked or important: it rises. A model is asked about the rest, but for scraps."""
    used, signal = memory.usage, not SIGNALS.isdisjoint(memory.tags)
    worth_it = signal or memory.importance >= RESCUE_IMPORTANCE
    if used.accessed >= TRIAGE_USES or used.repeated >= TRIAGE_TIMES or worth_it:
        return Review(ReviewDecision.APPROVE, score, yes("triage", "used, said again, marked or important"))
    scrap = not used.accessed and len(memory.content) < SHORT
    decision = ReviewDecision.REJECT if scrap else ReviewDecision.ASK
    return Review(decision, score, no("neither used, said again, marked nor important", "triage"))


def _gate_of_layers(memory: Memory, score: Score) -> Review:
    """What was used and said again passes, a model is asked about the rest; without one, words decide."""
    used, signal = memory.usage, not SIGNALS.isdisjoint(memory.tags)
    if used.accessed >= GATE_USES and (used.repeated >= GATE_TIMES or signal):
        return Review(ReviewDecision.APPROVE, score, yes("gate", "used often and said again, or marked"))
    plain = standalone(memory.content) == 1.0 and not is_filler(memory.content)
    if plain and score.total > 0 and not _OF_THE_DAY.search(memory.content):
        return Review(ReviewDecision.ASK, score, yes("gate", f"{score.told()}, stands alone"))
    return Review(ReviewDecision.ASK, score, no(f"{score.told()}, says nothing alone", "gate"))


def triage_due(memory: Memory, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether triage may look at a memory: it has lain in the buffer for a while and is meant to last."""
    minutes, needed = age_days(memory, now) * MINUTES, TRIAGE_MINUTES
    if memory.layer is not Layer.BUFFER:
        return no("not in the buffer")
    if not is_overheard(memory) and not by_layers(config):
        return no("given on purpose")
    if is_ephemeral(memory) or is_distilled(memory):
        return no("ephemeral" if is_ephemeral(memory) else "distilled")
    if minutes < needed:
        return no(f"age {minutes:.0f} min < {needed:g}")
    return yes("triage due", f"age {minutes:.0f} min >= {needed:g}")


def gate_score(memory: Memory, config: Config = USUAL) -> Score:
    """How well a memory would stand alone; triage asks the same with other bounds."""
    parts = {
        "worth": worth(memory),
        "specificity": specificity(memory),
        "standalone": standalone(memory.content),
        "reinforcement": _within(reinforcement(memory) / max(1.0, config.promotion.buffer_reinforcement)),
        "trust": _within(memory.trust * memory.confidence),
    }
    return Score(**parts, total=sum(WEIGHTS[name] * part for name, part in parts.items()))


def worth(memory: Memory) -> float:
    """What is told and how much it matters: its category, its importance (which novelty moved), its arousal.

    >>> day = datetime(2026, 1, 1)
    >>> routine = Memory("1", "Went for a run", "h", day, day, category="moment", importance=0.2)
    >>> (
    ...     worth(routine),
    ...     worth(Memory("1", "Anna is the boss", "h", day, day, category="identity", importance=0.9)),
    ... )
    (0.1, 0.95)
    """
    start = standing_of(memory.category).importance
    telling = _within((start - LEAST_STANDING) / (MOST_STANDING - LEAST_STANDING))
    return _within((telling + memory.importance + memory.affect.arousal) / 2)


def specificity(memory: Memory) -> float:
    """How much it pins down: a name or two, a number, a time; each halves what is missing.

    >>> day = datetime(2026, 1, 1)
    >>> (
    ...     specificity(Memory("1", "So nice", "h", day, day)),
    ...     specificity(Memory("1", "On Monday at 9", "h", day, day)),
    ... )
    (0.0, 0.75)
    """
    found = marks(memory.content)
    signs = min(FEW_NAMES, len(memory.entities)) + bool(found.numbers) + bool(found.times)
    if not signs:
        return 0.25 if has_substance(memory.content) else 0.0
    return float(1.0 - 0.5**signs)


def standalone(content: str) -> float:
    """How well words are understood with nothing before them.

    >>> (
    ...     standalone("Anna lives in Rome"),
    ...     standalone("It was great there"),
    ...     standalone("Sure"),
    ...     standalone("Is Bob in?"),
    ... )
    (1.0, 0.2, 0.4, 0.3)
    """
    if leans(content) or is_banter(content):
        return 0.2
    if content.rstrip().endswith(("?", "？")):
        return 0.3
    size, least = (len(content), FEW_SIGNS) if is_wide(content) else (len(content.split()), FEW_WORDS)
    return 1.0 if size >= least else 0.4


def _review(rule: str, score: Score, low: float, high: float) -> Review:
    middle = (low + high) / 2
    if score.total < low:
        return Review(ReviewDecision.REJECT, score, no(f"{score.told()} < {low:g}", rule))
    if score.total >= high:
        return Review(ReviewDecision.APPROVE, score, yes(rule, f"{score.told()} >= {high:g}"))
    above = score.total >= middle
    why = f"{score.told()} {'>=' if above else '<'} {middle:g}, the middle"
    return Review(ReviewDecision.ASK, score, Verdict(above, rule, why))


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))
