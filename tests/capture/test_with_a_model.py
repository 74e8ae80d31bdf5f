"""Listening with a model beside: it may help, and whatever it does, nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, Status
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import (
    Reply,
    dies,
    dies_mid_stream,
    fails,
    refuses,
    says,
    says_json,
    stalls,
    too_many_requests,
)

SAID = "Keep in mind, long story short, that my better half Clara and I share a flat in Bonn."
BY_MODEL = "Anna shares a flat in Bonn with Clara."


def statement(content: str, **more: Any) -> dict[str, Any]:
    return {
        "content": content, "category": "relationship", "confidence": 0.9, "turns": [1], "event_time": None,
        "facts": [], "entities": ["Clara"], "corrects": False, **more,
    }  # fmt: skip


GOOD = says_json({"statements": [statement(BY_MODEL)]})


@contextmanager
def beside(path: Path, *replies: Any, **settings: Any) -> Iterator[tuple[Engram, ScriptedServer]]:
    """A memory with a scripted model beside it."""
    with ScriptedServer(*replies) as server:
        config = {
            "llm.base_url": server.url,
            "llm.model": "tiny",
            "llm.timeout_s": 0.4,
            "llm.retries": 0,
            **{f"llm.{name}": value for name, value in settings.items()},
        }
        with Engram.open(path, config=config, clock=FakeClock()) as memory:
            yield memory, server


def test_a_model_words_the_statement_and_its_use_is_accounted_for(file: Path) -> None:
    with beside(file, GOOD) as (memory, server):
        heard = memory.observe(SAID, session="s", speaker="Anna")

        assert heard.by == "a model"
        assert [receipt.memory.content for receipt in heard.receipts] == [BY_MODEL]
        assert [turn.content for turn in memory.said(heard.receipts[0].memory.id)] == [SAID]
        assert SAID in server.requests[0].prompt
        spent = memory.spending()
        assert [(one.component, one.model, one.calls) for one in spent] == [("extract", "tiny", 1)]
        assert any(
            finding.name == "model" and "tokens today" in finding.detail for finding in memory.doctor()
        )


@pytest.mark.parametrize(
    "reply",
    [
        says("Sure! Here is what I found: Clara."),
        says_json({"statements": [statement("Napoleon died on Elba in 1821.")]}),
        refuses(),
        stalls(),
        fails(500),
        too_many_requests(retry_after=60),
        dies(),
        dies_mid_stream(),
    ],
    ids=["garbage", "lies", "refuses", "stalls", "fails", "limited", "dies", "dies-mid-stream"],
)
def test_whatever_a_model_does_the_rules_still_learn(file: Path, reply: Reply) -> None:
    with beside(file, reply) as (memory, _):
        memory.observe("I live in Berlin.", session="s", speaker="Anna")
        memory.flush()

        assert [one.content for one in memory.list()] == ["I live in Berlin."]
        assert all(turn.captured_at for turn in memory.turns("s"))


def test_at_level_off_nobody_is_asked(file: Path) -> None:
    with beside(file, GOOD, level="off") as (memory, server):
        memory.observe("I live in Berlin.", session="s")
        assert server.requests == []


def test_at_level_auto_only_what_has_a_signal_is_worth_a_call(file: Path) -> None:
    with beside(file, GOOD) as (memory, server):
        memory.observe("The weather turned grey over the 3 valleys", session="s")
        memory.flush()
        assert server.requests == []
    with beside(file, GOOD, level="full") as (memory, server):
        memory.observe("The weather turned blue over the 3 valleys", session="s")
        memory.flush()
        assert len(server.requests) == 1


def test_the_daily_cap_holds_and_rules_go_on(file: Path) -> None:
    with beside(file, GOOD, daily_tokens=10) as (memory, server):
        heard = memory.observe("I live in Berlin.", session="s")

        assert server.requests == []
        assert [receipt.memory.content for receipt in heard.receipts] == ["I live in Berlin."]


def test_a_model_settles_a_pair_in_doubt(file: Path) -> None:
    with beside(file, fails(503), says_json({"relation": "replaces"}), rest_s=0) as (memory, _):
        memory.remember("User likes swimming in cold lakes.")
        doubted = memory.remember("User hates swimming in cold lakes.")
        assert len(memory.conflicts.list()) == 1

        memory.conflicts.ask(doubted.other, doubted.memory.id)
        settled = memory.conflicts.review()

        assert len(settled) == 1
        assert memory.conflicts.list() == []
        old = memory.get(doubted.other)
        assert old is not None
        assert old.status is Status.SUPERSEDED


@pytest.mark.slow
def test_nobody_who_speaks_waits_for_a_model_that_thinks_about_somebody_else(file: Path) -> None:
    with beside(file, stalls(), timeout_s=1.5) as (memory, server):
        first = threading.Thread(target=lambda: memory.observe("I live in Berlin.", session="a"))
        first.start()
        while not server.requests and first.is_alive():
            pass
        heard = memory.observe("We walked 3 miles along the river", session="b")

        assert heard.logged == 1
        assert first.is_alive()
        first.join()
