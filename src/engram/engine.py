"""Engram: the facade. Opens the parts, joins them, and gives each verb to the flow that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from engram.api import recalling, remembering
from engram.api.caller import CallerContext, chance
from engram.api.maintenance import Maintenance
from engram.api.recalling import Recalling
from engram.api.remembering import Given, Results
from engram.api.verbs import Nouns, VerbsBefore
from engram.config import Config, load, own_copy
from engram.errors import EngramError, UnknownValue
from engram.lazily import lazily, replace
from engram.model.capture import Draft, Observation, Receipt
from engram.model.clock import Clock
from engram.model.context import Context, RecallPack, Resume, Sections
from engram.model.event import Audited, Page, Stats
from engram.model.maintenance import Report
from engram.model.memory import Filters, Memory, Status
from engram.model.plain import draft
from engram.model.recall import Reasoning, Recall, RecallOptions, Timeline, without_figures
from engram.model.scope import Access, Scope
from engram.opening import Overrides, is_folder, open_tools, place, shown
from engram.ports import Advisor, Embedder, Tools, Unit
from engram.pressure import Pressure

if TYPE_CHECKING:
    from engram import folder
    from engram.api import briefing, browsing, contexts, gaps, workspace
    from engram.api.session import Session
    from engram.api.sessions import Sessions
    from engram.api.vault import Vault
    from engram.capture import change, pipeline
else:
    folder = lazily("engram.folder")
    workspace = lazily("engram.api.workspace")
    briefing = lazily("engram.api.briefing")
    browsing = lazily("engram.api.browsing")
    contexts = lazily("engram.api.contexts")
    gaps = lazily("engram.api.gaps")
    change = lazily("engram.capture.change")
    pipeline = lazily("engram.capture.pipeline")

DRAFT_FIELDS = tuple(field.name for field in fields(Draft))


class Engram(Nouns, VerbsBefore):
    """A memory that is open. Safe to use from many threads; close it, or use it in a `with` block."""

    def __init__(
        self, tools: Tools, access: Access, actor: str, path: str, opened: Access | None = None
    ) -> None:
        super().__init__(CallerContext(tools, access, actor, opened))
        self._recalling = Recalling(self._caller)
        self._path = path

    @property
    def _tools(self) -> Tools:
        return self._caller.tools

    @classmethod
    def open(  # noqa: PLR0913 - each is a thing a user may bring along; all but the path by name
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
        key: bytes | str | None = None,
    ) -> Engram:
        """Open a file, made if need be: the given, `ENGRAM_FILE`, or your own; ":memory:" keeps nothing.

        "tenants/" or a folder that is there keeps one file for each namespace, so many open at a time.

        `key` opens a vault, and makes a new file one: 32 bytes, their digits, or a passphrase. By default
        `ENGRAM_KEY`, `ENGRAM_KEY_FILE` or what `engram vault unlock` holds. Raises KeyNeeded without one.
        """
        settings = own_copy(config if isinstance(config, Config) else load(arguments=config))
        where = place(path)
        brought = Overrides(clock, embedder, advisor, key)
        if is_folder(where):
            opener = partial(cls.open, read_only=read_only)
            return folder.open_folder(cls, opener, where, settings, brought, (access, actor))
        tools = open_tools(where, settings, brought, read_only=read_only)
        try:
            memory = cls(tools, access, actor, where)
        except EngramError:
            tools.store.close()
            raise
        if not read_only:
            if tools.keys is not None:
                change.seal_everything(tools, actor)
                memory._caller.note(Audited.UNLOCKED)
            memory.backups.start_if_due()
        return memory

    # ------------------------------------------------------------ writing

    def remember(self, content: str, **given: Any) -> Receipt:
        """Keep one statement. The fields are those of `Draft`; the receipt says what happened and why.

        Raises InvalidInput for what cannot be kept, AccessDenied, TooMuchWritten; nothing is written then.
        """
        if unknown := given.keys() - DRAFT_FIELDS:
            raise UnknownValue("field of a memory", min(unknown), DRAFT_FIELDS)
        made = replace(draft(self._tools.zone, content="", **given), content=content)
        drafts = [self._caller.mine(made)]
        self._caller.check_drafts(drafts)
        receipts = pipeline.remember(drafts, self._tools, self._caller.actor)
        self._caller.pay(receipts)
        return receipts[0]

    def remember_many(
        self, drafts: Iterable[Given], *, partial: bool = False, progress: Callable[[int], None] | None = None
    ) -> Results:
        """Keep many statements: all or none; with `partial` each good one, and a refusal for each other.

        A statement is its words, a `Draft` or its fields. Gives what became of each, in the order given;
        `progress` is told how many are kept. Raises as `remember`.
        """
        return remembering.many(self._caller, drafts, progress, partial=partial)

    def observe(  # noqa: PLR0913 - what may be known about something said; all but the words by name
        self,
        user: str | Sequence[Mapping[str, Any]] | None = None,
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
        """Listen to what was said: an exchange in words, or messages in the shape of a chat service.

        Messages come first or by name. All is logged at once; read for memories when something matters, when
        enough has been said, or on `flush`. Gives what was learned and left out; under a `message_id` that is
        known nothing is taken in again. Raises InvalidInput, AccessDenied, TooMuchWritten.
        """
        if isinstance(user, list | tuple):
            user, messages = None, [*cast("Sequence[Mapping[str, Any]]", user), *(messages or ())]
        setting = self._listening.setting(session, time, scope, speaker, assistant_name)
        turns = self._listening.words(cast("str | None", user), assistant, setting, message_id)
        if messages is not None:
            turns += self._listening.messages(messages, setting)
        return self._listening.hear(turns)

    def flush(self, session: str | None = None, *, scope: Scope | None = None) -> Observation:
        """Read now what waits, of a session or of all. Returns what was learned. Raises AccessDenied."""
        return self._listening.flush(session, scope)

    def update(self, memory_id: str, *, because: str = "", **changes: Any) -> Memory:
        """Change fields of a memory and return it; its history keeps the former content.

        Raises NotFound, AmbiguousId, AccessDenied, and InvalidInput for what cannot be changed so.
        """
        return change.update(self._caller.own(memory_id), changes, self._tools, self._caller.actor, because)

    def forget(self, memory_id: str, because: str = "") -> Memory:
        """Archive a memory: no longer recalled, and restored at any time. Raises NotFound, AccessDenied."""
        return self.memories.set_status(memory_id, Status.ARCHIVED, because)

    def erase(self, memory_id: str, because: str = "") -> None:
        """Remove a memory for good: afterwards its words are nowhere in the file.

        The ledger keeps the bare fact. Raises NotFound, AmbiguousId, AccessDenied.
        """
        full = self._caller.own(memory_id)

        def work(unit: Unit) -> None:
            gaps.forget_names(unit, full, self.access.scope)
            unit.erase(full, because)

        self._tools.store.write(work, self._caller.actor)
        self._tools.store.leave_nothing()

    # ------------------------------------------------------------ reading

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what helps with a question, best first.

        The options are those of `RecallOptions`: limit, budget, scope, filters, as_of, explain and others.
        `plan` says what to do otherwise than planned: `{"intent": "temporal", "weights": {"vector": 0.5}}`.
        With `as_of` what was believed then; it leaves no trace. Gives the hits with the plan, what was left
        out and why. Raises InvalidInput for what cannot be asked so, AccessDenied, TooManyRecalls.
        """
        question = recalling.question(self._caller, query, options)
        answer = self._recalling.answer(question, mode_given=options.get("rerank") is not None)
        answer = self._caller.answered(answer)
        if not self._caller.is_guest:
            return answer
        noise = self._tools.config.limits.noise
        return without_figures(answer, self._caller.access, chance(noise, len(answer.hits)) if noise else ())

    def hand_over_recall(
        self, then: Callable[[bytes | None], None], ahead: int, query: str, **options: Unpack[RecallOptions]
    ) -> bool:
        """Have a process beside this one recall for an owner, if one has fewer than `ahead` questions.

        Gives whether one has; `then` is told the answer in JSON, by the event loop that asks or by another
        thread. None: recall it here.
        """
        question = recalling.question(self._caller, query, options)
        named = options.get("rerank") is not None
        return self._recalling.hand_over(question, then, ahead, mode_given=named)

    def context(  # noqa: PLR0913 - each is a thing a prompt is made of; all but the message by name
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
        Raises PromptTooLong when system prompt and message alone are more than that.
        """
        wanted = contexts.PromptOptions(
            message, about, model, system, history, budget, session, scope, sections, dry=dry
        )
        return contexts.Contexts(self._caller, self._recalling).make(wanted)

    def timeline(
        self,
        about: str | tuple[str, str],
        *,
        limit: int = 50,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        scope: Scope | None = None,
    ) -> Timeline:
        """How something changed, oldest first: a name, "my editor", subject and predicate, or any words."""
        return self._recalling.timeline(about, limit, (since, until), scope)

    def reason(
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
        return self._recalling.reason(question, depth, budget, scope, session)

    def resume(
        self,
        budget: int | None = None,
        *,
        form: str = "full",
        scope: Scope | None = None,
        workspace: str = "",
    ) -> Resume:
        """What a session that starts cold should know, in at most `budget` characters; counts as no use.

        `form` is full or compact. `workspace` leaves out what belongs to another one. Raises OutOfRange for a
        budget under 200, UnknownValue for another form.
        """
        return briefing.resumed(self._caller, budget, form, scope, workspace)

    def recall_pack(
        self, message: str = "", *, tasks: Sequence[str] = (), scope: Scope | None = None, workspace: str = ""
    ) -> RecallPack:
        """The document to start a session with: what always holds, open loops, today, context, procedures.

        The same memories give the same bytes all day. `tasks` says what is to be done today; words of the
        `message` may load more pages (see `triggers`). Raises AccessDenied, InvalidInput.
        """
        return briefing.packed(self._caller, message, tasks, scope, workspace)

    def get(self, memory_id: str) -> Memory | None:
        """One memory by its id or the beginning of it; None when there is none. Raises AmbiguousId."""
        return browsing.get(self._caller, memory_id)

    def list(
        self,
        *,
        filters: Filters | None = None,
        limit: int = 50,
        cursor: str | None = None,
        scope: Scope | None = None,
        as_of: datetime | str | None = None,
    ) -> Page:
        """Memories page by page, newest first; with `as_of` what was believed then, as it was.

        `cursor` is that of the page before. Raises BadCursor, OutOfRange, AccessDenied.
        """
        return browsing.page(self._caller, filters, (limit, cursor), scope, as_of)

    def stats(self) -> Stats:
        """Counts of what is kept."""
        return self._tools.store.memories.stats(self._caller.access, self._caller.space())

    def stats_of_open(self) -> Stats:
        """How much is kept in all that is open: the whole file; of a folder, the files open now."""
        return self.seen_by(Access.everything(), "engine").stats()

    # ------------------------------------------------------------ upkeep

    def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Let memories mature: promote, merge, learn, doubt and forget. `dry` tells what would happen.

        Cut off, it goes on where it stopped; `undo` takes the whole run back. `stages` are those to run, by
        default all; `progress` is told which step of how many. Raises UpkeepBusy, AccessDenied, UnknownValue.
        """
        return self.maintenance.consolidate(dry=dry, stages=stages, progress=progress)

    def export(self, *, scope: Scope | None = None, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Every memory in every status as plain data, newest first, with its relations."""
        return browsing.everything(self._caller, scope, vectors=vectors)

    def session(
        self,
        *,
        agent: str = "",
        model: str = "",
        id: str = "",
        scope: Scope | None = None,
        timezone: str = "",
    ) -> Session:
        """A conversation, awake: the one of this id, the agent's last if it sleeps, or a new one."""
        return self.sessions.open(agent, model, id, scope, timezone)

    @cached_property
    def maintenance(self) -> Maintenance:
        """Looking after the memory: runs and taking them back, damage, space, what models cost."""
        parts = (self._listening.finding, self._recalling.finding, self.backups.finding)
        return Maintenance(self._caller, self._recalling, parts, lambda: self.workspace)

    @cached_property
    def vault(self) -> Vault:
        """Whether the file is encrypted, and taking people, places and conversations out of it for good."""
        from engram.api.vault import Vault  # few need it

        return Vault(self._caller, self._path, lambda: workspace.to_purge_folders(self._caller))

    @cached_property
    def sessions(self) -> Sessions:
        """Conversations, awake and asleep: start, look at, suspend and resume them."""
        from engram.api.sessions import Sessions  # with numpy, which most who open a memory need later

        made = Sessions(self._caller, self._listening, self._recalling)
        return cast("Sessions", vars(self).setdefault("sessions", made))  # two at once get the same ones

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._tools.config

    @property
    def access(self) -> Access:
        """Who asks here, and what they may see and change."""
        return self._caller.access

    @property
    def path(self) -> str:
        """Where the memories are kept; an address without its password."""
        return shown(self._path)

    def seen_by(self, access: Access, actor: str) -> Engram:
        """The same memory for another caller. Cheap; `settle` it when that one goes, close only this."""
        opened = self._caller.opened or self._caller.access
        other = type(self)(self._tools, access, actor, self._path, opened)
        other._recalling = self._recalling.beside(other._caller)  # noqa: SLF001 - one record, one set of limits
        return other

    def settle(self) -> None:
        """Read what was heard here and still waits; afterwards everything handed over is on disk."""
        self._rest()
        self._listening.close()
        self._tools.store.flush()

    def _rest(self) -> None:
        """Send to sleep whatever sessions there are."""
        if "sessions" in vars(self):
            self.sessions.close()

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out."""
        return self._tools.store.writes_waiting

    @property
    def pressure(self) -> Pressure:
        """How much memory this process uses of what it may."""
        return self._tools.pressure.relieve()

    @property
    def model_trouble(self) -> str:
        """That the last calls to the model brought nothing, and why; empty when it works or there is none."""
        return self._tools.model_trouble()

    def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""
        try:
            self._rest()
            self._listening.close()
        finally:
            self.backups.finish()
            self._recalling.close()
            self._tools.index.settle()
            self._tools.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
