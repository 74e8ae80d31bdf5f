"""Filters as a caller gives them come in; filters a store can compare come out, or an error says why not."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from engram.errors import OutOfRange, WrongType
from engram.model.axes import Mode, Status
from engram.model.filters import Filters, types_for
from engram.model.plain import member, moment

TIMES = tuple(f.name for f in fields(Filters) if f.type == "datetime | None")
SHARES = ("min_importance", "max_importance", "min_confidence", "min_trust", "min_arousal")


def checked(filters: Filters | None, as_of: datetime | str | None = None) -> Filters:
    """The filters with their times in UTC, days as they were named. Raises WrongType and OutOfRange."""
    wanted = filters or Filters()
    times = {name: getattr(wanted, name) for name in TIMES} | ({} if as_of is None else {"as_of": as_of})
    given: dict[str, Any] = {name: _time(name, value) for name, value in times.items() if value is not None}
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


def _time(name: str, value: Any) -> datetime:
    """A moment; the days that are spoken of are those of the caller's calendar."""
    exact = moment(name, value)
    return value if name.startswith("about_") and isinstance(value, datetime) else exact
