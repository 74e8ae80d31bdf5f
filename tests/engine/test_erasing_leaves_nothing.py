"""Erasing overwrites what it frees: no byte of the words is left, and the file is not rewritten for it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engram import Engram
from engram.bench.speed import drafts

FILLERS = 250
ERASED = 40


def _marked(number: int) -> str:
    return f"zq{number:04d}xv"


def _left_in(folder: Path, words: list[str]) -> set[str]:
    held = b"".join(file.read_bytes().lower() for file in folder.iterdir() if file.is_file())
    return {word for word in words if word.encode() in held}


@pytest.mark.slow
@pytest.mark.files
def test_no_word_of_what_was_erased_is_left_in_any_file(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = [_marked(number) for number in range(ERASED)]
    path = tmp_path / "memory.engram"
    with Engram.open(path) as memory:
        memory.remember_many(list(drafts(1, FILLERS)))
        kept = [
            memory.remember(
                f"The {word} project met Mrs {word.title()} about {word} " * chance.randint(1, 12),
                tags=[word],
                session=f"s{chance.randint(1, 5)}",
            ).memory.id
            for word in words
        ]
        memory.remember_many(list(drafts(2, FILLERS)))
        assert _left_in(tmp_path, words) == set(words)
        for one in chance.sample(kept, len(kept)):
            memory.erase(one, because="asked for")

        assert _left_in(tmp_path, words) == set()
        assert not memory.recall(f"what about {words[0]}?", limit=3, min_relevance=0.9).hits
