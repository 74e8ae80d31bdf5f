"""A correction ends a fact. What else a memory says stays, through every door that remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from engram import Engram, Outcome, Status
from engram.model.memory import Filters

COMPOUND = "I live in Ghent, work at Acme and I am allergic to penicillin."
Tell = Callable[[Engram, str], object]


def _observe(memory: Engram, words: str) -> None:
    memory.observe(words, session="s")
    memory.flush("s")


TELLERS: dict[str, Tell] = {
    "remember": lambda memory, words: memory.remember(words),
    "remember_many": lambda memory, words: memory.remember_many([{"content": words}]),
    "observe": _observe,
}


@pytest.fixture
def memory() -> Iterator[Engram]:
    with Engram.open(":memory:") as opened:
        yield opened


@pytest.mark.parametrize("tell", TELLERS.values(), ids=TELLERS.keys())
def test_the_rest_of_a_memory_outlives_a_correction(memory: Engram, tell: Tell) -> None:
    tell(memory, COMPOUND)
    tell(memory, "I moved to Bruges.")

    found = [hit.content for hit in memory.recall("What am I allergic to?")]
    assert any("penicillin" in text for text in found)
    (old,) = [one for one in memory.list() if one.content == COMPOUND]
    assert old.shown.endswith("[no longer: user live in ghent]")
    assert [claim.fact.object for claim in memory.facts.query("I", "live in")] == ["bruges"]


def test_the_receipt_names_what_was_replaced(memory: Engram) -> None:
    old = memory.remember(COMPOUND).memory
    receipt = memory.remember("I moved to Bruges.")

    assert (receipt.outcome, receipt.other) == (Outcome.SUPERSEDED, old.id)
    assert receipt.because == "user live in: was 'ghent', now 'bruges'; the rest of it stays"


def test_a_memory_gives_way_when_nothing_of_it_holds(memory: Engram) -> None:
    old = memory.remember("My editor is vim").memory
    memory.remember("Actually, my editor is Helix now")

    gone = memory.get(old.id)
    assert gone is not None
    assert gone.status is Status.SUPERSEDED


@pytest.mark.parametrize(
    "words",
    [
        "Translate to French: I have a cat and I live in London.",
        "I'm moving to Rome in 2029.",
        "If I lived in Paris, I would eat better.",
        "My brother said 'I live in Madrid now and I love it'.",
    ],
)
def test_what_is_not_asserted_of_now_replaces_nothing(memory: Engram, words: str) -> None:
    home = memory.remember("I live in Oslo.").memory
    _observe(memory, words)
    memory.remember(words)

    still = memory.get(home.id)
    assert still is not None
    assert still.status is Status.ACTIVE
    assert "no_longer" not in still.details


def test_what_is_only_said_is_found_and_never_listed(memory: Engram) -> None:
    memory.observe("Translate to German: the lighthouse keeper sold his violin", session="s")
    heard = memory.flush("s")

    assert heard.receipts == ()
    assert list(memory.list()) == []
    said = memory.list(filters=Filters(statuses=frozenset({Status.SAID})))
    assert [one.status for one in said] == [Status.SAID]


def test_what_ended_a_part_stands_before_what_it_ended(memory: Engram) -> None:
    memory.observe("I live in Oslo and work at DNB. I'm allergic to peanuts.", session="a")
    memory.flush("a")
    memory.observe("We moved to Bergen last week!", session="b")
    memory.flush("b")

    assert memory.recall("where do I live now?")[0].memory.content == "We moved to Bergen last week!"
    assert "peanuts" in memory.recall("what am I allergic to?")[0].memory.content


def test_an_order_to_note_something_is_no_statement(memory: Engram) -> None:
    for words in ("Note it.", "note that down please"):
        memory.observe(words, session="s")
    memory.flush("s")

    assert list(memory.list()) == []


def test_a_name_told_in_passing_is_found(memory: Engram) -> None:
    memory.observe("Hi, I'm Alex. I love basketball and gaming.", session="s")
    memory.flush("s")

    assert "Alex" in memory.recall("what's my name?")[0].content


def test_a_later_word_in_other_words_stands_before_what_was_told(memory: Engram) -> None:
    memory.observe("My hair goes down to my waist.", session="a")
    memory.observe("We have a caravan in Wales.", session="a")
    memory.flush("a")
    memory.observe("got all my hair chopped off, it's a bob now", session="b")
    memory.flush("b")

    told = [hit.memory.content for hit in memory.recall("what does my hair look like?")]

    assert told[0] == "got all my hair chopped off, it's a bob now"
    assert "My hair goes down to my waist." in " ".join(told)


def test_a_new_day_of_an_appointment_ends_the_old_one_only(memory: Engram) -> None:
    memory.observe("The retreat is on 9 June, organised by Suzanne.", session="a")
    memory.flush("a")
    memory.observe("the retreat has been pushed back to 16 June", session="b")
    memory.flush("b")

    [day] = memory.facts.query("retreat", "day")
    assert day.fact.object == "16 june"
    told = [hit.memory.content for hit in memory.recall("who organises the retreat?")]
    assert any("Suzanne" in one for one in told)


def test_a_correction_without_a_subject_goes_with_the_last_thing_that_has_such_a_value(
    memory: Engram,
) -> None:
    for words in (
        "The dentist is on Thursday at 3.",
        "My sister Ida lives in Turin.",
        "Rent is 900 a month.",
    ):
        memory.observe(words, session="a")
    memory.flush("a")
    memory.observe("sorry, make it Friday", session="b")
    memory.flush("b")

    assert memory.recall("when is the dentist?")[0].memory.content == "sorry, make it Friday"
    assert memory.recall("how much is the rent?")[0].memory.content == "Rent is 900 a month."


def test_what_was_only_supposed_does_not_hide_what_is_believed(memory: Engram) -> None:
    memory.remember("The brewery gives its spent grain to a pig farm.")
    memory.observe("I'm teetotal.", session="a")
    memory.flush("a")
    memory.observe("If I were drinking, which wine would go with duck?", session="b")
    memory.flush("b")

    assert memory.recall("Do I drink?")[0].memory.content == "I'm teetotal."
