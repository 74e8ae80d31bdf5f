"""Answers to keyed writes: given again to the very same request, and readable to nobody else."""

from __future__ import annotations

from pathlib import Path

from engram import Engram
from engram.testing import FakeClock

ANSWER = (201, b'{"content": "heliotrope"}')


def test_an_answer_is_given_again_to_the_same_request(memory: Engram) -> None:
    answers = memory.answers
    assert answers.find("rex", "one", b"asked", hours=24) is None
    answers.keep("rex", "one", b"asked", ANSWER, hours=24, most=10)

    assert answers.find("rex", "one", b"asked", hours=24) == ANSWER
    assert answers.find("rex", "one", b"asked otherwise", hours=24) is False
    assert answers.find("ada", "one", b"asked", hours=24) is None


def test_the_file_tells_nothing_of_it(memory: Engram, file: Path) -> None:
    memory.answers.keep("rex", "one", b"heliotrope?", ANSWER, hours=24, most=10)
    memory.vacuum()

    assert b"heliotrope" not in file.read_bytes()


def test_it_is_forgotten_in_time(memory: Engram, clock: FakeClock) -> None:
    memory.answers.keep("rex", "one", b"asked", ANSWER, hours=24, most=10)
    clock.advance(hours=25)

    assert memory.answers.find("rex", "one", b"asked", hours=24) is None
