"""How a run ends: errors become a line for a person, an object for a program, an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import click

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
    UpkeepBusy,
)

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

# The first that fits counts, so NotFound stands before its parent.
_BY_ERROR: tuple[tuple[type[EngramError], int], ...] = (
    (NotFound, NOT_FOUND),
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
    as_json = "--json" in _options(arguments)
    try:
        return _code_of(work())
    except EngramError as error:
        _report(error.code, error.message, as_json=as_json)
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


def exit_code(error: EngramError) -> int:
    """The exit code of an error of the engine."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), BUG)


def _code_of(returned: Any) -> int:
    """What click gives back: an exit code where the command left early, else the command's own value."""
    sys.stdout.flush()
    return returned if isinstance(returned, int) and not isinstance(returned, bool) else OK


def _options(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments before a bare `--`; behind it stands text."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


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
        import json

        click.echo(json.dumps({"error": {"code": code, "message": message}}))
        return
    color = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{click.style(f'error {code}:', fg='red', bold=True)} {message}", err=True, color=color)
    if hint:
        click.echo(hint, err=True, color=color)
