"""What a caller asks comes in; a question that recall understands comes out, or an error says why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime, tzinfo
from typing import Any

from engram.capture import screen
from engram.config import RERANKS
from engram.errors import OutOfRange, UnknownValue, WrongType
from engram.model.axes import Mode, Status
from engram.model.filters import Filters, types_for
from engram.model.plain import member, moment
from engram.model.recall import Question, Wish
from engram.model.scope import Scope
from engram.model.wishes import wish
from engram.nouns.desk import Desk, whole
from engram.nouns.recalling import QUERY_LIMIT

PROFILES = ("default", "trust", "layered")
TIMES = tuple(f.name for f in fields(Filters) if f.type == "datetime | None")
SHARES = ("min_importance", "max_importance", "min_confidence", "min_trust", "min_arousal")


def question(  # noqa: PLR0913 - each is a question a user may have; all but the query by name
    desk: Desk,
    query: str,
    *,
    limit: int | None,
    budget: int | None,
    scope: Scope | None,
    filters: Filters | None,
    mode: Mode | str,
    rerank: str | None,
    profile: str | None,
    min_relevance: float | None,
    session: str,
    dry: bool,
    explain: bool,
    include_archived: bool,
    as_of: datetime | str | None,
    plan: Wish | Mapping[str, Any] | None,
    expand: bool | None,
) -> Question:
    """The question, checked; what is not said is as the settings have it."""
    settings = desk.tools.config.recall
    wanted = in_mode(checked(desk, filters, as_of), mode, include_archived=include_archived)
    screen.share("min_relevance", min_relevance)
    screen.name("session", session)
    return Question(
        text=screen.readable("query", query)[:QUERY_LIMIT],
        access=desk.at(scope),
        limit=whole("limit", settings.limit if limit is None else limit, 1, 500),
        budget=None if budget is None else whole("budget", budget, 0, 10_000_000),
        filters=wanted,
        profile=_one_of("profile", profile or settings.profile, PROFILES),
        rerank=_one_of("rerank", rerank or settings.rerank, RERANKS),
        min_relevance=min_relevance,
        dry=dry,
        session=session,
        explain=explain,
        expand=expand,
        wish=wish(plan),
    )


def checked(desk: Desk, filters: Filters | None, as_of: datetime | str | None = None) -> Filters:
    """The filters with their times in UTC, days as they were named. Raises WrongType and OutOfRange."""
    wanted = filters or Filters()
    times = {name: getattr(wanted, name) for name in TIMES} | ({} if as_of is None else {"as_of": as_of})
    given: dict[str, Any] = {
        name: _time(name, value, desk.tools.zone) for name, value in times.items() if value is not None
    }
    for name in SHARES:
        share = getattr(wanted, name)
        if not 0.0 <= share <= 1.0:
            raise OutOfRange(name, share, 0, 1)
    for name, value in wanted.details.items():
        if not (value is None or isinstance(value, str | int | float)):
            raise WrongType(f"details {name!r}", value, "a text, a number, true, false or null")
    return replace(wanted, **given) if given else wanted


def in_mode(filters: Filters, mode: Mode | str, *, include_archived: bool) -> Filters:
    """The filters narrowed to what a mode may bring, and widened to what was forgotten."""
    asked: Mode = member("mode", Mode, mode)
    if asked is not Mode.FULL_CONTEXT:
        types = (filters.types & asked.types) if filters.types else types_for(asked)
        filters = replace(filters, types=types)
    return replace(filters, statuses=filters.statuses | {Status.ARCHIVED}) if include_archived else filters


def _time(name: str, value: Any, zone: tzinfo) -> datetime:
    """A moment; the days that are spoken of are those of the caller's calendar."""
    exact = moment(name, value, zone)
    return value if name.startswith("about_") and isinstance(value, datetime) else exact


def _one_of(field: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UnknownValue(field, value, known)
    return str(value)
