"""Resources and prompts: an address or a prompt's name comes in, a document or a first message goes out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from engram.errors import NotFound, UnknownEntity, UnknownValue
from engram.model.plain import plain

if TYPE_CHECKING:
    from engram.engine import Engram

URI = "memory://"
MIME = "application/json"
MARKDOWN = "text/markdown"
_ROWS = (
    ("resume", "Where things stand", MARKDOWN, "What a session that starts cold should know."),
    ("pack", "The recall pack", MARKDOWN,
     "Rules, open loops, today's focus, context and procedures, to start a session with."),
    ("stats", "How much is remembered", MIME, "Counts by status, kind, category and layer."),
)  # fmt: skip
RESOURCES: tuple[dict[str, Any], ...] = tuple(
    {"uri": f"{URI}{name}", "name": name, "title": title, "description": description, "mimeType": mime}
    for name, title, mime, description in _ROWS
)
_PLACED = (
    ("memory", "{id}", "One memory", "Everything about a memory."),
    ("entity", "entities/{name}", "One entity", "What is known about somebody or something."),
)
TEMPLATES: tuple[dict[str, Any], ...] = tuple(
    {"uriTemplate": f"{URI}{place}", "name": name, "title": title, "description": words, "mimeType": MIME}
    for name, place, title, words in _PLACED
)
_TOPIC = {"name": "topic", "description": "What it is about; may be left out", "required": False}
PROMPTS: tuple[dict[str, Any], ...] = (
    {
        "name": "resume",
        "title": "Go on where we stopped",
        "description": "What is remembered about a topic, and a request to go on from there.",
        "arguments": [_TOPIC],
    },
    {
        "name": "reflect",
        "title": "Look over what is remembered",
        "description": "The latest memories and open contradictions, and a request to tidy them up.",
        "arguments": [_TOPIC],
    },
)
RESUME_BUDGET = 2_000
RESUME_CHARACTERS = 8_000
LATEST = 30
_RESUME = (
    "Go on where we stopped. In two or three sentences say what is settled, what is open and what comes next."
)
_REFLECT = (
    "Look over these memories. Point out what contradicts what, what says the same twice, what is out of "
    "date and what is a lesson worth a memory of its own. Change nothing before I agree."
)


def read(memory: Engram, uri: str) -> str:
    """The document at an address. Raises NotFound and UnknownEntity."""
    place = uri.removeprefix(URI)
    if place == uri:
        raise NotFound(uri)
    if place == "resume":
        return memory.resume().text
    if place == "pack":
        return memory.recall_pack().text
    if place == "stats":
        return _json(plain(memory.stats()))
    if place.startswith("entities/"):
        return _json(_profile(memory, unquote(place.removeprefix("entities/"))))
    record = memory.get(unquote(place))
    if record is None:
        raise NotFound(place)
    from engram.server.mcp import shapes  # with the engine, which listing what there is does not need

    return _json(shapes.full_memory(record))


def _profile(memory: Engram, name: str) -> dict[str, Any]:
    from engram.server.mcp import shapes  # as above

    profile = memory.entities.get(name)
    if profile is None:
        raise UnknownEntity(name)
    return shapes.profile(profile, memory.access)


def mime_of(uri: str) -> str:
    """What sort of document stands at an address."""
    return next((str(resource["mimeType"]) for resource in RESOURCES if resource["uri"] == uri), MIME)


def prompt(memory: Engram, name: str, arguments: Mapping[str, str]) -> str:
    """The message a prompt begins with. Raises UnknownValue."""
    topic = arguments.get("topic", "").strip()
    writers = {"resume": _resume, "reflect": _reflect}
    if name not in writers:
        raise UnknownValue("prompt", name, tuple(writers))
    return writers[name](memory, topic)


def _resume(memory: Engram, topic: str) -> str:
    """About a topic what answers it; about none the same that `resume` tells everywhere."""
    from engram.api.contexts import brief, data_block

    if topic:
        block = brief(memory, topic, budget=RESUME_BUDGET, pinned=True).text
    else:
        block = data_block(memory.resume(RESUME_CHARACTERS).text.splitlines())
    return f"{_RESUME}\n\n{block}"


def _reflect(memory: Engram, topic: str) -> str:
    from engram.api.contexts import data_block, line_of

    hits = memory.recall(topic, limit=LATEST) if topic else ()
    listed = [hit.memory for hit in hits] if topic else memory.list(limit=LATEST)
    open_pairs = [
        f"- {conflict.a.id[:8]} and {conflict.b.id[:8]}: {conflict.because}"
        for conflict in memory.conflicts.list(10)
    ]
    blocks = [data_block(line_of(record, record.content) for record in listed)]
    if open_pairs:
        blocks.append("Known contradictions:\n" + data_block(open_pairs))
    return "\n\n".join((_REFLECT, *blocks))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
