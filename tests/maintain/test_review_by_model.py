"""Review with a model: it is asked about the uncertain middle, or always; without an answer rules decide."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from engram import Engram
from engram.model.memory import Layer, Status, Tier
from engram.model.scope import Access, Scope
from engram.testing import FakeClock, HashEmbedder, ScriptedServer
from engram.testing.model_server import Reply, Request, fails, says, says_json
from tests.maintain.story import START, now, opened, overheard, rules, told, use

WORKING = {"layer": Layer.WORKING, "apart": True}
SURE = {"category": "constraint", "importance": 0.9}
UNSURE = {"category": "general", "importance": 0.75, "source": "agent"}
RULE = "Never deploy to production on a Friday"
MIDDLE = "The billing service was slow"
QUESTIONS = {
    "gate": "guard the core",
    "triage": "notes that were taken by the way",
    "reconcile": "of which one was stored later",
    "compare": "compare a new statement with one",
    "merge": "both say",
    "distill": "at the end of several sessions",
}


class Model:
    """A model that knows one answer to each question, and what it was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def reply(self, request: Request) -> Reply:
        name = next((name for name, words in QUESTIONS.items() if words in request.prompt), "?")
        self.asked.append(name)
        answer = self.answers.get(name)
        if answer is None:
            return fails(400, "no_answer", "nothing to say")
        return says(answer) if isinstance(answer, str) else says_json(answer)


@contextmanager
def asked(clock: FakeClock, model: Model, level: str, **settings: Any) -> Iterator[Engram]:
    with (
        ScriptedServer(model.reply) as server,
        opened(
            clock,
            meaning=True,
            llm__level=level,
            llm__base_url=server.url,
            llm__model="large",
            llm__retries=0,
            llm__rest_s=0,
            **settings,
        ) as memory,
    ):
        yield memory


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


def candidate(memory: Engram, clock: FakeClock, words: str, **more: Any) -> str:
    one = told(memory, words, **{**WORKING, **more})
    use(memory, one, 3, clock.now())
    clock.advance(minutes=1)
    return one


@pytest.mark.parametrize(
    ("level", "words", "more", "questions", "rule"),
    [
        ("auto", RULE, SURE, [], "gate.approve"),
        ("auto", MIDDLE, UNSURE, ["gate"], "gate.approve"),
        ("full", RULE, SURE, ["gate"], "gate.approve"),
        ("off", MIDDLE, UNSURE, [], None),
    ],
)
def test_the_gate_asks_about_the_uncertain_middle_or_always(
    clock: FakeClock, level: str, words: str, more: dict[str, Any], questions: list[str], rule: str | None
) -> None:
    model = Model(gate={"approve": [1]})
    with asked(clock, model, level) as memory:
        one = candidate(memory, clock, words, **more)
        found = rules(memory.consolidate(stages=["review"]))
        assert model.asked == questions
        assert found[one] == rule or rule is None


@pytest.mark.parametrize("answer", [None, "Sure, all of them!", '{"approve": [7]}', '{"approve": "yes"}'])
def test_without_a_usable_answer_rules_decide(clock: FakeClock, answer: str | None) -> None:
    model = Model(gate=answer)
    with asked(clock, model, "full") as memory:
        good = candidate(memory, clock, RULE, **SURE)
        bad = candidate(
            memory, clock, "it was ok there", **{**UNSURE, "category": "moment", "importance": 0.6}
        )
        found = rules(memory.consolidate(stages=["review"]))
        assert (found[good], found[bad]) == ("gate.approve", "gate.reject")


def test_a_model_may_refuse_what_rules_would_let_in_and_is_asked_once_a_day(clock: FakeClock) -> None:
    model = Model(gate={"approve": []})
    with asked(clock, model, "full") as memory:
        one = candidate(memory, clock, RULE, **SURE)
        assert rules(memory.consolidate(stages=["review"]))[one] == "gate.reject"
        memory.consolidate(stages=["review"])
        clock.advance(hours=23)
        memory.consolidate(stages=["review"])
        assert model.asked == ["gate"]
        clock.advance(hours=2)
        memory.consolidate(stages=["review"])
        assert model.asked == ["gate", "gate"]


def test_what_is_secret_is_never_shown_to_a_model(clock: FakeClock) -> None:
    model = Model(gate={"approve": [1]}, triage={"promote": [1]})
    with asked(clock, model, "full") as memory:
        candidate(memory, clock, RULE, tier=Tier.CONFIDENTIAL, **SURE)
        overheard(memory, MIDDLE, tier=Tier.SENSITIVE)
        clock.advance(hours=1)
        memory.consolidate(stages=["review"])
        assert model.asked == []


