"""A question is thought through: taken apart, searched part by part, answered with what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.errors import EngramError
from engram.model.recall import Reasoning
from engram.recall.reasoning import CALLS
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import Reply, Request, fails, refuses, says, says_json, stalls
from engram.text.subquestions import smaller, topic_of_change
from tests.tables import every

KNOWN = (
    "My sister is Anna",
    "Anna works at Siemens",
    "Siemens has its seat in Munich",
    "Ben works at the bakery",
    "I moved to Berlin in May",
    "I bought a red bicycle in June",
)


@pytest.fixture
def family(memory: Engram) -> Engram:
    memory.remember_many(KNOWN)
    return memory


def found(reasoning: Reasoning) -> dict[str, list[str]]:
    return {branch.question: [hit.memory.content for hit in branch.hits] for branch in reasoning.tree.walk()}


# ---------------------------------------------------------------- by rules


@every(
    ("question", "parts"),
    [
        ("Where does Anna work and how old is she?", ["Where does Anna work", "how old is Anna"]),
        ("Where do I live? What is my job?", ["Where do I live", "What is my job"]),
        ("Which is faster, Rust or Go?", ["Which is faster, Rust", "Which is faster, Go"]),
        ("Do I like my bike or my car more?", ["Do I like my bike more", "Do I like my car more"]),
        ("Where do Anna and Ben work?", ["Where do Anna work", "Where do Ben work"]),
        ("Compare tea with coffee for me", ["tea for me", "coffee for me"]),
        ("What did I buy after I moved to Berlin?", ["I moved to Berlin", "What did I buy"]),
        ("Before we left Rome, where did we live?", ["we left Rome", "where did we live"]),
        ("搬到柏林之后，我买了什么？", ["搬到柏林", "我买了什么"]),
        ("Where do I live?", []),
        ("bread and butter", []),
        ("", []),
    ],
)  # fmt: skip
def test_rules_take_a_question_apart(question: str, parts: list[str]) -> None:
    assert [one.question for one in smaller(question)] == parts


@given(st.text(max_size=200))
def test_no_question_is_too_strange_to_be_taken_apart(question: str) -> None:
    parts = smaller(question)

    assert len(parts) != 1
    assert all(one.question.strip() and one.why for one in parts)
    assert topic_of_change(question) == topic_of_change(f" {question} ")


@every("piece", ["a", "我的", "\t", "- ", "or ", "when ", "Anna and ", "my a's "])
def test_an_endless_question_is_left_whole(piece: str) -> None:
    assert smaller(piece * 5_000) == ()


def test_facts_lead_to_what_shares_no_name_with_the_question(family: Engram) -> None:
    reasoning = family.reason("Where does my sister work?")

    assert found(reasoning)["Where does my sister work?"][0] == "Anna works at Siemens"
    assert not reasoning.answer
    assert reasoning.calls == 0
    assert reasoning.gaps == ()


def test_parts_for_which_nothing_is_known_are_gaps(family: Engram) -> None:
    reasoning = family.reason("Where does Ben work and which submarine does the Belgian admiral command?")

    assert reasoning.gaps == ("which submarine does the Belgian admiral command",)
    assert found(reasoning)["Where does Ben work"][0] == "Ben works at the bakery"


def test_the_tree_is_the_same_twice_and_leaves_no_trace(family: Engram) -> None:
    question = "What did I buy after I moved to Berlin?"

    assert found(family.reason(question)) == found(family.reason(question))
    family._tools.store.flush()  # noqa: SLF001 - use is counted behind the caller's back
    assert {one.usage.accessed for one in family.list()} == {0}
    assert family.recall_health().overall.recalls == 0


def test_depth_and_budget_are_checked(family: Engram) -> None:
    for wrong in ({"depth": 0}, {"depth": 6}, {"budget": -1}, {"depth": True}):
        with pytest.raises(EngramError):
            family.reason("Where does Ben work?", **wrong)
    assert family.reason("Where does Ben work?", budget=0).tokens == 0


# ---------------------------------------------------------------- with a model


def thinking(
    file: Path, script: Callable[[Request], Reply], question: str, **given: Any
) -> tuple[Reasoning, list[str], Engram]:
    """A memory that reasons with a scripted model, and what the model was asked for."""
    with ScriptedServer(script) as server:
        config = {"llm.base_url": server.url, "llm.model": "m", "llm.retries": 0, "llm.timeout_s": 0.5}
        with Engram.open(file, clock=FakeClock(), config=config) as memory:
            if not memory.stats().memories:
                memory.remember_many(KNOWN)
            server.requests.clear()
            reasoning = memory.reason(question, **given)
            return reasoning, [_kind(request) for request in server.requests], memory


def _kind(request: Request) -> str:
    system = str(request.body["messages"][0]["content"])
    return "synthesize" if "from memories and from nothing else" in system else "decompose"


def _number(request: Request, content: str) -> int:
    """The number under which the model was shown a memory."""
    lines = str(request.body["messages"][1]["content"]).splitlines()
    shown = [line for line in lines if line.startswith('{"memory"')]
    return next(place for place, line in enumerate(shown, 1) if content in line)


def test_a_model_asks_for_what_is_open_and_answers_with_what_it_was_given(file: Path) -> None:
    def script(request: Request) -> Reply:
        if _kind(request) == "decompose":
            return says_json({"questions": ["Where does Anna work?", "Where is the seat of Siemens?"]})
        munich, siemens = _number(request, "Munich"), _number(request, "works at Siemens")
        claims = [
            {"claim": "Your sister's company sits in Munich.", "memories": [munich, siemens]},
            {"claim": "She likes it there.", "memories": []},
            {"claim": "She earns a lot.", "memories": [999]},
        ]
        return says_json({"claims": claims})

    reasoning, asked, memory = thinking(file, script, "In which town sits the company of my sister?")

    assert asked == ["decompose", "synthesize"]
    assert reasoning.calls == 2
    assert [one.claim for one in reasoning.answer] == ["Your sister's company sits in Munich."]
    assert set(reasoning.answer[0].memories) <= set(reasoning.memories)
    assert len(reasoning.answer[0].memories) == 2
    assert memory.path


@pytest.mark.parametrize(
    "reply", [fails(500), says("no idea"), refuses(), stalls()], ids=lambda one: str(one)[:30]
)
def test_a_model_that_fails_leaves_the_tree_that_rules_make(file: Path, reply: Reply) -> None:
    reasoning, _, _ = thinking(file, lambda _: reply, "Where do Ben and Anna work?")

    assert found(reasoning)["Where do Anna work"][0] == "Anna works at Siemens"
    assert reasoning.answer == ()
    assert any("rules did" in note for note in reasoning.notes)
    assert any("the tree shows" in note for note in reasoning.notes)


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_calls_are_bounded_whatever_the_model_wants_to_know(file: Path, depth: int) -> None:
    count = 0

    def script(request: Request) -> Reply:
        nonlocal count
        if _kind(request) == "synthesize":
            return says_json({"claims": []})
        count += 1
        return says_json({"questions": [f"zzyzx{count} qwrt{place} blorft?" for place in range(4)]})

    reasoning, asked, _ = thinking(file, script, "Where does my sister work?", depth=depth)

    assert len(asked) == reasoning.calls <= CALLS[depth]
    assert asked.count("synthesize") == 1
    assert any("do not answer" in note for note in reasoning.notes)


def test_the_model_sees_no_more_than_the_budget(file: Path) -> None:
    shown: list[int] = []

    def script(request: Request) -> Reply:
        shown.append(str(request.body["messages"][1]["content"]).count('{"memory"'))
        return says_json({"questions": [], "claims": []})

    thinking(file, script, "Where do Anna and Ben work?", budget=0)
    assert shown == [0], "without a memory to show there is nothing to answer from"
    reasoning, _, _ = thinking(file, script, "Where do Anna and Ben work?", budget=12)
    assert reasoning.tokens <= 12
    assert all(count <= 2 for count in shown)
