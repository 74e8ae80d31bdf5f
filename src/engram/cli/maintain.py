"""Maintenance: runs (`consolidate`, `dream`, `audit`, `reread`, `undo`), counts, care of the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from engram.api.sources import Progress
from engram.cli.made import Spelling, presented, variant
from engram.cli.options import CommandRun, check_target, command, pass_run, reader_zone
from engram.cli.output import NOT_FOUND, bar, counted, done, line, say, say_json, short, table, tell, text
from engram.cli.views import SHOWN, report_lines, say_many
from engram.engine import Engram
from engram.errors import KeyNeeded, StoreCorrupt
from engram.model.event import Finding, SalvageReport, Stats
from engram.model.knowledge import Spent
from engram.model.maintenance import DriftReport, Report, Run, Undone
from engram.model.plain import Says, plain
from engram.model.recall import RecallHealth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text


EVERYTHING = 100_000


def _check_path(context: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    check_target(path, force=bool(context.params.get("force")))
    return path


def _run_command(name: str, operation: str, help_: str, **flags: str) -> Callable[[], click.Command]:
    """A command that makes a run and tells what it did."""

    @click.option("--force", is_flag=True, is_eager=True, help="Write over a file that is there already.")
    @click.option(
        "--report",
        "path",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=_check_path,
        help="Write the whole report to a file: Markdown, or JSON when it ends in .json.",
    )
    def show(run: CommandRun, report: Report, *, path: Path | None, **_: bool) -> None:
        _tell(run, report, path)

    show.__doc__ = help_
    return presented(name, Spelling(operation, flags={"dry": "--dry-run", **flags}), with_json=True)(show)


consolidate = _run_command(
    "consolidate",
    "consolidate",
    """Let memories mature: promote, merge, learn, doubt and forget.

    Cut off, it goes on where it stopped the next time. For cron: exit code 75 says that another process is
    at it. `engram undo` takes a run back.
    """,
    stages="--stage",
)
dream = _run_command(
    "dream",
    "maintenance.dream",
    """Replay, link and strengthen memories.

    A server does it by itself while nobody asks.
    """,
)
audit = _run_command(
    "audit",
    "maintenance.audit",
    """Let a model look over what is known for good.

    It may promote, demote, weigh and merge, never delete; each proposal is tried in a sandbox first.
    """,
)
reread = _run_command(
    "reread",
    "maintenance.reread",
    """Read what was said again, with today's rules or the model.

    What is believed follows; what people edited, confirmed, pinned, forgot or restored stays as they left it.
    Cut off, it goes on where it stopped the next time. `engram undo` takes all of it back.
    """,
)


def _runs(
    memory: Engram,
    run_id: str = "",
    *,
    limit: Annotated[int, Says("How many runs, the newest first.", flags="-n --limit")] = 20,
) -> Report | list[Run]:
    return memory.maintenance.report(run_id, limit=EVERYTHING) if run_id else memory.maintenance.runs(limit)


@presented("runs", Spelling(variant("maintenance.runs", _runs), "run_id?"), with_json=True)
def runs(run: CommandRun, runs_found: Report | list[Run]) -> None:
    """List the last runs of maintenance, or tell what one did.

    With the id of a run its whole report.
    """
    if isinstance(runs_found, Report):
        _tell(run, runs_found, None, everything=True)
    elif runs_found and not run.json:
        say_many(run, runs_found)
    else:
        tell(run, {"runs": runs_found}, text(("no run yet: `engram consolidate` makes the first", "dim")))


@presented(
    "undo", Spelling("maintenance.undo", fails=lambda undone: bool(undone.left and not undone.restored))
)
def undo(run: CommandRun, undone: Undone) -> None:
    """Take a whole run of maintenance back.

    What somebody has changed since stays as it is, and what was taken back is not done again.
    """
    back = counted(undone.restored, "memory is", "memories are")
    say(run, text((undone.run.id, "bold"), f" taken back: {back} as before"))
    if undone.left:
        stays = counted(len(undone.left), "memory has", "memories have")
        say(run, text((f"{stays} changed since or gone for good, and stayed so", "yellow")))


def _tell(run: CommandRun, report: Report, path: Path | None, *, everything: bool = False) -> None:
    if path is not None:
        cut = report.more and not report.dry
        whole = (
            run.memory.maintenance.report(report.run.id, limit=EVERYTHING) if cut and run.memory else report
        )
        as_json = json.dumps(plain(whole), ensure_ascii=False, indent=2)
        as_file = as_json if path.suffix == ".json" else whole.markdown(reader_zone())
        path.write_text(as_file, encoding="utf-8")
    shown = report_lines(report, None if everything else SHOWN)
    tell(run, report, *shown, quiet=[str(report.changes)])


@presented("drift", Spelling("maintenance.drift", "directory?"))
def drift(run: CommandRun, report: DriftReport) -> None:
    """Check what memories claim about files, symbols and versions.

    Against DIRECTORY, or the one that the setting `doubt.directory` names. Nothing is changed unless --apply.
    """
    tell(run, report, *_drift(report), quiet=[reference.reference for reference in report.dead])


def _drift(report: DriftReport) -> Iterator[RenderableType]:
    checked = f"{counted(report.references, 'reference')} of {counted(report.memories, 'memory', 'memories')}"
    yield text((checked, "bold"), f" checked against {counted(report.files, 'file')} of {report.directory}")
    if not report.complete:
        yield text(("not every file was looked at: what is named may be in the others", "yellow"))
    rows = [
        (
            text((short(reference.memory), "cyan")),
            str(reference.kind),
            line(reference.reference),
            line(reference.detail),
        )
        for reference in report.dead
    ]
    yield table(("memory", "kind", "dead", "instead"), rows) if rows else text(("nothing is dead", "green"))
    if report.run is not None:
        changed = counted(report.run.changes, "memory is", "memories are")
        yield text((report.run.run.id, "bold"), f": {changed} in another state now")


# ---------------------------------------------------------------- upkeep
# Looking after the file: `stats`, `doctor`, `reembed`.

CATEGORIES_SHOWN = 12
_KIBI = 1024
PAGES = "pages"
"""What the finding about damaged pages is called."""


def _counts(
    memory: Engram,
    *,
    recall: Annotated[bool, Says("Tell how the last recalls have been going instead.")] = False,
    models: Annotated[bool, Says("Tell what calls to models have cost instead.")] = False,
    daily: Annotated[bool, Says("The same day by day.")] = False,
    forget_models: Annotated[bool, Says("Forget what calls to models have cost.")] = False,
) -> Stats | RecallHealth | dict[str, Any]:
    if forget_models:
        return {"forgotten": memory.forget_spending()}
    if models or daily:
        return {"spending": memory.spending(daily=daily)}
    return memory.recall_health() if recall else memory.stats()


@presented("stats", Spelling(variant("stats", _counts, owner=True)), with_json=True)
def stats(run: CommandRun, result: Stats | RecallHealth | dict[str, Any]) -> None:
    """Count what is kept.

    The whole file; with --namespace, --project … only what is seen from there.
    """
    path = run.opened.path
    if run.json:
        say_json({"file": path, **plain(result)} if isinstance(result, Stats) else result)
    elif isinstance(result, RecallHealth):
        say(run, *_recall_lines(result))
    elif isinstance(result, Stats):
        say(run, *([str(result.memories)] if run.quiet else _stats_lines(result, path)))
    elif "spending" in result:
        say(run, *_spending_lines(result["spending"]))
    else:
        say(run, f"{counted(result['forgotten'], 'call')} forgotten")


def _spending_lines(spent: Sequence[Spent]) -> Iterator[RenderableType]:
    if not spent:
        yield text("no model was asked in the last 30 days")
        return
    daily = any(cost.day for cost in spent)
    rows = [
        (cost.day, cost.component, cost.model, f"{cost.calls:,}", f"{cost.failed:,}",
         f"{cost.prompt_tokens + cost.answer_tokens:,}", f"{cost.cost:.4f}")
        for cost in spent
    ]  # fmt: skip
    heads = ("day", "component", "model", "calls", "failed", "tokens", "US$")
    start = 0 if daily else 1
    yield table(heads[start:], [row[start:] for row in rows])


def _stats_lines(counts: Stats, path: str) -> Iterator[RenderableType]:
    around = (counted(counts.edges, "relation"), counted(counts.events, "event"), size(counts.size_bytes))
    yield text((counted(counts.memories, "memory", "memories"), "bold"), f" · {' · '.join(around)}")
    yield text((path, "dim"))
    groups = {
        "status": counts.by_status,
        "kind": counts.by_kind,
        "layer": counts.by_layer,
        "category": counts.by_category,
        "vectors": counts.vectors,
    }
    for title, group in groups.items():
        if group:
            yield text((f"\n{title}", "bold magenta"))
            yield _bars(group)
    if counts.pending:
        waiting = counted(counts.pending, "memory waits", "memories wait")
        yield text((f"\n{waiting} for a vector: run `engram reembed`", "yellow"))


def _recall_lines(health: RecallHealth) -> Iterator[RenderableType]:
    """How the last recalls have been going, kind by kind."""
    overall = health.overall
    weak = counted(overall.weak, "weak one", "weak ones")
    times = f"half within {health.p50_ms:.1f} ms, 95 % within {health.p95_ms:.1f} ms"
    yield text((counted(overall.recalls, "recall"), "bold"), f" · {weak} · {times}")
    rows = [
        (
            line(kind),
            f"{intent.recalls:,}",
            f"{intent.weak:,}",
            text((bar(intent.relevance), "blue"), f" {intent.relevance:.2f}"),
            f"{intent.ndcg:.2f}",
            f"{intent.hits:.1f}",
        )
        for kind, intent in health.by_intent.items()
    ]
    if rows:
        yield table(("intent", "recalls", "weak", "best relevance", "order", "hits"), rows)
    for kind in health.reranked:
        yield text(("reranked ", "dim"), line(kind))
    for warning in health.warnings:
        yield text((f"✗ {line(warning)}", "yellow"))


def _bars(group: Mapping[str, int]) -> Table:
    ordered = sorted(group.items(), key=lambda pair: -pair[1])
    shown, rest = ordered[:CATEGORIES_SHOWN], ordered[CATEGORIES_SHOWN:]
    most = ordered[0][1] or 1
    lines = [
        (f"  {line(name)}", text((bar(count / most, 10), "blue")), f"{count:,}") for name, count in shown
    ]
    if rest:
        lines.append((f"  {len(rest)} more", text(""), f"{sum(count for _, count in rest):,}"))
    return table(("", "", ""), lines)


def size(count: float) -> str:
    """Bytes as a person reads them.

    >>> size(512), size(1536), size(5 * 1024**2)
    ('512 B', '1.5 KB', '5.0 MB')
    """
    for unit in ("B", "KB", "MB"):
        if count < _KIBI:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= _KIBI
    return f"{count:.1f} GB"


@command("doctor")
@click.option("--repair", is_flag=True, help="Mend what can be rebuilt; save what can be read of damage.")
@click.option("--deep", is_flag=True, help="Also open every backup and look at all of it.")
@pass_run
def doctor(run: CommandRun, *, repair: bool, deep: bool) -> None:
    """Look for damage, and with --repair mend it.

    The exit code is 1 when something is not as it should be; the advice says what to do.
    """
    findings = _examine_all(run, repair=repair, deep=deep)
    healthy = all(finding.ok for finding in findings)
    lines = [row for finding in findings if not (run.quiet and finding.ok) for row in _finding(finding)]
    well = [text(("all is well", "bold green"))] if healthy and not run.quiet else []
    tell(run, {"ok": healthy, "findings": findings}, *lines, *well)
    if not healthy:
        raise click.exceptions.Exit(NOT_FOUND)


def _examine_all(run: CommandRun, *, repair: bool, deep: bool) -> list[Finding]:
    """What the doctor finds; in a folder file by file, and of those that are well only how many they are."""
    from engram.folder import found_in_files
    from engram.opening import file_of_namespace, is_folder, namespaces_in, place, salvage

    where = place(run.file)
    if is_folder(where) and not run.namespace:
        by_namespace = {}
        for name in namespaces_in(where):
            of_namespace = replace(run, file=str(file_of_namespace(where, name)), namespace=name)
            by_namespace[name] = _examine_all(of_namespace, repair=repair, deep=deep)
        return found_in_files(by_namespace)
    findings = _examine(run, repair=repair, deep=deep)
    if repair and any(finding.name == PAGES and not finding.ok for finding in findings):
        report = salvage(run.one_file, run.config)
        say(run, *(() if run.json or run.quiet else salvage_lines(report)))
        findings = _examine(run, repair=repair, deep=deep)
    return findings


def _examine(run: CommandRun, *, repair: bool, deep: bool) -> list[Finding]:
    """What the doctor finds; that a file is too damaged to be opened is a finding as well."""
    try:
        with run.open(whole_file=True) as memory:
            findings = list(memory.doctor(repair=repair))
            return [*findings, *memory.backups.check()] if deep else findings
    except (StoreCorrupt, KeyNeeded) as error:
        locked = isinstance(error, KeyNeeded) and not error.wrong
        advice = f"{'if it is no vault, ' if locked else ''}`engram doctor --repair` saves what can be read"
        return [Finding(PAGES, ok=False, detail=error.message, advice=advice)]


def salvage_lines(report: SalvageReport) -> Iterator[RenderableType]:
    """What could be saved and what could not."""
    yield done("saved", f"{report.rows:,} rows; the file as it was is now {report.kept}")
    for part in report.damaged:
        came = f", {part.from_backup:,} of them from a backup" if part.from_backup else ""
        yield f"  {part.name}: {counted(part.damaged_pages, 'damaged place')}, {part.rows:,} rows{came}"
    if report.lost_count:
        yield text((f"  lost: {counted(report.lost_count, 'memory', 'memories')}", "bold red"))
        yield from (f"    {memory_id}" for memory_id in report.lost)


def _finding(finding: Finding) -> Iterator[Text]:
    mark = ("✓", "green") if finding.ok else ("✗", "bold red")
    yield text(
        mark, f" {line(finding.name)}", (f" · {line(finding.detail)}" if finding.detail else "", "dim")
    )
    if finding.advice:
        yield text((f"  → {line(finding.advice)}", "yellow"))


QUICK = "--quick=false|Do not write the whole file anew: tidy the index, empty the log."


@presented("vacuum", Spelling("maintenance.vacuum", flags={"full": QUICK}))
def vacuum(run: CommandRun, freed: int) -> None:
    """Give freed space back."""
    tell(run, freed, done("freed", size(freed)), quiet=[str(freed)])


def _reembedded(memory: Engram, progress: Progress | None = None) -> dict[str, int]:
    return {"embedded": memory.reembed(progress=progress), "pending": memory.stats().pending}


@presented("reembed", Spelling(variant("maintenance.reembed", _reembedded, gives="")))
def reembed(run: CommandRun, counts: dict[str, int]) -> None:
    """Make the vectors that are still missing.

    After a change of model, or when the embedder was down. It may be stopped and started again.
    """
    count, waiting = counts["embedded"], counts["pending"]
    rest = f" · {counted(waiting, 'memory waits', 'memories wait')} still" if waiting else ""
    message = text(("embedded", "bold green"), f" {counted(count, 'memory', 'memories')}", (rest, "yellow"))
    tell(run, counts, message, quiet=[str(count)])
