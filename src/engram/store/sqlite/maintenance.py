"""What maintenance reads and writes, behind `ports.Upkeep` and `ports.UpkeepWork`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from engram.model.clock import from_micros, to_micros
from engram.model.event import Event
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Scope
from engram.model.upkeep import Decided, Judgement, Run, RunKind, RunState, Sketch, Tally
from engram.ports import Reach
from engram.store.sqlite import judgements, ledger, records, runs, scopes, sketches
from engram.store.sqlite.query import Db, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.scopes import Places
from engram.store.sqlite.views import where

SLICE = """
  AND m.row > :after
ORDER BY m.row
LIMIT :limit
"""

USES = """
SELECT k.value, a.at
FROM json_each(:keys) AS k
CROSS JOIN access_log AS a ON a.id IN (
  SELECT id
  FROM access_log
  WHERE row = k.value
  ORDER BY id DESC
  LIMIT :most
)
ORDER BY k.value, a.id DESC
"""

PLACES = """
SELECT n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
WHERE s.memories > 0
ORDER BY s.id
"""

PRUNE_USES = """
DELETE FROM access_log
WHERE at < :before
"""

EVERYTHING = Reach(everything=True)


class SqliteUpkeep:
    """Implements `ports.Upkeep`. Used by any thread."""

    def __init__(self, readers: Readers, places: Places) -> None:
        self._readers = readers
        self._places = places

    def slice(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories of all scopes that fit, by key, beginning after a key."""
        seen = where(EVERYTHING, filters, wide=True)
        sql = records.select("WHERE " + seen.sql + SLICE)
        with self._readers.lend() as db:
            lines = ask(db, sql, {**seen.values, "after": after, "limit": limit})
            return [records.from_row(line) for line in lines]

    def uses(self, keys: Sequence[int], most: int) -> dict[int, list[datetime]]:
        """When each of these memories was used, the latest first."""
        found: dict[int, list[datetime]] = {}
        with self._readers.lend() as db:
            for key, at in ask(db, USES, {"keys": records.as_keys(keys), "most": most}):
                found.setdefault(key, []).append(from_micros(at))
        return found

    def scopes(self) -> list[Scope]:
        """Every place that has memories."""
        with self._readers.lend() as db:
            return [Scope(*line) for line in ask(db, PLACES)]

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        with self._readers.lend() as db:
            return runs.one(db, run_id)

    def runs(self, limit: int, kind: RunKind | None = None, state: RunState | None = None) -> list[Run]:
        """The last runs, newest first."""
        with self._readers.lend() as db:
            return runs.last(db, limit, kind, state)

    def decided(self, run_id: str, after: int, limit: int) -> list[Decided]:
        """What a run decided, in order, beginning after a number."""
        with self._readers.lend() as db:
            return runs.decided(db, run_id, after, limit)

    def tallies(self, run_id: str) -> list[Tally]:
        """What a run has carried out, counted by step and rule."""
        with self._readers.lend() as db:
            return runs.tallies(db, run_id)

    def events(self, run_id: str, limit: int, before: str = "") -> list[Event]:
        """The events of a run, newest first; `before` is an event to go on from."""
        with self._readers.lend() as db:
            return ledger.of_run(db, run_id, limit, before)

    def judged(self, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
        """Those of the keys about which something was decided."""
        with self._readers.lend() as db:
            return judgements.known(db, kind, keys)

    def judgements(self, kind: str, limit: int, verdict: str = "") -> list[Judgement]:
        """What was decided last under a kind, newest first."""
        with self._readers.lend() as db:
            return judgements.last(db, kind, limit, verdict)

    def sketch(self, scope: Scope, kind: str, key: str) -> Sketch | None:
        """One sketch of this very scope."""
        with self._readers.lend() as db:
            place = self._places.numbers(scope) or scopes.find(db, scope)
            return sketches.one(db, place[0], kind, key) if place else None

    def sketches(self, kind: str, access: Access, limit: int, prefix: str = "") -> list[Sketch]:
        """Sketches of a kind in the scopes the caller may see, by key."""
        with self._readers.lend() as db:
            return sketches.many(db, self._places.reach(db, access), kind, limit, prefix)


class SqliteUpkeepWork:
    """Implements `ports.UpkeepWork`. Lives inside the writer's thread, for one unit of work."""

    def __init__(
        self, db: Db, place: Callable[[Scope], tuple[int, int]], changed: Callable[[], None]
    ) -> None:
        self._db = db
        self._place = place
        self._changed = changed

    def note(self, run: Run) -> None:
        """Keep a run as it stands."""
        runs.note(self._db, run)

    def decided(self, run_id: str, lines: Sequence[Decided]) -> None:
        """Add decisions to a run's report."""
        runs.decide(self._db, run_id, lines)

    def judge(self, judgement: Judgement) -> None:
        """Keep a judgement in place of the former one."""
        judgements.judge(self._db, judgement)

    def sketch(self, sketch: Sketch) -> None:
        """Keep a sketch in place of the former one."""
        sketches.put(self._db, self._place(sketch.scope)[0], sketch)

    def unsketch(self, scope: Scope, kind: str, key: str) -> bool:
        """Drop a sketch; whether there was one."""
        return sketches.remove(self._db, self._place(scope)[0], kind, key)

    def unsketch_run(self, run_id: str) -> None:
        """Drop the sketches that a run made."""
        sketches.drop_run(self._db, run_id)

    def prune(self, before: datetime) -> int:
        """Drop decisions of finished runs and logs of uses from before a time."""
        at = to_micros(before)
        self._db.execute(PRUNE_USES, {"before": at})
        return self._db.changes() + runs.prune(self._db, at)
