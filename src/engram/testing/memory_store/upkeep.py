"""Runs, judgements and sketches over tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import dropwhile, islice

from engram.model.event import Event
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Scope
from engram.model.upkeep import (
    Carried,
    Decided,
    Judgement,
    Run,
    RunKind,
    RunState,
    Sketch,
    Tally,
)
from engram.ports import View
from engram.testing.memory_store.filtering import allows
from engram.testing.memory_store.tables import Tables


class MemoryUpkeep:
    """`Upkeep` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def slice(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories that fit, by key."""
        tables, view = self._tables(), View(Access.everything(), filters)
        found = (
            (key, one) for key, one in tables.records.items() if key > after and allows(tables, view, one)
        )
        return list(islice(found, limit))

    def uses(self, keys: Sequence[int], most: int) -> dict[int, list[datetime]]:
        """When each was used, the latest first."""
        found: dict[int, list[datetime]] = {}
        for key, at in reversed(self._tables().uses.values()):
            if key in keys and len(found.setdefault(key, [])) < most:
                found[key].append(at)
        return found

    def scopes(self) -> list[Scope]:
        """Every place that has memories."""
        used = {memory.scope for memory in self._tables().records.values()}
        return [scope for scope in self._tables().scopes if scope in used]

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        return self._tables().runs.get(run_id)

    def runs(self, limit: int, kind: RunKind | None = None, state: RunState | None = None) -> list[Run]:
        """The last runs, newest first."""
        runs = self._tables().runs.values()
        kept = [run for run in runs if kind in (None, run.kind) and state in (None, run.state)]
        return sorted(kept, key=lambda run: (run.started_at, run.id), reverse=True)[:limit]

    def decided(self, run_id: str, after: int, limit: int) -> list[Decided]:
        """What a run decided, in order."""
        lines = self._tables().decisions.values()
        return list(islice((line for run, line in lines if run == run_id and line.number > after), limit))

    def tallies(self, run_id: str) -> list[Tally]:
        """Counted by step and rule."""
        counts: dict[tuple[str, str], int] = {}
        for run, line in self._tables().decisions.values():
            if run == run_id and line.outcome is Carried.DONE:
                counts[line.step, line.rule] = counts.get((line.step, line.rule), 0) + 1
        return [Tally(*what, count) for what, count in counts.items()]

    def events(self, run_id: str, limit: int, before: str = "") -> list[Event]:
        """The events of a run, newest first."""
        newest: Iterable[Event] = reversed(self._tables().events.values())
        if before:
            newest = islice(dropwhile(lambda event: event.id != before, newest), 1, None)
        return list(islice((event for event in newest if run_id and event.run == run_id), limit))

    def judged(self, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
        """Those that were judged."""
        kept = self._tables().judgements
        return {key: kept[kind, key] for key in keys if (kind, key) in kept}

    def judgements(self, kind: str, limit: int, verdict: str = "") -> list[Judgement]:
        """What was decided last, newest first."""
        kept = [one for one in self._tables().judgements.values() if one.kind == kind]
        wanted = [one for one in kept if verdict in ("", one.verdict)]
        return sorted(wanted, key=lambda one: (-one.at.timestamp(), one.key))[:limit]

    def sketch(self, scope: Scope, kind: str, key: str) -> Sketch | None:
        """One sketch."""
        return self._tables().sketches.get((kind, scope, key))

    def sketches(self, kind: str, access: Access, limit: int, prefix: str = "") -> list[Sketch]:
        """Sketches of a kind the caller may see, by key."""
        kept = [one for one in self._tables().sketches.values() if one.kind == kind]
        seen = [one for one in kept if one.key.startswith(prefix) and access.may_read(one.scope)]
        return sorted(seen, key=lambda one: one.key)[:limit]


class MemoryUpkeepWork:
    """`UpkeepWork` over a copy of the tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def note(self, run: Run) -> None:
        """Keep a run."""
        self._tables.runs[run.id] = run

    def decided(self, run_id: str, lines: Sequence[Decided]) -> None:
        """Add decisions."""
        for line in lines:
            number = self._tables.next_number("decision")
            self._tables.decisions[number] = (run_id, replace(line, number=number))

    def judge(self, judgement: Judgement) -> None:
        """Keep a judgement."""
        self._tables.judgements[judgement.kind, judgement.key] = judgement

    def sketch(self, sketch: Sketch) -> None:
        """Keep a sketch."""
        known = tuple(one for one in dict.fromkeys(sketch.sources) if one in self._tables.keys)
        self._tables.number_scope(sketch.scope)
        kept = replace(sketch, sources=tuple(sorted(known, key=self._tables.keys.__getitem__)))
        self._tables.sketches[sketch.kind, sketch.scope, sketch.key] = kept

    def unsketch(self, scope: Scope, kind: str, key: str) -> bool:
        """Drop a sketch."""
        return self._tables.sketches.pop((kind, scope, key), None) is not None

    def unsketch_run(self, run_id: str) -> None:
        """Drop the sketches that a run made."""
        kept = self._tables.sketches.items()
        self._tables.sketches = {place: sketch for place, sketch in kept if sketch.run != run_id}

    def prune(self, before: datetime) -> int:
        """Drop old logs."""
        tables = self._tables
        over = {run.id for run in tables.runs.values() if run.finished_at and run.finished_at < before}
        size = len(tables.uses) + len(tables.decisions)
        tables.uses = {number: use for number, use in tables.uses.items() if use[1] >= before}
        tables.decisions = {number: line for number, line in tables.decisions.items() if line[0] not in over}
        return size - len(tables.uses) - len(tables.decisions)
