from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engram.text.bm25 import idf, parts, phrase_share, score

TERMS = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.lists(TERMS, max_size=8), max_size=5))
def test_lists_and_counts_score_alike(docs: list[list[str]]) -> None:
    query = {"a": 1.0, "b": 2.5}

    assert score(query, docs, avg_len=3) == score(query, [Counter(doc) for doc in docs], avg_len=3)


@given(st.lists(st.lists(TERMS, max_size=8), max_size=5))
def test_the_parts_make_the_score(docs: list[list[str]]) -> None:
    query = {"a": 1.0, "b": 2.5}

    found = parts(query, docs, avg_len=3)
    assert [sum(part.values()) for part in found] == score(query, docs, avg_len=3)
    assert [set(part) for part in found] == [set(doc) & set(query) for doc in docs]


def test_rare_terms_more_hits_and_short_documents_score_higher() -> None:
    query = {"rare": idf(1, 100), "common": idf(60, 100)}
    rare, common, twice, long = score(
        query, [["rare", "x"], ["common", "x"], ["rare", "rare"], ["rare", *"xxxxxxxx"]], avg_len=2
    )

    assert rare > common
    assert twice > rare > long


def test_nothing_shared_scores_nothing() -> None:
    assert score({"a": 1.0}, [["b"], []], avg_len=0) == [0.0, 0.0]
    assert phrase_share([], ["a"]) == 0.0


def test_a_phrase_respects_term_borders_and_skips_lone_characters() -> None:
    assert phrase_share([["red", "app"]], ["red", "appl"]) == 0.0
    assert phrase_share([["住在", "在上"]], ["住在", "_u住", "在上"]) == 1.0
