"""Cutting words into known pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.embed import static
from engram.embed.static import WordPieces
from tests.tables import every

if TYPE_CHECKING:
    import pytest

VOCABULARY = ["walk", "##ing", "##s", "cafe", "a", "b", "##b", "我", "喜欢", "喜", "茶", "2024", ""]


@every(
    ("text", "pieces"),
    [
        ("Walking", ["walk", "##ing"]),
        ("walks, walk!", ["walk", "##s", "walk"]),
        ("Café", ["cafe"]),
        ("CAFÉ", ["cafe"]),
        ("ab", ["a", "##b"]),
        ("walkzz", []),
        ("我喜欢茶", ["我", "喜欢", "茶"]),
        ("我喜X茶", ["我", "喜", "茶"]),
        ("我鿿茶", ["我", "茶"]),
        ("a_b", ["a", "b"]),
        ("in 2024", ["2024"]),
        ("", []),
        ("##ing", []),
        ("a" * 101, []),
    ],
)
def test_a_text_is_cut_into_the_longest_known_pieces(text: str, pieces: list[str]) -> None:
    assert [VOCABULARY[row] for row in WordPieces(VOCABULARY).rows(text)] == pieces


def test_the_cache_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "CACHED_WORDS", 10)
    cutter = WordPieces(VOCABULARY)
    for number in range(100):
        cutter.rows(f"walk word{number}")

    assert cutter.rows("walking") == [0, 1]
    assert len(cutter._cut) <= 10  # noqa: SLF001 - the bound cannot be seen from outside
