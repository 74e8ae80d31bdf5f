"""Switching: a hundred times from one agent to another and back. How long it takes, and whether all is there.

    python benchmarks/switching.py [--switches 100] [--agents 10] [--memories 1000]

Each agent talks for a few turns about something of its own. Then agents take turns: each switch sends one
session to sleep (sealed, on disk) and wakes another. After each, what the woken one has on its mind, where
its talk was going and what was said are compared with what they were.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from engram import Engram
from engram.api.session import Session

TOPICS = (
    "the web shop", "the radar map", "payroll", "the search index", "the newsletter",
    "the robot arm", "our trip to Lisbon", "the kitchen", "the choir", "the marathon",
)  # fmt: skip
TURNS = (
    "Let us talk about {}",
    "There is a problem with {} that I want to solve today",
    "What do we know about {}?",
)
Mind = tuple[tuple[tuple[str, float], ...], tuple[tuple[str, str], ...], float]


def main() -> None:
    """Switch, compare, print."""
    options = _options()
    with (
        tempfile.TemporaryDirectory() as folder,
        Engram.open(Path(folder, "memory.db")) as memory,
    ):
        memory.remember_many(f"Item {n} is kept on shelf {n * 7 % 97}" for n in range(options.memories))
        told = measure(memory, options.switches, options.agents)
    print(json.dumps(told, indent=2))


def measure(memory: Engram, switches: int, agents: int) -> dict[str, float]:
    """The times of all switches in milliseconds, and how many minds came back otherwise."""
    minds: dict[str, Mind] = {}
    session = None
    for place in range(agents):
        name = f"agent{place}"
        session = session.switch(name) if session else memory.session(agent=name)
        _talk(session, TOPICS[place % len(TOPICS)])
        minds[name] = mind(session)
    times, lost = [], 0
    for number in range(switches if session else 0):
        name = f"agent{number % agents}"
        began = time.perf_counter()
        session = memory.session(agent=name) if session is None else session.switch(name)
        times.append((time.perf_counter() - began) * 1_000)
        lost += mind(session) != minds[name]
    times.sort()
    return {
        "switches": switches,
        "p50_ms": round(times[len(times) // 2], 2),
        "p99_ms": round(times[max(0, -(-len(times) * 99 // 100) - 1)], 2),
        "lost": lost,
    }


def mind(session: Session) -> Mind:
    """What must come back: slots with their strength, history, confidence."""
    slots = tuple(sorted((slot.content, round(slot.activation, 2)) for slot in session.slots))
    return slots, tuple(session.history), round(session.info().confidence, 6)


def _talk(session: Session, topic: str) -> None:
    for words in TURNS:
        with session.turn(words.format(topic)) as turn:
            turn.reply = f"I remember {topic}."
    session.hold(f"Working on {topic}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--switches", type=int, default=100)
    parser.add_argument("--agents", type=int, default=10)
    parser.add_argument("--memories", type=int, default=1_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
