"""What is told in one breath with a request: the rule that stays is kept, what is asked for is not."""

from __future__ import annotations

from engram import Engram
from tests.tables import every

RULE_AND_REQUEST = [
    (
        "in this repo we use pnpm never npm, now add a retry to the fetch helper",
        "in this repo we use pnpm never npm",
    ),
    (
        "we're on python 3.12 and never use print for logging, can you refactor this function?",
        "we're on python 3.12 and never use print for logging",
    ),
    ("always answer in metric; what's the boiling point of ethanol?", "always answer in metric"),
    ("our commits follow conventional commits so write me one", "our commits follow conventional commits"),
    ("fix the loop below, and btw all our tests go in spec/", "btw all our tests go in spec/"),
    (
        "we write commit messages in english, can u write one for this diff",
        "we write commit messages in english",
    ),
    ("我们项目统一用 pnpm 不用 npm，帮我给这个请求函数加个重试", "我们项目统一用 pnpm 不用 npm"),
    ("代码注释统一写中文，把这个函数改成异步的", "代码注释统一写中文"),
    ("以后回答都简短一点，什么是熵", "以后回答都简短一点"),
]
NO_RULE = [
    "make this shorter, never more than 50 words, and drop the last line",
    "never use print here, use logging instead, and rename the variable",
    "why does git never push my tags, how do i fix it",
    "in this story we never see the king, continue it",
    "这段代码不要用 print，改成 logging，再把变量名改一下",
    "写一首诗，不要出现月亮两个字",
]
ONE_RULE = [
    "always write the tests first, then implement the code",
    "in our codebase we use tabs not spaces, please stick to it",
    "never use jargon, give me examples",
    "we never use npm, which is slow",
    "we never eat pork, what can I cook for my son's birthday on Friday",
]
NAMED_IN_A_REQUEST = [
    ("Can you draft a note to my neighbour Mrs Okafor for feeding the cat", "my neighbour Mrs Okafor"),
    ("write an email to my professor, Dr. Lindqvist, asking for an extension", "my professor, Dr. Lindqvist"),
    ("write a story for my son Theo about a dragon", "my son Theo"),
    ("how do i cancel my subscription to my trainer Joe", "my trainer Joe"),
    ("帮我给我老板王芳写封邮件请两天假", "我老板王芳"),
    ("给我女儿朵朵想个生日派对的主题", "我女儿朵朵"),
    ("怎么跟我的房东刘阿姨说想提前退租", "我的房东刘阿姨"),
]
NOBODY_NAMED = [
    "write an email to a manager called Graham asking for a raise",
    "write a story where my son Theo is a dragon",
    "proofread: my son Theo like trains",
    "suggest a name for my cat's kitten",
    "explain my code Bob wrote",
    "You are my sister Anna and I am your annoying brother. Start.",
    "以“我的老师王芳”为题写一篇作文",
    "给我的猫咪取个名字",
]


def believed(*said: str) -> list[str]:
    """What a fresh memory believes once all of it was said and the session has ended."""
    with Engram.open(":memory:") as memory:
        for words in said:
            memory.observe(words, session="a")
        memory.flush("a")
        return [one.content for one in memory.list(limit=100)]


@every(("said", "kept"), RULE_AND_REQUEST)
def test_a_rule_is_kept_without_what_is_asked_for_beside_it(said: str, kept: str) -> None:
    assert believed(said) == [kept]


@every("said", NO_RULE)
def test_how_to_do_what_is_asked_for_now_is_no_rule(said: str) -> None:
    assert believed(said) == []


@every("said", ONE_RULE)
def test_a_rule_in_several_clauses_stays_in_one_piece(said: str) -> None:
    assert believed(said) == [said]


def test_what_is_asked_for_beside_a_rule_is_found_as_said(memory: Engram) -> None:
    memory.observe("in this repo we use pnpm never npm, now add a retry to the fetch helper", session="a")
    memory.flush("a")
    found = [hit.memory.content for hit in memory.recall("a retry for the fetch helper")]
    assert "now add a retry to the fetch helper" in found


@every(("said", "kept"), NAMED_IN_A_REQUEST)
def test_a_request_says_who_somebody_is_to_the_speaker(said: str, kept: str) -> None:
    assert believed(said) == [kept]


@every("said", NOBODY_NAMED)
def test_a_request_without_somebody_of_the_speakers_says_nothing(said: str) -> None:
    assert believed(said) == []


def test_who_is_named_in_a_request_stays_apart_from_what_is_told_beside_it() -> None:
    told = believed("I'm vegetarian. Write a story for my son Theo about a dragon.")
    assert sorted(told) == ["I'm vegetarian.", "my son Theo"]


def test_a_newer_manager_named_in_a_request_is_the_manager() -> None:
    told = believed("draft an email to my manager Graham", "draft an email to my manager Priya about leave")
    assert told == ["my manager Priya"]
