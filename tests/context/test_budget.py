"""Shares first; what is left flows; sections are given up in a fixed order, never what is on the mind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.config import ContextConfig
from engram.context.budget import Need, allot, budget_of, find_model, memories_for, reserve_of
from engram.model.context import SECTIONS
from tests.tables import every

SETTINGS = ContextConfig()
MUCH = Need(1_000_000, 1)


def test_with_much_to_say_each_section_gets_its_share() -> None:
    given_out = allot(10_000, dict.fromkeys(SECTIONS, MUCH))

    assert given_out == {
        "working": 1_500, "identity": 800, "recalled": 1_200, "history": 4_500, "schemas": 500,
        "skills": 800, "today": 400, "roster": 300, "guidelines": 0,
    }  # fmt: skip


@every(
    ("needs", "expected"),
    [
        ({"recalled": MUCH, "history": MUCH}, {"recalled": 550, "history": 450}),
        ({"recalled": Need(300), "history": MUCH}, {"recalled": 300, "history": 700}),
        ({"recalled": Need(300), "history": Need(200), "roster": MUCH}, {"recalled": 300, "roster": 500}),
        ({"guidelines": Need(50, 50)}, {"guidelines": 50}),
        ({"identity": Need(500), "recalled": Need(10)}, {"identity": 500, "recalled": 10}),
    ],
)
def test_what_is_left_flows_to_what_is_recalled_then_to_the_history(
    needs: dict[str, Need], expected: dict[str, int]
) -> None:
    given_out = allot(1_000, needs)

    assert {name: given_out[name] for name in expected} == expected


def test_sections_are_given_up_in_order_for_those_that_matter_more() -> None:
    needs = {name: Need(100, 60) for name in SECTIONS}

    kept = [{name for name, got in allot(free, needs).items() if got} for free in (60, 130, 190, 480)]

    assert kept == [
        {"working"},
        {"working", "identity"},
        {"working", "identity", "recalled"},
        {"working", "identity", "recalled", "history", "schemas", "skills", "today"},
    ]


@given(
    st.integers(-5, 3_000_000),
    st.dictionaries(
        st.sampled_from(SECTIONS), st.builds(Need, st.integers(0, 1_000_000), st.integers(0, 5_000))
    ),
)
def test_never_more_is_given_than_is_free_or_wanted(free: int, needs: dict[str, Need]) -> None:
    given_out = allot(free, needs)

    assert sum(given_out.values()) <= max(0, free)
    for name, got in given_out.items():
        need = needs.get(name, Need())
        assert 0 <= got <= need.wanted
        assert got == 0 or got >= min(need.least, need.wanted)


@every(
    ("model", "reserve"),
    [("gpt-4", 2_048), ("gpt-4o", 4_096), ("claude-opus-5", 16_384), ("unknown", 4_000), ("llama2", 1_024)],
)
def test_the_reply_has_its_reserve(model: str, reserve: int) -> None:
    assert reserve_of(find_model(model), SETTINGS) == reserve


def test_an_estimate_leaves_a_margin_and_a_wish_is_bounded_by_the_window() -> None:
    model = find_model("gpt-4")

    assert budget_of(model, SETTINGS, None, exact=True) == 8_192 - 2_048
    assert budget_of(model, SETTINGS, None, exact=False) == 8_192 - 2_048 - 308
    assert budget_of(model, SETTINGS, 100, exact=False) == 100
    assert budget_of(model, SETTINGS, 10**9, exact=True) == 8_192 - 2_048


def test_the_number_of_memories_follows_from_the_room() -> None:
    counts = [memories_for(room) for room in (50, 700, 5_000, 250_000)]

    assert counts == [3, 31, 222, 500]
