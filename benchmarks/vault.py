"""What the vault costs: the same file in clear and under a key, processor time of recall and of writing.

PYTHONPATH=src:. python benchmarks/vault.py --size 10000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from engram.api.vault import init_vault
from engram.bench.speed import SEED, drafts, queries
from engram.engine import Engram

KEY = bytes(range(32))
ROUNDS = 5


def main() -> None:
    """Print the figures, and how many times as long it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    size = parser.parse_args().size
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "memory.db"))
        with Engram.open(path) as memory:
            memory.remember_many(list(drafts(SEED, size)))
        plain = measure(path, None, size)
        init_vault(path, key=KEY)
        sealed = measure(path, KEY, size)
    for name, before in plain.items():
        print(f"{name:16} {before:8.2f} ms {sealed[name]:8.2f} ms   x {sealed[name] / before:.2f}")


def measure(path: str, key: bytes | None, size: int) -> dict[str, float]:
    """Processor time of opening, of one recall, and of one write, the middle of the rounds."""
    asked = [text for text, _ in queries(SEED, size, 60)]
    began = time.process_time()
    with Engram.open(path, key=key) as memory:
        memory.recall(asked[0])
        first = (time.process_time() - began) * 1000
        reading = [_spent(lambda: [memory.recall(text) for text in asked], len(asked)) for _ in range(ROUNDS)]
        writing = []
        for number in range(ROUNDS):
            some = list(drafts(SEED + 1 + number, 100))
            writing.append(_spent(lambda some=some: [memory.remember_many([one]) for one in some], 100))  # type: ignore[misc]
    return {"first answer": first, "recall": median(reading), "write": median(writing)}


def _spent(work: Callable[[], object], times: int) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000 / times


if __name__ == "__main__":
    main()
