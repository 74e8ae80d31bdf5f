from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.text.tokens import count, estimate, is_exact
from tests.tables import every

# Counted with the real tokenizer (o200k, cl100k).
KNOWN = [
    ("The quick brown fox jumps over the lazy dog, and nobody was surprised by that at all.", 19, 19),
    ("We moved the database from MySQL to PostgreSQL 16 because of the new planner.", 18, 16),
    ("def count(text: str) -> int:\n    return len(encode(text))\n", 16, 16),
    ("我昨天去了北京，见到了老朋友，我们一起吃了烤鸭。", 17, 29),
]


@every(("text", "o200k", "cl100k"), KNOWN)
def test_an_estimate_is_near_the_real_count(text: str, o200k: int, cl100k: int) -> None:
    assert estimate(text, "o200k") == pytest.approx(o200k, rel=0.25)
    assert estimate(text, "cl100k") == pytest.approx(cl100k, rel=0.25)


@every(("text", "o200k", "cl100k"), KNOWN)
def test_a_count_is_exact_when_the_tokenizer_is_installed(text: str, o200k: int, cl100k: int) -> None:
    if not is_exact():
        pytest.skip("the tokens extra is not installed")

    assert (count(text), count(text, "cl100k")) == (o200k, cl100k)


def test_an_unknown_encoding_is_estimated() -> None:
    assert count("hello world", "unheard-of") == estimate("hello world")


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_text_has_a_count(text: str) -> None:
    assert (estimate(text) > 0) == (count(text) > 0) == bool(text)


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_costs_much_less(one: str, other: str) -> None:
    assert estimate(one + other) >= max(estimate(one), estimate(other)) - 2
