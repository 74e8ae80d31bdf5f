"""Quantizing, signatures and cosines hold what they promise, for any vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.rules.vectors import (
    ROTATION_SEED,
    Floats,
    coins,
    cosine,
    cosines,
    hamming,
    product,
    quantize,
    restore,
    rotation,
    sign,
    unit,
)
from tests.tables import every


def cloud(rows: int, dims: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, dims)).astype(np.float32)


@given(st.integers(1, 40), st.integers(1, 96), st.integers(0, 2**32), st.floats(1e-6, 1e6))
def test_a_quantized_vector_is_off_by_half_a_step_at_most(
    rows: int, dims: int, seed: int, size: float
) -> None:
    vectors = cloud(rows, dims, seed) * np.float32(size)
    kept, scales = quantize(vectors)
    assert np.all(np.abs(restore(kept, scales) - vectors) <= scales[:, np.newaxis] * 0.51)
    assert kept.min() >= -127


@every("bad", [0.0, float("nan"), float("inf"), 1e-42])
def test_a_vector_that_says_nothing_becomes_zeros(bad: float) -> None:
    vectors = cloud(3, 8)
    vectors[1] = bad
    kept, scales = quantize(vectors)
    assert not kept[1].any()
    assert scales[1] == 0
    assert kept[0].any()
    assert kept[2].any()


def test_no_vectors_are_no_rows() -> None:
    rows, scales = quantize(np.empty((0, 8), dtype=np.float32))
    assert rows.shape == (0, 8)
    assert scales.shape == (0,)
    assert sign(np.empty((0, 8), dtype=np.float32), np.zeros(8, dtype=np.float32)).shape == (0, 1)


def test_quantizing_keeps_the_cosine() -> None:
    vectors = unit(cloud(200, 256))
    back = restore(*quantize(vectors))
    assert np.abs(cosines(vectors, vectors[0]) - cosines(back, vectors[0])).max() < 0.01


@every("dims", [8, 12, 64, 100, 256, 384])
def test_near_vectors_have_near_signatures(dims: int) -> None:
    far = cloud(50, dims)
    centre = far.mean(axis=0) + 3
    near = far[0] + 0.05 * cloud(1, dims, seed=2)[0]
    signatures = sign(far, centre)
    distances = hamming(signatures, sign(near[np.newaxis], centre)[0])
    assert signatures.shape == (50, (dims + 7) // 8)
    assert distances[0] <= np.median(distances)
    assert hamming(signatures, signatures[7])[7] == 0


def test_the_distance_is_the_number_of_differing_bits() -> None:
    centre = np.zeros(72, dtype=np.float32)
    signatures = sign(cloud(20, 72), centre)
    bits = np.unpackbits(signatures, axis=1)
    assert hamming(signatures, signatures[3]).tolist() == (bits != bits[3]).sum(axis=1).tolist()


def test_the_rotation_never_changes() -> None:
    # Files hold signatures made with it: another matrix would make them noise.
    turned = rotation(4)
    assert np.allclose(turned @ turned.T, np.eye(4), atol=1e-6)
    assert turned[:2].flatten().tolist() == pytest.approx(
        [0.691, 0.545, -0.462, 0.108, 0.462, 0.108, 0.691, -0.545], abs=1e-3
    )
    # Its chance is that of a generator whose numbers stay the same in later versions of numpy.
    assert coins(1_024) == np.random.RandomState(ROTATION_SEED).randint(0, 2, 1_024).tolist()


def test_a_vector_of_zeros_is_similar_to_nothing() -> None:
    nothing = np.zeros(4, dtype=np.float32)
    assert cosine(nothing, nothing) == 0
    assert cosines(cloud(3, 4), nothing).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("rows", "columns"), [(0, 3), (1, 64), (37, 64), (500, 64), (500, 100), (500, 2_000), (3, 256)]
)
def test_a_product_a_few_rows_at_a_time_is_the_product(rows: int, columns: int) -> None:
    rng = np.random.default_rng(5)
    many = rng.normal(size=(rows, 256)).astype(np.float32)
    few = rng.normal(size=(columns, 256)).astype(np.float32)
    for one in (few.T, np.ascontiguousarray(few.T)):
        found = product(many, one)
        assert found.shape == (rows, columns)
        assert found.dtype == np.float32
        assert np.allclose(found, many @ one, atol=1e-3)
