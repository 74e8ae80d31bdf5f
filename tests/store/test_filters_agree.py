"""Filtering is one thing: every search lets the same memories through."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.model.memory import Affect, Filters, Memory, Status
from engram.model.scope import Scope
from engram.ports import Store, Unit, View
from engram.store.sqlite import SqliteStore
from engram.testing import START, FakeClock
from tests.store.making import EVERYTHING, found_by, make, search_words

PEOPLE = ("Anna", "Anna Berg", "Bob")
TECHNOLOGIES = ("PostgreSQL", "Go")
PATHS = ("src/auth/login.py", "auth.py", "/etc/hosts")
URLS = ("https://docs.python.org/3", "python.org", "www.example.org/auth")
DAYS = ("2024-01-01", "2024-06-01", "2025-01-01")
MOMENTS = tuple(START + timedelta(days=day) for day in (-200, -1, 0, 1))
SHARES = (0.0, 0.25, 0.5, 1.0)
SCALARS: tuple[Any, ...] = ("bad", "3", 3, 3.0, 0.5, True, "true", None, 1)
WORDS = ("a", "b", "c")


def some(values: tuple[Any, ...]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


def any_of(*values: str) -> st.SearchStrategy[frozenset[str]]:
    return st.just(frozenset()) | st.frozensets(st.sampled_from(values), min_size=1, max_size=2)


def maybe(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.none() | st.sampled_from(values)


METADATA = st.fixed_dictionaries(
    {},
    optional={
        "people": some(PEOPLE).map(list),
        "technologies": some(TECHNOLOGIES).map(list),
        "paths": some(PATHS).map(list),
        "urls": some(URLS).map(list),
        "dates": some(DAYS).map(list),
        "languages": some(("en", "zh")).map(list),
        "code_languages": some(("Python", "Go")).map(list),
        "topics": some(("travel", "food")).map(list),
        "sentiment": st.sampled_from(("positive", "negative", "mixed")),
    },
)
DETAILS = st.dictionaries(st.sampled_from(("x", 'y"')), st.sampled_from(SCALARS), max_size=2)
RECORDS = st.fixed_dictionaries(
    {
        "tags": some(WORDS),
        "details": DETAILS,
        "metadata": METADATA,
        "importance": st.sampled_from(SHARES),
        "trust": st.sampled_from(SHARES),
        "affect": st.sampled_from(SHARES).map(lambda share: Affect(0.0, share, share)),
        "created_at": st.sampled_from(MOMENTS),
        "modified_at": st.sampled_from(MOMENTS),
        "last_accessed": maybe(MOMENTS),
        "status": st.sampled_from((Status.ACTIVE, Status.ARCHIVED)),
        "origin": st.sampled_from(("", "notes/a.md#1", "notes/b.md#1", "code/a.py")),
    }
)
FILTERS = st.builds(
    Filters,
    statuses=st.sampled_from((frozenset(), frozenset({Status.ACTIVE}))),
    as_of=maybe(MOMENTS),
    tags_any=any_of(*WORDS),
    tags_all=any_of(*WORDS),
    not_tags=any_of(*WORDS),
    people=any_of("anna", "BERG", "Anna Berg", "nobody"),
    technologies=any_of("postgres", "golang", "Rust"),
    paths=any_of("src", "auth", "login.py", "/etc"),
    urls=any_of("https://python.org", "docs.python", "example.org/", "org"),
    topics=any_of("Travel", "food"),
    languages=any_of("en", "zh"),
    code_languages=any_of("python"),
    sentiments=any_of("positive", "neutral"),
    about_since=maybe(MOMENTS),
    about_until=maybe(MOMENTS),
    details=st.just({}) | DETAILS,
    origin_prefix=st.sampled_from(("", "notes/", "code/")),
    accessed_since=maybe(MOMENTS),
    accessed_until=maybe(MOMENTS),
    modified_since=maybe(MOMENTS),
    modified_until=maybe(MOMENTS),
    min_importance=st.sampled_from(SHARES),
    max_importance=st.sampled_from(SHARES),
    min_trust=st.sampled_from(SHARES),
    min_arousal=st.sampled_from(SHARES),
)
# With every filter at once hardly anything passes: most questions ask for one or two things.
ONE_OR_TWO = st.builds(
    lambda drawn, names: Filters(**{name: getattr(drawn, name) for name in (*names, "statuses")}),
    FILTERS,
    st.lists(
        st.sampled_from([name for name in Filters.__dataclass_fields__ if name != "statuses"]), max_size=2
    ),
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    records=st.lists(RECORDS, min_size=1, max_size=6),
    asked=st.lists(ONE_OR_TWO | FILTERS, min_size=4, max_size=8),
)
def test_every_search_lets_the_same_through(records: list[dict[str, Any]], asked: list[Filters]) -> None:
    clock = FakeClock()
    with closing(SqliteStore.open(":memory:", clock)) as store:
        origins = [record["origin"] for record in records]
        memories = [
            make("word", **{name: value for name, value in one.items() if name != "origin"})
            for one in records
        ]
        store.write(lambda unit: fill(unit, memories, origins), "tester")
        for filters in asked:
            assert len(set(map(tuple, answers(store, filters)))) == 1


def fill(unit: Unit, memories: list[Memory], origins: list[str]) -> None:
    for memory, origin in zip(memories, origins, strict=True):
        unit.add(memory, found_by(memory.content), None, "")
        if origin:
            unit.set_origin(memory.id, Scope(), f"{origin}:{memory.id}", "digest")


def answers(store: Store, filters: Filters) -> list[list[int]]:
    """The keys that pass, by each way to ask."""
    seen = View(EVERYTHING, filters)
    selected = store.memories.select(seen, 99)
    page = [memory.id for memory in store.memories.page(seen, 99)]
    return [
        sorted([] if selected is None else selected.tolist()),
        sorted(store.memories.allow(seen, range(1, 20))),
        sorted(store.memories.keys(page).values()),
        sorted(key for key, _ in search_words(store, ["word"], seen, 99)),
    ]
