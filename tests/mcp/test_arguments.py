"""What agents send for what they mean."""

from __future__ import annotations

from typing import Any

import pytest

from engram.errors import InvalidInput, UnknownValue, WrongType
from engram.server.mcp.dispatch import FULL
from engram.server.mcp.tool import ALIASES, understood

TAKES = {
    "query": {"type": "string"},
    "limit": {"type": "integer"},
    "share": {"type": "number"},
    "sure": {"type": "boolean"},
    "tags": {"type": "array"},
}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"query": "tea", "q": "coffee"}, {"query": "tea"}),
        ({"text": "tea", "top_k": "3"}, {"query": "tea", "limit": 3}),
        ({"limit": 5.0, "share": "0.5"}, {"limit": 5, "share": 0.5}),
        ({"sure": "Yes"}, {"sure": True}),
        ({"sure": 0}, {"sure": False}),
        ({"tags": "a, b"}, {"tags": ["a", "b"]}),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"tags": {"role": "user"}}, {"tags": [{"role": "user"}]}),
        ({"query": 7}, {"query": "7"}),
        ({"query": None, "limit": "", "tags": [], "unknown": None}, {}),
    ],
)
def test_what_is_meant_is_understood(sent: dict[str, Any], meant: dict[str, Any]) -> None:
    assert understood(TAKES, (), sent) == meant


@pytest.mark.parametrize(
    "sent",
    [
        {"limit": "many"},
        {"limit": 1.5},
        {"limit": True},
        {"share": "nan"},
        {"share": "inf"},
        {"sure": "perhaps"},
        {"tags": 3},
        {"query": {"a": 1}},
    ],
)
def test_what_cannot_be_meant_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(WrongType):
        understood(TAKES, (), sent)


@pytest.mark.parametrize("sent", [{"mode": "facts_only"}, {"query": "tea", "namespace": "default"}])
def test_what_a_tool_does_not_take_is_refused_by_name(sent: dict[str, Any]) -> None:
    with pytest.raises(UnknownValue, match=f"'{[*sent][-1]}' is no argument of this tool"):
        understood(TAKES, (), sent)


def test_what_is_needed_and_not_there_is_named() -> None:
    with pytest.raises(InvalidInput, match="'query' is missing"):
        understood(TAKES, ("query",), {"limit": 1})


def test_no_alias_takes_the_word_of_another_argument() -> None:
    for tool in FULL.values():
        words = [word for name in tool.takes for word in ALIASES.get(name, ()) if word not in tool.takes]
        assert len(words) == len({*words}), f"{tool.name}: one word would fill two arguments"
