"""Topic change on dialogues with marked shifts (TIAGE): precision, recall and F1 beside a plain cosine.

    python benchmarks/topic_change.py --dev tiage_dev.json --train tiage_train.json
    python benchmarks/topic_change.py ... --fit          print weights fitted to the training dialogues
    python benchmarks/topic_change.py ... --embedder transformer --model-path FOLDER

The plain cosine is the one between a turn and the turn before; its threshold is the one with the best F1 on
the training dialogues. A data file is {"id": [["turn", "1" for a shift, "0" for none, "-1" at first], …]}.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from engram.config import EmbedConfig
from engram.embed import open_embedder
from engram.model.clock import SystemClock
from engram.rules.vectors import unit
from engram.session import following
from engram.session.following import is_elliptic

SHIFT = "1"
ALPHA = 0.3


@dataclass(frozen=True, slots=True)
class Case:
    """A turn, what it does, and what it is."""

    signs: following.Signs
    cosine: float
    to_centroid: float
    is_shift: bool
    leans: bool
    """Whether a session takes it as part of the talk whatever else it does."""


def main() -> None:
    """Measure, and fit if asked to."""
    options = _options()
    embedder = open_embedder(EmbedConfig(name=options.embedder, path=options.model_path), SystemClock())
    train, dev = ([*cases(path, embedder)] for path in (options.train, options.dev))
    told = {"embedder": embedder.space.key, "turns": len(dev), "shifts": sum(one.is_shift for one in dev)}
    plain = best_below([one.cosine for one in train], marks(train))
    told["plain cosine"] = {"below": plain, **f1([one.cosine < plain for one in dev], marks(dev))}
    told["signs"] = f1([following.score(one.signs) >= following.CHANGED for one in dev], marks(dev))
    told["in a session"] = f1(
        [following.score(one.signs) >= following.CHANGED and not one.leans for one in dev], marks(dev)
    )
    told["talk"] = _talk(train)
    print(json.dumps(told, indent=2))
    if options.fit:
        print(json.dumps(fitted(train, dev), indent=2))


def cases(path: Path, embedder: Any) -> Iterator[Case]:
    """Every turn after the first of each dialogue."""
    for dialogue in json.loads(path.read_text(encoding="utf-8")).values():
        recent: list[Any] = []
        centroid: Any = None
        before = ""
        for text, mark in dialogue:
            space, vectors = embedder.embed([text, *following.sentences(text)])
            if recent:
                lately = np.stack(recent[-following.LATELY :])
                found = following.read_signs(text, before, vectors, lately, space.key)
                near = float(vectors[0] @ recent[-1])
                to_centroid = float(vectors[0] @ unit(centroid))
                yield Case(found, near, to_centroid, mark == SHIFT, is_elliptic(text))
            centroid = vectors[0] if centroid is None else ALPHA * vectors[0] + (1 - ALPHA) * centroid
            recent.append(vectors[0])
            before = text


def marks(found: Sequence[Case]) -> list[bool]:
    """What each turn is."""
    return [one.is_shift for one in found]


def f1(guessed: Sequence[bool], true: Sequence[bool]) -> dict[str, float]:
    """Precision, recall and F1 of the shifts."""
    both = sum(1 for one, other in zip(guessed, true, strict=True) if one and other)
    precision, recall = both / max(1, sum(guessed)), both / max(1, sum(true))
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * both / max(1, sum(guessed) + sum(true)), 3),
    }


def best_below(values: Sequence[float], true: Sequence[bool]) -> float:
    """The threshold under which to call a shift, by F1."""
    steps = np.arange(0.0, 1.0, 0.005)
    return float(max(steps, key=lambda step: f1([value < step for value in values], true)["f1"]))


def fitted(train: Sequence[Case], dev: Sequence[Case]) -> dict[str, Any]:
    """Logistic regression on the training dialogues, as weights to write into session/topic.py."""
    rows = np.array([(1.0, *row) for row in following.order([one.signs for one in train])])
    true = np.array(marks(train), dtype=float)
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (true - likely) - weights
        bend = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.eye(len(weights))
        weights += np.linalg.solve(bend, slope)
    likely = 1 / (1 + np.exp(-rows @ weights))
    changed = max(np.arange(0.1, 0.6, 0.01), key=lambda step: f1(list(likely >= step), marks(train))["f1"])
    others = np.array([(1.0, *row) for row in following.order([one.signs for one in dev])])
    guessed = 1 / (1 + np.exp(-others @ weights)) >= changed
    names = ("bias", *(one.name for one in fields(following.Signs)))
    return {
        "weights": {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)},
        "changed": round(float(changed), 2),
        "train": f1(list(likely >= changed), marks(train)),
        "dev": f1(list(guessed), marks(dev)),
    }


def _talk(train: Sequence[Case]) -> dict[str, float]:
    near = np.array([one.cosine for one in train])
    opening = np.array([one.to_centroid for one in train if one.is_shift])
    return {
        "mean": round(float(near.mean()), 3),
        "sd": round(float(near.std()), 3),
        "far": round(float(np.quantile(opening, 1 / 3)), 3),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--model-path", default="")
    parser.add_argument("--fit", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
