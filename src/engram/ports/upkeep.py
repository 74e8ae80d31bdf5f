"""Upkeep in the store: what may be read about runs, judgements and sketches, and what may be written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engram.model.event import Event
    from engram.model.filters import Filters
    from engram.model.memory import Memory
    from engram.model.scope import Access, Scope
    from engram.model.upkeep import Decided, Judgement, Run, RunKind, RunState, Sketch, Tally


class Upkeep(Protocol):
    """What maintenance reads. It sees the whole file."""

    def slice(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories of all scopes that fit, by key, beginning after a key: a pass in bounded pieces."""
        ...

    def uses(self, keys: Sequence[int], most: int) -> dict[int, list[datetime]]:
        """When each of these memories was used, the latest first, at most so many times each."""
        ...

    def scopes(self) -> list[Scope]:
        """Every place that has memories."""
        ...

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        ...

    def runs(self, limit: int, kind: RunKind | None = None, state: RunState | None = None) -> list[Run]:
        """The last runs, newest first."""
        ...

    def decided(self, run_id: str, after: int, limit: int) -> list[Decided]:
        """What a run decided, in order, beginning after a number."""
        ...

    def tallies(self, run_id: str) -> list[Tally]:
        """What a run has carried out, counted by step and rule, in the order of the steps."""
        ...

    def events(self, run_id: str, limit: int, before: str = "") -> list[Event]:
        """The events of a run, newest first; `before` is an event to go on from."""
        ...

    def judged(self, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
        """Those of the keys about which something was decided."""
        ...

    def judgements(self, kind: str, limit: int, verdict: str = "") -> list[Judgement]:
        """What was decided last under a kind, newest first."""
        ...

    def sketch(self, scope: Scope, kind: str, key: str) -> Sketch | None:
        """One sketch of this very scope."""
        ...

    def sketches(self, kind: str, access: Access, limit: int, prefix: str = "") -> list[Sketch]:
        """Sketches of a kind in the scopes the caller may see, by key."""
        ...


class UpkeepWork(Protocol):
    """What maintenance writes, inside a unit of work."""

    def note(self, run: Run) -> None:
        """Keep a run as it stands."""
        ...

    def decided(self, run_id: str, lines: Sequence[Decided]) -> None:
        """Add decisions to a run's report; they are numbered here."""
        ...

    def judge(self, judgement: Judgement) -> None:
        """Keep a judgement in place of the former one."""
        ...

    def sketch(self, sketch: Sketch) -> None:
        """Keep a sketch in place of the former one."""
        ...

    def unsketch(self, scope: Scope, kind: str, key: str) -> bool:
        """Drop a sketch; whether there was one."""
        ...

    def unsketch_run(self, run_id: str) -> None:
        """Drop the sketches that a run made: the next one makes them anew."""
        ...

    def prune(self, before: datetime) -> int:
        """Drop decisions of finished runs and logs of uses from before a time; how many lines went."""
        ...
