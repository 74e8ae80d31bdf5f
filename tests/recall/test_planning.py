"""The plan of a question: what it says, what it does, and how a caller changes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram, Recall
from engram.errors import InvalidInput, OutOfRange, UnknownValue, WrongType
from engram.model.memory import Kind
from engram.model.recall import Intent, PlanOverrides, wish
from engram.testing import FakeClock
from tests.tables import every


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found]


def test_the_plan_tells_intent_language_time_and_names(memory: Engram, clock: FakeClock) -> None:
    memory.remember("Robert Smith repaired the boiler")

    plan = memory.recall("Why did Robert Smith call last week?").plan

    assert plan.intent is Intent.CAUSAL
    assert plan.confidence > 0.5
    assert plan.hops == 3
    assert plan.language == "en"
    assert plan.entities == ("Robert Smith",)
    [span] = plan.spans
    assert span.words == "last week"
    assert span.last is not None
    assert span.last <= clock.now()


def test_another_name_of_somebody_finds_what_is_told_under_the_first(memory: Engram) -> None:
    memory.remember("Robert Smith keeps bees behind the barn")
    memory.remember("The barn roof leaks when it rains")
    memory.entities.alias("Robert Smith", "Bobby")

    found = memory.recall("Bobby", explain=True)

    assert contents(found)[:1] == ["Robert Smith keeps bees behind the barn"]
    assert {"robert", "smith"} <= set(found.plan.aliases)
    assert found.plan.intent is Intent.ENTITY


def test_a_name_itself_counts_more_than_another_name(memory: Engram) -> None:
    memory.remember("Robert Smith likes strong tea")
    memory.remember("Bobby likes strong tea very much")
    memory.entities.alias("Robert Smith", "Bobby")

    assert contents(memory.recall("Does Bobby like tea?"))[0] == "Bobby likes strong tea very much"


def test_a_procedure_comes_before_an_episode_when_the_question_asks_how(memory: Engram) -> None:
    memory.remember("I reset the router by holding the button for ten seconds", kind="episodic")
    memory.remember("To reset the router hold the button for ten seconds", kind="procedural")

    found = memory.recall("how do I reset the router?")

    assert found.plan.prefer == (Kind.PROCEDURAL,)
    assert found[0].memory.kind is Kind.PROCEDURAL
    assert "procedural wanted" in {evidence.name for evidence in found[0].evidence}


def test_a_caller_may_say_what_the_question_is_after(memory: Engram) -> None:
    plan = memory.recall("the boiler", plan={"intent": "causal", "weights": {"vector": 0.5}, "hops": 1}).plan

    assert plan.intent is Intent.CAUSAL
    assert plan.confidence == 1.0
    assert plan.weights["vector"] == 0.5
    assert plan.hops == 1


def test_the_weights_a_caller_gives_decide(memory: Engram) -> None:
    memory.remember("The boiler was serviced in March")
    memory.remember("Central heating needs maintenance every year")
    question = "boiler"

    by_words = memory.recall(question, plan={"weights": {"vector": 0.0}}, min_relevance=0.0)
    by_meaning = memory.recall(question, plan={"weights": {"text": 0.0}}, min_relevance=0.0)

    assert by_words.plan.weights["vector"] == 0.0
    assert all(hit.score == 0 or "boiler" in hit.memory.content for hit in by_words)
    assert by_meaning.plan.weights["text"] == 0.0


@every(
    ("given", "error"),
    [
        ({"intent": "guesswork"}, UnknownValue),
        ({"speed": 1}, UnknownValue),
        ({"weights": {"smell": 1}}, UnknownValue),
        ({"weights": {"text": -1}}, OutOfRange),
        ({"weights": {"text": float("nan")}}, OutOfRange),
        ({"weights": {"text": "much"}}, WrongType),
        ({"weights": 3}, WrongType),
        ({"hops": 1.5}, WrongType),
        ({"hops": 99}, OutOfRange),
        ({"prefer": "semantic"}, WrongType),
        ({"prefer": ["poetic"]}, UnknownValue),
        ("causal", WrongType),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused_in_words(
    memory: Engram, given: Any, error: type[InvalidInput]
) -> None:
    with pytest.raises(error):
        memory.recall("anything", plan=given)


def test_a_wish_may_be_given_as_a_value() -> None:
    assert wish(PlanOverrides(intent=Intent.LOOKUP, hops=3)) == wish({"intent": "LOOKUP", "hops": 3})


@pytest.mark.slow
@given(
    text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(str.strip)
)
def test_the_same_question_gets_the_same_answer(text: str) -> None:
    with Engram.open(":memory:", clock=FakeClock()) as memory:
        memory.remember_many(
            ["Anna lives in Oslo since May 2024", "我住在上海", "The cat sleeps on the piano"]
        )

        first, second = (memory.recall(text, min_relevance=0.0, dry=True) for _ in range(2))

        assert contents(first) == contents(second)
        assert [hit.score for hit in first] == [hit.score for hit in second]
        assert first.plan == second.plan


@every("question", ["咖啡", "猫", "上海", "钢琴"])
def test_a_few_chinese_characters_lean_on_the_words(memory: Engram, question: str) -> None:
    memory.remember_many(["我每天早上喝咖啡", "我家的猫喜欢睡在钢琴上", "我住在上海", "我在学英语"])

    found = memory.recall(question)

    assert question in found[0].memory.content
    assert found[0].relevance >= 0.5
    assert found.plan.weights["text"] > found.plan.weights["vector"]


def test_asking_for_news_brings_the_newer_of_two_equals_first(tmp_path: Path) -> None:
    clock = FakeClock(datetime(2024, 5, 1, tzinfo=UTC))
    with Engram.open(tmp_path / "m.db", clock=clock) as memory:
        memory.remember("I am reading a book about ships", event_time=clock.now() - timedelta(days=300))
        memory.remember("I am reading a novel about bees", event_time=clock.now() - timedelta(days=1))

        found = memory.recall("What have I been reading lately?", explain=True)

    assert found.plan.freshness > 0
    assert found.plan.spans == ()
    assert contents(found)[0] == "I am reading a novel about bees"
