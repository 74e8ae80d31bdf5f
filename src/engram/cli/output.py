"""What is printed: JSON for programs, short lines and tables for people. rich is imported only for people.

Whatever came from a memory passes through `shown` or `line` before it reaches a terminal: a memory that holds
escape sequences or characters that turn the writing direction must not draw on the reader's screen.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from engram.cli.options import CommandRun, reader_zone
from engram.errors import (
    AccessDenied,
    ConfigError,
    DoorError,
    EmbedderError,
    EngramError,
    InvalidInput,
    ModelNeeded,
    NotFound,
    RerankerDown,
    StoreError,
    TooManyRecalls,
    UnknownRun,
    UnknownSession,
    UpkeepBusy,
)
from engram.model.memory import Status
from engram.model.plain import plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text

    from engram.model.memory import Memory


SHORT_ID = 8
PIPE_WIDTH = 10_000
"""Into a pipe nothing is cut: a longer line than any memory."""
BAR_CELLS = 5
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNITS = (("y", 365 * 86_400), ("mo", 30 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60))


def say_json(value: Any) -> None:
    """One value as one line of JSON, without what nobody asked for, as over HTTP."""
    from engram.operations.values import asked_for

    is_unicode = "utf" in (getattr(sys.stdout, "encoding", None) or "").lower()
    click.echo(json.dumps(plain(asked_for(value)), ensure_ascii=not is_unicode))


def console(run: CommandRun, *, to_stderr: bool = False) -> Console:
    """Where a person reads."""
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    wide = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    colour = {"no_color": True} if run.no_color else {}
    return Console(file=stream, width=wide, highlight=False, emoji=False, soft_wrap=False, **colour)  # type: ignore[arg-type]


def say(run: CommandRun, *lines: RenderableType) -> None:
    """Lines for a person. Plain text is taken as it is, never as markup."""
    from rich.text import Text

    screen = console(run)
    with screen.capture() as captured:
        for content in lines:
            line = Text(content) if isinstance(content, str) else content
            screen.print(line, markup=False, soft_wrap=isinstance(line, Text) and line.overflow == "ignore")
    # A table pads its last column; nobody wants those blanks in a pipe.
    click.echo(
        "\n".join(row.rstrip() for row in captured.get().split("\n")), nl=False, color=screen.is_terminal
    )


def tell(
    run: CommandRun, value: Any, *lines: RenderableType, quiet: Iterable[RenderableType] | None = None
) -> None:
    """What came of a command: JSON for a program, lines for a person; with --quiet what is of use then."""
    if run.json:
        say_json(value)
    else:
        say(run, *(lines if quiet is None or not run.quiet else quiet))


def done(word: str, rest: str) -> Text:
    """That something was done."""
    return text((word, "bold green"), f" {rest}")


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

    grid = Table(box=None, show_header=any(header), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for name in header[:-1]:
        grid.add_column(name, no_wrap=True)
    # A column that could wrap is the first to give way; its cells then say that they are rather cut.
    grid.add_column(header[-1], ratio=1)
    for *cells, last in rows:
        grid.add_row(*cells, cut(text(last)))
    return grid


def shown(words: str) -> str:
    r"""Text that is safe on a terminal; lines stay lines.

    >>> shown("red \x1b[31m alert")
    'red �[31m alert'
    """
    unsafe = {char for char in words if unicodedata.category(char) == "Cc" or char in _DIRECTION_MARKS}
    marks = {ord(char): "" if char == "\r" else "\ufffd" for char in unsafe - {"\n", "\t"}}
    return words.translate(marks)


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
    flags = [("pinned ", "cyan")] if memory.pinned else []
    return flags if memory.status is Status.ACTIVE else [*flags, (f"{memory.status} ", "yellow")]


def spoken_by(memory: Memory) -> list[tuple[str, str]]:
    """Who said it, before the content."""
    return [(f"{line(memory.speaker)}: ", "dim")] if memory.speaker else []


def counted(number: int, thing: str, plural: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "memory", "memories"), counted(1200, "event")
    ('1 memory', '1,200 events')
    """
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"


def ask_first(warning: str, question: str) -> None:
    """Say what cannot be taken back, and leave unless a person agrees."""
    if click.get_current_context().ensure_object(CommandRun).json or not sys.stdin.isatty():
        raise click.UsageError(f"{warning} Nobody can be asked here: --yes does it without asking.")
    click.echo(warning, err=True)
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(NOT_FOUND)


# ---------------------------------------------------------------- progress
# A bar for work that takes longer than a second, on stderr, when a person is looking.

PATIENCE_S = 1.0
"""Work that is done sooner shows no bar."""


