"""Topic change: what goes on, what drifts, what is something else."""

from __future__ import annotations

import pytest

from engram.config import EmbedConfig
from engram.embed import open_embedder
from engram.model.session import TopicChange
from engram.ports import Embedder
from engram.session import following
from engram.session.state import Meaning, State
from engram.testing import FakeClock, sequential_ids
from engram.text import lexicon
from tests.tables import every


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder(EmbedConfig(), FakeClock())


@pytest.fixture
def state() -> State:
    return State(sequential_ids(), len)


def hear(state: State, embedder: Embedder, *messages: str) -> TopicChange:
    clock = FakeClock()
    for message in messages:
        space, rows = embedder.embed([message, *following.sentences(message)])
        state.hear(message, Meaning(space, rows), clock.now())
    return state.verdict.change


TALK = (
    "The checkout page of the web shop drops the cart",
    "The cart of the shop is empty after a coupon was used on the checkout page",
)


@every(
    "message",
    [
        "The coupon on the checkout page clears the cart session of the shop",
        "ok, deploy it",
        "yes please",
        "and how much was that?",
        "show me the checkout code",
    ],
)
def test_what_goes_on_goes_on(state: State, embedder: Embedder, message: str) -> None:
    assert hear(state, embedder, *TALK, message) is TopicChange.CONTINUATION


@every(
    "message",
    [
        "By the way, do you know a good dentist?",
        "Do you have any hobbies? I like to sail.",
        "Anyway, my daughter Mia plays the cello in an orchestra now",
    ],
)
def test_something_else_is_a_switch(state: State, embedder: Embedder, message: str) -> None:
    assert hear(state, embedder, *TALK, message) is TopicChange.SWITCH


def test_after_a_switch_the_talk_begins_anew(state: State, embedder: Embedder) -> None:
    hear(state, embedder, *TALK, "By the way, do you know a good dentist?")

    assert state.momentum is not None
    assert state.momentum.turns == 1


def test_a_steady_talk_that_moves_on_drifts() -> None:
    assert following.judge(0.5, 0.8, 0.9, "engram-static-1/256/x").change is TopicChange.DRIFT
    assert following.judge(0.5, 0.1, 0.9, "engram-static-1/256/x").change is TopicChange.SWITCH
    assert following.judge(0.5, 0.8, 0.1, "engram-static-1/256/x").change is TopicChange.SWITCH
    assert following.judge(0.1, 0.1, 0.1, "engram-static-1/256/x").change is TopicChange.CONTINUATION


def test_without_vectors_nothing_changes(state: State) -> None:
    state.hear("one thing", None, FakeClock().now())
    state.hear("by the way, another thing", None, FakeClock().now())

    assert state.verdict.change is TopicChange.CONTINUATION


def test_a_space_nobody_measured_is_judged_by_its_noise() -> None:
    assert following.norms_of("somebody/768/1").mean == pytest.approx(0.2)
    assert following.norms_of("engram-static-1/256/abc") == following.SPACES["engram-static-1"]


@every("heading", lexicon.headings("topic_turns"))
def test_the_patterns_of_turns_compile(heading: str) -> None:
    assert lexicon.pattern("topic_turns", heading).search("") is None or heading == "agrees"
