"""Dates in text: what an expression means on the day it was said, and how it reads later."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from engram.text.dates import dated, dates
from engram.text.when.calendar import Grain, TimeExpression
from tests.tables import every

NOW = datetime(2023, 5, 8, 10, 30)  # noqa: DTZ001 - a Monday; naive in, naive out


def only(text: str, **kw: object) -> TimeExpression:
    [found] = dates(text, NOW, **kw)  # type: ignore[arg-type]
    return found


def ends(when: TimeExpression) -> tuple[str | None, str | None]:
    return (
        f"{when.first:%Y-%m-%d}" if when.first else None,
        f"{when.last:%Y-%m-%d}" if when.last else None,
    )


DAYS = {
    "today": "2023-05-08",
    "yesterday": "2023-05-07",
    "the day before yesterday": "2023-05-06",
    "tomorrow": "2023-05-09",
    "two days ago": "2023-05-06",
    "two Mondays ago": "2023-04-24",
    "a week ago yesterday": "2023-04-30",
    "a couple of days ago": "2023-05-06",
    "three weeks from tomorrow": "2023-05-30",
    "in ten days": "2023-05-18",
    "next Friday": "2023-05-12",
    "last Friday": "2023-05-05",
    "this Saturday": "2023-05-13",
    "Monday two weeks from now": "2023-05-22",
    "Monday of next week": "2023-05-15",
    "next week on Wednesday": "2023-05-17",
    "the first Monday of next month": "2023-06-05",
    "the last day of February 2024": "2024-02-29",
    "2023-05-07": "2023-05-07",
    "5/7/2023": "2023-05-07",
    "17/5/2023": "2023-05-17",
    "7 May": "2023-05-07",
    "May 7th, 2021": "2021-05-07",
    "the 9th of May": "2023-05-09",
    "twenty-fifth of January nineteen eighty six": "1986-01-25",
    "Dec. 31, 1994": "1994-12-31",
    "05-Aug-2016": "2016-08-05",
    "Friday the 12th": "2023-05-12",
    "3 months after Easter 2023": "2023-07-09",
    "the day after Thanksgiving 2022": "2022-11-25",
    "Christmas 2022": "2022-12-25",
    "Chinese New Year 2024": "2024-02-10",
    "昨天": "2023-05-07",
    "大前天": "2023-05-05",
    "后天": "2023-05-10",
    "上周五": "2023-05-05",
    "下下周日": "2023-05-28",
    "三天前": "2023-05-05",
    "去年的今天": "2022-05-08",
    "半年前": "2022-11-08",
    "2016年6月1日": "2016-06-01",
    "二零零四年八月十五日": "2004-08-15",
    "上个月5号": "2023-04-05",
    "去年中秋节": "2022-09-10",
    "2024年春节": "2024-02-10",
}


@every(("text", "day"), DAYS.items())
def test_a_day_is_found_however_it_is_told(text: str, day: str) -> None:
    found = only(text)

    assert ends(found)[0] == day
    assert found.first
    assert found.last == found.first + timedelta(days=1)
    assert (found.kind, found.text) == ("date", text)


SPANS = {
    "last week": ("2023-05-01", "2023-05-08", Grain.WEEK),
    "the week after next": ("2023-05-22", "2023-05-29", Grain.WEEK),
    "next weekend": ("2023-05-20", "2023-05-22", Grain.WEEKEND),
    "last month": ("2023-04-01", "2023-05-01", Grain.MONTH),
    "next quarter": ("2023-07-01", "2023-10-01", Grain.QUARTER),
    "Q3 2019": ("2019-07-01", "2019-10-01", Grain.QUARTER),
    "the second half of 2020": ("2020-07-01", "2021-01-01", Grain.HALF),
    "last summer": ("2022-06-01", "2022-09-01", Grain.SEASON),
    "in 2016": ("2016-01-01", "2017-01-01", Grain.YEAR),
    "the 90s": ("1990-01-01", "2000-01-01", Grain.DECADE),
    "the 21st century": ("2000-01-01", "2100-01-01", Grain.CENTURY),
    "week 27 of last year": ("2022-07-04", "2022-07-11", Grain.WEEK),
    "mid-May": ("2023-05-10", "2023-05-21", Grain.MONTH),
    "early 2019": ("2019-01-01", "2019-05-01", Grain.YEAR),
    "the end of the month": ("2023-05-16", "2023-06-01", Grain.MONTH),
    "the last 3 months": ("2023-02-08", "2023-05-08", Grain.MONTH),
    "the first two weeks of 2021": ("2021-01-04", "2021-01-18", Grain.WEEK),
    "from May 3 to June 7": ("2023-05-03", "2023-06-08", Grain.DAY),
    "between 4 and 6 March": ("2023-03-04", "2023-03-07", Grain.DAY),
    "from May to October 2020": ("2020-05-01", "2020-11-01", Grain.MONTH),
    "Nov-Feb 2017": ("2016-11-01", "2017-03-01", Grain.MONTH),
    "the week of September 16th, 2021": ("2021-09-13", "2021-09-20", Grain.WEEK),
    "20 to 26 of next month": ("2023-06-20", "2023-06-27", Grain.DAY),
    "on or after 2016-01-01": ("2016-01-01", None, Grain.DAY),
    "by Friday": (None, "2023-05-13", Grain.DAY),
    "since Friday": ("2023-05-05", None, Grain.DAY),
    "2014 - 2018": ("2014-01-01", "2019-01-01", Grain.YEAR),
    "since May 2021": ("2021-05-01", None, Grain.MONTH),
    "after 2018": ("2019-01-01", None, Grain.YEAR),
    "before 2018": (None, "2018-01-01", Grain.YEAR),
    "until next Friday": (None, "2023-05-13", Grain.DAY),
    "by the end of this month": (None, "2023-06-01", Grain.MONTH),
    "上周": ("2023-05-01", "2023-05-08", Grain.WEEK),
    "下个月": ("2023-06-01", "2023-07-01", Grain.MONTH),
    "去年下半年": ("2022-07-01", "2023-01-01", Grain.HALF),
    "2021年的第二周": ("2021-01-11", "2021-01-18", Grain.WEEK),
    "今年第二季度": ("2023-04-01", "2023-07-01", Grain.QUARTER),
    "过去三天": ("2023-05-05", "2023-05-08", Grain.DAY),
    "5月1日到7日": ("2023-05-01", "2023-05-08", Grain.DAY),
    "2016年6月1日-6月30日": ("2016-06-01", "2016-07-01", Grain.DAY),
    "2010年至2018年": ("2010-01-01", "2019-01-01", Grain.YEAR),
    "自2018年以来": ("2018-01-01", None, Grain.YEAR),
    "2018年之前": (None, "2018-01-01", Grain.YEAR),
    "2018年之后": ("2019-01-01", None, Grain.YEAR),
    "2015年底": ("2015-09-01", "2016-01-01", Grain.YEAR),
    "上个月底": ("2023-04-16", "2023-05-01", Grain.MONTH),
    "年底之前": (None, "2024-01-01", Grain.YEAR),
    "八十年代": ("1980-01-01", "1990-01-01", Grain.DECADE),
}


@every(("text", "span"), SPANS.items())
def test_a_range_runs_from_its_first_day_to_the_day_after_its_last(
    text: str, span: tuple[str, str, Grain]
) -> None:
    found = only(text)

    assert (*ends(found), found.grain) == span
    assert found.kind == "range"


MOMENTS = {
    "tomorrow at 3pm": "2023-05-09 15:00",
    "at half past eight tomorrow morning": "2023-05-09 08:30",
    "9am on Tuesday": "2023-05-09 09:00",
    "yesterday evening at 7": "2023-05-07 19:00",
    "Tuesday 3-8": "2023-05-09 15:00",
    "between 7 and 9 last night": "2023-05-07 19:00",
    "in 5 minutes": "2023-05-08 10:35",
    "half an hour ago": "2023-05-08 10:00",
    "2022-04-23 14:55": "2022-04-23 14:55",
    "1990-04-12T10:30:00": "1990-04-12 10:30",
    "明天下午三点": "2023-05-09 15:00",
    "今早8点十五分": "2023-05-08 08:15",
    "2小时后": "2023-05-08 12:30",
}


@every(("text", "moment"), MOMENTS.items())
def test_a_day_with_a_time_is_a_moment(text: str, moment: str) -> None:
    assert f"{only(text).first:%Y-%m-%d %H:%M}" == moment


@every(
    ("text", "kind"),
    [
        ("at 3pm", "time"),
        ("quarter past three", "time"),
        ("晚上9:30", "time"),
        ("for 2.5 hours", "duration"),
        ("a few minutes", "duration"),
        ("两年", "duration"),
        ("every Monday", "set"),
        ("twice a week", "set"),
        ("on weekends", "set"),
        ("每周五", "set"),
        ("每天", "set"),
    ],
)
def test_times_lengths_and_what_comes_again_name_no_date(text: str, kind: str) -> None:
    found = only(text)

    assert found.kind == kind
    assert found.recurring == (kind == "set")
    if kind != "time":
        assert (found.first, found.last) == (None, None)


@every(("prefer", "day"), [("past", "2022-11-05"), ("future", "2023-11-05"), ("near", "2023-11-05")])
def test_a_day_without_a_year_is_chosen_as_preferred(prefer: str, day: str) -> None:
    found = only("on November 5", prefer=prefer)

    assert ends(found)[0] == day
    assert not found.certain


@every("text", ["recently", "soon", "a few weeks ago", "on Friday", "the 18th", "最近", "几天前", "周五"])
def test_vague_and_ambiguous_words_are_not_certain(text: str) -> None:
    assert not only(text).certain


@every(
    "text",
    [
        "I may march on, said April to the sun",
        "the 5th floor has 3 rooms",
        "version 2.4.11 listens on 10.0.0.1:8080",
        "I am 25 years old",
        "she scored 24/7 support 100%",
        "I sat by the window, fall or not",
        "it costs $2,019.99",
        "morning! my kid has a nut allergy",
        "Evening all, I got a dog",
        "hey, good night",
        "我有一点累，住在三号楼",
        "",
    ],
)
def test_what_only_looks_like_a_time_is_left_alone(text: str) -> None:
    assert dates(text, NOW) == []


@every("text", ["the end of Ramadan", "start of the new year", "the rest of Easter"])
def test_a_part_of_a_holiday_lies_in_that_day(text: str) -> None:
    [found] = dates(text, NOW)

    assert found.first is not None
    assert found.text == text


def test_expressions_come_left_to_right_with_their_places() -> None:
    text = "I met Anna yesterday, and 下周五 we fly; back on 12 June."
    found = dates(text, NOW)

    assert [when.text for when in found] == ["yesterday", "下周五", "12 June"]
    assert all(text[when.start : when.end] == when.text for when in found)


def test_a_zone_is_kept() -> None:
    zone = timezone(timedelta(hours=8))
    [found] = dates("yesterday", datetime(2023, 5, 8, 1, tzinfo=zone))

    assert found.first == datetime(2023, 5, 7, tzinfo=zone)
    assert dates("yesterday", datetime(2023, 5, 8, tzinfo=UTC))[0].last == datetime(2023, 5, 8, tzinfo=UTC)


MEANT = {
    "I met Anna yesterday": "7 May 2023",
    "Tomorrow is my birthday": "9 May 2023",
    "I was in Rome last week.": "the week of 1 May 2023",
    "It was last month": "April 2023",
    "It happened last year.": "2022",
    "we met two days ago": "6 May 2023",
    "we met three months ago": "February 2023",
    "See you next Friday": "Friday 12 May 2023",
    "Call me tomorrow at 3pm": "9 May 2023 at 3pm",
    "It rained last night": "the night of 7 May 2023",
    "over the last 3 months": "8 February 2023 to 7 May 2023",
    "I left 10 minutes ago": "8 May 2023 at 10:20",
    "昨天我去了上海": "2023年5月7日",
    "上周五开会": "2023年5月5日",
    "他去年结婚": "2022年",
    "昨天下午三点见面": "2023年5月7日下午三点",
    "昨晚下雨": "2023年5月7日晚上",
}


@every(("text", "meant"), MEANT.items())
def test_what_a_relative_date_meant_is_told(text: str, meant: str) -> None:
    assert [date for _, date in dated(text, NOW)] == [meant]


@every(
    "text",
    [
        "On 7 May 2023 I met Anna",
        "I swim every Monday",
        "for three days",
        "at 3pm",
        "I live in Paris now",
        "I saw her on Friday",
        "I moved a few weeks ago",
        "2016年6月1日",
        "每周五",
    ],
)
def test_what_reads_well_later_needs_no_telling(text: str) -> None:
    assert dated(text, NOW) == ()


PIECES = st.sampled_from(
    [
        "the",
        "last",
        "next",
        "this",
        "3",
        "31",
        "99",
        "2023",
        "0",
        "week",
        "of",
        "May",
        "may",
        "Feb",
        "30",
        "to",
        "from",
        "-",
        "/",
        ":",
        "pm",
        "am",
        "ago",
        "every",
        "mid",
        "Monday",
        "13th",
        "easter",
        "in",
        "before",
        "after",
        "5/7/2023",
        "0:99",
        "24:61",
        "九",
        "年",
        "月",
        "日",
        "上",
        "下",
        "周",
        "前",
        "后",
        "点",
        "半",
        "第",
        "初",
        "号",
        "个",
        "每",
        "到",
        "百",
        "9999",
        "century",
        "decades",
        "999",
        "years",
        "12",
        "Q4",
        "w53",
        "'",
        "’s",
        ".",
        ",",
        "(",
        ")",
        "hundred",
        "thousand",
        "and",
        "half",
        "a",
        "couple",
        "eid",
        "元",
        "民国",
    ]
)


@given(st.lists(PIECES, max_size=14), st.sampled_from(["", " "]), st.datetimes())
def test_no_row_of_words_breaks_it(pieces: list[str], space: str, now: datetime) -> None:
    text = space.join(pieces)
    end = 0
    for when in dates(text, now):
        assert end <= when.start < when.end
        assert text[when.start : when.end] == when.text
        assert when.first is None or when.last is None or when.first <= when.last
        end = when.end
    dated(text, now)


@every(
    ("now", "text"),
    product(
        [datetime.min, datetime.max],  # noqa: DTZ901 - naive in, naive out
        ["until yesterday", "tomorrow", "last century", "截至今早", "三千年前", "later 90s"],
    ),
)
def test_the_ends_of_the_calendar_break_nothing(text: str, now: datetime) -> None:
    dates(text, now)
    dated(text, now)


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    dates(text, NOW)
    dated(text, NOW)


SAID = datetime(2026, 3, 2, 10)  # noqa: DTZ001 - a Monday
MEANT = {
    "哦不对，是3月16号": "2026-03-16",
    "会议改到3月16号了": "2026-03-16",
    "我3月16号去了上海": "2025-03-16",
    "预产期十月中旬": "2026-10-10",
    "下个月第一个周一": "2026-04-06",
    "We hosted Thanksgiving last year.": "2025-11-27",
    "last year's Thanksgiving": "2025-11-27",
    "I saw it in October of last year": "2025-10-01",
    "May 3 last year": "2025-05-03",
    "next month's first Monday": "2026-04-06",
    "this year's last quarter": "2026-10-01",
    "I quit in November": "2025-11-01",
    "The baby is due in mid October": "2026-10-10",
    "I met her on 20 March": "2025-03-20",
    "The exam is on 20 March": "2026-03-20",
    "I'm flying on the 27th": "2026-03-27",
    "I have a call on Friday": "2026-03-06",
    "I met her on Friday": "2026-02-27",
    "The exam's next week": "2026-03-09",
    "I saw her last week": "2026-02-23",
    "I had last week off": "2026-02-23",
    "What did we ship in Q1?": "2026-01-01",
}


@every(("text", "day"), MEANT.items())
def test_a_date_without_its_year_is_the_one_that_is_meant(text: str, day: str) -> None:
    [found] = dates(text, SAID)

    assert ends(found)[0] == day


def test_a_quarter_ends_with_its_last_month() -> None:
    [found] = dates("We ship by the end of Q3", SAID)

    assert ends(found) == (None, "2026-10-01")


NOUNS = {
    "My last day at work is the end of April": ["the end of April"],
    "My next day off is Monday": ["Monday"],
    "The last week of the course is in May": ["May"],
    "his last day is Friday": ["Friday"],
    "Anna's last day is Friday": ["Friday"],
    "my last week at Siemens was fun": [],
    "my last Friday at work was fun": [],
    "In her last year she moved": [],
    "the last year of university was fun": [],
    "my last two weeks at the old place": [],
    "our last summer in Rome": [],
    "Send the October invoice to Client X": [],
    "I drive an Audi Q3": [],
}


@every(("text", "times"), NOUNS.items())
def test_a_thing_that_is_the_last_of_its_kind_is_no_time(text: str, times: list[str]) -> None:
    assert [found.text for found in dates(text, SAID)] == times
