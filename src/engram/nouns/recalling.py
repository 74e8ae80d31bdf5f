"""Recalling: a question comes in; the answer goes out, counted and kept in mind."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from engram.capture import screen
from engram.errors import AccessDenied, WrongType
from engram.model.health import RecallHealth
from engram.model.pages import Finding
from engram.model.plain import moment
from engram.model.reasoning import Reasoning
from engram.model.recall import Question, Recall
from engram.model.scope import Scope
from engram.model.timeline import Timeline
from engram.nouns.desk import PAGE_LIMIT, Desk, whole
from engram.nouns.gaps import note_in_vain
from engram.nouns.limits import Limits
from engram.nouns.recall_record import RecallRecord
from engram.nouns.timelines import Window, timeline
from engram.ports import Lean, View
from engram.recall.pipeline import recall, touch
from engram.recall.reasoning.reason import reason

QUERY_LIMIT = 10_000
"""A question is cut to so many characters: what is longer is a document, and its beginning tells enough."""
ADVICE = "try a question whose answer is surely kept, with --explain; `engram reembed` makes vectors anew"


class Recalling:
    """What stands between a caller and the flow. Lives as long as the engine; any thread may use it."""

    def __init__(self, desk: Desk, limits: Limits | None = None, record: RecallRecord | None = None) -> None:
        self._desk = desk
        self._limits = limits or Limits(desk.tools.config.limits, desk.tools.clock)
        self._record = record or RecallRecord(desk.tools.store.recalls)

    def beside(self, desk: Desk) -> Recalling:
        """The same for another caller of the same memory: it counts together."""
        return Recalling(desk, self._limits, self._record)

    def answer(self, question: Question, *, mode_given: bool = False, lean: Lean | None = None) -> Recall:
        """Recall. Raises TooManyRecalls. A reranking that the caller named is not tried against another."""
        self._limits.take(self._desk.access, question.session)
        trial = self._desk.tools.config.recall.auto_rerank
        if trial not in {"off", question.rerank} and not mode_given:
            question = replace(question, trial=trial, trial_for=self._record.helped())
        found = self._find(question, lean)
        if not question.dry and question.filters.as_of is None:
            self._desk.gate.heard(found)
            weak = self._is_weak(found)
            self._record.keep(found, weak=weak)
            if weak:
                note_in_vain(self._desk, found)
        return found

    def _find(self, question: Question, lean: Lean | None) -> Recall:
        """By a process beside this one if there is one; what the recall leaves behind is written here."""
        tools = self._desk.tools
        found = tools.finder.find(question, lean) if tools.finder is not None else None
        if found is None:
            return recall(question, tools, lean)
        if not question.dry and question.filters.as_of is None:
            touch(found, tools)
        return found

    def close(self) -> None:
        """Let go of the processes that recall beside this one."""
        if self._desk.tools.finder is not None:
            self._desk.tools.finder.close()

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
            None if end is None else moment(name, end, self._desk.tools.zone)
            for name, end in zip(("since", "until"), ends, strict=True)
        )
        window = Window(whole("limit", limit, 1, PAGE_LIMIT), since, until)
        what = clean[0] if len(clean) == 1 else (clean[0], clean[1])
        access = self._desk.at(scope)
        self._limits.take(self._desk.access)
        return timeline(what, window, access, self._desk)

    def reason(
        self, question: str, depth: int | None, budget: int | None, scope: Scope | None, session: str
    ) -> Reasoning:
        """Think a question through; it counts as one recall."""
        settings = self._desk.tools.config
        screen.name("session", session)
        text = screen.readable("question", question)[:QUERY_LIMIT]
        asked = Question(text, self._desk.at(scope), settings.recall.limit, session=session)
        deep = whole("depth", settings.recall.reason_depth if depth is None else depth, 1, 5)
        room = settings.llm.context_tokens // 2 if budget is None else whole("budget", budget, 0, 10_000_000)
        self._limits.take(self._desk.access, session)
        return reason(asked, deep, room, self._desk.tools)

    def health(self) -> RecallHealth:
        """How the last recalls of all callers have been going. Raises AccessDenied for guests."""
        if self._desk.is_guest:
            raise AccessDenied("see how the recalls of all callers went: only the owner of the file may")
        return self._record.health()

    def finding(self) -> Finding:
        """The same for the doctor."""
        health = self._record.health()
        counts = f"{health.overall.recalls:,} lately, {health.overall.weak:,} weak"
        told = f"{counts}, half within {health.p50_ms:.1f} ms"
        detail = "; ".join(health.warnings) or (told if health.overall.recalls else "none yet")
        return Finding("recalls", health.ok, detail, "" if health.ok else ADVICE)

    def _is_weak(self, found: Recall) -> bool:
        """Whether nothing worth showing came though there are memories; a higher floor is no sign."""
        floor = self._desk.tools.config.recall.relevance_floor
        asked = found.question
        if found.hits:
            return found.quality.top_relevance < floor
        if asked.min_relevance is not None and asked.min_relevance > floor:
            return False
        return len(self._desk.tools.store.memories.page(View(asked.access, asked.filters), 1)) > 0
