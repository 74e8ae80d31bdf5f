"""The time channel: what happened when the question says.

It finds the best by words and by meaning inside the time that is asked about, which a search through all
times may have passed over; and everything of that time, latest first, when nothing else is asked. What it
finds gains a share of its fit, more the nearer it lies. Nothing is shut out: May is often told of in June.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from engram.model.memory import Memory
from engram.model.recall import Question, Span
from engram.ports import Tools, View
from engram.recall import intents, times
from engram.recall.candidates import Candidate
from engram.recall.channels import text
from engram.recall.fuse import include
from engram.recall.plan import Planned

ALONE_FIT = 6.0
"""The fit of what happened at the time, when nothing else is asked: above what shares a word by chance."""
ALONE_RELEVANCE = 0.6
MOST_READ = 2_000
"""When a time holds more memories than this, only its latest are looked at."""
TICK = timedelta(microseconds=1)


def search(candidates: dict[int, Candidate], plan: Planned, question: Question, tools: Tools) -> None:
    """Take in what happened at the times asked about, and mark it."""
    spans, most = plan.shown.spans, tools.config.plan.time_candidates
    gain = plan.shown.weights["time"]
    if not spans or not most or not gain:
        return
    alone = times.is_all(intents.asking(question.text), spans)
    for span in spans:
        view = _inside(plan.view, span)
        if view is None:
            continue
        found = _everything(view, most, tools) if alone else _best(plan, view, most, tools)
        include(candidates, text.matches(plan, found, tools), plan, tools)
        for key in found:
            one = candidates.get(key)
            if one is not None:
                one.time = 1.0 + gain
                one.dated = ALONE_FIT if alone else 0.0


def weigh(read: Iterable[Candidate], plan: Planned, tools: Tools) -> None:
    """Give each memory that was read what its time is worth, and what its being new is."""
    gain, freshness = plan.shown.weights["time"], plan.shown.freshness
    now, days = tools.clock.now(), tools.config.plan.fresh_days
    for one in read:
        if plan.shown.spans and gain:
            near = times.proximity(_moments(one.record), plan.shown.spans)
            one.time = 1.0 + gain * near
            if one.dated:
                one.lent_relevance = max(one.lent_relevance, ALONE_RELEVANCE * near)
        if freshness:
            age = max(0.0, (now - one.record.happened_at) / timedelta(days=1))
            one.fresh = 1.0 + freshness * 0.5 ** (age / days)


def _inside(view: View, span: Span) -> View | None:
    """The view, narrowed to a time; None when the caller's own filters leave nothing of it."""
    since, until = view.filters.happened_since, view.filters.happened_until
    last = None if span.last is None else span.last - TICK
    since = span.first if since is None else max(since, span.first or since)
    until = last if until is None else min(until, last or until)
    if since is not None and until is not None and since > until:
        return None
    return View(view.access, replace(view.filters, happened_since=since, happened_until=until))


def _best(plan: Planned, view: View, most: int, tools: Tools) -> list[int]:
    """The best of that time by words and by meaning."""
    found = [key for key, _ in tools.store.texts.search(plan.terms, view, most)] if plan.terms else []
    if plan.space is not None and plan.vector is not None:
        found += [key for key, _ in tools.index.search(plan.space, plan.vector, most, view)]
    return list(dict.fromkeys(found))


def _everything(view: View, most: int, tools: Tools) -> list[int]:
    """What there is of that time, as much as may come in, the latest stored first."""
    keys = tools.store.memories.select(view, MOST_READ)
    if keys is not None:
        return [int(key) for key in keys[::-1][:most]]
    page = tools.store.memories.page(view, most)
    return list(tools.store.memories.keys([memory.id for memory in page]).values())


def _moments(memory: Memory) -> Iterator[datetime]:
    """When it happened, and the days that its words speak of."""
    yield memory.happened_at
    for day in memory.metadata.get("dates", ()):
        try:
            yield datetime.fromisoformat(str(day)).replace(hour=12, tzinfo=memory.happened_at.tzinfo)
        except ValueError:
            continue
