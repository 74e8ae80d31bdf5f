"""What a text is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text import lexicon
from engram.text.kinds import MOST, topics
from tests.tables import every


@every(
    ("text", "expected"),
    [
        ("My boss moved the sprint planning to Tuesday", "work"),
        ("We booked a flight and a hotel in Lisbon", "travel"),
        ("Anna is vegetarian and bakes sourdough", "food"),
        ("I am allergic to penicillin", "health"),
        ("My daughter and my wife visit grandma", "family"),
        ("Our puppy needs to see the vet", "pets"),
        ("She plays the violin in an orchestra", "music"),
        ("He watched the football championship", "sports"),
        ("I pay the mortgage from my savings", "finance"),
        ("Please refactor the codebase before the pull request", "programming"),
        ("We deploy to staging with Kubernetes", "deployment"),
        ("The PostgreSQL database needs a new foreign key", "databases"),
        ("Rotate the API key and enable 2FA", "security"),
        ("The exam is at the end of the semester", "learning"),
        ("Our landlord pays for the renovation of the apartment", "home"),
        ("The tomato seedlings stand in the greenhouse", "garden"),
        ("She got married last spring; the wedding was small", "relationships"),
        ("We fine-tune a language model with PyTorch", "ai"),
        ("He is reading a novel for the book club", "books"),
        ("I go to the gym for yoga", "fitness"),
        ("My birthday party is on Saturday", "celebrations"),
        ("We went camping in the national park", "nature"),
        ("我对花生过敏，要看医生", "health"),
        ("我妈妈和爸爸住在上海", "family"),
        ("周末我们去吃火锅", "food"),
        ("代码重构完成了，单元测试也通过了", "programming"),
        ("数据库的慢查询需要优化", "databases"),
        ("我们把服务部署到集群上", "deployment"),
        ("我想学钢琴，也喜欢听音乐会", "music"),
    ],
)
def test_the_strongest_topic_comes_first(text: str, expected: str) -> None:
    assert topics(text)[0] == expected


@every(
    "text",
    [
        "",
        "It is what it is",
        "See you on Monday",
        "Anna likes blue",
        "I work with her",
        "The meeting",
        "好的",
        "他叫李雷",
    ],
)
def test_a_hint_alone_is_no_topic(text: str) -> None:
    assert topics(text) == ()


def test_saying_a_word_twice_is_no_more_evidence() -> None:
    assert topics("a team is a team is a team") == ()


def test_there_are_about_forty_topics_with_evidence_in_both_languages() -> None:
    found = lexicon.parts("topics")

    assert 35 <= len(found) <= 50
    for rows in found.values():
        assert [row.partition(": ")[0] for row in rows] == ["2", "1"]
        assert not any(row.isascii() for row in rows)


@given(st.text(st.characters(exclude_categories=()), max_size=120))
def test_any_text_has_few_topics(text: str) -> None:
    assert len(topics(text)) <= MOST
