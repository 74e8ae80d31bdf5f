"""Messages as chat services shape them come in, turns come out.

OpenAI's shape has a role and a content of text or parts; Anthropic's has blocks. Pictures, tool calls and the
like hold no words of a person and give none. A message without an id gets one made from its words and its
place among equal ones, so that a client that sends the whole conversation again adds only what is new.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engram.errors import WrongType
from engram.model.clock import here
from engram.model.plain import member, told_moment
from engram.model.scope import Scope
from engram.model.turn import Part, Turn

PARTS = {
    "user": Part.USER, "human": Part.USER, "customer": Part.USER,
    "assistant": Part.ASSISTANT, "ai": Part.ASSISTANT, "bot": Part.ASSISTANT, "model": Part.ASSISTANT,
    "system": Part.SYSTEM, "developer": Part.SYSTEM,
    "tool": Part.TOOL, "function": Part.TOOL, "tool_result": Part.TOOL,
}  # fmt: skip
"""What chat services call the parts."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all messages of a call have in common."""

    session: str
    at: datetime
    """When, on the clocks of whoever speaks."""
    scope: Scope
    user: str = ""
    """The user's name."""
    assistant: str = ""


def turns_from(messages: Any, setting: Setting) -> list[Turn]:
    """The turns of a list of messages. Raises WrongType, naming the message."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        raise WrongType("messages", messages, "a list of messages")
    seen: Counter[str] = Counter()
    return [turn for place, one in enumerate(messages) for turn in _turns(one, place, setting, seen)]


def _turns(message: Any, place: int, setting: Setting, seen: Counter[str]) -> Iterator[Turn]:
    if not isinstance(message, Mapping):
        raise WrongType(f"messages[{place}]", message, "an object with role and content")
    part = part_of(message.get("role", message.get("type", "user")))
    content, tools = _words(message.get("content", message.get("text", "")), place)
    if content.strip():
        yield _turn(message, part, content, setting, seen)
    if tools.strip():
        yield _turn(message, Part.TOOL, tools, setting, seen)


def part_of(role: Any) -> Part:
    """The part that a role names."""
    known = PARTS.get(str(role).lower())
    return known if known is not None else member("role", Part, role)


def _turn(message: Mapping[str, Any], part: Part, content: str, setting: Setting, seen: Counter[str]) -> Turn:
    name = str(message.get("name") or message.get("speaker") or "")
    if not name and part in {Part.USER, Part.ASSISTANT}:
        name = setting.user if part is Part.USER else setting.assistant
    own = message.get("id") or message.get("message_id") or message.get("uuid")
    made = made_id(part, name, content)
    seen[made] += 1
    return Turn(
        id=str(own) if own and part is not Part.TOOL else f"{made}-{seen[made]}",
        session=setting.session,
        content=content,
        at=here(_time(message, setting.at), setting.at.tzinfo or UTC),
        part=part,
        speaker=name,
        scope=setting.scope,
    )


def made_id(part: Part, speaker: str, content: str) -> str:
    """An id made from the words: the same words by the same person give the same one."""
    return hashlib.sha256(f"{part}\n{speaker}\n{content}".encode()).hexdigest()[:24]


def _time(message: Mapping[str, Any], otherwise: datetime) -> datetime:
    given = message.get("time") or message.get("timestamp") or message.get("created_at")
    if given is None:
        return otherwise
    if isinstance(given, int | float) and not isinstance(given, bool):
        seconds = given / 1_000 if given > _MILLISECONDS else given
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, ValueError, OSError) as error:
            raise WrongType("time", given, "a time") from error
    return told_moment("time", given, otherwise.tzinfo or UTC)


_MILLISECONDS = 100_000_000_000
"""A larger number of seconds would lie after the year 5000: these are milliseconds."""


def _words(content: Any, place: int) -> tuple[str, str]:
    """The words of a person, and what a tool brought."""
    if content is None:
        return "", ""
    if isinstance(content, str):
        return content, ""
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Sequence):
        raise WrongType(f"messages[{place}].content", content, "text or a list of parts")
    said: list[str] = []
    brought: list[str] = []
    for piece in content:
        if isinstance(piece, str):
            said.append(piece)
        elif isinstance(piece, Mapping) and piece.get("type") in {"tool_result", "function_call_output"}:
            brought.append(_words(piece.get("content", piece.get("output")), place)[0])
        elif isinstance(piece, Mapping) and isinstance(piece.get("text"), str):
            said.append(piece["text"])
    return "\n".join(said), "\n".join(brought)
