"""Surprise: far from everything known is novel, close to it is well known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.rules.sameness import moved, surprise
from tests.tables import every


@every(
    ("cosines", "found"),
    [([0.0] * 5, 1.0), ([1.0] * 5, 0.0), ([0.5] * 5, 0.5), ([-0.4] * 5, 1.0), ([0.9] * 4, None), ([], None)],
)
def test_the_nearest_five_say_how_new_it_is(cosines: list[float], found: float | None) -> None:
    assert surprise(cosines, 5) == found


def test_only_the_nearest_count() -> None:
    assert surprise([1.0, 1.0, 0.0, 0.0], 2) == 0.0


@every(("found", "importance"), [(1.0, 0.8), (0.5, 0.5), (0.0, 0.2)])
def test_the_novel_gains_and_the_known_loses(found: float, importance: float) -> None:
    assert moved(0.5, found, 0.3) == pytest.approx(importance)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_importance_stays_within_its_bounds(importance: float, found: float, gain: float) -> None:
    assert 0.0 <= moved(importance, found, gain) <= 1.0
