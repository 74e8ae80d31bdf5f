"""Owed vectors: memories that were stored while no vector could be made get theirs later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from engram.errors import EmbedderRefused
from engram.model.memory import Memory
from engram.ports import Embedded, Tools, Unit
from engram.text.key import key_text


def fill(tools: Tools, *, most: int | None = None, progress: Callable[[int], None] | None = None) -> int:
    """Embed what has no vector in the present space, slice by slice; how many were done.

    Each slice is on disk before the next begins, so a run that is cut off goes on where it stopped. A text
    that the embedder refuses is passed over: it stays findable by its words. Raises EmbedderDown.
    """
    done, after = 0, 0
    while most is None or done < most:
        space = tools.embedder.space
        waiting = tools.store.memories.unembedded(space, after, tools.config.embed.batch)
        if not waiting:
            break
        made = _embed([memory for _, memory in waiting], tools)
        tools.store.write(partial(_put, made), "engine")
        after = waiting[-1][0]
        done += len(made)
        if progress is not None:
            progress(done)
    return done


def _embed(memories: Sequence[Memory], tools: Tools) -> list[tuple[Memory, Embedded]]:
    """The vectors of all; where one text spoils it for the others, one by one without those refused."""
    try:
        space, rows = tools.embedder.embed(
            [key_text(memory.content, memory.told_by, memory.after) for memory in memories]
        )
    except EmbedderRefused:
        if len(memories) == 1:
            return []
        return [made for memory in memories for made in _embed([memory], tools)]
    return [(memory, Embedded(space, row)) for memory, row in zip(memories, rows, strict=True)]


def _put(made: Sequence[tuple[Memory, Embedded]], unit: Unit) -> None:
    for memory, vector in made:
        now = unit.get(memory.id)
        if now is not None and now.content == memory.content:
            unit.embed(memory.id, vector)
