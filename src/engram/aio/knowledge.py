# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Knowledge`: the same verbs, awaited."""

from __future__ import annotations

from engram.aio.threads import Threads
from engram.model.abstraction import Abstraction
from engram.model.context import Knowing
from engram.model.knowledge import Behaviour, Card, CoreSummary, Guidelines, KnowledgeMap, Reflections
from engram.model.scope import Scope
from engram.nouns.knowledge import Boxes, Cards, Knowledge, Patterns, Topics, Traces


class AsyncKnowledge:
    """`Knowledge` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Knowledge, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def tree(self, *, scope: Scope | None = None) -> Abstraction:
        """Everything that is kept, at three distances: clusters, domains, one paragraph."""
        return await self._threads.run(self._inner.tree, scope=scope)

    async def profile(self, *, scope: Scope | None = None) -> Behaviour:
        """How somebody is and wants things, in few lines."""
        return await self._threads.run(self._inner.profile, scope=scope)

    async def identity(self, *, scope: Scope | None = None) -> Reflections:
        """What somebody says about themselves; its gist when it is long."""
        return await self._threads.run(self._inner.identity, scope=scope)

    async def map(self, *, scope: Scope | None = None) -> KnowledgeMap:
        """How well each domain is known, the largest first."""
        return await self._threads.run(self._inner.map, scope=scope)

    async def card(self, name: str) -> Card | None:
        """The card of somebody or something, under any of its names; None when there is none."""
        return await self._threads.run(self._inner.card, name)

    async def cards(self, *, prefix: str = "", limit: int = 50, scope: Scope | None = None) -> Cards:
        """Cards by name; those whose name begins so."""
        return await self._threads.run(self._inner.cards, prefix=prefix, limit=limit, scope=scope)

    async def core(self, *, scope: Scope | None = None) -> CoreSummary:
        """What has proved itself, in a few lines."""
        return await self._threads.run(self._inner.core, scope=scope)

    async def topics(self, *, scope: Scope | None = None) -> Topics:
        """What memories are about, the commonest topics first."""
        return await self._threads.run(self._inner.topics, scope=scope)

    async def boxes(self, *, limit: int = 50, scope: Scope | None = None) -> Boxes:
        """What was going on together, the latest first."""
        return await self._threads.run(self._inner.boxes, limit=limit, scope=scope)

    async def traces(self, *, limit: int = 50, scope: Scope | None = None) -> Traces:
        """Threads of boxes about the same, the one that was last taken up first."""
        return await self._threads.run(self._inner.traces, limit=limit, scope=scope)

    async def patterns(self, *, limit: int = 50, scope: Scope | None = None) -> Patterns:
        """What similar episodes have in common, the most repeated first."""
        return await self._threads.run(self._inner.patterns, limit=limit, scope=scope)

    async def guidelines(self, *, scope: Scope | None = None) -> Guidelines:
        """What past runs and recalls teach about shortening and letting go."""
        return await self._threads.run(self._inner.guidelines, scope=scope)

    async def knowing(self, about: str, *, scope: Scope | None = None) -> Knowing | None:
        """What is not known of what a question is about, by gaps and the map; None where neither tells."""
        return await self._threads.run(self._inner.knowing, about, scope=scope)
