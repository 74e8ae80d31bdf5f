"""Owed vectors: memories that were stored while no vector could be made get theirs later."""

from __future__ import annotations

from collections.abc import Callable

from engram.ports import Embedded, Tools, Unit


def fill(tools: Tools, *, most: int | None = None, progress: Callable[[int], None] | None = None) -> int:
    """Embed what has no vector in the present space, slice by slice; how many were done.

    Each slice is on disk before the next begins, so a run that is cut off goes on where it stopped.
    Raises EmbedderDown.
    """
    done, after = 0, 0
    while most is None or done < most:
        space = tools.embedder.space
        waiting = tools.store.memories.unembedded(space, after, tools.config.embed.batch)
        if not waiting:
            break
        made, vectors = tools.embedder.embed([memory.content for _, memory in waiting])

        def work(unit: Unit) -> None:
            for (_, memory), row in zip(waiting, vectors, strict=True):  # noqa: B023 - runs before the next round
                now = unit.get(memory.id)
                if now is not None and now.content == memory.content:
                    unit.embed(memory.id, Embedded(made, row))  # noqa: B023 - runs before the next round

        tools.store.write(work, "engine")
        after = waiting[-1][0]
        done += len(waiting)
        if progress is not None:
            progress(done)
    return done
