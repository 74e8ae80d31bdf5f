"""Exports are written by strangers: whatever their JSON holds, a reader answers with items and reports."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.capture.sources import chats, homes
from engram.capture.sources.chats import turn
from engram.capture.sources.take import statements
from engram.errors import InvalidInput
from engram.model.capture import Found, Item, ItemKind, ItemReport
from engram.model.scope import Scope
from engram.testing import FakeClock

KEYS = (
    "mapping", "current_node", "message", "parent", "author", "role", "content", "parts", "content_type",
    "id", "create_time", "metadata", "chat_messages", "sender", "text", "uuid", "created_at", "messages",
    "payload", "type", "session_id", "name", "memory", "results", "relations", "source", "relationship",
    "target", "entities", "entityType", "observations", "from", "to", "relationType", "categories", "status",
    "tags", "details", "scope", "event_time", "kind", "importance",
)  # fmt: skip
WORDS = (
    "user", "assistant", "human", "text", "a", "entity", "relation", "active", "0001-01-01T00:00:00+05:00",
    "", "\ud800",
)  # fmt: skip
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10**15),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=5),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from((*KEYS, "a", "b")), inner, max_size=6)
    ),
    max_leaves=20,
)
records = st.lists(st.dictionaries(st.sampled_from(KEYS), values, max_size=8), max_size=3)


def check(found: list[Found]) -> None:
    """Each item can go on its way, or is refused in words."""
    now = FakeClock().now()
    for one in found:
        assert isinstance(one.text, str)
        if isinstance(one, ItemReport):
            continue
        assert isinstance(one, Item)
        assert one.digest == one.digest
        if one.kind is ItemKind.TURN:
            turn(one, Scope(), now)
            continue
        with suppress(InvalidInput):
            statements(one)


@pytest.mark.slow
@given(records)
def test_chat_exports(data: Any) -> None:
    check(list(chats.read_export("chatgpt", data)))
    check(list(chats.read_export("claude", data)))
    check(list(chats.read_messages(data, "log")))
    check(list(chats.read_lines("\n".join(json.dumps(one) for one in data), "log")))


@pytest.mark.slow
@given(records)
def test_memories_of_other_tools(data: Any) -> None:
    for read in homes.OF_JSON.values():
        assert all(isinstance(one, dict | ItemReport) for one in read(data))


@given(values)
def test_what_fits_is_read(data: Any) -> None:
    for name in chats.EXPORTS:
        if chats.is_export(name, data):
            check(list(chats.read_export(name, data)))
    if chats.are_messages(data):
        check(list(chats.read_messages(data, "log")))
