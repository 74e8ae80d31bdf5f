"""Many threads and two engines that write to one file: what a writer keeps in mind never lies."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import sleep

import pytest

from engram import Engram
from engram.errors import EngramError, InvalidInput
from engram.model.capture import Outcome
from engram.ports import Together, Unit


def test_two_engines_by_turns_keep_names_chain_and_sessions_right(file: Path) -> None:
    with Engram.open(file) as one, Engram.open(file) as other:
        said = [
            engine.remember(f"Ada Lovelace met Number{place} in {town}", session="talk", speaker="Sam").memory
            for place in range(4)
            for engine, town in ((one, "Turin"), (other, "Oslo"))
        ]
        named = [one.remember(f"Ada Lovelace wrote note {place}").memory.id for place in range(2)]
        other.erase(named[0])
        one.remember("Ada Lovelace likes chess")

        edges = [edge for memory in said for edge in one.relations(memory.id) if edge.type == "next"]
        order = {edge.target: edge.source for edge in edges}
        assert [order.get(memory.id) for memory in said] == [None, *(memory.id for memory in said[:-1])]
        assert len([entity for entity in one.entities.list() if entity.name == "Ada Lovelace"]) == 1
        assert len({event.id for event in one.events(limit=99)}) == len(one.events(limit=99))
        assert all(finding.ok for finding in one.doctor())


def test_work_that_is_taken_back_leaves_nothing_in_mind(file: Path) -> None:
    with Engram.open(file) as memory:
        store = memory.maintenance._caller.tools.store  # noqa: SLF001 - a unit of work of its own
        first = memory.remember("Grace Hopper found a moth", session="talk", speaker="Sam").memory

        def spoil(unit: Unit) -> None:
            unit.erase(first.id, "")
            raise InvalidInput("after all not")

        with pytest.raises(InvalidInput):
            store.write(spoil, "test")
        second = memory.remember("Grace Hopper wrote a compiler", session="talk", speaker="Sam")

        assert "next" in {edge.type for edge in memory.relations(second.memory.id)}
        assert all(finding.ok for finding in memory.doctor())


def test_eight_threads_write_each_statement_once(file: Path) -> None:
    with Engram.open(file) as memory, ThreadPoolExecutor(8) as pool:
        told = [f"Box {place % 20} stands in hall {place % 20}" for place in range(40)]
        receipts = list(pool.map(memory.remember, told))

        assert sum(receipt.outcome is Outcome.STORED for receipt in receipts) == 20
        assert memory.stats().memories == 20


def test_one_that_fails_spoils_nothing_for_those_done_with_it() -> None:
    def doubled(asked: object) -> list[int]:
        assert isinstance(asked, list)
        if 3 in asked:
            raise EngramError("three is too much")
        return [2 * one for one in asked]

    together = Together()

    def ask(number: int) -> int:
        try:
            return together.do(number, doubled)
        except EngramError:
            return -1

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(6)))
    assert found == [0, 2, 4, -1, 8, 10]


def test_calls_that_wait_go_together_and_each_has_its_answer_at_once() -> None:
    together, groups, began, go_on = Together(), [], Event(), Event()

    def work(asked: Sequence[int]) -> list[int]:
        groups.append(sorted(asked))
        began.set()
        assert go_on.wait(30)
        return [-one for one in asked]

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(together.do, 0, work)
        assert began.wait(30)
        others = [pool.submit(together.do, number, work) for number in range(1, 6)]
        while len(together._waiting) < 5:  # noqa: SLF001 - nothing outside tells who waits
            sleep(0.001)
        go_on.set()
        assert [one.result(30) for one in (first, *others)] == [0, -1, -2, -3, -4, -5]
    assert together.do(6, work) == -6  # nobody else comes again
    assert groups == [[0], [1, 2, 3, 4, 5], [6]]


def test_threads_of_several_actors_each_stand_in_the_ledger(file: Path) -> None:
    with Engram.open(file) as memory, ThreadPoolExecutor(8) as pool:
        doors = [memory.seen_by(memory.access, f"agent-{number}") for number in range(4)]
        told = [(doors[place % 4], f"Crate {place} holds {place * 7} apples") for place in range(24)]
        ids = list(pool.map(lambda one: one[0].remember(one[1]).memory.id, told))

        actors = [{event.actor for event in memory.events(one)} for one in ids]
        assert actors == [{f"agent-{place % 4}"} for place in range(24)]
