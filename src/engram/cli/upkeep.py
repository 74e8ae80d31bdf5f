"""Looking after the file: `stats`, `doctor`, `reembed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.options import Run, command, pass_run
from engram.cli.output import bar, counted, line, say, say_json, table, text
from engram.cli.progress import steps
from engram.model.advice import Spent
from engram.model.health import RecallHealth
from engram.model.pages import Finding, Stats
from engram.model.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

CATEGORIES_SHOWN = 12
_KIBI = 1024


@command("stats")
@click.option(
    "--recall", "of_recalls", is_flag=True, help="Tell how the last recalls have been going instead."
)
@click.option("--models", "of_models", is_flag=True, help="Tell what calls to models have cost instead.")
@click.option("--daily", is_flag=True, help="With --models: day by day.")
@click.option("--forget-models", is_flag=True, help="Forget what calls to models have cost.")
@pass_run
def stats(run: Run, *, of_recalls: bool, of_models: bool, daily: bool, forget_models: bool) -> None:
    """Count what is kept.

    The whole file; with --namespace, --project … only what is seen from there.
    """
    with run.open(whole_file=True) as memory:
        counts, path, health = memory.stats(), memory.path, memory.recall_health()
        spent = memory.spending(daily=daily) if of_models else []
        forgotten = memory.forget_spending() if forget_models else 0
    if forget_models:
        told = f"{counted(forgotten, 'call')} forgotten"
        say_json({"forgotten": forgotten}) if run.json else say(run, told)
        return
    if of_models:
        say_json({"spending": spent}) if run.json else say(run, *_spent(spent))
    elif of_recalls:
        say_json(health) if run.json else say(run, *_recalls(health))
    elif run.json:
        say_json({"file": path, **plain(counts)})
    elif run.quiet:
        say(run, str(counts.memories))
    else:
        say(run, *_stats(counts, path))


def _spent(spent: Sequence[Spent]) -> Iterator[RenderableType]:
    if not spent:
        yield text("no model was asked in the last 30 days")
        return
    daily = any(one.day for one in spent)
    lines = [
        (
            *((one.day,) if daily else ()),
            one.component,
            one.model,
            f"{one.calls:,}",
            f"{one.failed:,}",
            f"{one.prompt_tokens + one.answer_tokens:,}",
            f"{one.cost:.4f}",
        )
        for one in spent
    ]
    yield table(
        (*(("day",) if daily else ()), "component", "model", "calls", "failed", "tokens", "US$"), lines
    )


def _stats(counts: Stats, path: str) -> Iterator[RenderableType]:
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


def _recalls(health: RecallHealth) -> Iterator[RenderableType]:
    """How the last recalls have been going, kind by kind."""
    overall = health.overall
    weak = counted(overall.weak, "weak one", "weak ones")
    times = f"half within {health.p50_ms:.1f} ms, 95 % within {health.p95_ms:.1f} ms"
    yield text((counted(overall.recalls, "recall"), "bold"), f" · {weak} · {times}")
    rows = [
        (
            line(kind),
            f"{one.recalls:,}",
            f"{one.weak:,}",
            text((bar(one.relevance), "blue"), f" {one.relevance:.2f}"),
            f"{one.ndcg:.2f}",
            f"{one.hits:.1f}",
        )
        for kind, one in health.by_intent.items()
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
@click.option("--repair", is_flag=True, help="Mend what can be rebuilt from the records.")
@pass_run
def doctor(run: Run, *, repair: bool) -> None:
    """Look for damage, and with --repair mend it.

    The exit code is 1 when something is not as it should be; the advice says what to do.
    """
    with run.open(whole_file=True) as memory:
        findings = memory.doctor(repair=repair)
    healthy = all(finding.ok for finding in findings)
    if run.json:
        say_json({"ok": healthy, "findings": findings})
    elif not (run.quiet and healthy):
        for finding in findings:
            if not (run.quiet and finding.ok):
                say(run, *_finding(finding))
        if healthy:
            say(run, text(("all is well", "bold green")))
    if not healthy:
        raise click.exceptions.Exit(NOT_FOUND)


def _finding(finding: Finding) -> list[Text]:
    mark = ("✓", "green") if finding.ok else ("✗", "bold red")
    told = [
        text(mark, f" {line(finding.name)}", (f" · {line(finding.detail)}" if finding.detail else "", "dim"))
    ]
    if finding.advice:
        told.append(text((f"  → {line(finding.advice)}", "yellow")))
    return told


@command("vacuum")
@click.option(
    "--quick", is_flag=True, help="Do not write the whole file anew: tidy the index, empty the log."
)
@pass_run
def vacuum(run: Run, *, quick: bool) -> None:
    """Give freed space back."""
    with run.open(whole_file=True) as memory:
        freed = memory.vacuum(full=not quick)
    if run.json:
        say_json({"freed_bytes": freed})
    else:
        say(run, str(freed) if run.quiet else text(("freed", "bold green"), f" {size(freed)}"))


@command("reembed")
@pass_run
def reembed(run: Run) -> None:
    """Make the vectors that are still missing.

    After a change of model, or when the embedder was down. It may be stopped and started again.
    """
    with run.open(whole_file=True) as memory, steps(run, "embedding") as counting:
        made = memory.reembed(progress=counting.reach)
        waiting = memory.stats().pending
    if run.json:
        say_json({"embedded": made, "pending": waiting})
    elif run.quiet:
        say(run, str(made))
    else:
        rest = f" · {counted(waiting, 'memory waits', 'memories wait')} still" if waiting else ""
        say(
            run, text(("embedded", "bold green"), f" {counted(made, 'memory', 'memories')}", (rest, "yellow"))
        )
