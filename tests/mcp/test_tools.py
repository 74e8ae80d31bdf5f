"""The tools as plain data and as calls, without any wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest

from engram import Access, Engram, Role
from engram.errors import InvalidInput
from engram.operations.aliases import TOOLS_BEFORE
from engram.server.limits import Keys
from engram.server.mcp.tools import FULL, PINNED, ToolAnswer, ToolDispatcher, find_tool, once
from engram.testing import FakeClock, HashEmbedder
from engram.text.tokens import count
from tests.mcp import story
from tests.tables import every

TOKENS_FOR_THE_PINNED = 3_000


@pytest.fixture
def door() -> ToolDispatcher:
    return ToolDispatcher(FULL)


def fields(answer: ToolAnswer) -> dict[str, Any]:
    assert answer.fields is not None, answer.error
    return dict(answer.fields)


def test_every_tool_runs_and_answers_as_its_schema_says(memory: Engram, door: ToolDispatcher) -> None:
    async def ask(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        found = fields(door.call(memory, name, given))
        jsonschema.validate(found, find_tool(name, FULL).described["outputSchema"])
        json.dumps(found)
        return found

    assert {*asyncio.run(story.tell(ask))} == {*FULL, *TOOLS_BEFORE} - story.OWNERS - story.ASKS_A_MODEL


def test_every_tool_of_an_owner_runs_and_answers_as_its_schema_says(
    clock: FakeClock, door: ToolDispatcher
) -> None:
    with Engram.open(":memory:", clock=clock, embedder=HashEmbedder()) as memory:

        async def ask(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
            found = fields(door.call(memory, name, given))
            jsonschema.validate(found, find_tool(name, FULL).described["outputSchema"])
            json.dumps(found)
            return found

        assert {*asyncio.run(story.tell_owner(ask))} == story.OWNERS


def test_the_pinned_set_is_small_and_cheap_to_know() -> None:
    listed = json.dumps([tool.described for tool in PINNED.values()], separators=(",", ":"))

    assert len(PINNED) <= 12
    assert count(listed) <= TOKENS_FOR_THE_PINNED


@every("name", FULL)
def test_every_tool_says_what_it_does_and_whether_it_harms(name: str) -> None:
    told = FULL[name].described

    assert {*told["annotations"]} == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert all(isinstance(hint, bool) for hint in told["annotations"].values())
    assert not (told["annotations"]["readOnlyHint"] and told["annotations"]["destructiveHint"])
    assert told["title"]
    assert len(told["description"]) < 200
    for schema in (told["inputSchema"], told["outputSchema"]):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert {*schema.get("required", [])} <= {*schema["properties"]}


def test_an_error_says_its_code_and_what_to_do(memory: Engram, door: ToolDispatcher) -> None:
    for name, given, told in (
        ("memory_get", {"id": "ffffffff"}, "E2011: There is no memory"),
        ("memory_get", {}, "E2000: The argument 'id' is missing"),
        ("memory_search", {"query": "tea", "limit": "many"}, "E2007: The limit must be a whole number"),
        ("memory_search", {"query": "tea", "limit": 0}, "E2008"),
        ("memory_store", {"content": "  "}, "E2001"),
        ("memory_status", {"id": "ffffffff", "status": "gone"}, "E2005"),
        ("memory_update", {"id": "ffffffff"}, "E2000: Nothing to change"),
        ("memory_burn", {}, "E2005: 'memory_burn' is no tool"),
    ):
        answer = door.call(memory, name, given)
        assert answer.fields is None
        assert answer.text.startswith(told), answer.text


def test_a_tool_of_the_full_set_is_told_where_it_is() -> None:
    for name in ("memory_facts", "memory_fact_add"):
        with pytest.raises(InvalidInput, match="full set"):
            find_tool(name, PINNED)


def test_every_argument_of_the_pinned_tools_is_explained() -> None:
    for name, tool in PINNED.items():
        for argument, schema in tool.described["inputSchema"]["properties"].items():
            assert schema.get("description"), f"{name}: {argument}"
    assert "session" not in str(PINNED["fetch"].described["inputSchema"]).lower()


def keyed(
    memory: Engram, door: ToolDispatcher, *calls: tuple[str, Mapping[str, Any]], keys: Keys | None = None
) -> list[ToolAnswer]:
    """Calls of memory_store one after the other, each by somebody, with one store of answers."""
    kept = keys or Keys(memory=lambda: memory)

    async def run() -> list[ToolAnswer]:
        return [await once(kept, who, "memory_store", given, work(given)) for who, given in calls]

    def work(given: Mapping[str, Any]) -> Callable[[], Awaitable[ToolAnswer]]:
        async def call() -> ToolAnswer:
            return door.call(memory, "memory_store", given)

        return call

    return anyio.run(run)


def test_a_request_id_is_carried_out_once(memory: Engram, door: ToolDispatcher) -> None:
    given = {"content": "The deploy key is rotated on Mondays", "request_id": "one"}

    first, again, by_another = keyed(memory, door, ("rex", given), ("rex", given), ("max", given))
    (after_a_restart,) = keyed(memory, door, ("rex", given))

    assert again == first == after_a_restart
    assert (fields(first)["outcome"], fields(by_another)["outcome"]) == ("stored", "reinforced")
    stored = memory.get(fields(first)["id"])
    assert stored is not None
    assert stored.usage.repeated == 1


def test_a_request_id_that_comes_with_other_words_is_refused(memory: Engram, door: ToolDispatcher) -> None:
    first, other, failed, mended = keyed(
        memory,
        door,
        ("rex", {"content": "The sky is blue", "request_id": "r1"}),
        ("rex", {"content": "The door is red", "request_id": "r1"}),
        ("rex", {"content": "", "request_id": "r2"}),
        ("rex", {"content": "The door is red", "request_id": "r2"}),
    )

    assert fields(first)["outcome"] == "stored"
    assert other.text.startswith("E6008")
    assert failed.fields is None
    assert fields(mended)["outcome"] == "stored"


def test_callers_with_request_ids_do_not_wait_for_each_other(memory: Engram) -> None:
    runs: list[str] = []

    async def run() -> None:
        keys, begun, go_on = Keys(memory=lambda: memory), anyio.Event(), anyio.Event()
        answers: dict[str, ToolAnswer] = {}

        async def call(name: str, words: str, who: str, request_id: str) -> None:
            async def work() -> ToolAnswer:
                runs.append(words)
                if words == "slow":
                    begun.set()
                    await go_on.wait()
                return ToolAnswer({"said": words})

            given = {"words": words, "request_id": request_id}
            answers[name] = await once(keys, who, "say", given, work)

        async with anyio.create_task_group() as group:
            group.start_soon(call, "slow", "slow", "alice", "r1")
            await begun.wait()
            group.start_soon(call, "twin", "slow", "alice", "r1")
            await call("other", "quick", "bob", "r1")
            await call("next", "quick", "alice", "r2")
            assert "slow" not in answers
            go_on.set()
        assert fields(answers["other"]) == fields(answers["next"]) == {"said": "quick"}
        assert answers["slow"] == answers["twin"]

    anyio.run(run)
    assert runs == ["slow", "quick", "quick"]


def test_an_agent_is_told_scores_in_words_and_the_owner_in_figures(
    tmp_path: Path, door: ToolDispatcher
) -> None:
    with Engram.open(tmp_path / "memory.db", clock=FakeClock(), embedder=HashEmbedder()) as owner:
        owner.remember("My editor is Helix")
        agent = owner.seen_by(Access(role=Role.AGENT), "rex")
        told = [
            fields(door.call(asked, "memory_search", {"query": "my editor is"}))["memories"][0]["score"]
            for asked in (owner, agent)
        ]

    assert isinstance(told[0], float)
    assert told[1] in {"high", "medium", "low", "minimal"}


def test_who_asks_is_never_taken_from_the_arguments(memory: Engram, door: ToolDispatcher) -> None:
    said = {"content": "Trust me"}
    for forged in ({"scope": {"namespace": "root"}}, {"source": "human"}, {"user_id": "boss"}):
        refused = door.call(memory, "memory_store", said | forged)
        assert refused.text.startswith("E2005:"), refused
        assert f"{next(iter(forged))!r} is no argument of this tool" in refused.text

    stored = memory.get(fields(door.call(memory, "memory_store", said))["id"])

    assert stored is not None
    assert (stored.source, stored.scope.namespace, stored.scope.user) == ("agent", "default", "")
    assert memory.stats().memories == 1
