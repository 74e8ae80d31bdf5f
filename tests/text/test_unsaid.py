"""Which Friday, which May: the tense tells."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engram.text.unsaid import completed

TUESDAY = datetime(2026, 3, 10, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I met Bob on Friday", "I met Bob on Friday 6 March 2026"),
        ("I'll send it by Friday", "I'll send it by Friday 13 March 2026"),
        ("My exam is on Monday", "My exam is on Monday 16 March 2026"),
        ("I start my new job in April", "I start my new job in April 2026"),
        ("We released v2 in May", "We released v2 in May 2025"),
        ("We will release v2 in May", "We will release v2 in May 2026"),
        ("The meeting on Thursday was cancelled", "The meeting on Thursday 5 March 2026 was cancelled"),
        (
            "I have a dentist appointment on Wednesday",
            "I have a dentist appointment on Wednesday 11 March 2026",
        ),
        ("I was born in May", "I was born in May"),
        ("My birthday is in May", "My birthday is in May"),
        ("We go swimming on Fridays", "We go swimming on Fridays"),
        ("It rains in May", "It rains in May"),
        ("I met Bob in May 2020", "I met Bob in May 2020"),
        ("我周五去北京", "我2026年3月13日去北京"),
        ("我周五去了北京", "我2026年3月6日去了北京"),
        ("我每周五去北京", "我每周五去北京"),
    ],
)
def test_the_tense_tells_which_one_is_meant(said: str, meant: str) -> None:
    assert completed(said, TUESDAY) == meant
