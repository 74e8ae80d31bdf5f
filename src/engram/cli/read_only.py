"""A glance at the file: a place comes in, memories to read go out, and nothing else of the engine is loaded.

A hook keeps a person waiting, and loading what writes, listens and asks models takes longer than reading. So
this joins only store and recall; a test holds its answers against the facade's. Access is checked where it
always is, in the store and in recall. No model is asked, and no trace is left.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from engram.config import Config
from engram.model.clock import SystemClock
from engram.model.memory import Filters
from engram.model.scope import Access
from engram.opening import open_store
from engram.ports import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.model.memory import Memory
    from engram.model.recall import Hit


QUERY_LIMIT = 2_000
"""A prompt is cut to so many characters: its beginning tells what it is about."""


class ReadOnlyMemory:
    """A file that is open to be read by one thread, as one caller may see it."""

    def __init__(self, file: str, config: Config, access: Access) -> None:
        self._config = config
        self._access = access
        self._clock = SystemClock()
        self._store, _ = open_store(file, config, self._clock, read_only=True)

    def list(self, *, filters: Filters, limit: int) -> Iterable[Memory]:
        """Memories, newest first."""
        return self._store.memories.page(View(self._access, filters), limit)

    def recall(self, query: str, *, limit: int, **_: Any) -> Iterable[Hit]:
        """What answers a question, best first."""
        from engram.embed import open_embedder
        from engram.index import SignatureIndex
        from engram.model.recall import Question
        from engram.ports import Tools
        from engram.recall.pipeline import recall
        from engram.text.tokens import count

        settings = self._config.recall
        tools = Tools(
            store=self._store,
            index=SignatureIndex(self._store),
            embedder=open_embedder(self._config.embed, self._clock),
            clock=self._clock,
            config=self._config,
            new_id=lambda: "",
            count_tokens=count,
        )
        asked = Question(
            text=query[:QUERY_LIMIT],
            access=self._access,
            limit=limit,
            profile=settings.profile,
            rerank=settings.rerank,
            dry=True,
            expand=False,
        )
        return recall(asked, tools)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()
