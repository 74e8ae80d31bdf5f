from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.shell import Shell
from tests.tables import every

if TYPE_CHECKING:
    import pytest


@every(
    "asked",
    [
        ("--person", "anna"),
        ("--technology", "postgres"),
        ("--path", "auth.py"),
        ("--topic", "databases"),
        ("--language", "en"),
        ("--code-language", "python"),
        ("--about-since", "2024-05-03", "--about-until", "2024-05-03"),
        ("--detail", "outcome=failure"),
        ("--not-tag", "quiet"),
    ],
)
def test_what_words_speak_of_is_asked_for_by_name(shell: Shell, asked: tuple[str, ...]) -> None:
    told = "Anna moved the PostgreSQL migration to src/auth.py on 2024-05-03"
    shell.remember(told, "--detail", "outcome=failure")
    shell.remember("猫在睡觉", "--tag", "quiet")

    assert [one["content"] for one in shell.json("list", *asked)["memories"]] == [told]
    hits = shell.json("recall", "migration", "--min-relevance", "0", *asked)["hits"]
    assert [hit["memory"]["content"] for hit in hits] == [told]


def test_what_was_believed_is_asked_for_by_time(shell: Shell) -> None:
    shell.remember("The shop opens at nine")

    assert shell.json("list", "--as-of", "2001-01-01")["memories"] == []
    assert len(shell.json("list", "--as-of", "2999-01-01")["memories"]) == 1


def test_a_card_does_not_tell_where_its_teller_was(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_TIMEZONE", "America/Los_Angeles")
    memory = shell.remember("I love the PostgreSQL migration of 2024-05-03")

    assert "about       2024-05-03 · en · databases · positive" in shell.says("show", memory)


def test_a_card_says_what_it_is_about(shell: Shell) -> None:
    memory = shell.remember("I love the PostgreSQL migration of 2024-05-03")

    assert "about       2024-05-03 · en · databases · positive" in shell.says("show", memory)
