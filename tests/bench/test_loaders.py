from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.bench.retrieval import by_session, load, pieces
from engram.errors import InvalidInput
from tests.bench.made_up import LOCOMO, LONGMEMEVAL, MEMDAILY, write
from tests.tables import every


def test_a_conversation_becomes_turns_in_order_with_speaker_session_and_time(tmp_path: Path) -> None:
    (haystack,) = load("locomo", write(tmp_path / "data.json", LOCOMO))

    assert [document.name for document in haystack.documents] == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2"]
    second = haystack.documents[1].draft
    assert (second.speaker, second.session, second.source) == ("Tobias", "session_1", "session")
    assert second.event_time == datetime(2023, 5, 8, 13, 57, tzinfo=UTC)
    assert second.details == {"dia_id": "D1:2"}


def test_a_shared_picture_is_told_in_words(tmp_path: Path) -> None:
    (haystack,) = load("locomo", write(tmp_path / "data.json", LOCOMO))

    content = haystack.documents[-1].draft.content
    assert content == "Look what I baked! [shares a photo: a rhubarb cake on a blue plate]"


def test_messy_evidence_is_read_and_questions_without_any_are_counted(tmp_path: Path) -> None:
    (haystack,) = load("locomo", write(tmp_path / "data.json", LOCOMO))

    assert [sorted(ask.wanted) for ask in haystack.asks] == [["D1:1"], ["D2:2"], ["D1:2", "D2:1"], ["D1:3"]]
    assert [ask.answerable for ask in haystack.asks] == [True, True, True, False]
    assert haystack.left_out == 1


def test_chats_become_turns_in_the_order_of_their_dates(tmp_path: Path) -> None:
    (haystack,) = load("longmemeval", write(tmp_path / "data.json.gz", LONGMEMEVAL))

    assert [document.name for document in haystack.documents] == ["keys", "keys", "trains", "soup", "soup"]
    assert haystack.documents[0].draft.speaker == "user"
    assert haystack.documents[1].draft.event_time == datetime(2023, 5, 18, 12, 1, tzinfo=UTC)
    assert (haystack.asked_at.month, haystack.left_out) == (6, 1)


def test_only_the_turns_of_the_user_on_request(tmp_path: Path) -> None:
    (haystack,) = load("longmemeval", write(tmp_path / "data.json", LONGMEMEVAL), turns="user")

    assert {document.draft.speaker for document in haystack.documents} == {"user"}


def test_a_session_stands_where_its_best_turn_stands() -> None:
    scores = (("a", 0.9), ("b", 0.8), ("a", 0.1), ("c", 0.8), ("c", 0.2))

    ranked = by_session([(frozenset({name}), score) for name, score in scores])

    assert [sorted(entry) for entry in ranked] == [["a"], ["c"], ["b"]]


@given(st.text(alphabet="ab. \n", max_size=200), st.integers(1, 50))
def test_pieces_fit_and_lose_nothing_but_white_space(text: str, limit: int) -> None:
    parts = pieces(text, limit)

    assert all(0 < len(part) <= limit for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_messages_carry_their_time_and_place(tmp_path: Path) -> None:
    (haystack,) = load("memdaily", write(tmp_path / "data.json.gz", MEMDAILY))

    first = haystack.documents[0].draft
    assert first.event_time == datetime(2024, 3, 1, 8, 30, tzinfo=UTC)
    assert first.details == {"place": "江苏南京"}
    assert haystack.asks[0].wanted == {"1"}
    assert haystack.asks[0].group == "01_simple_events"


@every(
    ("name", "content"),
    product(["locomo", "longmemeval", "memdaily"], ["", "{", "3", '[{"a": 1}]', '{"a": [{"b": 2}]}']),
)
def test_a_file_of_another_kind_is_refused_by_its_name(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / "strange.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"strange\.json"):
        load(name, path)
