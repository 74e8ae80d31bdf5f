"""Listening to chats: exchanges come in from the door and wait in a line; a task reads them one by one.

The client never waits for it. When the server stops, what waits is still heard.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from engram.errors import EngramError
from engram.server import journal

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from engram.server.caller import Caller
    from engram.server.house import House

MOST_HEARD = 2_000_000
"""Bytes of an answer that are kept to be listened to; of a longer one only the user's words are."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was said, by whom, where."""

    caller: Caller
    session: str
    messages: Sequence[Mapping[str, Any]]


class Ear:
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

    def __init__(self, house: House, waiting: int) -> None:
        self._house = house
        self._waiting = waiting
        self._line: MemoryObjectSendStream[Exchange] | None = None

    def put(self, exchange: Exchange) -> None:
        """Have an exchange listened to, soon; when the line is full it is passed over."""
        try:
            if self._line is not None:
                self._line.send_nowait(exchange)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            journal.note("proxy did not listen", logging.WARNING, why="too many wait")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen until the block ends, then to what still waits."""
        self._line, receive = anyio.create_memory_object_stream[Exchange](self._waiting)
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen, receive)
            try:
                yield
            finally:
                self._line.close()

    async def _listen(self, line: MemoryObjectReceiveStream[Exchange]) -> None:
        with anyio.CancelScope(shield=True):
            async with line:
                async for exchange in line:
                    await self._hear(exchange)

    async def _hear(self, said: Exchange) -> None:
        try:
            await self._house.run(
                said.caller,
                lambda memory: memory.observe(messages=said.messages, session=said.session),
                limit_s=math.inf,
            )
        except EngramError as error:
            journal.note("proxy did not listen", logging.WARNING, why=error.code)
        except Exception as error:  # noqa: BLE001 (a door that stays open: the journal tells)
            journal.bug(error, "", "proxy")
