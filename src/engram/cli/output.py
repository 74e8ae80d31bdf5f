"""What is printed: JSON for programs, short lines and tables for people. rich is imported only for people.

Whatever came from a memory passes through `shown` or `line` before it reaches a terminal: a memory that holds
escape sequences or characters that turn the writing direction must not draw on the reader's screen.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from engram.cli.values import reader_zone
from engram.model.axes import Status
from engram.model.plain import plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from engram.cli.options import Run
    from engram.model.memory import Memory

SHORT_ID = 8
PIPE_WIDTH = 10_000
"""Into a pipe nothing is cut: a longer line than any memory."""
BAR_CELLS = 5
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNITS = (("y", 365 * 86_400), ("mo", 30 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60))


def say_json(value: Any) -> None:
    """One value as one line of JSON."""
    is_unicode = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    click.echo(json.dumps(plain(value), ensure_ascii=not is_unicode))


def console(run: Run, *, to_stderr: bool = False) -> Console:
    """Where a person reads."""
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    wide = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    colour = {"no_color": True} if run.no_color else {}
    return Console(file=stream, width=wide, highlight=False, emoji=False, soft_wrap=False, **colour)  # type: ignore[arg-type]


def say(run: Run, *lines: RenderableType) -> None:
    """Lines for a person. Plain text is taken as it is, never as markup."""
    from rich.text import Text

    screen = console(run)
    with screen.capture() as captured:
        for one in lines:
            line = Text(one) if isinstance(one, str) else one
            screen.print(line, markup=False, soft_wrap=isinstance(line, Text) and line.overflow == "ignore")
    # A table pads its last column; nobody wants those blanks in a pipe.
    click.echo(
        "\n".join(row.rstrip() for row in captured.get().split("\n")), nl=False, color=screen.is_terminal
    )


def text(*pieces: str | Text | tuple[str, str]) -> Text:
    """A line made of pieces, each plain or with its style."""
    from rich.text import Text

    return Text.assemble(*pieces)


def uncut(words: Text) -> Text:
    """A line that is to be copied: it is never broken, however narrow the terminal is."""
    words.no_wrap, words.overflow = True, "ignore"
    return words


def cut(words: Text) -> Text:
    """A line that is cut at the edge of the terminal instead of going on below."""
    words.no_wrap, words.overflow = True, "ellipsis"
    return words


def table(header: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A table without lines. Only the last column is cut when the terminal is narrow."""
    from rich.table import Table

    made = Table(box=None, show_header=any(header), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for name in header[:-1]:
        made.add_column(name, no_wrap=True)
    # A column that could wrap is the first to give way; its cells then say that they are rather cut.
    made.add_column(header[-1], ratio=1)
    for *cells, last in rows:
        made.add_row(*cells, cut(text(last)))
    return made


def shown(words: str) -> str:
    r"""Text that is safe on a terminal; lines stay lines.

    >>> shown("red \x1b[31m alert")
    'red �[31m alert'
    """
    return "".join(_safe(char) for char in words)


def _safe(char: str) -> str:
    if char in "\n\t" or (unicodedata.category(char) != "Cc" and char not in _DIRECTION_MARKS):
        return char
    return "" if char == "\r" else "\ufffd"


def line(words: str) -> str:
    r"""The same on one line.

    >>> line("one\n  two")
    'one two'
    """
    return " ".join(shown(words).split())


def short(memory_id: str) -> str:
    """The beginning of an id: enough for a person, and accepted wherever an id is."""
    return memory_id[:SHORT_ID]


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """A share between 0 and 1 as a bar.

    >>> bar(0.5, cells=4), bar(1.7, cells=2)
    ('██  ', '██')
    """
    eighths = round(max(0.0, min(1.0, share)) * cells * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(cells)


def age(moment: datetime, now: datetime) -> str:
    """How long ago, in its largest unit.

    >>> from datetime import UTC, timedelta
    >>> age(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC))
    '2d'
    """
    seconds = (now - moment).total_seconds()
    sign = "in " if seconds < -1 else ""
    for unit, size in _UNITS:
        if abs(seconds) >= size:
            return f"{sign}{int(abs(seconds) // size)}{unit}"
    return "now"


def day(moment: datetime | None) -> str:
    """A moment as a person writes it, in their own time zone."""
    return moment.astimezone(reader_zone()).strftime("%Y-%m-%d %H:%M") if moment else ""


def marks(memory: Memory) -> list[tuple[str, str]]:
    """What a reader must know before the content: pinned, or no longer simply true."""
    found = [("pinned ", "cyan")] if memory.pinned else []
    return found if memory.status is Status.ACTIVE else [*found, (f"{memory.status} ", "yellow")]


def counted(number: int, thing: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "memory", "memories"), counted(1200, "event")
    ('1 memory', '1,200 events')
    """
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"
