"""One extension of each kind: what a package that adds to Engram looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from engram.config import EmbedConfig, RerankConfig, StoreConfig
from engram.maintain.step import Batch, Decision, MemoryChange, Step, StepContext
from engram.model.capture import Found, Item
from engram.model.clock import Clock
from engram.model.memory import Filters
from engram.model.recall import Question
from engram.model.scope import Access
from engram.plugins import SourceFormat
from engram.ports import Embedder, Reranker, Store, Tools, View
from engram.server.app import Mounted
from engram.store.sqlite import SqliteStore
from engram.testing import HashEmbedder

if TYPE_CHECKING:
    from starlette.requests import Request

    from engram.server.host import MemoryHost


def _read(text: str, name: str) -> Iterator[Found]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield Item(f"bookmarks:{name}:{number}", line, tags=("bookmark",))


BOOKMARKS = SourceFormat(frozenset({".bookmarks"}), _read)


def by_tag(question: Question, _view: View, tools: Tools) -> Iterable[tuple[str, float]]:
    """What is tagged with a word of the question, whoever asks: what is not for them goes later."""
    tags = frozenset(question.text.casefold().split())
    tagged = View(Access.everything(), Filters(tags_any=tags))
    return [(memory.id, 0.9) for memory in tools.store.memories.page(tagged, 10)]


def _tidy(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Take the tag `todo` off what is tagged `done`."""
    for part in context.memories(Filters(tags_all=frozenset({"done"})), int(cursor or 0)):
        decisions = [
            Decision(
                "example.tidy",
                "tagged done",
                (MemoryChange(one, replace(one, tags=tuple(tag for tag in one.tags if tag != "todo"))),),
                one.id,
            )
            for _, one in part
            if "todo" in one.tags
        ]
        yield Batch(tuple(decisions), str(part[-1][0]))


TIDY = Step("tidy", "example.tidy", _tidy)


def hashed(_settings: EmbedConfig, _clock: Clock) -> Embedder:
    """An embedder that knows no meaning: the same words, the same vector."""
    return HashEmbedder()


class Shortest:
    """The shorter, the better."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """One number for each text."""
        return [-float(len(text)) for text in texts]


def shortest(_settings: RerankConfig) -> Reranker:
    """A reranker."""
    return Shortest()


def passing(_where: str, clock: Clock, _settings: StoreConfig, _read_only: bool) -> Store:
    """A store that forgets everything when it is closed."""
    return SqliteStore.open(":memory:", clock)


def mount(memory_host: MemoryHost) -> Mounted:
    """A route of its own: how many memories its caller can see."""

    async def count(request: Request) -> JSONResponse:
        seen = await memory_host.run(request.state.caller, lambda memory: memory.count())
        return JSONResponse({"count": seen})

    return Mounted("/example", Starlette(routes=[Route("/count", count)]))
