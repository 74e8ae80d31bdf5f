"""`engram bench …`: options come in, a benchmark runs, figures come out as a table or as one JSON object.

Only the defaults and the command line count. A person's own settings stay out, so that runs compare.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import click
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from engram._version import __version__
from engram.bench import everyday, retrieval, speed
from engram.bench import retrieval as data_sets
from engram.config import Config, load, values
from engram.embed import open_embedder
from engram.errors import ConfigError
from engram.model.clock import SystemClock
from engram.ports import Embedder

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)
SECRET = "embed.api_key"  # noqa: S105 - the name of the setting that is never written down


class Common(TypedDict):
    """The options that every benchmark takes."""

    as_json: bool
    model: str | None
    assignments: tuple[str, ...]
    save: Path | None


def _or_root(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """What the option says here, after what the same one said before `bench`: `engram --json bench speed`."""
    above = getattr(context.find_root().obj, "json" if parameter.name == "as_json" else "settings", None)
    return value or bool(above) if isinstance(value, bool) else (*(above or ()), *value)


def _common(command: F) -> F:
    told = {
        "json": "One JSON object on stdout and nothing else.",
        "set": "Change one setting; may be repeated.",
    }
    for option in (
        click.option("--save", type=NEW_FILE, help="Keep the result in this file."),
        click.option(
            "--set", "assignments", multiple=True, metavar="NAME=VALUE", callback=_or_root, help=told["set"]
        ),
        click.option("--embedder", "model", metavar="NAME", help="static (default) or transformer."),
        click.option("--json", "as_json", is_flag=True, callback=_or_root, help=told["json"]),
    ):
        command = option(command)
    return command


_data = click.option("--data", type=FILE, required=True, help="The data set, packed with gzip or not.")


@click.group(context_settings={"show_default": True})
def bench() -> None:
    """Measure recall and speed."""


@bench.command("locomo")
@_data
@click.option("--limit-conversations", "limit", type=COUNT, help="Only the first so many.")
@click.option("--captured", is_flag=True, help="Listen to the turns instead of storing each.")
@_common
def run_locomo(data: Path, limit: int | None, *, captured: bool, **common: Unpack[Common]) -> None:
    """Find the turns of long conversations that answer a question (LoCoMo)."""
    config, embedder = _opened(common)
    haystacks = _shown_one_by_one(data_sets.load("locomo", data, limit))
    found = retrieval.examine(haystacks, config, embedder, listening=captured)
    _tell("locomo", found, (config, embedder), common, data)


@bench.command("longmemeval")
@_data
@click.option("--limit", type=COUNT, help="Only the first so many questions.")
@click.option("--turns", type=click.Choice(list(data_sets.TURNS)), default="all", help="Whose are stored.")
@_common
def run_longmemeval(data: Path, limit: int | None, turns: str, **common: Unpack[Common]) -> None:
    """Find the chats that answer a question among a user's history (LongMemEval)."""
    config, embedder = _opened(common)
    haystacks = _shown_one_by_one(data_sets.load("longmemeval", data, limit, turns))
    found = retrieval.examine(haystacks, config, embedder, sessions=True)
    _tell("longmemeval", {**found, "turns": turns}, (config, embedder), common, data)


@bench.command("memdaily")
@_data
@click.option("--limit", type=COUNT, help="Only the first so many runs of each group.")
@_common
def run_memdaily(data: Path, limit: int | None, **common: Unpack[Common]) -> None:
    """Find the message that answers a question among daily ones, in Chinese (MemDaily)."""
    config, embedder = _opened(common)
    found = retrieval.examine(_shown_one_by_one(data_sets.load("memdaily", data, limit)), config, embedder)
    _tell("memdaily", found, (config, embedder), common, data)


@bench.command("everyday")
@_data
@click.option("--only", type=click.Choice(["updates", "nothing", "keep", "stories"]), help="Only this part.")
@click.option("--verbose", is_flag=True, help="Print every case that fails, on stderr.")
@_common
def run_everyday(data: Path, only: str | None, *, verbose: bool, **common: Unpack[Common]) -> None:
    """Listen to everyday talk and see what is kept, corrected, left out and found again."""
    config, embedder = _opened(common)

    def tell(good: bool, name: str, seen: object) -> None:  # noqa: FBT001 - a callback's own shape
        if verbose and not good:
            sys.stderr.write(f"NO {name} {seen}\n")

    found = everyday.Everyday(data_sets.read_json(data), config, embedder, tell).examine(only)
    _tell("everyday", found, (config, embedder), common, data)


