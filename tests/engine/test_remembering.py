"""What becomes of a statement."""

from __future__ import annotations

import pytest

from engram import Engram, Outcome, Receipt, Scope, Status
from engram.model.memory import Layer, Policy, Priority, Tier
from engram.testing import FakeClock
from tests.engine.conftest import contents
from tests.tables import every


def test_a_statement_is_stored_and_says_so(memory: Engram) -> None:
    receipt = memory.remember("I prefer tea over coffee", tags=["drinks"])

    assert receipt.outcome is Outcome.STORED
    assert receipt.embedded
    assert receipt.memory.category == "preference"
    assert receipt.memory.policy is Policy.PROTECTED
    assert receipt.memory.layer is Layer.WORKING
    assert memory.get(receipt.memory.id) == receipt.memory


def test_a_correction_replaces_the_old_fact(memory: Engram) -> None:
    old = memory.remember("My editor is vim").memory
    receipt = memory.remember("Actually, my editor is Helix now")

    assert receipt.outcome is Outcome.SUPERSEDED
    assert receipt.other == old.id
    assert "vim" in receipt.because
    assert contents(memory.recall("which editor do I use?")) == ["Actually, my editor is Helix now"]
    gone = memory.get(old.id)
    assert gone is not None
    assert gone.status is Status.SUPERSEDED
    assert {edge.type for edge in memory.relations(old.id)} == {"supersedes", "contradicts"}


def test_a_wrong_replacement_can_be_taken_back(memory: Engram) -> None:
    old = memory.remember("My editor is vim").memory
    new = memory.remember("My editor is Helix").memory

    memory.forget(new.id)
    memory.restore(old.id)

    assert contents(memory.recall("which editor do I use?")) == ["My editor is vim"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My sister likes red apples", "My sister likes green apples"),
        ("The meeting room has 12 chairs", "The meeting room has 14 chairs"),
        ("I like swimming in the sea", "I don't like swimming in the sea"),
        ("Anna loves Bob", "Bob loves Anna"),
        ("Turn the heating on at night", "Turn the heating off at night"),
        ("We ate at Luigi's on Monday", "We ate at Luigi's on Tuesday"),
        ("I like tea", "I like coffee"),
        ("我喜欢红苹果", "我喜欢绿苹果"),
        ("Take the bus to Bonn", "Take the bus from Bonn"),
    ],
)
def test_what_differs_in_one_word_stays_two_memories(memory: Engram, first: str, second: str) -> None:
    memory.remember(first)

    assert memory.remember(second).outcome in {Outcome.STORED, Outcome.CHALLENGED}
    assert sum(memory.stats().by_status.values()) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like tea", "I like tea!"),
        ("I like tea", "  i LIKE   tea "),
        ("The deploy runs every night at 3 am", "The deploy runs every night at 3 am."),
        ("I really like the old library in Oxford", "I like the old library in Oxford"),
        ("我喜欢喝绿茶", "我喜欢喝绿茶。"),
    ],
)
def test_the_same_again_makes_a_memory_stronger(memory: Engram, first: str, second: str) -> None:
    before = memory.remember(first).memory
    receipt = memory.remember(second)

    assert receipt.outcome is Outcome.REINFORCED
    assert receipt.memory.id == before.id
    assert receipt.memory.usage.repeated == 1
    assert memory.stats().memories == 1


def test_the_same_from_another_source_is_a_confirmation(memory: Engram) -> None:
    memory.remember("The office closes at six", source="human")

    assert memory.remember("The office closes at six", source="research").memory.usage.confirmed == 1


def test_fuller_words_are_merged_and_the_old_ones_kept(memory: Engram) -> None:
    before = memory.remember("The deploy script lives in the tools folder of the backend repository").memory
    fuller = "The deploy script lives in the tools folder of the backend repository and needs Docker"
    receipt = memory.remember(fuller)

    assert receipt.outcome is Outcome.MERGED
    assert receipt.memory.id == before.id
    assert receipt.memory.version == 2
    assert contents(memory.recall("what does the deploy script need?")) == [fuller]
    assert memory.events(before.id)[0].before["content"] == before.content


def test_facts_replace_each_other_inside_one_batch(memory: Engram) -> None:
    first, second = memory.remember_many(["I live in Berlin", "I live in Lisbon now"])

    assert second.outcome is Outcome.SUPERSEDED  # type: ignore[union-attr]
    assert second.other == first.memory.id  # type: ignore[union-attr]


def test_what_is_told_about_an_earlier_time_replaces_nothing(memory: Engram) -> None:
    memory.remember("I live in Lisbon", event_time="2026-03-01")

    assert memory.remember("I live in Berlin", event_time="2019-03-01").outcome is Outcome.STORED


def test_scopes_do_not_deduplicate_each_other(memory: Engram) -> None:
    memory.remember("The deadline is Friday", scope=Scope(project="apollo"))
    receipt = memory.remember("The deadline is Monday", scope=Scope(project="gemini"))

    assert receipt.outcome is Outcome.STORED


