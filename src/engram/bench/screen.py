"""What a person sees: a bar on stderr while it runs, tables on stdout at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from engram.bench.results import Difference

QUALITY = ("recall", "ndcg", "mrr", "n")
"""What the names of quality figures begin with."""
LEAST_TELLING = "recall_all@1"
"""Left out of the table, which is wide enough: no question with two evidence sessions can reach it."""
NUMBER_WIDTH = 5


class Bar:
    """One line of progress; silent when stderr is no terminal. Owned by the command that opened it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def show(self, name: str, done: int, total: int) -> None:
        """How far the step `name` is."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=total)
        self._progress.update(self._tasks[name], completed=done)

    def advance(self, name: str, by: int, total: int) -> None:
        """The step `name` has come further."""
        if name not in self._tasks:
            self.show(name, 0, total)
        self._progress.advance(self._tasks[name], by)


@contextmanager
def bar() -> Iterator[Bar]:
    """A bar that goes away when the work is done."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield Bar(progress)


def show_retrieval(result: Mapping[str, Any], groups_name: str) -> None:
    """The figures of a retrieval benchmark: all questions first, then each group."""
    names = [name for name in result if name.startswith(QUALITY) and name != LEAST_TELLING]
    table = _table("questions", *map(_short, names))
    for label, row in {"all": result, **result[groups_name]}.items():
        table.add_row(label, *(_shown(row[name]) for name in names))
    console = Console()
    console.print(f"{result['benchmark']} · {result['embedder']}", highlight=False)
    console.print(table)
    for line in _notes(result):
        console.print(line, highlight=False)


def show_speed(result: Mapping[str, Any]) -> None:
    """The figures of the speed benchmark, a column for each size."""
    sizes: Mapping[str, Mapping[str, Any]] = result["sizes"]
    table = _table("memories", *(f"{int(size):,}" for size in sizes))
    rows = {size: dict(flat(figures)) for size, figures in sizes.items()}
    for name in dict.fromkeys(name for row in rows.values() for name in row):
        table.add_row(name, *(_shown(row.get(name)) for row in rows.values()))
    console = Console()
    console.print(f"{result['benchmark']} · {result['embedder']}", highlight=False)
    console.print(table)
    console.print(f"recall p50 grows with size^{_shown(result['exponent'])} at the end", highlight=False)


def show_differences(
    names: Sequence[str], differences: Sequence[Difference], settings: Mapping[str, tuple[Any, Any]]
) -> None:
    """Two results side by side."""
    table = _table("figure", *names, "change")
    for setting, (one, other) in settings.items():
        table.add_row(setting, str(one), str(other), "", style="dim")
    for difference in differences:
        change = "" if difference.change is None else f"{difference.change:+.4g}"
        table.add_row(difference.name, _shown(difference.first), _shown(difference.second), _coloured(change))
    Console().print(table)


def flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a tree under dotted names.

    >>> dict(flat({"recall_ms": {"p50": 3}, "n": 1}))
    {'recall_ms.p50': 3, 'n': 1}
    """
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first)
    for name in others:  # on a narrow screen only the first column gives way
        table.add_column(name, justify="right", no_wrap=True, min_width=max(len(name), NUMBER_WIDTH))
    return table


def _short(name: str) -> str:
    """A figure's name, short enough for many columns.

    >>> _short("recall@10"), _short("recall_any@5"), _short("mrr")
    ('R@10', 'any@5', 'mrr')
    """
    return name.replace("recall_", "").replace("recall", "R")


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    latency, told = result["latency_ms"], result["answerability"]
    yield f"recall: p50 {latency['p50']} ms, p95 {latency['p95']} ms · {result['writes_per_s']:,.0f} writes/s"
    yield "written: " + ", ".join(f"{count:,} {name}" for name, count in result["outcomes"].items())
    yield f"questions left out: {result['left_out']}"
    for name in ("answerable", "unanswerable"):
        if told[name]["n"]:
            yield f"{name}: {told[name]['empty_at_floor']} of {told[name]['n']} come back empty at the floor"
    if told["auroc"] is not None:
        yield f"answerability AUROC: {told['auroc']}"


def _coloured(change: str) -> str:
    return f"[dim]{change}[/dim]" if change in {"", "+0"} else f"[bold]{change}[/bold]"


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,.3f}" if isinstance(value, float) and abs(value) < 1 else f"{value:,}"
