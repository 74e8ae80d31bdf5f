from __future__ import annotations

from engram.text.bm25 import phrase_share


def test_a_phrase_respects_term_borders_and_skips_lone_characters() -> None:
    assert phrase_share([], ["a"]) == 0.0
    assert phrase_share([["red", "app"]], ["red", "appl"]) == 0.0
    assert phrase_share([["住在", "在上"]], ["住在", "_u住", "在上"]) == 1.0
