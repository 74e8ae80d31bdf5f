"""Draw the lifecycle's rules: one picture for each curve that docs/lifecycle-rules.md explains.

    python -m benchmarks.curves [docs/images]

The pictures are made from the rules themselves; tests/bench/test_curves.py says when they are out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.plot import Limit, Line, plot
from engram.config import Config
from engram.model.memory import Affect, Kind, Layer, Memory, Usage
from engram.rules import retention as rules_retention
from engram.rules.importance import (
    ACTIVE_HEAT,
    IMPORTANCE_FLOOR,
    activation,
    comes_to_mind,
    decayed_importance,
    effective_importance,
    heat,
)
from engram.rules.retention import retention, strength

FOLDER = Path(__file__).parents[1] / "docs" / "images"
START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "We met at the lake", "h", START, START)
DAYS = 120
STEPS = 240
Rule = Callable[[Memory, datetime], float]


def main() -> None:
    """Write each picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures():
        (folder / f"{name}.svg").write_text(picture, encoding="utf-8", newline="\n")
        print(folder / f"{name}.svg")


def pictures() -> Iterator[tuple[str, str]]:
    """Each picture by its name."""
    yield "retention-modes", retention_modes()
    yield "retention-memories", retention_memories()
    yield "strength", strengths()
    yield "importance-decay", importance_decay()
    yield "activation", activations()
    yield "effective-importance", effective()
    yield "heat", heats()


def retention_modes() -> str:
    """The four shapes alone: what uses, sessions and feelings add is in the next picture."""
    days = [DAYS * step / STEPS for step in range(STEPS + 1)]
    lines = [
        Line("ebbinghaus, 3 uses", days, [rules_retention.ebbinghaus(day, 30, accesses=3) for day in days]),
        Line("l2, ebbinghaus unused", days, [rules_retention.l2(day, 30) for day in days]),
        Line("elastic", days, [rules_retention.elastic(day, 30) for day in days]),
        Line("huber", days, [rules_retention.huber(day, 30) for day in days]),
    ]
    return plot("Four shapes of forgetting", lines, x="days without use", y="what is left", limits=ARCHIVE)


def retention_memories() -> str:
    """The usual shape, for memories of several lives."""
    lives = {
        "knowledge, pinned": replace(PLAIN, kind=Kind.SEMANTIC),
        "stirred (arousal 0.7)": replace(PLAIN, affect=Affect(arousal=0.7)),
        "5 uses in 5 sessions": replace(PLAIN, usage=Usage(accessed=5, sessions=5)),
        "5 uses in one session": replace(PLAIN, usage=Usage(accessed=5, sessions=1)),
        "written by a person": PLAIN,
        "extracted": replace(PLAIN, source="session"),
    }
    lines = [line(name, memory, retention) for name, memory in lives.items()]
    return plot(
        "What a memory's life makes of it", lines, x="days since the last use", y="retention", limits=ARCHIVE
    )


def strengths() -> str:
    """What importance, affect and replays do to strength."""
    lives = {
        "ordinary": PLAIN,
        "important (0.9)": replace(PLAIN, importance=0.9),
        "stirred (arousal 0.7)": replace(PLAIN, affect=Affect(arousal=0.7)),
        "replayed twice": replace(PLAIN, strength=1.4),
    }
    lines = [line(name, memory, strength) for name, memory in lives.items()]
    limits = [Limit(Config().forgetting.strength_below, "archived below 0.05")]
    return plot("Strength", lines, x="days since the last use", y="strength", limits=limits)


def importance_decay() -> str:
    """What disuse takes off, whole day by whole day."""
    lives = {
        "protected (0.8)": replace(PLAIN, importance=0.8, pinned=True),
        "began at 0.8": replace(PLAIN, importance=0.8),
        "began at 0.5": replace(PLAIN, importance=0.5),
        "began at 0.2": replace(PLAIN, importance=0.2),
    }
    lines = [line(name, memory, decayed_importance, days=14, steps=14 * 24) for name, memory in lives.items()]
    limits = [Limit(IMPORTANCE_FLOOR, "the floor")]
    return plot("Importance without use", lines, x="days without use", y="importance", limits=limits)


def activations() -> str:
    """How three uses keep a memory in mind, at once or spread out."""
    lives = {
        "a use each week": (7.0, 14.0, 21.0),
        "three uses on day 7": (7.0, 7.01, 7.02),
        "never used": (),
    }
    lines = [line(name, PLAIN, _mind(uses), days=42, steps=420) for name, uses in lives.items()]
    return plot("Base-level activation (ACT-R)", lines, x="days since it was stored", y="comes to mind")


def effective() -> str:
    """The nine factors together, over time."""
    used = Usage(accessed=8, sessions=6, confirmed=1)
    lives = {
        "core, used, confirmed": replace(PLAIN, layer=Layer.CORE, usage=used, kind=Kind.SEMANTIC),
        "working, 3 uses": replace(PLAIN, layer=Layer.WORKING, usage=Usage(accessed=3, sessions=2)),
        "working, unused": replace(PLAIN, layer=Layer.WORKING),
        "extracted, unused": replace(PLAIN, source="session", trust=0.7),
    }
    lines = [
        line(name, memory, lambda memory, now: effective_importance(memory, [], now).total)
        for name, memory in lives.items()
    ]
    limits = [Limit(Config().forgetting.importance_below, "may be archived below 0.3")]
    return plot(
        "Effective importance", lines, x="days since the last use", y="by nine factors", limits=limits
    )


def heats() -> str:
    """How use cools down."""
    lives = {f"after {uses} uses": replace(PLAIN, usage=Usage(accessed=uses)) for uses in (6, 2)}
    lines = [line(name, memory, heat, days=42) for name, memory in lives.items()]
    limits = [Limit(ACTIVE_HEAT, "active from 0.55")]
    return plot("Heat", lines, x="days since the last use", y="heat", limits=limits)


ARCHIVE = (Limit(Config().forgetting.retention_below, "may be archived below 0.15"),)


def line(name: str, memory: Memory, rule: Rule, *, days: float = DAYS, steps: int = STEPS) -> Line:
    """A rule over the days of a memory."""
    x = [days * step / steps for step in range(steps + 1)]
    return Line(name, x, [rule(memory, START + timedelta(days=day)) for day in x])


def _mind(uses: tuple[float, ...]) -> Rule:
    times = [START + timedelta(days=day) for day in uses]

    def chance(memory: Memory, now: datetime) -> float:
        return comes_to_mind(activation(memory, [at for at in times if at <= now], now))

    return chance


if __name__ == "__main__":
    main()
