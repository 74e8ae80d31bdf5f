"""What always stands in the recall pack is found by an index of its own, however large the file is."""

from __future__ import annotations

import apsw

from engram.model.memory import Filters, Priority
from engram.ports import Reach
from engram.store.sqlite import memories
from engram.store.sqlite.migrate import migrate
from engram.store.sqlite.views import where
from engram.testing import FakeClock
from tests.tables import every


@every("reach", [Reach(everything=True), Reach(namespace=1)])
def test_the_first_priority_has_an_index(reach: Reach) -> None:
    db = apsw.Connection(":memory:")
    migrate(db, FakeClock())
    seen = where(reach, Filters(priorities=frozenset({Priority.P0})), wide=True)
    sql = f"{memories.ALL_KEYS}WHERE {seen.sql}{memories.NEWEST}"

    plan = [line[-1] for line in db.execute(f"EXPLAIN QUERY PLAN {sql}", {**seen.values, "limit": 10})]

    assert plan[0] == "SCAN m USING INDEX memories_first"
    db.close()
