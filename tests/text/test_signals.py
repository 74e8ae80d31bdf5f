"""Signals: the data files prove themselves by their examples; no secret is ever shown."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.model.memory import CATEGORIES
from engram.text import lexicon
from engram.text.signals import CHANGE, FILES, MASK, Level, Signal, level_of, masked, signals
from tests.tables import every

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
RULES = [(name, heading) for name in FILES for heading in lexicon.headings(name)]
PATTERNS = [row for name, heading in RULES for row in lexicon.parts(name)[heading]]


def called(row: str) -> lexicon.Calls:
    return lexicon.Calls([tuple(piece.lower() for piece in lexicon.needed(row))])


def found(text: str, heading: str) -> list[Signal]:
    level, category, title = heading.split(" ", 2)
    return [
        s for s in signals(text) if (s.level.name.lower(), s.category, s.name) == (level, category, title)
    ]


@every(("name", "heading"), RULES)
def test_every_rule_finds_its_examples_and_leaves_the_others(name: str, heading: str) -> None:
    good, bad = lexicon.examples(name, heading)

    assert heading.split()[1] in (*CATEGORIES, CHANGE)
    assert good
    assert bad
    assert [text for text in good if not found(text, heading)] == []
    assert [text for text in bad if found(text, heading)] == []


@every("name", FILES)
def test_turning_away_early_changes_no_answer(name: str) -> None:
    texts = [text for heading in lexicon.headings(name) for text in lexicon.examples(name, heading)[0]]
    for heading in lexicon.headings(name):
        for row in lexicon.parts(name)[heading]:
            matching = [text.lower() for text in texts if re.search(row, text, re.IGNORECASE)]
            assert [text for text in matching if called(row).of(text) != [0]] == [], row[:60]


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_every_match_calls_for_its_pattern(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(PATTERNS))
    text = data.draw(st.from_regex(re.compile(row, re.IGNORECASE)))

    assert called(row).of(text.lower()) == [0]


@every(
    ("text", "level"),
    [
        ("Remember that I'm vegetarian", Level.HIGH),
        ("Anna doesn't work at Acme anymore", Level.HIGH),
        ("We switched from MySQL to PostgreSQL", Level.HIGH),
        ("I'll send it by Friday", Level.HIGH),
        ("Hi, I'm Anna and I live in Rome", Level.HIGH),
        ("I live in Rome, do you know a good bakery?", Level.HIGH),
        ("I'm allergic to peanuts", Level.HIGH),
        ("the wifi password: blue-horse-42", Level.HIGH),
        ("我们决定改用 Rust", Level.HIGH),
        ("我对花生过敏", Level.HIGH),
        ("周五之前我会把报告发给你", Level.HIGH),
        ("I like green tea", Level.MEDIUM),
        ("We went hiking in the rain", Level.MEDIUM),
        ("My sister plays the cello", Level.MEDIUM),
        ("她擅长画画", Level.MEDIUM),
        ("The lake freezes over and skating is allowed there", Level.LOW),
        ("鲸鱼是哺乳动物", Level.LOW),
        ("That's actually great!", Level.NONE),
        ("I would never have guessed!", Level.NONE),
        ("Are you allergic to anything?", Level.NONE),
        ("Do you remember my name?", Level.NONE),
        ("Thanks, sounds good!", Level.NONE),
        ("你叫什么名字？", Level.NONE),
        ("好的，谢谢", Level.NONE),
        ("", Level.NONE),
    ],
)
def test_a_message_has_the_level_of_its_strongest_signal(text: str, level: Level) -> None:
    assert level_of(text) == level


def test_every_match_is_told_strongest_first() -> None:
    told = signals("I like tea. My name is Sam. Remember that Anna hates flying.")

    assert [s.level for s in told] == sorted((s.level for s in told), reverse=True)
    assert {"identity", "instruction", "preference"} <= {s.category for s in told}
    assert sum(s.name == "likes" for s in told) == 2


@every("heading", ["tokens", "named"])
def test_a_secret_is_noticed_and_masked(heading: str) -> None:
    good, bad = lexicon.examples("credentials", heading)

    assert [text for text in good if level_of(text) < Level.HIGH or MASK not in masked(text)[0]] == []
    assert [text for text in bad if masked(text)[1]] == []


@given(
    st.sampled_from(
        ["my password is {}", "API key: {} and I live in Rome", "我的密码是{}", "I said the pin is {}!"]
    ),
    st.text(string.ascii_letters + string.digits, min_size=8, max_size=30).filter(lambda t: t.isalnum()),
)
def test_no_signal_shows_a_secret(sentence: str, secret: str) -> None:
    told = signals(sentence.format(secret + "7"))

    assert told[0].level == Level.HIGH
    assert not any(secret in s.text for s in told)


@given(ANY_TEXT)
def test_nothing_breaks_it(text: str) -> None:
    told = signals(text)

    assert level_of(text) == max((s.level for s in told), default=Level.NONE)
    assert all(s.category in CATEGORIES for s in told)
