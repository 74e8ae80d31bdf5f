"""Streams of server-sent events: the ledger as it grows, and how far a long call has come."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
from starlette.responses import StreamingResponse

from engram.errors import EngramError
from engram.model.event import Event
from engram.model.plain import plain
from engram.server.caller import Caller
from engram.server.host import MemoryHost
from engram.server.problems import TokenNeeded, document

if TYPE_CHECKING:
    from engram.engine import Engram

POLL_S = 0.5
BEAT_S = 15.0
"""So often something is sent, lest a proxy takes the stream for dead."""
PAGE = 100
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def feed(memory_host: MemoryHost, caller: Caller, after: str | None) -> StreamingResponse:
    """The events a caller may see, from now on or after an event it has seen, until it may not any more."""
    return StreamingResponse(_events(memory_host, caller, after), media_type=MEDIA_TYPE, headers=HEADERS)


async def _events(memory_host: MemoryHost, caller: Caller, after: str | None) -> AsyncIterator[str]:
    place = after
    if place is None:
        place = (await memory_host.run(caller, lambda memory: memory.news())).place
    yield "retry: 2000\n: the ledger as it grows\n\n"
    quiet = 0.0
    while not memory_host.is_closing:
        if not await memory_host.run(caller, lambda _: memory_host.is_welcome(caller)):
            yield message("problem", document(TokenNeeded(given=True)))
            return
        news = await memory_host.run(caller, partial(_news, place))
        place = news.place
        for event in news.events:
            yield message("event", told(event), event.id)
        quiet = 0.0 if news.events else quiet + POLL_S
        if quiet >= BEAT_S:
            quiet = 0.0
            yield ": still there\n\n"
        if len(news.events) < PAGE:
            await memory_host.pause(POLL_S)


def _news(place: str, memory: Engram) -> Any:
    return memory.news(place, limit=PAGE)


def told(event: Event) -> dict[str, Any]:
    """An event without the words before and after: which fields changed is enough to look again."""
    return {
        "id": event.id,
        "at": plain(event.at),
        "actor": event.actor,
        "verb": str(event.verb),
        "memory": event.memory,
        "because": event.because,
        "related": event.related,
        "changed": sorted(event.after),
    }


def message(kind: str, data: Any, id_: str = "") -> str:
    r"""One message of a stream.

    >>> message("done", {"n": 1})
    'event: done\ndata: {"n": 1}\n\n'
    """
    head = f"id: {id_}\n" if id_ else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def progress(
    memory_host: MemoryHost, caller: Caller, work: Callable[[Engram, Callable[..., None]], Any]
) -> StreamingResponse:
    """How far a long call has come, then its answer or its problem."""
    return StreamingResponse(_progress(memory_host, caller, work), media_type=MEDIA_TYPE, headers=HEADERS)


async def _progress(
    memory_host: MemoryHost, caller: Caller, work: Callable[[Engram, Callable[..., None]], Any]
) -> AsyncIterator[str]:
    send, receive = anyio.create_memory_object_stream[str](1_000)

    def tell(done: int, total: int) -> None:
        anyio.from_thread.run_sync(_offer, send, message("progress", {"done": done, "total": total}))

    async def carry_out() -> None:
        async with send:
            try:
                found = await memory_host.run(
                    caller, lambda memory: plain(work(memory, tell)), limit_s=float("inf")
                )
                await send.send(message("done", found))
            except EngramError as error:
                await send.send(message("problem", document(error)))

    async with anyio.create_task_group() as group, receive:
        group.start_soon(carry_out)
        async for one in receive:
            yield one


def _offer(send: Any, one: str) -> None:
    """A reader that is slow misses a step, and nobody waits for it."""
    try:
        send.send_nowait(one)
    except (anyio.WouldBlock, anyio.BrokenResourceError):
        return
