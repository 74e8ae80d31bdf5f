"""`engram knowledge` at a shell: before and after a consolidation."""

from __future__ import annotations

import pytest

from tests.cli.shell import Shell
from tests.tables import every

PARTS = ("profile", "identity", "map", "tree", "topics", "cards", "boxes", "traces", "patterns", "guidelines")


@pytest.fixture
def learned(shell: Shell) -> Shell:
    for line in (
        "I prefer dark \x1b[31m mode in every editor",
        "My name is Sam and I am a nurse",
        "Anna Keller leads the Apollo project",
        "Anna Keller lives in Bremen",
        "Anna Keller asked Bob for the Apollo budget",
    ):
        shell.remember(line)
    shell.says("consolidate")
    return shell


@every("part", PARTS)
def test_before_the_first_run_there_is_nothing_and_it_says_what_to_do(shell: Shell, part: str) -> None:
    assert "engram consolidate" in shell.says("knowledge", part)
    assert isinstance(shell.json("knowledge", part), dict)


def test_every_part_is_told_to_people_and_programs(learned: Shell) -> None:
    told = {part: learned.says("knowledge", part) for part in PARTS}
    assert "preferences" in told["profile"]
    assert "My name is Sam" in told["identity"]
    assert "coverage" in told["map"]
    assert "domains" in told["tree"]
    assert "clusters" in told["tree"]
    assert "Anna Keller" in told["cards"]
    assert "\x1b" not in "".join(told.values())
    assert learned.json("knowledge")["traits"]
    assert learned.json("knowledge", "map")["domains"][0]["memories"] > 0


def test_one_card_is_shown_by_any_name(learned: Shell) -> None:
    assert "anna keller live in bremen" in learned.says("knowledge", "card", "Anna Keller")
    assert learned.json("knowledge", "card", "anna keller")["card"]["memories"] == 3
    assert learned("knowledge", "card", "Nobody").exit_code != 0


def test_a_question_about_the_unknown_is_told_by_the_exit_code(learned: Shell) -> None:
    assert "no gap is known" in learned.says("knowledge", "knowing", "what", "is", "the", "weather")
    assert learned.json("knowledge", "knowing", "weather") == {"knowing": None}
