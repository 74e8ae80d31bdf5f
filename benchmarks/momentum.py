"""Momentum: elliptic follow-ups ("ok, deploy it"), asked alone and inside the talk they belong to.

    python benchmarks/momentum.py [--data FILE] [--embedder transformer --model-path FOLDER]

Every case talks about one thing for three turns and then asks for something of it without naming it. The same
follow-up is asked of plain recall, and as the fourth turn of a session. The memories of all cases, and others
that have nothing to do with any, are in one file. Recall@5 and MRR of the one memory that answers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engram import Engram
from engram.config import Config, overlay
from engram.model.recall import Recall
from engram.model.scope import Access, Role

HERE = Path(__file__).parent
LIMIT = 5


def main() -> None:
    """Measure both ways and print what came out."""
    options = _options()
    data = json.loads(options.data.read_text(encoding="utf-8"))
    settings: dict[str, Any] = {"embed.name": options.embedder, "embed.path": options.model_path}
    settings |= {"limits.recalls_a_minute": 0, "limits.recalls_a_session": 0}
    settings |= dict(pair.split("=", 1) for pair in options.set)
    with Engram.open(":memory:", config=overlay(Config(), settings)) as memory:
        memory.remember_many(data["memories"])
        plain = [rank(memory.recall(case["ask"], limit=LIMIT, dry=True), case) for case in data["cases"]]
        reader = memory.seen_by(Access(role=Role.READER), "bench")  # so that no talk becomes a memory
        moved = [rank(_in_talk(reader, case), case) for case in data["cases"]]
    told = {"cases": len(plain), "plain": _figures(plain), "in a session": _figures(moved)}
    print(json.dumps(told, indent=2))
    if options.verbose:
        for case, before, after in zip(data["cases"], plain, moved, strict=True):
            print(f"{before or '-':>3} {after or '-':>3}  {case['ask']:32} {case['wanted'][:70]}")


def rank(found: Recall, case: dict[str, Any]) -> int:
    """Where the wanted memory stands; 0: not among the first."""
    contents = [hit.memory.content for hit in found.hits[:LIMIT]]
    return contents.index(case["wanted"]) + 1 if case["wanted"] in contents else 0


def _in_talk(memory: Engram, case: dict[str, Any]) -> Recall:
    session = memory.session(id=case["wanted"][:60])
    try:
        for message in case["talk"]:
            with session.turn(message):
                pass
        with session.turn(case["ask"]) as turn:
            return turn.recalled
    finally:
        session.wipe()


def _figures(ranks: Sequence[int]) -> dict[str, float]:
    return {
        "recall@5": round(sum(1 for one in ranks if one) / len(ranks), 3),
        "mrr": round(sum(1 / one for one in ranks if one) / len(ranks), 3),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE / "data" / "elliptic.json")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--model-path", default="")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--verbose", action="store_true", help="the place of each, plain and in a session")
    return parser.parse_args()


if __name__ == "__main__":
    main()
