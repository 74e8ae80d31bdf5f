"""Words on the command line become values; text comes from the arguments or from stdin."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engram.errors import BadText, FileExists, StoreError
from engram.model.clock import SystemClock, zone_of
from engram.model.plain import plain

if TYPE_CHECKING:
    _Moments = click.ParamType[datetime]
    _Pairs = click.ParamType[tuple[str, str]]
else:  # older releases of click know no type arguments
    _Moments = _Pairs = click.ParamType

_AGO = re.compile(r"(\d+)\s*(m|h|d|w|mo|y)", re.IGNORECASE)
_LENGTHS = {"m": 1 / 1440, "h": 1 / 24, "d": 1.0, "w": 7.0, "mo": 30.0, "y": 365.0}
LONGEST_DAYS = 365_000
"""A span beyond this lies outside of the calendar."""


def reader_zone() -> tzinfo:
    """The time zone of whoever reads and writes here: as the settings of this call say, else the system's."""
    context = click.get_current_context(silent=True)
    zone = getattr(context.find_root().obj, "zone", None) if context else None
    return zone if isinstance(zone, tzinfo) else zone_of("")


class When(_Moments):
    """A moment: `2026-03-01`, `2026-03-01T14:30`, or a span such as `7d`, counted back or on from now."""

    name = "when"

    def __init__(self, *, ahead: bool = False) -> None:
        self.ahead = ahead

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The moment in the reader's time zone, unless it names its own."""
        if isinstance(value, datetime):
            return value
        if span := _AGO.fullmatch(value.strip()):
            days = int(span[1]) * _LENGTHS[span[2].lower()]
            if days <= LONGEST_DAYS:
                return SystemClock().now() + timedelta(days=days if self.ahead else -days)
        try:
            moment = datetime.fromisoformat(value.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=reader_zone())
        except (ValueError, OverflowError, OSError):
            self.fail(
                f"{value!r} is no time: say 2026-03-01, 2026-03-01T14:30, or a span such as 7d.", param, ctx
            )


class Pair(_Pairs):
    """A detail: `name=value`."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Name and value."""
        if isinstance(value, tuple):
            return value
        name, equals, rest = value.partition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r} is no name=value.", param, ctx)
        return name.strip(), rest


def one_of(words: type[Enum]) -> click.Choice[str]:
    """The members of an axis, as they are written."""
    return click.Choice([str(plain(member)) for member in words], case_sensitive=False)


def numeric(value: str) -> float | str:
    """A number, or the word as it is when it is none: whoever takes it says what is wrong.

    >>> numeric("0.5"), numeric("much")
    (0.5, 'much')
    """
    try:
        return float(value)
    except ValueError:
        return value


def split(values: Iterable[str]) -> tuple[str, ...]:
    """`--tag a --tag b,c` names three.

    >>> split(["a", "b, c", ""])
    ('a', 'b', 'c')
    """
    return tuple(part for value in values for part in (piece.strip() for piece in value.split(",")) if part)


force_option = click.option("--force", is_flag=True, help="Write over a file that is there already.")


def check_target(target: str | Path | None, *, force: bool) -> None:
    """Refuse a file that is there already, unless it may be written over. Raises FileExists, StoreError."""
    if target is None or str(target) == "-":
        return
    path = Path(target)
    if path.exists() and not force:
        raise FileExists(str(path))
    if not path.parent.is_dir():
        raise StoreError(f"{path} cannot be written: there is no folder {path.parent}.")


def text_or_stdin(words: Sequence[str], field: str) -> str:
    """Words typed without quotation marks are one sentence; `-`, or nothing and a pipe, reads stdin."""
    if list(words) == ["-"] or (not words and not sys.stdin.isatty()):
        return read_stdin(field)
    if not words:
        raise click.UsageError(f"Say the {field}, or pipe it in.", click.get_current_context(silent=True))
    return " ".join(words)


def read_stdin(field: str) -> str:
    """Everything on stdin, without the newline that ends it. Raises BadText for what is not UTF-8."""
    return decoded(sys.stdin.buffer.read(), field).rstrip("\r\n")


def decoded(raw: bytes, field: str) -> str:
    """Bytes as text. Raises BadText."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText(field, "bytes that are not UTF-8") from error
