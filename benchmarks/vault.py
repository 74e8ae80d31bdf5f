"""What a key costs: the same file in clear, with sealed words, and encrypted; processor time.

One memory in twenty has a phone number or a password, as what is written has.

PYTHONPATH=src:. python benchmarks/vault.py --size 10000
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from engram.api.vault import init_vault
from engram.bench.speed import SEED, drafts, queries
from engram.engine import Engram
from engram.model.capture import Draft

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
            memory.remember_many(some(SEED, size))
        copies = {name: str(Path(folder, f"{name}.db")) for name in ("fields", "vault")}
        for name, copy in copies.items():
            shutil.copy(path, copy)
            init_vault(copy, key=KEY, fields=name == "fields")
        plain = measure(path, None, size)
        found = {name: measure(copy, KEY, size) for name, copy in copies.items()}
        again = measure(path, None, size)
    for name, first in plain.items():
        before = (first + again[name]) / 2
        told = "   ".join(
            f"{mode} {one[name]:.2f} ms x {one[name] / before:.2f}" for mode, one in found.items()
        )
        print(f"{name:14} in clear {first:.2f} and {again[name]:.2f} ms   {told}")


def some(seed: int, size: int) -> list[Draft]:
    """Statements, one in twenty of them with something sensitive."""
    made = list(drafts(seed, size))
    for number in range(0, size, 20):
        more = f"phone +49 171 {2_000_000 + number}" if number % 40 else f"password is Zq-{number}-pine"
        made[number] = replace(made[number], content=f"{made[number].content}; the {more}")
    return made


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
            new = some(SEED + 1 + number, 100)
            writing.append(_spent(lambda new=new: [memory.remember_many([one]) for one in new], 100))  # type: ignore[misc]
    return {"first answer": first, "recall": median(reading), "write": median(writing)}


def _spent(work: Callable[[], object], times: int) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000 / times


if __name__ == "__main__":
    main()
