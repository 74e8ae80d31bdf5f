"""How recalls went is kept, the last ones only."""

from __future__ import annotations

from datetime import timedelta

from engram.model.recall import Recalled
from engram.ports import Store
from engram.testing import FakeClock


def test_the_last_recalls_come_back_oldest_first_and_are_bounded(store: Store) -> None:
    at = FakeClock().now()
    went = [
        Recalled(
            at + timedelta(seconds=n),
            "lookup" if n % 2 else "",
            n / 10,
            0.5,
            n,
            1.5,
            n == 3,
            n / 100 if n else None,
        )
        for n in range(6)
    ]
    for one in went:
        store.recalls.record(one, 4)
    store.flush()

    assert store.recalls.last(10) == went[2:]
    assert store.recalls.last(2) == went[4:]


def test_a_new_store_knows_of_no_recall(store: Store) -> None:
    assert store.recalls.last(10) == []
