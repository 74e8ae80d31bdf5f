"""Learning: episodes that matter and are used again and again come in; they become knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.promotion import semantic_candidate
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Kind
from engram.model.filters import Filters


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Let an important episode that is used often be remembered as knowledge: it fades no more."""
    config = room.tools.config
    # Disuse only takes importance off: what has too little stored can be left out unread.
    episodes = Filters(kinds=frozenset({Kind.EPISODIC}), min_importance=config.promotion.semantic_importance)

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            verdict = semantic_candidate(one, room.now, config)
            if verdict and not one.speaker:
                effect = becomes(one, kind=Kind.SEMANTIC)
                yield Decision("promote.knowledge", verdict.why, (effect,), one.id)

    return sweep(room, cursor, episodes, decide)
