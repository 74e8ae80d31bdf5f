"""What did not help stays away from questions near the one it did not help with, and from no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engram import Engram
from engram.model.memory import Memory, Space, Usage
from engram.ports import Health
from engram.recall.judge import trust
from engram.rules.vectors import DEFAULT
from engram.testing import FakeClock
from tests.tables import every

Floats = NDArray[np.float32]
TEXT = "The kettle whistles"


class Angles:
    """An embedder that puts a question where its last word says: `kettle 0.7` has that cosine to `kettle`."""

    space = Space("angles", 4)

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        return self.space, np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        return self.space, self._vector(text)

    def health(self) -> Health:
        return Health(ok=True)

    def _vector(self, text: str) -> Floats:
        word = text.rsplit(maxsplit=1)[-1]
        share = float(word) if word.replace(".", "").isdigit() else 1.0
        return np.array([share, sqrt(1 - share * share), 0, 0], dtype=np.float32)


@pytest.fixture
def angles(file: Path, clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(file, clock=clock, embedder=Angles()) as memory:
        memory.remember(TEXT)
        yield memory


def found(memory: Engram, query: str) -> bool:
    return TEXT in [hit.memory.content for hit in memory.recall(query, dry=True, min_relevance=0.0)]


def unhelpful(memory: Engram, query: str) -> None:
    memory.feedback(memory.recall("kettle", dry=True)[0].memory.id, helpful=False, query=query)


@pytest.mark.parametrize(("cosine", "shown"), [(0.71, False), (0.99, False), (0.69, True), (0.0, True)])
def test_only_questions_nearer_than_the_threshold_are_kept_from_it(
    angles: Engram, cosine: float, shown: bool
) -> None:
    assert DEFAULT.suppress == 0.70
    unhelpful(angles, "kettle")

    assert found(angles, f"kettle {cosine}") is shown


def test_it_comes_back_after_ninety_days_and_not_before(angles: Engram, clock: FakeClock) -> None:
    unhelpful(angles, "kettle")
    clock.advance(days=89, hours=23)
    assert not found(angles, "kettle")
    clock.advance(hours=2)
    assert found(angles, "kettle")


def test_without_a_question_nothing_is_kept_away_but_trust_sinks(angles: Engram) -> None:
    before = angles.recall("kettle", dry=True)[0]
    unhelpful(angles, "")

    after = angles.recall("kettle", dry=True)[0]
    assert after.trust.accuracy < before.trust.accuracy


def test_helpful_does_not_keep_a_memory_away(angles: Engram) -> None:
    one = angles.recall("kettle", dry=True)[0]
    angles.feedback(one.memory.id, helpful=True, query="kettle")

    after = angles.recall("kettle", dry=True)[0]
    assert after.trust.utility > one.trust.utility
    assert after.trust.accuracy > one.trust.accuracy


def test_the_explanation_names_the_rule(angles: Engram) -> None:
    unhelpful(angles, "kettle")

    dropped = angles.recall("kettle", dry=True, explain=True, min_relevance=0.0).dropped
    assert [one.why for one in dropped] == ["said not to help for a question like this"]


@every(
    ("usage", "accuracy", "utility"),
    [
        (Usage(), 0.5, 0.0),
        (Usage(helpful=1), 0.55, pytest.approx(0.361, abs=0.001)),
        (Usage(helpful=4), 0.7, pytest.approx(0.722, abs=0.001)),
        (Usage(helpful=50), 0.7, 1.0),
        (Usage(unhelpful=1), 0.45, 0.0),
        (Usage(unhelpful=50), 0.3, 0.0),
        (Usage(helpful=3, unhelpful=3), 0.5, pytest.approx(0.339, abs=0.001)),
    ],
)
def test_opinions_move_trust_and_only_so_far(usage: Usage, accuracy: float, utility: float) -> None:
    now = FakeClock().now()
    parts = trust(Memory("id", "x", "h", now, now, usage=usage), 1.0, 1.0)

    assert parts.accuracy == pytest.approx(accuracy)
    assert parts.utility == utility
