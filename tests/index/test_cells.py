"""Cells: many questions at once about a large space find nearly what a look at every signature finds."""

from __future__ import annotations

import numpy as np

from engram.index.follower import Cells
from engram.index.ranking import VectorLines
from engram.rules.vectors import hamming, sign, unit

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
    around = Cells().near(everything, np.arange(4_000), signed, 20)
    assert around.shape == (300, 20)
    assert sum(place in some for place, some in enumerate(around)) >= 290


def test_the_nearest_in_the_cells_come_out_equal_ones_in_order() -> None:
    points = cloud(2_000)
    everything = lines(points)
    signatures = everything.signatures
    assert signatures is not None
    asked, cells = signatures[:100], Cells()
    # More than there are: all that lies in the cells around each question.
    around = cells.near(everything, np.arange(2_000), asked, 2_000)
    assert 2 * (around >= 0).sum() < around.size
    few = cells.near(everything, np.arange(2_000), asked, 9)
    for signature, every, some in zip(asked, around, few, strict=True):
        inside = every[every >= 0]
        least = np.sort(hamming(signatures[inside], signature))[:9]
        assert sorted(hamming(signatures[some], signature)) == least.tolist()


def test_only_allowed_places_come_out_and_new_lines_are_known() -> None:
    points = cloud(2_000)
    cells = Cells()
    first = lines(points[:1_500])
    assert first.signatures is not None
    cells.near(first, np.arange(1_500), first.signatures[:50], 20)
    whole = lines(points)
    assert whole.signatures is not None
    odd = np.arange(1, 2_000, 2)
    around = cells.near(whole, odd, whole.signatures[1_500:1_600], 20)
    assert (around % 2 == 1).all()
    assert sum(1_500 + number in some for number, some in enumerate(around)) == 50
