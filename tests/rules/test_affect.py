"""How a text felt: its direction, its strength, and how much it stirs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.model.memory import Affect
from engram.rules.importance import MOST_STIRRED, affect
from engram.text import feelings
from engram.text.feelings import sentiment
from tests.tables import every

FELT = (
    ("I love the new office", "positive"),
    ("We finally fixed the bug, what a relief", "positive"),
    ("Not bad at all", "positive"),
    ("I'm looking forward to the concert", "positive"),
    ("She got promoted and is very proud", "positive"),
    ("I like the dark theme", "positive"),
    ("It works like a charm :)", "positive"),
    ("The demo was sooo goood", "positive"),
    ("没问题，搞定了", "positive"),
    ("我非常喜欢这个设计", "positive"),
    ("今天太开心了", "positive"),
    ("🎉🎉", "positive"),
    ("I hate Mondays", "negative"),
    ("The deploy failed again", "negative"),
    ("I am not happy with the result", "negative"),
    ("I don't like it", "negative"),
    ("I never enjoyed that place", "negative"),
    ("It doesn't work", "negative"),
    ("Ugh, broken again", "negative"),
    ("He was terribly rude", "negative"),
    ("The room was nice, but the noise was horrible", "negative"),
    ("服务器又崩溃了", "negative"),
    ("我不是很开心", "negative"),
    ("一点都不好用", "negative"),
    ("有点累", "negative"),
    ("这家餐厅太难吃了", "negative"),
    ("😡", "negative"),
    ("I love the city and I hate the noise", "mixed"),
    ("The meeting is on Monday at ten", "neutral"),
    ("We use PostgreSQL for the invoices", "neutral"),
    ("It looks like rain", "neutral"),
    ("What kind of tea is that?", "neutral"),
    ("Please run the tests before you push", "neutral"),
    ("The issue tracker moved to GitLab", "neutral"),
    ("CALL ME NOW!!!", "neutral"),
    ("urgent: the invoice is due on Friday", "neutral"),
    ("你好，会议在三点", "neutral"),
    ("好像是周五，差不多五点", "neutral"),
    ("他的爱好是下棋", "neutral"),
    ("see https://example.org/a:/b", "neutral"),
    ("", "neutral"),
)


@every(("text", "expected"), FELT)
def test_a_text_has_a_sentiment(text: str, expected: str) -> None:
    felt = affect(text)
    assert sentiment(felt.valence, felt.intensity) == expected


@every(
    ("weaker", "stronger"),
    [
        ("I am happy", "I am very happy"),
        ("I am slightly annoyed", "I am annoyed"),
        ("I am annoyed", "I am extremely annoyed"),
        ("It is great", "It is GREAT"),
        ("It is not good", "It is bad"),
        ("我很生气", "我非常非常生气"),
        ("有点难过", "难过"),
    ],
)
def test_the_words_before_a_feeling_make_it_stronger_or_weaker(weaker: str, stronger: str) -> None:
    assert abs(affect(weaker).valence) < abs(affect(stronger).valence)
    assert affect(weaker).valence * affect(stronger).valence > 0


@every(
    ("calm", "stirring"),
    [
        ("The report is due", "The report is due ASAP"),
        ("修一下服务器", "赶紧修一下服务器"),
        ("Call me", "Call me!!!"),
        ("Do not touch it", "Do NOT touch it"),
        ("My editor is Helix", "Actually, my editor is Helix"),
        ("Nooo", "Noooooo!!"),
        ("I am content", "I am thrilled"),
        ("I am tired", "I am terrified"),
    ],
)
def test_urgency_emphasis_and_strong_words_stir(calm: str, stirring: str) -> None:
    assert affect(calm).arousal < affect(stirring).arousal


def test_what_has_no_direction_alone_is_never_a_mixed_feeling() -> None:
    loud = affect("ACTUALLY, do it NOW, ASAP!!!", novelty=1.0)

    assert loud.intensity == MOST_STIRRED < feelings.MUCH
    assert sentiment(loud.valence, loud.intensity) == "neutral"


def test_the_outcome_of_a_task_gives_a_direction() -> None:
    plain = affect("Deployed version 2")

    assert plain == Affect()
    assert (
        affect("Deployed version 2", outcome="success").valence
        > 0
        > affect("Deployed", outcome="失败").valence
    )
    assert affect("Deployed version 2", outcome="unknown to us") == plain


def test_the_new_stirs_more_than_the_well_known() -> None:
    assert affect("We saw a fox", novelty=0.9).arousal > affect("We saw a fox", novelty=0.1).arousal


def test_strong_feelings_pass_the_mark_that_protects_a_memory() -> None:
    assert affect("I was terrified, the server is on fire!!").arousal >= 0.5
    assert affect("I like tea").arousal < 0.3


@given(
    st.text(st.characters(exclude_categories=()), max_size=120)
    | st.lists(st.sampled_from([text for text, _ in FELT]), max_size=6).map(" ".join),
    st.floats(allow_nan=False),
    st.text(max_size=8),
)
def test_affect_stays_within_its_bounds(text: str, novelty: float, outcome: str) -> None:
    felt = affect(text, novelty=novelty, outcome=outcome)

    assert -1.0 <= felt.valence <= 1.0
    assert 0.0 <= felt.intensity <= 1.0
    assert 0.0 <= felt.arousal <= 1.0
    assert sentiment(felt.valence, felt.intensity) in {"positive", "negative", "neutral", "mixed"}
