"""Which file is what, and what becomes of files that are not what they should be."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from engram.capture.sources import files
from engram.capture.sources.detect import MEMORIES, open_source
from engram.errors import BadSource, BadText, EngramError, SourceTooLarge, UnknownFormat, UnknownValue
from engram.model.capture import Item
from tests.sources.conftest import written
from tests.sources.test_chats import conversation
from tests.tables import every

CHATGPT = [conversation(current_node="b")]
CLAUDE = [{"uuid": "u", "chat_messages": [{"uuid": "m", "sender": "human", "text": "I bake bread"}]}]
MEM0 = [{"id": "1", "memory": "Likes tea"}]
GRAPH = [{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["Likes tea"]}]
TALK = [{"role": "user", "content": "I bake bread"}]


def lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


@every(
    ("name", "content", "format_"),
    [
        ("notes.md", "# A\nBread needs flour", "markdown"),
        ("notes.txt", "Bread needs flour", "text"),
        ("conversations.json", CHATGPT, "chatgpt"),
        ("one.json", CHATGPT[0], "chatgpt"),
        ("conversations.json", CLAUDE, "claude"),
        ("mem.json", MEM0, "mem0"),
        ("mem.json", {"results": MEM0, "relations": []}, "mem0"),
        ("mem.jsonl", lines(*MEM0), "mem0"),
        ("memory.jsonl", lines(*GRAPH), "mcp-memory"),
        ("memory.json", lines(*GRAPH), "mcp-memory"),
        ("graph.json", {"entities": GRAPH, "relations": []}, "mcp-memory"),
        ("talk.json", TALK, "messages"),
        ("talk.json", {"messages": TALK}, "messages"),
        ("train.jsonl", lines({"messages": TALK}, {"messages": TALK}), "messages"),
        ("export.jsonl", lines({"content": "Bread needs flour", "id": "x"}), "engram"),
        ("export.json", {"memories": [{"content": "Bread needs flour"}]}, "engram"),
        ("bom.json", b"\xef\xbb\xbf" + json.dumps(MEM0).encode(), "mem0"),
        ("wide.txt", "Bread needs flour".encode("utf-16"), "text"),
    ],
)
def test_a_file_is_known_by_its_name_or_by_what_it_holds(
    tmp_path: Path, name: str, content: Any, format_: str
) -> None:
    source = open_source(written(tmp_path / name, content))

    assert source.format == format_
    assert format_ in MEMORIES or [one for one in source.found if isinstance(one, Item)]


@every(
    ("name", "content", "error"),
    [
        ("what.bin", "some words", UnknownFormat),
        ("empty.json", "", UnknownFormat),
        ("other.json", {"a": 1}, UnknownFormat),
        ("other.json", [1, 2], UnknownFormat),
        ("other.jsonl", lines({"a": 1}), UnknownFormat),
        ("broken.json", '[{"mapping": ', BadSource),
        ("deep.json", "[" * 100_000, BadSource),
        ("notes.md", b"caf\xe9", BadText),
    ],
)
def test_what_nobody_can_read_is_refused_in_words(
    tmp_path: Path, name: str, content: Any, error: type[EngramError]
) -> None:
    with pytest.raises(error, match=name):
        open_source(written(tmp_path / name, content))


def test_a_format_can_be_named(tmp_path: Path) -> None:
    assert open_source(written(tmp_path / "README", "# A\nBread"), "markdown").format == "markdown"
    with pytest.raises(UnknownValue, match="markdown"):
        open_source(tmp_path / "README", "word")
    with pytest.raises(BadSource, match="claude"):
        open_source(written(tmp_path / "c.json", CHATGPT), "claude")


def packed(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("members", "format_"),
    [
        ({"conversations.json": CHATGPT, "user.json": {}}, "chatgpt"),
        ({"conversations-000.json": CHATGPT, "conversations-001.json": CHATGPT}, "chatgpt"),
        ({"data/conversations.json": CLAUDE}, "claude"),
        ({"../../conversations.json": CLAUDE}, "claude"),
    ],
)
def test_an_export_is_read_as_it_was_sent(tmp_path: Path, members: dict[str, Any], format_: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    source = open_source(packed(folder / "export.zip", members))

    assert source.format == format_
    assert list(source.found)
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "export.zip"], "nothing is unpacked to disk"


def test_an_archive_that_unpacks_to_too_much_is_stopped(tmp_path: Path) -> None:
    bomb = packed(tmp_path / "bomb.zip", {"conversations.json": " " * 5_000_000})
    assert bomb.stat().st_size < 10_000

    with pytest.raises(SourceTooLarge):
        open_source(bomb, limit=1_000_000)


def test_an_archive_with_nothing_in_it_or_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="no conversations"):
        open_source(packed(tmp_path / "other.zip", {"a.json": {}}))
    whole = packed(tmp_path / "cut.zip", {"conversations.json": "x" * 10_000}).read_bytes()
    damaged = written(tmp_path / "damaged.zip", whole[:40] + b"\xff" * 20 + whole[60:])
    with pytest.raises(BadSource, match=r"damaged"):
        open_source(damaged)
    assert list(open_source(packed(tmp_path / "none.zip", {"conversations.json": []})).found) == []


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(SourceTooLarge):
        files.read_text(written(tmp_path / "long.txt", "x" * 2_000), limit=1_000)
