"""What happened when the question says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Access, Engram, Filters, Recall, Scope
from engram.model.recall import Intent
from engram.recall import times
from engram.testing import FakeClock
from tests.tables import every

NOW = datetime(2023, 6, 15, 12, tzinfo=UTC)
DAYS = {
    "We hung the new curtains": datetime(2023, 6, 8, 18, tzinfo=UTC),
    "Mia lost her first tooth": datetime(2023, 6, 6, 9, tzinfo=UTC),
    "I painted the fence green": datetime(2023, 4, 20, 9, tzinfo=UTC),
    "I painted the shed blue": datetime(2023, 5, 11, 9, tzinfo=UTC),
    "The old heater was sold": datetime(2022, 11, 2, 9, tzinfo=UTC),
}


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found]


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Engram]:
    with Engram.open(tmp_path / "m.db", clock=FakeClock(NOW)) as memory:
        for content, at in DAYS.items():
            memory.remember(content, event_time=at)
        yield memory


@every("question", ["What did I do last week?", "what happened last week", "上周我做了什么？"])
def test_a_question_for_a_time_alone_brings_what_happened_then(diary: Engram, question: str) -> None:
    found = diary.recall(question)

    assert set(contents(found)[:2]) == {"We hung the new curtains", "Mia lost her first tooth"}
    assert found.plan.intent is Intent.TEMPORAL
    assert "happened then" in {evidence.name for evidence in found[0].evidence}


@every(
    ("question", "answer"),
    [
        ("What did I paint in May 2023?", "I painted the shed blue"),
        ("What did I paint in April?", "I painted the fence green"),
        ("What did I paint on 11 May?", "I painted the shed blue"),
        ("What did I paint two months ago?", "I painted the fence green"),
    ],
)
def test_of_two_that_fit_the_one_from_that_time_comes_first(
    diary: Engram, question: str, answer: str
) -> None:
    found = diary.recall(question)

    assert contents(found)[0] == answer
    assert "near the time asked about" in {evidence.name for evidence in found[0].evidence}


def test_what_lies_elsewhere_goes_where_something_of_that_time_fits(diary: Engram) -> None:
    found = diary.recall("What did I paint on 11 May 2023?", explain=True)

    assert contents(found) == ["I painted the shed blue"]
    assert any("outside the time asked about (11 May 2023)" in one.why for one in found.dropped)


def test_a_month_shuts_nothing_out_as_it_is_told_of_later(diary: Engram) -> None:
    assert "I painted the fence green" in contents(diary.recall("What did I paint in May 2023?"))


def test_where_nothing_of_that_time_fits_the_rest_stays_and_the_plan_says_so(diary: Engram) -> None:
    found = diary.recall("What did I paint in January 2023?", explain=True)

    assert set(contents(found)[:2]) == {"I painted the fence green", "I painted the shed blue"}
    assert any(note.startswith("nothing that fits lies in the time asked about") for note in found.plan.notes)


def test_the_callers_own_filter_does_shut_out(diary: Engram) -> None:
    only = Filters(happened_until=datetime(2023, 1, 1, tzinfo=UTC))

    assert contents(diary.recall("What did I do last week?", filters=only, min_relevance=0.0)) in (
        [], ["The old heater was sold"],
    )  # fmt: skip


@every("question", ["When did I paint the fence?", "How long did it take?", "every Monday?"])
def test_a_question_for_a_time_has_none_itself(diary: Engram, question: str) -> None:
    found = diary.recall(question)

    assert found.plan.spans == ()
    assert all(evidence.step != "time" for hit in found for evidence in hit.evidence)


def test_a_time_that_is_only_told_is_not_asked_for(diary: Engram) -> None:
    plan = diary.recall("I slept badly last week. Which colour has the fence?").plan

    assert plan.spans == ()


def test_the_days_that_words_speak_of_count_as_well(tmp_path: Path) -> None:
    with Engram.open(tmp_path / "m.db", clock=FakeClock(NOW)) as memory:
        memory.remember(
            "The choir concert is on 3 September 2023", event_time=datetime(2023, 2, 1, tzinfo=UTC)
        )
        memory.remember("The choir concert was cold", event_time=datetime(2023, 2, 1, tzinfo=UTC))

        found = memory.recall("Is there a choir concert in September 2023?", explain=True)

    assert contents(found)[0] == "The choir concert is on 3 September 2023"


@given(st.datetimes(datetime(2020, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_proximity_lies_between_0_and_1_and_is_whole_inside(moment: datetime) -> None:
    spans = times.spans("in May 2023", NOW)

    near = times.proximity([moment], times.bounds(spans))

    assert 0.0 <= near <= 1.0
    assert (near == 1.0) == (moment.year == 2023 and moment.month == 5)


PLACES = st.builds(
    Scope,
    namespace=st.sampled_from(["default", "other"]),
    project=st.sampled_from(["", "apollo", "gemini"]),
    user=st.sampled_from(["", "ann", "bob"]),
)


@pytest.mark.slow
@given(places=st.lists(PLACES, min_size=1, max_size=6), mine=PLACES)
def test_no_time_name_or_weight_shows_what_the_caller_may_not_see(places: list[Scope], mine: Scope) -> None:
    with Engram.open(":memory:", clock=FakeClock(NOW), access=Access.everything()) as memory:
        for number, place in enumerate(places):
            day = datetime(2023, 6, 6, number, tzinfo=UTC)
            memory.remember(f"Robert Smith hid box {number}", scope=place, event_time=day)
        access = Access(mine)
        seen = memory.seen_by(access, "agent")

        for question in (
            "What happened last week?",
            "Robert Smith",
            "Which box did Robert Smith hide on 6 June?",
        ):
            found = seen.recall(question, min_relevance=0.0, dry=True)

            assert all(access.may_read(hit.memory.scope) for hit in found)
            visible = any(access.may_read(place) for place in places)
            assert visible or found.plan.entities == ()