class ProgressSteps:
    """Counts what is done; the bar appears once the work has taken a second."""

    def __init__(self, run: CommandRun, label: str, total: int | None) -> None:
        self.done = 0
        self._run, self._label, self._total = run, label, total
        self._started = run.clock.monotonic()
        self.bar: Progress | None = None

    def add(self, more: int) -> None:
        """So many more are done."""
        self.reach(self.done + more, self._total)

    def reach(self, done: int, total: int | None) -> None:
        """So many are done in all."""
        self.done, self._total = done, total
        late = self._run.clock.monotonic() - self._started >= PATIENCE_S
        if self.bar is None and late and not self._run.quiet and sys.stderr.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            screen = console(self._run, to_stderr=True)
            self.bar = Progress(TextColumn("{task.description}"), *columns, console=screen, transient=True)
            self.bar.add_task(self._label, total=total)
            self.bar.start()
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done, total=total)


@contextmanager
def steps(run: CommandRun, label: str, total: int | None = None) -> Iterator[ProgressSteps]:
    """Count steps while the work goes on; the bar goes with it."""
    counting = ProgressSteps(run, label, total)
    try:
        yield counting
    finally:
        if counting.bar is not None:
            counting.bar.stop()


# ---------------------------------------------------------------- exits
# How a run ends: errors become a line for a person, an object for a program, an exit code.

OK, NOT_FOUND, BAD_INPUT, STORE, DENIED, CONFIG, EMBEDDER, SERVER = range(8)
BUG, BUSY, INTERRUPTED = 70, 75, 130

EXIT_CODES: dict[int, str] = {
    OK: "fine",
    NOT_FOUND: "not found, nothing recalled, or the doctor found something",
    BAD_INPUT: "bad input or usage",
    STORE: "the file",
    DENIED: "access denied",
    CONFIG: "a setting",
    EMBEDDER: "the embedder",
    SERVER: "the server cannot listen there",
    BUG: "a bug in engram",
    BUSY: "another process maintains the file: try again later",
    INTERRUPTED: "interrupted",
}

# The first that fits counts, so what is not found stands before its parent.
_BY_ERROR: tuple[tuple[type[EngramError], int], ...] = (
    (NotFound, NOT_FOUND),
    (UnknownRun, NOT_FOUND),
    (UnknownSession, NOT_FOUND),
    (InvalidInput, BAD_INPUT),
    (StoreError, STORE),
    (AccessDenied, DENIED),
    (TooManyRecalls, DENIED),
    (ConfigError, CONFIG),
    (EmbedderError, EMBEDDER),
    (RerankerDown, EMBEDDER),
    (ModelNeeded, EMBEDDER),
    (UpkeepBusy, BUSY),
    (DoorError, SERVER),
)


def leave_after(work: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Run the command line and give its exit code. Nothing but a bug shows a traceback."""
    words = [*arguments, "--"]
    as_json = "--json" in words[: words.index("--")]  # behind a bare `--` stands text
    try:
        returned = work()
        sys.stdout.flush()
        # An exit code where the command left early, else the command's own value.
        return returned if isinstance(returned, int) and not isinstance(returned, bool) else OK
    except EngramError as error:
        _report(error.code, error.message, as_json=as_json, hint=_hint(error))
        return exit_code(error)
    except click.ClickException as error:
        return _misused(error, as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        _report("E0130", "Interrupted.", as_json=as_json)
        return INTERRUPTED
    except OSError as error:
        return _outside(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 (a door: whatever was not foreseen ends here, and says so)
        traceback.print_exc()
        _report("E0000", f"A bug in engram: {type(error).__name__}: {error}", as_json=as_json)
        return BUG


def _hint(error: EngramError) -> str:
    """Where the id of a memory is found, for whoever named it by its words."""
    words = error.memory_id if type(error) is NotFound else ""
    if not words or _BEGINS_AN_ID.fullmatch(words):
        return ""
    return f"an id is wanted here; to see it: engram recall {line(words)}"


_BEGINS_AN_ID = re.compile(r"[0-9a-f-]+")


def exit_code(error: EngramError) -> int:
    """The exit code of an error of the engine."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), BUG)


def _misused(error: click.ClickException, *, as_json: bool) -> int:
    """The command cannot be run as it was typed; but a bare group is a plea for help, no mistake."""
    # Newer releases of click raise the help of a bare group as an error.
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())) and not as_json:
        click.echo(error.format_message())
        return OK
    context = getattr(error, "ctx", None)
    hint = f"try: {context.command_path} --help" if context else ""
    _report(InvalidInput.code, error.format_message(), as_json=as_json, hint=hint)
    return BAD_INPUT


def _outside(error: OSError, *, as_json: bool) -> int:
    """Something around us failed. A reader that went away (`| head`) is no error worth a word."""
    if error.errno == errno.EPIPE:
        # What is still in the buffer would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    where = f"{error.filename}: " if error.filename else ""
    _report(StoreError.code, f"{where}{error.strerror or error}", as_json=as_json)
    return STORE


def _report(code: str, message: str, *, as_json: bool, hint: str = "") -> None:
    if as_json:
        click.echo(json.dumps({"error": {"code": code, "message": message}}))
        return
    color = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{click.style(f'error {code}:', fg='red', bold=True)} {message}", err=True, color=color)
    if hint:
        click.echo(hint, err=True, color=color)
