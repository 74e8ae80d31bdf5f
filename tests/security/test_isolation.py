"""Nobody learns what others hold: not by reading, not by looking from elsewhere, not by how scores move."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.model.scope import Access, Role, Scope
from engram.testing import FakeClock, HashEmbedder


@pytest.fixture
def whole(tmp_path: Path) -> Iterator[Engram]:
    """The memory of whoever owns the file."""
    with Engram.open(
        tmp_path / "memory.db", embedder=HashEmbedder(), clock=FakeClock(), access=Access.everything()
    ) as memory:
        yield memory


def test_scores_say_nothing_of_the_words_that_others_hold(whole: Engram) -> None:
    agent = whole.seen_by(Access(Scope("alpha", agent="rex"), Role.AGENT), "rex")
    agent.remember("The mark stands beside a samovar")
    agent.remember("The mark stands beside a bellows")

    def told() -> list[object]:
        found = [agent.recall(word, explain=True) for word in ("samovar", "bellows", "a warm teapot")]
        return [(hit.memory.id, hit.score, hit.relevance, hit.evidence) for one in found for hit in one]

    before = told()
    for place in (Scope("beta"), Scope("alpha", agent="ada")):
        for number in range(40):
            whole.remember(f"Samovar number {number} boils water for a warm teapot", scope=place)

    assert before
    assert told() == before
