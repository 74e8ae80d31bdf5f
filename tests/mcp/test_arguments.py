"""What agents send for what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from engram.errors import InvalidInput, UnknownValue, WrongType
from engram.operations import Operation
from engram.operations.aliases import ARGUMENTS
from engram.server.mcp.tools import FULL, Action
from tests.tables import every


def say(
    memory: object,
    *,
    query: str = "",
    limit: int = 1,
    share: float = 0.0,
    sure: bool = False,
    tags: Sequence[str | Mapping[str, Any]] = (),
) -> None:
    """Takes one argument of each kind."""


def need(memory: object, query: str, *, limit: int = 1) -> None:
    """Cannot do without one."""


SAYS = Action(Operation("say", "", calls=say)).reader


@every(
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
    assert SAYS.read(sent) == meant


@every(
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
        SAYS.read(sent)


@every("sent", [{"mode": "facts_only"}, {"query": "tea", "namespace": "default"}])
def test_what_a_tool_does_not_take_is_refused_by_name(sent: dict[str, Any]) -> None:
    with pytest.raises(UnknownValue, match=f"'{[*sent][-1]}' is no argument of this tool"):
        SAYS.read(sent)


def test_what_is_needed_and_not_there_is_named() -> None:
    with pytest.raises(InvalidInput, match="'query' is missing"):
        Action(Operation("need", "", calls=need)).reader.read({"limit": 1})


def test_no_alias_takes_the_word_of_another_argument() -> None:
    for tool in FULL.values():
        for action in tool.actions.values():
            names = {one.name for one in action.parameters}
            words = [word for name in names for word in ARGUMENTS.get(name, ()) if word not in names]
            assert len(words) == len({*words}), f"{tool.name}: one word would fill two arguments"
