"""`engram ingest …`: files, code, texts and results go in; what became of each item comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engram.cli.made import Spelling, presented
from engram.cli.options import CommandRun, Group, pass_run, split, text_or_stdin
from engram.cli.output import BAD_INPUT, counted, done, line, short, steps, table, tell, text
from engram.errors import InvalidInput
from engram.model.capture import Fate, IngestReport, ItemReport

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from engram.api.sources import Sources

FORMATS = ("auto", "markdown", "text", "chatgpt", "claude", "messages", "engram", "mem0", "graph")
ROWS = 40
"""Items that are listed for a person; --all lists every one, --json too."""
STYLES = {
    Fate.STORED: "green", Fate.SUPERSEDED: "magenta", Fate.CHALLENGED: "yellow", Fate.UPDATED: "magenta",
    Fate.REINFORCED: "blue", Fate.MERGED: "blue", Fate.REMOVED: "yellow", Fate.OBSERVED: "green",
    Fate.REFUSED: "red", Fate.DROPPED: "dim", Fate.UNCHANGED: "dim",
}  # fmt: skip
QUIETLY = frozenset({Fate.UNCHANGED, Fate.DROPPED})
"""What a person need not read item by item."""

dry_option = click.option("--dry-run", "dry", is_flag=True, help="Say what would be done, and do nothing.")
all_option = click.option("--all", "everything", is_flag=True, help="List every item, also the unchanged.")
tag_option = click.option(
    "--tag", "-t", "tags", multiple=True, metavar="TAG", help="Mark every memory with it."
)


@click.group("ingest", cls=Group, otherwise="file")
def ingest() -> None:
    """Take in documents, chats, code and results.

    What is taken in again is compared with the last time: what is unchanged costs nothing, what changed is
    changed, and what is gone from a document or a source tree is archived. `engram ingest PATH` is `file`.
    """


@ingest.command("file")
@click.argument(
    "paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--format",
    "format_",
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"What it is: {', '.join(FORMATS[1:])}, or what an extension reads.",
)
@tag_option
@dry_option
@all_option
@pass_run
def ingest_file(
    run: CommandRun, paths: tuple[Path, ...], format_: str, tags: tuple[str, ...], dry: bool, everything: bool
) -> None:
    """Documents, chat exports, memories of other tools.

    Read are Markdown and plain text; the exports of ChatGPT and Claude, also packed; messages as models take
    them; what this engine and other systems export, as `import` takes it. Of a folder every document is read.
    """

    def take(sources: Sources, progress: Callable[[int, int], None]) -> IngestReport:
        report = IngestReport(dry=dry)
        more: dict[str, Any] = {"format": format_, "dry": dry, "scope": run.named_scope, "tags": split(tags)}
        for path in paths:
            try:
                report += sources.file(path, progress=progress, **more)
            except InvalidInput as error:
                if len(paths) == 1:
                    raise
                fault = ItemReport(f"file:{path}", Fate.REFUSED, (), error.message, error.code)
                report += IngestReport((fault,), dry)
        return report

    _run(run, take, everything=everything)


@ingest.command("code")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@tag_option
@dry_option
@all_option
@pass_run
def ingest_code(run: CommandRun, folder: Path, tags: tuple[str, ...], dry: bool, everything: bool) -> None:
    """A source tree: what each file and each public symbol is for.

    What .gitignore leaves out is left out. Run it again after a change: only what changed is written.
    """
    _run(
        run,
        lambda sources, progress: sources.code(
            folder, dry=dry, scope=run.named_scope, tags=split(tags), progress=progress
        ),
        everything=everything,
    )


def _result(
    name: str, places: str, help_: str, prepare: Callable[..., dict[str, Any]] | None = None, **flags: str
) -> None:
    """A command that takes in words, from the arguments or from stdin."""

    @all_option
    def show(run: CommandRun, report: IngestReport, *, everything: bool) -> None:
        _tell(run, report, everything=everything)

    show.__doc__ = help_
    spelling = Spelling(f"sources.{name}", places, flags={"dry": "--dry-run", **flags})
    ingest.add_command(presented(name, spelling, with_json=True, prepare=prepare)(show)())


def _flow(_: CommandRun, given: dict[str, Any]) -> dict[str, Any]:
    """A flow of which no step is named has a result."""
    named = given.get("steps") or "result" in given
    return given if named else given | {"result": text_or_stdin((), "result")}


def _findings(_: CommandRun, given: dict[str, Any]) -> dict[str, Any]:
    """A paragraph is a finding."""
    words = text_or_stdin(given.get("findings", ()), "findings")
    return given | {"findings": [finding.strip() for finding in words.split("\n\n") if finding.strip()]}


_result("text", "text+", "A text in Markdown, from the arguments or from stdin.")
_result("summary", "text+", "The summary of a session.")
_result("task", "name result+", "What a task came to.")
_result("flow", "name result*", "What a flow of several steps came to.", _flow, steps="--step")
_result(
    "research", "findings*", "What a search found; from stdin, a paragraph is a finding.", _findings,
    query="--query", urls="--url",
)  # fmt: skip


def _run(
    run: CommandRun, take: Callable[[Sources, Callable[[int, int], None]], IngestReport], *, everything: bool
) -> None:
    with run.open(makes=True) as memory, steps(run, "ingesting") as counting:
        report = take(memory.sources, counting.reach)
    _tell(run, report, everything=everything)


def _tell(run: CommandRun, report: IngestReport, *, everything: bool) -> None:
    value = {"dry_run": report.dry, "format": report.format, "counts": report.counts, "items": report.items}
    ids = dict.fromkeys(memory_id for item in report.items for memory_id in item.memories)
    tell(run, value, *_lines(report, everything=everything), quiet=ids)
    if report.refused:
        raise click.exceptions.Exit(BAD_INPUT)


def _lines(report: IngestReport, *, everything: bool) -> Iterator[RenderableType]:
    shown = [item for item in report.items if everything or item.outcome not in QUIETLY]
    if all(item.outcome is Fate.DROPPED for item in report.items):
        shown = list(report.items)  # why nothing came of it
    most = len(shown) if everything else ROWS
    if shown:
        yield table(("outcome", "memory", "item"), [_row(item) for item in shown[:most]])
    if len(shown) > most:
        yield text((f"and {counted(len(shown) - most, 'more item')}: --all lists them", "dim"))
    words = " · ".join(f"{count:,} {name}" for name, count in report.counts.items())
    title = "would be taken in, nothing was changed:" if report.dry else "taken in:"
    yield done(title, words or "nothing")


def _row(item: ItemReport) -> tuple[Text, str, Text]:
    ids = short(item.memories[0]) + ("…" if len(item.memories) > 1 else "") if item.memories else ""
    reason = (
        item.reason if item.outcome in (Fate.REFUSED, Fate.DROPPED, Fate.REMOVED, Fate.SUPERSEDED) else ""
    )
    why = [(f" · {line(reason)}", "dim")] if reason else []
    return text((str(item.outcome), STYLES[item.outcome])), ids, text(line(item.text or item.origin), *why)
