"""Metadata: what a text can be filtered by."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.text.metadata import MOST, Metadata, metadata, plain
from engram.text.names import FoundName
from tests.tables import every

NOW = datetime(2024, 5, 8, 12, tzinfo=UTC)


def test_a_text_is_taken_apart() -> None:
    found = metadata(
        "Yesterday Anna and Bob Smith fixed the crash in src/auth.ts with PostgreSQL, "
        "see https://github.com/acme/shop/pull/7. What a relief!",
        now=NOW,
    )

    assert found == Metadata(
        people=("Anna", "Bob Smith"),
        technologies=("PostgreSQL",),
        paths=("src/auth.ts",),
        urls=("https://github.com/acme/shop/pull/7",),
        dates=("2024-05-07",),
        languages=("en",),
        code_languages=("TypeScript",),
        topics=("databases",),
        sentiment=found.sentiment,
    )
    assert found.sentiment in {"positive", "mixed"}


def test_a_chinese_text_is_taken_apart() -> None:
    found = metadata("昨天王老师说数据库部署失败了，太糟糕了", now=NOW)

    assert found.people == ("王老师",)
    assert found.dates == ("2024-05-07",)
    assert found.languages == ("zh",)
    assert set(found.topics) >= {"databases", "deployment"}
    assert found.sentiment == "negative"


@every(
    ("text", "expected"),
    [
        ("See you tomorrow", ["2024-05-09"]),
        ("On 2024-05-03 and 3 May 2024", ["2024-05-03"]),
        ("The fair runs from 3 to 5 May 2024", ["2024-05-03", "2024-05-05"]),
        ("in 2021", []),
        ("last summer", []),
        ("every Monday", []),
        ("v1.2.3", []),
    ],
)
def test_days_are_named_and_months_are_not(text: str, expected: list[str]) -> None:
    assert list(metadata(text, now=NOW).dates) == expected


def test_without_a_time_only_what_is_spelled_out_is_a_day() -> None:
    assert metadata("yesterday, on Monday, on May 3, on 3 May 2024").dates == ("2024-05-03",)


@every(
    ("text", "expected"),
    [
        ("```python\nprint(1)\n```", ["Python"]),
        ("```rs\nfn main() {}\n```\n\n```go\nx\n```", ["Rust", "Go"]),
        ("look at main.cpp and util.hpp", ["C++"]),
        ("we write it in Go", ["Go"]),
        ("let's go, the config is YAML", []),
        ("I speak C# and SQL", ["C#", "SQL"]),
    ],
)
def test_code_languages_come_from_blocks_files_and_names(text: str, expected: list[str]) -> None:
    assert list(metadata(text).code_languages) == expected


def test_names_that_were_found_before_are_used() -> None:
    assert metadata("Anna", names=[FoundName("Zelda", "person")]).people == ("Zelda",)


def test_only_what_says_something_is_kept_plain() -> None:
    found = plain(metadata("Anna uses Rust", now=NOW))

    assert found == {
        "people": ["Anna"],
        "technologies": ["Rust"],
        "languages": ["en"],
        "code_languages": ["Rust"],
        "sentiment": "neutral",
    }
    assert json.loads(json.dumps(found)) == found
    assert plain(Metadata()) == {}


@settings(max_examples=60)
@given(
    st.text(st.characters(exclude_categories=()), max_size=120),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_any_text_has_metadata(text: str, now: datetime | None) -> None:
    found = metadata(text, now=now)

    assert all(len(value) <= MOST for value in plain(found).values() if isinstance(value, list))
    assert json.dumps(plain(found))
