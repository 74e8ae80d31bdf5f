# Written by scripts/aio.py from the facade. Change that, then run `make docs`.
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, Unpack

from engram.api.browsing import Lying
from engram.api.bus import Offers, Wishes
from engram.api.caller import Found as _CallerFound
from engram.api.caller import Issued
from engram.api.commitments import Found as _CommitmentsFound
from engram.api.commitments import Loops
from engram.api.conflicts import Found as _ConflictsFound
from engram.api.facts import Claims, Pairs, Paths, Profile, Steps
from engram.api.facts import Found as _FactsFound
from engram.api.gaps import Found as _GapsFound
from engram.api.knowledge import Boxes, Cards, Patterns, Topics, Traces
from engram.api.remembering import Given, Results
from engram.api.session_services import Completed, Learned, StepGiven
from engram.api.sessions import Begun, Infos
from engram.api.sources import Progress as _SourcesProgress
from engram.api.vault import Findings, Kept, VaultStatus
from engram.api.workspace import WorkspaceStatus
from engram.api.workspace_reading import SyncReport
from engram.capture.sources.documents import Finding as _DocumentsFinding
from engram.config import Config
from engram.model.capture import Ending, ImportedRecords, IngestReport, Observation, Receipt, Turn
from engram.model.clock import Clock
from engram.model.context import Context, Knowing, RecallPack, Resume, Sections
from engram.model.event import (
    ArchiveReport,
    Audited,
    AuditEntry,
    Backup,
    Event,
    News,
    Page,
    Publication,
    PurgeCertificate,
    Stats,
    Subscription,
)
from engram.model.event import Finding as _EventFinding
from engram.model.facts import Claim, Edge, EdgeType, Entity, Fact
from engram.model.knowledge import (
    Abstraction,
    Behaviour,
    Card,
    CoreSummary,
    Guidelines,
    KnowledgeMap,
    Reflections,
    Spent,
)
from engram.model.maintenance import DriftReport, Report, Run, RunKind, Undone
from engram.model.maintenance import Progress as _MaintenanceProgress
from engram.model.memory import Filters, Memory, Status
from engram.model.recall import Reasoning, Recall, RecallHealth, RecallOptions, Timeline
from engram.model.scope import Access, Role, Scope, Token
from engram.model.session import (
    Commitment,
    Gap,
    LoopState,
    Origin,
    Restored,
    SessionInfo,
    Slot,
    TopicChange,
    Trigger,
)
from engram.ports import Advisor, Embedder
from engram.pressure import Pressure
from engram.session.state import Spoken
from engram.workspace import git

class _Entered(Protocol):
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

_E = TypeVar("_E", bound=_Entered)

