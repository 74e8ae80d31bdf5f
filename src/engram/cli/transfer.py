"""Moving memories: `import`, `export`, and `workspace`, which keeps a folder of files in step."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

import click

from engram.cli.options import (
    CommandRun,
    Group,
    KeyValue,
    check_target,
    command,
    decoded,
    force_option,
    pass_run,
)
from engram.cli.output import BAD_INPUT, ProgressSteps, counted, done, steps, table, tell, text
from engram.errors import BadImport, EngramError, InvalidInput
from engram.lazily import dataclass
from engram.model.capture import Draft, Outcome, Refusal
from engram.model.memory import Status
from engram.model.plain import draft_from, plain
from engram.rules.screen import screen
from engram.workspace.layouts import LAYOUTS, LEDGER

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engram.api.workspace_reading import SyncConflict, SyncReport
    from engram.engine import Engram


BOTH = "both"
SYSTEMS = (
    "ledger", "files", "engram-rs", "retention", "engram", "mem0", "zep", "hindsight", "letta",
    "mcp-memory", "basic-memory", "chatgpt", "claude", "csv", "jsonl",
)  # fmt: skip
"""As `engram.api.moving` knows them; a test compares. Loading them here would cost every export."""
CHUNK = 500
"""Lines remembered together: large enough to be quick, small enough that a break loses little."""
REFUSALS_SHOWN = 20
DRAWN_BY_ENGINE = "engine"
"""Relations of this origin come back by themselves: the engine draws them anew from what it reads."""

Line = tuple[int, Mapping[str, Any], Draft]
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


@dataclass
class ImportReport:
    """What became of the lines so far."""

    dry: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    refused: list[dict[str, Any]] = field(default_factory=list)
    skipped: int = 0
    related: int = 0

    def refuse(self, number: int, error: EngramError) -> None:
        """Note a line that was not taken."""
        self.refused.append({"line": number, "code": error.code, "message": error.message})


@command("import")
@click.argument("path", metavar="PATH", type=click.Path(exists=True, allow_dash=True))
@click.option(
    "--from", "system", type=click.Choice(SYSTEMS), help="The system it comes from, if not found out."
)
@click.option("--map", "mapping", type=KeyValue(), multiple=True, help="Which column is what: content=note.")
@click.option("--dry-run", is_flag=True, help="Read and check every line, remember none.")
@click.option("--as-it-was", is_flag=True, help="Keep ids, times and counts; known ids are left as they are.")
@pass_run
def import_lines(
    run: CommandRun,
    path: str,
    system: str | None,
    mapping: Sequence[tuple[str, str]],
    dry_run: bool,
    as_it_was: bool,
) -> None:
    """Bring in what another system kept, or every line of a JSON Lines file.

    A folder, a database or an export of another system comes in as it was there, and `engram undo RUN` takes
    it back as a whole. Of other JSON Lines each line is remembered: an object with at least `content`; `-`
    reads stdin. What is known already is reinforced. With --project … everything goes there.
    """
    plain_lines = as_it_was or path == "-"
    known_system = system or ("" if plain_lines else _system_at(Path(path), dict(mapping)))
    if known_system:
        _import_from(run, Path(path), known_system, dict(mapping), dry=dry_run)
        return
    with click.open_file(path, "rb") as source:
        _import_lines(run, source, dry_run=dry_run, as_it_was=as_it_was)


def _system_at(path: Path, mapping: Mapping[str, str]) -> str:
    """The system that a path comes from; empty for plain JSON Lines."""
    from engram.api.moving import system_at

    try:
        return system_at(path, mapping)
    except (InvalidInput, OSError):
        if path.is_dir():
            raise
        return ""


def _import_from(run: CommandRun, path: Path, system: str, mapping: Mapping[str, str], *, dry: bool) -> None:
    with run.open(whole_file=True, makes=True) as memory, steps(run, "importing", None) as counting:
        scope = run.named_scope
        report = memory.sources.move_in(
            path,
            system=system,
            mapping=mapping,
            dry=dry,
            scope=scope,
            progress=lambda now, _: counting.reach(now, None),
        )
    value = {"dry_run": dry, "system": report.format, **report.counts, "related": report.related}
    title = f"checked as {report.format}, nothing was stored:" if dry else f"moved in from {report.format}:"
    back = [f"`engram undo {report.run}` takes it back as a whole"] if report.run else []
    message = done(title, _counts_line(report.counts, report.related) or "nothing found")
    tell(run, {**value, "run": report.run, "items": plain(report.items)}, message, *back)
    _leave_if_refused(run, [f"{item.origin}: error {item.code}: {item.reason}" for item in report.refused])


def _import_lines(run: CommandRun, source: IO[bytes], *, dry_run: bool, as_it_was: bool) -> None:
    report = ImportReport(dry=dry_run)
    lines = _read(run, source, report)
    if dry_run:
        report.counts["valid"] = sum(1 for _ in lines)
    elif as_it_was:
        _import_as_it_was(run, source, report)
    else:
        with (
            run.open(whole_file=True, makes=True) as memory,
            steps(run, "importing", _length(source)) as counting,
        ):
            report.related = _relate(memory, *_remember(memory, lines, report, counting))
    report.refused.sort(key=lambda refusal: int(refusal["line"]))  # some on reading, others on remembering
    value: dict[str, Any] = {**report.counts, "refused": report.refused}
    if dry_run or not as_it_was:
        names = ("valid",) if dry_run else tuple(str(outcome) for outcome in Outcome)
        counts = {name: report.counts[name] for name in names}
        rest = {"related": report.related, "skipped": report.skipped, "refused": report.refused}
        value = {"dry_run": dry_run, **counts, **rest}
    more = {"skipped (not active)": report.skipped, "refused": len(report.refused)}
    summary = _counts_line(report.counts, report.related, more)
    title = "checked, nothing was stored:" if dry_run else "imported:"
    tell(run, value, done(title, summary or "no lines"), quiet=())
    _leave_if_refused(
        run, ["line {line}: error {code}: {message}".format(**refusal) for refusal in report.refused]
    )


def _import_as_it_was(run: CommandRun, source: IO[bytes], report: ImportReport) -> None:
    """Take every line in as it was; its number is its place among the lines that are not empty."""
    records = [_record(number, raw) for number, raw in enumerate(source, 1) if raw.strip()]
    with run.open(whole_file=True, makes=True) as memory:
        adopted = memory.adopt(records)
    report.counts["adopted"], report.counts["known"] = len(adopted.taken), len(adopted.known)
    for refusal in adopted.refused:
        report.refuse(refusal.index + 1, refusal.error)


def _length(source: IO[bytes]) -> int | None:
    """How many lines a file has; nobody knows how many a pipe will bring."""
    if not source.seekable():
        return None
    count = sum(1 for raw in source if raw.strip())
    source.seek(0)
    return count


def _read(run: CommandRun, file: IO[bytes], report: ImportReport) -> Iterator[Line]:
    """Every line that can be a memory, with its number; the report hears of the others."""
    for number, raw in enumerate(file, 1):
        if not raw.strip():
            continue
        try:
            record = _record(number, raw)
            if record.get("status") not in (None, Status.ACTIVE.value):
                report.skipped += 1
                continue
            draft = draft_from(record)
            if report.dry:
                screen(draft)
        except InvalidInput as error:
            report.refuse(number, error)
            continue
        yield number, record, replace(draft, scope=run.scope) if run.is_scoped else draft


def _record(number: int, raw: bytes) -> Mapping[str, Any]:
    try:
        record = json.loads(decoded(raw, f"line {number}"))
    except (ValueError, RecursionError) as error:
        raise BadImport(number, f"it is no JSON ({error}).") from error
    if not isinstance(record, dict):
        raise BadImport(number, "it is no object with a content.")
    return record


def _remember(
    memory: Engram, lines: Iterable[Line], report: ImportReport, counting: ProgressSteps
) -> tuple[dict[str, str], list[Mapping[str, Any]]]:
    """Remember the lines; what their ids became, and the relations that people drew between them."""
    ids: dict[str, str] = {}
    edges: list[Mapping[str, Any]] = []
    waiting = iter(lines)
    while chunk := list(islice(waiting, CHUNK)):
        answers = memory.remember_many([draft for _, _, draft in chunk], partial=True)
        for (number, record, _), answer in zip(chunk, answers, strict=True):
            if isinstance(answer, Refusal):
                report.refuse(number, answer.error)
            else:
                report.counts[str(answer.outcome)] += 1
                if isinstance(record.get("id"), str):
                    ids[record["id"]] = answer.memory.id
                edges += _edges(record)
        counting.add(len(chunk))
    return ids, edges


def _relate(memory: Engram, ids: Mapping[str, str], edges: Iterable[Mapping[str, Any]]) -> int:
    """Draw the relations again; one whose other end did not come, or that closes a circle, is left out."""
    drawn = 0
    for edge in edges:
        source, target = ids.get(str(edge["source"])), ids.get(str(edge.get("target")))
        if source and target and source != target:
            weights = {name: edge[name] for name in ("weight", "confidence") if name in edge}
            try:
                memory.relate(source, target, str(edge.get("type")), **weights)
            except InvalidInput:
                continue
            drawn += 1
    return drawn


def _edges(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    edges = record.get("edges")
    for edge in edges if isinstance(edges, list) else ():
        # Both ends of a relation carry it in their line; it is drawn once.
        ours = isinstance(edge, dict) and "source" in edge and edge["source"] == record.get("id")
        if ours and edge.get("origin") != DRAWN_BY_ENGINE:
            yield edge


def _counts_line(counts: Mapping[str, int], related: int, more: Mapping[str, int] = NO_COUNTS) -> str:
    """How many lines came to what, and how many relations were drawn; what did not happen is left out."""
    relations = {"relation" if related == 1 else "relations": related}
    pairs = (*counts.items(), *relations.items(), *more.items())
    return " · ".join(f"{count:,} {name}" for name, count in pairs if count)


def _leave_if_refused(run: CommandRun, refusals: Sequence[str]) -> None:
    """Tell a person what was not taken, and end with the exit code of bad input."""
    if not refusals:
        return
    if not run.json:
        for refusal in refusals[:REFUSALS_SHOWN]:
            click.echo(refusal, err=True)
        if len(refusals) > REFUSALS_SHOWN:
            click.echo(f"and {len(refusals) - REFUSALS_SHOWN:,} more: --json lists them all", err=True)
    raise click.exceptions.Exit(BAD_INPUT)


@command("export")
@click.argument("target", metavar="[FILE]", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@force_option
@pass_run
def export(run: CommandRun, target: str, force: bool) -> None:
    """Write every memory as a line of JSON.

    Oldest first, in every status and every namespace; with --project … only what is seen from there.
    `engram import` reads it back. A file that is there already is not written over.
    """
    check_target(target, force=force)
    with run.open(whole_file=True) as memory, steps(run, "exporting", memory.stats().memories) as counting:
        records = memory.export(scope=run.named_scope)
        with click.open_file(target, "w", encoding="utf-8", atomic=target != "-") as out:
            for line in _oldest_first(json.dumps(plain(record), ensure_ascii=False) for record in records):
                out.write(f"{line}\n")
                counting.add(1)
    if target != "-" and not run.quiet:
        message = done("exported", f"{counted(counting.done, 'memory', 'memories')} to {target}")
        tell(run, {"exported": counting.done, "file": target}, message)


def _oldest_first(newest_first: Iterable[str]) -> Iterator[str]:
    """The lines in reverse, by way of a temporary file: an import must meet a talk in its own order."""
    with tempfile.TemporaryFile() as spool:
        ends = [0]
        for line in newest_first:
            spool.write(line.encode())
            ends.append(spool.tell())
        for start, end in zip(reversed(ends[:-1]), reversed(ends[1:]), strict=True):
            spool.seek(start)
            yield spool.read(end - start).decode()


SHOWN = 20
folder = click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
here = click.argument(
    "directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path)
)


@click.group("workspace", cls=Group, otherwise="list")
def workspace() -> None:
    """Keep a folder of plain files in step with the memory.

    People read, search and edit the files; what they change is read back. What changed on both sides is shown
    in the file and by `engram conflicts`, and nothing is guessed.
    """


@workspace.command("init")
@folder
@click.option("--layout", "layouts", type=click.Choice((*LAYOUTS, BOTH)), multiple=True, default=(LEDGER,),
              show_default=True, help="Which files.")  # fmt: skip
@click.option("--include", type=click.Choice(("sensitive", "confidential")), multiple=True,
              help="Also write such memories to files.")  # fmt: skip
@pass_run
def init(run: CommandRun, directory: Path, layouts: tuple[str, ...], include: tuple[str, ...]) -> None:
    """Make a folder a workspace, or change its layout; files that are there are read."""
    with run.open(whole_file=True, makes=True) as memory:
        wanted = LAYOUTS if BOTH in layouts else layouts
        report = memory.workspace.init(directory, layouts=wanted, include=include, scope=run.named_scope)
    _tell(run, report)


@workspace.command("sync")
@here
@click.option("--full", is_flag=True, help="Compare everything, not only what changed.")
@click.option(
    "--dry-run", "dry", is_flag=True, help="Say what would change in the memory, and change nothing."
)
@click.option("--repair", is_flag=True, help="Mend double ids and damaged lines of the ledger.")
@click.option("--accept-deletions", is_flag=True, help="Forget also when most files are missing at once.")
@pass_run
def sync(
    run: CommandRun, directory: Path, full: bool, dry: bool, repair: bool, accept_deletions: bool
) -> None:
    """Bring files and memory in step."""
    with run.open(whole_file=True) as memory:
        report = memory.workspace.sync(
            directory, full=full, dry=dry, repair=repair, accept_deletions=accept_deletions
        )
    _tell(run, report)


@workspace.command("status")
@here
@pass_run
def status(run: CommandRun, directory: Path) -> None:
    """Show what waits on either side, and what is in conflict."""
    with run.open(whole_file=True) as memory:
        state = memory.workspace.status(directory)
    tell(
        run,
        state,
        text((state.folder, "bold"), f" ({', '.join(state.layouts)})"),
        f"{counted(state.files, 'file')} · {counted(state.memories, 'memory', 'memories')}",
        f"edited in the folder: {len(state.edited):,} · changed in the memory: {state.behind:,}",
        *(f"  {path}" for path in state.edited[:SHOWN]),
        *_conflicts(state.conflicts),
        *(f"  {point.id[:10]} {point.at[:16]} {point.subject}" for point in state.points),
    )


@workspace.command("watch")
@here
@click.option(
    "--every",
    type=click.FloatRange(0.2, 3_600),
    default=1.0,
    show_default=True,
    help="Seconds between looks.",
)
@pass_run
def watch(run: CommandRun, directory: Path, every: float) -> None:
    """Sync whenever something changes, until it is interrupted."""
    with run.open(whole_file=True) as memory:
        for report in memory.workspace.watch(directory, every=every):
            _tell(run, report, leave=False)


@workspace.command("points")
@here
@pass_run
def points(run: CommandRun, directory: Path) -> None:
    """List the commits that `rollback` takes, newest first."""
    with run.open(whole_file=True) as memory:
        commits = memory.workspace.points(directory)
    rows = [(point.id[:10], point.at[:16], point.subject) for point in commits]
    tell(run, commits, table(("point", "when", "what"), rows))


@workspace.command("rollback")
@click.argument("point")
@here
@pass_run
def rollback(run: CommandRun, point: str, directory: Path) -> None:
    """Put files and memory back as they were at a commit; POINT and DIR in either order."""
    if Path(point).is_dir() and not directory.is_dir():
        point, directory = str(directory), Path(point)
    with run.open(whole_file=True) as memory:
        report = memory.workspace.rollback(directory, point)
    _tell(run, report)


@workspace.command("list")
@pass_run
def list_folders(run: CommandRun) -> None:
    """List the folders that are kept in step with this memory."""
    with run.open(whole_file=True) as memory:
        folders = memory.workspace.folders()
    none = "no folder is kept in step: `engram workspace init DIR` begins"
    tell(run, {"folders": folders}, *(folders or [none]))


@workspace.command("leave")
@here
@pass_run
def leave(run: CommandRun, directory: Path) -> None:
    """Keep a folder in step no longer; its files stay."""
    with run.open(whole_file=True) as memory:
        was = memory.workspace.leave(directory)
    tell(run, {"left": was}, "left; its files stay" if was else "it was none")


def _tell(run: CommandRun, report: SyncReport, *, leave: bool = True) -> None:
    parts = {"created": report.created, "updated": report.updated, "forgotten": report.forgotten}
    counts = [f"{len(changed):,} {name}" for name, changed in parts.items() if changed]
    files = {"written": report.written, "removed": report.removed}
    counts += [f"{counted(len(changed), 'file')} {name}" for name, changed in files.items() if changed]
    title = done("would change:" if report.dry else "in step:", " · ".join(counts) or "nothing changed")
    value = {**plain(report), "changes": report.changes}
    tell(run, value, title, *_conflicts(report.conflicts), quiet=())
    for problem in report.problems[:SHOWN]:
        click.echo(problem, err=True)
    if leave and report.problems:
        raise click.exceptions.Exit(BAD_INPUT)


def _conflicts(conflicts: Sequence[SyncConflict]) -> Iterator[RenderableType]:
    for conflict in conflicts[:SHOWN]:
        yield text(("conflict: ", "yellow"), f"{conflict.path}: {conflict.because}")
    if conflicts:
        yield "Choose in the file, or with `engram conflicts`."
