"""Both flows run on ports alone: a store in memory and an embedder without weights are enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from engram.capture.pipeline import remember
from engram.config import Config
from engram.index import SignatureIndex
from engram.model.capture import Draft, Outcome
from engram.model.recall import Hit, Question
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools
from engram.recall.pipeline import recall
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock, HashEmbedder, sequential_ids

TURNS = (
    ("Ann", "Which instrument does your daughter play?"),
    ("Ben", "The cello, since last May."),
    ("Ann", "Lovely! Mine paints."),
)


@pytest.fixture
def tools() -> Iterator[Tools]:
    clock = FakeClock()
    store = SqliteStore.open(":memory:", clock)
    yield Tools(
        store=store,
        index=SignatureIndex(store),
        embedder=HashEmbedder(),
        clock=clock,
        config=Config(),
        new_id=sequential_ids(),
        count_tokens=len,
    )
    store.close()


def test_a_correction_supersedes(tools: Tools) -> None:
    receipts = remember([Draft("My editor is vim"), Draft("My editor is Helix now")], tools, "tester")

    assert [receipt.outcome for receipt in receipts] == [Outcome.STORED, Outcome.SUPERSEDED]
    found = recall(Question("editor"), tools)
    assert [hit.memory.content for hit in found] == ["My editor is Helix now"]


def test_neighbours_lend_their_fit(tools: Tools) -> None:
    remember([Draft(said, speaker=who, session="s1") for who, said in TURNS], tools, "tester")

    found = recall(Question("What instrument does the daughter play?"), tools)
    assert [hit.memory.speaker for hit in found][:2] == ["Ann", "Ben"]


def test_a_turn_two_steps_on_borrows_too_and_less(tools: Tools) -> None:
    remember([Draft(said, speaker=who, session="s1") for who, said in TURNS], tools, "tester")

    found = recall(Question("What instrument does the daughter play?", min_relevance=0.0), tools)
    lent = {hit.memory.content: _evidence(hit, "lent by neighbouring turns") for hit in found}
    assert lent[TURNS[1][1]] > lent[TURNS[2][1]] > 0


def test_a_turn_borrows_only_the_words_it_lacks(tools: Tools) -> None:
    said = ("the cello is old", "the cello is new", "the paint is dry")
    remember([Draft(one, speaker="Ann", session="s1") for one in said], tools, "tester")

    silent = HashEmbedder()
    silent.down = True
    found = recall(Question("cello", min_relevance=0.0), replace(tools, embedder=silent))
    lent = {hit.memory.content: _evidence(hit, "lent by neighbouring turns") for hit in found}
    assert [lent[one] > 0 for one in said] == [False, False, True]


def test_a_long_turn_speaks_for_itself(tools: Tools) -> None:
    long = " ".join(f"word{n}" for n in range(900))
    for session, answer in (("short", "mine is red"), ("long", f"mine is red {long}")):
        turns = [Draft(f"which cello? {session}", speaker="Ann", session=session)]
        remember([*turns, Draft(answer, speaker="Ben", session=session)], tools, "tester")

    found = recall(Question("cello", min_relevance=0.0), tools)
    lent = {
        hit.memory.session: _evidence(hit, "lent by neighbouring turns")
        for hit in found
        if hit.memory.speaker == "Ben"
    }
    assert lent["short"] > 10 * lent["long"]


def test_who_says_it_is_part_of_the_vector(tools: Tools) -> None:
    remember([Draft("I play the cello", speaker="Ann"), Draft("The cello is old")], tools, "tester")

    space, wanted = tools.embedder.embed(["Ann: I play the cello", "The cello is old"])
    stored = tools.store.vectors.rows(space, [1, 2])
    assert np.allclose(stored.rows * stored.scales[:, None], wanted, atol=0.02)


def test_no_channel_crosses_a_scope(tools: Tools) -> None:
    drafts = [Draft(said, speaker=who, session="s1", scope=Scope(agent="ada")) for who, said in TURNS]
    remember([*drafts, Draft("The daughter of rex plays drums", scope=Scope(agent="rex"))], tools, "tester")

    question = Question(
        "daughter play instrument", access=Access(Scope(agent="rex"), Role.AGENT), min_relevance=0.0
    )
    assert {hit.memory.scope.agent for hit in recall(question, tools)} == {"rex"}


def _evidence(hit: Hit, name: str) -> float:
    return sum(reason.value for reason in hit.evidence if reason.name == name)
