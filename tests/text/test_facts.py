from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import Fact
from engram.text.facts import ended, facts


@pytest.mark.parametrize(
    ("text", "subject", "predicate", "value", "functional"),
    [
        ("My editor is vim", "user", "editor", "vim", True),
        ("Actually, my editor is Helix now", "user", "editor", "helix", True),
        ("I use Helix now", "user", "editor", "helix", True),
        ("I use vim", "user", "editor", "vim", False),
        ("I use ripgrep for searching", "user", "use", "ripgrep", False),
        ("I use Helix as my editor", "user", "editor", "helix", True),
        ("I live in Berlin", "user", "live in", "berlin", True),
        ("I moved to Paris last year", "user", "live in", "paris", True),
        ("Anna works at Acme", "anna", "work at", "acme", True),
        ("I work as a nurse", "user", "job", "nurse", True),
        ("Anna's birthday is May 3", "anna", "birthday", "may 3", True),
        ("My sister's name is Eva", "user's sister", "name", "eva", True),
        ("the deadline is Friday", "deadline", "is", "friday", True),
        ("The deadline for Apollo is June 3", "apollo", "deadline", "june 3", True),
        ("The default branch is main", "default branch", "is", "main", True),
        ("The meeting moved to Thursday", "meeting", "is", "thursday", True),
        ("The office is located in Munich", "office", "located in", "munich", True),
        ("we switched from MySQL to PostgreSQL", "user", "database", "postgresql", True),
        ("I moved from vim to Helix", "user", "editor", "helix", True),
        ("We replaced Redis with Valkey", "user", "database", "valkey", True),
        ("I prefer tea over coffee", "user", "prefer", "tea", False),
        ("call me Sam", "user", "name", "sam", True),
        ("Please remember that my name is Sam Smith.", "user", "name", "sam smith", True),
        ("My favourite color is blue", "user", "favorite color", "blue", True),
        ("My dog is Rex", "user", "dog", "rex", False),
        ("My brother is a doctor", "user's brother", "is a", "doctor", False),
        ("Anna is my sister", "user", "sister", "anna", False),
        ("Bob is our manager", "user", "manager", "bob", True),
        ("Bob is married to Alice", "bob", "married to", "alice", True),
        ("I am 32 years old", "user", "age", "32", True),
        ("I'm a software engineer", "user", "is a", "software engineer", False),
        ("Anna likes red apples", "anna", "like", "red apples", False),
        ("I have two cats", "user", "have", "two cats", False),
        ("I bought a bike", "user", "bought", "bike", False),
        ("No, my editor is Emacs.", "user", "editor", "emacs", True),
        ("My editor is Helix, not vim", "user", "editor", "helix", True),
        ("我的编辑器是vim", "user", "editor", "vim", True),
        ("其实，我的编辑器现在是Helix", "user", "editor", "helix", True),
        ("我住在上海", "user", "live in", "上海", True),
        ("小明在腾讯工作", "小明", "work at", "腾讯", True),
        ("我叫李雷", "user", "name", "李雷", True),
        ("我现在用Helix", "user", "editor", "helix", True),
        ("我从vim换成了Helix", "user", "editor", "helix", True),
        ("地点是北京", "地点", "is", "北京", True),
        ("截止日期改成周五", "截止日期", "is", "周五", True),
        ("会议时间是下午三点", "会议", "time", "下午三点", True),
        ("我喜欢喝绿茶", "user", "like", "绿茶", False),
        ("我最喜欢的颜色是蓝色", "user", "最喜欢的颜色", "蓝色", True),
    ],
)
def test_plain_statements_are_facts(
    text: str, subject: str, predicate: str, value: str, functional: bool
) -> None:
    assert facts(text) == [Fact(subject, predicate, value, functional)]


@pytest.mark.parametrize(
    "text",
    [
        "Do I use vim?",
        "I don't use vim",
        "If I lived in Rome, I would use vim",
        "I think my editor is vim",
        "I want to live in Rome",
        "I used to live in Rome",
        "He works at Acme",
        "My dog is cute",
        "My dog is sleeping",
        "My partner is pregnant",
        "My job is stressful",
        "The API is slow",
        "I live in fear",
        "It is good",
        "Writing is a great way to relax",
        "```\nmy editor is vim\n```",
        "你的编辑器是什么？",
        "我不喝咖啡",
        "我的狗是黑色的",
        "如果我住在上海",
        "",
    ],
)
def test_what_is_not_plainly_stated_is_no_fact(text: str) -> None:
    assert facts(text) == []


def test_one_sentence_may_state_several_facts_of_the_speaker() -> None:
    assert facts("I live in Berlin and work at Acme.", speaker="Anna") == [
        Fact("anna", "live in", "berlin", functional=True),
        Fact("anna", "work at", "acme", functional=True),
    ]


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("We switched from MySQL to PostgreSQL", "database", "mysql"),
        ("I no longer live in Berlin", "live in", "berlin"),
        ("I don't use vim anymore", "editor", "vim"),
        ("I no longer work at Acme, I work at Globex", "work at", "acme"),
        ("我不再用vim", "editor", "vim"),
    ],
)
def test_what_has_ended_is_named(text: str, predicate: str, value: str) -> None:
    assert [(fact.predicate, fact.object) for fact in ended(text)] == [(predicate, value)]


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(facts(text), list)
    assert isinstance(ended(text), list)


def test_a_pronoun_is_nobody_in_particular_in_chinese_either() -> None:
    assert facts("张伟是我的表弟，其年龄是36岁。") == []


def test_an_attribute_belongs_to_its_owner() -> None:
    uncle, aunt = facts("我叔叔的生日是5月3日"), facts("我婶婶的生日是6月3日")

    assert uncle[0].subject != aunt[0].subject
    assert [(fact.subject, fact.predicate) for fact in facts("会议的地点是北京")] == [("会议", "location")]


def test_a_description_of_someone_takes_nothings_place() -> None:
    assert not any(fact.functional for fact in facts("我的上司是南京人"))
