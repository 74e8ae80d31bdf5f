"""Probing: beliefs nobody has looked at for long are held against what was said since."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram
from engram.model.capture import Draft
from engram.model.facts import EdgeType
from engram.model.knowledge import Comparison
from engram.model.memory import Lifecycle, Status, Verification
from engram.model.scope import Scope
from engram.ports import NoAdvisor
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, rules, told, use

DOUBT = ["doubt"]
OPEN = "The office is open on Sundays"
SHUT = "The office is not open on Sundays"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock, meaning=True) as one:
        yield one


def believed(memory: Engram, words: str, **more: object) -> str:
    return told(memory, words, **{"kind": "semantic", "type": "fact", **more})


def said(memory: Engram, words: str, scope: Scope | None = None) -> str:
    """A turn of a conversation: kept as it was said, whatever is known."""
    draft = Draft(words, speaker="Ann", session="talk", source="session", scope=scope or Scope())
    return memory.remember_many([draft])[0].memory.id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("days", "hours", "status"),
    [(49, 23, Status.ACTIVE), (50, 0, Status.CHALLENGED), (51, 0, Status.CHALLENGED)],
)
def test_an_old_belief_is_challenged_by_what_was_said_since(
    memory: Engram, clock: FakeClock, days: int, hours: int, status: Status
) -> None:
    belief = believed(memory, OPEN)
    clock.advance(days=40)
    other = said(memory, SHUT)
    clock.advance(days=days, hours=hours)
    report = memory.consolidate(stages=DOUBT)
    assert now(memory, belief).status is status
    if status is Status.CHALLENGED:
        (line,) = [one for one in report.decided if one.memory == belief]
        assert (line.rule, line.related) == ("belief.challenged", other)
        assert line.why == "40 days later: says the opposite"
        (conflict,) = memory.conflicts.list()
        assert {conflict.a.id, conflict.b.id} == {belief, other}


def test_an_old_belief_is_validated_by_what_was_said_since(memory: Engram, clock: FakeClock) -> None:
    belief = believed(memory, "The API uses JWT tokens")
    clock.advance(days=40)
    other = said(memory, "The API uses JWT tokens, I think")
    clock.advance(days=50)
    memory.consolidate(stages=DOUBT)
    found = now(memory, belief)
    assert (found.lifecycle, found.verification) == (Lifecycle.VALIDATED, Verification.SYSTEM_INFERRED)
    assert (found.verified_at, found.usage.confirmed) == (clock.now(), 1)
    edges = [(one.source, one.type) for one in memory.relations(belief) if one.type is EdgeType.SUPPORTS]
    assert edges == [(other, EdgeType.SUPPORTS)]
    clock.advance(days=90)
    memory.consolidate(stages=DOUBT)
    assert now(memory, belief).usage.confirmed == 1, "the same words do not bear it out twice"


def test_use_and_confirmation_put_it_off(memory: Engram, clock: FakeClock) -> None:
    used, vouched = believed(memory, OPEN), believed(memory, "The gate is locked at night")
    clock.advance(days=40)
    said(memory, SHUT)
    said(memory, "The gate is not locked at night")
    use(memory, used, 1, clock.now())
    memory.confirm(vouched)
    clock.advance(days=89)
    memory.consolidate(stages=DOUBT)
    assert {now(memory, one).status for one in (used, vouched)} == {Status.ACTIVE}
    clock.advance(days=1)
    report = memory.consolidate(stages=DOUBT)
    assert rules(report)[used] == "belief.challenged"
    assert rules(report)[vouched] == "belief.disputed", "what a person vouches for is only shown"
    assert (now(memory, vouched).status, len(memory.conflicts.list())) == (Status.ACTIVE, 2)


@pytest.mark.parametrize(("uses", "asked"), [(4, 0), (5, 1), (6, 1)])
def test_what_is_much_used_and_long_unconfirmed_is_asked_about(
    memory: Engram, clock: FakeClock, uses: int, asked: int
) -> None:
    belief = believed(memory, "Bob plays chess on Mondays")
    clock.advance(days=90)
    use(memory, belief, uses, clock.now())
    memory.consolidate(stages=DOUBT)
    assert [one.kind for one in memory.gaps.list()] == ["stale"] * asked
    memory.confirm(belief)
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []


def test_a_belief_of_which_nothing_is_said_rests_for_a_month(memory: Engram, clock: FakeClock) -> None:
    belief = believed(memory, OPEN)
    clock.advance(days=90)
    memory.consolidate(stages=DOUBT)
    clock.advance(days=1)
    said(memory, SHUT)
    clock.advance(days=28)
    memory.consolidate(stages=DOUBT)
    assert now(memory, belief).status is Status.ACTIVE
    clock.advance(days=1)
    memory.consolidate(stages=DOUBT)
    assert now(memory, belief).status is Status.CHALLENGED


def test_what_happened_once_and_what_is_said_elsewhere_is_no_evidence(
    memory: Engram, clock: FakeClock
) -> None:
    episode = told(memory, "We were open on Sunday", kind="episodic", type="narrative")
    belief = believed(memory, OPEN)
    clock.advance(days=40)
    said(memory, SHUT, Scope(user="bob"))
    said(memory, "We were not open on Sunday")
    clock.advance(days=60)
    memory.consolidate(stages=DOUBT)
    assert {now(memory, one).status for one in (belief, episode)} == {Status.ACTIVE}


def test_what_a_person_settled_is_not_raised_again(memory: Engram, clock: FakeClock) -> None:
    belief = believed(memory, OPEN)
    clock.advance(days=40)
    other = said(memory, SHUT)
    clock.advance(days=60)
    memory.consolidate(stages=DOUBT)
    memory.conflicts.resolve(belief, other, "both", "it depends on the season")
    for _ in range(3):
        clock.advance(days=100)
        memory.consolidate(stages=DOUBT)
        memory.dream()
    assert now(memory, belief).status is Status.ACTIVE
    assert memory.conflicts.list() == []


def test_a_run_finds_nothing_twice_goes_on_where_it_stopped_and_is_taken_back(
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.maintain.doubt.PROBES", 2)
    with opened(clock, meaning=True, maintain__slice=2) as memory:
        things = ("office", "museum", "library")
        beliefs = [believed(memory, f"The {one} is open on Sundays") for one in things]
        clock.advance(days=40)
        for one in things:
            said(memory, f"The {one} is not open on Sundays")
        clock.advance(days=60)
        first = memory.consolidate(stages=DOUBT)
        assert [now(memory, one).status for one in beliefs].count(Status.CHALLENGED) == 2
        assert memory.consolidate(stages=DOUBT).decided == ()
        clock.advance(days=1)
        memory.consolidate(stages=DOUBT)
        assert {now(memory, one).status for one in beliefs} == {Status.CHALLENGED}
        memory.undo(first.run.id)
        assert [now(memory, one).status for one in beliefs].count(Status.ACTIVE) == 2
        clock.advance(days=1)
        memory.consolidate(stages=DOUBT)
        assert [now(memory, one).status for one in beliefs].count(Status.ACTIVE) == 2


class Answering(NoAdvisor):
    """An advisor that says the same of every pair."""

    def __init__(self, answer: Comparison) -> None:
        self._answer = answer

    def compare(self, old: str, new: str) -> Comparison:  # type: ignore[override]
        assert old != new
        return self._answer


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (Comparison.REPLACES, Status.CHALLENGED),
        (Comparison.SAME, Status.ACTIVE),
        (Comparison.DIFFERENT, Status.ACTIVE),
    ],
)
def test_a_model_tells_what_rules_cannot(clock: FakeClock, answer: Comparison, status: Status) -> None:
    advisor = Answering(answer)
    with Engram.open(":memory:", clock=clock, advisor=advisor, config={"llm.level": "auto"}) as memory:
        belief = believed(memory, "The office of the team is in the old harbour building")
        clock.advance(days=40)
        said(memory, "The office of the team is in the new harbour building by the bridge")
        clock.advance(days=60)
        memory.consolidate(stages=DOUBT)
        assert now(memory, belief).status is status
        assert now(memory, belief).usage.confirmed == (answer is Comparison.SAME)
