"""The neighbours channel: in a conversation the answer often stands beside the words that were asked for.

A hit lends to the two turns that follow and to the two before; a turn that asks lends more to its answer. It
finds turns that share no word with the question at all.

A turn borrows only what it lacks. Each word of the question counts once, where it is said best: whole in the
turn itself, in part from a turn nearby; the meaning likewise. So a session that says the same words all over
gains nothing over one turn that says them all. A long turn speaks for itself: it lends and borrows little.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from engram.config import RecallConfig
from engram.model.relations import EdgeType
from engram.ports import Match, Tools
from engram.recall.candidates import Candidate
from engram.recall.channels import text
from engram.recall.fuse import include
from engram.recall.plan import Planned

QUESTION_MARKS = ("?", "？", "吗", "呢")
QUESTION_TAIL = 40
"""A turn asks when a question mark stands within so many characters of its end."""


@dataclass(frozen=True, slots=True)
class Loan:
    """Who may lend to whom, and which share of it."""

    lender: int
    borrower: int
    share: float


@dataclass(slots=True)
class Borrowed:
    """What a turn has borrowed: the best offer for each word, and for the meaning."""

    words: dict[str, float] = field(default_factory=dict)
    meaning: float = 0.0
    relevance: float = 0.0

    @property
    def fit(self) -> float:
        """All of it together."""
        return sum(self.words.values()) + self.meaning


def lend(candidates: dict[int, Candidate], plan: Planned, tools: Tools) -> None:
    """Let the best candidates lend to their neighbours; new candidates may come in."""
    best = sorted(candidates.values(), key=lambda c: (-c.own, c.key))[: tools.config.recall.lenders]
    loans = list(_loans([one.key for one in best if one.own > 0], plan, tools))
    if not loans:
        return
    parties = dict.fromkeys(key for loan in loans for key in (loan.lender, loan.borrower))
    include(
        candidates, text.matches(plan, [key for key in parties if key not in candidates], tools), plan, tools
    )
    told = {key: candidates[key].match for key in parties if key in candidates}
    for key, borrowed in _settle(loans, told, candidates, plan, tools.config.recall).items():
        candidates[key].lent = borrowed.fit
        candidates[key].lent_relevance = borrowed.relevance


def _loans(lenders: list[int], plan: Planned, tools: Tools) -> Iterator[Loan]:
    settings = tools.config.recall
    after, before = _steps(lenders, plan, tools)
    asking = _asking([key for key in lenders if after[key]], tools)
    for steps, near in ((after, settings.next_share), (before, settings.previous_share)):
        for lender in lenders:
            for first in steps[lender]:
                more = settings.answer_share if steps is after and lender in asking else 0.0
                yield Loan(lender, first, near + more)
                yield from (Loan(lender, second, near * settings.far_share) for second in steps[first])


def _steps(lenders: list[int], plan: Planned, tools: Tools) -> tuple[Mapping[int, list[int]], ...]:
    """For each turn those that follow it and those before it, as far as two steps from a lender."""
    links = tools.store.relations.links
    near = links(lenders, (EdgeType.NEXT,), plan.view)
    known = frozenset(lenders)
    further = links(sorted({link.other for link in near} - known), (EdgeType.NEXT,), plan.view)
    after, before = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for link in (*near, *further):
        (after if link.forward else before)[link.key].append(link.other)
    return after, before


def _asking(keys: list[int], tools: Tools) -> set[int]:
    endings = tools.store.memories.endings(keys, QUESTION_TAIL) if keys else {}
    return {key for key, ending in endings.items() if asks(ending)}


def asks(content: str) -> bool:
    """Whether a turn ends with a question.

    >>> (
    ...     asks("I was there. How about you?"),
    ...     asks("Why? Because I said so, and that is the whole of it, really."),
    ... )
    (True, False)
    """
    return any(mark in content[-QUESTION_TAIL:] for mark in QUESTION_MARKS)


def _settle(
    loans: Iterable[Loan],
    told: Mapping[int, Match],
    candidates: Mapping[int, Candidate],
    plan: Planned,
    settings: RecallConfig,
) -> dict[int, Borrowed]:
    """What every borrower gets in the end."""
    weight = plan.shown.weights["text"]
    openness = {key: 1 / (1 + (match.length / settings.lending_words) ** 2) for key, match in told.items()}
    got: dict[int, Borrowed] = defaultdict(Borrowed)
    for loan in loans:
        if loan.lender not in told or loan.borrower not in told:
            continue
        share = loan.share * openness[loan.lender] * openness[loan.borrower]
        lender, borrower, held = candidates[loan.lender], candidates[loan.borrower], got[loan.borrower]
        has = told[loan.borrower].terms
        for term, value in told[loan.lender].terms.items():
            offer = share * weight * (value - has.get(term, 0.0))
            if offer > held.words.get(term, 0.0):
                held.words[term] = offer
        held.meaning = max(held.meaning, share * (lender.meaning - max(0.0, borrower.meaning)))
        held.relevance = max(held.relevance, share * lender.relevance)
    return got
