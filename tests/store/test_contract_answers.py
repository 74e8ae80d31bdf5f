"""Answers to keyed writes are found again, for a while and so many."""

from __future__ import annotations

from datetime import timedelta

from engram.model.event import KeptAnswer
from engram.ports import Store
from engram.testing import START


def kept(key: str, minutes: int = 0, caller: str = "rex") -> KeptAnswer:
    return KeptAnswer(caller, key, "mark", 201, b"\x01sealed\x00", START + timedelta(minutes=minutes))


def test_an_answer_is_found_by_caller_and_key(store: Store) -> None:
    store.answers.keep(kept("one"), START, 10)

    assert store.answers.find("rex", "one") == kept("one")
    assert store.answers.find("ada", "one") is None
    assert store.answers.find("rex", "two") is None


def test_a_later_answer_takes_the_place_of_the_former(store: Store) -> None:
    store.answers.keep(kept("one"), START, 10)
    store.answers.keep(kept("one", 5), START, 10)

    assert store.answers.find("rex", "one") == kept("one", 5)


def test_old_ones_and_those_beyond_so_many_go(store: Store) -> None:
    for minutes in range(5):
        store.answers.keep(kept(str(minutes), minutes), START + timedelta(minutes=1), 3)

    assert [key for key in "01234" if store.answers.find("rex", key)] == ["2", "3", "4"]
    store.answers.keep(kept("9", 9), START + timedelta(minutes=4), 10)
    assert [key for key in "012349" if store.answers.find("rex", key)] == ["4", "9"]
