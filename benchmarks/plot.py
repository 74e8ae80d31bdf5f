"""Line plots as plain SVG: lines and limits come in, a picture for the documentation comes out.

Each line is named at its end, in its own colour. The picture follows the reader's light or dark mode and is
the same, byte for byte, for the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 720
HEIGHT: Final = 360
LEFT: Final = 62
TOP: Final = 46
BOTTOM: Final = 50
CHARACTER: Final = 6.7
"""How wide a letter of a label is, about."""
LINE_GAP: Final = 16
"""Labels at the lines' ends keep this distance."""
TICKS: Final = 6
SLACK: Final = 0.75
"""A step may be so much smaller than six ticks would have it: rather eight than three."""
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#b85c9e", "#b8860b", "#3f8fc4", "#7f7f7f", "#8c6bb1")
STYLE: Final = """
  text { font: 12px system-ui, sans-serif; fill: #30363d }
  .title { font-size: 15px; font-weight: 600 }
  .page { fill: #ffffff }
  .grid { stroke: #d8dee4; stroke-width: 1 }
  .limit { stroke: #6e7781; stroke-width: 1; stroke-dasharray: 4 4 }
  .told { fill: #6e7781 }
  .halo { stroke: #ffffff; stroke-width: 4px }
  .line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #d0d7de } .page { fill: #0d1117 } .grid { stroke: #30363d }
    .limit { stroke: #8b949e } .told { fill: #8b949e } .halo { stroke: #0d1117 }
  }
"""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a plot, from left to right."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, slots=True)
class Limit:
    """A threshold: a dashed line across at a height, or upright at a place."""

    at: float
    told: str
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Where numbers stand in the picture."""

    left: float
    right: float
    low: float
    high: float
    width: float
    """What is left for the lines beside their labels."""

    def x(self, value: float) -> float:
        """How far right a number stands."""
        return LEFT + self.width * (value - self.left) / (self.right - self.left)

    def y(self, value: float) -> float:
        """How far down a number stands."""
        tall = HEIGHT - TOP - BOTTOM
        return TOP + tall * (self.high - value) / (self.high - self.low)


def plot(title: str, lines: Sequence[Line], *, x: str, y: str, limits: Sequence[Limit] = ()) -> str:
    """The picture as the text of an SVG file; `x` and `y` name the axes.

    >>> picture = plot("Growth", [Line("all", [0, 10], [0, 5])], x="day", y="memories")
    >>> picture.startswith("<svg"), "Growth" in picture, picture.count("<polyline")
    (True, True, 1)
    """
    frame = _frame(lines, limits)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
        f'<text class="title" x="{LEFT}" y="26">{escape(title)}</text>',
        *_axes(frame),
        *_names(frame, x, y),
        *_lines(lines, frame),
        *(_limit(limit, frame) for limit in limits),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, about six.

    >>> ticks(0, 1), ticks(0, 95)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 20.0, 40.0, 60.0, 80.0])
    """
    rough = (high - low) / (TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * by for by in (1, 2, 5, 10) if power * by >= rough * SLACK)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def _frame(lines: Sequence[Line], limits: Sequence[Limit]) -> Frame:
    across = [x for line in lines for x in line.x]
    up = [y for line in lines for y in line.y]
    up += [limit.at for limit in limits if not limit.upright]
    left, right, low, high = min(across), max(across), min(0.0, *up), max(up)
    labels = CHARACTER * max(len(line.name) for line in lines) + 24
    return Frame(
        left,
        right if right > left else left + 1.0,
        low,
        high if high > low else low + 1.0,
        WIDTH - LEFT - labels,
    )


def _axes(frame: Frame) -> Iterator[str]:
    end = LEFT + frame.width
    for value in ticks(frame.low, frame.high):
        y = frame.y(value)
        yield f'<line class="grid" x1="{LEFT}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,.10g}</text>'
    for value in ticks(frame.left, frame.right):
        yield (
            f'<text x="{frame.x(value):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{value:,.10g}</text>"
        )


def _names(frame: Frame, x: str, y: str) -> Iterator[str]:
    across, up = LEFT + frame.width / 2, (TOP + HEIGHT - BOTTOM) / 2
    yield f'<text class="told" x="{across:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>'
    turned = f'transform="translate(16 {up:.1f}) rotate(-90)"'
    yield f'<text class="told" {turned} text-anchor="middle">{escape(y)}</text>'


def _limit(limit: Limit, frame: Frame) -> str:
    if limit.upright:
        x = frame.x(limit.at)
        ends, spot = f'x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"', (x + 4, TOP + 10.0)
    else:
        y = frame.y(limit.at)
        ends = f'x1="{LEFT}" x2="{LEFT + frame.width:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
        spot = (LEFT + 4.0, y - 5)
    words = f'x="{spot[0]:.1f}" y="{spot[1]:.1f}">{escape(limit.told)}</text>'
    # The halo is a text of its own under the words: not every reader of SVG knows how to order the two.
    return f'<line class="limit" {ends}/><text class="halo" {words}<text class="told" {words}'


def _lines(lines: Sequence[Line], frame: Frame) -> Iterator[str]:
    places = _apart([frame.y(line.y[-1]) for line in lines])
    for number, (line, place) in enumerate(zip(lines, places, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in zip(line.x, line.y, strict=True))
        yield f'<polyline class="line" stroke="{colour}" points="{points}"/>'
        spot = f'x="{LEFT + frame.width + 8:.1f}" y="{place + 4:.1f}"'
        yield f'<text {spot} style="fill:{colour}">{escape(line.name)}</text>'


def _apart(heights: Sequence[float]) -> list[float]:
    """The heights, moved just so far that no two labels touch and none leaves the picture.

    >>> _apart([100, 100, 300])
    [100, 116, 300]
    """
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed = list(heights)
    for above, here in pairwise(order):
        placed[here] = max(placed[here], placed[above] + LINE_GAP)
    lowest = float(HEIGHT - BOTTOM)
    for here in reversed(order):
        placed[here] = min(placed[here], lowest)
        lowest = placed[here] - LINE_GAP
    return placed
