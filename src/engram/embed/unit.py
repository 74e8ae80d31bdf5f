"""Vectors of unit length: so that their product is their cosine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same rows, each brought to unit length in place; rows of zeros stay."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows


# ---------------------------------------------------------------- health
# How long it is believed that an embedder is well, or down.


HEALTH_SECONDS: Final = 30.0
