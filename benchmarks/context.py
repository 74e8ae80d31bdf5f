"""How long `context()` takes, recall included, and how full its prompts are.

Makes a file of made-up memories (`engram.bench.sentences`), asks for prompts for models of several sizes with
a conversation of 30 turns behind them, and prints a table. A file given with `--file` is kept and used again.

    python benchmarks/context.py --size 10000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from engram.bench.sentences import drafts, queries
from engram.engine import Engram

SEED = 20_240_229
MODELS = ("gpt-4", "", "gpt-4o", "claude-opus-5", "gemini-1.5-pro")
TURNS = 30
WARM_UP = 5


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--file", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or Path(folder) / "memories.db"
        new = not path.exists()
        with Engram.open(path) as memory:
            if new:
                made = list(drafts(SEED, given.size))
                memory.remember_many(made, partial=True)
                memory.remember("Never deploy on a Friday.", priority="P0")
            _print(memory, [one["text"] for one in asked(given.size, given.queries)])


def asked(size: int, count: int) -> list[dict[str, Any]]:
    """Questions whose answers are kept."""
    return [{"text": one.text} if hasattr(one, "text") else one for one in queries(SEED, size, count)]


def _print(memory: Engram, questions: list[str]) -> None:
    print("| model | budget | memories | tokens | context p50 ms | p95 | cpu p50 | recall alone p50, cpu |")
    print("|---|---|---|---|---|---|---|---|")
    talk = [
        {
            "role": "assistant" if at % 2 else "user",
            "content": f"{question} We decided on plan {at} in app_{at}.py.",
        }
        for at, question in enumerate(questions[:TURNS])
    ]
    for model in MODELS:
        walls, cpus, alone, sizes = [], [], [], []
        for at, question in enumerate(questions):
            began, busy = time.perf_counter(), time.process_time()
            made = memory.context(
                question, model=model, system="You are a helpful agent.", history=talk, dry=True
            )
            wall, cpu = time.perf_counter() - began, time.process_time() - busy
            busy = time.process_time()
            memory.recall(question, dry=True, expand=False)
            if at >= WARM_UP:
                walls.append(wall * 1e3)
                cpus.append(cpu * 1e3)
                alone.append((time.process_time() - busy) * 1e3)
                sizes.append((made.budget, len(made.memories), made.tokens))
        budget, count, tokens = (median(one) for one in zip(*sizes, strict=True))
        print(
            f"| {model or 'unknown'} | {budget:,.0f} | {count:.0f} | {tokens:,.0f} | {median(walls):.1f} "
            f"| {quantiles(walls, n=20)[-1]:.1f} | {median(cpus):.1f} | {median(alone):.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
