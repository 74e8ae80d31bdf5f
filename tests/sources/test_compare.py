from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.capture.sources.take import KnownItem, compare, grouped, nth
from engram.model.capture import Item


def document(*texts: str) -> list[Item]:
    return [Item(f"file:x#{number}", text) for number, text in enumerate(texts, 1)]


def known(*texts: str) -> dict[str, KnownItem]:
    return {one.origin: KnownItem(one.origin, one.digest, {one.origin: one.text}) for one in document(*texts)}


def test_a_paragraph_put_in_at_the_top_changes_nothing_below() -> None:
    plan = compare(document("new", "a", "b"), known("a", "b"))

    assert [item.text for item in plan.new] == ["new"]
    assert [(item.text, old.origin) for item, old in plan.moved] == [("a", "file:x#1"), ("b", "file:x#2")]
    assert not plan.changed
    assert not plan.gone


def test_a_paragraph_that_says_something_else_has_changed() -> None:
    plan = compare(document("a", "B"), known("a", "b"))

    assert [item.text for item, _ in plan.same] == ["a"]
    assert [(item.text, old.origin) for item, old in plan.changed] == [("B", "file:x#2")]


def test_a_paragraph_taken_out_is_gone() -> None:
    plan = compare(document("b"), known("a", "b"))

    assert [item.text for item, _ in plan.moved] == ["b"]
    assert [old.origin for old in plan.gone] == ["file:x#1"]


def test_two_items_in_one_place_are_one() -> None:
    plan = compare([Item("mem0:1", "a"), Item("mem0:1", "b")], {})

    assert [item.text for item in plan.new] == ["a"]
    assert [item.text for item in plan.twice] == ["b"]


def test_an_item_with_several_statements_is_known_as_one() -> None:
    stored = {nth("file:x#1", place): (f"id{place}", "digest") for place in range(3)}

    (one,) = grouped(stored).values()
    assert one.origin == "file:x#1"
    assert sorted(one.memories.values()) == ["id0", "id1", "id2"]


texts = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(texts, texts)
def test_every_item_and_every_known_one_has_one_place_in_the_plan(old: list[str], new: list[str]) -> None:
    items, before = document(*new), known(*old)
    plan = compare(items, before)
    pairs = [*plan.same, *plan.moved, *plan.changed]

    assert len(pairs) + len(plan.new) + len(plan.twice) == len(items)
    assert len({one.origin for _, one in pairs} | {one.origin for one in plan.gone}) == len(before)
    assert len(pairs) + len(plan.gone) == len(before)
    assert all(item.digest == one.digest for item, one in (*plan.same, *plan.moved))


@given(texts)
def test_what_did_not_change_needs_nothing(old: list[str]) -> None:
    plan = compare(document(*old), known(*old))

    assert len(plan.same) == len(old)
    assert [*plan.moved, *plan.changed, *plan.new, *plan.gone] == []
