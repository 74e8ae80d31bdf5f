"""The recall table says what the records say: after every write, in every process, with blocks or without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.model.facts import EdgeType
from engram.model.memory import Kind, Memory, Status
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.store.sqlite import SqliteStore, table, texts
from engram.testing import START, FakeClock
from engram.text import bm25
from engram.text.words import weight
from tests.store.making import (
    add,
    change,
    erase,
    found_by,
    key_of,
    make,
    put,
    rarity_of,
    relate,
    search_words,
    view,
)

WORDS = ("tea", "samovar", "harbour", "anna", "blue", "seven", "茶壶")
PLACES = (Scope("one"), Scope("one", agent="rex"), Scope("one", agent="ada"), Scope("two"))
CALLERS = (
    Access.everything(),
    Access(Scope("one")),
    Access(Scope("one", agent="rex"), Role.AGENT),
    Access(Scope("two"), Role.AGENT),
)
Step = tuple[str, Any, Any]

contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
longs = st.tuples(contents, st.integers(401, 700)).map(
    lambda two: " ".join([two[0], *(f"filler{n}" for n in range(two[1])), two[0]])
)
steps = st.one_of(
    st.tuples(st.just("add"), st.one_of(contents, longs), st.sampled_from(PLACES)),
    st.tuples(st.just("reword"), st.integers(0, 99), contents),
    st.tuples(st.just("move"), st.integers(0, 99), st.sampled_from(PLACES)),
    st.tuples(st.just("status"), st.integers(0, 99), st.sampled_from(tuple(Status))),
    st.tuples(st.just("erase"), st.integers(0, 99), st.none()),
    st.tuples(st.just("next"), st.integers(0, 99), st.integers(0, 99)),
    st.tuples(st.just("look"), st.none(), st.none()),
)


@dataclass
class World:
    """What was written, and who looks at it."""

    stores: list[SqliteStore]
    memories: list[Memory] = field(default_factory=list)

    def take(self, step: Step) -> None:
        name, first, second = step
        store = self.stores[0]
        if name == "add":
            self.memories.append(add(store, str(first), scope=second))
            return
        if name == "look" or not self.memories:
            for one in self.stores:
                rarity_of(one, ["tea"], CALLERS[0])
            return
        place = first % len(self.memories)
        old = self.memories[place]
        if name == "erase":
            erase(store, self.memories.pop(place))
        elif name == "next":
            other = self.memories[second % len(self.memories)]
            if other.id != old.id and other.scope == old.scope:
                relate(store, old, other, EdgeType.NEXT)
        else:
            new = {
                "reword": lambda: replace(old, content=str(second)),
                "move": lambda: replace(old, scope=second),
                "status": lambda: replace(old, status=second),
            }[name]()
            self.memories[place] = change(
                store, new, findable=found_by(new.content) if name == "reword" else None
            )


def added(counts: Mapping[str, float], length: float, asked: Mapping[str, float]) -> dict[str, float]:
    """What each term adds to a document of a length, in average lengths."""
    damping = bm25.K1 * (1 - bm25.B + bm25.B * length)
    return {
        term: asked[term] * (bm25.K1 + 1) * count / (count + damping)
        for term, count in counts.items()
        if term in asked
    }


def brute(path: Path, terms: tuple[str, ...], seen: View) -> dict[int, dict[str, float]]:
    """BM25 of each memory that the caller may read, by plain SQL and arithmetic."""
    with closing(apsw.Connection(str(path))) as db:
        lines: list[tuple[Any, ...]] = db.execute(
            "SELECT t.row, t.body, t.cues, t.length, m.status, n.name, s.project, s.squad, s.agent,"
            " s.channel, s.user FROM texts t JOIN memories m ON m.row = t.row JOIN scopes s ON s.id = m.scope"
            " JOIN namespaces n ON n.id = s.namespace"
        ).fetchall()
    mine = [line for line in lines if seen.access.may_read(Scope(*line[5:]))]
    documents = Counter(term for line in mine for term in {*line[1].split(), *line[2].split()})
    average = sum(line[3] for line in mine) / max(1, len(mine))
    asked = {term: bm25.idf(documents[term], len(mine)) * weight(term) for term in terms if documents[term]}
    told = {}
    for row, body, cues, length, status, *_ in mine:
        words = body.split(" ")
        counts = Counter({term: min(31, words.count(term)) for term in asked})
        counts.update({term: bm25.CUE_WEIGHT * cues.split(" ").count(term) for term in asked})
        found = added({t: c for t, c in counts.items() if c}, length / average, asked)
        if length > bm25.LONG and found:
            found = with_best_passage(found, words, asked, bm25.PASSAGE / average)
        if status in {one.value for one in seen.filters.statuses}:
            told[int(row)] = found
    return told


def check(path: Path, stores: list[SqliteStore]) -> None:
    for access in CALLERS:
        seen = view(access, statuses=frozenset({Status.ACTIVE, Status.SAID}))
        terms = ("tea", "samovar", "filler77", "茶壶", "_u茶", "unheard")
        expected = brute(path, terms, seen)
        for store in stores:
            found = dict(search_words(store, terms, seen, 1_000))
            assert set(found) == {key for key, match in expected.items() if match}
            for key, match in found.items():
                assert match.terms == pytest.approx(expected[key], rel=1e-4)
            within = store.texts.ask(terms, access).within(seen, 1_000)
            assert within is not None
            assert within.tolist() == sorted(expected)
            keys = np.arange(1, 120, dtype=np.int64)
            assert keys[store.texts.ask((), access).passing(keys, seen)].tolist() == sorted(expected)
            order = [-round(sum(expected[key].values()), 3) for key in found]
            assert order == sorted(order)


def check_turns(path: Path, store: SqliteStore) -> None:
    with closing(apsw.Connection(str(path))) as db:
        edges: list[Any] = db.execute("SELECT source, target FROM edges WHERE type = 'next'").fetchall()
        keys: list[Any] = [line[0] for line in db.execute("SELECT row FROM memories ORDER BY row")]
    before: dict[int, int] = {}
    for source, target in edges:
        before[target] = max(source, before.get(target, 0))
    turns = store.texts.ask((), CALLERS[0]).turns(np.array(keys, dtype=np.int64), view())
    assert dict(zip(keys, turns.before[0].tolist(), strict=True)) == {key: before.get(key, 0) for key in keys}
    for key, after in zip(keys, turns.after[0].tolist(), strict=True):
        assert after in {0, *(target for target, source in before.items() if source == key)}
        assert bool(after) == (key in before.values())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few memories."""
    monkeypatch.setattr(table, "BATCH", 8)
    monkeypatch.setattr(table, "BLOCK", 8)
    monkeypatch.setattr(table, "WORTH_KEEPING", 3)


