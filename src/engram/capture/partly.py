"""Remembering what is good of many: any number of drafts comes in; a receipt or a refusal for each goes out.

Slice by slice, each a unit of work of its own. While one slice is being written the next is made ready: the
writer spends most of its time inside SQLite, which lets the processor go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import TypeVar

from engram.capture.enrich import Prepared
from engram.capture.pipeline import make_ready, write
from engram.capture.screen import screen
from engram.errors import AccessDenied, InvalidInput
from engram.model.cancellation import check_cancelled
from engram.model.draft import Draft
from engram.model.receipt import Receipt, Refusal
from engram.ports import Tools

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class _Slice:
    """Some of the drafts: what is ready to be written, where each belongs, and what was refused."""

    places: list[int]
    prepared: list[Prepared]
    refusals: list[Refusal]


def remember_partly(
    items: Sequence[Given],
    read: Callable[[Given], Draft],
    tools: Tools,
    actor: str,
    progress: Callable[[int], None] | None = None,
) -> list[Receipt | Refusal]:
    """Write every good draft; `read` makes a draft of an item or raises what is wrong with it."""
    results: list[Receipt | Refusal] = []
    with ThreadPoolExecutor(1, thread_name_prefix="engram-write") as pool:
        for written in _one_ahead(pool, _slices(items, read, tools), tools, actor):
            results += written
            if progress is not None:
                progress(len(results))
    return results


def _one_ahead(
    pool: ThreadPoolExecutor, slices: Iterator[_Slice], tools: Tools, actor: str
) -> Iterator[list[Receipt | Refusal]]:
    waiting: Future[list[Receipt | Refusal]] | None = None
    for ready in slices:
        if waiting is not None:
            yield waiting.result()
        waiting = pool.submit(copy_context().run, _write, ready, tools, actor)
    if waiting is not None:
        yield waiting.result()


def _slices(items: Sequence[Given], read: Callable[[Given], Draft], tools: Tools) -> Iterator[_Slice]:
    size = tools.config.embed.batch
    for start in range(0, len(items), size):
        places: list[int] = []
        good: list[Draft] = []
        refusals: list[Refusal] = []
        for place, item in enumerate(items[start : start + size], start):
            check_cancelled()
            try:
                good.append(screen(read(item)))
                places.append(place)
            except (InvalidInput, AccessDenied) as error:
                refusals.append(Refusal(place, error))
        yield _Slice(places, make_ready(good, tools), refusals)


def _write(ready: _Slice, tools: Tools, actor: str) -> list[Receipt | Refusal]:
    receipts = write(ready.prepared, tools, actor)
    by_place: dict[int, Receipt | Refusal] = dict(zip(ready.places, receipts, strict=True))
    by_place |= {refusal.index: refusal for refusal in ready.refusals}
    return [by_place[place] for place in sorted(by_place)]
