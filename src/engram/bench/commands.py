"""`engram bench …`: options come in, a benchmark runs, figures come out as a table or as one JSON object."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

import click

from engram.bench import captured, figures, locomo, longmemeval, memdaily, results, screen, speed
from engram.bench.cases import Haystack
from engram.bench.retrieval import RollUp, Run, Write, examine
from engram.bench.setup import Setup, set_up

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
COUNT = click.IntRange(min=1)


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


_json = click.option(
    "--json", "as_json", is_flag=True, callback=_or_root, help="One JSON object on stdout and nothing else."
)


def _common(command: F) -> F:
    for option in (
        click.option("--save", type=NEW_FILE, help="Keep the result in this file."),
        click.option(
            "--set",
            "assignments",
            multiple=True,
            metavar="NAME=VALUE",
            callback=_or_root,
            help="Change one setting; may be repeated.",
        ),
        click.option("--embedder", "model", metavar="NAME", help="static (default) or transformer."),
        _json,
    ):
        command = option(command)
    return command


_data = click.option("--data", type=FILE, required=True, help="The data set, packed with gzip or not.")


@click.group(context_settings={"show_default": True})
def bench() -> None:
    """Measure recall and speed."""


@bench.command("locomo")
@_data
@click.option("--limit-conversations", type=COUNT, help="Only the first so many.")
@click.option("--captured", "listening", is_flag=True, help="Listen to the turns instead of storing each.")
@_common
def run_locomo(
    data: Path, limit_conversations: int | None, *, listening: bool, **common: Unpack[Common]
) -> None:
    """Find the turns of long conversations that answer a question (LoCoMo)."""
    haystacks = locomo.load(data, limit_conversations)
    setup = _setup(common)
    run = _examine(haystacks, setup, locomo.LIMIT, write=captured.listen if listening else None)
    _tell_retrieval(results.result("locomo", figures.by_evidence(run), setup, data), common, "by_category")


@bench.command("longmemeval")
@_data
@click.option("--limit", type=COUNT, help="Only the first so many questions.")
@click.option("--turns", type=click.Choice(list(longmemeval.TURNS)), default="all", help="Whose are stored.")
@_common
def run_longmemeval(data: Path, limit: int | None, turns: str, **common: Unpack[Common]) -> None:
    """Find the chats that answer a question among a user's history (LongMemEval)."""
    haystacks = longmemeval.load(data, limit, turns)
    setup = _setup(common)
    run = _examine(haystacks, setup, longmemeval.LIMIT, longmemeval.by_session)
    found = {**figures.by_session(run), "turns": turns}
    _tell_retrieval(results.result("longmemeval", found, setup, data), common, "by_type")


@bench.command("memdaily")
@_data
@click.option("--limit", type=COUNT, help="Only the first so many runs of each group.")
@_common
def run_memdaily(data: Path, limit: int | None, **common: Unpack[Common]) -> None:
    """Find the message that answers a question among daily ones, in Chinese (MemDaily)."""
    haystacks = memdaily.load(data, limit)
    setup = _setup(common)
    run = _examine(haystacks, setup, memdaily.LIMIT)
    _tell_retrieval(results.result("memdaily", figures.by_evidence(run), setup, data), common, "by_category")


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
    setup = _setup(common)
    with screen.bar() as bar:
        found = speed.measure(sizes, speed.Bench(setup.changed, bar.show, queries, writes), keep)
    result = results.result("speed", found, setup)
    _keep(result, common)
    if not common["as_json"]:
        screen.show_speed(result)


@bench.command("compare")
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@_json
def run_compare(first: Path, second: Path, *, as_json: bool) -> None:
    """Show two saved results side by side."""
    one, other = results.read(first), results.read(second)
    differences, settings = results.compare(one, other), results.compare_settings(one, other)
    if not as_json:
        screen.show_differences((first.stem, second.stem), differences, settings)
        return
    table = {d.name: {"first": d.first, "second": d.second, "change": d.change} for d in differences}
    _say({"settings": settings, "figures": table})


def _setup(common: Common) -> Setup:
    return set_up(common["assignments"], common["model"])


def _examine(
    haystacks: Sequence[Haystack],
    setup: Setup,
    limit: int,
    roll_up: RollUp = tuple,
    write: Write | None = None,
) -> Run:
    total = sum(len(one.asks) for one in haystacks)
    with screen.bar() as bar:
        return examine(
            haystacks, setup, limit, roll_up, lambda by: bar.advance("questions", by, total), write
        )


def _tell_retrieval(result: Mapping[str, Any], common: Common, groups_name: str) -> None:
    _keep(result, common)
    if not common["as_json"]:
        screen.show_retrieval(result, groups_name)


def _keep(result: Mapping[str, Any], common: Common) -> None:
    if common["save"] is not None:
        results.save(common["save"], result)
    if common["as_json"]:
        _say(result)


def _say(value: Mapping[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))
