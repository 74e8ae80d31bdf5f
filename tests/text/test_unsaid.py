"""Which Friday, which May: the tense tells."""

from __future__ import annotations

from datetime import UTC, datetime

from engram.text.dates import completions
from tests.tables import every

TUESDAY = datetime(2026, 3, 10, 14, tzinfo=UTC)


@every(
    ("said", "meant"),
    [
        ("I met Bob on Friday", "Friday 6 March 2026"),
        ("I'll send it by Friday", "Friday 13 March 2026"),
        ("My exam is on Monday", "Monday 16 March 2026"),
        ("I start my new job in April", "April 2026"),
        ("We released v2 in May", "May 2025"),
        ("We will release v2 in May", "May 2026"),
        ("The meeting on Thursday was cancelled", "Thursday 5 March 2026"),
        ("I have a dentist appointment on Wednesday", "Wednesday 11 March 2026"),
        ("I was born in May", ""),
        ("My birthday is in May", ""),
        ("We go swimming on Fridays", ""),
        ("It rains in May", ""),
        ("I met Bob in May 2020", ""),
        ("我周五去北京", "2026年3月13日"),
        ("我周五去了北京", "2026年3月6日"),
        ("我每周五去北京", ""),
    ],
)
def test_the_tense_tells_which_one_is_meant(said: str, meant: str) -> None:
    assert [full for _, full in completions(said, TUESDAY)] == ([meant] if meant else [])
