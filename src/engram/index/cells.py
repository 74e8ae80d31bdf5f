"""Cells: a large space in parts; of many questions asked at once, each looks only into the parts near to it.

Centres are found among the signatures themselves. A line whose vector changed stays in its old cell until the
index starts over: it may be missed by such a search, never wrongly found, since whoever is found is compared
exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from engram.index.columns import Lines, Places

Signs = NDArray[np.float32]
SAMPLED = 16_384
"""Signatures among which the centres are found."""
ROUNDS = 4
PROBED = 8
"""Cells that a question looks into."""
BLOCK = 8_192
"""Signatures that are unpacked at once."""


class Cells:
    """The cells of one space, made when they are first asked for. Any thread may use them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._centres: Signs | None = None
        self._keys: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._cells: NDArray[np.int32] = np.zeros(0, dtype=np.int32)

    def near(
        self, lines: Lines, places: Places, questions: NDArray[np.uint8]
    ) -> Iterator[tuple[Places, NDArray[np.uint8]]]:
        """For each question, given by its signature: the places in cells near to it, and their signatures."""
        if lines.signatures is None:
            raise AssertionError("asked only of a space that is signed")
        with self._lock:
            centres = self._centres if self._centres is not None else self._divide(lines.signatures)
            cells = self._of(lines, centres)[places]
        # Cell by cell in memory: each question then copies a few stretches instead of picking line by line.
        order = np.argsort(cells, kind="stable")
        ends = np.searchsorted(cells[order], np.arange(len(centres) + 1)).tolist()
        members = places[order]
        signatures = lines.signatures[members]
        likeness = _signs(questions, centres.shape[1]) @ centres.T
        probed = np.sort(np.argpartition(-likeness, PROBED, axis=1)[:, :PROBED], axis=1)
        for row in probed.tolist():
            parts = [slice(ends[cell], ends[cell + 1]) for cell in row]
            yield (
                np.concatenate([members[part] for part in parts]),
                np.concatenate([signatures[part] for part in parts]),
            )

    def _divide(self, signatures: NDArray[np.uint8]) -> Signs:
        """As many centres as a cell has members, moved to the middle of their members a few times."""
        dims = signatures.shape[1] * 8
        sample = _signs(signatures[:: max(1, len(signatures) // SAMPLED)], dims)
        count = max(PROBED + 1, int(len(signatures) ** 0.5))
        centres = sample[:: max(1, len(sample) // count)].copy()
        for _ in range(ROUNDS):
            nearest = (sample @ centres.T).argmax(axis=1)
            for cell in np.unique(nearest):
                centres[cell] = sample[nearest == cell].mean(axis=0)
            centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        self._centres = centres
        return centres

    def _of(self, lines: Lines, centres: Signs) -> NDArray[np.int32]:
        """The cell of each line; new lines are put into theirs."""
        if lines.signatures is None:
            raise AssertionError("asked only of a space that is signed")
        cells = np.full(len(lines.keys), -1, dtype=np.int32)
        if len(self._keys):
            here = np.minimum(np.searchsorted(self._keys, lines.keys), len(self._keys) - 1)
            cells = np.where(self._keys[here] == lines.keys, self._cells[here], np.int32(-1))
        new = np.flatnonzero(cells < 0)
        for start in range(0, len(new), BLOCK):
            some = new[start : start + BLOCK]
            signs = _signs(lines.signatures[some], centres.shape[1])
            cells[some] = (signs @ centres.T).argmax(axis=1)
        if len(new):
            self._keys, self._cells = lines.keys.copy(), cells
        return cells


def _signs(signatures: NDArray[np.uint8], dims: int) -> Signs:
    """Signatures as numbers: one for a bit that is set, minus one for the others."""
    bits = np.unpackbits(signatures, axis=1, count=dims)
    return bits.astype(np.float32) * 2 - 1