class Opening(Awaitable[_E]):
    """Something about to begin: `await` it and end it yourself, or let `async with` do both."""

    def __await__(self) -> Generator[Any, Any, _E]: ...
    async def __aenter__(self) -> _E: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class AsyncEngram:
    """`Engram` for asyncio: the same verbs, awaited."""
    async def adopt(self, records: Iterable[Mapping[str, Any]], *, dry: bool = False) -> ImportedRecords:
        """Take in what `export` wrote as it was, with ids, times and counts; what is here already stays."""

    async def audit(self, *, dry: bool = False, progress: _MaintenanceProgress | None = None) -> Report:
        """Let a model look over core and working memories; it may only promote, demote, weigh and merge.

        Every proposal is tried in a sandbox first. Raises ModelNeeded and UpkeepBusy.
        """

    async def confirm(self, memory_id: str, because: str = "") -> Memory:
        """Vouch for a memory. Raises NotFound, AmbiguousId, AccessDenied."""

    async def count(self, *, filters: Filters | None = None, scope: Scope | None = None) -> int:
        """How many memories fit. Raises AccessDenied, InvalidInput."""

    async def demote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer down. Raises NotFound, AmbiguousId, AccessDenied, NoFurtherLayer."""

    async def doctor(self, *, repair: bool = False) -> list[_EventFinding]:
        """Look at every part and say in words what to do; with `repair` mend what can be rebuilt."""

    async def dream(
        self,
        *,
        dry: bool = False,
        progress: _MaintenanceProgress | None = None,
        stopping: Callable[[], bool] | None = None,
    ) -> Report:
        """Replay what is at risk, link what belongs together, strengthen what matters. Raises UpkeepBusy."""

    async def drift(
        self, directory: str = "", *, apply: bool = False, limit: int = 1000, scope: Scope | None = None
    ) -> DriftReport:
        """Check what memories claim about files, symbols, versions and addresses against a directory.

        Without one the setting `doubt.directory`. With `apply` memories whose references are dead are
        challenged, and invalidated if they stay so; `undo` takes that back.
        """

    async def events(
        self, memory_id: str | None = None, *, limit: int = 100, before: str | None = None
    ) -> list[Event]:
        """The history of a memory, or of all that the caller may see, newest first.

        An erased memory has a history too: its full id still finds the bare facts.
        Raises NotFound, AmbiguousId, OutOfRange.
        """

    async def feedback(self, memory_id: str, *, helpful: bool, query: str = "", because: str = "") -> Memory:
        """Say whether a memory helped. Returns it with its counts. Raises NotFound, AccessDenied.

        If it did not, and with the question, it stays out of questions like that.
        """

    async def forget_spending(self) -> int:
        """Forget what models have cost. Returns how many calls there were. Raises AccessDenied."""

    async def news(self, after: str | None = None, *, limit: int = 100) -> News:
        """What has happened since a place in the ledger, oldest first, and the place to go on from.

        Without a place: nothing yet, and where the ledger ends now. Raises InvalidInput.
        """

    async def pin(self, memory_id: str, *, pinned: bool = True) -> Memory:
        """Protect a memory from forgetting, or end that.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def promote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer up: from the buffer to working, from working to core.

        Raises NotFound, AmbiguousId, AccessDenied, NoFurtherLayer.
        """

    async def recall_health(self) -> RecallHealth:
        """How the last recalls have been going: counts, averages by intent, times, warnings."""

    async def reembed(self, *, progress: _MaintenanceProgress | None = None) -> int:
        """Give every memory a vector of the present model. Cut off, it goes on where it stopped."""

    async def relate(
        self,
        source: str,
        target: str,
        type: EdgeType | str = ...,
        *,
        weight: float = 1.0,
        confidence: float = 1.0,
    ) -> Edge:
        """Relate one memory to another, and return the edge, new or stronger.

        `weight` and `confidence` are shares. Raises NotFound, AccessDenied, UnknownValue for another type,
        and CycleRefused where a memory would come to rest on itself.
        """

    async def relations(self, memory_id: str) -> list[Edge]:
        """What a memory is related to, in both directions. Raises NotFound, AmbiguousId."""

    async def reread(
        self,
        *,
        session: str = "",
        rules: bool = False,
        dry: bool = False,
        progress: _MaintenanceProgress | None = None,
    ) -> Report:
        """Read the log of turns again with today's rules, or the model, and let what is believed follow.

        What people changed by hand stays as they left it. Cut off, it goes on where it stopped; `undo` takes
        all of it back. Only the turns of one `session`, if it is named; with `rules` no model is asked;
        `dry` only tells what would happen. `progress` hears how many turns of how many are read.
        Raises UpkeepBusy.
        """

    async def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring back what was archived, superseded, merged or invalidated. Raises NotFound, BadTransition."""

    async def said(self, memory_id: str) -> list[Turn]:
        """The turns a memory came from, word for word. Raises NotFound, AmbiguousId."""

    async def set_status(self, memory_id: str, status: Status | str, because: str = "") -> Memory:
        """Say that a memory is challenged, invalidated, archived … or active again.

        Raises NotFound, AmbiguousId, AccessDenied, BadTransition, UnknownValue.
        """

    async def spending(self, *, days: int = 30, daily: bool = False) -> list[Spent]:
        """What calls to models have cost in the last days, by component and model; `daily`, by day too."""

    async def touch(self, memory_ids: Sequence[str], *, session: str = "") -> int:
        """Count a use of memories that were read by other means than recall, and return how many.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def turns(self, session: str, *, limit: int = 1000, after: int = 0) -> list[Turn]:
        """A session word for word, in order; `after` is the key of the last turn already seen."""

    async def undo(self, run_id: str) -> Undone:
        """Take a whole run back. What somebody has changed since stays. Raises NotUndoable."""

    async def unrelate(self, source: str, target: str, type: EdgeType | str = ...) -> bool:
        """Remove a relation. Returns whether there was one. Raises NotFound, AmbiguousId, AccessDenied."""

    async def vacuum(self, *, full: bool = True) -> int:
        """Give freed space back. Returns how many bytes. Only `full` writes the whole file anew."""

    @property
    def memories(self) -> AsyncMemoryActions:
        """How single memories stand and what they are to each other: pin, confirm, move, count."""

    @property
    def history(self) -> AsyncHistory:
        """What happened and what was said: events, news, conversations word for word."""

    @property
    def facts(self) -> AsyncFacts:
        """What is known about whom: add, ask, follow and end facts."""

    @property
    def entities(self) -> AsyncEntities:
        """Who and what is spoken of: profiles, names, timelines."""

    @property
    def knowledge(self) -> AsyncKnowledge:
        """What was learned from memories taken together: profile, map, tree, cards, topics, boxes."""

    @property
    def bus(self) -> AsyncBus:
        """What agents tell each other: offer, ask for and deliver memories."""

    @property
    def backups(self) -> AsyncBackups:
        """Copies of the whole file: make, list and check them."""

    @property
    def trash(self) -> AsyncTrash:
        """What was forgotten and can still be brought back: look, restore, empty."""

    @property
    def answers(self) -> AsyncAnswers:
        """What was answered to writes that carried a key; for the doors."""

    @property
    def tokens(self) -> AsyncTokens:
        """Who may come in from outside: make, list and revoke tokens."""

    @property
    def conflicts(self) -> AsyncConflicts:
        """What contradicts what, and settling it."""

    @property
    def commitments(self) -> AsyncCommitments:
        """Open loops: what was promised, what is waited for, what is done."""

    @property
    def gaps(self) -> AsyncGaps:
        """What is not known and would be good to know: ask, answer, let be."""

    @property
    def triggers(self) -> AsyncTriggers:
        """Words in a message that load pages into the recall pack."""

    @property
    def sources(self) -> AsyncSources:
        """What comes from elsewhere: documents, chats of other services, code, results."""

    @property
    def workspace(self) -> AsyncWorkspaces:
        """Folders of plain files that people read and edit, in step with the memory."""

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        config: Config | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        advisor: Advisor | None = None,
        access: Access = ...,
        actor: str = "human",
        read_only: bool = False,
        key: bytes | str | None = None,
    ) -> Opening[AsyncEngram]:
        """Open a file, made if need be: the given, `ENGRAM_FILE`, or your own; ":memory:" keeps nothing.

        "tenants/" or a folder that is there keeps one file for each namespace, so many open at a time.

        `key` opens a vault, and makes a new file one: 32 bytes, their digits, or a passphrase. By default
        `ENGRAM_KEY`, `ENGRAM_KEY_FILE` or what `engram vault unlock` holds. Raises KeyNeeded without one.
        """

    async def remember(self, content: str, **given: Any) -> Receipt:
        """Keep one statement. The fields are those of `Draft`; the receipt says what happened and why.

        Raises InvalidInput for what cannot be kept, AccessDenied, TooMuchWritten; nothing is written then.
        """

    async def remember_many(
        self, drafts: Iterable[Given], *, partial: bool = False, progress: Callable[[int], None] | None = None
    ) -> Results:
        """Keep many statements: all or none; with `partial` each good one, and a refusal for each other.

        A statement is its words, a `Draft` or its fields. Gives what became of each, in the order given;
        `progress` is told how many are kept. Raises as `remember`.
        """

    async def observe(
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

    async def flush(self, session: str | None = None, *, scope: Scope | None = None) -> Observation:
        """Read now what waits, of a session or of all. Returns what was learned. Raises AccessDenied."""

    async def update(self, memory_id: str, *, because: str = "", **changes: Any) -> Memory:
        """Change fields of a memory and return it; its history keeps the former content.

        Raises NotFound, AmbiguousId, AccessDenied, and InvalidInput for what cannot be changed so.
        """

    async def forget(self, memory_id: str, because: str = "") -> Memory:
        """Archive a memory: no longer recalled, and restored at any time. Raises NotFound, AccessDenied."""

    async def erase(self, memory_id: str, because: str = "") -> None:
        """Remove a memory for good: afterwards its words are nowhere in the file.

        The ledger keeps the bare fact. Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what helps with a question, best first.

        The options are those of `RecallOptions`: limit, budget, scope, filters, as_of, explain and others.
        `plan` says what to do otherwise than planned: `{"intent": "temporal", "weights": {"vector": 0.5}}`.
        With `as_of` what was believed then; it leaves no trace. Gives the hits with the plan, what was left
        out and why. Raises InvalidInput for what cannot be asked so, AccessDenied, TooManyRecalls.
        """

    async def hand_over_recall(
        self, then: Callable[[bytes | None], None], ahead: int, query: str, **options: Unpack[RecallOptions]
    ) -> bool:
        """Have a process beside this one recall for an owner, if one has fewer than `ahead` questions.

        Gives whether one has; `then` is told the answer in JSON, by the event loop that asks or by another
        thread. None: recall it here.
        """

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
        Raises PromptTooLong when system prompt and message alone are more than that.
        """

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

    async def resume(
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

    async def recall_pack(
        self,
        message: str = "",
        *,
        tasks: Sequence[str] = ...,
        scope: Scope | None = None,
        workspace: str = "",
    ) -> RecallPack:
        """The document to start a session with: what always holds, open loops, today, context, procedures.

        The same memories give the same bytes all day. `tasks` says what is to be done today; words of the
        `message` may load more pages (see `triggers`). Raises AccessDenied, InvalidInput.
        """

    async def get(self, memory_id: str) -> Memory | None:
        """One memory by its id or the beginning of it; None when there is none. Raises AmbiguousId."""

    async def list(
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

    async def stats(self) -> Stats:
        """Counts of what is kept."""

    async def stats_of_open(self) -> Stats:
        """How much is kept in all that is open: the whole file; of a folder, the files open now."""

    async def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = ...,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Let memories mature: promote, merge, learn, doubt and forget. `dry` tells what would happen.

        Cut off, it goes on where it stopped; `undo` takes the whole run back. `stages` are those to run, by
        default all; `progress` is told which step of how many. Raises UpkeepBusy, AccessDenied, UnknownValue.
        """

    def export(self, *, scope: Scope | None = None, vectors: bool = False) -> AsyncIterator[dict[str, Any]]:
        """Every memory in every status as plain data, newest first, with its relations."""

    def session(
        self,
        *,
        agent: str = "",
        model: str = "",
        id: str = "",
        scope: Scope | None = None,
        timezone: str = "",
    ) -> Opening[AsyncSession]:
        """A conversation, awake: the one of this id, the agent's last if it sleeps, or a new one."""

    @property
    def maintenance(self) -> AsyncMaintenance:
        """Looking after the memory: runs and taking them back, damage, space, what models cost."""

    @property
    def vault(self) -> AsyncVault:
        """Whether the file is encrypted, and taking people, places and conversations out of it for good."""

    @property
    def sessions(self) -> AsyncSessions:
        """Conversations, awake and asleep: start, look at, suspend and resume them."""

    @property
    def config(self) -> Config:
        """The settings in force."""

    @property
    def access(self) -> Access:
        """Who asks here, and what they may see and change."""

    @property
    def path(self) -> str:
        """Where the memories are kept; an address without its password."""

    async def seen_by(self, access: Access, actor: str) -> AsyncEngram:
        """The same memory for another caller. Cheap; `settle` it when that one goes, close only this."""

    async def settle(self) -> None:
        """Read what was heard here and still waits; afterwards everything handed over is on disk."""

    @property
    def writes_waiting(self) -> int:
        """How many writes wait to be carried out."""

    @property
    def pressure(self) -> Pressure:
        """How much memory this process uses of what it may."""

    @property
    def model_trouble(self) -> str:
        """That the last calls to the model brought nothing, and why; empty when it works or there is none."""

    async def close(self) -> None:
        """Finish what is waiting and let go of the file. Safe to call twice."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class AsyncMemoryActions:
    """`MemoryActions` for asyncio: the same verbs, awaited."""
    async def pin(self, memory_id: str, *, pinned: bool = True) -> Memory:
        """Protect a memory from forgetting, or end that.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def confirm(self, memory_id: str, because: str = "") -> Memory:
        """Vouch for a memory. Raises NotFound, AmbiguousId, AccessDenied."""

    async def promote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer up: from the buffer to working, from working to core.

        Raises NotFound, AmbiguousId, AccessDenied, NoFurtherLayer.
        """

    async def demote(self, memory_id: str, because: str = "") -> Memory:
        """Move a memory one layer down. Raises NotFound, AmbiguousId, AccessDenied, NoFurtherLayer."""

    async def set_status(self, memory_id: str, status: Status | str, because: str = "") -> Memory:
        """Say that a memory is challenged, invalidated, archived … or active again.

        Raises NotFound, AmbiguousId, AccessDenied, BadTransition, UnknownValue.
        """

    async def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring back what was archived, superseded, merged or invalidated. Raises NotFound, BadTransition."""

    async def touch(self, memory_ids: Sequence[str], *, session: str = "") -> int:
        """Count a use of memories that were read by other means than recall, and return how many.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def feedback(self, memory_id: str, *, helpful: bool, query: str = "", because: str = "") -> Memory:
        """Say whether a memory helped. Returns it with its counts. Raises NotFound, AccessDenied.

        If it did not, and with the question, it stays out of questions like that.
        """

    async def relations(self, memory_id: str) -> list[Edge]:
        """What a memory is related to, in both directions. Raises NotFound, AmbiguousId."""

    async def relate(
        self,
        source: str,
        target: str,
        type: EdgeType | str = ...,
        *,
        weight: float = 1.0,
        confidence: float = 1.0,
    ) -> Edge:
        """Relate one memory to another, and return the edge, new or stronger.

        `weight` and `confidence` are shares. Raises NotFound, AccessDenied, UnknownValue for another type,
        and CycleRefused where a memory would come to rest on itself.
        """

    async def unrelate(self, source: str, target: str, type: EdgeType | str = ...) -> bool:
        """Remove a relation. Returns whether there was one. Raises NotFound, AmbiguousId, AccessDenied."""

    async def count(self, *, filters: Filters | None = None, scope: Scope | None = None) -> int:
        """How many memories fit. Raises AccessDenied, InvalidInput."""

    async def adopt(self, records: Iterable[Mapping[str, Any]], *, dry: bool = False) -> ImportedRecords:
        """Take in what `export` wrote as it was, with ids, times and counts; what is here already stays."""

class AsyncHistory:
    """`History` for asyncio: the same verbs, awaited."""
    async def events(
        self, memory_id: str | None = None, *, limit: int = 100, before: str | None = None
    ) -> list[Event]:
        """The history of a memory, or of all that the caller may see, newest first.

        An erased memory has a history too: its full id still finds the bare facts.
        Raises NotFound, AmbiguousId, OutOfRange.
        """

    async def news(self, after: str | None = None, *, limit: int = 100) -> News:
        """What has happened since a place in the ledger, oldest first, and the place to go on from.

        Without a place: nothing yet, and where the ledger ends now. Raises InvalidInput.
        """

    async def turns(self, session: str, *, limit: int = 1000, after: int = 0) -> list[Turn]:
        """A session word for word, in order; `after` is the key of the last turn already seen."""

    async def unread(self, *, limit: int = 1000) -> list[Turn]:
        """What was said and waits to be read for memories, place by place, oldest first."""

    async def said(self, memory_id: str) -> list[Turn]:
        """The turns a memory came from, word for word. Raises NotFound, AmbiguousId."""

class AsyncFacts:
    """`Facts` for asyncio: the same verbs, awaited."""
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
        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

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

    async def mentioned(self, text: str, *, limit: int = 100) -> Claims:
        """Facts that hold and are about something whose name stands in a text, word for word."""

    async def of(self, memory_id: str) -> Claims:
        """What one memory states, in the order of its words. Raises NotFound, AmbiguousId."""

    async def history(self, subject: str, predicate: str = "", *, limit: int = 100) -> Claims:
        """Everything ever stated about a subject, oldest first; each fact says from when to when it held."""

    async def conflicts(self, limit: int = ...) -> Pairs:
        """Pairs of facts that cannot both be true and that nobody has decided about, newest first."""

    async def chain(self, start: str, *, hops: int = 2, goal: str = "", limit: int = ...) -> Paths:
        """Paths of facts from a name, the surest first; only those to `goal`, if it is named.

        The object of one fact is the subject of the next, or the other way round. Raises InvalidInput.
        """

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
        Raises NotFound, AmbiguousId, AccessDenied.
        """

class AsyncEntities:
    """`Entities` for asyncio: the same verbs, awaited."""
    async def get(self, name: str) -> Profile | None:
        """What is known about somebody or something, under any of its names; None when nothing is.

        A name that nobody has may still mean one: the first name of one person, a known short form, or
        "my sister", where it was told who that is. Raises AccessDenied, InvalidInput.
        """

    async def list(self, *, type: str = "", prefix: str = "", limit: int = 50) -> _FactsFound:
        """Entities, last seen first: of one type, or with a name that begins so. Raises InvalidInput."""

    async def alias(self, name: str, other: str) -> Entity:
        """Let an entity go by one more name; what was known under that name becomes part of it.

        The owner of a namespace says so for all of it, others for their own place and what lies below.
        `split` takes it back. Raises UnknownEntity, AccessDenied, InvalidInput.
        """

    async def merge(self, keep: str, other: str) -> Entity:
        """Say that two entities are one; it is shown by the first name. `split` takes it back.

        Raises UnknownEntity, AccessDenied, InvalidInput.
        """

    async def split(self, name: str) -> Entity | None:
        """Make a name an entity of its own again, with the memories that use this name.

        None when no memory that the caller may see does. Raises UnknownEntity, AccessDenied, InvalidInput.
        """

    async def timeline(self, name: str, limit: int = 50) -> Steps:
        """How the knowledge about an entity grew, oldest first; of a long story the latest steps.

        Raises UnknownEntity, InvalidInput.
        """

class AsyncKnowledge:
    """`Knowledge` for asyncio: the same verbs, awaited."""
    async def tree(self, *, scope: Scope | None = None) -> Abstraction:
        """Everything that is kept, at three distances: clusters, domains, one paragraph."""

    async def profile(self, *, scope: Scope | None = None) -> Behaviour:
        """How somebody is and wants things, in few lines. Raises AccessDenied."""

    async def identity(self, *, scope: Scope | None = None) -> Reflections:
        """What somebody says about themselves; its gist when it is long. Raises AccessDenied."""

    async def map(self, *, scope: Scope | None = None) -> KnowledgeMap:
        """How well each domain is known, the largest first. Raises AccessDenied."""

    async def card(self, name: str) -> Card | None:
        """The card of somebody or something, under any of its names; None when there is none."""

    async def cards(self, *, prefix: str = "", limit: int = 50, scope: Scope | None = None) -> Cards:
        """Cards by name; those whose name begins so. Raises AccessDenied, InvalidInput."""

    async def core(self, *, scope: Scope | None = None) -> CoreSummary:
        """What has proved itself, in a few lines. Raises AccessDenied."""

    async def topics(self, *, scope: Scope | None = None) -> Topics:
        """What memories are about, the commonest topics first. Raises AccessDenied."""

    async def boxes(self, *, limit: int = 50, scope: Scope | None = None) -> Boxes:
        """What was going on together, the latest first. Raises AccessDenied, InvalidInput."""

    async def traces(self, *, limit: int = 50, scope: Scope | None = None) -> Traces:
        """Threads of boxes about the same, the one that was last taken up first."""

    async def patterns(self, *, limit: int = 50, scope: Scope | None = None) -> Patterns:
        """What similar episodes have in common, the most repeated first."""

    async def guidelines(self, *, scope: Scope | None = None) -> Guidelines:
        """What past runs and recalls teach about shortening and letting go. Raises AccessDenied."""

    async def knowing(self, about: str, *, scope: Scope | None = None) -> Knowing | None:
        """What is not known of what a question is about, by gaps and the map; None where neither tells."""

class AsyncBus:
    """`Bus` for asyncio: the same verbs, awaited."""
    async def publish(
        self, memory_id: str, *, to: str = "project", agents: Sequence[str] = ..., topics: Sequence[str] = ...
    ) -> Publication:
        """Offer a memory of one's own to a squad, a project or everyone of the namespace.

        Who subscribed receives a copy at the next delivery. Offered again after a change, copies follow.
        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def withdraw(self, publication_id: str) -> bool:
        """Take an offer back; delivered copies stay. Returns whether there was one. Raises AccessDenied."""

    async def subscribe(
        self,
        *,
        topics: Sequence[str] = ...,
        agents: Sequence[str] = ...,
        min_importance: float = 0.0,
        rate: int = 10,
        scope: Scope | None = None,
        earlier: bool = False,
    ) -> Subscription:
        """Ask for what others offer; copies are put where the caller stands.

        With `earlier` also what was offered before. `rate` is how many copies one delivery may bring; the
        rest waits for the next. Raises AccessDenied, InvalidInput.
        """

    async def unsubscribe(self, subscription_id: str) -> bool:
        """End a subscription; delivered copies stay. Returns whether there was one. Raises AccessDenied."""

    async def publications(self, *, limit: int = 100, after: int = 0) -> Offers:
        """What is offered, by number, as far as the caller may see the memories. Raises InvalidInput."""

    async def subscriptions(self) -> Wishes:
        """Who wants what, as far as the caller may see the places."""

    async def deliver(self) -> Report:
        """Deliver now what waits; maintenance does it by itself. Only an owner may.

        Raises AccessDenied, UpkeepBusy.
        """

class AsyncBackups:
    """`Backups` for asyncio: the same verbs, awaited."""
    async def make(self, to: str | Path | None = None) -> Backup:
        """Copy everything as it is now, while it is in use, and check the copy.

        Args:
            to: a file to make; else the copy joins the others beside the memory, and the oldest beyond
                `store.backups` go.

        Raises:
            AccessDenied: the caller does not own the whole file.
            StoreError: the memory is in no file, or the copy cannot be written.
        """

    async def list(self) -> Kept:
        """The backups beside the memory, oldest first. Raises AccessDenied."""

    async def check(self) -> Findings:
        """Open each backup and look at every page of it. Raises AccessDenied."""

    async def archive(self, to: str | Path, passphrase: str = "") -> ArchiveReport:
        """Write everything the memory knows into one archive, from which an equal memory can be made.

        Args:
            to: a file to make.
            passphrase: encrypts the archive. A vault gives out no archive without one.

        Raises:
            AccessDenied: the caller does not own the whole file.
            FileExists: the file is there already.
            VaultRefused: the memory is a vault and there is no passphrase.
        """

    async def finding(self) -> _EventFinding:
        """What the doctor says of them."""

    async def make_if_due(self) -> Backup | None:
        """Make one if backups are wanted and the last is a day old, or the memory is and has none."""

    async def start_if_due(self) -> None:
        """The same beside whatever else is done; `finish` waits for it."""

    async def finish(self) -> None:
        """Wait for a backup that is being made."""

class AsyncTrash:
    """`Trash` for asyncio: the same verbs, awaited."""
    async def list(self, *, limit: int = 100, offset: int = 0) -> Lying:
        """What lies there, the newest memory first. Raises InvalidInput."""

    async def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring a memory back. Raises NotFound when it does not lie there."""

    async def purge(
        self, because: str = "", *, before: datetime | str | None = None, also_in_use: bool = False
    ) -> int:
        """Remove what lies there for good, all of it or what was forgotten before a time. Returns how many.

        With `also_in_use` everything of the caller's place goes; only an owner may ask for that.
        """

class AsyncAnswers:
    """`Answers` for asyncio: the same verbs, awaited."""
    async def find(
        self, caller: str, key: str, request: bytes, *, hours: float
    ) -> tuple[int, bytes] | bool | None:
        """Status and body of the answer to this request; None when there is none.

        False when the key was used for another request.
        """

    async def keep(
        self, caller: str, key: str, request: bytes, answer: tuple[int, bytes], *, hours: float, most: int
    ) -> None:
        """Keep an answer for so many hours, and so many in all."""

class AsyncTokens:
    """`Tokens` for asyncio: the same verbs, awaited."""
    async def create(
        self,
        name: str,
        role: Role | str = ...,
        *,
        scope: Scope | None = None,
        expires_at: datetime | str | None = None,
        timezone: str = "",
    ) -> Issued:
        """Make a token. `name` is the actor in what its bearer does; the secret is given out only here.

        `timezone` says where its bearer is: an IANA name, or an offset such as +02:00.
        """

    async def list(self, *, revoked: bool = False) -> _CallerFound:
        """The tokens for places this caller owns, oldest first; with `revoked` also those taken back."""

    async def revoke(self, token_id: str) -> Token:
        """Take a token back, by its id or its name if only one has it. It lets nobody in any more.

        Raises AccessDenied, and InvalidInput when there is none or several have the name.
        """

    async def bearer(self, secret: str) -> Token | None:
        """The valid token with this secret; None when there is none. Whoever asks needs no right to."""

    async def is_valid(self, token_id: str) -> bool:
        """Whether a token still lets somebody in."""

    async def any_valid(self) -> bool:
        """Whether anybody could come in by a token now."""

class AsyncConflicts:
    """`Conflicts` for asyncio: the same verbs, awaited."""
    async def list(self, limit: int = 50) -> _ConflictsFound:
        """Pairs that are still open, those a rule or a person marked first; each pair once."""

    async def resolve(self, id_a: str, id_b: str, keep: str, because: str = "") -> Memory:
        """Settle a pair: keep `a`, keep `b`, keep `both` as they are, or `merge` their words.

        The one that gives way is superseded or merged. Returns the memory that stands (of both, the first).
        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def review(self, limit: int = 20) -> _ConflictsFound:
        """Ask a model about open pairs. Returns those it settled; without a model, none.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

    async def ask(self, id_a: str, id_b: str) -> bool:
        """Ask a model about one pair. Returns whether it was settled. What it finds contradictory stays open.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

class AsyncCommitments:
    """`Commitments` for asyncio: the same verbs, awaited."""
    async def open(
        self,
        text: str,
        *,
        due: datetime | str | None = None,
        waiting_on: str = "",
        scope: Scope | None = None,
        session: str = "",
    ) -> Commitment:
        """Open a loop. `due` is a time or words ("by Friday"); when it is not given, the text may name it.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def list(
        self, state: LoopState | str | None = None, *, limit: int = 100, scope: Scope | None = None
    ) -> Loops:
        """Loops in a state, oldest first; without one, those that are not closed."""

    async def get(self, commitment_id: str) -> Commitment:
        """One loop by its id or the beginning of it. Raises NotFound, also for a memory that is none."""

    async def close(
        self, commitment_id: str, outcome: LoopState | str = "done", *, because: str = ""
    ) -> Commitment:
        """Say how it ended: done or dropped. Raises NotFound, AmbiguousId, AccessDenied, UnknownValue."""

    async def wait(self, commitment_id: str, on: str) -> Commitment:
        """Say for whom or what it waits. Raises NotFound, AmbiguousId, AccessDenied."""

    async def reopen(
        self, commitment_id: str, *, due: datetime | str | None = None, because: str = ""
    ) -> Commitment:
        """Open it again: it was closed too soon, or nobody is waited for any more. `due` moves the day.

        Raises NotFound, AmbiguousId, AccessDenied.
        """

class AsyncGaps:
    """`Gaps` for asyncio: the same verbs, awaited."""
    async def list(self, *, limit: int = 50, scope: Scope | None = None) -> _GapsFound:
        """Open gaps, the weightiest first. Raises AccessDenied, InvalidInput."""

    async def get(self, gap_id: str) -> Gap:
        """One open gap by its key or the beginning of it. Raises InvalidInput."""

    async def ask(
        self, session: str = "", *, about: Sequence[str] = ..., scope: Scope | None = None
    ) -> _GapsFound:
        """The questions to ask now: at most two a session, each once a week; those about `about` first.

        What is given out counts as asked. Raises AccessDenied, InvalidInput.
        """

    async def answer(self, gap_id: str, text: str) -> Memory:
        """Remember the answer and close the gap. Returns the memory that holds it now.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def dismiss(self, gap_id: str) -> Gap:
        """Close a gap without an answer: it is not asked about again. Raises AccessDenied, InvalidInput."""

class AsyncTriggers:
    """`Triggers` for asyncio: the same verbs, awaited."""
    async def add(self, words: Sequence[str], pages: Sequence[str], *, scope: Scope | None = None) -> Trigger:
        """When a message holds one of the words, the pack also tells these pages.

        A page is `entity:Anna`, `tag:billing`, `category:procedure`, `memory:7f3a91c2` or
        `origin:file:/notes/house.md`; a bare name means the entity.
        Raises AccessDenied, InvalidInput.
        """

    async def list(self) -> _CommitmentsFound:
        """The triggers of places this caller sees, oldest first."""

    async def get(self, trigger_id: str) -> Trigger:
        """One trigger by its id. Raises InvalidInput."""

    async def update(
        self, trigger_id: str, *, words: Sequence[str] | None = None, pages: Sequence[str] | None = None
    ) -> Trigger:
        """Change the words or the pages of a trigger. Raises AccessDenied, InvalidInput."""

    async def remove(self, trigger_id: str) -> Trigger:
        """Take a trigger away. Raises AccessDenied, InvalidInput."""

    async def match(self, message: str) -> _CommitmentsFound:
        """The triggers that a message sets off. Raises InvalidInput."""

class AsyncSources:
    """`Sources` for asyncio: the same verbs, awaited."""
    async def file(
        self,
        path: str | Path,
        *,
        format: str = ...,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = ...,
        progress: _SourcesProgress | None = None,
    ) -> IngestReport:
        """Take in a document, a chat export or another tool's memories; of a folder, every document in it.

        Raises UnknownFormat, BadSource, BadText or SourceTooLarge, and OSError for what cannot be opened.
        """

    async def move_in(
        self,
        path: str | Path,
        *,
        system: str = ...,
        mapping: Mapping[str, str] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = ...,
        progress: _SourcesProgress | None = None,
    ) -> IngestReport:
        """Take in what another system kept as it was there: ids, times, status, users, relations, trust.

        Args:
            path: its folder, database or export.
            system: ledger, files, engram, engram-rs, retention, mem0, zep, hindsight, letta, mcp-memory,
                basic-memory, chatgpt, claude, csv or jsonl; by default it is found out.
            mapping: for a table, which column is what: `{"content": "note", "created_at": "when"}`.
            dry: read and check everything, and write nothing.
            scope: where all of it goes; by default where it was, a place for each of several users.
            tags: more tags for all of it.
            progress: hears how many of how many are done.

        Returns:
            What became of each item; `undo` of its `run` takes all of it back.
        """

    async def text(
        self,
        text: str,
        *,
        title: str = "",
        format: str = "markdown",
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = ...,
    ) -> IngestReport:
        """Take in a text. With a title it is a document that may be given again when it has changed.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def code(
        self,
        folder: str | Path,
        *,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = ...,
        progress: _SourcesProgress | None = None,
    ) -> IngestReport:
        """Take in a source tree: what each file is for, and what each public class and function does."""

    async def summary(
        self, text: str, *, session: str, dry: bool = False, scope: Scope | None = None
    ) -> IngestReport:
        """Take in the summary of a session, as a client writes it when its context is full."""

    async def task(
        self,
        name: str,
        result: str = "",
        *,
        outcome: Ending | str = ...,
        details: Mapping[str, Any] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a task came to: success, failure or partial. Raises AccessDenied, InvalidInput."""

    async def flow(
        self,
        name: str,
        steps: Iterable[str | Mapping[str, Any]] = ...,
        *,
        result: str = "",
        outcome: Ending | str = ...,
        details: Mapping[str, Any] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a flow of several steps came to. A step is its name, or has name, outcome and result."""

    async def research(
        self,
        findings: str | Sequence[_DocumentsFinding],
        *,
        query: str,
        urls: Sequence[str] = ...,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a search found, with the question and the addresses.

        A finding is text, or has `text` and its own `url`. Raises AccessDenied, InvalidInput.
        """

class AsyncWorkspaces:
    """`Workspaces` for asyncio: the same verbs, awaited."""
    async def init(
        self,
        directory: str | Path,
        *,
        layouts: Sequence[str] = ...,
        include: Sequence[str] = ...,
        scope: Scope | None = None,
    ) -> SyncReport:
        """Make a folder a workspace, or change how it is set up, and sync it.

        Args:
            directory: the folder; made if need be. Files of a layout that are there are read.
            layouts: `ledger`, `files` or both.
            include: `sensitive`, `confidential`: such memories stand in files only when asked for.
            scope: only memories seen from there; new ones go there.

        Raises:
            WorkspaceError: the folder cannot be used.
        """

    async def sync(
        self,
        directory: str | Path,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        repair: bool = False,
        dry: bool = False,
    ) -> SyncReport:
        """Bring files and memory in step.

        Args:
            directory: the workspace.
            full: compare everything, not only what changed.
            accept_deletions: forget memories even when most files are missing at once.
            repair: give double ids of the ledger new ones, and move lines that are no events aside.
            dry: say what would change in the memory, and change nothing on either side.

        Raises:
            WorkspaceError: it is no workspace, or another process syncs it.
        """

    async def status(self, directory: str | Path) -> WorkspaceStatus:
        """How a folder stands, without changing anything. Raises AccessDenied, WorkspaceError."""

    def watch(
        self, directory: str | Path, *, every: float = ..., stopping: Callable[[], bool] = ...
    ) -> AsyncIterator[SyncReport]:
        """Sync whenever something changed on either side; yields each report that tells of a change."""

    async def points(self, directory: str | Path, limit: int = 20) -> list[git.Point]:
        """The points in the history of a folder that `rollback` takes, newest first.

        Raises AccessDenied, WorkspaceError.
        """

    async def rollback(self, directory: str | Path, point: str) -> SyncReport:
        """Put files and memory back as they were at a commit.

        Runs of maintenance since then are taken back first, newest first; then the files are, and what they
        say is read back as changes by a person. Nothing is lost: the present state is committed before.
        Raises AccessDenied, WorkspaceError.
        """

    async def folders(self) -> list[str]:
        """The folders that are kept in step with this memory."""

    async def leave(self, directory: str | Path) -> bool:
        """Keep a folder in step no longer; its files stay. Whether it was one.

        Raises AccessDenied, WorkspaceError.
        """

    async def before_run(self, kind: RunKind) -> None:
        """Sync every folder and commit it, so that there is a point to go back to."""

    async def after_run(self, report: Report) -> None:
        """Write the report, sync, and commit what the run changed."""

class AsyncSession:
    """`Session` for asyncio: the same verbs, awaited."""
    @property
    def id(self) -> str:
        """What it goes by, also in the log of turns."""

    @property
    def agent(self) -> str:
        """Whose session it is; empty: nobody's in particular."""

    @property
    def model(self) -> str:
        """The language model whose budget it keeps; empty: one of common size."""

    @property
    def scope(self) -> Scope:
        """Where what is learned here belongs."""

    @property
    def restored(self) -> Restored:
        """How much of it came back when it woke."""

    async def named(self, agent: str, model: str, timezone: str = "") -> None:
        """Let it be another agent's, run with another model or talk elsewhere, from the next turn on."""

    @property
    def timezone(self) -> str:
        """Where whoever talks here is; empty: as the caller or the settings say."""

    def turn(self, message: str, *, system: str = "", budget: int | None = None) -> Opening[AsyncSessionTurn]:
        """A turn for a message: a user's, a task, the input of a step, a round, a delegation.

        `system` is the agent's own prompt; `budget` the tokens the whole prompt may have, if not the model's.
        """

    async def hold(self, content: str, *, origin: Origin | str = ..., memory: str = "") -> None:
        """Put something on the mind; what has to leave for it is offered to long-term memory.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

    @property
    def slots(self) -> tuple[Slot, ...]:
        """What is on the mind, strongest first."""

    @property
    def history(self) -> list[Spoken]:
        """What was said so far, as (part, words), oldest first."""

    @property
    def runs(self) -> AsyncRuns:
        """What came of work: runs of flows as procedures, projects that are complete."""

    async def info(self) -> SessionInfo:
        """What is told of this session."""

    @property
    def used_at(self) -> datetime:
        """When something last happened here."""

    @property
    def is_awake(self) -> bool:
        """Whether what it holds is here, and not sealed in the file."""

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""

    async def abort(self) -> int:
        """Say to every turn under way that its answer is not wanted; how many there were."""

    def switch(self, agent: str, *, model: str = "") -> Opening[AsyncSession]:
        """Turn to another agent: what runs here is aborted, this session sleeps, the other's wakes."""

    async def suspend(self) -> SessionInfo:
        """Go to sleep: what is on the mind is sealed, kept, and wiped here. A turn under way is aborted."""

    async def keep(self) -> None:
        """Let other engines that share the store go on from here. Where there are none it does nothing."""

    @property
    def is_overtaken(self) -> bool:
        """Whether another engine went on with it: what is on its mind here is not what was said last."""

    async def resume(self) -> SessionInfo:
        """Wake up: whole after a short time, weaker after a longer one, anew after a day."""

    async def end(self) -> Observation | None:
        """Read what waits of this session and forget the rest: nothing of it is kept to come back to."""

    async def finish_waiting(self, reply: str) -> Observation | None:
        """End a turn that another engine began; None when no message waits for its answer."""

    async def wipe(self) -> None:
        """Forget everything here, without keeping it."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class AsyncMaintenance:
    """`Maintenance` for asyncio: the same verbs, awaited."""
    async def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = ...,
        progress: _MaintenanceProgress | None = None,
        stopping: Callable[[], bool] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """Carry a consolidation out, or go on with one that was cut off. Raises UpkeepBusy.

        `settings` hold for this run alone; it pauses after a slice when `stopping` says so.
        """

    async def dream(
        self,
        *,
        dry: bool = False,
        progress: _MaintenanceProgress | None = None,
        stopping: Callable[[], bool] | None = None,
    ) -> Report:
        """Replay what is at risk, link what belongs together, strengthen what matters. Raises UpkeepBusy."""

    async def audit(self, *, dry: bool = False, progress: _MaintenanceProgress | None = None) -> Report:
        """Let a model look over core and working memories; it may only promote, demote, weigh and merge.

        Every proposal is tried in a sandbox first. Raises ModelNeeded and UpkeepBusy.
        """

    async def reread(
        self,
        *,
        session: str = "",
        rules: bool = False,
        dry: bool = False,
        progress: _MaintenanceProgress | None = None,
    ) -> Report:
        """Read the log of turns again with today's rules, or the model, and let what is believed follow.

        What people changed by hand stays as they left it. Cut off, it goes on where it stopped; `undo` takes
        all of it back. Only the turns of one `session`, if it is named; with `rules` no model is asked;
        `dry` only tells what would happen. `progress` hears how many turns of how many are read.
        Raises UpkeepBusy.
        """

    @property
    def clock(self) -> Clock:
        """The time that it goes by."""

    async def last(self, kind: RunKind) -> datetime | None:
        """When a run of this kind last came to its end."""

    async def runs(self, limit: int = 20) -> list[Run]:
        """The last runs, newest first. Raises AccessDenied, InvalidInput."""

    async def report(self, run_id: str, *, limit: int = ..., after: int = 0) -> Report:
        """What a run did: counts by rule, and its decisions in order, beginning after a number.

        Raises UnknownRun, AccessDenied, InvalidInput.
        """

    async def undo(self, run_id: str) -> Undone:
        """Take a whole run back. What somebody has changed since stays. Raises NotUndoable."""

    async def drift(
        self, directory: str = "", *, apply: bool = False, limit: int = 1000, scope: Scope | None = None
    ) -> DriftReport:
        """Check what memories claim about files, symbols, versions and addresses against a directory.

        Without one the setting `doubt.directory`. With `apply` memories whose references are dead are
        challenged, and invalidated if they stay so; `undo` takes that back.
        """

    async def doctor(self, *, repair: bool = False) -> list[_EventFinding]:
        """Look at every part and say in words what to do; with `repair` mend what can be rebuilt."""

    async def vacuum(self, *, full: bool = True) -> int:
        """Give freed space back. Returns how many bytes. Only `full` writes the whole file anew."""

    async def reembed(self, *, progress: _MaintenanceProgress | None = None) -> int:
        """Give every memory a vector of the present model. Cut off, it goes on where it stopped."""

    async def spending(self, *, days: int = 30, daily: bool = False) -> list[Spent]:
        """What calls to models have cost in the last days, by component and model; `daily`, by day too."""

    async def forget_spending(self) -> int:
        """Forget what models have cost. Returns how many calls there were. Raises AccessDenied."""

    async def configure(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Change settings while the memory is open, for everybody. Returns those that differ now.

        Holds until the memory is closed: `engram config set` keeps a setting, and a server follows that.
        Raises InvalidInput, and changes nothing, for what is unknown, out of range or read at opening only;
        AccessDenied unless the file is the caller's.
        """

    async def recall_health(self) -> RecallHealth:
        """How the last recalls have been going: counts, averages by intent, times, warnings."""

class AsyncVault:
    """`Vault` for asyncio: the same verbs, awaited."""
    async def status(self) -> VaultStatus:
        """Whether the file is encrypted, and what opens it. Raises AccessDenied unless it is the caller's."""

    async def erase_session(self, session: str) -> dict[str, int]:
        """Erase a conversation: every turn, the memories that came from it, what slept of it.

        Args:
            session: its id. Only what the caller may change goes.

        Returns:
            How much of what was removed.
        """

    async def erase_turns(self, turns: Sequence[int]) -> dict[str, int]:
        """Erase single turns, by their keys, and the memories that came from them.

        Returns:
            How much of what was removed.
        """

    async def purge(self, *, person: str = "", scope: Scope | None = None) -> PurgeCertificate:
        """Take a person, or a place and all below it, out of the file for good, backups beside it included.

        Every memory and turn that names the person (by any known name), was said by them or lies at a place
        of theirs goes, with facts, names, reasons, triggers, wishes, answers, sleeping sessions and tokens,
        and files of workspaces that speak of them. Backups elsewhere end when the vault gets another key
        (`engram vault rotate`).

        Args:
            person: a name.
            scope: a place.

        Returns:
            A signed certificate of what was removed; it holds no words.

        Raises:
            AccessDenied: the caller does not own the whole file.
        """

    async def verify(self, certificate: PurgeCertificate) -> bool:
        """Whether a certificate is as it was signed, by a key of this file."""

    async def refused(self, actor: str, what: Audited) -> None:
        """Write down that somebody at a door was not let. Whoever asks needs no right to."""

    async def audit(self, *, limit: int = 100, after: int = 0) -> list[AuditEntry]:
        """Who looked, and who was not let, oldest first; `after` is the number of the last line already seen.

        Raises AccessDenied unless the file is the caller's. What is older than `store.audit_days` is gone.
        """

class AsyncSessions:
    """`Sessions` for asyncio: the same verbs, awaited."""
    def open(
        self, agent: str = "", model: str = "", id: str = "", scope: Scope | None = None, timezone: str = ""
    ) -> Opening[AsyncSession]:
        """A session, awake: the one of this id, the agent's last if it sleeps, or a new one."""

    async def list(self) -> Infos:
        """Every session that is awake or asleep, the last used first."""

    async def get(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """What is told of one session. Raises UnknownSession."""

    async def start(
        self,
        *,
        agent: str = "",
        model: str = "",
        id: str = "",
        scope: Scope | None = None,
        timezone: str = "",
    ) -> SessionInfo:
        """Start a session, or wake one that sleeps. `timezone` says where its user is."""

    async def turn(
        self,
        session_id: str,
        message: str,
        *,
        system: str = "",
        budget: int | None = None,
        scope: Scope | None = None,
    ) -> Begun:
        """Begin a turn: what is recalled for a message, and the prompt for it. An open one is closed.

        Raises UnknownSession, AccessDenied, InvalidInput.
        """

    async def reply(
        self, session_id: str, reply: str = "", *, scope: Scope | None = None
    ) -> Observation | None:
        """End the open turn with what was answered. Returns what was learned.

        Raises UnknownSession, AccessDenied, InvalidInput.
        """

    async def hold(self, session_id: str, content: str, *, scope: Scope | None = None) -> SessionInfo:
        """Put something on the mind of a session.

        Raises UnknownSession, AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def suspend(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """Send a session to sleep: sealed and kept, and wiped here. A turn under way is aborted.

        Raises UnknownSession, AccessDenied.
        """

    async def resume(self, session_id: str, *, scope: Scope | None = None) -> SessionInfo:
        """Wake a session that sleeps. Raises UnknownSession."""

    async def abort(self, session_id: str, *, scope: Scope | None = None) -> int:
        """Say to the turns under way that their answers are not wanted. Returns how many.

        Raises UnknownSession, AccessDenied.
        """

    async def end(self, session_id: str, *, scope: Scope | None = None) -> Observation | None:
        """End a session: read what waits of it, and keep nothing to wake it with.

        Raises UnknownSession, AccessDenied.
        """

    async def learn(
        self,
        name: str,
        steps: Sequence[str | Mapping[str, Any]],
        *,
        outcome: Ending | str = ...,
        result: str = "",
        scope: Scope | None = None,
    ) -> Learned:
        """Keep how a flow ran, as a procedure that counts its runs.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ...) -> Completed:
        """End a project: keep what it came to and taught; what proved itself is for everybody.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def sweep(self) -> int:
        """Suspend sessions nobody has used for a while, drop old ones. Returns how many slept."""

    async def close(self) -> None:
        """Send every session to sleep. Safe to call twice."""

class AsyncSessionTurn:
    """`SessionTurn` for asyncio: the same verbs, awaited."""
    @property
    def message(self) -> str:
        """What it answers."""

    @property
    def system(self) -> str:
        """The agent's own prompt."""

    @property
    def budget(self) -> int | None:
        """The tokens that the prompt may have; None: as many as the model has room for."""

    @property
    def recalled(self) -> Recall:
        """What was found in long-term memory for the message. Raises TurnNotBegun."""

    @property
    def context(self) -> Context:
        """The prompt for the model: within its budget, with what helps. Raises TurnNotBegun."""

    @property
    def change(self) -> TopicChange:
        """What the message does to the topic."""

    @property
    def questions(self) -> tuple[Gap, ...]:
        """What would be good to ask now, if there is room for it."""

    @property
    def anticipated(self) -> bool:
        """Whether what was recalled had been prepared."""

    @property
    def observed(self) -> Observation | None:
        """What was learned of the exchange, once it is over."""

    @property
    def reply(self) -> str:
        """What was answered. Set it: it is listened to, and the next turn knows it."""

    @reply.setter
    def reply(self, words: str) -> None: ...
    async def answer(self, reply: str) -> None:
        """Say what was answered; the same as setting `reply`."""

    @property
    def aborted(self) -> bool:
        """Whether somebody turned to another agent meanwhile: ask now and then in a long run."""

    async def abort(self) -> None:
        """Say that the answer is no longer wanted."""

    async def check(self) -> None:
        """Raises TurnAborted if the answer is no longer wanted."""

    async def begin(self) -> None:
        """Resolve, recall and build; afterwards `context` is there."""

    async def finish(self) -> Observation | None:
        """Listen to the exchange and clean up; the next recall is prepared. Safe to call twice."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class AsyncRuns:
    """`Runs` for asyncio: the same verbs, awaited."""
    async def learn(
        self, name: str, steps: Sequence[StepGiven], *, outcome: str = "success", result: str = ""
    ) -> Learned:
        """Keep how a flow ran: one procedure for each flow, which counts its runs and knows the last one.

        Raises NotFound, AccessDenied, TooMuchWritten, InvalidInput.
        """

    async def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ...) -> Completed:
        """End a project: keep what it came to and taught, and let everybody know what proved itself.

        Raises AccessDenied unless the caller may write where everybody reads.
        """
