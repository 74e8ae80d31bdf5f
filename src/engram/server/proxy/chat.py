"""A chat as OpenAI's clients send it: what is asked, the same with memories beside it, what was answered.

Only what is understood is touched. A body of another shape gives None and is passed on as it came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

EVENTS = "text/event-stream"
LEADING = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Chat:
    """A request that was understood."""

    body: Mapping[str, Any]
    messages: tuple[Mapping[str, Any], ...]
    place: int
    """Where the user's last message stands."""
    asked: str
    """Its words."""

    @property
    def user(self) -> str:
        """Who the client says it speaks for, in OpenAI's field; empty: nobody in particular."""
        found = self.body.get("user")
        return found.strip() if isinstance(found, str) else ""


def read(raw: bytes) -> Chat | None:
    """The chat in the body of a request; None when there is none to be understood.

    >>> read(b'{"messages": [{"role": "user", "content": "hi"}]}').asked
    'hi'
    >>> read(b'{"messages": "hi"}'), read(b"hi")
    (None, None)
    """
    try:
        body = json.loads(raw)
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return None
    for place in range(len(messages) - 1, -1, -1):
        words = words_of(messages[place].get("content"))
        if messages[place].get("role") == "user" and words.strip():
            return Chat(body, tuple(messages), place, words)
    return None


def words_of(content: Any) -> str:
    """The words of a message: its text, or the texts among its parts.

    >>> words_of([{"type": "text", "text": "Who is this?"}, {"type": "image_url"}])
    'Who is this?'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(part for part in parts if isinstance(part, str))


def with_block(chat: Chat, block: str, place: str) -> bytes:
    """The body with a block of memories: before the user's words, or at the end of the system's."""
    messages = [*chat.messages]
    if place == "user":
        messages[chat.place] = _before(messages[chat.place], block)
    elif messages[0].get("role") in LEADING:
        messages[0] = _behind(messages[0], block)
    else:
        messages.insert(0, {"role": "system", "content": block})
    return json.dumps({**chat.body, "messages": messages}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def _before(message: Mapping[str, Any], block: str) -> Mapping[str, Any]:
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": f"{block}\n\n{content}"}
    return {**message, "content": [{"type": "text", "text": block}, *content]}


def _behind(message: Mapping[str, Any], block: str) -> Mapping[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [*content, {"type": "text", "text": block}]}
    return {**message, "content": f"{content}\n\n{block}" if content else block}


def heard(chat: Chat, reply: str) -> list[dict[str, Any]]:
    """What is new in an exchange: the user's last words and the reply.

    Each has an id by all that was said so far: a request sent again tells nothing twice, and the same words
    said later in the chat count again.
    """
    said = [{"role": "user", "content": chat.asked, "id": _mark(chat.messages[: chat.place], chat.asked)}]
    if reply.strip():
        said.append({"role": "assistant", "content": reply, "id": _mark(chat.messages, reply)})
    return said


def _mark(before: Sequence[Mapping[str, Any]], words: str) -> str:
    told = [(one.get("role"), words_of(one.get("content"))) for one in before]
    return sha256(repr((told, words)).encode("utf-8", "replace")).hexdigest()[:24]


def conversation(chat: Chat) -> str:
    """A mark of a chat that stays the same while it goes on: of the words it began with."""
    first = next((words_of(one.get("content")) for one in chat.messages if one.get("role") == "user"), "")
    return sha256(first.encode("utf-8", "replace")).hexdigest()[:8]


def reply_in(raw: bytes, media_type: str) -> str:
    r"""The words that a model answered with; nothing when it only calls tools or fails.

    >>> reply_in(b'{"choices": [{"message": {"content": "Tea."}}]}', "application/json")
    'Tea.'
    >>> reply_in(b'data: {"choices": [{"delta": {"content": "Te"}}]}\n\ndata: [DONE]\n\n', EVENTS)
    'Te'
    """
    text = raw.decode("utf-8", "replace")
    if media_type.startswith(EVENTS):
        return "".join(_said(event, "delta") for event in _events(text))
    return _said(_parsed(text), "message")


def _events(text: str) -> Iterator[Any]:
    for line in text.splitlines():
        if line.startswith("data:"):
            yield _parsed(line.removeprefix("data:").strip())


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _said(answer: Any, part: str) -> str:
    """The words of the first choice."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        return ""
    first = choices[0]
    told = first.get(part) if isinstance(first, dict) and first.get("index", 0) == 0 else None
    return words_of(told.get("content")) if isinstance(told, dict) else ""
