"""From what was observed to figures: a run comes in, a plain table that JSON can hold comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from engram.bench import metrics
from engram.bench.cases import Answered
from engram.bench.retrieval import REFUSED, Run

DIGITS = 4
DEPTHS = (1, 5, 10, 20)
SESSION_DEPTHS = (1, 5, 10)

Figures = dict[str, Any]
Quality = Callable[[Sequence[Answered]], Figures]


def by_evidence(run: Run) -> Figures:
    """The figures where documents are turns or messages: shares of the evidence among the first k."""
    return _figures(run, evidence_quality, "by_category")


def by_session(run: Run) -> Figures:
    """The figures where documents are sessions: any and all of the evidence among the first k."""
    return _figures(run, session_quality, "by_type")


def evidence_quality(answered: Sequence[Answered]) -> Figures:
    """Recall of evidence at several depths, NDCG@10 and MRR."""
    found = [(_places(one), len(one.ask.wanted)) for one in answered]
    recalls = {f"recall@{k}": _mean(metrics.recall_at(places, n, k) for places, n in found) for k in DEPTHS}
    return {**recalls, **_order_quality(found), "n": len(answered)}


def session_quality(answered: Sequence[Answered]) -> Figures:
    """Whether any and whether all evidence sessions are among the first k, NDCG@10 and MRR."""
    found = [(_places(one), len(one.ask.wanted)) for one in answered]
    quality: Figures = {}
    for k in SESSION_DEPTHS:
        quality[f"recall_any@{k}"] = _mean(metrics.any_at(places, k) for places, _ in found)
        quality[f"recall_all@{k}"] = _mean(metrics.all_at(places, n, k) for places, n in found)
    return {**quality, **_order_quality(found), "n": len(answered)}


def _figures(run: Run, quality: Quality, groups_name: str) -> Figures:
    groups = sorted({one.ask.group for one in run.answered})
    by_group = {group: quality([one for one in run.answered if one.ask.group == group]) for group in groups}
    written = run.outcomes.total() - run.outcomes[REFUSED]
    return {
        **quality(run.answered),
        groups_name: by_group,
        "left_out": run.left_out,
        "latency_ms": latency([one.ms for one in run.answered]),
        "answerability": _answerability(run.answered),
        "haystacks": run.haystacks,
        "outcomes": dict(run.outcomes.most_common()),
        "writes_per_s": round(written / run.write_s, 1) if run.write_s else 0.0,
        **_captured(run),
    }


def _captured(run: Run) -> Figures:
    """How much of a conversation became memories; nothing where none was listened to."""
    if not run.turns:
        return {}
    return {
        "turns": run.turns,
        "turns_kept": round(run.kept / run.turns, DIGITS),
        "memories_per_turn": round(run.memories / run.turns, DIGITS),
        "turns_per_s": round(run.turns / run.write_s, 1),
    }


def latency(milliseconds: Sequence[float]) -> Figures:
    """The middle and the slow end of a list of durations."""
    return {
        "p50": round(metrics.percentile(milliseconds, 0.50), 2),
        "p95": round(metrics.percentile(milliseconds, 0.95), 2),
    }


def _order_quality(found: Sequence[tuple[list[int], int]]) -> Figures:
    return {
        "ndcg@10": _mean(metrics.ndcg_at(places, n, 10) for places, n in found),
        "mrr": _mean(metrics.reciprocal_rank(places) for places, _ in found),
    }


def _answerability(answered: Sequence[Answered]) -> Figures:
    """Whether the best relevance tells questions with and without an answer apart; what the floor empties."""
    yes = [one for one in answered if one.ask.answerable]
    no = [one for one in answered if not one.ask.answerable]
    area = metrics.auroc([one.best_relevance for one in yes], [one.best_relevance for one in no])
    return {
        "auroc": None if area is None else round(area, DIGITS),
        "answerable": {"n": len(yes), "empty_at_floor": sum(one.empty for one in yes)},
        "unanswerable": {"n": len(no), "empty_at_floor": sum(one.empty for one in no)},
    }


def _places(one: Answered) -> list[int]:
    return metrics.places_of([entry.documents for entry in one.ranking], one.ask.wanted)


def _mean(values: Iterable[float]) -> float:
    return round(metrics.mean(list(values)), DIGITS)
