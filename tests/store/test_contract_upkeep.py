"""What maintenance reads: passes over memories, in slices by key."""

from __future__ import annotations

from collections.abc import Iterator

from engram.model.memory import Filters, Layer, Memory, Status
from engram.ports import Store, Unit
from tests.store.making import found_by, make

LAYERS = [
    *([Layer.CORE] * 4 + [Layer.WORKING] * 60),  # few, and then a long way to the next
    *([Layer.CORE, Layer.WORKING] * 20),
    *(([Layer.CORE] + [Layer.WORKING] * 19) * 3),
    *([Layer.WORKING] * 30 + [Layer.CORE] * 9),
]


def passed(store: Store, filters: Filters, limit: int) -> Iterator[tuple[int, Memory]]:
    after = 0
    while found := store.upkeep.slice(filters, after, limit):
        assert len(found) <= limit
        yield from found
        after = found[-1][0]
        if len(found) < limit:
            return


def test_a_pass_over_a_layer_meets_each_memory_once_in_order(store: Store) -> None:
    memories = [make(f"number {number}", layer=layer) for number, layer in enumerate(LAYERS)]

    def work(unit: Unit) -> None:
        for one in memories:
            unit.add(one, found_by(one.content), None, "")

    store.write(work, "tester")
    for layers in ({Layer.CORE}, {Layer.CORE, Layer.BUFFER}, {Layer.CORE, Layer.WORKING}, {Layer.BUFFER}):
        wanted = Filters(statuses=frozenset({Status.ACTIVE}), layers=frozenset(layers))
        expected = [one.content for one in memories if one.layer in layers]
        for limit in (1, 3, 200):
            found = list(passed(store, wanted, limit))
            assert [one.content for _, one in found] == expected
            keys = [key for key, _ in found]
            assert keys == sorted(set(keys))
