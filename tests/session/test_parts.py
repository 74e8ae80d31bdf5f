"""The parts of a session, each on its own: buffer, slots, momentum, anticipation, questions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engram.model.memory import Space
from engram.model.session import Gap, Origin, Slot, Speech, TopicChange
from engram.session import following
from engram.session import following as session_anticipation
from engram.session.following import (
    MOST,
    Anticipation,
    HeardExchange,
    PreparedRecall,
    SensoryBuffer,
    WipeableText,
    WorkingMemory,
    WorkingMemoryRules,
    decayed,
    is_elliptic,
    need_of_talk,
    speech_of,
)
from engram.testing import START
from tests.tables import every

Floats = NDArray[np.float32]

SPACE = Space("hash", 3)
X, Y = np.array([1, 0, 0], dtype=np.float32), np.array([0, 1, 0], dtype=np.float32)


def exchange(words: str, seconds: float = 0) -> HeardExchange:
    return HeardExchange(
        WipeableText(words), START + timedelta(seconds=seconds), (words.split(maxsplit=1)[0],)
    )


def slot(name: str, activation: float = 1.0, origin: Origin = Origin.SPOKEN) -> Slot:
    return Slot(name, f"words of {name}", origin, activation, START)


# ---------------------------------------------------------------- the buffer


def test_the_buffer_holds_the_last_twenty() -> None:
    buffer = SensoryBuffer()
    fallen = [one for number in range(25) for one in buffer.hear(exchange(f"turn {number}"))]

    assert [one.message.text for one in fallen] == [f"turn {number}" for number in range(5)]
    assert len(buffer) == 20


def test_after_half_a_minute_a_turn_may_be_promoted_once() -> None:
    buffer = SensoryBuffer()
    buffer.hear(exchange("early", 0))
    buffer.hear(exchange("late", 20))

    [due] = buffer.due(START + timedelta(seconds=30))
    due.promoted = True

    assert due.message.text == "early"
    assert buffer.due(START + timedelta(seconds=49)) == []
    assert [one.message.text for one in buffer.due(START + timedelta(seconds=50))] == ["late"]


def test_wiping_overwrites_the_words() -> None:
    held = WipeableText("my pin is 1234")
    kept = held._bytes  # noqa: SLF001 - the bytes themselves are what is looked at
    buffer = SensoryBuffer()
    buffer.hear(HeardExchange(held, START))

    buffer.wipe()

    assert (bytes(kept), held.text, len(buffer)) == (b"", "", 0)


def test_names_come_latest_first() -> None:
    buffer = SensoryBuffer()
    for words in ("Anna came", "Bob left", "Anna left"):
        buffer.hear(exchange(words))

    assert buffer.named() == ("Anna", "Bob")


# ---------------------------------------------------------------- working memory


def test_at_most_nine_things_are_on_the_mind_and_the_weakest_leaves() -> None:
    working = WorkingMemory()
    for number in range(9):
        assert working.put(slot(str(number), 0.2 + number / 20)) == []

    [gone] = working.put(slot("new"))

    assert gone.id == "0"
    assert len(working.slots) == MOST


def test_what_the_user_wants_on_the_mind_leaves_last() -> None:
    working = WorkingMemory(WorkingMemoryRules(most=2))
    working.put(slot("user", 0.11, Origin.USER))
    working.put(slot("strong", 0.9))

    assert [one.id for one in working.put(slot("middle", 0.5))] == ["middle"]


def test_the_same_memory_strengthens_its_slot() -> None:
    working = WorkingMemory()
    working.put(Slot("1", "short", memory="m", activation=0.4))
    working.put(Slot("2", "other words", memory="m", activation=0.1))

    [only] = working.slots
    assert (only.id, only.activation) == ("1", 0.7)


def test_time_fades_and_a_message_about_it_brings_back() -> None:
    working = WorkingMemory(WorkingMemoryRules(half_life_minutes=10))
    working.put(Slot("1", "the radar map of the weather app", used_at=START))
    later = START + timedelta(minutes=10)

    assert working.fade(later) == []
    assert working.slots[0].activation == pytest.approx(0.5)
    assert working.touch("is the radar map quicker now?", later) == ["1"]
    assert working.slots[0].activation == pytest.approx(0.8)


def test_a_clock_that_is_set_back_fades_nothing() -> None:
    working = WorkingMemory()
    working.put(slot("1"))
    working.fade(START - timedelta(hours=3))

    assert working.slots[0].activation == 1.0


def test_what_faded_away_leaves_unoffered() -> None:
    working = WorkingMemory()
    working.put(slot("1"))

    gone = working.fade(START + timedelta(hours=2))

    assert [one.id for one in gone] == ["1"]
    assert working.offered(gone) == []


def test_a_drift_fades_and_evicts_below_a_fifth() -> None:
    working = WorkingMemory()
    for name, activation in (("weak", 0.25), ("strong", 0.9)):
        working.put(slot(name, activation))

    gone = working.turn(TopicChange.DRIFT)

    assert [one.id for one in gone] == ["weak"]
    assert [(one.id, round(one.activation, 2)) for one in working.slots] == [("strong", 0.63)]


def test_a_switch_clears_the_mind_and_offers_what_was_strong() -> None:
    working = WorkingMemory()
    for name, activation in (("weak", 0.25), ("strong", 0.9)):
        working.put(slot(name, activation))

    gone = working.turn(TopicChange.SWITCH)

    assert working.slots == ()
    assert [one.id for one in working.offered(gone)] == ["strong"]


@given(
    st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), st.floats(0, 1)), max_size=40),
    st.integers(1, 9),
)
def test_whatever_comes_the_mind_never_overflows(puts: Iterable[tuple[str, float]], most: int) -> None:
    working = WorkingMemory(WorkingMemoryRules(most=most))
    for name, activation in puts:
        working.put(slot(name, activation))
        assert len(working.slots) <= most
        assert all(0 <= one.activation <= 1 for one in working.slots)
        assert len({one.content for one in working.slots}) == len(working.slots)


@given(st.floats(0, 0.8), st.floats(0, 1))
def test_the_longer_away_the_weaker(lost: float, activation: float) -> None:
    after = [one.activation for one in decayed([slot("1", activation)], lost)]
    later = [one.activation for one in decayed([slot("1", activation)], lost + 0.1)]

    assert all(0.1 < one <= activation for one in after)
    assert (later or [0.0])[0] <= (after or [0.0])[0]


# ---------------------------------------------------------------- momentum


def moved(*vectors: Floats) -> following.Momentum:
    found = None
    for vector in vectors:
        found = following.momentum_after(found, SPACE, vector)
    assert found is not None
    return found


def test_the_centroid_follows_the_newest_by_three_tenths() -> None:
    found = moved(X, Y)

    assert found.centroid.tolist() == pytest.approx([0.7, 0.3, 0.0])
    assert found.turns == 2


def test_confidence_grows_on_a_steady_course_and_falls_on_a_turn() -> None:
    steady, turned = moved(X, X, X), moved(X, X, Y)

    assert moved(X).confidence < steady.confidence
    assert turned.confidence < moved(X, X).confidence


def test_an_ok_hardly_moves_anything() -> None:
    talk = moved(X, X)

    assert following.momentum_after(talk, SPACE, Y, weight=0.0).centroid.tolist() == talk.centroid.tolist()  # type: ignore[union-attr]


def test_words_nobody_knows_and_another_space() -> None:
    talk = moved(X)
    other = Space("other", 3)

    assert following.momentum_after(talk, SPACE, X * 0) is talk
    assert following.momentum_after(talk, other, Y).space == other  # type: ignore[union-attr]


def test_a_question_leans_by_two_fifths_at_most_and_not_at_all_when_it_stands_alone() -> None:
    talk = moved(*[X] * 30)

    assert talk.lean(1.0, {}).share == pytest.approx(0.4, abs=0.01)
    assert talk.lean(0.0, {}).share == 0.0


# ---------------------------------------------------------------- speech


@every(
    ("message", "speech"),
    [
        ("yes please", Speech.CONTINUATION),
        ("好的", Speech.CONTINUATION),
        ("now restart the server", Speech.INSTRUCTION),
        ("帮我写一封信", Speech.INSTRUCTION),
        ("where does Anna live?", Speech.QUESTION),
        ("I moved to Bremen", Speech.STATEMENT),
        ("", Speech.CONTINUATION),
    ],
)
def test_what_a_message_does(message: str, speech: Speech) -> None:
    assert speech_of(message) is speech


@every(
    ("message", "elliptic"),
    [
        ("ok, deploy it", True),
        ("how much was that again?", True),
        ("and when exactly?", True),
        ("who looks after it?", True),
        ("do you like music?", False),
        ("when is my sister's birthday?", False),
        ("by the way, it rains", False),
        ("the staging server of the web shop ran out of disk space again", False),
    ],
)
def test_what_makes_sense_only_in_its_talk(message: str, elliptic: bool) -> None:
    assert is_elliptic(message) is elliptic


@given(st.text(max_size=200))
def test_need_is_a_share(message: str) -> None:
    assert 0.0 <= need_of_talk(message) <= 1.0


# ---------------------------------------------------------------- anticipation


def prepared(names: frozenset[str] = frozenset()) -> PreparedRecall:
    return PreparedRecall(SPACE, X, ("id",), START, names)


@every(
    ("vector", "seconds", "names", "hit"),
    [
        (X, 0, (), True),
        (X, 59, (), True),
        (X, 60, (), False),
        (X, -1, (), False),
        (np.array([0.59, 0.81, 0], dtype=np.float32), 0, (), False),
        (np.array([0.61, 0.79, 0], dtype=np.float32), 0, (), True),
        (X, 0, ("Anna",), True),
        (X, 0, ("Bob",), False),
    ],
)
def test_what_was_expected(vector: Floats, seconds: float, names: tuple[str, ...], hit: bool) -> None:
    anticipation = Anticipation()
    anticipation.prepare(prepared(frozenset({"anna"})))

    found = anticipation.take(SPACE, vector, names, START + timedelta(seconds=seconds))

    assert (found is not None) is hit
    assert (anticipation.counted.asked, anticipation.counted.rate) == (1, float(hit))


def test_what_was_prepared_is_used_once_and_nothing_prepared_counts_for_nothing() -> None:
    anticipation = Anticipation()
    assert anticipation.take(SPACE, X, (), START) is None
    anticipation.prepare(prepared())
    anticipation.take(SPACE, X, (), START)

    assert anticipation.take(SPACE, X, (), START) is None
    assert anticipation.counted.asked == 1


# ---------------------------------------------------------------- clarifying questions


GAPS = (
    Gap("1", "Where does Anna live?", "Anna", 0.4),
    Gap("2", "Which editor?", "", 0.9),
    Gap("3", "What is the budget?", "kitchen", 0.6),
)


@every(
    ("names", "asked", "due", "keys"),
    [
        ((), 0, "123", ["2", "3"]),
        (("anna",), 0, "123", ["1", "2"]),
        ((), 1, "123", ["2"]),
        ((), 2, "123", []),
        ((), 0, "1", ["1"]),
    ],
)
def test_the_questions_worth_asking(names: tuple[str, ...], asked: int, due: str, keys: list[str]) -> None:
    chosen = session_anticipation.choose_questions(GAPS, names, asked, lambda key: key in due)

    assert [gap.key for gap in chosen] == keys
