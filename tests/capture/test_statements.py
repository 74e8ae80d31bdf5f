"""The statements the rules take out of messages, against those a person would take out of them."""

from __future__ import annotations

import json

import pytest

from tests.capture.scoring import MESSAGES, Outcome, figures, outcomes, told
from tests.tables import every

PRECISION = 0.90
RECALL = 0.75


@pytest.fixture(scope="module")
def results() -> list[Outcome]:
    return outcomes()


def test_the_rules_reach_the_bars_over_all_messages(results: list[Outcome]) -> None:
    whole = figures(results)
    report = {
        language: figures(one for one in results if one.language == language)
        for language in ("English", "Chinese", "mixed")
    }
    assert whole.precision >= PRECISION, report
    assert whole.recall >= RECALL, report


@every("language", ["English", "Chinese", "mixed"])
def test_no_language_is_left_far_behind(results: list[Outcome], language: str) -> None:
    part = figures(one for one in results if one.language == language)
    assert part.precision >= PRECISION - 0.10, part
    assert part.recall >= RECALL - 0.10, part


def test_the_set_is_large_enough_and_a_third_of_it_says_nothing(results: list[Outcome]) -> None:
    silent = sum(not one.expected for one in results)
    assert len(results) >= 180
    assert 0.3 <= silent / len(results) <= 0.4


def test_every_row_of_the_set_has_the_same_fields() -> None:
    fields = {"speaker", "listener", "at", "message", "expected", "note"}
    rows = [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]
    assert all(set(row) == fields and row["note"] for row in rows)
    assert len({(row["speaker"], row["message"]) for row in rows}) == len(rows)


@every(
    ("produced", "expected"),
    [
        ("User lives in Rome", "User works in Berlin"),
        ("User lives in Rome", "User lives in Berlin"),
        ("User was born in 1984", "User was born in 1985"),
        ("User likes horror movies", "User doesn't like horror movies"),
        ("用户住在北京", "用户住在上海"),
        ("用户喝咖啡", "用户不喝咖啡"),
        ("User went shopping for shoes with a long list while it rained cats and dogs", "User likes shoes"),
    ],
)
def test_a_statement_that_means_something_else_is_not_taken_for_the_expected_one(
    produced: str, expected: str
) -> None:
    assert told(produced, [expected]) == []


def test_a_text_that_tells_two_statements_counts_for_both_and_one_half_for_one() -> None:
    both = ["User's sister Clara is a nurse", "Clara works nights at the hospital"]
    assert told("User's sister Clara is a nurse. She works nights at the hospital.", both) == both
    assert told("User's sister Clara is a nurse.", both) == both[:1]
