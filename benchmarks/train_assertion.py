"""Train the small model of `engram.text.assertion` on our labelled sentences, and say how good it is.

    python benchmarks/train_assertion.py [--check]      # --check: four-fold figures only, nothing is written

Softmax regression over hashed words and word pairs, by full-batch gradient descent with momentum; longer
quotations are masked, as the engine sees them. Beside the words themselves the sum of their vectors in our
static model is a feature: a word that no sentence has gets the weight of its neighbours. A linear model over
sums of word vectors is a weight for each word, so these weights are folded into the words' buckets, and the
engine needs no vectors.

A second model over the same features says whether a sentence tells of a change (`changes_*.txt` and the
corrections, against everything else that is asserted).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engram.embed.static import WEIGHTS as STATIC
from engram.embed.static import read_table
from engram.text import lexicon
from engram.text.assertion import (
    ASSERTED,
    BELIEVED_FROM,
    BUCKETS,
    CHANGE_MAY_BE,
    Stance,
    features,
    first_bucket,
    frame_of,
    masked,
    word_bucket,
    words,
)

DATA = Path(__file__).parent / "data"
WEIGHTS = Path(__file__).parents[1] / "src/engram/text/data/assertion.npz"
STEPS, RATE, MOMENTUM, PULL = 250, 36.0, 0.9, 5e-6
LENT = 0.6
"""How much the vectors of words weigh beside the words."""
LENT_FIRST = 1.0
"""How much the vector of the first word weighs: requests begin with a verb, whichever it is."""


def read() -> tuple[list[str], np.ndarray]:
    """All sentences and the numbers of their stances."""
    texts, labels = [], []
    known = {stance.value: place for place, stance in enumerate(Stance)}
    for path in sorted(DATA.glob("assertion_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            label, _, text = line.partition("\t")
            if text and not line.startswith("#"):
                start, _ = frame_of(text)
                if start < len(text):  # a frame and what follows it is never judged
                    continue
                texts.append(text.replace("\\n", "\n"))
                labels.append(known[label])
    told = changes()
    return texts + told, np.array(labels + [known[Stance.FACT.value]] * len(told))


def read_changes(texts: list[str], labels: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Sentences that tell of a change, and others: asserted ones that do not, and what is not asserted.

    An asserted sentence with a sign of change in it (`turned.txt`) may be either, and is left out.
    """
    stances, told, rest = list(Stance), changes(), list[str]()
    known = set(told)
    for text, label in zip(texts, labels, strict=True):
        if text in known:
            continue
        if stances[label] is Stance.CORRECTION:
            told.append(text)
        elif stances[label] not in ASSERTED or not lexicon.found("turned", text.lower()):
            rest.append(text)
    return told + rest, np.array([1.0] * len(told) + [0.0] * len(rest), dtype=np.float32)