@pytest.mark.usefixtures("small")
@given(taken=st.lists(steps, min_size=5, max_size=40))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_table_says_what_the_records_say(taken: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "memories.engram")
        first = SqliteStore.open(path, FakeClock())
        second = SqliteStore.open(path, FakeClock())
        world = World([first, second])
        for step in taken:
            world.take(step)
        check(path, [first, second])
        check_turns(path, second)
        second.close()
        first.close()
        again = SqliteStore.open(path, FakeClock())
        check(path, [again])
        again.close()


@pytest.mark.usefixtures("small")
@given(taken=st.lists(steps, min_size=10, max_size=40))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_common_words_named_by_none_rank_all_the_same(taken: list[Step]) -> None:
    """What only the rarest words name is ranked by all words, as if each had been looked at."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "memories.engram")
        store = SqliteStore.open(path, FakeClock())
        world = World([store])
        for step in taken:
            world.take(step)
        seen = view(CALLERS[1])
        terms = ("tea", "samovar", "harbour", "anna")
        expected = brute(path, terms, seen)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(texts, "ROWS_CAP", 1)
            patch.setattr(texts, "SHARE_CAP", 0.0)
            for key, match in search_words(store, terms, seen, 50):
                assert match.terms == pytest.approx(expected[key], rel=1e-4)
        store.close()


def blocks(path: Path) -> list[tuple[Any, Any]]:
    with closing(apsw.Connection(str(path))) as db:
        return [(line[0], line[1]) for line in db.execute("SELECT first, last FROM blocks ORDER BY first")]


@pytest.mark.usefixtures("small")
def test_the_next_process_begins_with_blocks(path: Path, clock: FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        for number in range(20):
            add(store, f"tea number {number}")
    assert blocks(path)[0][0] == 1
    with closing(SqliteStore.open(path, clock)) as store:
        assert len(search_words(store, ["tea"], view(), 50)) == 20


@pytest.mark.usefixtures("small")
def test_erasing_drops_the_blocks_that_know(path: Path, clock: FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        memories = [add(store, f"tea number {number}") for number in range(20)]
    first = blocks(path)[0]
    with closing(SqliteStore.open(path, clock)) as store:
        erase(store, memories[0])
        assert first not in blocks(path)
        assert len(search_words(store, ["tea"], view(), 50)) == 19
    with closing(SqliteStore.open(path, clock)) as store:
        assert len(search_words(store, ["tea"], view(), 50)) == 19


def test_namespaces_asked_for_long_ago_are_let_go(
    path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "UNITS_KEPT", 5)
    with closing(SqliteStore.open(path, clock)) as store:
        for name in ("one", "two", "three"):
            for number in range(3):
                add(store, f"tea number {number}", scope=Scope(name))
        for name in ("one", "two", "three", "one"):
            assert len(search_words(store, ["tea"], view(Access(Scope(name))), 9)) == 3
        assert sum(one.size for one in store._tables._tables.values()) <= 5  # noqa: SLF001


def test_kinds_and_times_are_told_by_the_table(path: Path, clock: FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        old = add(store, "tea at noon", kind=Kind.EPISODIC, event_time=START.replace(year=2001))
        new = add(store, "tea at night", kind=Kind.SEMANTIC, event_time=START)

        def found(**filters: Any) -> set[int]:
            return {key for key, _ in search_words(store, ["tea"], view(**filters), 9)}

        assert found(kinds=frozenset({Kind.EPISODIC})) == {key_of(store, old)}
        assert found(happened_since=START) == {key_of(store, new)}
        assert found(happened_until=START.replace(year=2002)) == {key_of(store, old)}
        assert found(happened_until=START, kinds=frozenset({Kind.SEMANTIC})) == {key_of(store, new)}


def test_filters_beyond_the_table_hold(path: Path, clock: FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        for number in range(60):
            add(store, f"tea number {number}")
        tagged = put(store, make("one long line about tea and other things", tags=("green",)))
        found = search_words(store, ["tea"], view(tags_any=frozenset({"green"})), 3)
        assert [key for key, _ in found] == [key_of(store, tagged)]


def test_what_is_read_at_once_is_of_one_moment(path: Path, clock: FakeClock) -> None:
    with closing(SqliteStore.open(path, clock)) as store:
        add(store, "tea in the morning")
        with store.reading():
            assert store.memories.count(view()) == 1
            add(store, "tea at noon")
            with store.reading():
                assert len(search_words(store, ["tea"], view(), 9)) == store.memories.count(view()) == 1
        assert len(search_words(store, ["tea"], view(), 9)) == store.memories.count(view()) == 2


def with_best_passage(
    whole: Mapping[str, float], words: Sequence[str], asked: Mapping[str, float], length: float
) -> dict[str, float]:
    """What each term adds to a long document: by all of it, or by the passage that fits best.

    A name that stands once in a contract says little of the contract and much of its paragraph.
    """
    places = [(place, word) for place, word in enumerate(words) if word in asked]
    passages: dict[int, Counter[str]] = {}
    for place, word in places:
        for start in {place // bm25.STEP, max(0, place // bm25.STEP - 1)}:
            passages.setdefault(start, Counter())[word] += 1
    best: dict[str, float] = {}
    for counts in passages.values():
        found = added(counts, length, asked)
        if sum(found.values()) > sum(best.values()):
            best = found
    return {term: max(whole.get(term, 0.0), best.get(term, 0.0)) for term in {*whole, *best}}
