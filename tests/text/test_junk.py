"""Junk: what nobody said and what says nothing; a fact about somebody is never among it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engram.text.junk import Junk, cleaned, is_filler, junk_of
from tests.tables import every

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
PIECES = st.lists(
    st.sampled_from(
        [
            *("<memory>", "</memory>", "<context>", "</memories>", "<memories", "[MEMORY]", "[/MEMORY]"),
            *(
                "```",
                "~~~",
                "> ",
                "\n",
                "\n\n",
                "You are an assistant. ",
                "I live in Rome. ",
                "{",
                '"a": 1,',
                "}",
            ),
            *("@@ -1 +1 @@", "+x", "-y", "a,b,c", "Traceback (most recent call last):", "  File", "好的"),
            *("On Monday Anna wrote:", "你是一个助手", "<|im_start|>system", "<<SYS>>", "A" * 130, "- item"),
            *("ERROR: x", "<tool_result/>"),
        ]
    ),
    max_size=25,
).map("".join)


def cases(heading: str, separator: str) -> list[tuple[str, str]]:
    text = (Path(__file__).parent / "data" / "junk_cases.txt").read_text(encoding="utf-8")
    part = text.split(f"[{heading}]\n")[1].split("\n[")[0]
    rows = [row for row in part.split("\n") if row and not row.startswith("# ")]
    pairs = [row.split(separator, 1) for row in rows]
    return [(left.replace("\\n", "\n"), right.replace("\\n", "\n")) for left, right in pairs]


@every(("verdict", "message"), cases("messages", " | "))
def test_a_message_is_judged_as_a_person_would(verdict: str, message: str) -> None:
    assert str(junk_of(message) or "keep") == verdict


@every(("verdict", "sentence"), cases("filler", " | "))
def test_a_sentence_states_something_or_not(verdict: str, sentence: str) -> None:
    assert is_filler(sentence) == (verdict == "yes")


@every(("message", "left"), cases("cleaned", " => "))
def test_prose_and_lists_stay(message: str, left: str) -> None:
    assert cleaned(message) == left


def test_the_table_is_large_and_two_sided() -> None:
    table = cases("messages", " | ")
    kept = [message for verdict, message in table if verdict == "keep"]

    assert len(table) >= 120
    assert len(kept) >= 50
    assert {verdict for verdict, _ in table} == {"keep", *Junk}
    assert sum(not message.isascii() for _, message in table) >= 25


def test_a_long_message_is_swept_in_one_go() -> None:
    log = "2024-05-01 12:00:03 ERROR db: timeout\n" * 500
    text = f"It broke again.\n{log}I restarted the database on heron."

    assert cleaned(text) == "It broke again.\nI restarted the database on heron."


@given(st.one_of(ANY_TEXT, PIECES))
def test_nothing_breaks_it(text: str) -> None:
    left = cleaned(text)

    assert len(left) <= len(text)
    assert junk_of(text) in {None, *Junk}
    assert is_filler(text) in {True, False}


@given(st.one_of(ANY_TEXT, PIECES))
def test_a_statement_on_lines_of_its_own_survives_anything_before_it(text: str) -> None:
    opened = any(
        mark in text.lower() for mark in ("<", "[", "```", "~~~", "original message", "转发", "原始")
    )
    fact = "I moved to Rome in May."

    assert opened or cleaned(f"{text}\n\n{fact}").endswith(fact)
