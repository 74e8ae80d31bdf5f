"""Cells: many questions at once about a large space find nearly what a look at every signature finds."""

from __future__ import annotations

import numpy as np

from engram.index.follower import Cells
from engram.index.ranking import VectorLines
from engram.rules.vectors import sign, unit

DIMS = 64


def lines(vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]], first: int = 1) -> VectorLines:
    count = len(vectors)
    none = np.zeros(count, dtype=np.int32)
    return VectorLines(
        keys=np.arange(first, first + count, dtype=np.int64),
        scopes=none,
        namespaces=none,
        statuses=np.zeros(count, dtype=np.int8),
        signatures=sign(vectors, np.zeros(DIMS, dtype=np.float32)),
    )


def cloud(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Points around some middles, as the memories of a life lie around its topics."""
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(40, DIMS))
    points = middles[chance.integers(0, 40, count)] + 0.7 * chance.normal(size=(count, DIMS))
    return unit(points.astype(np.float32))


def test_a_question_looks_at_a_small_part_and_finds_what_is_very_near() -> None:
    points = cloud(4_000)
    everything = lines(points)
    asked = unit(points[:300] + 0.03 * cloud(300))
    assert everything.signatures is not None
    signed = sign(asked.astype(np.float32), np.zeros(DIMS, dtype=np.float32))
    around = [some for some, _ in Cells().near(everything, np.arange(4_000), signed)]
    found = sum(place in some for place, some in enumerate(around))
    assert found >= 290
    assert np.mean([len(some) for some in around]) < 2_000


def test_only_allowed_places_come_out_and_new_lines_are_known() -> None:
    points = cloud(2_000)
    cells = Cells()
    first = lines(points[:1_500])
    assert first.signatures is not None
    list(cells.near(first, np.arange(1_500), first.signatures[:50]))
    whole = lines(points)
    assert whole.signatures is not None
    odd = np.arange(1, 2_000, 2)
    found = list(cells.near(whole, odd, whole.signatures[1_500:1_600]))
    assert all((whole.signatures[some] == signatures).all() for some, signatures in found)
    around = [some for some, _ in found]
    assert all((some % 2 == 1).all() for some in around)
    assert sum(1_500 + number in some for number, some in enumerate(around)) == 50
