"""The curves of forgetting, point by point, and what holds for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.rules import retention
from tests.tables import every

CURVES: tuple[Callable[[float, float], float], ...] = (
    retention.l2,
    retention.huber,
    retention.elastic,
    retention.ebbinghaus,
)
days = st.floats(0, 10_000)
half_lives = st.floats(0.1, 10_000)


@every(
    ("curve", "at_half_life", "at_two", "at_ten"),
    [
        (retention.l2, 0.5, 0.25, 2**-10),
        (retention.huber, 0.5, 0.5 - 0.5 * math.log(2), 0.0),
        (retention.elastic, 0.45, 0.175, 0.0),
        (retention.ebbinghaus, 0.5, 0.25, 2**-10),
    ],
)
def test_each_curve_goes_through_its_points(
    curve: Callable[[float, float], float], at_half_life: float, at_two: float, at_ten: float
) -> None:
    assert [curve(age, 30) for age in (30, 60, 300)] == pytest.approx([at_half_life, at_two, at_ten])


@every("curve", CURVES)
def test_all_is_left_at_first_and_for_ever_with_an_infinite_half_life(
    curve: Callable[[float, float], float],
) -> None:
    assert curve(0, 30) == 1.0
    assert curve(-5, 30) == 1.0
    assert curve(100_000, math.inf) == 1.0


@given(days, days, half_lives)
def test_no_curve_ever_rises_or_leaves_its_bounds(one: float, more: float, half_life: float) -> None:
    for curve in CURVES:
        before, after = curve(one, half_life), curve(one + more, half_life)
        assert 0.0 <= after <= before <= 1.0


@given(days, half_lives)
def test_the_elastic_curve_lies_under_l2(age: float, half_life: float) -> None:
    assert retention.elastic(age, half_life) <= retention.l2(age, half_life)


@given(days, half_lives, st.integers(0, 1_000))
def test_use_slows_the_curve_of_ebbinghaus(age: float, half_life: float, accesses: int) -> None:
    assert retention.ebbinghaus(age, half_life, accesses + 1) >= retention.ebbinghaus(
        age, half_life, accesses
    )


@given(st.floats(0, 1), st.integers(0, 10_000))
def test_uses_bring_back_at_most_what_they_may(left: float, accesses: int) -> None:
    brought = retention.reinforced(left, accesses) - left
    assert -1e-12 <= brought <= retention.ACCESS_LIMIT + 1e-12
    assert retention.reinforced(left, accesses) <= 1.0


def test_the_limit_of_what_uses_bring_is_reached_with_about_twenty() -> None:
    assert retention.reinforced(0.0, 19) < 0.3
    assert retention.reinforced(0.0, 20) == 0.3
    assert retention.reinforced(0.0, 2_000) == 0.3
