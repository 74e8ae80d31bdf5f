from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.memory import Status
from engram.model.scope import Access, Role, Scope
from engram.ports import Findable, Unit
from engram.store.sqlite import SqliteStore, texts
from engram.testing import FakeClock
from tests.store.making import (
    ALL,
    EVERYTHING,
    add,
    contents_of,
    erase,
    find,
    found_by,
    make,
    rarity_of,
    search_words,
    view,
    word_matches,
)
from tests.tables import every

SYNTAX = [
    '"',
    "OR",
    "AND",
    "NOT",
    "NEAR(",
    "*",
    "^",
    ":",
    "-",
    "(",
    ")",
    "{body}",
    "a*",
    'a" OR "b',
    "body:tea",
    "",
    "\0",
    "\ud800",
]


@pytest.fixture(scope="module")
def tea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path_factory.mktemp("tea") / "memories.engram", FakeClock())
    add(store, "tea is hot")
    yield store
    store.close()


@every("term", SYNTAX)
def test_what_looks_like_syntax_is_a_word_like_any_other(tea: SqliteStore, term: str) -> None:
    assert search_words(tea, [term], ALL, 5) == []
    assert contents_of(tea, [key for key, _ in search_words(tea, [term, "tea", term], ALL, 5)]) == [
        "tea is hot"
    ]
    assert word_matches(tea, [term], [1], EVERYTHING)[1].terms == {}


@given(terms=st.lists(st.text(max_size=8), max_size=5))
def test_no_words_break_a_search(tea: SqliteStore, terms: list[str]) -> None:
    found = search_words(tea, [*terms, "tea"], ALL, 5)
    assert [key for key, _ in found] == [1]


@pytest.fixture
def crowded(path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A store that counts words as common when more than 20 memories have them."""
    monkeypatch.setattr(texts, "ROWS_CAP", 20)
    monkeypatch.setattr(texts, "SHARE_CAP", 0.0)
    store = SqliteStore.open(path, clock)
    yield store
    store.close()


def fill(store: SqliteStore, contents: list[str], scope: Scope = Scope()) -> None:
    def work(unit: Unit) -> None:
        for text in contents:
            unit.add(make(text, scope=scope), found_by(text), None, "")

    store.write(work, "tester")


def test_a_rare_word_finds_what_common_words_hide(crowded: SqliteStore) -> None:
    fill(crowded, [f"tea and coffee day {n}" for n in range(300)])
    fill(crowded, ["tea with cardamom"])
    assert find(crowded, "tea coffee cardamom", limit=1) == ["tea with cardamom"]


def test_common_words_together_find_those_that_have_both(crowded: SqliteStore) -> None:
    fill(crowded, [f"tea day {n}" for n in range(100)])
    fill(crowded, ["tea coffee"])
    fill(crowded, [f"coffee day {n}" for n in range(100)])
    assert find(crowded, "coffee tea", limit=1) == ["tea coffee"]


def test_one_common_word_finds_the_newest(crowded: SqliteStore) -> None:
    fill(crowded, [f"tea day{n}" for n in range(100)])
    assert find(crowded, "tea", limit=3) == ["tea day99", "tea day98", "tea day97"]


def test_a_word_common_in_the_file_is_found_in_a_small_place(crowded: SqliteStore) -> None:
    fill(crowded, [f"tea coffee {n}" for n in range(300)])
    home = Scope("home")
    fill(crowded, ["tea at home", "coffee at home", "milk at home"], home)
    seen = view(Access(home, Role.AGENT))
    assert sorted(find(crowded, "tea coffee", seen)) == ["coffee at home", "tea at home"]


def test_many_that_may_not_be_seen_do_not_hide_one_that_may(crowded: SqliteStore) -> None:
    fill(crowded, ["cardamom tea, long ago, in a far away country"])
    for n in range(15):
        add(crowded, f"cardamom {n}", status=Status.ARCHIVED)
    seen = view(statuses=frozenset({Status.ACTIVE}))
    assert find(crowded, "cardamom", seen) == ["cardamom tea, long ago, in a far away country"]


def test_a_question_may_be_a_whole_page(crowded: SqliteStore) -> None:
    fill(crowded, [f"tea word{n}" for n in range(300)])
    page = ["tea", *(f"word{n}" for n in range(300)), *(f"unknown{n}" for n in range(3_000))]
    assert len(search_words(crowded, page, ALL, 10)) == 10


def test_a_cue_counts_less_than_a_word(store: SqliteStore) -> None:
    by_cue, by_word = make("first"), make("second")
    store.write(lambda u: u.add(by_cue, Findable(("alpha",), ("tea",)), None, ""), "tester")
    store.write(lambda u: u.add(by_word, Findable(("tea", "alpha"), ()), None, ""), "tester")
    assert find(store, "tea") == ["second", "first"]


def test_counts_follow_growth_and_erasing(store: SqliteStore) -> None:
    memory = add(store, "tea is hot")
    once = rarity_of(store, ["tea", "hot"], EVERYTHING)
    assert once["tea"] == once["hot"]
    fill(store, [f"tea number {n}" for n in range(20)])
    many = rarity_of(store, ["tea", "hot", "unknown"], EVERYTHING)
    assert many["tea"] < many["hot"] < many["unknown"]
    erase(store, memory)
    assert find(store, "hot") == []


def test_a_scope_may_be_named_like_a_token(store: SqliteStore) -> None:
    fill(store, ["_ns1 _sc1 tea"], Scope("_ns1", project="_sc1"))
    assert search_words(store, ["_ns1"], ALL, 5) == []
    assert store.memories.stats(EVERYTHING, None).memories == 1
