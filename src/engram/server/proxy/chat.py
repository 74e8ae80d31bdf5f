"""A chat as OpenAI's clients send it: what is asked, the same with memories beside it, what was answered.

Only what is understood is touched. A body of another shape gives None and is passed on as it came.
"""

from __future__ import annotations

import json
import logging
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import anyio

from engram.api.contexts import Brief, brief
from engram.errors import EngramError
from engram.lazily import dataclass
from engram.server import metrics

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from engram.config import ProxyConfig
    from engram.engine import Engram
    from engram.model.scope import Access
    from engram.server.caller import Caller
    from engram.server.host import MemoryHost


# ---------------------------------------------------------------- recalling
# Recalling for a chat: what helps comes within its time, or the chat goes on without.

KEPT = 256
"""Blocks kept for chats that go on with the results of tools."""
NOTHING = Brief()


class ProxyRecall:
    """Finds what belongs beside a chat. Used by the event loop."""

    def __init__(self, memory_host: MemoryHost, settings: ProxyConfig) -> None:
        self._memory_host = memory_host
        self._settings = settings
        self._kept: OrderedDict[tuple[str, Access | None, str, str], Brief] = OrderedDict()

    async def beside(self, chat: Chat, caller: Caller, session: str) -> Brief:
        """The block for a chat. While tools answer one question it stays the same, so that caches hold."""
        mark = (caller.id, caller.access, session, chat.asked)
        goes_on = chat.place < len(chat.messages) - 1
        if goes_on and mark in self._kept:
            return self._kept[mark]
        budget = self._settings.budget_tokens
        look = partial(brief, query=chat.asked, budget=budget, pinned=True, session=session)
        self._kept[mark] = await self._within_time(caller, look)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[mark]

    async def _within_time(self, caller: Caller, look: Callable[[Engram], Brief]) -> Brief:
        try:
            with anyio.move_on_after(self._settings.time_budget_ms / 1_000):
                return await self._memory_host.run(caller, look, quick=True)
            metrics.note("proxy without memories", logging.WARNING, why="time")
        except EngramError as error:
            metrics.note("proxy without memories", logging.WARNING, why=error.code)
        except Exception as error:  # noqa: BLE001 (a door that stays open: the chat goes on, the journal tells)
            metrics.bug(error, "", "proxy")
        return NOTHING


# ---------------------------------------------------------------- capturing
# Listening to chats: exchanges come in from the door and wait in a line; a task reads them one by one.
#
# The client never waits for it. When the server stops, what waits is still heard.

MOST_HEARD = 2_000_000
"""Bytes of an answer that are kept to be listened to; of a longer one only the user's words are."""


@dataclass(frozen=True, slots=True)
class ProxyExchange:
    """What was said, by whom, where."""

    caller: Caller
    session: str
    messages: Sequence[Mapping[str, Any]]


class ProxyListener:
    """Collects the bytes of one answer, as far as they may be listened to."""

    def __init__(self) -> None:
        self._raw = bytearray()
        self._full = False

    def __call__(self, piece: bytes) -> None:
        """A piece of the answer has come by."""
        self._full = self._full or len(self._raw) + len(piece) > MOST_HEARD
        if not self._full:
            self._raw += piece

    @property
    def raw(self) -> bytes:
        """The whole answer; nothing when it was too long."""
        return b"" if self._full else bytes(self._raw)