def _sizes(_context: click.Context, _parameter: click.Parameter, value: str) -> list[int]:
    try:
        sizes = [int(part.replace("_", "")) for part in value.split(",")]
    except ValueError as error:
        raise click.BadParameter("write whole numbers with commas between, like 1000,10000") from error
    if min(sizes) < 1:
        raise click.BadParameter("a size is at least 1")
    return sizes


@bench.command("speed")
@click.option("--sizes", default="1000,10000,100000", callback=_sizes, help="How many memories.")
@click.option("--queries", type=COUNT, default=speed.QUERIES, help="Questions asked at each size.")
@click.option("--writes", type=COUNT, default=speed.WRITES, help="Single writes at each size.")
@click.option("--keep", type=FOLDER, help="Keep the files here, and use those found here again.")
@_common
def run_speed(
    sizes: list[int], queries: int, writes: int, keep: Path | None, **common: Unpack[Common]
) -> None:
    """Measure writing, recall, memory and start-up at several sizes, on made-up memories."""
    config, embedder = _opened(common)
    found = speed.measure(sizes, _changed(config), queries, writes, keep)
    _tell("speed", found, (config, embedder), common)


def _opened(common: Common) -> tuple[Config, Embedder]:
    """Defaults, changed by what the command line says. Raises ConfigError."""
    arguments: dict[str, Any] = {}
    for text in common["assignments"]:
        name, sign, value = text.partition("=")
        if not sign:
            raise ConfigError(f"{text!r} sets nothing: write name=value.")
        arguments[name.strip()] = value.strip()
    if common["model"] is not None:
        arguments["embed.name"] = common["model"]
    config = load(environment={}, arguments=arguments)
    return config, open_embedder(config.embed)


def _changed(config: Config) -> dict[str, Any]:
    usual = values(Config())
    return {name: value for name, value in values(config).items() if value != usual[name] and name != SECRET}


def _shown_one_by_one(haystacks: list[data_sets.Haystack]) -> Any:
    console = Console(stderr=True)
    return track(haystacks, "haystacks", console=console, transient=True, disable=not console.is_terminal)


def _tell(
    name: str,
    figures: Mapping[str, Any],
    opened: tuple[Config, Embedder],
    common: Common,
    data: Path | None = None,
) -> None:
    """Figures with all that is needed to know what they mean later: kept, printed as JSON or as a table."""
    config, embedder = opened
    told = {
        **figures,
        "benchmark": name,
        "version": __version__,
        "date": SystemClock().now().isoformat(timespec="seconds"),
        "embedder": embedder.space.key,
        "settings": _changed(config),
        "machine": {
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cpus": os.cpu_count(),
        },
    }
    if data is not None:
        told["data"] = {"file": data.name, "sha256": hashlib.sha256(data.read_bytes()).hexdigest()}
    if common["save"] is not None:
        common["save"].parent.mkdir(parents=True, exist_ok=True)
        common["save"].write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if common["as_json"]:
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        _show(f"{name} · {told['embedder']}", figures)


def _show(title: str, figures: Mapping[str, Any]) -> None:
    """A table for each group of figures, a line for each other one."""
    console = Console()
    console.print(title, highlight=False)
    for name, value in figures.items():
        if isinstance(value, Mapping) and all(isinstance(one, Mapping) for one in value.values()):
            rows = {key: dict(_leaves(one)) for key, one in value.items()}
            table = Table(name, *rows, box=box.SIMPLE, pad_edge=False)
            for leaf in dict.fromkeys(leaf for row in rows.values() for leaf in row):
                table.add_row(leaf, *(str(row.get(leaf, "–")) for row in rows.values()))
            console.print(table)
        else:
            leaves = dict(_leaves({name: value}))
            console.print("  ".join(f"{leaf} {told}" for leaf, told in leaves.items()), highlight=False)


def _leaves(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    return [
        leaf
        for key, value in tree.items()
        for leaf in (
            _leaves(value, f"{above}{key}.") if isinstance(value, Mapping) else [(f"{above}{key}", value)]
        )
    ]
