"""The time channel: what happened when the question says.

It finds the best by words and by meaning inside the time that is asked about, which a search through all
times may have passed over; and everything of that time, latest first, when nothing else is asked. What it
finds gains a share of its fit, more the nearer it lies. In the end, where something fits and lies in that
time, what lies elsewhere goes; where nothing does, it stays, and the plan says so. A time with an open end,
"since I moved", only prefers: much is told of later. Of several that fit, the first or the last comes first
when that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engram.model.memory import Memory
from engram.model.recall import Dropped, Evidence, Hit, Question, Recall, Span
from engram.ports import Tools, View
from engram.recall import intents, times
from engram.recall.candidates import Candidate
from engram.recall.channels import text
from engram.recall.fuse import include
from engram.recall.plan import Planned
from engram.text import words

ALONE_FIT = 6.0
"""The fit of what happened at the time, when nothing else is asked: above what shares a word by chance."""
ALONE_RELEVANCE = 0.6
THEN_RELEVANCE = 0.3
"""What fits a little and happened at the time asked about is worth a look."""
MOST_READ = 2_000
"""When a time holds more memories than this, only its latest are looked at."""
TICK = timedelta(microseconds=1)


STRICT = timedelta(days=8)
"""What happened in a stretch up to this long happened then or speaks of its days; May is told of in June."""
ALIKE = 0.6
"""What fits at least so well as the best is about the same thing: of these the first or last is meant."""
EVENT_RELEVANCE = 0.35
"""How well a memory must fit the words of an event to say when it was."""
EVENT_WORDS = 300
EVENT_DAY = timedelta(days=1)
BESIDE = 1
"""So many that lie before or after an event stand between those that speak of it."""
Ask = Callable[[Question, Tools], Recall]


@dataclass(frozen=True, slots=True)
class Anchored:
    """A question whose time may be told from an event, and what that came to."""

    question: Question
    """With dates in place of "the week before my trip", else as it was."""
    beside: tuple[Hit, ...] = ()
    """What answers the rest of the question and lies before or after the event, where no length is told."""
    rest: frozenset[str] = frozenset()
    """The words of that rest."""
    spans: tuple[Span, ...] = ()
    """The time before or after the event."""
    notes: tuple[str, ...] = ()


def anchor(question: Question, tools: Tools, ask: Ask) -> Anchored:
    """The time that a question tells from an event, if a memory tells when that was; `ask` recalls.

    "The week before my trip" is a stretch of dates, and what is asked for lies there. "After the accident"
    may ask about the accident itself as well as about later: both are looked for.
    """
    found = times.anchor(intents.asking(question.text)[:EVENT_WORDS], tools.clock.now())
    if found is None:
        return Anchored(question)
    quiet = replace(
        question, limit=5, dry=True, explain=False, expand=False, rerank="none", budget=None, trial=""
    )
    event = _event(found, ask(replace(quiet, text=found.event), tools))
    if event is None:
        return Anchored(question, notes=(f"no memory tells when “{found.event}” was",))
    days = sorted(moment.date() for moment in _event_days(event))
    text, dated = times.told_from(question.text, found, days[0], days[-1])
    notes = (f"“{found.words}” is {dated}: {event.content[:80]}",)
    if found.length is not None:
        return Anchored(replace(question, text=text), notes=notes)
    rest = ask(replace(quiet, text=text), tools)
    fit = (hit for hit in rest if times.proximity(_moments(hit.memory), rest.plan.spans) == 1.0)
    others = words.content_words(question.text) - words.content_words(found.words)
    beside = tuple(hit for hit in fit if hit.memory.id != event.id and _covers(hit.memory, others))[:BESIDE]
    return Anchored(question, beside, others, tuple(map(_with_event, rest.plan.spans)), notes)


def _with_event(span: Span) -> Span:
    """The time before or after an event and its day: what is told of it is often told then."""
    first, last = span.first and span.first - EVENT_DAY, span.last and span.last + EVENT_DAY
    return replace(span, first=first, last=last)


def _covers(memory: Memory, asked: frozenset[str]) -> bool:
    """Whether it has half of the words or more."""
    return 2 * len(asked & words.content_words(memory.content)) >= len(asked) > 0


def _event(found: times.Anchor, told: Recall) -> Memory | None:
    """The memory that tells of an event."""
    wanted = words.content_words(found.event)
    fitting = (hit.memory for hit in told if hit.relevance >= EVENT_RELEVANCE)
    return next((memory for memory in fitting if wanted & words.content_words(memory.content)), None)


def _event_days(memory: Memory) -> list[datetime]:
    """The days that its words speak of, if they speak of one stretch; else when it happened."""
    told = list(_moments(memory))
    spoken = told[1:]
    return spoken if 0 < len(spoken) <= 2 else told[:1]  # noqa: PLR2004 - the ends of a stretch


def settle(ordered: list[Candidate], plan: Planned, asked: Anchored, tools: Tools) -> Settled:
    """What lies in the time asked about, and of several the first or the last before the others."""
    question = asked.question
    kept, gone, notes = _narrowed(ordered, plan)
    kept, notes = _interleaved(kept, asked, tools), (*asked.notes, *notes)
    which = times.superlative(intents.asking(question.text))
    if which is not None:
        kept = _by_time(kept, newest=which == "last")
        notes = (
            *notes,
            f"asks for the {which}: of what fits alike the {'newest' if which == 'last' else 'oldest'} first",
        )
    return Settled(kept, gone, notes)


def _interleaved(ordered: list[Candidate], asked: Anchored, tools: Tools) -> list[Candidate]:
    """What lies beside an event and what speaks of it, in turn, where the best speaks of nothing else."""
    beside, ordered = asked.beside, _preferred(ordered, asked.spans)
    if not beside or (ordered and asked.rest & words.content_words(ordered[0].record.content)):
        return ordered
    keys = tools.store.memories.keys([hit.memory.id for hit in beside])
    known = {one.record.id: one for one in ordered}
    first = [
        known.get(hit.memory.id)
        or Candidate(
            keys[hit.memory.id],
            own=hit.score,
            relevance=hit.relevance,
            trust=hit.trust,
            score=hit.score,
            memory=hit.memory,
            told=[Evidence("time", "lies beside the event", hit.relevance)],
        )
        for hit in beside
    ]
    rest = [one for one in ordered if one not in first]
    woven = [one for pair in zip(first, rest, strict=False) for one in pair]
    return _scored([*woven, *first[len(rest) :], *rest[len(first) :]])


def _preferred(ordered: list[Candidate], spans: tuple[Span, ...]) -> list[Candidate]:
    """Of those that fit about as well as the best, what lies in the time comes first."""
    if not spans or not ordered:
        return ordered
    best = ALIKE * max(one.fit for one in ordered)

    def place(one: Candidate) -> int:
        inside = times.proximity(_moments(one.record), spans) == 1.0
        return 2 if one.fit < best else 0 if inside else 1

    return _scored(sorted(ordered, key=place))


def _scored(ordered: list[Candidate]) -> list[Candidate]:
    """The same, with the scores in their order."""
    scores = sorted((one.score for one in ordered), reverse=True)
    for one, score in zip(ordered, scores, strict=True):
        one.score = score
    return ordered


@dataclass(frozen=True, slots=True)
class Settled:
    """The list by the times asked about, what went from it, and what is to be said about it."""

    ordered: list[Candidate]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()


def _narrowed(
    ordered: list[Candidate], plan: Planned
) -> tuple[list[Candidate], tuple[Dropped, ...], tuple[str, ...]]:
    """Without what lies elsewhere, where the best lies in the time asked about and that is a short one."""
    spans = [span for span in plan.shown.spans if None not in (span.first, span.last)]
    if not spans or not plan.shown.weights["time"] or not ordered:
        return ordered, (), ()
    inside = [one for one in ordered if times.proximity(_moments(one.record), spans) == 1.0]
    named = ", ".join(span.words for span in spans)
    if not inside:
        return ordered, (), (f"nothing that fits lies in the time asked about ({named}): what fits is shown",)
    if ordered[0] not in inside or any(times.length(span) > STRICT or not span.hard for span in spans):
        return ordered, (), ()
    dropped = tuple(
        Dropped(
            one.record.id,
            one.record.forms.label,
            f"lies outside the time asked about ({named})",
            one.relevance,
        )
        for one in ordered
        if one not in inside
    )
    return inside, dropped, ()


def _by_time(kept: list[Candidate], *, newest: bool) -> list[Candidate]:
    """Those that fit about as well as the best, by time, then the others; the scores follow the order."""
    best = max((one.fit for one in kept), default=0.0)
    alike = [one for one in kept if one.fit >= ALIKE * best]
    others = [one for one in kept if one.fit < ALIKE * best]
    return _scored([*sorted(alike, key=lambda one: _told_of(one.record), reverse=newest), *others])


def _told_of(memory: Memory) -> datetime:
    """When what it tells of was: the last day before it was told that it speaks of, or when it happened."""
    happened, *days = _moments(memory)
    return max((day for day in days if day <= happened), default=happened)


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
            if near == 1.0 and one.own > 0:
                one.lent_relevance = max(one.lent_relevance, THEN_RELEVANCE)
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
    found = (
        [key for key, _ in tools.store.texts.search(plan.weighted_terms, view, most)] if plan.terms else []
    )
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
