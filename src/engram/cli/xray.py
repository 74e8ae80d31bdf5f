"""The X-ray of a recall: the plan, each hit with every piece of evidence, what was left out, the timings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from engram.cli.output import age, bar, counted, cut, line, marks, short, text
from engram.model.recall import Evidence, Hit, Plan, Recall

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text
    from rich.tree import Tree

BAR = 10
NAME = 28
"""Columns for the name of a piece of evidence."""
FACTOR = "factor"
"""The note of evidence that multiplies."""
Scales = dict[tuple[str, str], float]
PARTS = ("relevance", "accuracy", "freshness", "utility")
DROPPED_SHOWN = 12


def xray(answer: Recall, now: datetime) -> Iterator[RenderableType]:
    """The answer as trees, one after the other."""
    yield text(("? ", "bold magenta"), (line(answer.question.text), "bold"))
    yield _plan(answer.plan)
    scales = _scales(answer)
    for place, hit in enumerate(answer, 1):
        yield _hit(place, hit, now, scales)
    if not answer.hits:
        yield text(("nothing fits", "bold"))
    if answer.dropped:
        yield _dropped(answer)
    yield _time(answer)
    yield _quality(answer)


def _plan(plan: Plan) -> Tree:
    tree = _tree(text(("plan", "bold")))
    sure = f" · {plan.confidence:.2f} sure" if plan.intent else ""
    tree.add(text(("intent   ", "dim"), f"{plan.intent or 'none is clear'}{sure}"))
    tree.add(text(("terms    ", "dim"), line(" · ".join(plan.terms)) or "none"))
    weights = " · ".join(f"{name} {weight:.2f}" for name, weight in plan.weights.items())
    tree.add(text(("weights  ", "dim"), weights or "none"))
    tree.add(text(("vectors  ", "dim"), plan.space or "off: words alone"))
    for label, told in _told(plan):
        tree.add(text((f"{label:<8} ", "dim"), line(told)))
    if plan.speakers:
        tree.add(text(("speakers ", "dim"), line(", ".join(plan.speakers))))
    for note in plan.notes:
        tree.add(text(("note     ", "dim"), line(note)))
    return tree


def _told(plan: Plan) -> Iterator[tuple[str, str]]:
    """What a plan says only where there is something to say."""
    for span in plan.spans:
        ends = (f"{end:%Y-%m-%d %H:%M}" if end else "…" for end in (span.first, span.last))
        yield "time", f"{span.words}: {' to '.join(ends)}{'' if span.hard else ', or about'}"
    yield from (
        (label, told)
        for label, told in (
            ("entities", ", ".join(plan.entities)),
            ("aliases", " · ".join(plan.aliases)),
            ("language", plan.language),
            ("hops", str(plan.hops)),
            ("prefers", ", ".join(plan.prefer)),
            ("new", f"+{plan.freshness:.0%} for something of today" if plan.freshness else ""),
            ("wordings", " · ".join(plan.phrases)),
        )
        if told
    )


def _hit(place: int, hit: Hit, now: datetime, scales: Scales) -> Tree:
    memory = hit.memory
    form = f" · as {hit.form}, {counted(hit.tokens, 'token')}" if hit.form != "content" else ""
    tree = _tree(
        text(
            (f"{place} ", "bold"), (f"{hit.score:.3f} ", "bold green"), (short(memory.id), "cyan"),
            (f" {age(memory.happened_at, now)} ", "dim"), *marks(memory), line(hit.text), (form, "dim"),
        )
    )  # fmt: skip
    trust = tree.add(text(("trust", "bold")))
    for name in PARTS:
        trust.add(_part(name, getattr(hit.trust, name)))
    for step, pieces in _by_step(hit.evidence).items():
        branch = tree.add(text((step, "bold")))
        for evidence in pieces:
            branch.add(_evidence(evidence, scales[evidence.step, evidence.name]))
    return tree


def _scales(answer: Recall) -> Scales:
    """The largest value of each kind of evidence: what its bars are measured against."""
    scales: Scales = {}
    for hit in answer:
        for one in hit.evidence:
            key = (one.step, one.name)
            scales[key] = max(scales.get(key, 0.0), abs(one.value))
    return scales


def _by_step(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """The evidence step by step, in the order in which the steps first speak: any step, known here or not."""
    steps: dict[str, list[Evidence]] = {}
    for one in evidence:
        steps.setdefault(one.step, []).append(one)
    return steps


def _part(name: str, share: float) -> Text:
    return text((f"{name:<{NAME}} ", "dim"), (bar(share, BAR), "blue"), f" {share:7.3f}")


def _evidence(evidence: Evidence, scale: float) -> Text:
    """One piece: a factor by where it pushes, anything else by a bar against the best of its kind."""
    name = (f"{line(evidence.name):<{NAME}} ", "dim")
    if evidence.note == FACTOR:
        up = evidence.value >= 1
        sign = ("▲ raises".ljust(BAR), "green") if up else ("▼ lowers".ljust(BAR), "red")
        return text(name, sign, f" ×{evidence.value:6.3f}")
    note = f"  {line(evidence.note)}" if evidence.note else ""
    share = abs(evidence.value) / scale if scale else 0.0
    colour = "green" if evidence.value >= 0 else "red"
    return text(name, (bar(share, BAR), colour), f" {evidence.value:7.3f}", (note, "dim"))


def _dropped(answer: Recall) -> Tree:
    tree = _tree(text(("left out", "bold"), (f" · {counted(len(answer.dropped), 'candidate')}", "dim")))
    for one in answer.dropped[:DROPPED_SHOWN]:
        row = text(
            (short(one.memory), "cyan"),
            ("" if "relevance" in one.why else f" {one.relevance:.2f}", "dim"),
            (f" {line(one.why)}", "yellow"),
            (f"  {line(one.label)}", "dim"),
        )
        tree.add(cut(row))
    if len(answer.dropped) > DROPPED_SHOWN:
        tree.add(text((f"and {len(answer.dropped) - DROPPED_SHOWN:,} more: --json lists them all", "dim")))
    return tree


def _time(answer: Recall) -> Tree:
    whole = sum(answer.timings.values()) or 1.0
    tree = _tree(text(("time", "bold"), (f" · {answer.quality.ms:.1f} ms", "dim")))
    for step, ms in answer.timings.items():
        tree.add(text((f"{step:<12} ", "dim"), (bar(ms / whole, BAR), "blue"), f" {ms:7.1f} ms"))
    return tree


def _quality(answer: Recall) -> Tree:
    quality = answer.quality
    tree = _tree(text(("quality", "bold")))
    tree.add(
        text(("relevance ", "dim"), f"best {quality.top_relevance:.2f} · mean {quality.mean_relevance:.2f}")
    )
    tree.add(text(("order     ", "dim"), f"{quality.ndcg:.2f} against the order by relevance alone (NDCG)"))
    if quality.rerank:
        gain = "" if quality.rerank_gain is None else f" · the tried one is worth {quality.rerank_gain:+.3f}"
        tree.add(text(("reranked  ", "dim"), f"by {quality.rerank}{gain}"))
    tree.add(
        text(("size      ", "dim"), f"{quality.returned} of {counted(quality.candidates, 'candidate')}"
             f" · {counted(quality.tokens, 'token')}")
    )  # fmt: skip
    return tree


def _tree(label: Text) -> Tree:
    from rich.tree import Tree

    return Tree(label, guide_style="dim")
