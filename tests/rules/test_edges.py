"""Edges over time: associations fade unless they prove themselves; origins and orders stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import ACYCLIC, EdgeType
from engram.rules.activation import EDGE_FLOOR, FADING, confidence_now, faded
from tests.tables import every

shares = st.floats(0, 1)
days = st.floats(0, 5_000)


@every(("idle", "left"), [(0, 0.7), (30, 0.7), (45, 0.65), (60, 0.6), (120, 0.4), (210, 0.1), (3_650, 0.1)])
def test_nothing_happens_for_a_month_then_a_tenth_goes_each_month(idle: float, left: float) -> None:
    assert faded(0.7, idle) == pytest.approx(left)


def test_what_is_under_the_floor_stays_where_it_is() -> None:
    assert faded(0.05, 5_000) == 0.05


def test_origins_orders_and_disputes_do_not_fade() -> None:
    for edge_type in set(EdgeType) - FADING:
        assert confidence_now(edge_type, 0.9, 3_000) == 0.9
    assert ACYCLIC.isdisjoint(FADING)


@given(shares, days, days)
def test_time_never_makes_an_edge_surer(drawn: float, one: float, more: float) -> None:
    sooner, later = faded(drawn, one), faded(drawn, one + more)

    assert 0 <= later <= sooner <= drawn
    assert later >= min(drawn, EDGE_FLOOR)


@given(shares, shares, days)
def test_the_surer_of_two_stays_the_surer(one: float, other: float, idle: float) -> None:
    low, high = sorted((one, other))

    assert faded(low, idle) <= faded(high, idle)
