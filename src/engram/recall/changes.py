"""Questions after change: what gave way belongs to the answer, marked, and a timeline tells more."""

from __future__ import annotations

from dataclasses import replace

from engram.model.axes import Status
from engram.model.filters import Filters
from engram.model.recall import Question
from engram.text.changes import topic_of_change

FORMER = frozenset({Status.SUPERSEDED, Status.INVALIDATED})


def widen(question: Question) -> tuple[Question, tuple[str, ...]]:
    """The question with what held before among what may be found, and a note; else as it is.

    A caller that chose the statuses gets those.
    """
    topic = topic_of_change(question.text)
    if not topic:
        return question, ()
    note = f"asks how something changed: a timeline of “{topic}” tells it step by step"
    if question.filters.statuses != Filters().statuses:
        return question, (note,)
    wider = replace(question.filters, statuses=question.filters.statuses | FORMER)
    return replace(question, filters=wider), (note,)
