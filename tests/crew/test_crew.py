"""Processes that recall beside this one: the same answers, nothing written, nothing that depends on them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

import pytest

from engram import Access, Engram, Recall, Role, Scope
from engram.config import Config
from engram.crew import AHEAD, RecallPool
from engram.errors import TooManyRecalls
from engram.model.recall import Plan, Question, Traces
from engram.opening import Overrides, open_tools
from engram.operations.values import encoded
from engram.ports import Tools
from engram.recall.pipeline import recall
from engram.testing import HashEmbedder

pytestmark = [
    pytest.mark.slow,  # each starts processes that open the file for themselves
    pytest.mark.skipif(sys.platform == "win32", reason="asks /proc and signals"),
]
READY_WITHIN_S = 60.0
SETTINGS = replace(Config(), recall=replace(Config().recall, processes=1))
TEXTS = ("My editor is Helix", "Anna lives in Bremen", "Tea is at four in the kitchen", "The boiler is old")

NOTHING = Recall(Question(""), Plan(), ())


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    path = str(tmp_path_factory.mktemp("crew") / "m.db")
    return open_tools(path, SETTINGS, Overrides(), read_only=False)


@pytest.fixture(scope="module")
def crew(tools: Tools) -> RecallPool:
    assert isinstance(tools.finder, RecallPool)
    return tools.finder


@pytest.fixture(scope="module")
def memory(tools: Tools, crew: RecallPool) -> Iterator[Engram]:
    with Engram(tools, Access(), "human", "m.db") as opened:
        opened.remember_many(TEXTS)
        wait_for(crew)
        yield opened


def wait_for(crew: RecallPool) -> int:
    """The number of the process that recalls, when it is ready."""
    end = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < end:
        # The second question that comes while one is answered starts the processes.
        crew.find(Question("tea"), None, lambda: crew.find(Question("tea"), None, lambda: NOTHING)[0])
        if crew.free:
            return crew.free[0]
        time.sleep(0.02)
    pytest.fail("nobody was ready")


def nobody() -> Recall:
    raise AssertionError("a process was ready and did not answer")


def told(found: Recall) -> list[tuple[str, float]]:
    return [(hit.memory.id, round(hit.score, 9)) for hit in found]


@pytest.mark.parametrize(
    "asked", ["my editor", "where does Anna live?", "when is tea", "nothing of the kind"]
)
def test_the_answers_are_the_same(memory: Engram, tools: Tools, crew: RecallPool, asked: str) -> None:
    question = Question(asked, memory.access, explain=True, dry=True)

    (beside, elsewhere), here = crew.find(question, None, nobody), recall(question, tools)

    assert elsewhere
    assert told(beside) == told(here)
    assert [hit.evidence for hit in beside] == [hit.evidence for hit in here]


def test_what_was_just_written_is_found(memory: Engram, crew: RecallPool) -> None:
    memory.remember("The spare key lies under the blue flowerpot")

    found, _ = crew.find(Question("where is the spare key", memory.access), None, nobody)

    assert found.hits[0].memory.content == "The spare key lies under the blue flowerpot"


def test_what_a_recall_leaves_behind_is_written_here(memory: Engram, crew: RecallPool) -> None:
    wait_for(crew)
    before = memory.recall_health().overall.recalls

    found = memory.recall("my editor is Helix")
    memory.settle()
    kept = memory.get(found.hits[0].memory.id)

    assert kept is not None
    assert kept.usage.accessed == found.hits[0].memory.usage.accessed + 1
    assert memory.recall_health().overall.recalls == before + 1
    assert not found.question.dry


def test_an_answer_comes_in_json_and_leaves_the_same_behind(memory: Engram, crew: RecallPool) -> None:
    wait_for(crew)
    before, told = memory.recall_health().overall.recalls, SimpleQueue[bytes | None]()

    assert memory.hand_over_recall(told.put, 1, "my editor is Helix")
    found = json.loads(told.get(timeout=READY_WITHIN_S) or b"")
    memory.settle()
    kept, here = memory.get(found["hits"][0]["memory"]["id"]), memory.recall("my editor is Helix", dry=True)

    asked = json.loads(encoded(replace(here, question=replace(here.question, dry=False))))["question"]
    assert found["question"] == asked
    assert [hit["memory"]["id"] for hit in found["hits"]] == [hit.memory.id for hit in here]
    assert kept is not None
    assert kept.usage.accessed == found["hits"][0]["memory"]["usage"]["accessed"] + 1
    assert memory.recall_health().overall.recalls == before + 1


def test_whoever_waits_is_told_when_the_process_dies(memory: Engram, crew: RecallPool) -> None:
    pid, told = wait_for(crew), SimpleQueue[tuple[bytes, Traces] | None]()
    os.kill(pid, signal.SIGSTOP)
    asked = [crew.hand_over(Question("tea", memory.access), told.put) for _ in range(AHEAD + 1)]
    os.kill(pid, signal.SIGKILL)

    assert asked == [True] * AHEAD + [False]
    assert [told.get(timeout=READY_WITHIN_S) for _ in range(AHEAD)] == [None] * AHEAD
    assert wait_for(crew) != pid


def test_a_long_question_is_handed_over_only_by_who_may_wait(memory: Engram, crew: RecallPool) -> None:
    wait_for(crew)
    long, told = Question("tea at four " * 1_000, memory.access), SimpleQueue[tuple[bytes, Traces] | None]()

    assert not crew.hand_over(long, told.put)
    assert crew.free, "it was not asked"
    assert crew.find(long, None, nobody)[1]


def test_an_event_loop_receives_the_answers_of_those_that_start_then(tmp_path: Path) -> None:
    tools = open_tools(str(tmp_path / "m.db"), SETTINGS, Overrides(), read_only=False)
    crew = tools.finder
    assert isinstance(crew, RecallPool)

    async def ask(question: Question) -> tuple[bytes, Traces]:
        told = asyncio.get_running_loop().create_future()
        assert not crew.hand_over(question, told.set_result), "nobody has started"
        first = await asyncio.to_thread(wait_for, crew)
        assert crew.hand_over(question, told.set_result)
        answer: tuple[bytes, Traces] = await asyncio.wait_for(told, READY_WITHIN_S)
        os.kill(first, signal.SIGKILL)
        assert await asyncio.to_thread(wait_for, crew) != first
        return answer

    with Engram(tools, Access(), "human", "m.db") as memory:
        memory.remember("My editor is Helix")
        body, left = asyncio.run(ask(Question("my editor", memory.access)))

    assert json.loads(body)["hits"][0]["memory"]["content"] == "My editor is Helix"
    assert left.texts == ("My editor is Helix",)


def test_who_may_see_what_holds_there_too(memory: Engram) -> None:
    rex = memory.seen_by(Access(Scope(project="apollo", agent="rex"), Role.AGENT), "rex")
    rex.remember("The probe flies on Tuesday")
    eve = memory.seen_by(Access(Scope(project="zeus", agent="eve"), Role.AGENT), "eve")

    assert len(rex.recall("the probe flies")) == 1
    assert len(eve.recall("the probe flies")) == 0


def test_a_process_that_dies_is_replaced_and_nobody_notices(memory: Engram, crew: RecallPool) -> None:
    first = wait_for(crew)
    os.kill(first, signal.SIGKILL)

    assert memory.recall("my editor", dry=True).hits[0].memory.content == "My editor is Helix"
    assert wait_for(crew) != first


def test_many_threads_ask_at_once(memory: Engram, crew: RecallPool) -> None:
    wait_for(crew)
    found: list[str] = []

    def ask() -> None:
        for _ in range(5):
            found.append(memory.recall("my editor", dry=True).hits[0].memory.content)  # noqa: PERF401

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == ["My editor is Helix"] * 30


def test_who_asks_alone_is_answered_here(tmp_path: Path) -> None:
    tools = open_tools(str(tmp_path / "m.db"), SETTINGS, Overrides(), read_only=False)
    assert isinstance(tools.finder, RecallPool)
    with Engram(tools, Access(), "human", "m.db") as memory:
        memory.remember("My editor is Helix")
        for _ in range(3):
            assert len(memory.recall("my editor")) == 1
        assert not tools.finder.started


def test_limits_count_together(tmp_path: Path) -> None:
    limits = replace(Config().limits, recalls_a_minute=3)
    with Engram.open(tmp_path / "m.db", config=replace(SETTINGS, limits=limits)) as memory:
        rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")
        for _ in range(3):
            rex.recall("tea")
        with pytest.raises(TooManyRecalls):
            rex.recall("tea")


def test_closing_ends_every_process(tmp_path: Path) -> None:
    tools = open_tools(str(tmp_path / "m.db"), SETTINGS, Overrides(), read_only=False)
    assert isinstance(tools.finder, RecallPool)
    with Engram(tools, Access(), "human", "m.db") as memory:
        pid = wait_for(tools.finder)
    memory.close()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_was_brought_along_stays_in_this_process(tmp_path: Path) -> None:
    asking = replace(SETTINGS, llm=replace(SETTINGS.llm, base_url="http://127.0.0.1:9", model="small"))
    for settings, brought in (
        (SETTINGS, Overrides(embedder=HashEmbedder())),
        (asking, Overrides()),
        (Config(), Overrides()),
    ):
        tools = open_tools(str(tmp_path / "m.db"), settings, brought, read_only=False)
        tools.store.close()
        assert tools.finder is None
