"""Train the small model of `engram.rules.injection` on our sentences, and say how good it is on unseen ones.

    PYTHONPATH=src python benchmarks/train_injection.py [--ordinary FILE] [--check]

With `--check` three-fold figures are printed and nothing is written. `--ordinary` is a JSON list of texts
that nobody wrote as an attack, the more the better: the weights in the package saw talk (the training
parts of STS-B and TIAGE, a third of LongMemEval), messages of programs in five languages, and Python's
documentation.

Sentences come from `injection_grammar.txt` (frames and what may stand in them, by families of attacks; benign
ones of the same words), the development halves of `injection.py`, the examples beside the known wordings,
and, all of them ordinary, those of `train_assertion.py`. Test halves are never read here.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from zlib import compress

import numpy as np

from engram.rules.injection import (
    BUCKETS,
    FEW,
    LIST,
    SENTENCE_ENDS,
    WEIGHTS,
    command_sum,
    features,
    without_unseen,
)
from engram.text import lexicon

DATA = Path(__file__).parent / "data"
FILE = Path(__file__).parents[1] / "src/engram/text/data/injection.bin"
STEPS, RATE, PULL = 120, 0.05, 1e-6
EACH = 40
"""Sentences made of each frame."""
AGAIN = 3
"""How often a text that somebody wrote whole counts, beside one made of a frame."""
MOST_OF_ONE = 4
"""Pieces of one ordinary text that are taken."""
ENCODED = ("hidden", "encoded")

Sentence = tuple[str, bool]


def main() -> None:
    """Train, tell, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--ordinary", type=Path)
    given = parser.parse_args()
    made, whole = [*frames(), *examples() * 2], development()
    around = [
        *typed(),
        *(prose(json.loads(given.ordinary.read_text(encoding="utf-8"))) if given.ordinary else ()),
    ]
    if given.check:
        check(made, whole, around)
        return
    weights, bias = fit([*made, *whole * AGAIN], around)
    scale = float(np.abs(weights).max()) / 127
    raw = (np.round(weights / scale).astype(np.int16) + 128).astype(np.uint8).tobytes()
    FILE.write_bytes(f"{scale:.8f} {bias:.6f}".ljust(32).encode() + compress(raw, 9))
    print(f"{len(made)} + {len(whole)} sentences, {FILE.name}: {FILE.stat().st_size // 1024} KB")


def frames() -> list[Sentence]:
    """Sentences made of frames, the same ones every time."""
    chance, found = random.Random(3), dict[Sentence, None]()
    text = (DATA / "injection_grammar.txt").read_text(encoding="utf-8")
    for body in re.split(r"^\[\w+\]$", text, flags=re.MULTILINE)[1:]:
        choices = {
            name.strip(): [one.strip() for one in row.split("|")]
            for name, row in re.findall(r"^@(\w+) =(.*)$", body, re.MULTILINE)
        }

        def chosen(match: re.Match[str], choices: dict[str, list[str]] = choices) -> str:
            return chance.choice(choices[match.group(1)]) if match.group(1) in choices else match.group()

        for sign, frame in re.findall(r"^([+-]) (.*)$", body, re.MULTILINE):
            for _ in range(EACH):
                sentence = re.sub(r"\{(\w+)\}", chosen, re.sub(r"\{(\w+)\}", chosen, frame))
                found[sentence, sign == "+"] = None
    return list(found)


def examples() -> list[Sentence]:
    """The examples beside the known wordings."""
    return [
        (text, is_attack)
        for heading in WEIGHTS
        for texts, is_attack in zip(lexicon.examples(LIST, heading), (True, False), strict=True)
        for text in texts
    ]


def typed() -> Iterator[str]:
    """What people type, as `train_assertion.py` has it."""
    for path in sorted(DATA.glob("assertion_*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            _, _, text = line.partition("\t")
            if text and not line.startswith("#"):
                yield text.replace("\\n", "\n")


def prose(texts: list[str]) -> Iterator[str]:
    """Sentences of ordinary texts, and each two that follow each other, as the engine looks at them."""
    chance = random.Random(4)
    for text in texts:
        parts = [one for one in SENTENCE_ENDS.split(text) if one.strip()]
        looked_at = [*parts, *(" ".join(two) for two in pairwise(parts))]
        yield from chance.sample(looked_at, min(MOST_OF_ONE, len(looked_at)))


def development() -> list[Sentence]:
    """The development halves, without what is encoded."""
    return [
        (one["text"], one["attack"])
        for half in ("injection_dev", "poison_dev", "incidents_dev")
        for one in map(json.loads, (DATA / f"{half}.jsonl").read_text(encoding="utf-8").strip().split("\n"))
        if not (one["attack"] and one["family"].startswith(ENCODED))
    ]


def fit(sentences: list[Sentence], ordinary: list[str]) -> tuple[np.ndarray, float]:
    """Weights and bias of a logistic regression; attacks weigh as much as all others together."""
    texts = [*(text for text, _ in sentences), *ordinary]
    rows = [sorted(features(without_unseen(text).lower().replace("’", "'"))) for text in texts]
    wanted = np.array(
        [*(is_attack for _, is_attack in sentences), *(False for _ in ordinary)], dtype=np.float64
    )
    near = np.arange(len(texts)) < len(sentences)
    weigh = np.where(wanted == 1, 0.5 / wanted.sum(), 0.25 / (near & (wanted == 0)).sum())
    weigh[~near] = 0.25 / len(ordinary)
    sizes = [len(row) for row in rows]
    row, column = np.repeat(np.arange(len(rows)), sizes), np.array([one for found in rows for one in found])
    share = np.array([max(size, FEW) ** -0.5 for size in sizes])[row]
    state = np.zeros((3, BUCKETS + 1))  # weights and bias, their slope and its square, smoothed
    for step in range(1, STEPS + 1):
        sums = np.bincount(row, state[0][column] * share, minlength=len(rows)) + state[0][-1]
        error = (1 / (1 + np.exp(-sums)) - wanted) * weigh
        slope = np.append(np.bincount(column, error[row] * share, minlength=BUCKETS), error.sum())
        slope[:-1] += PULL * state[0][:-1]
        state[1] = 0.9 * state[1] + 0.1 * slope
        state[2] = 0.99 * state[2] + 0.01 * slope**2
        state[0] -= RATE * state[1] / (1 - 0.9**step) / (np.sqrt(state[2] / (1 - 0.99**step)) + 1e-8)
    return state[0][:-1], float(state[0][-1])


def check(made: list[Sentence], whole: list[Sentence], ordinary: list[str], count: int = 3) -> None:
    """How good it is on the third of the development texts that it has not seen."""
    order = np.random.default_rng(1).permutation(len(whole))
    found = np.zeros(len(whole))
    for fold in range(count):
        unseen = set(order[fold::count].tolist())
        weights, bias = fit(
            [*made, *[one for at, one in enumerate(whole) if at not in unseen] * AGAIN], ordinary
        )
        for at in unseen:
            found[at] = command_sum(whole[at][0].lower(), (weights.tolist(), bias))
    attacks = np.array([is_attack for _, is_attack in whole])
    for least in (-1.0, -0.75, -0.5, -0.25, 0.0, 0.5, 1.0):
        caught, false = (found[attacks] >= least).mean(), (found[~attacks] >= least).mean()
        print(f"from {least}: caught {caught:.3f}, false alarms {false:.3f}")


if __name__ == "__main__":
    main()
