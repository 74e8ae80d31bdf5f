"""With a model: it finds the words where it may be asked; without an answer, rules do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from engram import Engram
from engram.ports import NoAdvisor
from engram.testing import FakeClock
from tests.maintain.knowledge.stories import FAILED, learned, sketches, tagged, told


class Writer(NoAdvisor):
    """Says how many statements it was shown, or nothing."""

    def __init__(self, *, silent: bool = False) -> None:
        self.asked: list[list[str]] = []
        self.silent = silent

    def summarize(self, texts: Sequence[str], words: int) -> str | None:  # type: ignore[override]
        self.asked.append(list(texts))
        return None if self.silent else f"{len(texts)} things in {words} words"


@pytest.fixture
def writer() -> Writer:
    return Writer()


def opened(clock: FakeClock, writer: Writer, level: str, **more: object) -> Engram:
    return Engram.open(":memory:", clock=clock, advisor=writer, config={"llm.level": level, **more})


@pytest.fixture
def full(clock: FakeClock, writer: Writer) -> Iterator[Engram]:
    with opened(clock, writer, "full") as memory:
        yield memory


def test_a_tree_is_written_by_the_model_where_it_may_always_be_asked(full: Engram, clock: FakeClock) -> None:
    told(
        full, clock, [f"The {what} of the database was slow" for what in ("index", "backup", "query", "disk")]
    )
    learned(full, "self_knowledge")
    assert full.knowledge.tree().clusters[0].text.startswith("4 things in")


def test_it_is_asked_only_so_often(clock: FakeClock, writer: Writer) -> None:
    with opened(clock, writer, "full", **{"maintain.model_calls": 1}) as memory:
        told(
            memory, clock, [f"The {what} was slow on day {n}" for n in range(6) for what in ("disk", "query")]
        )
        learned(memory, "self_knowledge")
    assert len(writer.asked) == 1


def test_in_auto_the_model_is_left_alone_where_words_are_shared(clock: FakeClock, writer: Writer) -> None:
    with opened(clock, writer, "auto") as memory:
        told(memory, clock, FAILED)
        learned(memory, "knowledge", "self_knowledge")
        (pattern,) = tagged(memory, "pattern")
        assert pattern.content == "Deployed the billing service to …, the migration failed"
    assert writer.asked == []


def test_a_silent_model_leaves_it_to_the_rules(clock: FakeClock) -> None:
    with opened(clock, Writer(silent=True), "full") as memory:
        told(memory, clock, [f"The {what} of the database was slow" for what in ("index", "backup", "query")])
        learned(memory, "self_knowledge")
        assert "database" in sketches(memory, "tree")[0].body["paragraph"]