def changes() -> list[str]:
    """Our sentences that tell of a change."""
    return [
        line
        for path in sorted(DATA.glob("changes_*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


def vectors() -> dict[str, np.ndarray]:
    """The vectors of all whole words and characters that the static model knows."""
    table = read_table(STATIC)
    known = {
        word: place for word, place in table.pieces.vocabulary.items() if not word.startswith(("##", "["))
    }
    rows = table.rows.astype(np.float32) * table.scales[:, None]
    rows /= np.median(np.linalg.norm(rows, axis=1))
    return {word: rows[place] for word, place in known.items()}


class Rows:
    """Sentences as rows: the buckets they fall into, and the vectors of their words and of the first.

    Long sentences weigh as much as short ones.
    """

    def __init__(self, texts: list[str], lent: dict[str, np.ndarray]) -> None:
        found = [features(masked(text)) for text in texts]
        counts = np.bincount([one for buckets in found for one in buckets], minlength=BUCKETS)
        self.used = np.flatnonzero(counts > 1)
        place = np.full(BUCKETS, -1)
        place[self.used] = np.arange(len(self.used))
        self.columns = [place[np.array(buckets)][place[np.array(buckets)] >= 0] for buckets in found]
        self.shares = np.array([len(buckets) ** -0.5 for buckets in found], dtype=np.float32)
        dims = len(next(iter(lent.values())))
        self.lent = np.zeros((len(texts), 2 * dims), dtype=np.float32)
        for row, text in zip(self.lent, texts, strict=True):
            line = words(masked(text))
            row[:dims] = LENT * sum((lent[one] for one in set(line) if one in lent), start=np.zeros(dims))
            if line and line[0] in lent:
                row[dims:] = LENT_FIRST * lent[line[0]]
        self.lent *= self.shares[:, None]

    def part(self, chosen: np.ndarray) -> Product:
        """Some of the rows, ready to be multiplied."""
        return Product(
            [self.columns[one] for one in chosen], self.shares[chosen], self.lent[chosen], len(self.used)
        )


class Product:
    """Rows times weights, and errors times rows."""

    def __init__(self, columns: list[np.ndarray], shares: np.ndarray, lent: np.ndarray, used: int) -> None:
        sizes = np.array([len(one) for one in columns])
        self.width, self.lent, self.used = used + lent.shape[1], lent, used
        self.column = np.concatenate(columns)
        self.row = np.repeat(np.arange(len(columns)), sizes)
        self.share = np.repeat(shares, sizes)[:, None]
        self.order = np.argsort(self.column, kind="stable")
        self.starts = np.flatnonzero(np.diff(self.column[self.order], prepend=-1))
        self.begins, self.filled = np.cumsum(sizes) - sizes, sizes > 0

    def times(self, weights: np.ndarray) -> np.ndarray:
        """A score for each row and class."""
        scores = self.lent @ weights[self.used :]
        scores[self.filled] += np.add.reduceat(weights[self.column] * self.share, self.begins[self.filled])
        return scores

    def back(self, errors: np.ndarray) -> np.ndarray:
        """The slope of each weight."""
        slope = np.zeros((self.width, errors.shape[1]), dtype=np.float32)
        each = (errors[self.row] * self.share)[self.order]
        slope[self.column[self.order][self.starts]] = np.add.reduceat(each, self.starts)
        slope[self.used :] = self.lent.T @ errors
        return slope


def fit(rows: Product, wanted: np.ndarray, weigh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and bias; one column of `wanted` is a yes or no, several are shares of one."""
    weights = np.zeros((rows.width, wanted.shape[1]), dtype=np.float32)
    bias = np.zeros(wanted.shape[1], dtype=np.float32)
    speed, drift = np.zeros_like(weights), np.zeros_like(bias)
    for _ in range(STEPS):
        error = (shares(rows.times(weights) + bias) - wanted) * weigh[:, None]
        speed = MOMENTUM * speed - RATE * (rows.back(error) + PULL * weights)
        drift = MOMENTUM * drift - error.sum(axis=0)
        weights += speed
        bias += drift
    return weights, bias


def wanted_stances(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stance of each row, and how much the row weighs."""
    wanted = np.eye(len(Stance), dtype=np.float32)[labels]
    return wanted, np.full(len(labels), 1 / len(labels), dtype=np.float32)


def wanted_changes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row tells of a change; changes and others weigh alike."""
    share = labels.mean()
    weigh = np.where(labels == 1, 0.5 / share, 0.5 / (1 - share)) / len(labels)
    return labels[:, None], weigh.astype(np.float32)


def folded(weights: np.ndarray, used: np.ndarray, lent: dict[str, np.ndarray]) -> np.ndarray:
    """One weight a bucket: its own, and what the vector of its word lends it, anywhere and as the first."""
    whole = np.zeros((BUCKETS, weights.shape[1]), dtype=np.float32)
    whole[used] = weights[: len(used)]
    own, first = np.split(weights[len(used) :], 2)
    for word, vector in lent.items():
        whole[word_bucket(word)] += LENT * vector @ own
        whole[first_bucket(word)] += LENT_FIRST * vector @ first
    return whole


def shares(scores: np.ndarray) -> np.ndarray:
    """Softmax, row by row; of a single column its logistic."""
    if scores.shape[1] == 1:
        return 1 / (1 + np.exp(-scores))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def folds(texts: list[str], labels: np.ndarray, count: int = 4) -> None:
    """How good it is on sentences it has not seen."""
    rows = Rows(texts, vectors())
    kept = np.array([stance in ASSERTED for stance in Stance])
    found = np.zeros((len(texts), len(Stance)), dtype=np.float32)
    for train, test in _parts(len(texts), count):
        weights, bias = fit(rows.part(train), *wanted_stances(labels[train]))
        found[test] = shares(rows.part(test).times(weights) + bias)
    right, meant = found.argmax(axis=1) == labels, kept[labels]
    asserted = found[:, kept].sum(axis=1)
    print(f"{len(texts)} sentences: stance {right.mean():.3f}")
    for least in (BELIEVED_FROM, 0.5):
        believed, refused = (asserted[meant] >= least).mean(), (asserted[~meant] < least).mean()
        print(f"from {least}: asserted found {believed:.3f}, others refused {refused:.3f}")


def _parts(size: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    order = np.random.default_rng(7).permutation(size)
    for fold in range(count):
        test = order[fold::count]
        yield np.setdiff1d(order, test), test


def change_folds(texts: list[str], labels: np.ndarray, count: int = 4) -> None:
    """How well changes are told on sentences it has not seen."""
    rows = Rows(texts, vectors())
    found = np.zeros(len(texts))
    for train, test in _parts(len(texts), count):
        weights, bias = fit(rows.part(train), *wanted_changes(labels[train]))
        found[test] = shares(rows.part(test).times(weights) + bias)[:, 0]
    for least in (CHANGE_MAY_BE, 0.5):
        told, others = (found[labels == kind] >= least for kind in (1, 0))
        print(f"changes from {least}: found {told.mean():.3f}, taken for one {others.mean():.3f}")


def main() -> None:
    """Train, tell, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    texts, labels = read()
    if given.check:
        folds(texts, labels)
        change_folds(*read_changes(texts, labels))
        return
    lent = vectors()
    columns, biases = [], []
    told, is_change = read_changes(texts, labels)
    for some, wanted in ((texts, wanted_stances(labels)), (told, wanted_changes(is_change))):
        rows = Rows(some, lent)
        weights, bias = fit(rows.part(np.arange(len(some))), *wanted)
        columns.append(folded(weights, rows.used, lent))
        biases.append(bias)
    whole = np.hstack(columns)
    scale = np.abs(whole).max(axis=0) / 127
    small = np.round(whole / scale).astype(np.int8)
    np.savez_compressed(WEIGHTS, weights=small, scale=scale.astype(np.float32), bias=np.concatenate(biases))
    print(f"{len(texts)} sentences, {WEIGHTS.name}: {WEIGHTS.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
