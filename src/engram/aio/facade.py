# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Engram`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engram.aio.answers import AsyncAnswers
from engram.aio.bus import AsyncBus
from engram.aio.commitments import AsyncCommitments
from engram.aio.conflicts import AsyncConflicts
from engram.aio.entities import AsyncEntities
from engram.aio.facts import AsyncFacts
from engram.aio.gaps import AsyncGaps
from engram.aio.knowledge import AsyncKnowledge
from engram.aio.session import AsyncSession
from engram.aio.sessions import AsyncSessions
from engram.aio.sources import AsyncSources
from engram.aio.threads import Opening, Threads, beginning, opening
from engram.aio.tokens import AsyncTokens
from engram.aio.trash import AsyncTrash
from engram.aio.triggers import AsyncTriggers
from engram.aio.upkeep import AsyncUpkeep
from engram.config import Config
from engram.engine import Edges, Engram, Events, Findings, Spendings, Turns
from engram.model.axes import Mode, Status
from engram.model.briefing import RecallPack, Resume
from engram.model.clock import Clock
from engram.model.context import Context, Sections
from engram.model.drift import DriftReport
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
from engram.model.upkeep import Report, Undone
from engram.nouns.adopting import Adopted
from engram.nouns.remembering import Given, Results
from engram.ports import Advisor, Embedder


