"""Learn what pieces of text cost in tokens, for the estimate in `engram.text.tokens`.

Text files come in by sort; for every family the line of `text/data/token_costs.txt` and its errors come out.
`reference_tokenizers.py` says where the real tokenizers come from.

    python benchmarks/calibrate_tokens.py --tokenizers FOLDER --prose FILE… --code FILE… --chinese FILE…

`--markup` takes prompts as the project makes them: memories in their blocks. Every second
passage is learned from, the others are measured. Each file weighs the same, whatever its size.
Files given with `--unseen` are only measured. With `--measure` nothing is learned and only the costs in the
package are measured.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from reference_tokenizers import Count, found

from engram.text.tokens import FREE, PIECE, estimate, kind

PASSAGE = 1000
LONGEST = 600_000
"""Characters of a file that are looked at."""
PULL = 0.003  # how strongly a rare piece is pulled to a cost of one token
SIGNS = "，。、：！？（）《》"
LETTERS = (
    "Вчера мы ходили в театр. Η θάλασσα είναι ήρεμη. ذهبت إلى السوق اليوم. "
    "今日はとてもいい天気ですね。오늘은 날씨가 좋아요."
)


def main() -> None:
    """Print the costs, then the errors, of every family whose tokenizer is at hand."""
    sorts = ("prose", "code", "chinese", "markup", "unseen")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizers", type=Path, required=True)
    parser.add_argument("--measure", action="store_true")
    for sort in sorts:
        parser.add_argument(f"--{sort}", nargs="+", type=Path, default=[])
    given = parser.parse_args()
    files = [(sort, path) for sort in sorts for path in getattr(given, sort)]
    passages = {(sort, path.stem): [*_passages(path)] for sort, path in files}
    learned = {name: np.array([_features(one) for one in parts[::2]]) for name, parts in passages.items()}
    for family, count in found(given.tokenizers):
        if not given.measure:
            groups = [(rows, passages[name][::2]) for name, rows in learned.items() if name[0] != "unseen"]
            print(_line(family, _fit(groups, count)))
        if given.measure:
            for name, parts in _measured(passages).items():
                _print_errors(family, name, parts, count)


def _measured(passages: Mapping[tuple[str, str], list[str]]) -> dict[str, list[str]]:
    """What is measured: of each sort what was not learned from, and every unseen file by itself."""
    found_by: dict[str, list[str]] = {}
    for (sort, name), parts in passages.items():
        unseen = sort == "unseen"
        found_by.setdefault(f"{name} (unseen)" if unseen else sort, []).extend(
            parts if unseen else parts[1::2]
        )
    return found_by


def _passages(path: Path) -> Iterator[str]:
    held = ""
    text = path.read_text(encoding="utf-8", errors="replace")[:LONGEST]
    for line in text.splitlines(keepends=True):
        held += line
        if len(held) > PASSAGE:
            yield held
            held = ""


Rows = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def _fit(groups: Sequence[tuple[Rows, list[str]]], count: Count) -> list[float]:
    """Least squares over all passages: for each piece how many there are, and how many characters beyond."""
    known = _known(count)
    rows, wanted = [], []
    for features, texts in groups:
        tokens = np.array([count(text) for text in texts], dtype=float)
        weight = 1 / (tokens.mean() * np.sqrt(len(tokens)))
        rows.append(features * weight)
        wanted.append((tokens - features @ np.nan_to_num(known)) * weight)
    free = np.isnan(known)
    prior = np.array([1.0, 0.0] * len(FREE)) * free
    left = np.vstack([np.vstack(rows) * free, np.eye(len(free)) * PULL])
    solved = np.linalg.lstsq(left, np.hstack([*wanted, prior * PULL]), rcond=None)[0]
    return [float(cost) for cost in np.where(free, solved, known)]


def _known(count: Count) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What need not be learned, as it can be asked: digits, signs and letters of other scripts."""
    one, three = (count(" ".join(["a" + digits] * 100)) / 100 for digits in ("7", "739"))
    letters = [piece for piece in PIECE.findall(LETTERS) if kind(piece) == "other letter"]
    rest = count("".join(piece for piece in PIECE.findall(LETTERS) if kind(piece) != "other letter"))
    asked = {
        "digits": (1.0, round((three - one) / 2)),
        "other sign": (sum(map(count, SIGNS)) / len(SIGNS), 0.0),
        "other letter": (max(0.1, (count(LETTERS) - rest) / len(letters)), 0.0),
        "han": (np.nan, 0.0),
    }
    return np.array([cost for name in FREE for cost in asked.get(name, (np.nan, np.nan))])


def _features(text: str) -> list[float]:
    counts, beyond = Counter[str](), Counter[str]()
    for piece in PIECE.findall(text):
        name = kind(piece)
        counts[name] += 1
        beyond[name] += max(0, len(piece) - FREE[name])
    return [float(number[name]) for name in FREE for number in (counts, beyond)]


def _line(family: str, costs: list[float]) -> str:
    """A line of the file of costs."""
    pairs = (f"{costs[2 * at]:.3f}+{costs[2 * at + 1]:.3f}" for at in range(len(FREE)))
    return " ".join([f"{family:<9}", *pairs])


def _print_errors(family: str, name: str, parts: list[str], count: Count) -> None:
    """How far the estimate as it stands in the package is off, over all passages and for a single one."""
    exact = np.array([count(text) for text in parts], dtype=float)
    began = time.process_time()
    guessed = np.array([estimate(text, family) for text in parts], dtype=float)
    rate = sum(len(text.encode()) for text in parts) / (time.process_time() - began) / 1e6
    single = np.abs(guessed - exact) / exact
    print(
        f"| {family} | {name} | {int(exact.sum()):,} | {guessed.sum() / exact.sum() - 1:+.1%} "
        f"| {np.median(single):.1%} | {np.percentile(single, 95):.1%} | {rate:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
