"""Budget: a model and what each section needs come in; what each gets comes out, before anything is made.

    window − reply − system prompt and message = free; then shares of what is free

A section cannot take another's share. What one leaves goes to what is recalled, then to the history, then to
whoever still lacks something. When a share is too small to show anything at all, sections are given up for it
in a fixed order: guidelines, roster, today, skills, schemas, history, recalled, identity; never what is on
the mind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Final

from engram.config import ContextConfig
from engram.model.context import SECTIONS
from engram.model.language_model import LanguageModel

THINKING: Final = 4
"""A reply of a model that thinks first takes so many times as much."""
AVERAGE: Final = 45
"""About the least tokens that a memory takes in a prompt: how many are asked for follows from it."""
FEWEST: Final = 3


@dataclass(frozen=True, slots=True)
class Need:
    """What a section would take, and the least with which it can show anything."""

    wanted: int = 0
    least: int = 0


def reserve_of(model: LanguageModel, settings: ContextConfig) -> int:
    """Tokens kept free for the reply: never more than a quarter of the window.

    >>> reserve_of(LanguageModel("", window=8_192, output=4_096), ContextConfig())
    2048
    """
    wanted = settings.reply_tokens * (THINKING if model.thinking else 1)
    return min(model.output, wanted, model.window // 4)


def budget_of(model: LanguageModel, settings: ContextConfig, asked: int | None, *, exact: bool) -> int:
    """Tokens that a prompt may have; what a caller asks for, if the model has so much."""
    most = model.window - reserve_of(model, settings)
    if not exact:
        most -= ceil(most * settings.uncertainty)
    return most if asked is None else min(asked, most)


def memories_for(room: int, settings: ContextConfig) -> int:
    """How many memories to ask for: twice as many as may find room, so that there is a choice.

    >>> memories_for(50, ContextConfig()), memories_for(700, ContextConfig())
    (3, 31)
    >>> memories_for(200_000, ContextConfig())
    500
    """
    return min(settings.most_memories, max(FEWEST, 2 * room // AVERAGE))


def allot(free: int, needs: Mapping[str, Need], settings: ContextConfig) -> dict[str, int]:
    """What each section gets; together never more than is free.

    >>> needs = {"history": Need(900, 10), "recalled": Need(300, 10), "roster": Need(5, 5)}
    >>> {name: got for name, got in allot(1000, needs, ContextConfig()).items() if got}
    {'recalled': 300, 'history': 695, 'roster': 5}
    """
    free = max(0, free)
    given = {
        name: min(needs[name].wanted, int(free * share_of(name, settings))) if name in needs else 0
        for name in SECTIONS
    }
    for name in SECTIONS:
        need = needs.get(name, Need())
        if given[name] < min(need.least, need.wanted):
            _rescue(name, need, given, free)
    spare = free - sum(given.values())
    for name in ("recalled", "history", *SECTIONS):
        need = needs.get(name, Need())
        more = min(spare, need.wanted - given[name])
        if given[name] + more >= min(need.least, need.wanted):
            given[name] += more
            spare -= more
    return given


def share_of(name: str, settings: ContextConfig) -> float:
    """A section's share of what is free; guidelines have none and live on what others leave."""
    return float(getattr(settings, f"{name}_share", 0.0))


def _rescue(name: str, need: Need, given: dict[str, int], free: int) -> None:
    """Give a section its least by giving up others, the least important first; or give it up itself."""
    behind = SECTIONS[SECTIONS.index(name) + 1 :]
    lacking = min(need.least, need.wanted) - given[name] - (free - sum(given.values()))
    if lacking > sum(given[other] for other in behind):
        given[name] = 0
        return
    for other in reversed(behind):
        if lacking <= 0:
            break
        lacking -= given[other]
        given[other] = 0
    given[name] = min(need.least, need.wanted)
