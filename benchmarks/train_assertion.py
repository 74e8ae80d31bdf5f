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
from pathlib import Path

import numpy as np

from engram.embed.static import WEIGHTS as STATIC
from engram.embed.static import read_table
from engram.text import lexicon
from engram.text.assertion import (
    ASSERTED,
    BUCKETS,
    CHANGE_MAY_BE,
    Stance,
    bucket,
    features,
    frame_of,
    masked,
    words,
)

DATA = Path(__file__).parent / "data"
WEIGHTS = Path(__file__).parents[1] / "src/engram/text/data/assertion.npz"
STEPS, RATE, MOMENTUM, PULL = 150, 36.0, 0.9, 3e-5
LENT = 0.35
"""How much the vectors of words weigh beside the words."""


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


def fit_changes(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights and bias of the second model; changes and others weigh alike."""
    share = labels.mean()
    weigh = np.where(labels == 1, 0.5 / share, 0.5 / (1 - share)) / len(labels)
    weights, bias = np.zeros(rows.shape[1], dtype=np.float32), 0.0
    speed, drift = np.zeros_like(weights), 0.0
    for _ in range(STEPS):
        error = (1 / (1 + np.exp(-(rows @ weights + bias))) - labels) * weigh
        speed = MOMENTUM * speed - RATE * (rows.T @ error + PULL * weights)
        drift = MOMENTUM * drift - error.sum()
        weights += speed
        bias += drift
    return weights, float(bias)


def vectors() -> dict[str, np.ndarray]:
    """The vectors of all whole words and characters that the static model knows."""
    table = read_table(STATIC)
    known = {
        word: place for word, place in table.pieces.vocabulary.items() if not word.startswith(("##", "["))
    }
    rows = table.rows.astype(np.float32) * table.scales[:, None]
    rows /= np.median(np.linalg.norm(rows, axis=1))
    return {word: rows[place] for word, place in known.items()}


def matrix(texts: list[str], lent: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A row for each text, and the buckets its columns stand for; long texts weigh as much as short ones."""
    found = [features(masked(text)) for text in texts]
    counts = np.bincount([one for buckets in found for one in buckets], minlength=BUCKETS)
    used = np.flatnonzero(counts > 1)
    place = {one: at for at, one in enumerate(used.tolist())}
    dims = len(next(iter(lent.values())))
    rows = np.zeros((len(texts), len(used) + dims), dtype=np.float32)
    for row, text, buckets in zip(rows, texts, found, strict=True):
        share = len(buckets) ** -0.5
        row[[place[one] for one in buckets if one in place]] = share
        row[len(used) :] = (
            LENT
            * share
            * sum((lent[one] for one in set(words(masked(text))) if one in lent), start=np.zeros(dims))
        )
    return rows, used


def fit(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and bias."""
    weights = np.zeros((rows.shape[1], len(Stance)), dtype=np.float32)
    bias = np.zeros(len(Stance), dtype=np.float32)
    wanted = np.eye(len(Stance), dtype=np.float32)[labels]
    speed, drift = np.zeros_like(weights), np.zeros_like(bias)
    for _ in range(STEPS):
        error = (shares(rows @ weights + bias) - wanted) / len(labels)
        speed = MOMENTUM * speed - RATE * (rows.T @ error + PULL * weights)
        drift = MOMENTUM * drift - error.sum(axis=0)
        weights += speed
        bias += drift
    return weights, bias


def folded(weights: np.ndarray, used: np.ndarray, lent: dict[str, np.ndarray]) -> np.ndarray:
    """One weight a bucket: its own, and what its word's vector lends it."""
    whole = np.zeros((BUCKETS, weights.shape[1]), dtype=np.float32)
    whole[used] = weights[: len(used)]
    for word, vector in lent.items():
        whole[bucket(word)] += LENT * vector @ weights[len(used) :]
    return whole


def shares(scores: np.ndarray) -> np.ndarray:
    """Softmax, row by row."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def folds(texts: list[str], labels: np.ndarray, count: int = 4) -> None:
    """How good it is on sentences it has not seen."""
    rows, _ = matrix(texts, vectors())
    kept = np.array([stance in ASSERTED for stance in Stance])
    order = np.random.default_rng(7).permutation(len(texts))
    right, kept_right, told = [], [], []
    for fold in range(count):
        test = order[fold::count]
        train = np.setdiff1d(order, test)
        weights, bias = fit(rows[train], labels[train])
        found = shares(rows[test] @ weights + bias)
        right += (found.argmax(axis=1) == labels[test]).tolist()
        asserted = found[:, kept].sum(axis=1)
        kept_right += ((asserted >= 0.5) == kept[labels[test]]).tolist()
        told += list(zip(asserted.tolist(), kept[labels[test]].tolist(), strict=True))
    believed = [share >= 0.5 for share, is_kept in told if is_kept]
    refused = [share < 0.5 for share, is_kept in told if not is_kept]
    print(f"{len(texts)} sentences: stance {np.mean(right):.3f}, asserted or not {np.mean(kept_right):.3f}")
    print(f"asserted found {np.mean(believed):.3f}, others refused {np.mean(refused):.3f}")


def change_folds(texts: list[str], labels: np.ndarray, count: int = 4) -> None:
    """How well changes are told on sentences it has not seen."""
    rows, _ = matrix(texts, vectors())
    order = np.random.default_rng(7).permutation(len(texts))
    found = np.zeros(len(texts))
    for fold in range(count):
        test = order[fold::count]
        train = np.setdiff1d(order, test)
        weights, bias = fit_changes(rows[train], labels[train])
        found[test] = 1 / (1 + np.exp(-(rows[test] @ weights + bias)))
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
    rows, used = matrix(texts, lent)
    weights, bias = fit(rows, labels)
    changes, is_change = read_changes(texts, labels)
    change_rows, change_used = matrix(changes, lent)
    change_weights, change_bias = fit_changes(change_rows, is_change)
    whole = np.hstack([folded(weights, used, lent), folded(change_weights[:, None], change_used, lent)])
    scale = np.abs(whole).max(axis=0) / 127
    small = np.round(whole / scale).astype(np.int8)
    bias = np.append(bias, np.float32(change_bias))
    np.savez_compressed(WEIGHTS, weights=small, scale=scale.astype(np.float32), bias=bias)
    print(f"{len(texts)} sentences, {WEIGHTS.name}: {WEIGHTS.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
