"""What a caller has already does not come again, through every door."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from engram import Engram
from engram.cli.app import app
from engram.errors import OutOfRange
from engram.operations import OPERATIONS
from engram.server.mcp.tools import PINNED, ToolDispatcher
from engram.server.openapi import document
from engram.server.route import ROUTES


def test_what_is_known_does_not_come_again(memory: Engram) -> None:
    ids = [
        memory.remember(f"The {what} of the boat is red", apart=True).memory.id for what in ("hull", "sail")
    ]
    first = memory.recall("what is red on the boat?", limit=1)
    other = memory.recall("what is red on the boat?", limit=1, known=[first.hits[0].memory.id], explain=True)

    assert {first.hits[0].memory.id, other.hits[0].memory.id} == {*ids}
    assert "known to the caller already" in {one.why for one in other.dropped}


def test_one_line_in_the_model_is_all_the_doors_need(memory: Engram) -> None:
    kept = memory.remember("The hull of the boat is red").memory.id
    asked = {"query": "what is red?", "known": [kept]}
    told = document(ROUTES)["paths"]["/v1/recall"]
    helped = CliRunner().invoke(app, ["recall", "--help"], standalone_mode=False).output

    assert "known" in {one.name for one in OPERATIONS["recall"].parameters}
    assert "known" in told["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert "known" in {one["name"] for one in told["get"]["parameters"]}
    assert ToolDispatcher(PINNED).call(memory, "memory_search", asked).fields == {"memories": []}
    assert "--known" in helped


def test_one_conversation_takes_no_more_places_than_it_may(memory: Engram) -> None:
    for session, what in (("monday", "hull"), ("monday", "sail"), ("monday", "mast"), ("friday", "deck")):
        memory.remember(f"The {what} of the boat is red", apart=True, session=session)
    memory.remember("The flag of the boat is red", apart=True)
    asked = "what is red on the boat?"

    assert len(memory.recall(asked, limit=10)) == 5
    spread = memory.recall(asked, limit=10, per_session=1)
    assert sorted(hit.memory.session for hit in spread) == ["", "friday", "monday"]
    with pytest.raises(OutOfRange):
        memory.recall(asked, per_session=0)
    assert "--per-session" in CliRunner().invoke(app, ["recall", "--help"], standalone_mode=False).output


def test_a_question_after_several_things_is_answered_from_several_conversations(memory: Engram) -> None:
    told = {
        "friday": ("Dracula",),
        "sunday": ("Middlemarch",),
        "monday": ("Emma", "Evelina", "Sanditon", "Ulysses"),
    }
    for session, books in told.items():
        for book in books:
            memory.remember(f"I have read the book {book}", apart=True, session=session)

    def of_another(asked: str) -> bool:
        found = memory.recall(asked, dry=True, explain=True)
        return any(one.name == "of another conversation" for hit in found.hits for one in hit.evidence)

    found = memory.recall("Which books have I read?", dry=True)
    assert {hit.memory.session for hit in found.hits[:4]} == {"monday", "friday", "sunday"}
    assert of_another("Which books have I read?")
    assert not of_another("Which book have I read?")
