from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engram.text.sentences import sentences
from tests.tables import every


@every(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("I live in the U.S. We moved in 2019.", ["I live in the U.S.", "We moved in 2019."]),
        ("Dr. Smith paid $3.50 at 5 p.m. today.", ["Dr. Smith paid $3.50 at 5 p.m. today."]),
        ("Use e.g. foo.py, i.e. a file.", ["Use e.g. foo.py, i.e. a file."]),
        ("J. R. Smith et al. wrote it.", ["J. R. Smith et al. wrote it."]),
        ("I said no. He left.", ["I said no.", "He left."]),
        ("Take No. 5. Thanks.", ["Take No. 5.", "Thanks."]),
        ("See https://a.b/c.html?x=1. Next.", ["See https://a.b/c.html?x=1.", "Next."]),
        ('She said "I like tea." Then left.', ['She said "I like tea."', "Then left."]),
        ("Wait... what?", ["Wait... what?"]),
        ("What?! No.", ["What?!", "No."]),
        ("- one\n- two, items\n1. first", ["one", "two, items", "first"]),
        ("Title\nBody here", ["Title", "Body here"]),
        ("Run:\n```py\nx = 1. \ny\n```\nDone.", ["Run:", "```py\nx = 1. \ny\n```", "Done."]),
        ("```\nnever closed. ok", ["```\nnever closed. ok"]),
        ("他说：“你好。”然后走了！是吗？", ["他说：“你好。”", "然后走了！", "是吗？"]),
        ("版本3.5发布了。下载foo.txt。", ["版本3.5发布了。", "下载foo.txt。"]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_text_is_cut_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=120))
def test_no_letter_is_lost_or_invented(text: str) -> None:
    found = "".join(sentences(text))

    assert [char for char in found if char.isalpha()] == [
        char for char in text if char.isalpha()
    ] or text.strip()[:1] in "[("  # a ticked box loses its tick
