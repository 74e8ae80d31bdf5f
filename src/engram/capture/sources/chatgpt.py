"""ChatGPT's export: `conversations.json` comes in, its messages come out as turns, oldest first.

A conversation is a tree there: every edit and every "regenerate" branches off. Only the way from the root to
`current_node` was the conversation; hidden, system and tool messages and the model's thoughts were not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from engram.capture.sources.shapes import label, moment, part_of, unreadable, words_of
from engram.model.ingest import Found, Item, ItemKind
from engram.model.turn import Part

FORMAT = "chatgpt"
_SAID = frozenset({"text", "multimodal_text"})
_SPOKEN = (Part.USER, Part.ASSISTANT)


def fits(data: Any) -> bool:
    """Whether this is such an export: a list of conversations, or one of them."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, Mapping) and isinstance(first.get("mapping"), Mapping)


def read(data: Any) -> Iterator[Found]:
    """Every message that was said, conversation by conversation."""
    for number, conversation in enumerate(data if isinstance(data, list) else [data], 1):
        if fits(conversation):
            yield from _conversation(conversation, number)
        else:
            yield unreadable(f"{FORMAT}:{number}", number, "it is no conversation with a mapping.")


def _conversation(conversation: Mapping[str, Any], number: int) -> Iterator[Item]:
    known = conversation.get("conversation_id") or conversation.get("id")
    session = f"{FORMAT}:{known or number}"
    title = label(conversation.get("title"))
    begun = moment(conversation.get("create_time"))
    for node, message in _path(conversation):
        said = _said(message)
        if said is None:
            continue
        part, words = said
        begun = _not_before(moment(message.get("create_time")), begun)
        message_id = str(message.get("id") or node)
        yield Item(
            f"{session}/{message_id}",
            words,
            ItemKind.TURN,
            at=begun,
            part=part,
            session=session,
            title=title,
            details={"title": title, "message": message_id},
        )


def _path(conversation: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The messages from the root to the current one; of a damaged tree, all by time."""
    mapping: Mapping[str, Any] = conversation["mapping"]
    node, seen = conversation.get("current_node"), dict[str, None]()
    while isinstance(node, str) and isinstance(mapping.get(node), Mapping) and node not in seen:
        seen[node] = None
        node = mapping[node].get("parent")
    way = [*reversed(seen)] or sorted(mapping, key=lambda name: _time_of(mapping[name]))
    nodes = ((name, mapping[name]) for name in way)
    found = ((name, one.get("message")) for name, one in nodes if isinstance(one, Mapping))
    return [(name, message) for name, message in found if isinstance(message, Mapping)]


def _time_of(node: Any) -> float:
    message = node.get("message") if isinstance(node, Mapping) else None
    time = message.get("create_time") if isinstance(message, Mapping) else None
    return time if isinstance(time, int | float) else 0.0


def _said(message: Mapping[str, Any]) -> tuple[Part, str] | None:
    """Who said what, if somebody said something to somebody."""
    author, content, metadata = (message.get(name) for name in ("author", "content", "metadata"))
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        return None
    part = part_of(author.get("role"))
    hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation")
    to_tool = message.get("recipient", "all") not in ("all", None)
    if part not in _SPOKEN or hidden or to_tool or content.get("content_type", "text") not in _SAID:
        return None
    words = words_of(content.get("parts"))
    return (part, words) if part is not None and words else None


def _not_before(at: datetime | None, before: datetime | None) -> datetime | None:
    """The message's own time; where it has none, or one that runs backwards, that of the one before."""
    if at is None or before is None:
        return at or before
    return max(at, before)
