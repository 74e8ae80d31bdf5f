"""Bad input gets a clear error with a stable code, and changes nothing."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from engram import Engram, EngramError, Scope
from tests.tables import every


@every(
    ("code", "content", "given"),
    [
        ("E2001", "", {}),
        ("E2001", " \n\t ", {}),
        ("E2002", "x" * 8_193, {}),
        ("E2002", "x" * 10_000_000, {}),
        ("E2003", "ok", {"tags": [f"t{i}" for i in range(21)]}),
        ("E2004", "ok", {"tags": [""]}),
        ("E2004", "ok", {"tags": ["x" * 33]}),
        ("E2005", "ok", {"kind": "mythical"}),
        ("E2005", "ok", {"layer": "attic"}),
        ("E2005", "ok", {"tier": 7}),
        ("E2005", "ok", {"category": "no slug!"}),
        ("E2005", "ok", {"colour": "red"}),
        ("E2006", "a\x00b", {}),
        ("E2006", "half \ud800 of it", {}),
        ("E2006", "ok", {"speaker": "\udfff"}),
        ("E2006", "ok", {"tags": ["a\x00"]}),
        ("E2006", "ok", {"details": {"note": "\ud800"}}),
        ("E2007", 42, {}),
        ("E2007", None, {}),
        ("E2007", b"bytes", {}),
        ("E2007", "ok", {"tags": "one,two"}),
        ("E2007", "ok", {"tags": [3]}),
        ("E2007", "ok", {"importance": "high"}),
        ("E2007", "ok", {"importance": True}),
        ("E2007", "ok", {"details": [1]}),
        ("E2007", "ok", {"details": {"when": object()}}),
        ("E2007", "ok", {"event_time": "next full moon"}),
        ("E2007", "ok", {"pinned": "yes"}),
        ("E2008", "ok", {"importance": 1.5}),
        ("E2008", "ok", {"confidence": -0.1}),
        ("E2008", "ok", {"confidence": float("nan")}),
        ("E2002", "ok", {"session": "s" * 200}),
        ("E2002", "ok", {"source": "s" * 65}),
        ("E2002", "ok", {"details": {"blob": "x" * 70_000}}),
        ("E4001", "ok", {"scope": Scope(namespace="elsewhere")}),
    ],
)
def test_a_bad_statement_is_refused_and_nothing_written(
    memory: Engram, code: str, content: Any, given: dict[str, Any]
) -> None:
    with pytest.raises(EngramError) as refused:
        memory.remember(content, **given)

    assert refused.value.code == code
    assert str(refused.value).startswith(code)
    assert memory.stats().memories == 0
    assert memory.events() == []


def test_the_longest_content_and_the_most_tags_are_taken(memory: Engram) -> None:
    stored = memory.remember("y" * 8_192, tags=[f"{i:02}" + "t" * 30 for i in range(20)]).memory

    assert memory.get(stored.id) == stored


@every(
    ("code", "given"),
    [
        ("E2007", {"query": 3}),
        ("E2006", {"query": "\x00"}),
        ("E2008", {"query": "x", "limit": 0}),
        ("E2008", {"query": "x", "limit": 501}),
        ("E2007", {"query": "x", "limit": "ten"}),
        ("E2008", {"query": "x", "budget": -1}),
        ("E2005", {"query": "x", "mode": "everything"}),
        ("E2005", {"query": "x", "rerank": "magic"}),
        ("E2005", {"query": "x", "profile": "mine"}),
        ("E2008", {"query": "x", "min_relevance": 2}),
    ],
)
def test_a_bad_question_is_refused(memory: Engram, code: str, given: dict[str, Any]) -> None:
    with pytest.raises(EngramError) as refused:
        memory.recall(**given)

    assert refused.value.code == code


def test_a_question_of_any_length_is_answered(memory: Engram) -> None:
    memory.remember("The router is behind the piano")

    assert len(memory.recall("where is the router? " + "really " * 20_000, min_relevance=0.0)) == 1


@every(
    ("verb", "bad"),
    product(
        ["forget", "restore", "erase", "pin", "confirm", "relations", "events"],
        ["", "zzz", "00000000-0000-0000-0000-000000000000", "%", "' OR 1=1"],
    ),
)
def test_an_id_that_fits_nothing_is_refused(memory: Engram, verb: str, bad: str) -> None:
    memory.remember("something")

    assert memory.get("00000000-0000-0000-0000-000000000000") is None
    with pytest.raises(EngramError) as refused:
        getattr(memory, verb)(bad)
    assert refused.value.code in {"E2011", "E2015"}
    assert memory.stats().by_status == {"active": 1}


def test_a_cursor_from_nowhere_is_refused(memory: Engram) -> None:
    with pytest.raises(EngramError) as refused:
        memory.list(cursor="made up")

    assert refused.value.code == "E2009"
