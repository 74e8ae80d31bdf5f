# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Facts`: the same verbs, awaited."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engram.aio.threads import Threads
from engram.model.facts import Claim, Fact
from engram.model.memory import Memory
from engram.model.receipt import Receipt
from engram.model.scope import Scope
from engram.nouns.facts import CHAINS, DISPUTES, Claims, Facts, Pairs, Paths


class AsyncFacts:
    """`Facts` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Facts, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        functional: bool | None = None,
        confidence: float | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        scope: Scope | None = None,
        because: str = "",
        **given: Any,
    ) -> Receipt:
        """State a fact. It takes the place of the one with another object, if there can be only one.

        `functional` says whether there is one object at a time; left out, the predicate tells: one
        lives in one place but likes many things. Other fields are those of `Draft`.
        """
        return await self._threads.run(
            self._inner.add,
            subject,
            predicate,
            object,
            functional=functional,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            scope=scope,
            because=because,
            **given,
        )

    async def query(
        self,
        subject: str = "",
        predicate: str = "",
        object: str = "",
        *,
        as_of: datetime | str | None = None,
        limit: int = 50,
        scope: Scope | None = None,
        history: bool = False,
    ) -> Claims:
        """Facts that fit, newest first; every name of an entity counts, and "pet" finds a dog.

        What holds now; with `as_of` what held then; with `history` whatever was ever said.
        """
        return await self._threads.run(
            self._inner.query,
            subject,
            predicate,
            object,
            as_of=as_of,
            limit=limit,
            scope=scope,
            history=history,
        )

    async def of(self, memory_id: str) -> Claims:
        """What one memory states, in the order of its words."""
        return await self._threads.run(self._inner.of, memory_id)

    async def history(self, subject: str, predicate: str = "", *, limit: int = 100) -> Claims:
        """Everything ever stated about a subject, oldest first; each fact says from when to when it held."""
        return await self._threads.run(self._inner.history, subject, predicate, limit=limit)

    async def conflicts(self, limit: int = DISPUTES) -> Pairs:
        """Pairs of facts that cannot both be true and that nobody has decided about, newest first."""
        return await self._threads.run(self._inner.conflicts, limit)

    async def chain(self, start: str, *, hops: int = 2, goal: str = "", limit: int = CHAINS) -> Paths:
        """What follows from what: paths of facts from a name, the surest first; to `goal` if one is named.

        The object of one fact is the subject of the next, or the other way round.
        """
        return await self._threads.run(self._inner.chain, start, hops=hops, goal=goal, limit=limit)

    async def end(
        self,
        claim: Claim | str,
        fact: Fact | None = None,
        *,
        at: datetime | str | None = None,
        because: str = "",
    ) -> Memory:
        """Say that a fact of a memory holds no longer, now or since `at`. Its memory keeps the words.

        A claim says which fact it is; a memory's id may stand alone if the memory states just one.
        """
        return await self._threads.run(self._inner.end, claim, fact, at=at, because=because)
