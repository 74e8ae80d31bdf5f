"""Listening to conversations: what is logged, when it is read, what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram, Outcome, Scope, Status
from engram.errors import AccessDenied, BadText, ContentTooLong, EmptyContent, InvalidInput, WrongType
from engram.model.capture import Observation
from engram.model.memory import ANY_STATUS, Layer, Policy
from engram.model.scope import Access, Role
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every

TRACE = """Traceback (most recent call last):
  File "app.py", line 12, in <module>
    main()
ValueError: my name is error"""


def learned(heard: Observation) -> list[str]:
    return [receipt.memory.content for receipt in heard.receipts]


def everything(memory: Engram) -> set[str]:
    believed = replace(ANY_STATUS, statuses=frozenset(Status) - {Status.SAID})
    return {one.content for one in memory.list(filters=believed, limit=1000)}


@every(
    "asked",
    [
        "What is my dentist's name?",
        "where do i live",
        "Do you remember my sister's birthday?",
        "what did I say about the boiler?",
        "What am I allergic to?",
        "Can you tell me where I work?",
        "who's my GP again?",
        "Which of our clients is in Oslo?",
        "What should I cook tonight?",
        "我住在哪里？",
        "你还记得我妹妹的生日吗？",
    ],
)
def test_a_question_that_tells_nothing_is_logged_and_no_memory(memory: Engram, asked: str) -> None:
    for words in (asked, f"We moved to Leith in May. {asked}"):
        memory.observe(words, session=f"asking {words}")
        memory.flush(f"asking {words}")

        assert [turn.content for turn in memory.turns(f"asking {words}")] == [words]
    kept = [one.content for one in memory.list(filters=ANY_STATUS, limit=1000)]
    assert not any(asked in content for content in kept)


def test_what_people_ask_one_another_stays_findable(memory: Engram) -> None:
    said = {
        "role": "user",
        "name": "Kelly",
        "content": "I ran 10k in Leith. Which shoes does Precious run in?",
    }
    memory.observe(messages=[said], session="two")
    memory.flush("two")

    kept = [one.content for one in memory.list(filters=ANY_STATUS, limit=1000)]
    assert any("Which shoes does Precious run in?" in content for content in kept)


@every(
    "asked",
    [
        "What can I cook for my coeliac girlfriend?",
        "what should I get my wife for our silver wedding in June?",
        "why does my cat Pixel hide under the bed?",
        "我怀孕五个月了能坐飞机吗？",
    ],
)
def test_a_question_that_tells_something_is_kept(memory: Engram, asked: str) -> None:
    memory.observe(asked, session=asked)
    memory.flush(asked)

    assert asked in everything(memory)


# ---------------------------------------------------------------- when it is read


def test_what_is_said_of_another_is_not_believed_of_the_speaker(memory: Engram) -> None:
    memory.observe("I'm Piotr, 41, live in Lund with my wife Ewa and our two boys", session="a")
    memory.observe("the older one, Olek, turned 12 last week", session="a")
    memory.observe("Physio moved to Monday 9:30", session="a")
    claims = [one.fact for who in ("user", "olek") for one in memory.facts.query(who)]
    told = {(one.subject, one.predicate, one.object) for one in claims}
    assert {
        ("user", "age", "41"),
        ("user", "wife", "ewa"),
        ("user", "live in", "lund"),
        ("olek", "age", "12"),
    } <= told
    assert ("user", "age", "12") not in told
    assert not any(
        "[" in one.shown and "Physio" in one.shown and "after" in one.shown for one in memory.list()
    )


def test_a_year_that_tells_which_thing_is_meant_is_not_when_it_happened(
    memory: Engram, clock: FakeClock
) -> None:
    for said in (
        "I sold the van and got a Trafic, 2018",
        "We bought a house built in 1920",
        "We got married in 2014",
    ):
        memory.observe(said, session=said)
        memory.flush(said)
    years = {one.content.split()[1]: one.happened_at.year for one in memory.list()}
    now = clock.now().year
    assert years == {"sold": now, "bought": now, "got": 2014}


def test_messages_may_come_first_or_by_name(memory: Engram) -> None:
    said = [{"role": "user", "content": "My name is Ugo."}, {"role": "assistant", "content": "Hello Ugo."}]
    first = memory.observe(said, session="a")
    by_name = memory.observe(messages=said, session="b")
    assert first.logged == by_name.logged == 2
    assert learned(first) == ["My name is Ugo."]
    with pytest.raises(WrongType):
        memory.observe({"role": "user", "content": "Hi"})  # type: ignore[arg-type]


def test_what_matters_is_read_at_once(memory: Engram) -> None:
    heard = memory.observe("Please remember that I'm allergic to peanuts.", session="s")

    assert learned(heard) == ["Please remember that I'm allergic to peanuts."]
    assert (heard.signal, heard.because, heard.waiting) == ("high", "a strong signal", 0)
    kept = heard.receipts[0].memory
    assert (kept.policy, kept.layer, kept.confidence) == (Policy.PROTECTED, Layer.WORKING, 0.95)


def test_small_things_wait_until_five_turns_are_there(memory: Engram) -> None:
    said = [f"We walked {number} miles along the river with the dogs" for number in range(3, 8)]

    heard = [memory.observe(words, session="s") for words in said]

    assert [one.waiting for one in heard] == [1, 2, 3, 4, 0]
    assert len(heard[-1].captured) == 5
    assert heard[-1].because == "5 turns wait"


def test_small_things_wait_ten_minutes_at_most(memory: Engram, clock: FakeClock) -> None:
    assert not memory.observe("We walked 3 miles along the river", session="s").captured
    clock.advance(minutes=10)
    assert not memory.observe("The dogs swam in the lake", session="s").captured
    clock.advance(seconds=1)

    heard = memory.observe("Then it rained in the valley", session="s")

    assert len(heard.captured) == 3
    assert "10 minutes" in heard.because


def test_each_scope_has_a_buffer_of_its_own(memory: Engram) -> None:
    for number in range(4):
        memory.observe(f"We walked {number} miles along the river", scope=Scope(project="a"))

    assert memory.observe("We walked 9 miles in the hills", scope=Scope(project="b")).waiting == 1
    assert memory.observe("We walked 8 miles in the hills", scope=Scope(project="a")).waiting == 0


def test_the_end_of_a_session_reads_what_is_left_of_it(memory: Engram) -> None:
    memory.observe("We walked 3 miles along the river", session="one")
    memory.observe("We swam 2 miles across the lake", session="two")

    assert learned(memory.flush("one")) == ["We walked 3 miles along the river"]
    assert learned(memory.flush()) == ["We swam 2 miles across the lake"]
    assert memory.flush().because == "nothing waits"


def test_closing_reads_what_is_left(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock) as memory:
        memory.observe("We walked 3 miles along the river", session="s")
    with Engram.open(file, clock=clock) as memory:
        assert everything(memory) == {"We walked 3 miles along the river"}


# ---------------------------------------------------------------- the log


def test_the_log_keeps_every_word_and_a_memory_knows_where_it_came_from(memory: Engram) -> None:
    words = "Hi! I live in Berlin. Nice weather, isn't it?"

    kept = memory.observe(words, "Lovely indeed!", session="s", speaker="Anna").receipts[0].memory

    assert [(turn.part, turn.speaker, turn.content) for turn in memory.turns("s")] == [
        ("user", "Anna", words),
        ("assistant", "", "Lovely indeed!"),
    ]
    assert [turn.content for turn in memory.said(kept.id)] == [words]
    assert (kept.content, kept.shown) == ("I live in Berlin.", "Anna: I live in Berlin.")


def test_a_message_with_an_id_counts_once(memory: Engram) -> None:
    first = memory.observe("I live in Berlin", session="s", message_id="m1")
    again = memory.observe("I live in Berlin", session="s", message_id="m1")

    assert (first.logged, first.known) == (1, 0)
    assert (again.logged, again.known, again.receipts) == (0, 1, ())
    assert len(memory.turns("s")) == 1


def test_a_client_that_sends_the_whole_conversation_again_adds_only_what_is_new(memory: Engram) -> None:
    talk = [{"role": "user", "content": "I live in Berlin"}, {"role": "assistant", "content": "ok"}]
    memory.observe(messages=talk, session="s")
    talk += [{"role": "user", "content": "ok"}, {"role": "user", "content": "ok"}]

    heard = memory.observe(messages=talk, session="s")

    assert (heard.logged, heard.known) == (2, 2)
    assert len(memory.turns("s")) == 4


messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant"]),
        "content": st.sampled_from(
            ["I live in Rome", "ok", "I like tea", "We met Bob in Oslo", "my cat is grey"]
        ),
    }
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(talk=st.lists(messages, min_size=1, max_size=8), cuts=st.lists(st.integers(1, 8), max_size=3))
def test_however_often_a_growing_conversation_is_sent_it_is_logged_once(
    talk: list[Mapping[str, Any]], cuts: list[int]
) -> None:
    with Engram.open(":memory:", clock=FakeClock(), embedder=HashEmbedder()) as memory:
        for cut in (*sorted(cuts), len(talk)):
            memory.observe(messages=talk[:cut], session="s")
        memory.flush()

        assert [turn.content for turn in memory.turns("s")] == [one["content"] for one in talk]
        kept = memory.list(limit=100)
        assert len({one.content for one in kept}) == len(kept)


def test_erasing_a_memory_erases_the_words_it_came_from(memory: Engram, file: Path) -> None:
    kept = memory.observe("I live in Xanadupolis", session="s").receipts[0].memory

    memory.erase(kept.id)

    assert memory.turns("s") == []
    assert b"Xanadupolis" not in file.read_bytes()


# ---------------------------------------------------------------- shapes of messages


def test_messages_of_both_great_shapes_are_understood(memory: Engram) -> None:
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a helpful assistant."},
        {
            "role": "user",
            "name": "Anna",
            "content": [{"type": "text", "text": "I live in Rome."}, {"type": "image_url"}],
        },
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "My name is Tool and I live in a shell."},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "content": "I live in a pipe."},
                {"type": "text", "text": "I work at Acme."},
            ],
        },
    ]

    heard = memory.observe(messages=talk, session="s", speaker="Bob")

    assert learned(heard) == ["I live in Rome.", "I work at Acme."]
    assert [one.memory.told_by for one in heard.receipts] == ["Anna", "Bob"]
    assert {left.why for left in heard.left_out} >= {"a system prompt", "a tool's output"}


def test_times_of_messages_are_taken_as_they_come(memory: Engram) -> None:
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "I met Bob yesterday in Oslo", "time": "2023-05-08T20:00:00Z"},
        {"role": "user", "content": "I met Eve yesterday in Bonn", "timestamp": 1_683_576_000_000},
    ]

    memory.observe(messages=talk, session="s")
    heard = memory.flush()

    assert [receipt.memory.shown for receipt in heard.receipts] == [
        "I met Bob yesterday [7 May 2023] in Oslo",
        "I met Eve yesterday [7 May 2023] in Bonn",
    ]
    assert {receipt.memory.happened_at.date().isoformat() for receipt in heard.receipts} == {"2023-05-07"}


@every(
    ("wrong", "error"),
    [
        ({"messages": "hello"}, WrongType),
        ({"messages": ["hello"]}, WrongType),
        ({"messages": [{"role": "user", "content": 7}]}, WrongType),
        ({"messages": [{"role": "wizard", "content": "hi"}]}, InvalidInput),
        ({"messages": [{"role": "user", "content": "hi", "time": "noon"}]}, WrongType),
        ({"messages": [{"role": "user", "content": "half a \ud83d smile"}]}, BadText),
        ({"messages": [{"role": "user", "content": "hi", "name": "Al\udfff"}]}, BadText),
        ({"user": ""}, EmptyContent),
        ({"user": "x" * 200_001}, ContentTooLong),
        ({"user": "hi", "session": "s" * 200}, ContentTooLong),
        ({}, InvalidInput),
    ],
)
def test_bad_input_changes_nothing(memory: Engram, wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        memory.observe(**wrong)

    assert memory.turns(wrong.get("session", "")[:128]) == []


def test_a_reader_may_not_speak(file: Path) -> None:
    with (
        Engram.open(file, access=Access(Scope(), Role.READER)) as memory,
        pytest.raises(AccessDenied),
    ):
        memory.observe("I live in Rome")


# ---------------------------------------------------------------- what is not learned


def test_greetings_questions_code_and_tool_noise_are_left_out(memory: Engram) -> None:
    for words in (
        "Hi there! How are you?",
        "Thanks a lot, that's great!",
        "```python\nimport os\nprint(os.getcwd())\n```",
        TRACE,
        "You are a helpful assistant. Always answer in JSON.",
    ):
        memory.observe(words, session="s")
    memory.flush()

    assert everything(memory) == set()


def test_a_text_that_the_assistant_asked_for_is_not_believed(memory: Engram) -> None:
    memory.observe("can you translate something for me?", "Of course! Please paste the text.", session="s")
    memory.observe("I live above the bakery and my brother lives downstairs.", "Voilà.", session="s")
    memory.observe("thanks! I live in Leeds, by the way", session="s")
    memory.flush("s")

    assert [one.content for one in memory.list()] == ["I live in Leeds, by the way"]
    assert any("bakery" in hit.content for hit in memory.recall("who lives above the bakery?", limit=5))


def test_what_was_recalled_is_not_learned_again(memory: Engram) -> None:
    memory.remember("User prefers dark roast coffee from the Ruby mine roastery")
    answer = memory.recall("which coffee do I like?")
    assert answer.hits

    for echo in (
        '- "User prefers dark roast   coffee from the Ruby mine roastery."',
        "<memory>User prefers dark roast coffee from the Ruby mine roastery</memory>",
        "> User prefers dark roast coffee from the Ruby mine roastery",
    ):
        memory.observe(echo, session="s")
        memory.observe(assistant=echo, session="s")
    memory.flush()

    kept = memory.list()
    assert len(kept) == 1
    assert kept.memories[0].usage.repeated == 0


def test_what_another_process_recalled_is_not_learned_again(file: Path, clock: FakeClock) -> None:
    said = "We decided that the Heron service moves to Frankfurt in June"
    with Engram.open(file, clock=clock) as memory:
        memory.remember(said)
        assert memory.recall("where does the Heron service move?").hits

    with Engram.open(file, clock=clock) as memory:
        heard = memory.observe(assistant=said, session="s")
        heard = memory.flush() if not heard.captured else heard
        assert [left.why for left in heard.left_out] == ["an echo of what was recalled"]


def test_who_says_it_again_in_their_own_words_means_it(memory: Engram) -> None:
    memory.observe("I live in Berlin.", session="one")
    memory.recall("where do I live?")

    again = memory.observe("I live in Berlin.", session="two")

    assert [receipt.outcome for receipt in again.receipts] == [Outcome.REINFORCED]


def test_of_an_assistant_only_decisions_and_findings_are_kept_unless_asked_for(
    file: Path, clock: FakeClock
) -> None:
    said = "Paris is lovely in spring. You live in Rome. I decided to use the Helm chart from version 3.2."
    with Engram.open(file, clock=clock) as memory:
        memory.observe(assistant=said, session="s")
        memory.flush()
        assert everything(memory) == {"I decided to use the Helm chart from version 3.2."}
    with Engram.open(file, clock=clock, config={"capture.assistant": "off"}) as memory:
        before = everything(memory)
        heard = memory.observe(assistant=said, session="t")
        heard = heard if heard.captured else memory.flush()
        assert {left.why for left in heard.left_out} == {"an assistant's own words"}
        assert everything(memory) == before
    with Engram.open(file, clock=clock, config={"capture.assistant": "all"}) as memory:
        memory.observe(assistant="The Heron service runs on port 8443 in Frankfurt.", session="u")
        memory.flush()
        assert "The Heron service runs on port 8443 in Frankfurt." in everything(memory)


# ---------------------------------------------------------------- corrections


def test_a_correction_in_conversation_replaces_the_old_fact(memory: Engram) -> None:
    memory.observe("I live in Berlin.", session="s")
    heard = memory.observe("Actually I moved to Rome last month.", session="s")

    assert heard.receipts[0].outcome is Outcome.SUPERSEDED
    assert [one.content for one in memory.list()] == [heard.receipts[0].memory.content]
    old = memory.get(heard.receipts[0].other)
    assert old is not None
    assert old.status is Status.SUPERSEDED
    assert memory.restore(old.id).status is Status.ACTIVE


def test_the_opposite_without_a_word_of_change_is_kept_as_a_pair_to_look_at(memory: Engram) -> None:
    memory.observe("I like swimming in cold lakes.", session="s")
    memory.observe("I hate swimming in cold lakes.", session="s")
    memory.flush()

    pairs = memory.conflicts.list()
    assert len(pairs) == 1
    assert len(memory.list()) == 2


def test_speakers_keep_their_own_facts_apart(memory: Engram) -> None:
    memory.observe("I live in Berlin.", session="s", speaker="Anna")
    heard = memory.observe("I live in Rome.", session="s", speaker="Bob")

    assert heard.receipts[0].outcome is Outcome.STORED
    assert {one.shown for one in memory.list()} == {"Anna: I live in Berlin.", "Bob: I live in Rome."}


def test_a_pronoun_means_the_one_person_spoken_of_in_the_turn_before(memory: Engram) -> None:
    memory.observe("I had lunch with Clara in Bonn.", session="s", speaker="Anna")
    memory.observe("She works at Siemens.", session="s", speaker="Anna")
    memory.observe("I saw Bob and Eve in Rome.", session="s", speaker="Anna")
    memory.observe("He lives in Oslo.", session="s", speaker="Anna")
    memory.flush()

    kept = {one.content: one for one in memory.list()}
    assert kept["She works at Siemens."].details["about"] == "Clara"
    assert [fact.fact.object for fact in memory.facts.query("Clara")] == ["siemens"]
    assert "about" not in kept["He lives in Oslo."].details


def test_a_word_put_right_stands_before_the_wrong_one_also_a_week_later() -> None:
    told = (
        ("My niece's name is Katarina", "sorry, that's Katrina, not Katarina", "what is my niece called?"),
        ("the planning room is 4.12", "its 2.07, they swapped the rooms", "where is the planning?"),
        ("My landlady is Mrs Oduya", "her name is spelled Odouya", "what is my landlady called?"),
    )
    for wrong, right, question in told:
        for later in ("monday", "friday"):
            with Engram.open(":memory:") as memory:
                memory.observe(wrong, session="monday")
                memory.flush("monday")
                memory.observe(right, session=later)
                memory.flush()

                assert memory.recall(question, dry=True).hits[0].memory.content == right


def test_a_statement_with_a_subject_of_its_own_is_no_correction_of_the_one_before(memory: Engram) -> None:
    for text in ("If I won the lottery I'd move to Spain", "Tom's switched to days, thank god"):
        memory.observe(text, session="monday")
    memory.observe("The review is on Tuesday at 10", session="tuesday")
    memory.observe("No wait, make it Friday", session="tuesday")
    memory.observe("switched to decaf at work btw", session="tuesday")
    memory.flush()

    shown = [one.shown for one in memory.list()]
    assert {"Tom's switched to days, thank god", "switched to decaf at work btw"} <= set(shown)
    assert any("make it Friday" in one and "[after: The review" in one for one in shown), shown
