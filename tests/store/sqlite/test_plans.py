"""No question goes through a whole table: SQLite is asked how it would answer each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import apsw
import pytest

from engram.model.memory import Filters
from engram.ports import Reach
from engram.store.sqlite import entities, facts, memories, names, records, turns
from engram.store.sqlite.connection import deleting, looking_up
from engram.store.sqlite.migrate import migrate
from engram.store.sqlite.unit import TABLES
from engram.store.sqlite.views import where, where_turn
from engram.testing import START, FakeClock
from tests.tables import every

PLAIN = [
    *(turns.WAITING, turns.SCOPES_WAITING, turns.BEFORE, turns.COUNT_WAITING, turns.CAPTURED),
    *(turns.LINK, turns.DROP_LINKS, turns.DROP_TURNS),
    *(turns.KNOWN, turns.REMOVE),
    *(records.TOKENS_SINCE, records.ALL_DAYS),
    *(facts.STATED, facts.CLAIMS, facts.ENDED),
    *(names.ABSORB, names.MOVE_ALIASES),
    names.SPLIT_OFF,
    *(names.ENTITIES_OF, names.SEEN, names.UNNAMED, names.ALIASES),
    names.DROP_WORDS,
    *(deleting(table, ("row",)) for table in TABLES),
    deleting("aliases", ("namespace", "alias")),
    looking_up("mentions", "name", ("row",)),
    looking_up("turn_memories", "turn", ("row",)),
    looking_up("aliases", "alias", ("entity",)),
    looking_up("sketch_sources", "sketch", ("row",)),
    looking_up("memories", "row", ("id",)),
    looking_up("turns", "key", ("session", "scope", "id")),
    looking_up("aliases", "entity", ("namespace", "alias")),
    *(
        entities.BY_NAMES,
        entities.WITH_WORDS,
        entities.THAT_BEGIN_SO,
        entities.LATEST_ROWS,
    ),
]
REACHES = (Reach(everything=True), Reach(namespace=1), Reach(scopes=frozenset({1, 2})))
ANYTHING = Filters(statuses=frozenset())
PICKY = [
    Filters(statuses=frozenset(), **asked)
    for asked in (
        {"entities": frozenset({"ada"})},
        {"people": frozenset({"ada"})},
        {"paths": frozenset({"src"})},
        {"sentiments": frozenset({"negative"})},
        {"about_since": START},
        {"origin_prefix": "notes"},
        {"ids": frozenset({"one"})},
    )
]

# In order and only as far as needed; from end to end, but narrow; or a table of a few lines.
MAY_BE_SCANNED = re.compile(
    r"SCAN (\w+ VIRTUAL TABLE INDEX .*|m USING (COVERING )?INDEX memories_by_time|\(subquery-\d+\)"
    r"|found|g|s|s USING COVERING INDEX sqlite_autoindex_scopes_1|n|s LEFT-JOIN"
    r"|facts USING COVERING INDEX facts_functional)$"
)


def seen_by(reach: Reach) -> list[str]:
    """The statements whose wording depends on who asks."""
    turn, memory = where_turn(reach).sql, where(reach, ANYTHING, at_hand=True).sql
    mentions = entities.SEEN_MENTIONS.format(seen=memory)
    asked = [
        facts.FROM_FACTS.format(clauses=f"{clause} AND {facts.NOT_ENDED} AND {memory}")
        for clause in (facts.PARTS["subjects"], facts.PARTS["objects"])
    ]
    return [
        *asked,
        *(sql.format(seen=turn) for sql in (turns.OF_SESSION, turns.OF_MEMORY)),
        facts.FROM_MEMORIES.format(clauses=memory),
        facts.DISPUTED.format(clauses=memory),
        entities.LATEST_HAPPENING.format(seen=memory),
        *(
            sql.format(mentions=wording, known=entities.KNOWN_NAMES.format(seen=memory), which=which)
            for sql in (
                entities.LATEST,
                entities.LATEST_THAT_BEGIN_SO,
                *(
                    entities.READ.replace("{mentions}", counted)
                    for counted in (entities.IS_MENTIONED, entities.COUNT_MENTIONS)
                ),
            )
            for wording in (mentions, entities.ALL_MENTIONS)
            for which in (entities.OF_THESE, entities.BY_NAMES)
        ),
        *(
            f"{memories.ALL_KEYS} WHERE {wording}"
            for filters in PICKY
            for wording in (
                f"{memories.AMONG} AND {where(reach, filters, at_hand=True).sql}",
                where(reach, filters).sql,
                where(reach, filters, wide=True).sql,
            )
        ),
    ]


@pytest.fixture(scope="module")
def empty() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    migrate(db, FakeClock())
    yield db
    db.close()


def plan(db: apsw.Connection, sql: str) -> list[str]:
    """The steps SQLite would take."""
    values = dict.fromkeys(re.findall(r":(\w+)", sql), "[1]")
    return [str(line[3]) for line in db.execute("EXPLAIN QUERY PLAN " + sql, values)]


@every("sql", [*PLAIN, *(sql for reach in REACHES for sql in seen_by(reach))])
def test_an_index_answers(empty: apsw.Connection, sql: str) -> None:
    steps = plan(empty, sql)
    assert steps
    assert [step for step in steps if step.startswith("SCAN") and not MAY_BE_SCANNED.match(step)] == []


def test_what_waits_is_counted_in_its_index_alone(empty: apsw.Connection) -> None:
    assert "SEARCH turns USING COVERING INDEX turns_waiting (scope=?)" in plan(empty, turns.COUNT_WAITING)


@every("sql", [turns.WAITING, turns.BEFORE, entities.LATEST.format(mentions="SELECT 1")])
def test_what_is_cut_off_is_not_sorted_first(empty: apsw.Connection, sql: str) -> None:
    assert not [step for step in plan(empty, sql) if "ORDER BY" in step]


@every("reach", REACHES)
def test_a_memory_is_found_by_the_beginning_of_its_id_not_among_all_of_a_place(
    empty: apsw.Connection, reach: Reach
) -> None:
    steps = plan(empty, memories.BY_PREFIX + where(reach, ANYTHING).sql)
    assert "(id>? AND id<?)" in steps[0]
    assert not [step for step in steps if "scope=?" in step or "created_at" in step]
