"""The relevance floor: how many questions about this conversation, and about another one, get an answer.

    python benchmarks/floor.py --data FILE

Each LoCoMo conversation is asked its own answerable questions and those of the next conversation, which
nothing in it answers. A good floor lets nearly all of the first through and few of the second.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from engram import Engram
from engram.bench.retrieval import load

FLOORS = (0.0, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
QUESTIONS = 100


def main() -> None:
    """Ask, then print the share that is answered at each floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    conversations = load("locomo", parser.parse_args().data)
    own: list[float] = []
    foreign: list[float] = []
    for place, here in enumerate(conversations):
        other = conversations[(place + 1) % len(conversations)]
        with Engram.open(":memory:") as memory:
            memory.remember_many([document.draft for document in here.documents])
            own += [_best(memory, ask.text) for ask in here.asks[:QUESTIONS] if ask.answerable]
            foreign += [_best(memory, ask.text) for ask in other.asks[:QUESTIONS] if ask.answerable]
    print(
        f"| floor | {len(own)} own questions answered | {len(foreign)} foreign ones answered |\n|---|---|---|"
    )
    for floor in FLOORS:
        print(f"| {floor} | {_share(own, floor):.3f} | {_share(foreign, floor):.3f} |")


def _best(memory: Engram, question: str) -> float:
    return memory.recall(question, limit=1, min_relevance=0.0, dry=True).quality.top_relevance


def _share(found: list[float], floor: float) -> float:
    return sum(one >= floor for one in found) / len(found)


if __name__ == "__main__":
    main()
