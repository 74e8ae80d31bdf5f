"""How long `context()` takes, recall included, and how full its prompts are.

Makes a file of made-up memories (`engram.bench.sentences`), asks for prompts for models of several sizes with
a conversation of 30 turns behind them, and prints a table. Each question is asked three times and the fastest
counts, as a machine has other things to do. A file given with `--file` is kept and used again.

    python benchmarks/context.py --size 10000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from engram.bench.speed import drafts, queries
from engram.engine import Engram
from engram.model.context import Context

SEED = 20_240_229
MODELS = ("gpt-4", "", "gpt-4o", "claude-opus-5", "gemini-1.5-pro")
TURNS = 30
ROUNDS = 3


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
    return [{"text": text} for text, _ in queries(SEED, size, count)]


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
        for question in questions:
            rounds = [_measured(memory, question, model, talk) for _ in range(ROUNDS)]
            walls.append(min(one[0] for one in rounds))
            cpus.append(min(one[1] for one in rounds))
            alone.append(min(_recalled(memory, question) for _ in range(ROUNDS)))
            made = rounds[0][2]
            sizes.append((made.budget, len(made.memories), made.tokens))
        budget, count, tokens = (median(one) for one in zip(*sizes, strict=True))
        print(
            f"| {model or 'unknown'} | {budget:,.0f} | {count:.0f} | {tokens:,.0f} | {median(walls):.1f} "
            f"| {quantiles(walls, n=20)[-1]:.1f} | {median(cpus):.1f} | {median(alone):.1f} |",
            flush=True,
        )


def _measured(
    memory: Engram, question: str, model: str, talk: list[dict[str, str]]
) -> tuple[float, float, Context]:
    """Milliseconds of wall and processor time for one prompt, and the prompt."""
    began, busy = time.perf_counter(), time.process_time()
    made = memory.context(question, model=model, system="You are a helpful agent.", history=talk, dry=True)
    return (time.perf_counter() - began) * 1e3, (time.process_time() - busy) * 1e3, made


def _recalled(memory: Engram, question: str) -> float:
    busy = time.process_time()
    memory.recall(question, dry=True, expand=False)
    return (time.process_time() - busy) * 1e3


if __name__ == "__main__":
    main()