def test_turns_of_a_conversation_are_kept_as_they_were_said(memory: Engram) -> None:
    turns = [("Ann", "I live in Berlin."), ("Ben", "I live in Berlin."), ("Ann", "I live in Lisbon.")]
    for speaker, said in turns:
        assert (
            memory.remember(said, speaker=speaker, session="s1", source="session").outcome is Outcome.STORED
        )

    assert memory.stats().by_status["active"] == 3


def test_turns_of_a_session_follow_each_other(memory: Engram) -> None:
    first = memory.remember("What did you buy?", speaker="Ann", session="s1").memory
    second = memory.remember("A red bicycle.", speaker="Ben", session="s1").memory

    edges = memory.relations(first.id)
    assert [(edge.type, edge.source, edge.target) for edge in edges] == [("next", first.id, second.id)]


def test_a_guess_expires_and_a_repetition_keeps_it(memory: Engram, clock: FakeClock) -> None:
    memory.remember("Maybe the cat is called Mia", confidence=0.3, source="extraction")
    kept = memory.remember("Maybe the dog is called Rex", confidence=0.3, source="extraction").memory
    memory.remember("Maybe the dog is called Rex", confidence=0.9)
    clock.advance(days=31)

    assert contents(memory.recall("what is the cat called?")) == ["Maybe the dog is called Rex"]
    assert memory.get(kept.id) is not None


def test_category_gives_importance_and_priority(memory: Engram) -> None:
    stored = memory.remember("Never deploy on Fridays", category="constraint").memory

    assert stored.priority is Priority.P0
    assert stored.importance >= 0.8


def test_secrets_raise_the_tier_and_nobody_lowers_it(memory: Engram) -> None:
    stored = memory.remember("My card is 4111 1111 1111 1111", tier="clear").memory

    assert stored.tier is Tier.CONFIDENTIAL


def test_a_batch_is_all_or_nothing(memory: Engram) -> None:
    from engram.errors import EmptyContent

    with pytest.raises(EmptyContent):
        memory.remember_many(["good", "  "])
    assert memory.stats().memories == 0


def test_a_partial_batch_says_what_became_of_each(memory: Engram) -> None:
    from engram.model.capture import Receipt, Refusal

    results = memory.remember_many(["good", "  ", {"content": "also good", "tags": ["a"]}], partial=True)

    assert [type(result) for result in results] == [Receipt, Refusal, Receipt]
    assert results[1].index == 1  # type: ignore[union-attr]
    assert memory.stats().memories == 2


@every(
    ("before", "after"),
    [
        ("I use vim", "I no longer use vim"),
        ("I live in Berlin", "I moved from Berlin to Lisbon"),
        ("My editor is vim", "I switched from vim to Helix"),
        ("我的编辑器是vim", "我的编辑器改成Helix了"),
        ("我住在上海", "我现在住在北京"),
        ("The deadline is Friday", "The deadline is Monday"),
    ],
)
def test_corrections_supersede_in_many_words(memory: Engram, before: str, after: str) -> None:
    old = memory.remember(before).memory
    receipt = memory.remember(after)

    assert receipt.outcome is Outcome.SUPERSEDED
    assert receipt.other == old.id


def test_drafts_of_one_call_replace_one_another_in_turn(memory: Engram) -> None:
    said = [f"User's friend Hugo lives in house number {number}." for number in (6, 22, 36)]

    outcomes = [receipt.outcome for receipt in memory.remember_many(said) if isinstance(receipt, Receipt)]

    assert outcomes == [Outcome.STORED, Outcome.SUPERSEDED, Outcome.SUPERSEDED]
    assert [one.content for one in memory.list()] == [said[-1]]


def test_what_holds_now_gives_way_not_what_was_told_of_the_past(memory: Engram, clock: FakeClock) -> None:
    memory.remember("I live in Rome")
    assert memory.remember("I moved to Paris in 2019").outcome is Outcome.STORED
    clock.advance(days=60)

    receipt = memory.remember("I moved to Oslo last week")

    old = memory.get(receipt.other)
    assert old is not None
    assert old.content == "I live in Rome"


def test_a_correction_replaces_every_memory_that_says_what_no_longer_holds(memory: Engram) -> None:
    said = ["My bank is Wise.", "The bank I use is Wise.", "I have a cat.", "Wise is my bank, says the card."]
    old = [memory.remember(words).memory for words in said]
    new = memory.remember("I closed the old account, my bank is Monzo now.").memory
    statuses = {one.content: memory.get(one.id).status.value for one in old}  # type: ignore[union-attr]
    assert statuses["My bank is Wise."] == "superseded"
    assert statuses["I have a cat."] == "active"
    assert {edge.target for edge in memory.relations(new.id) if edge.type == "supersedes"} == {
        one.id for one in old if statuses[one.content] == "superseded"
    }
    facts = memory.facts.query(subject="user", predicate="bank")
    assert {claim.fact.object for claim in facts} == {"monzo"}