class AsyncEngram:
    """`Engram` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Engram, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    @property
    def facts(self) -> AsyncFacts:
        """What is known about whom: add, ask, follow and end facts."""
        return AsyncFacts(self._inner.facts, self._threads)

    @property
    def entities(self) -> AsyncEntities:
        """Who and what is spoken of: profiles, names, timelines."""
        return AsyncEntities(self._inner.entities, self._threads)

    @property
    def knowledge(self) -> AsyncKnowledge:
        """What was learned from memories taken together: profile, map, tree, cards, topics, boxes."""
        return AsyncKnowledge(self._inner.knowledge, self._threads)

    @property
    def bus(self) -> AsyncBus:
        """What agents tell each other: offer, ask for and deliver memories."""
        return AsyncBus(self._inner.bus, self._threads)

    @property
    def upkeep(self) -> AsyncUpkeep:
        """Maintenance: its runs, their reports, taking them back."""
        return AsyncUpkeep(self._inner.upkeep, self._threads)

    @property
    def trash(self) -> AsyncTrash:
        """What was forgotten and can still be brought back: look, restore, empty."""
        return AsyncTrash(self._inner.trash, self._threads)

    @property
    def answers(self) -> AsyncAnswers:
        """What was answered to writes that carried a key; for the doors."""
        return AsyncAnswers(self._inner.answers, self._threads)

    @property
    def tokens(self) -> AsyncTokens:
        """Who may come in from outside: make, list and revoke tokens."""
        return AsyncTokens(self._inner.tokens, self._threads)

    @property
    def conflicts(self) -> AsyncConflicts:
        """What contradicts what, and settling it."""
        return AsyncConflicts(self._inner.conflicts, self._threads)

    @property
    def commitments(self) -> AsyncCommitments:
        """Open loops: what was promised, what is waited for, what is done."""
        return AsyncCommitments(self._inner.commitments, self._threads)

    @property
    def gaps(self) -> AsyncGaps:
        """What is not known and would be good to know: ask, answer, let be."""
        return AsyncGaps(self._inner.gaps, self._threads)

    @property
    def triggers(self) -> AsyncTriggers:
        """Words in a message that load pages into the recall pack."""
        return AsyncTriggers(self._inner.triggers, self._threads)

    async def drift(
        self, directory: str = "", *, apply: bool = False, limit: int = 1000, scope: Scope | None = None
    ) -> DriftReport:
        """Check what memories claim about files, symbols, versions and addresses against a directory.

        Without one the setting `doubt.directory`. With `apply` memories whose references are dead are
        challenged, and invalidated if they stay so; `undo` takes that back.
        """
        return await self._threads.run(self._inner.drift, directory, apply=apply, limit=limit, scope=scope)

    @property
    def sources(self) -> AsyncSources:
        """What comes from elsewhere: documents, chats of other services, code, results."""
        return AsyncSources(self._inner.sources, self._threads)

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

    async def promote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer up: from the buffer to working, from working to core."""
        return await self._threads.run(self._inner.promote, memory_id, because)

    async def demote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer down."""
        return await self._threads.run(self._inner.demote, memory_id, because)

    async def touch(self, memory_ids: Sequence[str], *, session: str = "") -> int:
        """Count a use of memories that were read otherwise than by recall; how many."""
        return await self._threads.run(self._inner.touch, memory_ids, session=session)

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

    async def context(
        self,
        message: str = "",
        *,
        about: str = "",
        model: str = "",
        system: str = "",
        history: Sequence[Mapping[str, Any]] | None = None,
        budget: int | None = None,
        session: str = "",
        scope: Scope | None = None,
        sections: Sections | None = None,
        dry: bool = False,
    ) -> Context:
        """A prompt for a model: what is remembered, the talk so far and the message, within its budget.

        `about` is what to recall by when the message tells too little. Without a `history` the log of the
        `session` is the talk so far. `budget` is for all of the prompt; by default what the model takes.
        """
        return await self._threads.run(
            self._inner.context,
            message,
            about=about,
            model=model,
            system=system,
            history=history,
            budget=budget,
            session=session,
            scope=scope,
            sections=sections,
            dry=dry,
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

    async def resume(
        self,
        budget: int | None = None,
        *,
        form: str = "full",
        scope: Scope | None = None,
        workspace: str = "",
    ) -> Resume:
        """What a session that starts cold should know, in at most `budget` characters; counts as no use.

        `form` is full or compact. `workspace` leaves out what belongs to another one.
        """
        return await self._threads.run(
            self._inner.resume, budget, form=form, scope=scope, workspace=workspace
        )

    async def recall_pack(
        self, message: str = "", *, tasks: Sequence[str] = (), scope: Scope | None = None, workspace: str = ""
    ) -> RecallPack:
        """The document to start a session with: what always holds, open loops, today, context, procedures.

        The same memories give the same bytes all day. `tasks` says what is to be done today; words of the
        `message` may load more pages (see `triggers`).
        """
        return await self._threads.run(
            self._inner.recall_pack, message, tasks=tasks, scope=scope, workspace=workspace
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

    async def count(self, *, filters: Filters | None = None, scope: Scope | None = None) -> int:
        """How many memories fit."""
        return await self._threads.run(self._inner.count, filters=filters, scope=scope)

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

    async def doctor(self, *, repair: bool = False) -> Findings:
        """Look at every part and say in words what to do; with `repair` mend what can be rebuilt."""
        return await self._threads.run(self._inner.doctor, repair=repair)

    async def vacuum(self, *, full: bool = True) -> int:
        """Give freed space back; how many bytes. Unless `full`, without writing the whole file anew."""
        return await self._threads.run(self._inner.vacuum, full=full)

    async def spending(self, *, days: int = 30, daily: bool = False) -> Spendings:
        """What calls to models have cost in the last days, by component and model; `daily`, by day too."""
        return await self._threads.run(self._inner.spending, days=days, daily=daily)

    async def forget_spending(self) -> int:
        """Forget what models have cost; how many calls there were."""
        return await self._threads.run(self._inner.forget_spending)

    async def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Let memories mature: promote, merge, learn, doubt and forget. `dry` tells what would happen.

        Cut off, it goes on where it stopped; `undo` takes the whole run back.
        """
        return await self._threads.run(
            self._inner.consolidate, dry=dry, stages=stages, progress=self._threads.told(progress)
        )

    async def dream(self, *, dry: bool = False) -> Report:
        """Replay what is at risk, link what belongs together, strengthen what matters."""
        return await self._threads.run(self._inner.dream, dry=dry)

    async def audit(self, *, dry: bool = False) -> Report:
        """Let a model look over what is known for good; each of its proposals is tried in a sandbox first."""
        return await self._threads.run(self._inner.audit, dry=dry)

    async def undo(self, run_id: str) -> Undone:
        """Take a run of maintenance back; what somebody has changed since stays as it is."""
        return await self._threads.run(self._inner.undo, run_id)

    async def reembed(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Give every memory a vector of the present model. Cut off, it goes on where it stopped."""
        return await self._threads.run(self._inner.reembed, progress=self._threads.told(progress))

    def export(self, *, scope: Scope | None = None, vectors: bool = False) -> AsyncIterator[dict[str, Any]]:
        """Every memory in every status as plain data, newest first, with its relations."""
        return self._threads.each(self._inner.export, scope=scope, vectors=vectors)

    async def adopt(self, records: Iterable[Mapping[str, Any]]) -> Adopted:
        """Take in what `export` wrote as it was, with ids, times and counts; what is here already stays."""
        return await self._threads.run(self._inner.adopt, records)

    def session(
        self, *, agent: str = "", model: str = "", id: str = "", scope: Scope | None = None
    ) -> Opening[AsyncSession]:
        """A conversation, awake: the one of this id, the agent's last if it sleeps, or a new one."""
        return beginning(
            AsyncSession, self._threads, self._inner.session, agent=agent, model=model, id=id, scope=scope
        )

    @property
    def sessions(self) -> AsyncSessions:
        """Conversations, awake and asleep: start, look at, suspend and resume them."""
        return AsyncSessions(self._inner.sessions, self._threads)

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
