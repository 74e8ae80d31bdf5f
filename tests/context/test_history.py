"""A conversation gets shorter, and what matters in it survives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.context.budget import Ruler
from engram.context.history import (
    HistoryLimits,
    ShortenedHistory,
    compress,
    exchange_line,
    exchanges,
    without_long_code,
)
from engram.model.capture import Part
from engram.model.context import Message

RULER = Ruler("o200k")
KEEP = HistoryLimits()
PARTS = (Part.USER, Part.ASSISTANT)
CODE = "```python\n" + "\n".join(f"value_{number} = {number}" for number in range(12)) + "\n```"


def talk(exchanges_: int) -> list[Message]:
    """A conversation as people have it with an agent: requests, long answers, code, tool output."""
    said = []
    for number in range(exchanges_):
        asked = f"Could you look at the part {number} of the service and tell me what is going on there?"
        if number == 5:
            asked = "We decided to use PostgreSQL 16 for the billing data."
        answer = (
            f"I looked at it. The part {number} reads its settings, opens a connection and waits for work. "
            "That is a common way to do it, and it has worked well for a long time in many places. "
            "There are a few things one could do better, but none of them is urgent at the moment.\n\n" + CODE
        )
        if number == 7:
            answer += "\nI changed src/billing/ledger.py. The build failed with a KeyError in the parser."
        said += [
            Message(Part.USER, asked),
            Message(Part.TOOL, "a lot of output " * 40),
            Message(Part.ASSISTANT, answer),
        ]
    return said


def text_of(told: ShortenedHistory) -> str:
    return "\n".join([*told.lines, *(one.content for one in told.verbatim)])


def test_the_last_exchanges_stay_whole_the_ones_before_become_lines_the_rest_a_paragraph() -> None:
    told = compress(talk(50), 100_000, RULER, KEEP)

    assert [one.role for one in told.verbatim] == [*PARTS] * 3
    assert told.verbatim[-1].content == talk(50)[-1].content.strip()
    assert len(told.lines) == 11
    assert all(" → " in one for one in told.lines[1:])
    assert (told.shown, told.of) == (13, 50)


def test_a_hundred_turns_are_a_quarter_at_most_and_what_matters_survives() -> None:
    said = talk(50)
    whole = sum(RULER.message(one.content) for one in said if one.role is not Part.TOOL)
    told = compress(said, 100_000, RULER, KEEP)

    assert told.tokens * 4 <= whole
    for must in ("PostgreSQL 16", "src/billing/ledger.py", "KeyError"):
        assert must in text_of(told)
    assert "a lot of output" not in text_of(told)


def test_decisions_files_errors_and_figures_survive_a_line() -> None:
    (one,) = exchanges(
        [
            Message(Part.USER, "The deploy broke. What happened?"),
            Message(
                Part.ASSISTANT,
                "I had a look around the whole place. It raised TimeoutError after 30 seconds. "
                f"I fixed deploy/run.sh and config.yaml. We agreed to retry 5 times.\n{CODE}",
            ),
        ]
    )

    told = exchange_line(one)

    assert "\n" not in told
    assert "value_3" not in told
    for must in ("TimeoutError", "30 seconds", "deploy/run.sh", "config.yaml", "5 times"):
        assert must in told


def test_short_code_stays_and_long_code_goes() -> None:
    short = "Use this:\n```\nx = 1\ny = 2\n```\n"

    assert without_long_code(short) == short
    assert without_long_code(f"Before.\n{CODE}\nAfter.") == "Before.\n\nAfter."


def test_several_messages_in_a_row_are_one_exchange() -> None:
    said = [
        Message(Part.USER, "a"),
        Message(Part.USER, "b"),
        Message(Part.ASSISTANT, "c"),
        Message(Part.USER, "d"),
    ]

    found = exchanges([Message(Part.SYSTEM, "s"), *said, Message(Part.TOOL, "t")])

    assert [(one.asked, one.answered) for one in found] == [(("a", "b"), ("c",)), (("d",), ())]


def test_a_model_may_write_the_paragraph() -> None:
    told = compress(
        talk(30), 100_000, RULER, KEEP, lambda lines, words: f"{len(lines)} exchanges, {words} words"
    )

    assert told.lines[0] == "17 exchanges, 220 words"


def test_without_an_answer_of_the_model_rules_write_it() -> None:
    told = compress(talk(30), 100_000, RULER, KEEP, lambda _lines, _words: None)

    assert "PostgreSQL 16" in told.lines[0]


@given(
    st.lists(st.tuples(st.sampled_from(Part), st.text(max_size=300)), max_size=60),
    st.integers(0, 3_000),
    st.integers(0, 5),
    st.integers(0, 12),
)
def test_a_history_never_takes_more_than_its_room(
    said: list[tuple[Part, str]], room: int, whole: int, lines: int
) -> None:
    told = compress([Message(part, text) for part, text in said], room, RULER, HistoryLimits(whole, lines))

    assert told.tokens <= room
    assert told.shown <= told.of


def test_less_room_tells_less_but_keeps_the_last_words_longest() -> None:
    said = talk(20)
    last = said[-1].content.strip()

    sizes = [compress(said, room, RULER, KEEP) for room in (3_000, 800, 400, 60, 5)]

    assert [last in text_of(one) for one in sizes] == [True, True, True, False, False]
    assert sizes[3].lines
    assert sizes[4] == ShortenedHistory(of=20)
