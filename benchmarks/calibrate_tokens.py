"""Learn what pieces of text cost in tokens, for the estimate in `engram.text.tokens`.

Text files come in by sort, the costs and their errors come out. Needs the `tokens` extra, which counts
exactly.

    python benchmarks/calibrate_tokens.py --prose FILE… --code FILE… --chinese FILE…

Every second passage is learned from, the others are measured. Each sort weighs the same, whatever its size.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import bpe_openai
import numpy as np

from engram.text.tokens import COSTS, FREE, PIECE, estimate, kind

PASSAGE = 1000
PULL = 0.003  # how strongly a rare piece is pulled to a cost of one token
# Known without learning: both encodings cut digits by three. Signs of other scripts stand about one to a
# sentence, so a fit cannot tell them from sentences; one token each is what they cost.
FIXED = {"digits": (1.0, 0.0), "other sign": (1.0, 0.0)}


def main() -> None:
    """Print costs and errors for both encodings."""
    sorts = ("prose", "code", "chinese")
    parser = argparse.ArgumentParser(description=__doc__)
    for sort in sorts:
        parser.add_argument(f"--{sort}", nargs="+", type=Path, required=True)
    files = vars(parser.parse_args())
    passages = {sort: [p for path in files[sort] for p in _passages(path)] for sort in sorts}
    for encoding in COSTS:
        count = _counter(encoding)
        _print_costs(encoding, _fit([part[::2] for part in passages.values()], count))
        for sort, parts in passages.items():
            _print_errors(encoding, sort, parts[1::2], count)


def _passages(path: Path) -> Iterator[str]:
    held = ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        held += line
        if len(held) > PASSAGE:
            yield held
            held = ""


def _counter(encoding: str) -> Callable[[str], int]:
    encode = bpe_openai.get_encoding(f"{encoding}_base").encode_ordinary
    return lambda text: len(encode(text))


def _fit(groups: list[list[str]], count: Callable[[str], int]) -> list[float]:
    """Least squares over all passages: for each piece how many there are, and how many characters beyond."""
    rows, wanted = [], []
    for group in groups:
        features = np.array([_features(text) for text in group], dtype=float)
        tokens = np.array([count(text) for text in group], dtype=float)
        known = features @ np.array([cost for name in FREE for cost in FIXED.get(name, (0.0, 0.0))])
        weight = 1 / (tokens.mean() * np.sqrt(len(tokens)))
        rows.append(features * weight)
        wanted.append((tokens - known) * weight)
    free = np.array([name not in FIXED for name in FREE for _ in range(2)], dtype=float)
    prior = np.array([1.0, 0.2] * len(FREE)) * free
    left = np.vstack([np.vstack(rows) * free, np.eye(len(free)) * PULL])
    found = np.linalg.lstsq(left, np.hstack([*wanted, prior * PULL]), rcond=None)[0]
    fixed = np.array([cost for name in FREE for cost in FIXED.get(name, (0.0, 0.0))])
    return [float(cost) for cost in found * free + fixed]


def _features(text: str) -> list[float]:
    counts, beyond = Counter[str](), Counter[str]()
    for piece in PIECE.findall(text):
        name = kind(piece)
        counts[name] += 1
        beyond[name] += max(0, len(piece) - FREE[name])
    return [float(number[name]) for name in FREE for number in (counts, beyond)]


def _print_costs(encoding: str, costs: list[float]) -> None:
    print(f'"{encoding}": {{')
    for at, name in enumerate(FREE):
        print(f'    "{name}": ({costs[2 * at]:.2f}, {costs[2 * at + 1]:.2f}),')
    print("},")


def _print_errors(encoding: str, sort: str, parts: list[str], count: Callable[[str], int]) -> None:
    """How far the estimate as it stands in the package is off, over all passages and for a single one."""
    exact = np.array([count(text) for text in parts], dtype=float)
    began = time.process_time()
    guessed = np.array([estimate(text, encoding) for text in parts], dtype=float)
    rate = sum(len(text.encode()) for text in parts) / (time.process_time() - began) / 1e6
    single = np.abs(guessed - exact) / exact
    print(
        f"| {encoding} | {sort} | {int(exact.sum())} | {guessed.sum() / exact.sum() - 1:+.1%} "
        f"| {np.median(single):.1%} | {np.percentile(single, 95):.1%} | {rate:.0f} |"
    )


if __name__ == "__main__":
    main()
