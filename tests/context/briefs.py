"""Short ways to make memories for documents, and tools over fakes to build them with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import blake2b
from typing import Any

from engram.config import Config
from engram.context.recall_pack import PackRequest, build_pack
from engram.index import SignatureIndex
from engram.model.context import RecallPack
from engram.model.memory import Filters, Forms, Memory
from engram.ports import Embedded, Findable, Tools, View
from engram.store.sqlite import SqliteStore
from engram.testing import START, FakeClock, HashEmbedder, sequential_ids
from engram.text import forms
from engram.text.words import content_hash, terms
from tests.store.making import EVERYTHING

TODAY = START
ANY = View(EVERYTHING, Filters())


def made(content: str, *, id_: str = "", days: float = 0, **fields: Any) -> Memory:
    """A memory that was told some days ago."""
    at = TODAY - timedelta(days=days)
    shorter = Forms(forms.summary(content), forms.key_fact(content), forms.label(content))
    base: dict[str, Any] = {"created_at": at, "modified_at": at, "forms": shorter}
    return Memory(
        id=id_ or blake2b(content.encode()).hexdigest(),
        content=content,
        content_hash=content_hash(content),
        **(base | fields),
    )


def tools_with(memories: Iterable[Memory], config: Config | None = None, *, vectors: bool = False) -> Tools:
    """Tools over a store that holds these memories, stored in this order."""
    clock = FakeClock(TODAY)
    store, embedder = SqliteStore.open(":memory:", clock), HashEmbedder()
    kept = list(memories)

    def vector(one: Memory) -> Embedded | None:
        space, rows = embedder.embed([one.content])
        return Embedded(space, rows[0]) if vectors else None

    def work(unit: Any) -> None:
        for one in kept:
            unit.add(one, Findable(tuple(terms(one.content))), vector(one), "said so")

    store.write(work, "tester")
    return Tools(
        store=store,
        index=SignatureIndex(store),
        embedder=embedder,
        clock=clock,
        config=config or Config(),
        new_id=sequential_ids(),
        count_tokens=len,
    )


def pack(memories: Sequence[Memory], config: Config | None = None, **asked: Any) -> RecallPack:
    """The pack of these memories."""
    tools = tools_with(memories, config)
    try:
        return build_pack(PackRequest(ANY, **asked), tools)
    finally:
        tools.store.close()


def told(found: RecallPack, section: str) -> str:
    """The text of a section; empty when it is not there."""
    return next((one.text for one in found.sections if one.name == section), "")
