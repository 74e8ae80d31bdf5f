"""A bar for work that takes longer than a second, on stderr, when a person is looking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engram.cli.options import Run
from engram.cli.output import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 1.0
"""Work that is done sooner shows no bar."""


class Steps:
    """Counts what is done; the bar appears once the work has taken a second."""

    def __init__(self, run: Run, label: str, total: int | None) -> None:
        self.done = 0
        self._run, self._label, self._total = run, label, total
        self._started = run.clock.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def add(self, more: int) -> None:
        """So many more are done."""
        self.reach(self.done + more, self._total)

    def reach(self, done: int, total: int | None) -> None:
        """So many are done in all."""
        self.done, self._total = done, total
        if self._bar is None and self._is_watched():
            self._bar = _bar(self._run)
            self._task = self._bar.add_task(self._label, total=total)
            self._bar.start()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _is_watched(self) -> bool:
        late = self._run.clock.monotonic() - self._started >= PATIENCE_S
        return late and not self._run.quiet and sys.stderr.isatty()


@contextmanager
def steps(run: Run, label: str, total: int | None = None) -> Iterator[Steps]:
    """Count steps while the work goes on."""
    counting = Steps(run, label, total)
    try:
        yield counting
    finally:
        counting.stop()


def _bar(run: Run) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console(run, to_stderr=True), transient=True)
