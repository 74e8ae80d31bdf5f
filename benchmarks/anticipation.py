"""Anticipation: how often the next recall was prepared rightly, and how good what was prepared is.

    python benchmarks/anticipation.py --data locomo_dev.json [--conversations N] [--seconds 20]

LoCoMo's conversations are replayed as if they were live: one speaker is the user, the other the agent, so
many seconds between turns; sessions are days apart, as they were. Before each session the memory holds every
turn of the sessions before it. Reported: the hit rate (messages that were expected, of all but the first of a
session), and how much of a fresh recall's first five the prepared one has too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from engram import Engram
from engram.bench.retrieval import Document, Haystack, load
from engram.model.scope import Access, Role
from engram.testing import FakeClock

TOP = 5


@dataclass(slots=True)
class Tally:
    """What was counted."""

    asked: int = 0
    hits: int = 0
    shared: list[float] = field(default_factory=list)


def main() -> None:
    """Replay and print."""
    options = _options()
    tally = Tally()
    for haystack in load("locomo", options.data, options.conversations):
        replay(haystack, tally, options.seconds, dict(pair.split("=", 1) for pair in options.set))
    told = {
        "messages": tally.asked,
        "hits": tally.hits,
        "hit rate": round(tally.hits / max(1, tally.asked), 3),
        "shared with a fresh recall@5": round(sum(tally.shared) / max(1, len(tally.shared)), 3),
        "seconds between turns": options.seconds,
    }
    print(json.dumps(told, indent=2))


def replay(haystack: Haystack, tally: Tally, seconds: float, settings: dict[str, Any]) -> None:
    """One conversation, session after session."""
    clock = FakeClock()
    limits = {"limits.recalls_a_minute": 0, "limits.recalls_a_session": 0}
    with Engram.open(":memory:", clock=clock, config=limits | settings) as memory:
        reader = memory.seen_by(Access(role=Role.READER), "bench")  # turns are stored here, not captured
        for name, group in groupby(haystack.documents, key=lambda one: one.draft.session):
            documents = [*group]
            began = documents[0].draft.event_time
            if began is not None:
                clock.jump(began)
            _talk(reader, name, documents, tally, clock, seconds)
            memory.remember_many([one.draft for one in documents])


def _talk(
    memory: Engram, name: str, documents: Sequence[Document], tally: Tally, clock: FakeClock, seconds: float
) -> None:
    session = memory.session(id=name)
    for message, reply in exchanges(documents):
        clock.advance(seconds=seconds)
        with session.turn(message) as turn:
            turn.reply = reply
            if turn.anticipated:
                fresh = memory.recall(message, limit=TOP, dry=True)
                wanted = {hit.memory.id for hit in fresh}
                found = {hit.memory.id for hit in turn.recalled.hits[:TOP]}
                tally.shared.extend([len(wanted & found) / len(wanted)] if wanted else [])
    counted = session.info().anticipated
    tally.asked += counted.asked
    tally.hits += counted.hits
    session.wipe()


def exchanges(documents: Sequence[Document]) -> Iterator[tuple[str, str]]:
    """What the first speaker says, joined, and what the other answers."""
    user = documents[0].draft.speaker
    message, reply = "", ""
    for one in documents:
        if one.draft.speaker == user:
            if reply:
                yield message, reply
                message, reply = "", ""
            message = f"{message}\n{one.draft.content}".strip()
        else:
            reply = f"{reply}\n{one.draft.content}".strip()
    if message:
        yield message, reply


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", type=int)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