class Capturing:
    """The line of exchanges. Used by the event loop."""

    def __init__(self, memory_host: MemoryHost, waiting: int) -> None:
        self._memory_host = memory_host
        self._waiting = waiting
        self._line: MemoryObjectSendStream[ProxyExchange] | None = None

    def put(self, exchange: ProxyExchange) -> None:
        """Have an exchange listened to, soon; when the line is full it is passed over."""
        try:
            if self._line is not None:
                self._line.send_nowait(exchange)
                self._memory_host.proxied["buffered_turns"] += len(exchange.messages)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            metrics.note("proxy did not listen", logging.WARNING, why="too many wait")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen until the block ends, then to what still waits."""
        self._line, receive = anyio.create_memory_object_stream[ProxyExchange](self._waiting)
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen, receive)
            try:
                yield
            finally:
                self._line.close()

    async def _listen(self, line: MemoryObjectReceiveStream[ProxyExchange]) -> None:
        with anyio.CancelScope(shield=True):
            async with line:
                async for exchange in line:
                    await self._hear(exchange)

    async def _hear(self, exchange: ProxyExchange) -> None:
        try:
            heard = await self._memory_host.run(
                exchange.caller,
                lambda memory: memory.observe(messages=exchange.messages, session=exchange.session),
                limit_s=math.inf,
            )
            self._memory_host.proxied["extracted"] += len(heard.receipts)
        except EngramError as error:
            metrics.note("proxy did not listen", logging.WARNING, why=error.code)
        except Exception as error:  # noqa: BLE001 (a door that stays open: the journal tells)
            metrics.bug(error, "", "proxy")
        finally:
            self._memory_host.proxied["buffered_turns"] -= len(exchange.messages)


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
        user = self.body.get("user")
        return user.strip() if isinstance(user, str) else ""


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
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
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
        asked = messages[chat.place]
        messages[chat.place] = {**asked, "content": _join_contents(block, asked["content"])}
    elif messages[0].get("role") in LEADING:
        messages[0] = {**messages[0], "content": _join_contents(messages[0].get("content"), block)}
    else:
        messages.insert(0, {"role": "system", "content": block})
    body = json.dumps({**chat.body, "messages": messages}, ensure_ascii=False)
    return body.encode("utf-8", "surrogatepass")


def _join_contents(*contents: Any) -> Any:
    """Contents of messages as one: text, or parts where one has parts."""
    if not any(isinstance(content, list) for content in contents):
        return "\n\n".join(str(content) for content in contents if content)
    parts = (
        content if isinstance(content, list) else [{"type": "text", "text": content}] for content in contents
    )
    return [part for group in parts for part in group]


def new_messages(chat: Chat, reply: str) -> list[dict[str, Any]]:
    """What is new in an exchange: the user's last words and the reply.

    Each has an id by all that was said so far: a request sent again tells nothing twice, and the same words
    said later in the chat count again.
    """
    messages = [{"role": "user", "content": chat.asked, "id": _mark(chat.messages[: chat.place], chat.asked)}]
    if reply.strip():
        messages.append({"role": "assistant", "content": reply, "id": _mark(chat.messages, reply)})
    return messages


def _mark(before: Sequence[Mapping[str, Any]], words: str) -> str:
    earlier = [(message.get("role"), words_of(message.get("content"))) for message in before]
    return sha256(repr((earlier, words)).encode("utf-8", "replace")).hexdigest()[:24]


def conversation(chat: Chat) -> str:
    """A mark of a chat that stays the same while it goes on: of the words it began with."""
    first = next(
        (words_of(message.get("content")) for message in chat.messages if message.get("role") == "user"), ""
    )
    return sha256(first.encode("utf-8", "replace")).hexdigest()[:8]


def reply_in(raw: bytes, media_type: str) -> str:
    r"""The words that a model answered with; nothing when it only calls tools or fails.

    >>> reply_in(b'{"choices": [{"message": {"content": "Tea."}}]}', "application/json")
    'Tea.'
    >>> reply_in(b'data: {"choices": [{"delta": {"content": "Te"}}]}\n\ndata: [DONE]\n\n', EVENTS)
    'Te'
    """
    text = raw.decode("utf-8", "replace")
    if not media_type.startswith(EVENTS):
        return _reply_words(text, "message")
    lines = (line for line in text.splitlines() if line.startswith("data:"))
    return "".join(_reply_words(line.removeprefix("data:").strip(), "delta") for line in lines)


def _reply_words(text: str, part: str) -> str:
    """The words of the first choice in an answer, or in an event of one."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        return ""
    first = choices[0]
    message = first.get(part) if isinstance(first, dict) and first.get("index", 0) == 0 else None
    return words_of(message.get("content")) if isinstance(message, dict) else ""
