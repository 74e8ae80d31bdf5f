"""Boxes: what was going on together is sealed at each threshold, and woven into traces."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.rules.grouping import BoxItem, BoxLimits, boxed, trace_of
from engram.testing import FakeClock
from tests.maintain.knowledge.stories import learned, rules, sketches, words_in
from tests.tables import every

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def items(*minutes: float, about: frozenset[str] = frozenset()) -> list[BoxItem]:
    return [BoxItem(str(n), n, START + timedelta(minutes=m), about) for n, m in enumerate(minutes)]


@every(("gap", "boxes"), [(29.9, 0), (30, 1), (31, 1)])
def test_half_an_hour_of_silence_seals_a_box(gap: float, boxes: int) -> None:
    sealed, _ = boxed(items(0, gap), START + timedelta(minutes=gap))
    assert len(sealed) == boxes


@every(("count", "boxes"), [(49, 0), (50, 1), (51, 1), (101, 2)])
def test_fifty_memories_fill_a_box(count: int, boxes: int) -> None:
    sealed, _ = boxed(items(*[n / 100 for n in range(count)]), START)
    assert len(sealed) == boxes


@every(("shared", "boxes"), [(34, 1), (35, 0), (36, 0)])
def test_less_than_a_third_of_the_topics_in_common_begins_another_box(shared: int, boxes: int) -> None:
    first = frozenset(map(str, range(100)))
    second = frozenset(map(str, range(100 - shared, 200 - shared)))
    pair = [BoxItem("a", 1, START, first), BoxItem("b", 2, START, second)]
    assert len(boxed(pair, START)[0]) == boxes


def test_a_trace_goes_on_from_the_overlap_of_its_topics() -> None:
    traces = {"a": frozenset({"food", "family"})}
    assert trace_of(frozenset({"food", "music"}), traces, 0.35) is None
    assert trace_of(frozenset({"food", "family", "music"}), traces, 0.35) == "a"


@given(st.lists(st.tuples(st.integers(0, 500), st.sets(st.sampled_from("abcd"))), max_size=60))
def test_every_memory_is_in_one_box_in_its_order(drawn: list[tuple[int, set[str]]]) -> None:
    given_items = [
        BoxItem(str(n), n, START + timedelta(minutes=m), frozenset(t)) for n, (m, t) in enumerate(drawn)
    ]
    sealed, rest = boxed(given_items, START, BoxLimits(memories=5))
    assert [item.id for box in (*sealed, rest) for item in box] == [item.id for item in given_items]
    assert all(0 < len(box) <= 5 for box in sealed)


def talk(memory: Engram, clock: FakeClock, *lines: str) -> list[str]:
    ids = []
    for line in lines:
        ids.append(memory.remember(line, source="agent", speaker="Anna", session="s").memory.id)
        clock.advance(minutes=2)
    return ids


def test_what_was_talked_of_together_is_in_one_box_and_comes_back_in_a_trace(
    memory: Engram, clock: FakeClock
) -> None:
    first = talk(memory, clock, "The PostgreSQL migration is slow", "The database index was missing")
    clock.advance(hours=2)
    second = talk(memory, clock, "I cooked pasta for dinner", "The recipe needs more garlic")
    learned(memory)
    clock.advance(hours=2)
    third = talk(memory, clock, "The database backup of PostgreSQL ran", "The SQL query is fast now")
    clock.advance(hours=2)
    assert rules(learned(memory))["box.sealed"] == 1
    boxes = sketches(memory, "box")
    assert [one.body["memories"] for one in boxes] == [first, second, third]
    traces = {one.title: one.body["boxes"] for one in sketches(memory, "trace")}
    assert [boxes[0].key, boxes[2].key] in traces.values()
    assert learned(memory).decided == ()


def test_an_open_box_waits_until_it_has_been_quiet(memory: Engram, clock: FakeClock) -> None:
    talk(memory, clock, "The PostgreSQL migration is slow", "The database index was missing")
    learned(memory)
    assert sketches(memory, "box") == []
    clock.advance(minutes=29)
    learned(memory)
    assert len(sketches(memory, "box")) == 1


def test_an_erased_memory_leaves_its_box_and_the_rest_is_packed_again(
    memory: Engram, clock: FakeClock, file: Path
) -> None:
    ids = talk(
        memory, clock, "Xylophonequartz is slow", "The database index was missing", "The query is fast"
    )
    clock.advance(hours=1)
    learned(memory)
    (box,) = sketches(memory, "box")
    memory.erase(ids[0])
    assert sketches(memory, "box") == []
    assert rules(learned(memory))["box.repacked"] == 1
    (again,) = sketches(memory, "box")
    assert (again.key, again.body["memories"]) == (box.key, ids[1:])
    assert learned(memory).decided == ()
    memory.close()
    assert not words_in(file, "ylophonequartz")
