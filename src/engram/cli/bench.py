"""`engram bench …`: options come in, a benchmark runs, figures come out as a table or as one JSON object.

Only the defaults and the command line count. A person's own settings stay out, so that runs compare.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from engram._version import __version__
from engram.bench import everyday, retrieval, speed
from engram.cli.options import CommandRun, Group, pass_run
from engram.cli.output import say, say_json, table
from engram.config import Config, load, values
from engram.embed import open_embedder
from engram.model.clock import SystemClock
from engram.ports import Embedder

COUNT = click.IntRange(min=1)
SECRET = "embed.api_key"  # noqa: S105 - the name of the setting that is never written down

Figures = Mapping[str, Any]


@click.group("bench", cls=Group, context_settings={"show_default": True})
def bench() -> None:
    """Measure recall and speed."""


def _benchmark(name: str) -> Callable[[Callable[..., Figures]], click.Command]:
    """Make a function of settings, embedder and options a command: its figures are kept and shown."""
    new_file = click.Path(dir_okay=False, path_type=Path)

    def decorate(function: Callable[..., Figures]) -> click.Command:
        @bench.command(name)
        @click.option("--embedder", "model", metavar="NAME", help="static (default) or transformer.")
        @click.option("--save", type=new_file, help="Keep the result in this file.")
        @pass_run
        @wraps(function)
        def command(run: CommandRun, model: str | None, save: Path | None, **options: Any) -> None:
            chosen = {**run.chosen(), **({"embed.name": model} if model else {})}
            config = load(environment={}, arguments=chosen)
            embedder = open_embedder(config.embed)
            figures = function(config, embedder, **options)
            result = {**figures, **_circumstances(name, config, embedder, options.get("data"))}
            if save:
                save.parent.mkdir(parents=True, exist_ok=True)
                save.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            if run.json:
                say_json(result)
            else:
                _show(run, f"{name} · {result['embedder']}", figures)

        return command

    return decorate


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_data = click.option("--data", type=FILE, required=True, help="The data set, packed with gzip or not.")


@_benchmark("locomo")
@_data
@click.option("--limit-conversations", "limit", type=COUNT, help="Only the first so many.")
@click.option("--captured", is_flag=True, help="Listen to the turns instead of storing each.")
def run_locomo(config: Config, embedder: Embedder, data: Path, limit: int | None, captured: bool) -> Figures:
    """Find the turns of long conversations that answer a question (LoCoMo)."""
    haystacks = _with_progress(retrieval.load("locomo", data, limit))
    return retrieval.examine(haystacks, config, embedder, listening=captured)


@_benchmark("longmemeval")
@_data
@click.option("--limit", type=COUNT, help="Only the first so many questions.")
@click.option("--turns", type=click.Choice(list(retrieval.TURNS)), default="all", help="Whose are stored.")
def run_longmemeval(config: Config, embedder: Embedder, data: Path, limit: int | None, turns: str) -> Figures:
    """Find the chats that answer a question among a user's history (LongMemEval)."""
    haystacks = _with_progress(retrieval.load("longmemeval", data, limit, turns))
    return {**retrieval.examine(haystacks, config, embedder, sessions=True), "turns": turns}


@_benchmark("memdaily")
@_data
@click.option("--limit", type=COUNT, help="Only the first so many runs of each group.")
def run_memdaily(config: Config, embedder: Embedder, data: Path, limit: int | None) -> Figures:
    """Find the message that answers a question among daily ones, in Chinese (MemDaily)."""
    return retrieval.examine(_with_progress(retrieval.load("memdaily", data, limit)), config, embedder)


@_benchmark("everyday")
@_data
@click.option("--only", type=click.Choice(["updates", "nothing", "keep", "stories"]), help="Only this part.")
@click.option("--verbose", is_flag=True, help="Print every case that fails, on stderr.")
def run_everyday(config: Config, embedder: Embedder, data: Path, only: str | None, verbose: bool) -> Figures:
    """Listen to everyday talk and see what is kept, corrected, left out and found again."""

    def tell(good: bool, name: str, seen: object) -> None:
        if verbose and not good:
            sys.stderr.write(f"NO {name} {seen}\n")

    return everyday.Everyday(retrieval.read_json(data), config, embedder, tell).examine(only)


def _sizes(_context: click.Context, _parameter: click.Parameter, value: str) -> list[int]:
    sizes = [part.replace("_", "") for part in value.split(",")]
    if not all(size.isdecimal() and int(size) for size in sizes):
        raise click.BadParameter("write whole numbers from 1 on with commas between, like 1000,10000")
    return [int(size) for size in sizes]


@_benchmark("speed")
@click.option("--sizes", default="1000,10000,100000", callback=_sizes, help="How many memories.")
@click.option("--queries", type=COUNT, default=speed.QUERIES, help="Questions asked at each size.")
@click.option("--writes", type=COUNT, default=speed.WRITES, help="Single writes at each size.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the files here, and use those found here again.",
)
def run_speed(
    config: Config, _embedder: Embedder, sizes: list[int], queries: int, writes: int, keep: Path | None
) -> Figures:
    """Measure writing, recall, memory and start-up at several sizes, on made-up memories."""
    return speed.measure(sizes, _changed(config), queries, writes, keep)


def _changed(config: Config) -> dict[str, Any]:
    usual = values(Config())
    return {name: value for name, value in values(config).items() if value != usual[name] and name != SECRET}


def _with_progress(haystacks: list[retrieval.Haystack]) -> Iterable[retrieval.Haystack]:
    screen = Console(stderr=True)
    return track(haystacks, "haystacks", console=screen, transient=True, disable=not screen.is_terminal)


def _circumstances(name: str, config: Config, embedder: Embedder, data: Path | None) -> dict[str, Any]:
    """All that is needed to know later what figures mean."""
    circumstances: dict[str, Any] = {
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
    if data:
        circumstances["data"] = {"file": data.name, "sha256": hashlib.sha256(data.read_bytes()).hexdigest()}
    return circumstances


def _show(run: CommandRun, title: str, figures: Figures) -> None:
    say(run, title)
    for name, value in figures.items():
        if isinstance(value, Mapping) and all(isinstance(column, Mapping) for column in value.values()):
            columns = [dict(_leaves(column)) for column in value.values()]
            leaves = dict.fromkeys(chain(*columns))
            rows = [[leaf, *(str(column.get(leaf, "–")) for column in columns)] for leaf in leaves]
            say(run, table([name, *value], rows))
        else:
            say(run, "  ".join(f"{leaf} {value}" for leaf, value in _leaves({name: value})))


def _leaves(tree: Figures, above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
