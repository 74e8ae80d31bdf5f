# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Engram`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engram.aio.conflicts import AsyncConflicts
from engram.aio.entities import AsyncEntities
from engram.aio.facts import AsyncFacts
from engram.aio.sources import AsyncSources
from engram.aio.threads import Opening, Threads, opening
from engram.aio.tokens import AsyncTokens
from engram.config import Config
from engram.engine import Edges, Engram, Events, Findings, Spendings, Turns
from engram.model.axes import Mode, Status
from engram.model.clock import Clock
from engram.model.filters import Filters
from engram.model.health import RecallHealth
from engram.model.memory import Memory
from engram.model.observation import Observation
from engram.model.pages import News, Page, Stats
from engram.model.reasoning import Reasoning
from engram.model.recall import Recall, Wish
from engram.model.receipt import Receipt
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Access, Scope
from engram.model.timeline import Timeline
from engram.nouns.remembering import Given, Results
from engram.ports import Advisor, Embedder


class AsyncEngram:
    """`Engram` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Engram, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        config: Config | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        advisor: Advisor | None = None,
        access: Access = Access(),
        actor: str = "human",
        read_only: bool = False,
    ) -> Opening[AsyncEngram]:
        """Open a file, making it if need be: the given one, `ENGRAM_FILE`, or the user's own.

        ":memory:" keeps nothing.
        """
        return opening(
            cls,
            Engram.open,
            path,
            config=config,
            clock=clock,
            embedder=embedder,
            advisor=advisor,
            access=access,
            actor=actor,
            read_only=read_only,
        )

    async def remember(self, content: str, **given: Any) -> Receipt:
        """Keep one statement. The fields are those of `Draft`; the receipt says what happened and why."""
        return await self._threads.run(self._inner.remember, content, **given)

    async def remember_many(
        self, drafts: Iterable[Given], *, partial: bool = False, progress: Callable[[int], None] | None = None
    ) -> Results:
        """Keep many statements: all or none; with `partial` each good one, and a refusal for each other."""
        return await self._threads.run(
            self._inner.remember_many, drafts, partial=partial, progress=self._threads.told(progress)
        )

    async def observe(
        self,
        user: str | None = None,
        assistant: str | None = None,
        *,
        messages: Sequence[Mapping[str, Any]] | None = None,
        session: str = "",
        time: datetime | str | None = None,
        speaker: str = "",
        assistant_name: str = "",
        message_id: str = "",
        scope: Scope | None = None,
    ) -> Observation:
        """Listen to what was said: an exchange in words, or `messages` in the shape of a chat service.

        Logged at once; read for memories when something matters, when enough has been said, or on `flush`.
        """
        return await self._threads.run(
            self._inner.observe,
            user,
            assistant,
            messages=messages,
            session=session,
            time=time,
            speaker=speaker,
            assistant_name=assistant_name,
            message_id=message_id,
            scope=scope,
        )

    async def flush(self, session: str | None = None, *, scope: Scope | None = None) -> Observation:
        """Read now what waits to be read: at the end of a session, or of all."""
        return await self._threads.run(self._inner.flush, session, scope=scope)

    async def turns(self, session: str, *, limit: int = 1000, after: int = 0) -> Turns:
        """A session word for word, in order; `after` is the key of the last turn already seen."""
        return await self._threads.run(self._inner.turns, session, limit=limit, after=after)

    async def said(self, memory_id: str) -> Turns:
        """The turns a memory came from, word for word."""
        return await self._threads.run(self._inner.said, memory_id)

    async def update(self, memory_id: str, *, because: str = "", **changes: Any) -> Memory:
        """Change fields of a memory; its former content stays in its history."""
        return await self._threads.run(self._inner.update, memory_id, because=because, **changes)

    async def forget(self, memory_id: str, because: str = "") -> Memory:
        """Archive a memory: no longer recalled, and restored at any time."""
        return await self._threads.run(self._inner.forget, memory_id, because)

    async def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring back what was archived, superseded, merged or invalidated."""
        return await self._threads.run(self._inner.restore, memory_id, because)

    async def set_status(self, memory_id: str, status: Status | str, because: str = "") -> Memory:
        """Say that a memory is challenged, invalidated, archived … or active again."""
        return await self._threads.run(self._inner.set_status, memory_id, status, because)

    async def erase(self, memory_id: str, because: str = "") -> None:
        """Remove a memory for good, everywhere: afterwards its words are nowhere in the file."""
        await self._threads.run(self._inner.erase, memory_id, because)

    async def pin(self, memory_id: str, *, pinned: bool = True) -> Memory:
        """Make a memory immune to forgetting, or let it go again."""
        return await self._threads.run(self._inner.pin, memory_id, pinned=pinned)

    async def confirm(self, memory_id: str, because: str = "") -> Memory:
        """Vouch for a memory."""
        return await self._threads.run(self._inner.confirm, memory_id, because)

    async def feedback(self, memory_id: str, *, helpful: bool, query: str = "", because: str = "") -> Memory:
        """Say whether a memory helped. If not, and with the question, it stays out of questions like that."""
        return await self._threads.run(
            self._inner.feedback, memory_id, helpful=helpful, query=query, because=because
        )

    async def relate(
        self,
        source: str,
        target: str,
        type: EdgeType | str = EdgeType.RELATED_TO,
        *,
        weight: float = 1.0,
        confidence: float = 1.0,
    ) -> Edge:
        """Say what one memory is to another."""
        return await self._threads.run(
            self._inner.relate, source, target, type, weight=weight, confidence=confidence
        )

    async def unrelate(self, source: str, target: str, type: EdgeType | str) -> bool:
        """Take a relation away; whether there was one."""
        return await self._threads.run(self._inner.unrelate, source, target, type)

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        budget: int | None = None,
        scope: Scope | None = None,
        filters: Filters | None = None,
        mode: Mode | str = Mode.FULL_CONTEXT,
        rerank: str | None = None,
        profile: str | None = None,
        min_relevance: float | None = None,
        session: str = "",
        dry: bool = False,
        explain: bool = False,
        include_archived: bool = False,
        as_of: datetime | str | None = None,
        plan: Wish | Mapping[str, Any] | None = None,
        expand: bool | None = None,
    ) -> Recall:
        """Find what helps with a question, best first; nothing rather than noise.

        `plan` says what to do otherwise than planned: `{"intent": "temporal", "weights": {"vector": 0.5}}`.
        With `expand` a model words the question in other ways too; by default only when little is found.
        With `as_of` what was believed then, in the words of that time; it leaves no trace.
        """
        return await self._threads.run(
            self._inner.recall,
            query,
            limit=limit,
            budget=budget,
            scope=scope,
            filters=filters,
            mode=mode,
            rerank=rerank,
            profile=profile,
            min_relevance=min_relevance,
            session=session,
            dry=dry,
            explain=explain,
            include_archived=include_archived,
            as_of=as_of,
            plan=plan,
            expand=expand,
        )

    async def timeline(
        self,
        about: str | tuple[str, str],
        *,
        limit: int = 50,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        scope: Scope | None = None,
    ) -> Timeline:
        """How something changed, oldest first: a name, "my editor", subject and predicate, or any words."""
        return await self._threads.run(
            self._inner.timeline, about, limit=limit, since=since, until=until, scope=scope
        )

    async def reason(
        self,
        question: str,
        *,
        depth: int | None = None,
        budget: int | None = None,
        scope: Scope | None = None,
        session: str = "",
    ) -> Reasoning:
        """Think a question through: recall it, take it apart where that is not enough, and answer.

        Without a model the tree of smaller questions with their hits and gaps is the answer. `depth` is how
        often questions are taken apart again; `budget` the tokens of memories that the answer may rest on.
        """
        return await self._threads.run(
            self._inner.reason, question, depth=depth, budget=budget, scope=scope, session=session
        )

    async def recall_health(self) -> RecallHealth:
        """How the last recalls have been going: counts, averages by intent, times, warnings."""
        return await self._threads.run(self._inner.recall_health)

    async def get(self, memory_id: str) -> Memory | None:
        """One memory by its id or the beginning of it; None when there is none."""
        return await self._threads.run(self._inner.get, memory_id)

    async def list(
        self,
        *,
        filters: Filters | None = None,
        limit: int = 50,
        cursor: str | None = None,
        scope: Scope | None = None,
        as_of: datetime | str | None = None,
    ) -> Page:
        """Memories page by page, newest first; with `as_of` what was believed then, as it was."""
        return await self._threads.run(
            self._inner.list, filters=filters, limit=limit, cursor=cursor, scope=scope, as_of=as_of
        )

    async def relations(self, memory_id: str) -> Edges:
        """What a memory is related to, in both directions."""
        return await self._threads.run(self._inner.relations, memory_id)

    async def events(
        self, memory_id: str | None = None, *, limit: int = 100, before: str | None = None
    ) -> Events:
        """The history of a memory, or of all that the caller may see, newest first.

        An erased memory has a history too: its full id still finds the bare facts.
        """
        return await self._threads.run(self._inner.events, memory_id, limit=limit, before=before)

    async def news(self, after: str | None = None, *, limit: int = 100) -> News:
        """What has happened since a place in the ledger, oldest first, and the place to go on from.

        Without a place: nothing yet, and where the ledger ends now.
        """
        return await self._threads.run(self._inner.news, after, limit=limit)

    async def stats(self) -> Stats:
        """How much is kept, of what."""
        return await self._threads.run(self._inner.stats)

    async def doctor(self) -> Findings:
        """Look at every part; repair what can be rebuilt; say in words what to do about the rest."""
        return await self._threads.run(self._inner.doctor)

    async def spending(self, *, days: int = 30) -> Spendings:
        """What calls to models have cost in the last days, by component and model."""
        return await self._threads.run(self._inner.spending, days=days)

    async def reembed(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Give every memory a vector of the present model. Cut off, it goes on where it stopped."""
        return await self._threads.run(self._inner.reembed, progress=self._threads.told(progress))

    def export(self, *, scope: Scope | None = None) -> AsyncIterator[dict[str, Any]]:
        """Every memory in every status as plain data, newest first, with its relations."""
        return self._threads.each(self._inner.export, scope=scope)

    @property
    def facts(self) -> AsyncFacts:
        """What is known about whom: add, ask, follow and end facts."""
        return AsyncFacts(self._inner.facts, self._threads)

    @property
    def entities(self) -> AsyncEntities:
        """Who and what is spoken of: profiles, names, timelines."""
        return AsyncEntities(self._inner.entities, self._threads)

    @property
    def tokens(self) -> AsyncTokens:
        """Who may come in from outside: make, list and revoke tokens."""
        return AsyncTokens(self._inner.tokens, self._threads)

    @property
    def conflicts(self) -> AsyncConflicts:
        """What contradicts what, and settling it."""
        return AsyncConflicts(self._inner.conflicts, self._threads)

    @property
    def sources(self) -> AsyncSources:
        """What comes from elsewhere: documents, chats of other services, code, results."""
        return AsyncSources(self._inner.sources, self._threads)

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._inner.config

    @property
    def access(self) -> Access:
        """Who asks here, and what they may see and change."""
        return self._inner.access

    @property
    def path(self) -> str:
        """Where the memories are kept."""
        return self._inner.path

    async def seen_by(self, access: Access, actor: str) -> AsyncEngram:
        """The same memory for another caller. Cheap; `settle` it when that one goes, close only this."""
        return AsyncEngram(await self._threads.run(self._inner.seen_by, access, actor), self._threads)

    async def settle(self) -> None:
        """Read what was heard here and still waits; afterwards everything handed over is on disk."""
        await self._threads.run(self._inner.settle)

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out."""
        return self._inner.writes_waiting

    async def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""
        await self._threads.close(self._inner.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
