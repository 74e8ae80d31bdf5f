"""Maintenance: `consolidate`, `dream`, `runs`, `undo`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.options import Run, command, pass_run
from engram.cli.output import counted, day, line, say, say_json, short, table, text
from engram.cli.progress import steps
from engram.cli.values import check_target, force_option, reader_zone
from engram.model.upkeep import Carried, Decided, Report, RunState
from engram.model.upkeep import Run as Maintained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from engram import Engram

SHOWN = 20
"""Decisions shown on a screen; a report has them all."""
EVERYTHING = 100_000


def _options(called: Callable[..., None]) -> Callable[..., None]:
    """What `consolidate` and `dream` both take."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Tell what would happen, on a copy; change nothing."),
        click.option(
            "--report",
            "path",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Write the whole report to a file: Markdown, or JSON when it ends in .json.",
        ),
        force_option,
    ):
        called = option(called)
    return called


@command("consolidate")
@click.option("--stage", "stages", multiple=True, help="Only this stage; may be given several times.")
@_options
@pass_run
def consolidate(run: Run, *, stages: tuple[str, ...], dry_run: bool, path: Path | None, force: bool) -> None:
    """Let memories mature: promote, merge, learn, doubt and forget.

    Cut off, it goes on where it stopped the next time. For cron: exit code 75 says that another process is
    at it. `engram undo` takes a run back.
    """
    check_target(path, force=force)
    with run.open(whole_file=True) as memory, steps(run, "consolidating") as counting:
        report = memory.consolidate(dry=dry_run, stages=stages, progress=counting.reach)
        _tell(run, memory, report, path)


@command("dream")
@_options
@pass_run
def dream(run: Run, *, dry_run: bool, path: Path | None, force: bool) -> None:
    """Replay, link and strengthen memories.

    A server does it by itself while nobody asks.
    """
    check_target(path, force=force)
    with run.open(whole_file=True) as memory, steps(run, "dreaming") as counting:
        report = memory.upkeep.dream(dry=dry_run, progress=counting.reach)
        _tell(run, memory, report, path)


@command("audit")
@_options
@pass_run
def audit(run: Run, *, dry_run: bool, path: Path | None, force: bool) -> None:
    """Let a model look over what is known for good.

    It may promote, demote, weigh and merge, never delete; each proposal is tried in a sandbox first.
    """
    check_target(path, force=force)
    with run.open(whole_file=True) as memory, steps(run, "auditing") as counting:
        report = memory.upkeep.audit(dry=dry_run, progress=counting.reach)
        _tell(run, memory, report, path)


@command("runs")
@click.argument("run_id", required=False)
@click.option("-n", "--limit", default=20, show_default=True, help="How many runs, the newest first.")
@pass_run
def runs(run: Run, *, run_id: str | None, limit: int) -> None:
    """List the last runs of maintenance, or tell what one did.

    With the id of a run its whole report.
    """
    with run.open(whole_file=True) as memory:
        if run_id is not None:
            _tell(run, memory, memory.upkeep.report(run_id, limit=EVERYTHING), None, every=True)
            return
        found = memory.upkeep.runs(limit)
    if run.json:
        say_json({"runs": found})
    elif found:
        say(run, table(("run", "kind", "began", "state", "by"), [_row(one) for one in found]))
    if not found and not run.json:
        say(run, text(("no run yet: `engram consolidate` makes the first", "dim")))


@command("undo")
@click.argument("run_id")
@pass_run
def undo(run: Run, *, run_id: str) -> None:
    """Take a whole run of maintenance back.

    What somebody has changed since stays as it is, and what was taken back is not done again.
    """
    with run.open(whole_file=True) as memory:
        undone = memory.undo(run_id)
    if run.json:
        say_json(undone)
    else:
        back = counted(undone.restored, "memory is", "memories are")
        say(run, text((undone.run.id, "bold"), f" taken back: {back} as before"))
        if undone.left:
            stays = counted(len(undone.left), "memory has", "memories have")
            say(run, text((f"{stays} changed since or gone for good, and stayed so", "yellow")))
    if undone.left and not undone.restored:
        raise click.exceptions.Exit(NOT_FOUND)


def _tell(run: Run, memory: Engram, report: Report, path: Path | None, *, every: bool = False) -> None:
    if path is not None:
        cut = report.more and not report.dry
        whole = memory.upkeep.report(report.run.id, limit=EVERYTHING) if cut else report
        path.write_text(_file(whole, as_json=path.suffix == ".json"), encoding="utf-8")
    if run.json:
        say_json(report)
    elif run.quiet:
        say(run, str(report.changes))
    else:
        say(run, *lines(report, None if every else SHOWN))


def _file(report: Report, *, as_json: bool) -> str:
    import json

    from engram.model.plain import plain

    return (
        json.dumps(plain(report), ensure_ascii=False, indent=2) if as_json else report.markdown(reader_zone())
    )


def lines(report: Report, most: int | None = SHOWN) -> Iterator[RenderableType]:
    """A report on a screen."""
    run = report.run
    mark = "would change" if report.dry else "changed"
    yield text((run.id, "bold"), f" · {run.kind.value} · {mark} {counted(report.changes, 'thing')}")
    if run.state is RunState.RUNNING:
        yield text((f"paused in {run.step}: it goes on the next time", "yellow"))
    if report.tallies:
        yield table(
            ("step", "rule", "times"),
            [(line(one.step), line(one.rule), f"{one.count:,}") for one in report.tallies],
        )
    listed = report.decided if most is None else report.decided[:most]
    if listed:
        yield table(("memory", "rule", "why"), [_decided(one) for one in listed])
    rest = len(report.decided) - len(listed)
    if rest or report.more:
        many = f"{rest:,}+" if report.more else f"{rest:,}"
        yield text((f"{many} more: `engram runs {run.id}` or --report FILE tells all", "dim"))
    if report.changes and not report.dry and run.state is RunState.DONE:
        yield text((f"`engram undo {run.id}` takes it back", "dim"))


def _decided(one: Decided) -> tuple[str, str, str]:
    pair = f"{short(one.memory)} + {short(one.related)}" if one.related else short(one.memory)
    left = " (left as it was)" if one.outcome is Carried.LEFT else ""
    return pair, line(one.rule), line(one.why) + left


def _row(run: Maintained) -> tuple[str, str, str, str, str]:
    return run.id, run.kind.value, day(run.started_at), run.state.value, line(run.actor)
