"""Moving memories: `import` reads JSON Lines, `export` writes them; what one writes the other reads."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import click

from engram.cli.exits import BAD_INPUT
from engram.cli.options import Run, command, pass_run
from engram.cli.output import counted, say, say_json, text
from engram.cli.progress import Steps, steps
from engram.cli.values import decoded
from engram.errors import BadImport, EngramError, InvalidInput
from engram.model.axes import Status
from engram.model.draft import Draft
from engram.model.plain import draft_from, plain
from engram.model.receipt import Outcome, Receipt, Refusal

if TYPE_CHECKING:
    from engram.engine import Engram

CHUNK = 500
"""Lines remembered together: large enough to be quick, small enough that a break loses little."""
REFUSALS_SHOWN = 20


@dataclass
class Report:
    """What became of the lines so far."""

    counts: Counter[str] = field(default_factory=Counter)
    refused: list[dict[str, Any]] = field(default_factory=list)
    skipped: int = 0
    dry: bool = False

    def refuse(self, number: int, error: EngramError) -> None:
        """Note a line that was not taken."""
        self.refused.append({"line": number, "code": error.code, "message": error.message})

    @property
    def taken(self) -> int:
        """How many lines were remembered, or would be."""
        return self.counts.total()

    def as_json(self) -> dict[str, Any]:
        """The report as one object."""
        names = ("valid",) if self.dry else tuple(str(outcome) for outcome in Outcome)
        counts = {name: self.counts[name] for name in names}
        return {"dry_run": self.dry, **counts, "skipped": self.skipped, "refused": self.refused}


@command("import")
@click.argument("file", type=click.File("rb"))
@click.option("--dry-run", is_flag=True, help="Read and check every line, remember none.")
@pass_run
def import_lines(run: Run, file: IO[bytes], dry_run: bool) -> None:
    """Remember every line of a JSON Lines file.

    Each line is an object with at least `content`; `-` reads stdin. What is known already is reinforced, not
    stored twice. Lines whose status is not active are skipped. With --project … every line goes there.
    """
    report = Report(dry=dry_run)
    drafts = _drafts(run, file, report)
    if dry_run:
        report.counts["valid"] = sum(1 for _ in drafts)
    else:
        with run.open(whole_file=True) as memory, steps(run, "importing") as counting:
            _remember(memory, drafts, report, counting)
    _say_report(run, report)
    if report.refused and not report.taken:
        raise click.exceptions.Exit(BAD_INPUT)


def _drafts(run: Run, file: IO[bytes], report: Report) -> Iterator[tuple[int, Draft]]:
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
        except InvalidInput as error:
            report.refuse(number, error)
            continue
        yield number, replace(draft, scope=run.scope) if run.is_scoped else draft


def _record(number: int, raw: bytes) -> Mapping[str, Any]:
    try:
        record = json.loads(decoded(raw, f"line {number}"))
    except (ValueError, RecursionError) as error:
        raise BadImport(number, f"it is no JSON ({error}).") from error
    if not isinstance(record, dict):
        raise BadImport(number, "it is no object with a content.")
    return record


def _remember(memory: Engram, drafts: Iterable[tuple[int, Draft]], report: Report, counting: Steps) -> None:
    lines = iter(drafts)
    while chunk := list(islice(lines, CHUNK)):
        answers = memory.remember_many([draft for _, draft in chunk], partial=True)
        for (number, _), answer in zip(chunk, answers, strict=True):
            match answer:
                case Receipt(outcome=outcome):
                    report.counts[str(outcome)] += 1
                case Refusal(error=error):
                    report.refuse(number, error)
        counting.add(len(chunk))


def _say_report(run: Run, report: Report) -> None:
    if run.json:
        say_json(report.as_json())
        return
    for one in report.refused[:REFUSALS_SHOWN]:
        click.echo(f"line {one['line']}: error {one['code']}: {one['message']}", err=True)
    if len(report.refused) > REFUSALS_SHOWN:
        click.echo(f"and {len(report.refused) - REFUSALS_SHOWN:,} more: --json lists them all", err=True)
    if not run.quiet:
        told = [f"{count:,} {name}" for name, count in report.counts.items() if count]
        told += [f"{report.skipped:,} skipped (not active)"] if report.skipped else []
        told += [f"{len(report.refused):,} refused"] if report.refused else []
        title = "checked, nothing was stored:" if report.dry else "imported:"
        say(run, text((title, "bold green"), f" {' · '.join(told) or 'no lines'}"))


@command("export")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True), default="-")
@pass_run
def export(run: Run, file: str) -> None:
    """Write every memory as a line of JSON.

    Every status and every namespace; with --project … only what is seen from there. `engram import`
    reads it back.
    """
    with (
        run.open(whole_file=True) as memory,
        click.open_file(file, "w", encoding="utf-8", atomic=file != "-") as out,
        steps(run, "exporting", memory.stats().memories) as counting,
    ):
        for record in memory.export(scope=run.scope if run.is_scoped else None):
            out.write(json.dumps(plain(record), ensure_ascii=False) + "\n")
            counting.add(1)
    if file != "-" and not run.quiet:
        _say_exported(run, counting.done, file)


def _say_exported(run: Run, count: int, file: str) -> None:
    if run.json:
        say_json({"exported": count, "file": file})
    elif sys.stdout.isatty() or not run.json:
        say(run, text(("exported", "bold green"), f" {counted(count, 'memory', 'memories')} to {file}"))
