"""Time zones: what "yesterday" means depends on where somebody is; what is stored stays UTC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram import Engram
from engram.errors import ConfigError, InvalidInput
from engram.model.clock import here, zone_of
from engram.model.recall import Recall
from engram.model.scope import Access, Role, Scope
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every

EVENING = datetime(2025, 9, 17, 3, 0, tzinfo=UTC)  # the 16th, 20:00 in Los Angeles; the 17th, 12:00 in Tokyo
LOS_ANGELES, TOKYO = "America/Los_Angeles", "Asia/Tokyo"


@contextmanager
def opened(timezone: str = "UTC", at: datetime = EVENING, **more: Any) -> Iterator[Engram]:
    config = {"timezone": timezone}
    with Engram.open(
        ":memory:", clock=FakeClock(at), config=config, embedder=HashEmbedder(), **more
    ) as memory:
        yield memory


def days(answer: Recall) -> list[tuple[str, str]]:
    return [
        (f"{one.first:%Y-%m-%d}", f"{one.last:%Y-%m-%d}")
        for one in answer.plan.spans
        if one.first and one.last
    ]


@every(
    ("timezone", "time", "day"),
    [
        ("UTC", "2025-09-16T20:00:00-07:00", "2025-09-15"),  # the offset of what was said
        (TOKYO, "2025-09-16T20:00:00-07:00", "2025-09-15"),
        (LOS_ANGELES, "2025-09-17T03:00:00Z", "2025-09-15"),  # UTC says nothing about where somebody is
        (LOS_ANGELES, None, "2025-09-15"),
        (LOS_ANGELES, "2025-09-16T20:00:00", "2025-09-15"),
        (TOKYO, None, "2025-09-16"),
        ("UTC", None, "2025-09-16"),
    ],
)
def test_yesterday_is_the_day_before_where_it_was_said(timezone: str, time: str | None, day: str) -> None:
    with opened(timezone) as memory:
        memory.observe("Yesterday I cleaned the gutters of the house.", time=time)
        memory.flush()
        [kept] = memory.list().memories

    assert f"{kept.happened_at:%Y-%m-%d}" == day
    assert kept.metadata["dates"] == [day]
    assert kept.event_time is not None
    assert kept.event_time.utcoffset() == timedelta(0)


def test_what_waits_keeps_the_clocks_it_was_said_by() -> None:
    with opened() as memory:
        memory.observe("ok", time="2025-09-16T20:00:00-07:00", session="s")
        [turn] = memory.turns("s")

    assert turn.at.isoformat() == "2025-09-16T20:00:00-07:00"


def test_a_statement_is_read_by_the_zone_of_the_settings() -> None:
    with opened(LOS_ANGELES) as memory:
        kept = memory.remember("I met Anna at the station yesterday").memory
        again = memory.get(kept.id)

    assert kept.metadata["dates"] == ["2025-09-15"]
    assert again is not None
    assert f"{again.happened_at:%Y-%m-%d}" == "2025-09-15"


def test_a_time_without_an_offset_is_a_time_of_the_settings() -> None:
    with opened(LOS_ANGELES) as memory:
        kept = memory.remember("The roof was mended", event_time="2025-09-10").memory

    assert kept.event_time == datetime(2025, 9, 10, 7, tzinfo=UTC)
    assert f"{kept.happened_at:%Y-%m-%d}" == "2025-09-10"


def test_a_question_asks_about_the_days_where_it_is_asked() -> None:
    with opened(LOS_ANGELES) as memory:
        memory.remember("I repaired the bicycle", event_time="2025-09-16T19:00:00-07:00")
        there = memory.recall("what did I do today?")
        guest = memory.seen_by(Access(Scope(), Role.OWNER, timezone=TOKYO), "guest")
        elsewhere = guest.recall("what did I do yesterday?")

    assert days(there) == [("2025-09-16", "2025-09-17")] or not there.plan.spans
    assert [hit.memory.content for hit in there.hits] == ["I repaired the bicycle"]
    assert days(elsewhere) == [("2025-09-16", "2025-09-17")]
    assert elsewhere.plan.spans[0].first == datetime(2025, 9, 15, 15, tzinfo=UTC)


def test_the_bearer_of_a_token_speaks_by_the_clocks_it_names() -> None:
    with opened("UTC") as memory:
        issued = memory.tokens.create("rex", "agent", timezone=LOS_ANGELES)
        token = memory.tokens.bearer(issued.secret)
        assert token is not None
        guest = memory.seen_by(token.access, token.name)
        kept = guest.remember("I met Anna at the station yesterday").memory

        with pytest.raises(InvalidInput, match="Mars"):
            memory.tokens.create("ada", timezone="Mars/Olympus")

    assert token.timezone == LOS_ANGELES
    assert kept.metadata["dates"] == ["2025-09-15"]


def test_a_session_is_where_its_user_is_also_after_it_slept() -> None:
    with opened("UTC") as memory:
        memory.sessions.start(id="monday", timezone=LOS_ANGELES)
        memory.sessions.suspend("monday")
        memory.sessions.turn("monday", "Yesterday I cleaned the gutters of the house.")
        memory.sessions.reply("monday", "Well done.")
        memory.flush()
        [kept] = memory.list().memories

    assert kept.metadata["dates"] == ["2025-09-15"]


def test_packs_and_resumes_bear_the_date_of_their_reader() -> None:
    with opened(LOS_ANGELES) as memory:
        memory.remember("My editor is Helix")

        assert memory.recall_pack().day == "2025-09-16"
        assert "# Resume 2025-09-16" in memory.resume().text
        assert "(2025-09-16)" in memory.resume().text


def test_a_promise_for_tomorrow_is_due_when_tomorrow_ends_there() -> None:
    with opened(LOS_ANGELES) as memory:
        due = memory.commitments.open("Send the report", due="tomorrow").due

    assert due == datetime(2025, 9, 18, 7, tzinfo=UTC)


def test_a_zone_that_there_is_not_is_refused_by_name() -> None:
    with (
        pytest.raises(ConfigError, match="timezone: there is no time zone 'Mars/Olympus'"),
        opened("Mars/Olympus"),
    ):
        pass


def test_the_zone_of_this_system_knows_its_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    time = pytest.importorskip("time")
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot be told another zone")
    monkeypatch.setenv("TZ", "Europe/Oslo")
    time.tzset()
    try:
        summer, winter = datetime(2025, 7, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
        assert [here(one, zone_of("")).hour for one in (summer, winter)] == [2, 1]
        assert datetime(2025, 7, 1, 2, tzinfo=zone_of("")) == summer
    finally:
        monkeypatch.undo()
        time.tzset()
