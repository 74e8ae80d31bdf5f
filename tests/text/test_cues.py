"""Cues: which facts the words of a question ask for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.cues import VAGUE, cues, slots_told
from tests.tables import every

CASES = [
    ("Where does Anna live?", "live in"),
    ("Which editor do I use?", "editor"),
    ("Who is Tom married to?", "married to"),
    ("What's my sister's birthday?", "birthday"),
    ("Who does Priya report to?", "report to"),
    ("Who is Priya's manager?", "report to"),
    ("In what town was he born?", "born in"),
    ("What does my dad do for a job?", "job"),
    ("Which languages does Mei speak?", "speak"),
    ("What is our deploy target, where is it deployed?", "deployed to"),
    ("What is the operating system of Jonas?", "operating system"),
    ("小明住在哪个城市？", "live in"),
    ("我妹妹的生日是哪天？", "birthday"),
]


@every(("question", "predicate"), CASES)
def test_a_question_asks_for_a_predicate(question: str, predicate: str) -> None:
    assert any(predicate in cue.predicates for cue in cues(question))


@every("question", ["What did Caroline paint?", "", "???", "How are you?", "的"])
def test_a_question_may_ask_for_none(question: str) -> None:
    assert cues(question) == ()


def test_a_vague_word_counts_less() -> None:
    assert [cue.weight for cue in cues("Where does Anna live?")] == [VAGUE, 1.0]


def test_a_group_of_words_is_one_cue() -> None:
    assert [cue.words for cue in cues("What is her phone number?")] == ["phone number"]


@given(st.text(max_size=300))
def test_any_text_is_read(question: str) -> None:
    assert all(cue.predicates for cue in cues(question))


def test_a_number_of_something_is_no_age() -> None:
    ages = ("Poppy is 7", "nan is 101 now", "she turned 12", "I'm 29.")
    others = ("my cholesterol is 240 so I run", "budget is 900", "the rent is 40", "that is 15")
    assert all("slotage" in slots_told(one) for one in ages)
    assert not any("slotage" in slots_told(one) for one in others)
