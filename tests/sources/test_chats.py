from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from engram.capture.sources import chats
from engram.model.capture import Fate, Found, Item, ItemReport, Part


def node(name: str, parent: str | None, role: str, text: Any, **more: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    message = {"id": f"m-{name}", "author": {"role": role}, "content": content, **more}
    return {name: {"id": name, "message": message, "parent": parent, "children": []}}


def conversation(**more: Any) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["a"]}}
    hidden = {"is_visually_hidden_from_conversation": True}
    picture = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "See?"]}
    for one in (
        node("a", "root", "system", "You are helpful", metadata=hidden),
        node("b", "a", "user", "I moved to Rome", create_time=1714550401.5),
        node("c", "b", "assistant", "an abandoned answer"),
        node("d", "b", "assistant", {"content_type": "thoughts", "thoughts": []}),
        node("e", "d", "assistant", {"content_type": "code", "text": "search()"}, recipient="web"),
        node("f", "e", "tool", "results"),
        node("g", "f", "assistant", "How nice", create_time=None),
        node("h", "g", "user", picture, create_time=1714550500),
    ):
        mapping |= one
    return {"id": "c1", "title": "A  move", "create_time": 1714550400, "mapping": mapping, **more}


def turns(found: Any) -> list[tuple[str, str, str]]:
    return [(one.session, str(one.part), one.text) for one in found if isinstance(one, Item)]


def test_chatgpt_gives_the_branch_that_was_the_conversation() -> None:
    found = list(chats.read_export("chatgpt", [conversation(current_node="h")]))

    assert turns(found) == [
        ("chatgpt:c1", "user", "I moved to Rome"),
        ("chatgpt:c1", "assistant", "How nice"),
        ("chatgpt:c1", "user", "See?"),
    ]
    first, second, _ = found
    assert isinstance(first, Item)
    assert isinstance(second, Item)
    assert first.origin == "chatgpt:c1/m-b"
    assert first.details == {"title": "A move", "message": "m-b"}
    assert first.at == second.at == datetime(2024, 5, 1, 8, 0, 1, 500000, UTC)


def test_a_chatgpt_tree_without_an_end_is_read_by_time() -> None:
    assert (
        len(turns(chats.read_export("chatgpt", [conversation()]))) == 4
    )  # the abandoned answer cannot be told apart


def test_a_chatgpt_tree_that_goes_round_in_a_circle_ends() -> None:
    broken = conversation(current_node="h")
    broken["mapping"]["b"]["parent"] = "h"

    assert len(turns(chats.read_export("chatgpt", [broken]))) == 3


def test_what_is_no_conversation_is_reported_and_the_others_are_read() -> None:
    found: list[Found] = list(
        chats.read_export("chatgpt", [conversation(current_node="b"), "nonsense", {"mapping": 7}])
    )

    assert [isinstance(one, ItemReport) for one in found] == [False, True, True]
    assert isinstance(found[1], ItemReport)
    assert (found[1].outcome, found[1].code) == (Fate.REFUSED, "E2014")


def test_claude_gives_messages_without_tools_and_attachments() -> None:
    tool = [{"type": "text", "text": "Let me look."}, {"type": "tool_use", "name": "search", "input": {}}]
    export = [
        {
            "uuid": "u1",
            "name": "Bread",
            "created_at": "2025-01-01T10:00:00Z",
            "chat_messages": [
                {
                    "uuid": "m1",
                    "sender": "human",
                    "text": "I bake bread",
                    "created_at": "2025-01-01T10:00:01Z",
                },
                {"uuid": "m2", "sender": "assistant", "text": "", "content": tool},
                {"uuid": "m3", "sender": "human", "text": "", "content": [], "attachments": [{}]},
                {"uuid": "m4", "sender": "nobody", "text": "?"},
                "nonsense",
            ],
        }
    ]
    found = list(chats.read_export("claude", export))

    assert turns(found) == [
        ("claude:u1", "user", "I bake bread"),
        ("claude:u1", "assistant", "Let me look."),
    ]
    assert [one.code for one in found if isinstance(one, ItemReport)] == ["E2014", "E2014"]
    assert isinstance(found[1], Item)
    assert found[1].at == datetime(2025, 1, 1, 10, tzinfo=UTC)


def test_messages_come_as_a_list_or_wrapped() -> None:
    talk = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hello there", "name": "Maya"},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}, {"type": "image", "source": {}}]},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    said = [("user", "hello there"), ("assistant", "hi")]

    assert [one[1:] for one in turns(chats.read_messages(talk, "log"))] == said
    assert turns(chats.read_messages({"messages": talk, "session_id": "s7"}, "log"))[0][0] == "messages:s7"
    assert [one[1:] for one in turns(chats.read_messages([{"messages": talk}], "log"))] == said
    lines = "\n".join(json.dumps({"messages": talk}) for _ in range(2))
    assert [one[0] for one in turns(chats.read_lines(lines, "log"))] == [
        "messages:log/1", "messages:log/1", "messages:log/2", "messages:log/2",
    ]  # fmt: skip


def test_a_message_without_an_id_keeps_the_one_it_is_given() -> None:
    talk = [{"role": "user", "content": "yes"}, {"role": "user", "content": "yes"}]
    origins = [[one.origin for one in chats.read_messages(talk, "log")] for _ in range(2)]

    assert origins[0] == origins[1]
    assert len(set(origins[0])) == 2


def test_the_log_of_a_coding_agent_is_read() -> None:
    def line(kind: str, **more: Any) -> str:
        return json.dumps({"type": kind, "sessionId": "s1", "timestamp": "2025-06-01T08:00:00Z", **more})

    result = [{"type": "tool_result", "content": "exit 0"}]
    text = "\n".join(
        (
            json.dumps({"type": "summary", "summary": "fixes"}),
            line("user", uuid="1", message={"role": "user", "content": "Use tabs"}),
            line("user", uuid="2", message={"role": "user", "content": result}),
            line("user", uuid="3", isMeta=True, message={"role": "user", "content": "Caveat"}),
            line("assistant", uuid="4", message={"role": "assistant", "content": "Fine"}),
            json.dumps(
                {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "Go"}}
            ),
            "{broken",
        )
    )
    found = list(chats.read_lines(text, "rollout"))

    assert [(one.session, one.part, one.text) for one in found if isinstance(one, Item)] == [
        ("messages:s1", Part.USER, "Use tabs"),
        ("messages:s1", Part.ASSISTANT, "Fine"),
        ("messages:rollout", Part.USER, "Go"),
    ]
    assert next(one.reason for one in found if isinstance(one, ItemReport)).startswith("Line 7")
