"""Triggers: kept, changed and matched; what they load stands in the pack."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engram import Access, Engram, Role, Scope
from engram.errors import (
    AccessDenied,
    EmptyContent,
    InvalidInput,
    NotFound,
    OutOfRange,
    UnknownValue,
    WrongType,
)
from engram.testing import FakeClock


def test_a_trigger_is_kept_changed_and_taken_away(memory: Engram, clock: FakeClock) -> None:
    made = memory.triggers.add(["order", " supply  chain ", "order"], ["Acme", "tag:billing"])
    clock.advance(days=1)
    other = memory.triggers.add(["x"], ["category:procedure"])

    changed = memory.triggers.update(made.id, words=["orders"])

    assert (made.words, made.pages) == (("order", "supply chain"), ("entity:Acme", "tag:billing"))
    assert (changed.words, changed.pages, changed.created_at) == (("orders",), made.pages, made.created_at)
    assert memory.triggers.list() == [changed, other]
    assert memory.triggers.update(other.id, pages=["Ada"]).pages == ("entity:Ada",)
    assert memory.triggers.remove(made.id) == changed
    assert [one.id for one in memory.triggers.list()] == [other.id]


@pytest.mark.parametrize(
    ("message", "is_set_off"),
    [
        ("Where are my orders?", True),
        ("ORDER now", True),
        ("the supply chain broke", True),
        ("supply chains break", True),
        ("our chain of supply", False),
        ("a disorder", False),
        ("我要去上海出差", True),
        ("", False),
        ("the c++ compiler", True),
    ],
)
def test_words_are_found_in_all_their_forms(memory: Engram, message: str, is_set_off: bool) -> None:
    made = memory.triggers.add(["order", "supply chain", "上海", "C++"], ["Acme"])

    assert (memory.triggers.match(message) == [made]) is is_set_off


def test_pages_are_told_of_names_tags_categories_documents_and_memories(memory: Engram) -> None:
    one = memory.remember("The vault stands in Bremen", category="place").memory
    memory.remember("Whales sing at night", tags=("sea",))
    memory.sources.text("# House\n\nThe boiler was serviced in May.", title="house.md")
    pages = {
        f"memory:{one.id[:8]}": "vault",
        "entity:Bremen": "vault",
        "tag:sea": "Whales",
        "category:place": "vault",
        "origin:text:house.md": "boiler",
    }
    for number, page in enumerate(pages):
        memory.triggers.add([f"word{number}"], [page])
    everything = memory.recall_pack().ids

    for number, word in enumerate(pages.values()):
        found = memory.recall_pack(f"please word{number}")
        loaded = [section.text for section in found.sections if section.name == "pages"]
        assert len(found.triggered) == 1
        assert word in found.text
        assert bool(loaded) is (not set(found.ids) <= set(everything))


def test_triggers_belong_to_their_place(memory: Engram) -> None:
    made = memory.triggers.add(["x"], ["Ada"])
    rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")
    own = rex.triggers.add(["y"], ["Ada"])
    ada = memory.seen_by(Access(Scope(agent="ada"), Role.AGENT), "ada")

    assert {one.id for one in rex.triggers.list()} == {made.id, own.id}
    assert [one.id for one in ada.triggers.list()] == [made.id]
    refused: list[Callable[[], object]] = [
        lambda: rex.triggers.remove(made.id),
        lambda: rex.triggers.add(["x"], ["Ada"], scope=Scope()),
    ]
    for attempt in refused:
        with pytest.raises(AccessDenied):
            attempt()


def test_bad_triggers_are_refused(memory: Engram) -> None:
    refused: list[tuple[Callable[[], object], type[Exception]]] = [
        (lambda: memory.triggers.add([], ["Ada"]), EmptyContent),
        (lambda: memory.triggers.add(["  "], ["Ada"]), EmptyContent),
        (lambda: memory.triggers.add("order", ["Ada"]), WrongType),
        (lambda: memory.triggers.add(["x"], ["book:Ada"]), UnknownValue),
        (lambda: memory.triggers.add(["x"], ["entity: "]), UnknownValue),
        (lambda: memory.triggers.add(["x"], ["memory:ffffffff"]), NotFound),
        (lambda: memory.triggers.add([f"w{n}" for n in range(51)], ["Ada"]), OutOfRange),
        (lambda: memory.triggers.get("ffffffff"), InvalidInput),
        (lambda: memory.recall_pack(tasks="one"), WrongType),
    ]
    for attempt, error in refused:
        with pytest.raises(error):
            attempt()
