"""Write docs/reference from the code: settings, errors, commands, routes, verbs; and the tables of tools.

Also what calls for each of hundreds of patterns, which the package keeps so that a command need not read it.

`python scripts/reference.py` writes the pages; with `--check` it only says which are stale, by exit code 1.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import groupby
from pathlib import Path
from textwrap import dedent, indent
from typing import TYPE_CHECKING

from engram import config, errors
from engram.api.verbs import VerbsBefore
from engram.operations import OPERATIONS
from engram.operations.operation import NOUNS, Operation, said
from engram.operations.values import Parameter, parameters_of
from engram.recall import intents
from engram.rules import injection
from engram.server import problems
from engram.server.mcp.tools import FULL, PINNED, Tool
from engram.server.route import ROUTES, Route
from engram.text import cues, lexicon

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
TOOLS = ROOT / "docs" / "mcp.md"
LISTED = ROOT / "src" / "engram" / "server" / "mcp" / "tools.json"
TOOL_TABLE = re.compile(r"(?<=\| tool \| what it does \| arguments \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")
NOTE = "<!-- Written by scripts/reference.py from the code. Change the code, then run `make docs`. -->"


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are stale."""
    stale = {path: text for path, text in pages().items() if not is_fresh(path, text)}
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT).as_posix()} is out of date: run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.relative_to(ROOT).as_posix()} written.")
    return 0


def pages() -> dict[Path, str]:
    """Each page of the reference and what it should say."""
    from engram.cli.app import app

    made = {
        "config.md": config_page(),
        "errors.md": error_page(),
        "cli.md": command_page(app),
        "python.md": library_page(),
        "rest.md": rest_page(),
    }
    written = {FOLDER / name: "\n".join([NOTE, "", *lines]).rstrip() + "\n" for name, lines in made.items()}
    tools = {TOOLS: with_tools(TOOLS.read_text(encoding="utf-8")), LISTED: listed_tools()}
    return {**written, **tools, lexicon.KEPT: kept_calls()}


def kept_calls() -> str:
    """The tables of patterns, a line each."""
    sides = (cues.slot_patterns(side) for side in ("? ", "= "))
    tables = (intents.patterns(), injection.wordings(), *sides)
    return "".join(f"{table.line()}\n" for table in tables)


def listed_tools() -> str:
    """The tools as MCP lists them: read by the handshake, which must not wait for the engine to load."""
    told = {"pinned": len(PINNED), "tools": [tool.described for tool in FULL.values()]}
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def with_tools(page: str) -> str:
    """The page about MCP, its two tables of tools as the code has them: the pinned ones, then all others."""
    tables = iter((PINNED.values(), [tool for name, tool in FULL.items() if name not in PINNED]))
    return TOOL_TABLE.sub(lambda _: "".join(f"{tool_row(tool)}\n" for tool in next(tables)), page)


def tool_row(tool: Tool) -> str:
    """A tool, what it does, what it takes; what it needs is bold."""
    names = [f"**{name}**" if name in tool.needs else name for name in tool.takes]
    takes = ", ".join([*([] if tool.only else [f"action ({', '.join(tool.actions)})"]), *names]) or "–"
    return f"| `{tool.name}` | {tool.sentence} | {takes} |"


def is_fresh(path: Path, text: str) -> bool:
    """Whether the page on disk says what it should."""
    return path.is_file() and path.read_text(encoding="utf-8") == text


def config_page() -> Iterator[str]:
    """Every setting by group: default, range, meaning, variable, origin."""
    yield from ("# Settings", "", _words(config), "")
    groups = groupby(config.SETTINGS, key=lambda setting: setting.name.partition(".")[0])
    for group, settings in groups:
        held = getattr(config.Config(), group)
        about = "A setting of its own, in no group." if isinstance(held, str) else _words(type(held))
        yield from (f"## {group}", "", about, "")
        yield from table(
            ("setting", "default", "range", "meaning", "variable", "from"),
            (
                (
                    f"`{setting.name}`",
                    f"`{_plain(setting.default)}`",
                    setting.range,
                    setting.meaning,
                    f"`{setting.variable}`",
                    setting.origin,
                )
                for setting in settings
            ),
        )
    yield from ("## Presets", "", "A preset is an overlay over the defaults.", "")
    yield from table(
        ("preset", "changes"),
        (
            (
                f"`{name}`",
                ", ".join(f"`{key} = {_plain(value)}`" for key, value in changes.items()) or "nothing",
            )
            for name, changes in config.PRESETS.items()
        ),
    )


