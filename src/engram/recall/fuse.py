"""Fusion: what the channels found becomes one list of candidates with one fit each.

Scores are fused, not ranks: on conversations the strength of a match says more than its place. The words
count by their BM25, the meaning by how far its cosine stands out of the noise of its space, in standard
deviations, so that both speak the same language in every embedding model.

How far words count follows the question. Where memories say most of its words, the words lead and kindred
words hardly matter. Where they say few, people tell in other words than they ask: what happens to be shared
counts less, kindred words count as much as said ones, and the meaning leads.
`benchmarks/results/answers.md` has the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engram.ports import Match, Tools
from engram.recall.candidates import Candidate
from engram.recall.channels import text, vector
from engram.recall.plan import Planned

Found = Sequence[tuple[int, float]]

COVERED = 0.7
"""Share of a question's words, by how much they tell, from which on they count whole."""
OWN_LEAST = 0.7
"""What its words count when none is said."""
KIN_LEAST, KIN_MOST = 0.2, 2.0
"""Factors on the best kindred word: when the question's own are said, and when none is."""
SAID_RELEVANCE = 0.4
"""Text relevance of a memory that says all words of a question, however long it is."""


def heed_words(by_words: Sequence[tuple[int, Match]], plan: Planned) -> Planned:
    """The plan with how far the memories that were found say the question's own words."""
    covered = max((said_share(match.terms, plan.rarity) for _, match in by_words), default=0.0)
    return replace(plan, covered=covered)


def fuse(
    by_words: Sequence[tuple[int, Match]], by_meaning: Found, plan: Planned, tools: Tools
) -> dict[int, Candidate]:
    """All candidates by key, with what each channel says about each of them, found there or not."""
    candidates: dict[int, Candidate] = {}
    for rank, (key, match) in enumerate(by_words, start=1):
        candidates[key] = Candidate(key, match=match, text_rank=rank)
    for rank, (key, value) in enumerate(by_meaning, start=1):
        one = candidates.get(key)
        if one is None:
            one = candidates[key] = Candidate(key)
        one.cosine, one.vector_rank = value, rank
    _complete(candidates, plan, tools)
    for candidate in candidates.values():
        _weigh(candidate, plan, tools)
    return candidates


def include(
    candidates: dict[int, Candidate], found: Mapping[int, Match], plan: Planned, tools: Tools
) -> None:
    """Take in what another step found, with what the channels say about it."""
    new = {key: Candidate(key, match=match) for key, match in found.items() if key not in candidates}
    for key, value in vector.score(plan, list(new), tools).items():
        new[key].cosine = value
    for one in new.values():
        _weigh(one, plan, tools)
    candidates.update(new)


def said_share(matched: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    """The share of a question's words that are said, each by how much it tells.

    >>> said_share({"samovar": 4.0}, {"samovar": 6.0, "tea": 2.0})
    0.75
    """
    whole = sum(rarity.values())
    return sum(value for term, value in rarity.items() if term in matched) / whole if whole else 0.0


def words_fit(matched: Mapping[str, float], kin: frozenset[str], covered: float) -> float:
    """What the words of a memory count: those of the question, and the best of their kin.

    >>> words_fit({"husband": 4.0, "wife": 3.0}, frozenset({"wife"}), covered=1.0)
    4.6
    >>> words_fit({"husband": 4.0, "wife": 3.0}, frozenset({"wife"}), covered=0.0)
    8.8
    """
    own = kindred = 0.0
    for term, value in matched.items():
        if term in kin:
            kindred = max(kindred, value)
        else:
            own += value
    said = min(1.0, covered / COVERED)
    return round(
        own * (OWN_LEAST + (1.0 - OWN_LEAST) * said) + kindred * (KIN_MOST - (KIN_MOST - KIN_LEAST) * said), 9
    )


def _complete(candidates: dict[int, Candidate], plan: Planned, tools: Tools) -> None:
    """Ask each channel about the candidates that only the other one found."""
    wordless = [c.key for c in candidates.values() if c.text_rank is None]
    for key, match in text.matches(plan, wordless, tools).items():
        candidates[key].match = match
    unmeant = [c.key for c in candidates.values() if c.cosine is None]
    for key, value in vector.score(plan, unmeant, tools).items():
        candidates[key].cosine = value


def _weigh(candidate: Candidate, plan: Planned, tools: Tools) -> None:
    settings, cosine, matched = tools.config.recall, candidate.cosine, candidate.match.terms
    candidate.said = said_share(matched, plan.rarity) if matched else 0.0
    most = plan.mass * (tools.config.text.k1 + 1)
    weights = plan.shown.weights
    by_words = words_fit(matched, plan.kin, plan.covered) if matched else 0.0
    share = max(by_words, candidate.match.score) / most if most else 0.0
    candidate.text = min(1.0, max(share, SAID_RELEVANCE * candidate.said))
    fit = weights["text"] * by_words
    if cosine is not None:
        candidate.meaning = weights["vector"] * plan.noise.deviations(cosine)
        above = plan.usual_noise.deviations(cosine) / settings.certain_deviations
        candidate.vector = min(1.0, max(0.0, above))
    candidate.own = max(0.0, fit + candidate.meaning)
    candidate.relevance = 1.0 - (1.0 - candidate.text) * (1.0 - candidate.vector)
