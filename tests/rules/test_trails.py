"""Trails: facts lead from what a question names to what it asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import Fact, ToldFact
from engram.rules.chains import TrailAnswer, follow
from engram.text.cues import cues
from tests.tables import every

NOW = datetime(2024, 6, 1, tzinfo=UTC)
Triple = tuple[str, str, str]

WORLD: tuple[Triple, ...] = (
    ("user", "sister", "anna"),
    ("anna", "work at", "corvix"),
    ("corvix", "located in", "munich"),
    ("user", "work at", "brightwater"),
    ("brightwater", "located in", "hamburg"),
    ("user", "live in", "hamburg"),
    ("anna", "like", "tea"),
    ("user's dentist", "phone", "555-0142"),
)


def claim(triple: Triple, until: datetime | None = None) -> ToldFact:
    return ToldFact(hash(triple) % 1_000_000, Fact(*triple), 0.9, until)


def ask(question: str, *starts: str, world: Sequence[ToldFact] = (), hops: int = 3) -> list[TrailAnswer]:
    known = world or [claim(triple) for triple in WORLD]

    def fetch(names: frozenset[str], predicates: frozenset[str]) -> list[ToldFact]:
        facts = ((one, one.fact) for one in known)
        return [
            one for one, fact in facts if {fact.subject, fact.object} & names and fact.predicate in predicates
        ]

    def names_of(names: Sequence[str]) -> Mapping[str, frozenset[str]]:
        return {name: frozenset({name}) for name in names}

    return follow(starts, cues(question), fetch, names_of, hops=hops, now=NOW)


def said(claim: ToldFact) -> str:
    return f"{claim.fact.subject} {claim.fact.predicate} {claim.fact.object}"


def told(answers: Sequence[TrailAnswer]) -> list[str]:
    return [said(one.claim) for one in answers]


def test_one_fact_answers_a_plain_question() -> None:
    assert told(ask("Where does Anna work?", "anna")) == ["anna work at corvix"]


def test_facts_in_a_row_answer_what_none_does_alone() -> None:
    best = ask("In which city does the employer of my sister have its office?", "user")

    assert said(best[0].claim) == "corvix located in munich"
    assert [one.fact.object for one in best[0].led_by] == ["anna", "corvix", "munich"]
    assert told(best)[:3] == ["corvix located in munich", "anna work at corvix", "user sister anna"]


def test_a_role_may_stand_for_a_name() -> None:
    assert told(ask("What is the phone number of my dentist?", "user")) == ["user's dentist phone 555-0142"]


def test_what_is_over_comes_after_what_holds() -> None:
    now = claim(("anna", "live in", "rome"))
    once = claim(("anna", "live in", "berlin"), until=NOW - timedelta(days=1))

    assert told(ask("Where does Anna live?", "anna", world=[once, now])) == [
        "anna live in rome",
        "anna live in berlin",
    ]


def test_without_a_cue_no_fact_answers() -> None:
    assert ask("What did Anna paint?", "anna") == []


def test_a_vague_word_alone_says_little() -> None:
    (vague,) = ask("Where is Corvix?", "corvix", hops=1)[:1]
    (plain,) = ask("Where is Corvix located?", "corvix", hops=1)[:1]

    assert vague.score < plain.score


@every("hops", [0, 1, 2, 3])
def test_a_trail_is_no_longer_than_allowed(hops: int) -> None:
    answers = ask("In which city does the employer of my sister have its office?", "user", hops=hops)

    assert max((len(one.led_by) for one in answers), default=0) == hops


names = st.sampled_from(["user", "anna", "ben", "corvix", "munich"])
predicates = st.sampled_from(["sister", "work at", "live in", "located in", "like"])
worlds = st.lists(st.builds(claim, st.tuples(names, predicates, names)), min_size=1, max_size=15)


@given(worlds)
def test_every_score_is_a_share_and_every_trail_hangs_together(world: list[ToldFact]) -> None:
    for one in ask("Where does the employer of my sister live?", "user", world=world):
        assert 0 < one.score <= 1
        assert one.led_by[-1] == one.claim
        for here, after in zip(one.led_by, one.led_by[1:], strict=False):
            assert {here.fact.subject, here.fact.object} & {after.fact.subject, after.fact.object}
