"""Results: what a session, a task, a flow or a search came to comes in as words; items come out.

A task's or a flow's result is told in one piece, with how it ended: "what went wrong last time" is asked as
often as "what is known". Summaries and findings hold statements and are read like documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from engram.capture.sources import documents
from engram.errors import EmptyContent, UnknownValue, WrongType
from engram.model.capture import Item, ItemKind
from engram.model.memory import CONTENT_LIMIT, SOURCE_LENGTH_LIMIT

ENDED = {"success": "succeeded", "failure": "failed", "partial": "succeeded in part"}
FAILURE_IMPORTANCE = 0.65
"""A failure is worth more than a success: it should not happen twice."""
Finding = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One step of a flow."""

    name: str
    outcome: str = "success"
    result: str = ""


def summary(text: str, session: str, now: datetime) -> Iterator[Item]:
    """The statements of a session's summary. Said again in a later summary, each is known by its words."""
    _needed("summary", text)
    _needed("session", session)
    for item in documents.read_markdown(text, f"session:{session}", source="session"):
        origin = f"session:{session}#{_mark(item.text)}"
        yield replace(item, origin=origin, session=session, at=now)


def task(name: str, result: str, outcome: str, now: datetime, details: Mapping[str, Any]) -> Item:
    """What a task came to."""
    return _ended("task", name, _told(result), outcome, now, details)


def flow(
    name: str, steps: Sequence[FlowStep], result: str, outcome: str, now: datetime, details: Mapping[str, Any]
) -> Item:
    """What a flow came to, step by step."""
    lines = [f"{place}. {one.name}{_step_end(one)}" for place, one in enumerate(steps, 1)]
    told = "\n".join([_told(result), *lines]).strip() if lines else _told(result)
    kept = [{"name": one.name, "outcome": one.outcome, "result": one.result} for one in steps]
    return _ended("flow", name, told, outcome, now, {**details, **({"steps": kept} if kept else {})})


def step(given: Any) -> FlowStep:
    """A step from its name, or from an object with name, outcome and result."""
    if isinstance(given, str):
        return FlowStep(_needed("step", given))
    if not isinstance(given, Mapping):
        raise WrongType("step", given, "text, or an object with name, outcome and result")
    outcome = str(given.get("outcome", "success"))
    _check(outcome)
    return FlowStep(_needed("step", given.get("name", "")), outcome, _told(given.get("result", "")))


def research(findings: Sequence[Finding], query: str, urls: Sequence[str], now: datetime) -> Iterator[Item]:
    """Each finding of a search, with the question it answers and where it was found."""
    _needed("query", query)
    for finding in findings:
        text = finding if isinstance(finding, str) else finding.get("text", finding.get("content", ""))
        own = [] if isinstance(finding, str) else _urls(finding)
        yield Item(
            f"research:{_mark(query)}#{_mark(_needed('finding', text))}",
            text.strip(),
            ItemKind.PASSAGE,
            at=now,
            tags=("research",),
            details={"query": query, "urls": list(dict.fromkeys(own or urls))},
            source="research",
        )


def _ended(what: str, name: str, told: str, outcome: str, now: datetime, details: Mapping[str, Any]) -> Item:
    _check(outcome)
    _needed("name", name)
    said = f": {told}" if told else "."
    return Item(
        f"{what}:{name}@{now.isoformat()}",
        f"{what.capitalize()} {name} {ENDED[outcome]}{said}"[:CONTENT_LIMIT],
        ItemKind.RESULT,
        at=now,
        title=name,
        tags=(what, outcome),
        details={**details, what: name, "outcome": outcome},
        source=f"{what}:{name}"[:SOURCE_LENGTH_LIMIT],
        given={"importance": FAILURE_IMPORTANCE} if outcome == "failure" else {},
    )


def _step_end(one: FlowStep) -> str:
    ended = "" if one.outcome == "success" else f" ({ENDED[one.outcome]})"
    return f"{ended}: {one.result}" if one.result else ended


def _urls(finding: Mapping[str, Any]) -> list[str]:
    many, one = finding.get("urls"), finding.get("url")
    return [str(url) for url in (many if isinstance(many, list | tuple) else [one]) if url]


def _check(outcome: str) -> None:
    if outcome not in ENDED:
        raise UnknownValue("outcome", outcome, tuple(ENDED))


def _needed(field: str, text: Any) -> str:
    if not isinstance(text, str):
        raise WrongType(field, text, "text")
    if not text.strip():
        raise EmptyContent(field)
    return text.strip()


def _told(text: Any) -> str:
    if not isinstance(text, str):
        raise WrongType("result", text, "text")
    return text.strip()


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
