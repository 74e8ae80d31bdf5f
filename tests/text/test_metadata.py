"""Metadata: what a text can be filtered by."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.text.metadata import MOST, metadata
from engram.text.names import FoundName, entities
from tests.tables import every

NOW = datetime(2024, 5, 8, 12, tzinfo=UTC)


def told(text: str, now: datetime = NOW) -> dict[str, Any]:
    return metadata(text, now, entities(text))


def test_a_text_is_taken_apart() -> None:
    found = told(
        "Yesterday Anna and Bob Smith fixed the crash in src/auth.ts with PostgreSQL, "
        "see https://github.com/acme/shop/pull/7. What a relief!"
    )

    assert found.pop("sentiment") in {"positive", "mixed"}
    assert found == {
        "people": ["Anna", "Bob Smith"],
        "technologies": ["PostgreSQL"],
        "paths": ["src/auth.ts"],
        "urls": ["https://github.com/acme/shop/pull/7"],
        "dates": ["2024-05-07"],
        "languages": ["en"],
        "code_languages": ["TypeScript"],
        "topics": ["databases"],
    }


def test_a_chinese_text_is_taken_apart() -> None:
    found = told("昨天王老师说数据库部署失败了，太糟糕了")

    assert found["people"] == ["王老师"]
    assert found["dates"] == ["2024-05-07"]
    assert found["languages"] == ["zh"]
    assert set(found["topics"]) >= {"databases", "deployment"}
    assert found["sentiment"] == "negative"


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
    assert told(text).get("dates", []) == expected


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
    assert told(text).get("code_languages", []) == expected


def test_names_that_were_found_before_are_used() -> None:
    assert metadata("Anna", NOW, [FoundName("Zelda", "person")])["people"] == ["Zelda"]


def test_only_what_says_something_is_kept() -> None:
    found = told("Anna uses Rust")

    assert found == {
        "people": ["Anna"],
        "technologies": ["Rust"],
        "languages": ["en"],
        "code_languages": ["Rust"],
    }
    assert json.loads(json.dumps(found)) == found


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=()), max_size=120), st.datetimes(timezones=st.just(UTC)))
def test_any_text_has_metadata(text: str, now: datetime) -> None:
    found = told(text, now)

    assert all(len(value) <= MOST for value in found.values() if isinstance(value, list))
    assert json.dumps(found)
