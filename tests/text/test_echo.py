"""Echoes: what was recalled must not be learned again, and what is new must not be lost."""

from __future__ import annotations

import re
from threading import Thread

from hypothesis import assume, given
from hypothesis import strategies as st

from engram.text.echo import Echoes
from tests.tables import every

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=120)
VOCABULARY = (
    *(
        "anna",
        "bob",
        "berlin",
        "tea",
        "green",
        "red",
        "works",
        "lives",
        "likes",
        "sister",
        "dog",
        "at",
        "in",
        "on",
    ),
    *(
        "with",
        "the",
        "old",
        "new",
        "river",
        "bought",
        "12",
        "7",
        "2019",
        "3.5",
        "ten",
        "acme",
        "house",
        "garden",
    ),
    *("since", "monday", "never", "not", "blue"),
)
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=4, max_size=14).map(" ".join)
HAN = st.text(st.sampled_from("住在上海北京喜欢喝绿茶红酒狗猫三四五工作朋友"), min_size=4, max_size=20)
REQUOTED = (
    '"{}"', "> {}", "- {}", "* {}", "1. {}", "12) {}", "“{}”", "**{}**", "_{}_", "`{}`", "  {}  ", "{}.",
    "{}!",
    "• {}", "- [ ] {}", "> > {}", "[{}]", "「{}」", "#1 {}", "({})",
)  # fmt: skip


def heard(*texts: str) -> Echoes:
    echoes = Echoes()
    echoes.heard(texts)
    return echoes


@every(
    ("recalled", "sentence"),
    [
        ("User lives in Berlin", "User lives in Berlin"),
        ("User lives in Berlin", "I live in Berlin."),
        ("User lives in Berlin", "You live in Berlin!"),
        ("The user lives in Berlin", "you live in  BERLIN"),
        ("User is a nurse", "I'm a nurse"),
        ("The user's favorite editor is Helix", "Your favorite editor is Helix."),
        ("The user's favorite editor is Helix", "my favorite editor is **Helix**"),
        ("User lives in Berlin", "You told me that you live in Berlin."),
        ("User lives in Berlin", "As you mentioned earlier, you live in Berlin"),
        ("User lives in Berlin", "Memory 3: User lives in Berlin"),
        ("User lives in Berlin. User has two cats.", "You have two cats."),
        ("User has two cats, but no dog", "You have two cats"),
        (
            "Anna bought an old house near the river in 2019 with her sister",
            "Anna bought an old house near the river",
        ),
        ("Deploy with `make deploy` on Tuesdays only", "deploy with make deploy on tuesdays only"),
        ("用户住在上海", "我住在上海。"),
        ("用户住在上海，喜欢喝绿茶", "你住在上海"),
        ("用户住在上海，喜欢喝绿茶", "你喜欢喝绿茶。"),
        ("用户住在上海", "你之前说过，你住在上海"),
        ("3. May is a holiday", "3. May is a holiday"),
        ("User uses C++ and C#", "you use C++ and C#"),
    ],
)
def test_what_was_recalled_is_known_again(recalled: str, sentence: str) -> None:
    assert heard(recalled).is_echo(sentence)


@every(
    ("recalled", "sentence"),
    [
        ("User lives in Berlin", "I no longer live in Berlin"),
        ("User lives in Berlin", "I don't live in Berlin"),
        ("User lives in Berlin", "I lived in Berlin"),
        ("User lives in Berlin", "I live in Munich"),
        ("User lives in Berlin", "Anna lives in Berlin"),
        ("User lives in Berlin", "I live in Berlin now"),
        ("User lives in Berlin", "User lives in Berlin and works at Siemens"),
        ("User does not live in Berlin", "I live in Berlin"),
        ("It is not true that the user lives in Berlin", "I live in Berlin"),
        ("Anna likes Bob", "Bob likes Anna"),
        ("User has 3 cats and 4 dogs", "I have 4 cats and 3 dogs"),
        ("3. May is a holiday", "4. May is a holiday"),
        ("The meeting is at 10:30", "The meeting is at 11:30"),
        ("User uses C++", "I use C"),
        ("Anna lives in Rome", "I live in Rome"),
        ("用户住在上海", "我不住在上海"),
        ("用户住在上海", "我住在北京"),
        ("用户喜欢猫", "我喜欢狗"),
        ("用户有三只猫", "我有四只猫"),
        ("User lives in Berlin", ""),
        ("", "I live in Berlin"),
    ],
)
def test_news_is_no_echo(recalled: str, sentence: str) -> None:
    assert not heard(recalled).is_echo(sentence)