def error_page() -> Iterator[str]:
    """Every error by code: name, what it is a kind of, what it means."""
    yield from ("# Errors", "", "Every error has a code that stays the same from version to version.", "")
    found = sorted(kinds(errors.EngramError), key=lambda kind: kind.code)
    yield from table(
        ("code", "error", "a kind of", "meaning"),
        ((kind.code, f"`{kind.__name__}`", f"`{kind.mro()[1].__name__}`", _words(kind)) for kind in found),
    )


def kinds(root: type[errors.EngramError]) -> Iterator[type[errors.EngramError]]:
    """An error and everything below it, as far as it is part of the tree and not private to a module."""
    yield root
    for below in root.__subclasses__():
        if below.__module__ == problems.__name__ or below.__module__.startswith(errors.__name__):
            yield from kinds(below)


def library_page() -> Iterator[str]:
    """Every verb of the library: how it is called, what it says of itself, what each parameter means."""
    yield from ("# The library", "", "What an open memory does. [Begin here](../library.md).", "")
    for noun, place in sorted(NOUNS.items()):
        module, _, kind = place.partition(":")
        found = getattr(import_module(module), kind)
        yield from (f"## `memory.{noun}`" if noun else "## `memory`", "", _words(found), "")
        for name, verb in inspect.getmembers(found, inspect.isfunction):
            if not name.startswith("_") and (noun or name not in vars(VerbsBefore)):
                yield from _verb(f"{noun}.{name}".lstrip("."), verb)


def _verb(name: str, verb: Callable[..., object]) -> Iterator[str]:
    called = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(verb)))
    called = re.sub(r"<([\w.]+): [^>]*>", r"\1", re.sub(r"^\(self(, )?", "(", called))
    yield from (f"### `{name}`", "", f"`{name}{called}`", "")
    yield from (*_words(verb).splitlines(), "")
    row = OPERATIONS.get(name) or Operation(name, "")
    told = [
        (f"`{one.name}`", said(name, one).sentence, _example(row.example_of(one)))
        for one in _parameters(verb)
    ]
    if told := [cells for cells in told if cells[1]]:
        yield from table(("parameter", "what it means", "for example"), told)


def _example(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value, default=str)}`"


def _parameters(verb: Callable[..., object]) -> Iterable[Parameter]:
    try:
        return parameters_of(verb)
    except NameError:  # a type that only a checker loads: the names are told without it
        return [Parameter(name, object, None) for name in inspect.signature(verb).parameters]


def rest_page() -> Iterator[str]:
    """Every route of the server: what it does, what it takes."""
    yield from (
        "# REST",
        "",
        "What `engram serve` answers; `/openapi.json` says more. [Begin here](../server.md).",
        "",
    )
    for group, routes in groupby(sorted(ROUTES, key=_noun), key=_noun):
        yield from (f"## {group}", "")
        yield from table(
            ("call", "does", "takes"),
            (
                (
                    f"`{route.method} {route.address}`",
                    route.operation.sentence + (" Only for an owner." if route.operation.owner else ""),
                    ", ".join(f"`{one.name}`" for one in route.parameters),
                )
                for route in routes
            ),
        )


def _noun(route: Route) -> str:
    return route.path.split("/")[2]


def command_page(command: click.Command) -> Iterator[str]:
    """Every command with its arguments and options."""
    yield "# The `engram` command"
    yield ""
    yield from _command(command, "engram")


def _command(command: click.Command, name: str) -> Iterator[str]:
    import click

    context = click.Context(command, info_name=name)
    if name != "engram":
        yield from (f"{'#' * min(name.count(' ') + 1, 4)} `{name}`", "")
    yield from (_help(command.help or ""), "")
    yield from (f"`{' '.join([name, *command.collect_usage_pieces(context)])}`", "")
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            if below is not None and not below.hidden:
                yield from _command(below, f"{name} {word}")


def _help(text: str) -> str:
    """A command's help; what it wants kept line by line (click marks that by a backspace) is code."""
    parts = inspect.cleandoc(text).split("\n\n")
    kept = (
        indent(dedent(part.removeprefix("\b\n")), "    ") if part.startswith("\b") else part for part in parts
    )
    return "\n\n".join(kept)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """What can be said beside the words in the usage line; `--help` goes without saying."""
    records = [item.get_help_record(context) for item in command.get_params(context)]
    told = [
        (f"`{record[0]}`", record[1])
        for record in records
        if record and record[1] and not record[0].endswith("--help")
    ]
    if told:
        yield from table(("option", "meaning"), told)


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """The lines of a table."""
    for row in (heads, ("---",) * len(heads), *rows):
        yield "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
    yield ""


def _plain(value: object) -> str:
    """A value as it is written in the configuration file."""
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def _words(thing: object) -> str:
    return inspect.getdoc(thing) or ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
