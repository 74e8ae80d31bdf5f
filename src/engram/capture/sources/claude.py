"""Claude's export: `conversations.json` comes in, its messages come out as turns, oldest first.

What was attached, thought or given back by a tool was not said; only the text is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engram.capture.sources.shapes import label, moment, part_of, unreadable, words_of
from engram.model.ingest import Found, Item, ItemKind

FORMAT = "claude"


def fits(data: Any) -> bool:
    """Whether this is such an export: a list of conversations, or one of them."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, Mapping) and isinstance(first.get("chat_messages"), list)


def read(data: Any) -> Iterator[Found]:
    """Every message that was said, conversation by conversation."""
    for number, conversation in enumerate(data if isinstance(data, list) else [data], 1):
        if fits(conversation):
            yield from _conversation(conversation, number)
        else:
            yield unreadable(f"{FORMAT}:{number}", number, "it is no conversation with messages.")


def _conversation(conversation: Mapping[str, Any], number: int) -> Iterator[Found]:
    session = f"{FORMAT}:{conversation.get('uuid') or number}"
    title = label(conversation.get("name"))
    begun = moment(conversation.get("created_at"))
    for place, message in enumerate(conversation["chat_messages"], 1):
        part = part_of(message.get("sender")) if isinstance(message, Mapping) else None
        if part is None:
            yield unreadable(f"{session}/{place}", place, "a message without a known sender.")
            continue
        words = words_of(message.get("content")) or words_of(message.get("text"))
        message_id = str(message.get("uuid") or place)
        if words:
            yield Item(
                f"{session}/{message_id}",
                words,
                ItemKind.TURN,
                at=moment(message.get("created_at")) or begun,
                part=part,
                session=session,
                title=title,
                details={"title": title, "message": message_id},
            )
