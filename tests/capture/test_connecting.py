"""Connecting: new memories are linked by themselves, to few others and for a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram.capture.pipeline import remember
from engram.config import Config, overlay
from engram.index import SignatureIndex
from engram.model.capture import Draft
from engram.model.facts import EdgeType
from engram.model.memory import ANY_STATUS
from engram.model.scope import Access, Scope
from engram.ports import Store, Tools, View
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock, HashEmbedder, sequential_ids

EVERYTHING = Access.everything()


@pytest.fixture
def tools() -> Iterator[Tools]:
    clock = FakeClock()
    store = SqliteStore.open(":memory:", clock)
    yield made(store, clock)
    store.close()


def made(store: Store, clock: FakeClock, draw: str = "on") -> Tools:
    return Tools(
        store=store,
        index=SignatureIndex(store),
        embedder=HashEmbedder(),
        clock=clock,
        config=overlay(Config(), {"capture.links": draw}),
        new_id=sequential_ids(),
        count_tokens=len,
    )


def say(tools: Tools, *contents: str, **fields: object) -> list[str]:
    drafts = [Draft(content, **fields) for content in contents]  # type: ignore[arg-type]
    return [receipt.memory.id for receipt in remember(drafts, tools, "tester")]


def edges(tools: Tools, memory_id: str) -> list[tuple[str, str, str]]:
    found = tools.store.relations.of(memory_id, EVERYTHING)
    return [(edge.source, edge.type.value, edge.target) for edge in found]


def test_memories_that_say_nearly_the_same_are_similar(tools: Tools) -> None:
    one, two = say(
        tools,
        "the red lantern festival fills the old harbour street every winter",
        "the red lantern festival fills the old harbour street every summer",
    )

    if one != two:
        assert (two, "similar_to", one) in edges(tools, two)


def test_memories_with_one_name_are_linked_to_the_latest_two(tools: Tools) -> None:
    one, two, three, four = say(
        tools,
        "Anna Kowalska painted a boat",
        "We met Anna Kowalska at the market",
        "Nobody believed Anna Kowalska about snow",
        "Lunch with Anna Kowalska was long",
    )

    assert edges(tools, one)[-1:] == [(three, "same_entity", one)]
    assert {edge for edge in edges(tools, four) if edge[0] == four} == {
        (four, "same_entity", two),
        (four, "same_entity", three),
    }


def test_one_call_and_many_calls_give_the_same_edges(tmp_path: Path) -> None:
    said = [
        "Anna Kowalska painted a boat",
        "Anna Kowalska sold it",
        "Bela Bartok saw Anna Kowalska",
        "Bela Bartok left",
    ]
    drawn: list[Counter[tuple[str, ...]]] = []
    for name in ("one", "many"):
        clock = FakeClock()
        store = SqliteStore.open(tmp_path / name, clock)
        tools = made(store, clock)
        ids = say(tools, *said) if name == "one" else [say(tools, one)[0] for one in said]
        drawn.append(Counter(edge for memory_id in ids for edge in edges(tools, memory_id)))
        store.close()

    assert drawn[0] == drawn[1]


def test_facts_that_hang_together_are_related(tools: Tools) -> None:
    one, two = say(tools, "Anna works at Corvix", "Corvix is located in Munich")

    assert edges(tools, two) == [(two, "related_to", one)]


def test_a_name_that_everybody_has_links_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engram.capture.settle.COMMON_NAME", 3)
    monkeypatch.setattr("engram.capture.settle.SIMILAR_LINKS", 0)
    clock = FakeClock()
    store = SqliteStore.open(tmp_path / "m.db", clock)
    tools = made(store, clock)
    ids = [say(tools, f"Anna Kowalska saw {thing}")[0] for thing in ("snow", "rain", "hail", "fog", "wind")]

    assert [len([e for e in edges(tools, one) if e[0] == one]) for one in ids] == [0, 1, 2, 0, 0]
    store.close()


def test_no_memory_collects_too_many_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engram.capture.settle.LINKS_MOST", 2)
    clock = FakeClock()
    store = SqliteStore.open(tmp_path / "m.db", clock)
    tools = made(store, clock)
    say(tools, "Corvix is located in Munich")
    (hub,) = say(tools, "Munich is located in Bavaria")
    say(tools, *(f"{name} lives in Munich" for name in ("Anna", "Bela", "Cora", "Dora", "Edda")))

    assert len([edge for edge in edges(tools, hub) if edge[2] == hub]) <= 2
    store.close()


def test_turns_and_other_scopes_are_left_alone(tools: Tools) -> None:
    (one,) = say(tools, "Anna Kowalska painted a boat")
    (turn,) = say(tools, "Anna Kowalska painted it blue", speaker="Ann", session="s1")
    (other,) = say(tools, "Anna Kowalska sold a boat", scope=Scope(project="elsewhere"))

    assert edges(tools, one) == edges(tools, turn) == edges(tools, other) == []


def test_links_can_be_switched_off(tmp_path: Path) -> None:
    clock = FakeClock()
    store = SqliteStore.open(tmp_path / "m.db", clock)
    tools = made(store, clock, draw="off")
    ids = say(tools, "Anna Kowalska painted a boat", "Anna Kowalska sold a house")

    assert edges(tools, ids[0]) == edges(tools, ids[1]) == []
    store.close()


def test_links_write_no_events_and_are_no_surer_than_a_guess(tools: Tools) -> None:
    ids = say(tools, "Anna Kowalska painted a boat", "Anna Kowalska sold a house")
    keys = tools.store.memories.keys(ids)
    (link,) = tools.store.relations.links([keys[ids[1]]], tuple(EdgeType), View(EVERYTHING, ANY_STATUS))

    assert link.confidence < 1
    (edge,) = tools.store.relations.of(ids[1], EVERYTHING)
    assert edge.last_reinforced_at == tools.clock.now()
    assert {event.verb.value for event in tools.store.ledger.events(None, EVERYTHING, 10)} == {"stored"}
