"""The same verbs over the wire: what the library says, a memory behind a server says too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import engram
from engram.errors import AccessDenied, EmptyContent, NotFound, WrongType
from engram.model.capture import Receipt, Refusal
from engram.model.memory import Filters, Layer, Memory, Status
from engram.model.recall import Recall
from engram.model.scope import Scope
from engram.operations import OPERATIONS
from engram.remote import RemoteEngram
from tests.server.conftest import Running


@pytest.fixture
def memory(server: Running) -> Iterator[RemoteEngram]:
    with engram.connect(server.url) as connected:
        yield connected


def test_what_is_remembered_is_recalled_as_values_of_the_model(memory: RemoteEngram) -> None:
    receipt = memory.remember("My editor is Helix", tags=["tools"], layer="core")
    found = memory.recall(
        "which editor do I use?", limit=3, dry=True, filters=Filters(tags_any=frozenset({"tools"}))
    )

    assert isinstance(receipt, Receipt)
    assert isinstance(found, Recall)
    assert [hit.memory for hit in found] == [receipt.memory]
    assert receipt.memory.layer is Layer.CORE
    assert memory.get(receipt.memory.id) == receipt.memory
    assert memory.get("ffffffff") is None


def test_lists_pages_and_filters_come_through(memory: RemoteEngram) -> None:
    memory.remember_many(
        [{"content": "Anna lives in Bremen"}, {"content": "Ben has a dog", "tags": ["pets"]}]
    )

    assert [one.content for one in memory.list(filters=Filters(tags_any=frozenset({"pets"})), limit=5)] == [
        "Ben has a dog"
    ]
    assert memory.memories.count() == 2
    assert memory.stats().memories == 2
    assert [one.fact.object for one in memory.facts.query("Anna")] == ["bremen"]
    assert memory.entities.get("Anna").entity.name == "Anna"
    assert memory.entities.get("Nobody") is None
    assert [one["content"] for one in memory.export()] == ["Ben has a dog", "Anna lives in Bremen"]


def test_changes_come_back_as_they_are(memory: RemoteEngram) -> None:
    one = memory.remember("The sky is blue").memory

    assert memory.update(one.id, content="The sky is grey", because="it rains").version == 2
    assert memory.memories.pin(one.id).pinned
    assert isinstance(memory.forget(one.id), Memory)
    assert memory.restore(one.id).status is Status.ACTIVE
    assert memory.memories.set_status(one.id, "challenged").status is Status.CHALLENGED
    assert [event.verb for event in memory.history.events(one.id, limit=2)]
    assert memory.erase(one.id) is None
    assert memory.observe("I prefer tea.", "Noted.", session="monday").logged == 2


def test_errors_are_those_of_the_library(memory: RemoteEngram, server: Running) -> None:
    with pytest.raises(NotFound, match="There is no memory"):
        memory.forget("ffffffff")
    with pytest.raises(EmptyContent):
        memory.remember("  ")
    with pytest.raises(WrongType):
        memory.recall("tea", limit="many")
    with pytest.raises(TypeError):
        memory.forget()
    refused = memory.remember_many([{"content": "The door is red"}, {"content": ""}], partial=True)
    assert [type(one) for one in refused] == [Receipt, Refusal]
    agent = server.token("rex", scope=Scope(project="apollo", agent="rex"))["Authorization"].removeprefix(
        "Bearer "
    )
    with engram.connect(server.url, agent) as of_rex, pytest.raises(AccessDenied):
        of_rex.consolidate()
    with engram.connect("http://127.0.0.1:9") as nowhere, pytest.raises(ConnectionError):
        nowhere.stats()


def test_a_file_is_sent_and_taken_in(memory: RemoteEngram, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# House\n\nThe boiler was serviced in May 2025.", encoding="utf-8")

    assert memory.upload(notes, dry=True).dry


def test_every_operation_has_its_verb(memory: RemoteEngram) -> None:
    for name, one in OPERATIONS.items():
        if one.addresses:
            noun, _, verb = name.rpartition(".")
            assert callable(getattr(getattr(memory, noun) if noun else memory, verb)), name
    assert "recall" in dir(memory)
    with pytest.raises(AttributeError):
        memory.burn("everything")
