"""As of a time: what was believed then, in the words of that time, whatever has happened since."""

from __future__ import annotations

from contextlib import closing, suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.errors import EngramError, OutOfRange, WrongType
from engram.model.memory import Filters, Status
from engram.testing import FakeClock, HashEmbedder

STEPS = st.one_of(
    st.tuples(
        st.just("remember"), st.sampled_from(("lives in Oslo", "lives in Rome", "likes tea", "likes red"))
    ),
    st.tuples(st.just("reword"), st.integers(0, 9), st.sampled_from(("likes blue", "was here", "likes tea"))),
    st.tuples(st.just("forget"), st.integers(0, 9)),
    st.tuples(st.just("restore"), st.integers(0, 9)),
    st.tuples(st.just("doubt"), st.integers(0, 9), st.sampled_from(("challenged", "invalidated"))),
    st.tuples(st.just("confirm"), st.integers(0, 9)),
    st.tuples(st.just("erase"), st.integers(0, 9)),
)


def opened(clock: FakeClock) -> Engram:
    return Engram.open(":memory:", clock=clock, embedder=HashEmbedder())


def do(memory: Engram, step: tuple[Any, ...], ids: list[str]) -> None:
    """Carry a step out; what cannot be done is left."""
    match step:
        case "remember", words:
            ids.append(memory.remember(f"Zelda {words}").memory.id)
        case verb, number, *rest if ids:
            one = ids[number % len(ids)]
            with suppress(EngramError):
                match verb:
                    case "reword":
                        memory.update(one, content=f"Zelda {rest[0]}")
                    case "forget":
                        memory.forget(one)
                    case "restore":
                        memory.restore(one)
                    case "doubt":
                        memory.set_status(one, rest[0])
                    case "confirm":
                        memory.confirm(one)
                    case "erase":
                        memory.erase(one)


def shown(memory: Engram, as_of: datetime | None = None) -> tuple[set[tuple[str, str]], list[Any]]:
    found = memory.recall("Zelda", limit=50, min_relevance=0.0, dry=True, as_of=as_of)
    listed = memory.list(as_of=as_of)
    return (
        {(hit.memory.id, hit.memory.content) for hit in found},
        [(one.id, one.content, one.status, one.confidence, one.valid_to, one.metadata) for one in listed],
    )


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(steps=st.lists(STEPS, min_size=1, max_size=12))
def test_a_look_back_shows_what_was_shown(steps: list[tuple[Any, ...]]) -> None:
    clock = FakeClock()
    with closing(opened(clock)) as memory:
        ids: list[str] = []
        seen = []
        for step in steps:
            do(memory, step, ids)
            seen.append((clock.now(), *shown(memory)))
            clock.advance(hours=1)
        left = {one.id for one in memory.list(filters=Filters(statuses=frozenset(Status)))}
        for at, recalled, listed in seen:
            then_recalled, then_listed = shown(memory, at)
            assert then_recalled == {one for one in recalled if one[0] in left}
            assert then_listed == [one for one in listed if one[0] in left]


def test_a_look_back_leaves_no_trace() -> None:
    clock = FakeClock()
    with closing(opened(clock)) as memory:
        memory.remember("Zelda lives in Oslo")
        at = clock.now()
        clock.advance(hours=1)
        [hit] = memory.recall("where does Zelda live?", as_of=at.isoformat()).hits
        assert memory.recall("where does Zelda live?", as_of=at, dry=False).at == at
        memory.list(limit=1)
        kept = memory.get(hit.memory.id)
        assert kept is not None
        assert (kept.usage.accessed, kept.last_accessed) == (0, None)
        assert memory.recall("Zelda", as_of=at - timedelta(days=1)).hits == ()


def test_secret_words_of_the_past_are_not_made_up() -> None:
    clock = FakeClock()
    with closing(opened(clock)) as memory:
        one = memory.remember("Zelda has a key", tier="confidential").memory
        at = clock.now()
        clock.advance(minutes=1)
        memory.update(one.id, content="Zelda has a door")
        assert list(memory.list(as_of=at)) == []
        assert [now.content for now in memory.list()] == ["Zelda has a door"]


def test_filters_that_mean_nothing_are_refused() -> None:
    with closing(opened(FakeClock())) as memory:
        with pytest.raises(WrongType):
            memory.list(as_of="some day")
        with pytest.raises(OutOfRange):
            memory.list(filters=Filters(min_trust=2.0))
        with pytest.raises(WrongType):
            memory.list(filters=Filters(details={"x": [1]}))  # type: ignore[dict-item]


def test_what_words_speak_of_is_filtered_by() -> None:
    with closing(opened(FakeClock())) as memory:
        memory.remember("Anna Berg fixed the crash in src/auth.py on 2024-05-03")
        memory.remember("We moved the shop to postgres")
        for filters in (
            Filters(people=frozenset({"anna"})),
            Filters(paths=frozenset({"auth"})),
            Filters(code_languages=frozenset({"python"})),
            Filters(about_since=datetime(2024, 5, 3), about_until=datetime(2024, 5, 3)),  # noqa: DTZ001 - a day
        ):
            assert [one.content[:9] for one in memory.list(filters=filters)] == ["Anna Berg"]
        found = memory.recall("what did we move?", filters=Filters(technologies=frozenset({"Postgres"})))
        assert [hit.memory.content for hit in found] == ["We moved the shop to postgres"]
        memory.update(found[0].memory.id, content="We moved the shop to redis")
        assert not memory.list(filters=Filters(technologies=frozenset({"PostgreSQL"}))).memories
        assert memory.list(filters=Filters(technologies=frozenset({"redis"}))).memories
