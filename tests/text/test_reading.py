"""One reading of a text: answers are shared, each text and each question has its own."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from engram.bench.speed import drafts
from engram.text import cues, lexicon
from engram.text.dates import dates
from engram.text.reading import SHORT, read_once
from tests.tables import every


def test_a_text_is_read_once_for_each_question_about_it() -> None:
    read: list[tuple[str, int]] = []

    @read_once
    def cut(text: str, length: int) -> str:
        read.append((text, length))
        return text[:length]

    assert [cut("tea", 1), cut("tea", 2), cut("tea", 1)] == ["t", "te", "t"]
    assert read == [("tea", 1), ("tea", 2)]


def test_a_long_text_is_read_once_too() -> None:
    read: list[int] = []

    @read_once
    def length(text: str) -> int:
        read.append(len(text))
        return len(text)

    long = "x" * (SHORT + 1)
    assert length(long) == length(long) == SHORT + 1
    assert read == [SHORT + 1]


def test_the_same_moment_on_other_clocks_is_another_question() -> None:
    late = datetime(2026, 3, 10, 23, tzinfo=UTC)
    east = late.astimezone(timezone(timedelta(hours=9)))

    assert late == east
    assert [dates("I met Anna yesterday", when)[0].first for when in (late, east)] == [
        datetime(2026, 3, 9, tzinfo=UTC),
        datetime(2026, 3, 10, tzinfo=east.tzinfo),
    ]


@pytest.mark.slow
@every("side", ["? ", "= "])
def test_slots_are_those_that_trying_every_pattern_finds(side: str) -> None:
    found = cues.slots_asked if side == "? " else cues.slots_told
    patterns = {
        f"slot{title.replace(' ', '')}": [re.compile(row[2:]) for row in rows if row.startswith(side)]
        for title, rows in lexicon.parts("slots").items()
    }
    texts = [draft.content for draft in drafts(3, 300)]
    texts += [
        line for name in ("signals_english", "signals_chinese", "intents") for line in lexicon.lines(name)
    ]
    for text in texts:
        lower = text.lower().replace("’", "'")
        assert found(text) == tuple(
            name for name, rows in patterns.items() if any(row.search(lower) for row in rows)
        )


@every(
    ("pattern", "pieces"),
    [
        (r"\bbirthday\b", ("\bbirthday",)),
        (r"(?:cat|dog)s? named", (" named",)),
        (r"colou?r", ("colo",)),
        (r"x+y{2,3}z", ("x",)),
        (r"[ab]c|\d", ()),
        (r"(?!never)ever", ("ever",)),
        (r"(?:red|\w+) door", (" door",)),
    ],
)
def test_the_pieces_a_pattern_cannot_do_without(pattern: str, pieces: tuple[str, ...]) -> None:
    assert lexicon.needed(pattern) == pieces
