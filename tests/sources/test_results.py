"""What sessions, tasks, flows and searches came to is kept, with how it ended and where it was found."""

from __future__ import annotations

from typing import Any

import pytest

from engram import Engram
from engram.errors import BadTag, EmptyContent, UnknownValue
from engram.model.memory import ANY_STATUS
from engram.testing import FakeClock
from tests.sources.conftest import contents
from tests.tables import every


def test_a_task_tells_how_it_ended(memory: Engram, clock: FakeClock) -> None:
    memory.sources.task(
        "nightly-build", "3 tests failed in test_store", outcome="failure", details={"run": 7}
    )
    kept = memory.recall("why did the nightly build fail?").hits[0].memory

    assert kept.content == "Task nightly-build failed: 3 tests failed in test_store"
    assert (kept.source, kept.tags) == ("task:nightly-build", ("task", "failure"))
    assert kept.details == {"run": 7, "task": "nightly-build", "outcome": "failure"}
    assert kept.event_time == clock.now()


def test_a_flow_tells_its_steps(memory: Engram) -> None:
    steps: list[str | dict[str, str]] = [
        "run tests",
        {"name": "deploy", "outcome": "failure", "result": "timeout"},
    ]
    report = memory.sources.flow("release", steps, outcome="partial")
    kept = memory.get(report.items[0].memories[0])

    assert kept is not None
    assert kept.content == "Flow release succeeded in part: 1. run tests\n2. deploy (failed): timeout"
    assert [one["name"] for one in kept.details["steps"]] == ["run tests", "deploy"]


def test_a_summary_is_read_like_a_document(memory: Engram) -> None:
    text = "## Decisions\n- We decided to use Postgres.\n- The key rotates every 90 days.\n"
    assert memory.sources.summary(text, session="s1").counts == {"stored": 2}
    assert memory.sources.summary(text + "- Maya leads the team.\n", session="s1").counts["stored"] == 1
    assert all((one.session, one.source) == ("s1", "session") for one in memory.list())


def test_a_finding_keeps_its_question_and_address(memory: Engram) -> None:
    findings: list[str | dict[str, str]] = [
        "Strong flour has 13 percent protein.",
        {"text": "Rye has no gluten to speak of.", "url": "https://r.example"},
    ]
    memory.sources.research(findings, query="best bread flour", urls=["https://a.example"])
    kept = {one.content: one for one in memory.list()}

    assert kept["Strong flour has 13 percent protein."].details["urls"] == ["https://a.example"]
    assert kept["Rye has no gluten to speak of."].details["urls"] == ["https://r.example"]
    assert {one.details["query"] for one in kept.values()} == {"best bread flour"}
    assert memory.recall("what did we find out about the best bread flour?").hits


def test_a_text_with_a_title_is_a_document(memory: Engram) -> None:
    memory.sources.text("Bread needs flour and water.", title="kitchen")
    again = memory.sources.text("Bread needs flour and a little salt.", title="kitchen")
    assert again.counts == {"updated": 1}
    memory.sources.text("Trains leave at noon.")
    memory.sources.text("Buses leave at noon.")
    assert len(contents(memory)) == 3, "a text without a name replaces nothing"


@every(
    ("call", "error"),
    [
        (lambda one: one.task("x", "y", outcome="maybe"), UnknownValue),
        (lambda one: one.task("", "y"), EmptyContent),
        (lambda one: one.summary("", session="s"), EmptyContent),
        (lambda one: one.research(["x"], query=""), EmptyContent),
        (lambda one: one.text("x", tags=["t" * 40]), BadTag),
        (lambda one: one.text("x", format="mem0"), UnknownValue),
        (lambda one: one.flow("x", [{"outcome": "success"}]), EmptyContent),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    memory: Engram, call: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        call(memory.sources)

    assert len(memory.list(filters=ANY_STATUS)) == 0
