"""The raw log, where imports came from, and what models cost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from engram.errors import NotFound
from engram.model.capture import Part, Turn, Waiting
from engram.model.knowledge import CallOutcome, ModelCall, Spent
from engram.model.scope import Access, Role, Scope
from engram.ports import Store, Unit
from engram.testing import START
from tests.store.making import EVERYTHING, add, agent, erase

HERE = Scope(project="apollo", agent="rex")


def said(content: str, minute: int = 0, session: str = "s1", scope: Scope = HERE) -> Turn:
    """A turn whose id is its content."""
    return Turn(content, session, content, START + timedelta(minutes=minute), scope=scope)


def log(store: Store, *turns: Turn) -> Waiting:
    return store.write(lambda unit: unit.log(turns), "tester")[0]


def captured(store: Store, turns: Iterable[Turn], at: datetime = START) -> int:
    return store.write(lambda unit: unit.captured(list(turns), at), "tester")


def words(turns: Iterable[Turn]) -> list[str]:
    return [turn.content for turn in turns]


def test_a_turn_is_kept_word_for_word(store: Store) -> None:
    turn = Turn("m1", "s1", " Über 上海?\n", START, Part.ASSISTANT, "Ada", HERE, captured_at=START)
    assert log(store, turn) == Waiting()
    (kept,) = store.turns.of_session("s1", EVERYTHING, 10)
    assert kept == Turn("m1", "s1", " Über 上海?\n", START, Part.ASSISTANT, "Ada", HERE, kept.key, START)
    assert kept.key > 0


def test_logging_says_what_waits_in_the_scope(store: Store) -> None:
    assert log(store) == Waiting()
    assert log(store, said("one", 5), said("two", 6)) == Waiting(2, START + timedelta(minutes=5))
    assert log(store, said("elsewhere", 1, scope=Scope())) == Waiting(1, START + timedelta(minutes=1))
    assert log(store, said("three", 7, session="s2")) == Waiting(3, START + timedelta(minutes=5))


def test_a_message_is_kept_once_in_its_session(store: Store) -> None:
    first = said("hello")
    log(store, first)
    assert log(store, first, first, said("hello", 9)).turns == 1
    assert store.write(lambda unit: unit.log([first, said("new")]), "tester") == (Waiting(2, START), 1)
    assert log(store, said("hello", session="s2")).turns == 3
    assert log(store, said("hello", scope=Scope())).turns == 1
    assert len(store.turns.of_session("s1", EVERYTHING, 10)) == 3


def test_what_was_captured_waits_no_longer(store: Store) -> None:
    log(store, said("one"), said("two"), said("three", session="s2"))
    assert words(store.turns.waiting(HERE, 10)) == ["one", "two", "three"]
    assert words(store.turns.waiting(HERE, 10, session="s2")) == ["three"]
    captured(store, store.turns.waiting(HERE, 1))
    captured(store, [said("two")])
    assert words(store.turns.waiting(HERE, 10)) == ["three"]
    assert [turn.captured_at for turn in store.turns.of_session("s1", EVERYTHING, 10)] == [START, START]
    assert log(store, said("one")).turns == 1


def test_a_turn_is_captured_once(store: Store) -> None:
    log(store, said("one"))
    log(store, said("two"))
    assert captured(store, [said("one"), said("one")]) == 1
    assert captured(store, [said("one"), said("never said")], START + timedelta(days=1)) == 0
    assert captured(store, store.turns.of_session("s1", EVERYTHING, 10)) == 1
    assert captured(store, []) == 0
    assert [turn.captured_at for turn in store.turns.of_session("s1", EVERYTHING, 10)] == [START, START]


def test_the_scopes_with_waiting_turns_are_known(store: Store) -> None:
    assert store.turns.scopes_waiting() == []
    log(store, said("one"))
    log(store, said("two", scope=Scope("other")))
    assert set(store.turns.scopes_waiting()) == {HERE, Scope("other")}
    captured(store, [said("one")])
    assert store.turns.scopes_waiting() == [Scope("other")]
    assert store.turns.waiting(Scope("never", "written"), 10) == []


def test_a_turn_knows_what_came_before_it(store: Store) -> None:
    log(store, *(said(str(n), n) for n in range(5)), said("aside", session="s2"))
    log(store, said("elsewhere", scope=Scope()))
    turns = store.turns.of_session("s1", EVERYTHING, 10)
    assert words(turns) == ["0", "1", "2", "3", "4", "elsewhere"]
    assert words(store.turns.before(turns[3], 2)) == ["1", "2"]
    assert store.turns.before(turns[0], 2) == []
    assert store.turns.before(turns[3], 0) == []
    assert store.turns.before(said("nowhere", scope=Scope("never")), 2) == []


def test_a_session_is_read_page_by_page(store: Store) -> None:
    log(store, *(said(str(n), n) for n in range(5)))
    first = store.turns.of_session("s1", EVERYTHING, 2)
    second = store.turns.of_session("s1", EVERYTHING, 9, after=first[-1].key)
    assert (words(first), words(second)) == (["0", "1"], ["2", "3", "4"])


@pytest.mark.parametrize(
    ("access", "seen"),
    [
        (agent("rex", project="apollo"), ["everybody's", "rex's"]),
        (agent("ada", project="apollo"), ["everybody's", "ada's"]),
        (Access(Scope()), ["everybody's", "rex's", "ada's"]),
        (Access(Scope("other"), Role.OWNER), []),
    ],
)
def test_nobody_reads_what_was_said_elsewhere(store: Store, access: Access, seen: list[str]) -> None:
    memory = add(store, "they talked")
    log(store, said("everybody's", scope=Scope()))
    log(store, said("rex's"))
    log(store, said("ada's", scope=Scope(project="apollo", agent="ada")))
    keys = [turn.key for turn in store.turns.of_session("s1", EVERYTHING, 10)]
    store.write(lambda unit: unit.link_turns(memory.id, keys), "tester")
    assert words(store.turns.of_session("s1", access, 10)) == seen
    assert words(store.turns.of_memory(memory.id, access)) == seen


def test_a_memory_knows_the_turns_it_came_from(store: Store) -> None:
    log(store, said("one"), said("two"), said("three"))
    one, two, _ = store.turns.of_session("s1", EVERYTHING, 10)
    memory = add(store, "one and two")
    for _ in range(2):
        store.write(lambda unit: unit.link_turns(memory.id, [two.key, one.key, 999]), "tester")
    assert store.turns.of_memory(memory.id, EVERYTHING) == [one, two]
    assert store.turns.of_memory("no such memory", EVERYTHING) == []
    with pytest.raises(NotFound):
        store.write(lambda unit: unit.link_turns("no such memory", [one.key]), "tester")


def test_erasing_a_memory_erases_the_turns_it_came_from(store: Store) -> None:
    log(store, said("one"), said("two"))
    one, two = store.turns.of_session("s1", EVERYTHING, 10)
    gone, other = add(store, "one"), add(store, "one and two")

    def link(unit: Unit) -> None:
        unit.link_turns(gone.id, [one.key])
        unit.link_turns(other.id, [one.key, two.key])

    store.write(link, "tester")
    erase(store, gone)
    assert store.turns.of_session("s1", EVERYTHING, 10) == [two]
    assert store.turns.of_memory(other.id, EVERYTHING) == [two]


def test_a_turn_is_known_inside_the_unit_that_logs_it(store: Store) -> None:
    def work(unit: Unit) -> Waiting:
        unit.log([said("one")])
        unit.captured([said("one")], START)
        return unit.log([said("two")])[0]

    assert store.write(work, "tester").turns == 1
    assert words(store.turns.waiting(HERE, 10)) == ["two"]


def test_counting_what_waits_stops_somewhere(store: Store) -> None:
    assert log(store, *(said(str(n)) for n in range(1_005))).turns == 1_000
    assert len(store.turns.waiting(HERE, 2_000)) == 1_005


def came(store: Store, memory_id: str, origin: str, digest: str = "d1", scope: Scope = HERE) -> None:
    store.write(lambda unit: unit.set_origin(memory_id, scope, origin, digest), "tester")


def test_an_import_knows_what_it_brought_before(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    came(store, one.id, "notes/a.md#1")
    came(store, two.id, "notes/b.md#1", "d2")
    came(store, two.id, "other/b.md#1", "d2")
    came(store, two.id, "notes/a.md#1", "d9", scope=Scope())
    assert store.origins.known(HERE, "notes/") == {
        "notes/a.md#1": (one.id, "d1"),
        "notes/b.md#1": (two.id, "d2"),
    }
    assert len(store.origins.known(HERE, "")) == 3
    assert store.origins.known(HERE, "notes/%") == {}
    assert store.origins.known(Scope("never"), "") == {}
    with pytest.raises(NotFound):
        came(store, "no such memory", "x")


def test_an_origin_leads_to_its_latest_memory(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    came(store, one.id, "a")
    came(store, two.id, "a", "d2")
    assert store.origins.known(HERE, "a") == {"a": (two.id, "d2")}
    assert store.memories.get(one.id, EVERYTHING) == one


def test_an_origin_goes_with_its_memory_or_by_itself(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    for memory, origin in ((one, "a"), (two, "b"), (two, "c")):
        came(store, memory.id, origin)
    store.write(lambda unit: unit.remove_origins(HERE, ["b", "never"]), "tester")
    store.write(lambda unit: unit.remove_origins(Scope("never"), ["c"]), "tester")
    assert list(store.origins.known(HERE, "")) == ["a", "c"]
    erase(store, one)
    assert list(store.origins.known(HERE, "")) == ["c"]


def call(
    component: str, tokens: int, minute: int = 0, outcome: CallOutcome = CallOutcome.ANSWERED
) -> ModelCall:
    at = START + timedelta(minutes=minute)
    return ModelCall(at, component, "tiny", tokens, tokens // 2, 30, 0.25, outcome)


def test_calls_are_added_up_since_a_time(store: Store) -> None:
    assert store.spending.tokens_since(START) == 0
    assert store.spending.summary(START) == []
    store.spending.record(call("extract", 100))
    store.spending.record(call("extract", 10, 5, CallOutcome.FAILED))
    store.spending.record(call("extract", 10, 5, CallOutcome.REPAIRED))
    store.spending.record(call("compare", 400, 9, CallOutcome.REFUSED))
    assert store.spending.tokens_since(START) == 150 + 15 + 15 + 600
    assert store.spending.tokens_since(START + timedelta(minutes=5)) == 630
    assert store.spending.tokens_since(START + timedelta(minutes=10)) == 0
    assert store.spending.summary(START) == [
        Spent("compare", "tiny", 1, 1, 400, 200, 30, 0.25),
        Spent("extract", "tiny", 3, 1, 120, 60, 90, 0.75),
    ]
