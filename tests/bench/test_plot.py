"""Line plots: the picture says what the numbers say, and the documentation's pictures are fresh."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.curves import pictures
from benchmarks.plot import BOTTOM, HEIGHT, LEFT, LINE_GAP, TOP, WIDTH, Limit, Line, plot, ticks
from tests.tables import every

IMAGES = Path(__file__).parents[2] / "docs" / "images"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def tree(picture: str) -> ET.Element:
    return ET.fromstring(picture)


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in tree(picture).iter() if element.tag.endswith("text")]


def corners(picture: str) -> list[list[tuple[float, float]]]:
    drawn = [
        element.get("points", "") for element in tree(picture).iter() if element.tag.endswith("polyline")
    ]
    return [[(float(x), float(y)) for x, y in (pair.split(",") for pair in one.split())] for one in drawn]


def test_a_line_runs_from_corner_to_corner_and_is_named_at_its_end() -> None:
    picture = plot("Growth <1>", [Line("all & sundry", [0, 10], [0, 5])], x="day", y="memories")

    [[first, last]] = corners(picture)
    assert first == pytest.approx((LEFT, HEIGHT - BOTTOM))
    assert last[1] == TOP
    assert last[0] < WIDTH
    assert {"Growth <1>", "all & sundry", "day", "memories", "10", "5"} <= set(texts(picture))


def test_limits_lie_across_or_stand_upright() -> None:
    limits = [Limit(2.5, "half"), Limit(5, "noon", upright=True)]
    picture = plot("Day", [Line("sun", [0, 10], [0, 5])], x="hour", y="height", limits=limits)

    dashed = [element for element in tree(picture).iter() if element.get("class") == "limit"]
    assert [one.get("y1") == one.get("y2") for one in dashed] == [True, False]
    assert {"half", "noon"} <= set(texts(picture))


def test_labels_of_lines_that_end_together_keep_apart_and_inside() -> None:
    lines = [Line(f"line {number}", [0, 1], [1, 0]) for number in range(5)]
    picture = plot("Together", lines, x="x", y="y")

    named = [one for one in tree(picture).iter() if (one.text or "").startswith("line ")]
    heights = sorted(float(one.get("y", "0")) for one in named)
    assert all(later - one >= LINE_GAP - 0.1 for one, later in pairwise(heights))
    assert heights[-1] <= HEIGHT - BOTTOM + 5


@every("value", [0.0, 3.0])
def test_a_flat_line_of_one_moment_is_a_picture_too(value: float) -> None:
    assert corners(plot("Flat", [Line("one", [2], [value])], x="x", y="y"))


def test_what_is_below_zero_is_shown() -> None:
    [[first, last]] = corners(plot("Down", [Line("one", [0, 1], [0, -4])], x="x", y="y"))
    assert first[1] == TOP
    assert last[1] == HEIGHT - BOTTOM


@every(
    ("low", "high", "found"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 120, [0, 20, 40, 60, 80, 100, 120]),
        (0, 365, [0, 100, 200, 300]),
        (-2, 2, [-2, -1, 0, 1, 2]),
        (0, 0.02, [0, 0.005, 0.01, 0.015, 0.02]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, found: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(found)


def test_the_pictures_of_the_documentation_are_fresh() -> None:
    made = dict(pictures())
    assert {path.stem for path in IMAGES.glob("*.svg")} >= set(made)
    for name, picture in made.items():
        kept = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
        stale = f"docs/images/{name}.svg is out of date: run `python benchmarks/curves.py`."
        assert NUMBER.sub("#", kept) == NUMBER.sub("#", picture), stale
        # Machines differ in the last digit of an exponential, and so by a tenth of a point.
        assert [float(one) for one in NUMBER.findall(kept)] == pytest.approx(
            [float(one) for one in NUMBER.findall(picture)], abs=0.11
        ), stale
