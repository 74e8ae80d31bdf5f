"""Recall: a question comes in, the right memories come out.

  anchor (a time told from an event) → plan → words and meaning → expand → time → neighbours → graph
  → facts → judge → drop → rerank → time order → pack

Scope and filters are applied inside every channel, before ranking.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from engram.lazily import replace
from engram.model.memory import USUAL
from engram.model.recall import Question, Recall, Traces
from engram.ports import ConversationBias, NoAdvisor, Tools, Unit
from engram.recall import channels, intents
from engram.recall import plan as plans
from engram.recall.drop import drop_unwanted, pack
from engram.recall.expand import expand
from engram.recall.judge import chosen, judge, measure
from engram.recall.rerank import newest_first, over_sessions, rerank
from engram.rules.activation import EDGE_GAIN, FADING

if TYPE_CHECKING:
    from engram.model.clock import Clock

READERS = frozenset({"cross_encoder", "model"})
"""Ways of reranking in which somebody reads."""

CONFIRMED = 10
"""Hits whose edges to each other prove themselves when they are recalled together, the best ones."""


def recall(question: Question, tools: Tools, lean: ConversationBias | None = None) -> Recall:
    """Answer a question, with plan, quality, timings and what was left out.

    `lean` is where the talk around it has been going: what it means leans that way.
    """
    with nullcontext() if _asks_a_model(question, tools) else tools.store.reading():
        answer = _found(question, tools, lean)
    if question.leaves_traces:
        touch(Traces.of(answer), question.session, tools)
    return answer


def _asks_a_model(question: Question, tools: Tools) -> bool:
    """Whether somebody far away may be waited for: nothing of the store is held meanwhile."""
    is_model_there = not isinstance(tools.advisor, NoAdvisor)
    return is_model_there or not READERS.isdisjoint((question.rerank, question.trial))


def _found(question: Question, tools: Tools, lean: ConversationBias | None) -> Recall:
    if question.filters.as_of is not None:
        from engram.recall import past

        tools, question = past.as_of(tools, question.filters.as_of), replace(question, dry=True)
    question, hints = intents.widen(question)
    question = _with_what_was_said(question)
    watch, asked = _Watch(tools.clock), question
    anchored = channels.anchor(asked, tools)
    question = anchored.question
    watch.lap("anchor")
    with tools.store.reading():
        plan = plans.make(question, tools, lean)
        watch.lap("plan")
        pool = channels.search(plan, question.limit)
        watch.lap("search")
    expand(pool, question, tools)
    watch.lap("expand")
    with tools.store.reading():
        channels.search_time(pool, question, tools)
        watch.lap("time")
        channels.search_overview(pool, question, tools)
        watch.lap("overview")
        channels.boost_from_neighbours(pool)
        plan, candidates = pool.plan, chosen(pool, question)
        watch.lap("neighbours")
        channels.boost_from_graph(candidates, pool, tools, explain=question.explain)
        watch.lap("graph")
        channels.boost_from_facts(candidates, pool, question.text, tools)
        watch.lap("facts")
        channels.search_extensions(candidates, pool, question, tools)
        watch.lap("extensions")
        ranked = judge(candidates, plan, question, tools)
        watch.lap("judge")
        kept, dropped = drop_unwanted(ranked, plan, question, tools)
        watch.lap("drop")
    final = rerank(kept, plan, question, tools)
    watch.lap("rerank")
    with tools.store.reading():
        ordered = newest_first(final.ordered, final.mode, pool, question, tools)
        ordered = over_sessions(ordered, final.mode, question)
        watch.lap("newest")
        timed = channels.settle(ordered, plan, anchored)
        watch.lap("time order")
    hits = pack(timed.ordered, question)
    watch.lap("pack")
    notes = (*hints, *final.notes, *timed.notes)
    grades = [one.relevance for one in timed.ordered[: len(hits)]]
    return Recall(
        question=asked,
        plan=replace(plan.shown, notes=(*plan.shown.notes, *notes)) if notes else plan.shown,
        hits=hits,
        quality=measure(hits, len(pool), watch.total, grades, final.mode, final.gain),
        dropped=(*dropped, *timed.dropped) if question.explain else (),
        timings=watch.laps,
        at=tools.clock.now(),
    )


def touch(left: Traces, session: str, tools: Tools) -> None:
    """Count a use of what was really relevant, without making the caller wait."""
    used = left.used
    if not used:
        return
    at, gain = tools.clock.now(), EDGE_GAIN

    def work(unit: Unit) -> None:
        unit.touch(used, at, session)
        if len(used) > 1:
            unit.confirm(used[:CONFIRMED], FADING, gain)

    tools.store.write_later(work, "recall", left.namespace, patient=True)


class _Watch:
    """Measures each step; lives for one recall."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.laps: dict[str, float] = {}
        self._last = clock.monotonic()

    @property
    def total(self) -> float:
        """Milliseconds of all steps so far."""
        return sum(self.laps.values())

    def lap(self, step: str) -> None:
        """Keep how long a step took that is done now."""
        now = self.clock.monotonic()
        self.laps[step] = (now - self._last) * 1_000
        self._last = now


def _with_what_was_said(question: Question) -> Question:
    """Unless the caller chose the statuses, what is only said is found too, below what is believed."""
    filters = question.filters
    return replace(question, filters=filters.with_said) if filters.statuses >= USUAL.statuses else question
