"""Recalling: a question comes in; the answer goes out, counted and kept in mind."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property
from math import ceil
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING, Any, get_type_hints

from engram.api.caller import PAGE_LIMIT, CallerContext, Noun, RecallLimits, checked, whole
from engram.config import RERANKS
from engram.errors import AccessDenied, EmptyQuestion, EngramError, UnknownValue, WrongType
from engram.lazily import lazily
from engram.model.clock import EPOCH
from engram.model.event import Finding
from engram.model.memory import Filters, Mode, Status
from engram.model.plain import Says, member, moment
from engram.model.recall import (
    KindHealth,
    Question,
    Reasoning,
    Recall,
    Recalled,
    RecallHealth,
    RecallOptions,
    Timeline,
    Traces,
    wish,
)
from engram.model.scope import Role, Scope
from engram.ports import ConversationBias, Recalls, View
from engram.recall.pipeline import recall, touch
from engram.rules import screen

if TYPE_CHECKING:
    from engram.api import browsing, gaps
    from engram.recall import reasoning
else:
    gaps = lazily("engram.api.gaps")
    browsing = lazily("engram.api.browsing")
    reasoning = lazily("engram.recall.reasoning")

# ---------------------------------------------------------------- recall record
# The record of recalls: answers come in; how recalls have been going comes out, and what has helped them.
#
# The last 200 are kept, with the file. A reranking that is tried beside the plain order is switched on for
# a kind of question once it has helped that kind on average, and off again once it no longer does.


KEPT = 200
WEAK_IN_A_ROW = 10
"""So many weak recalls one after the other are no accident."""
ENOUGH = 20
"""Recalls after which an average says something."""
LOW_RELEVANCE = 0.4
"""An average of the best hits under this is worth a word."""
TRIED = 10
"""Recalls of a kind after which a tried reranking may be switched on."""
GAIN = 0.01
"""What it must have gained on average to be switched on; it stays on while it loses nothing."""
UNCLEAR = "unclear"


class RecallRecord:
    """Lives as long as the engine; any thread may use it. What went before is read at first use."""

    def __init__(self, recalls: Recalls) -> None:
        self._recalls = recalls
        self._on: set[str] = set()
        self._lock = Lock()

    @cached_property
    def _entries(self) -> deque[Recalled]:
        entries = deque(self._recalls.last(KEPT), maxlen=KEPT)
        for intent in {entry.intent for entry in entries}:
            self._switch(intent, entries)
        return entries

    def keep(self, left: Traces, *, weak: bool) -> None:
        """Remember how a recall went."""
        quality = left.quality
        entry = Recalled(
            left.at or EPOCH,
            left.intent,
            quality.top_relevance,
            quality.ndcg,
            quality.returned,
            quality.ms,
            weak,
            quality.rerank_gain,
        )
        with self._lock:
            self._entries.append(entry)
            if entry.gain is not None:
                self._switch(entry.intent, self._entries)
        self._recalls.record(entry, KEPT)

    def helped(self) -> frozenset[str]:
        """The intents that the tried reranking has helped."""
        with self._lock:
            return frozenset(self._on) if self._entries else frozenset()

    def health(self) -> RecallHealth:
        """How the recalls have been going."""
        with self._lock:
            entries = tuple(self._entries)
            on = sorted(self._on)
        kinds = defaultdict[str, list[Recalled]](list)
        for entry in entries:
            kinds[entry.intent or UNCLEAR].append(entry)
        overall, times = _summed(entries), sorted(entry.ms for entry in entries)
        row = next((at for at, recalled in enumerate(reversed(entries)) if not recalled.weak), len(entries))
        weak = f"the last {row} recalls found nothing worth showing: wrong or stale embeddings?"
        low = f"the best hits are {overall.relevance:.2f} relevant on average, less than {LOW_RELEVANCE:.2f}"
        seldom_fits = overall.recalls >= ENOUGH and overall.relevance < LOW_RELEVANCE
        warnings = (*([weak] if row >= WEAK_IN_A_ROW else ()), *([low] if seldom_fits else ()))
        return RecallHealth(
            overall=overall,
            by_intent={kind: _summed(found) for kind, found in sorted(kinds.items())},
            weak_in_a_row=row,
            p50_ms=_at(times, 0.5),
            p95_ms=_at(times, 0.95),
            reranked=tuple(kind or UNCLEAR for kind in on),
            warnings=warnings,
        )

    def _switch(self, intent: str, entries: Iterable[Recalled]) -> None:
        gains = [entry.gain for entry in entries if entry.intent == intent and entry.gain is not None]
        if len(gains) < TRIED:
            return
        mean = sum(gains) / len(gains)
        if mean > GAIN:
            self._on.add(intent)
        elif mean < 0:
            self._on.discard(intent)


def _summed(entries: Sequence[Recalled]) -> KindHealth:
    gains = [entry.gain for entry in entries if entry.gain is not None]
    return KindHealth(
        recalls=len(entries),
        weak=sum(entry.weak for entry in entries),
        relevance=_mean(entry.relevance for entry in entries),
        ndcg=_mean(entry.ndcg for entry in entries),
        hits=_mean(entry.hits for entry in entries),
        rerank_gain=_mean(gains) if gains else None,
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def _at(ordered: Sequence[float], share: float) -> float:
    """The value below which this share lies.

    >>> _at([1.0, 2.0, 3.0, 4.0], 0.5), _at([7.0], 0.95), _at([], 0.5)
    (2.0, 7.0, 0.0)
    """
    return ordered[max(0, ceil(len(ordered) * share) - 1)] if ordered else 0.0


STEP_S = 0.05
"""Under a key the answers to others than the owner take a multiple of this."""
QUERY_LIMIT = 10_000
REASON_DEPTH = 3  # how often a question is taken apart again when nobody says (cortex)
"""A question is cut to so many characters: what is longer is a document, and its beginning tells enough."""
ADVICE = "try a question whose answer is surely kept, with --explain; `engram reembed` makes vectors anew"


class Recalling(Noun):
    """What stands between a caller and the flow. Lives as long as the engine; any thread may use it."""

    def __init__(
        self, caller: CallerContext, limits: RecallLimits | None = None, record: RecallRecord | None = None
    ) -> None:
        super().__init__(caller)
        self._limits = limits or RecallLimits(caller.tools.config.limits, caller.tools.clock)
        self._record = record or RecallRecord(caller.tools.store.recalls)

    def beside(self, caller: CallerContext) -> Recalling:
        """The same for another caller of the same memory: it counts together."""
        return Recalling(caller, self._limits, self._record)

    def answer(
        self, question: Question, *, mode_given: bool = False, lean: ConversationBias | None = None
    ) -> Recall:
        """Recall. Raises TooManyRecalls. A reranking that the caller named is not tried against another."""
        question = self._begun(question, mode_given=mode_given)
        begun = self._tools.clock.monotonic()
        found = self._find(question, lean)
        if self._tools.keys is not None and self._caller.access.role is not Role.OWNER:
            taken = self._tools.clock.monotonic() - begun
            sleep(-taken % STEP_S)
        if question.leaves_traces:
            self._keep(found.question, Traces.of(found))
        return found

    def hand_over(
        self, question: Question, then: Callable[[bytes | None], None], ahead: int, *, mode_given: bool
    ) -> bool:
        """Have a process beside this one answer an owner in JSON, if one has room; whether one has.

        `then` is told the answer by the event loop that asks or by another thread. None: recall it here.
        """
        tools = self._tools
        if tools.finder is None or tools.keys is not None or self._caller.access.role is not Role.OWNER:
            return False
        question = self._begun(question, mode_given=mode_given)

        def answered(told: tuple[bytes, Traces] | None) -> None:
            if told is not None and question.leaves_traces:
                self._leave(question, told[1])
            then(told[0] if told else None)

        return tools.finder.hand_over(question, answered, ahead)

    def _leave(self, question: Question, left: Traces) -> None:
        """Count what was answered beside; where that asks the store, nobody waits for it."""

        def leave() -> None:
            with suppress(EngramError):  # the answer is there: what it leaves behind may be lost
                touch(left, question.session, self._tools)
                self._keep(question, left)

        if left.quality.returned and left.quality.top_relevance >= self._tools.config.recall.relevance_floor:
            leave()
        else:
            Thread(target=leave, name="engram-traces", daemon=True).start()

    def _begun(self, question: Question, *, mode_given: bool) -> Question:
        """The question as it is to be answered, once it is counted."""
        self._limits.take(self._caller.access, question.session, self._caller.actor)
        self._tools.pressure.relieve()
        trial = self._tools.config.recall.auto_rerank
        if trial not in {"off", question.rerank} and not mode_given:
            question = replace(question, trial=trial, trial_for=self._record.helped())
        return question

    def _keep(self, question: Question, left: Traces) -> None:
        """Keep in mind how a recall went and what it showed."""
        self._caller.gate.shown(left.texts)
        weak = self._is_weak(question, left)
        self._record.keep(left, weak=weak)
        if weak:
            gaps.note_in_vain(self._caller, question)

    def _find(self, question: Question, lean: ConversationBias | None) -> Recall:
        """By a process beside this one if there is one; what the recall leaves behind is written here."""
        tools = self._tools
        if tools.finder is None:
            return recall(question, tools, lean)
        answer, elsewhere = tools.finder.find(question, lean, lambda: recall(question, tools, lean))
        if elsewhere and question.leaves_traces:
            touch(Traces.of(answer), question.session, tools)
        return answer

    def close(self) -> None:
        """Let go of the processes that recall beside this one."""
        if self._tools.finder is not None:
            self._tools.finder.close()

    def timeline(
        self,
        about: str | tuple[str, str],
        limit: int,
        ends: tuple[datetime | str | None, datetime | str | None],
        scope: Scope | None,
    ) -> Timeline:
        """How something changed; it counts as one recall."""
        parts = (about,) if isinstance(about, str) else about
        if not isinstance(parts, tuple) or len(parts) not in {1, 2}:
            raise WrongType("about", about, "words, or a subject and a predicate")
        clean = [screen.readable("about", part)[:QUERY_LIMIT] for part in parts]
        since, until = (
            None if end is None else moment(name, end, self._tools.zone)
            for name, end in zip(("since", "until"), ends, strict=True)
        )
        window = browsing.Window(whole("limit", limit, 1, PAGE_LIMIT), since, until)
        what = clean[0] if len(clean) == 1 else (clean[0], clean[1])
        access = self._caller.at(scope)
        self._limits.take(self._caller.access, actor=self._caller.actor)
        return browsing.timeline(what, window, access, self._caller)

    def reason(
        self, question: str, depth: int | None, budget: int | None, scope: Scope | None, session: str
    ) -> Reasoning:
        """Think a question through; it counts as one recall."""
        settings = self._tools.config
        screen.name("session", session)
        words = readable("question", question)
        asked = Question(words, self._caller.at(scope), settings.recall.limit, session=session)
        deep = whole("depth", REASON_DEPTH if depth is None else depth, 1, 5)
        room = settings.llm.context_tokens // 2 if budget is None else whole("budget", budget, 0, 10_000_000)
        self._limits.take(self._caller.access, session, self._caller.actor)
        return reasoning.reason(asked, deep, room, self._tools)

    def health(self) -> RecallHealth:
        """How the last recalls of all callers have been going. Raises AccessDenied for guests."""
        if self._caller.is_guest:
            raise AccessDenied("see how the recalls of all callers went: only the owner of the file may")
        return self._record.health()

    def finding(self) -> Finding:
        """The same for the doctor."""
        health = self._record.health()
        counts = f"{health.overall.recalls:,} lately, {health.overall.weak:,} weak"
        usual = f"{counts}, half within {health.p50_ms:.1f} ms"
        detail = "; ".join(health.warnings) or (usual if health.overall.recalls else "none yet")
        return Finding("recalls", health.ok, detail, "" if health.ok else ADVICE)

    def _is_weak(self, asked: Question, left: Traces) -> bool:
        """Whether nothing worth showing came though there are memories; a higher floor is no sign."""
        floor = self._tools.config.recall.relevance_floor
        if left.quality.returned:
            return left.quality.top_relevance < floor
        if asked.min_relevance is not None and asked.min_relevance > floor:
            return False
        return len(self._store.memories.page(View(asked.access, asked.filters), 1)) > 0


# ---------------------------------------------------------------- asking
# What a caller asks comes in; a question that recall understands comes out, or an error says why not.


PROFILES = ("default", "trust", "layered")


def question(caller: CallerContext, query: str, options: RecallOptions) -> Question:
    """The question, checked; what is not said is as the settings have it.

    Options that need no check here reach the question under their own names.
    """
    settings = caller.tools.config.recall
    given: dict[str, Any] = {**options}
    filters = checked(caller, options.get("filters"), options.get("as_of"))
    mode, archived = options.get("mode", Mode.FULL_CONTEXT), options.get("include_archived", False)
    limit = options.get("limit")
    _check_ranges(options)
    screen.name("session", options.get("session", ""))
    looked_at: dict[str, Any] = {
        "text": readable("query", query),
        "access": caller.at(options.get("scope")),
        "limit": settings.limit if limit is None else limit,
        "filters": in_mode(filters, mode, include_archived=archived),
        "profile": _one_of("profile", options.get("profile") or settings.profile, PROFILES),
        "rerank": _one_of("rerank", options.get("rerank") or settings.rerank, RERANKS),
        "wish": wish(options.get("plan")),
    }
    for name in (*looked_at, "scope", "as_of", "mode", "include_archived", "plan"):
        given.pop(name, None)
    return Question(**looked_at, **{name: value for name, value in given.items() if value is not None})


def readable(field: str, question: str) -> str:
    """The words of a question, as far as they are read. Raises EmptyQuestion, WrongType and BadText."""
    words = screen.readable(field, question)
    if not words.strip():
        raise EmptyQuestion
    return words[:QUERY_LIMIT]


def _check_ranges(options: RecallOptions) -> None:
    """Numbers are within what is said of them where they are described. Raises WrongType and OutOfRange."""
    for name, value in options.items():
        says = _ranges().get(name)
        if says is None:
            continue
        if says.most == 1:
            screen.share(name, value)
        elif value is not None:
            whole(name, value, int(says.least or 0), int(says.most or 0))


@cache
def _ranges() -> dict[str, Says]:
    described = get_type_hints(RecallOptions, include_extras=True)
    return {
        name: says
        for name, hint in described.items()
        for says in getattr(hint, "__metadata__", ())
        if isinstance(says, Says) and says.most is not None
    }


def in_mode(filters: Filters, mode: Mode | str, *, include_archived: bool) -> Filters:
    """The filters narrowed to what a mode may bring, and widened to what was forgotten."""
    asked: Mode = member("mode", Mode, mode)
    if asked is not Mode.FULL_CONTEXT:
        types = (filters.types & asked.types) if filters.types else asked.types
        filters = replace(filters, types=types)
    return replace(filters, statuses=filters.statuses | {Status.ARCHIVED}) if include_archived else filters


def _one_of(field: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UnknownValue(field, value, known)
    return str(value)
