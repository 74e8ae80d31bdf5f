"""Fusion: what the channels found becomes one list of candidates with one fit each.

Scores are fused, not ranks: on conversations the strength of a match says more than its place. The words
count by their BM25, the meaning by how far its cosine stands out of the noise of its space, in standard
deviations, so that both speak the same language in every embedding model. `benchmarks/` has the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram.ports import Match, Tools
from engram.recall.candidates import Candidate
from engram.recall.channels import text, vector
from engram.recall.plan import Planned

Found = Sequence[tuple[int, float]]


def fuse(by_words: Found, by_meaning: Found, plan: Planned, tools: Tools) -> dict[int, Candidate]:
    """All candidates by key, with what each channel says about each of them, found there or not."""
    candidates: dict[int, Candidate] = {}
    for rank, (key, value) in enumerate(by_words, start=1):
        candidates[key] = Candidate(key, bm25=value, text_rank=rank)
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
    new = {
        key: Candidate(key, bm25=sum(match.terms.values()))
        for key, match in found.items()
        if key not in candidates
    }
    for key, value in vector.score(plan, list(new), tools).items():
        new[key].cosine = value
    for one in new.values():
        _weigh(one, plan, tools)
    candidates.update(new)


def _complete(candidates: dict[int, Candidate], plan: Planned, tools: Tools) -> None:
    """Ask each channel about the candidates that only the other one found."""
    wordless = [c.key for c in candidates.values() if c.text_rank is None]
    for key, value in text.score(plan, wordless, tools).items():
        candidates[key].bm25 = value
    unmeant = [c.key for c in candidates.values() if c.cosine is None]
    for key, value in vector.score(plan, unmeant, tools).items():
        candidates[key].cosine = value


def _weigh(candidate: Candidate, plan: Planned, tools: Tools) -> None:
    settings, cosine = tools.config.recall, candidate.cosine
    most = plan.mass * (tools.config.text.k1 + 1)
    candidate.text = min(1.0, candidate.bm25 / most) if most else 0.0
    weights = plan.shown.weights
    fit = weights["text"] * candidate.bm25
    if cosine is not None:
        candidate.meaning = weights["vector"] * plan.noise.deviations(cosine)
        above = plan.usual_noise.deviations(cosine) / settings.certain_deviations
        candidate.vector = min(1.0, max(0.0, above))
    candidate.own = max(0.0, fit + candidate.meaning)
    candidate.relevance = 1.0 - (1.0 - candidate.text) * (1.0 - candidate.vector)
