from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.kinds import classify, kind_of
from tests.tables import every


@every(
    ("text", "expected"),
    [
        ("I prefer tabs over spaces", ("preference", "semantic", "fact")),
        ("Anna likes tea", ("preference", "semantic", "fact")),
        ("Always run the tests before pushing", ("instruction", "procedural", "procedure")),
        ("Never commit secrets", ("constraint", "semantic", "procedure")),
        ("My name is Sam", ("identity", "semantic", "fact")),
        ("We decided to use Rust", ("decision", "semantic", "fact")),
        ("I'll send the report by Friday", ("commitment", "episodic", "fact")),
        ("Anna is my sister", ("relationship", "semantic", "fact")),
        ("src/app.py parses the config", ("general", "codebase", "fact")),
        ("Yesterday we met at the zoo", ("moment", "episodic", "narrative")),
        ("We deployed the new version", ("moment", "episodic", "narrative")),
        ("Every Monday we have a stand-up", ("fact", "semantic", "fact")),
        ("To deploy: run make deploy, then check the logs", ("procedure", "procedural", "procedure")),
        ("What is your name?", ("question", "episodic", "fact")),
        ("Actually, my editor is Helix now", ("correction", "semantic", "fact")),
        ("I realized that caching helps", ("insight", "semantic", "fact")),
        ("Berlin is the capital of Germany", ("fact", "semantic", "fact")),
        ("hello there", ("general", "episodic", "narrative")),
        ("我喜欢喝茶", ("preference", "semantic", "fact")),
        ("必须使用HTTPS", ("constraint", "semantic", "procedure")),
        ("我叫李雷", ("identity", "semantic", "fact")),
        ("昨天我去了北京", ("moment", "episodic", "narrative")),
        ("我们决定用Rust", ("decision", "semantic", "fact")),
        ("首先编译，然后运行测试", ("procedure", "procedural", "procedure")),
        ("你叫什么名字呢？", ("question", "episodic", "fact")),
    ],
)
def test_words_tell_what_a_memory_is(text: str, expected: tuple[str, str, str]) -> None:
    assert classify(text) == expected


def test_what_was_given_stands() -> None:
    assert classify("I like tea", category="recipe", kind="codebase", type="narrative") == (
        "recipe",
        "codebase",
        "narrative",
    )
    assert classify("I like tea", category="procedure") == ("procedure", "procedural", "procedure")


def test_tags_are_evidence() -> None:
    assert classify("Tea at five", tags=["decision"])[0] == "decision"
    assert kind_of("Tea at five", tags=["runbook"]) == "procedural"
    assert kind_of("Tea at five", tags=["semantic"]) == "semantic"


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_text_is_something(text: str) -> None:
    _, kind, type_ = classify(text)

    assert kind in {"episodic", "semantic", "procedural", "codebase"}
    assert type_ in {"fact", "procedure", "narrative"}