def test_triage_asks_about_some_of_a_namespace_in_a_run_and_about_one_scope_at_a_time(
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.maintain.review.TRIAGE_MOST", 5)
    model = Model(triage={"promote": [1, 2]})
    with asked(clock, model, "full") as memory:
        for number in range(7):
            overheard(memory, f"A note with number {number} about the house", apart=True)
        overheard(memory, "A note of the garden", scope=Scope(project="garden"), apart=True)
        everybody = memory.seen_by(Access.everything(), "human")
        overheard(everybody, "A note of a stranger", scope=Scope(namespace="other"), apart=True)
        clock.advance(hours=1)
        report = memory.consolidate(stages=["review"])
        promoted = [line.memory for line in report.decided if line.rule == "triage.promote"]
        assert (model.asked, len(promoted)) == (["triage"] * 2, 3)
        store = memory.maintenance._caller.tools.store  # noqa: SLF001
        assert len(store.upkeep.judgements("triage", 99)) == 6
        clock.advance(hours=1)
        memory.consolidate(stages=["review"])
        assert model.asked == ["triage"] * 4
        assert len(store.upkeep.judgements("triage", 99)) == 9


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("update", Status.SUPERSEDED), ("absorb", Status.MERGED), ("keep_both", Status.ACTIVE)],
)
def test_a_model_says_what_becomes_of_the_older_one(clock: FakeClock, outcome: str, status: Status) -> None:
    model = Model(reconcile={"outcome": outcome}, compare={"relation": "different"})
    with asked(clock, model, "auto") as memory:
        old = told(memory, "The billing team meets in the small room", **WORKING)
        clock.advance(hours=2)
        told(memory, "The billing team meets in the big hall upstairs", **WORKING)
        clock.advance(hours=2)
        memory.consolidate(stages=["review"])
        assert now(memory, old).status is status
        clock.advance(hours=2)
        memory.consolidate(stages=["review"])
        assert model.asked.count("reconcile") == 1


def test_pairs_that_nobody_could_be_asked_about_come_first_the_next_time(
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.maintain.support.PAIRS_MOST", 1)
    model = Model(reconcile={"outcome": "keep_both"})
    with asked(clock, model, "auto") as memory:
        rooms = ("small room", "big hall upstairs", "old kitchen downstairs")
        for context in rooms:
            told(memory, f"The billing team meets in the {context}", **WORKING)
            clock.advance(hours=2)
        counts = []
        for _ in range(6):
            memory.consolidate(stages=["review"])
            clock.advance(hours=1)
            counts.append(model.asked.count("reconcile"))
        assert counts[:3] == [1, 2, 3]
        assert counts[3] == counts[5]


def test_memories_without_a_vector_are_compared_when_they_have_one(clock: FakeClock) -> None:
    embedder = HashEmbedder()
    with Engram.open(":memory:", clock=clock, embedder=embedder) as memory:
        embedder.down = True
        ids = [told(memory, "The backup runs every night", **WORKING) for _ in range(2)]
        embedder.down = False
        clock.advance(hours=1)
        assert memory.consolidate(stages=["merge"]).changes == 0
        told(memory, "Something else makes the vectors come", **WORKING)
        clock.advance(hours=1)
        assert memory.consolidate(stages=["merge"]).changes == 1
        assert {now(memory, one).status for one in ids} == {Status.ACTIVE, Status.MERGED}


def test_a_model_cannot_absorb_what_tells_another_number(clock: FakeClock) -> None:
    model = Model(reconcile={"outcome": "absorb"}, compare={"relation": "same"})
    with asked(clock, model, "full") as memory:
        old = told(memory, "The staging database runs on port 5433", **WORKING)
        clock.advance(hours=2)
        told(memory, "The staging database server listens on port 5434", **WORKING)
        clock.advance(hours=2)
        memory.consolidate(stages=["review"])
        assert now(memory, old).status is Status.ACTIVE


def test_what_rules_cannot_tell_apart_is_joined_by_a_model_in_its_words(clock: FakeClock) -> None:
    whole = "The backup of the billing database goes to the second server, which stands in the cellar"
    model = Model(compare={"relation": "adds"}, merge={"merged": whole}, reconcile={"outcome": "keep_both"})
    with asked(clock, model, "auto") as memory:
        one = told(
            memory, "The backup of the billing database goes to the second server", importance=0.9, **WORKING
        )
        two = told(
            memory, "The billing database backup goes to the server which stands in the cellar", **WORKING
        )
        clock.advance(hours=2)
        report = memory.consolidate(stages=["merge"])
        if report.changes:
            assert now(memory, one).content == whole
            assert now(memory, two).status is Status.MERGED
        assert "compare" in model.asked


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            {"status": "The import works; the tests are still open."},
            "The import works; the tests are still open.",
        ),
        ({"status": "The import works for 700 users."}, None),
        ({"status": "x" * 400}, None),
        ("no idea", None),
    ],
)
def test_a_status_by_a_model_says_only_what_the_notes_say(
    clock: FakeClock, answer: Any, words: str | None
) -> None:
    with asked(clock, Model(distill=answer), "auto") as memory:
        for said in ("The import is planned.", "The import works.", "The tests are still open."):
            told(memory, said, tags=("session",), apart=True)
            clock.advance(minutes=1)
        report = memory.consolidate(stages=["review"])
        made = next(line.memory for line in report.decided if line.rule == "distill")
        expected = words or "The import is planned. The import works. The tests are still open."
        assert now(memory, made).content == expected