def test_the_oldest_text_goes_first_and_leaves_nothing() -> None:
    echoes = Echoes(capacity=2)
    echoes.heard(["Anna lives in Rome", "Bob lives in Oslo", "Anna lives in Rome", "Eve lives in Bern"])

    assert len(echoes) == 2
    assert echoes.is_echo("Anna lives in Rome")
    assert not echoes.is_echo("Bob lives in Oslo")
    echoes.heard(["One two three four five", "Six seven eight nine ten"])
    assert not echoes.is_echo("Anna lives in Rome")
    assert all(holders for holders in echoes._holders.values())  # noqa: SLF001
    assert len(echoes._holders) == 10  # noqa: SLF001 - two texts of five words: 2 fours and 3 threes each


def test_no_text_is_kept() -> None:
    echoes = heard("User keeps the spare key under the blue pot")

    assert "blue" not in repr(vars(echoes))


def test_many_threads_may_hear_and_ask() -> None:
    echoes = Echoes(capacity=50)

    def work(number: int) -> None:
        for turn in range(40):
            echoes.heard([f"Person {number} has {turn} red apples at home"])
            echoes.is_echo("Person 1 has 7 red apples at home")

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(echoes) == 50


@given(ANY_TEXT, st.sampled_from(REQUOTED))
def test_any_recalled_text_requoted_is_an_echo(text: str, form: str) -> None:
    assume(any(char.isalnum() for char in text))

    assert heard(text).is_echo(form.format(text))


@given(st.one_of(WORDS, HAN), st.sampled_from(["  ", "\n", "\t", " \n> ", "\u00a0"]))
def test_any_recalled_text_spaced_anew_is_an_echo(text: str, space: str) -> None:
    assert heard(text).is_echo(text.replace(" ", space).upper())


@given(WORDS, st.integers(0, 99999), st.data())
def test_another_number_is_news(text: str, number: int, data: st.DataObject) -> None:
    words = text.split()
    places = [at for at, word in enumerate(words) if re.search(r"\d", word)]
    assume(places)
    at = data.draw(st.sampled_from(places))
    assume(words[at] != str(number))

    assert not heard(text).is_echo(" ".join([*words[:at], str(number), *words[at + 1 :]]))


@given(WORDS, st.sampled_from(["not", "never", "no", "don't", "cannot"]), st.data())
def test_a_negation_is_news(text: str, negation: str, data: st.DataObject) -> None:
    words = text.split()
    at = data.draw(st.integers(0, len(words)))

    assert not heard(text).is_echo(" ".join([*words[:at], negation, *words[at:]]))


@given(HAN, st.sampled_from("不没未"), st.data())
def test_a_chinese_negation_is_news(text: str, negation: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))

    assert not heard(text).is_echo(text[:at] + negation + text[at:])


@given(st.lists(ANY_TEXT, max_size=3), ANY_TEXT)
def test_nothing_breaks_it(texts: list[str], sentence: str) -> None:
    echoes = Echoes(capacity=1)
    echoes.heard(texts)

    assert echoes.is_echo(sentence) in {True, False}


def test_another_label_is_no_echo() -> None:
    echoes = Echoes()
    echoes.heard(["The Hepatitis B vaccination of my daughter was done in March at the clinic"])

    told = "The Hepatitis {} vaccination of my daughter was done in March at the clinic"
    assert echoes.is_echo(told.format("B"))
    assert not echoes.is_echo(told.format("A"))
