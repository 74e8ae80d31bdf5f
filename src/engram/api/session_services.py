"""What a session calls upon: recall, listening, contexts; and what came of work, as procedures that learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engram.api.caller import CallerContext, Noun
from engram.api.contexts import Contexts
from engram.capture import change
from engram.capture.sources.documents import ENDED, FlowStep, step
from engram.context import budget as context_budget
from engram.context.budget import SHARES, memories_for
from engram.errors import EmbedderError, UnknownValue
from engram.lazily import dataclass
from engram.model.capture import Draft, Receipt
from engram.model.memory import (
    CONTENT_LIMIT,
    TAG_LENGTH_LIMIT,
    Filters,
    Kind,
    Memory,
    Status,
    Tier,
    Type,
    in_force,
)
from engram.model.recall import Question, Recall, Traces
from engram.model.scope import Scope
from engram.model.session import Origin, Slot
from engram.ports import ConversationBias, View
from engram.recall.expand import among
from engram.recall.pipeline import recall, touch
from engram.rules import screen
from engram.session import following
from engram.session.following import WorkingMemory, WorkingMemoryRules
from engram.session.state import Ages, Meaning, State
from engram.text.forms import summary

if TYPE_CHECKING:
    from datetime import datetime

    from engram.api.recalling import Recalling
    from engram.api.remembering import Listening

RECALLED_MOST = 100  # memories recalled for a message at most, however large the model's window (measured)
AGES = Ages()  # how long a sleeping session stays what it was
MORNING_MEMORIES = 5  # memories that come to mind at a fresh start (cortex)


# ---------------------------------------------------------------- session parts
# What a session joins: embedding, recall, listening and the context, each a call into another flow.


READ = 4_000
"""So many characters of a message tell what it means."""
LOOKED_AT = 100
"""Of so many of the newest memories those that matter most come to mind in the morning."""
WAKEFUL = Filters(statuses=frozenset({Status.ACTIVE}), tiers=frozenset({Tier.CLEAR, Tier.SENSITIVE}))


@dataclass(frozen=True, slots=True)
class SessionServices:
    """The other parts of the engine, as a session uses them. One for all sessions of a caller."""

    caller: CallerContext
    listening: Listening
    recalling: Recalling
    contexts: Contexts

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.caller.tools.clock.now()

    def state(self) -> State:
        """An empty mind, by the settings."""
        tools = self.caller.tools
        working = WorkingMemory(WorkingMemoryRules(most=tools.config.session.slots))
        return State(tools.new_id, tools.count_tokens, working)

    def meaning(self, text: str) -> Meaning | None:
        """A message as vectors; None while none can be made."""
        words = text[:READ]
        if not words.strip():
            return None
        try:
            space, rows = self.caller.tools.embedder.embed([words, *following.sentences(words)])
        except EmbedderError:
            return None
        return Meaning(space, rows)

    def limit(self, model: str, budget: int | None) -> int:
        """How many memories may find room in a prompt of this model, and are worth a turn's time."""
        settings = self.caller.tools.config.context
        room = budget or context_budget.find_model(model or settings.model, settings.models_file).window
        return min(RECALLED_MOST, memories_for(int(room * SHARES["recalled"])))

    def recall(
        self, question: Question, lean: ConversationBias | None, prepared: Sequence[str] | None
    ) -> Recall:
        """What helps with a message: from what was prepared for it, or found now.

        What is understood from the talk fits nothing as well as what stands alone: less of it will do.
        """
        if lean is not None and lean.share:
            floor = self.caller.tools.config.recall.relevance_floor
            question = replace(question, min_relevance=floor * (1.0 - lean.share))
        if prepared is None:
            return self.recalling.answer(question, lean=lean)
        answer = among(question, prepared, self.caller.tools, lean)
        if not answer.hits:
            return self.recalling.answer(question, lean=lean)
        left = Traces.of(answer)
        self.caller.gate.shown(left.texts)
        touch(left, question.session, self.caller.tools)
        return answer

    def prepare(self, question: Question, lean: ConversationBias | None) -> Recall:
        """What may help with the next message, in no certain order; counts as no use, against no limit."""
        asked = replace(question, dry=True, expand=False, rerank="none")
        return recall(asked, self.caller.tools, lean)

    def offer(self, gone: Sequence[Slot], session: str, scope: Scope) -> None:
        """Tell long-term memory of what left the mind while it stood strong."""
        if not gone or not self.caller.access.may_write(scope):
            return
        known = [slot.memory for slot in gone if slot.memory]
        own = [slot for slot in gone if not slot.memory and slot.origin in {Origin.AGENT, Origin.USER}]
        if known:
            at = self.now
            self.caller.tools.store.write_later(
                lambda unit: unit.touch(known, at, session), self.caller.actor, scope.namespace
            )
        if own:
            self.caller.write([self._draft(slot, session, scope) for slot in own])
        if any(slot.origin is Origin.SPOKEN for slot in gone):
            self.listening.flush(session, scope)

    def present(self, slots: Sequence[Slot], scope: Scope) -> list[str]:
        """The ids of slots whose memory is no more, or no longer true."""
        access, memories = self.caller.at(scope), self.caller.tools.store.memories
        gone = []
        for slot in slots:
            memory = memories.get(slot.memory, access) if slot.memory else None
            if slot.memory and (memory is None or memory.status is not Status.ACTIVE):
                gone.append(slot.id)
        return gone

    def morning(self, scope: Scope) -> list[Slot]:
        """What comes to mind at a fresh start: of the newest memories those that matter most."""
        most = MORNING_MEMORIES
        view = View(self.caller.at(scope), in_force(WAKEFUL, self.now))
        newest = list(self.caller.tools.store.memories.page(view, LOOKED_AT).memories) if most else []
        best = sorted(newest, key=lambda one: (-one.pinned, -one.importance))[:most]
        return [self._slot(memory) for memory in best]

    def _draft(self, slot: Slot, session: str, scope: Scope) -> Draft:
        return Draft(slot.content, scope=scope, session=session, source=f"session:{slot.origin}")

    def _slot(self, memory: Memory) -> Slot:
        content = summary(memory.content)
        return Slot(
            id=self.caller.tools.new_id(),
            content=content,
            origin=Origin.MORNING,
            activation=0.3 + 0.4 * memory.importance,
            used_at=self.now,
            tokens=self.caller.tools.count_tokens(content),
            memory=memory.id,
        )


FLOW = "flow"
STRONG = 0.6
"""The least strength and importance of a project's memory that is worth everybody's while."""
RUNS_LOOKED_AT = 1_000
PROMOTED_MOST = 100
LESSON_IMPORTANCE = 0.7
StepGiven = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Learned:
    """A procedure after one more run."""

    memory: Memory
    runs: int
    successes: int

    @property
    def success_rate(self) -> float:
        """How often it went well."""
        return self.successes / self.runs


@dataclass(frozen=True, slots=True)
class Completed:
    """What a project leaves behind."""

    summary: Memory | None
    lessons: tuple[Memory, ...]
    promoted: tuple[Memory, ...]
    """What everybody may know from now on."""


class Runs(Noun):
    """What came of work in one place. Any thread may use it."""

    def __init__(self, caller: CallerContext, scope: Scope, session: str = "") -> None:
        super().__init__(caller)
        self._scope = scope
        self._session = session

    def learn(
        self, name: str, steps: Sequence[StepGiven], *, outcome: str = "success", result: str = ""
    ) -> Learned:
        """Keep how a flow ran: one procedure for each flow, which counts its runs and knows the last one.

        Raises NotFound, AccessDenied, TooMuchWritten, InvalidInput.
        """
        if outcome not in ENDED:
            raise UnknownValue("outcome", outcome, tuple(ENDED))
        flow, taken = screen.content(name), [step(one) for one in steps]
        self._caller.check_write(self._scope)
        old = self._known(flow)
        former = old.details if old else {}
        runs = int(former.get("runs", 0)) + 1
        successes = int(former.get("successes", 0)) + (outcome == "success")
        content = _told(flow, taken, outcome, result, f"{successes} of {runs} runs went well.")
        details = {
            "flow": flow,
            "steps": [{"name": one.name, "outcome": one.outcome, "result": one.result} for one in taken],
            "outcome": outcome,
            "runs": runs,
            "successes": successes,
        }
        return Learned(self._keep(old, flow, content, details), runs, successes)

    def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ()) -> Completed:
        """End a project: keep what it came to and taught, and let everybody know what proved itself.

        Raises AccessDenied unless the caller may write where everybody reads.
        """
        wide = Scope(self._scope.namespace)
        self._caller.check_write(wide)
        place = replace(wide, project=screen.content(project))
        inside = self._caller.access.may_write(place)  # an agent that stands above may not look below
        ended = Draft(
            f"Project {project} is complete. {summary}".strip(),
            scope=place if inside else wide,
            session=self._session,
            kind=Kind.EPISODIC,
            importance=LESSON_IMPORTANCE,
            tags=("project", "complete"),
            source=f"project:{project}",
        )
        taught = [_lesson(lesson, project, wide) for lesson in lessons]
        [receipt, *others] = self._caller.write([ended, *taught])
        memories = self._strong(place, receipt) if inside else []
        strong = [self._for_everybody(memory, project, wide) for memory in memories]
        promoted = self._caller.write(strong) if strong else []
        return Completed(receipt.memory, _memories(others), _memories(promoted))

    def _known(self, flow: str) -> Memory | None:
        """The procedure of this flow in this very place."""
        wanted = Filters(tags_all=frozenset({FLOW, _tag(flow)}), kinds=frozenset({Kind.PROCEDURAL}))
        page = self._store.memories.page(View(self._caller.at(self._scope), wanted), RUNS_LOOKED_AT)
        return next((memory for memory in page if memory.scope == self._scope), None)

    def _keep(self, old: Memory | None, flow: str, told: str, details: dict[str, Any]) -> Memory:
        if old is not None:
            changes = {"content": told, "details": details}
            return change.update(old.id, changes, self._tools, self._caller.actor, "ran again")
        made = Draft(
            told,
            kind=Kind.PROCEDURAL,
            type=Type.PROCEDURE,
            category="procedure",
            tags=(FLOW, _tag(flow)),
            details=details,
            scope=self._scope,
            session=self._session,
            source=f"flow:{flow}",
        )
        return self._caller.write([made])[0].memory

    def _strong(self, place: Scope, ended: Receipt) -> list[Memory]:
        """What a project's agents learned that proved itself; nothing secret."""
        wanted = Filters(statuses=frozenset({Status.ACTIVE}), tiers=frozenset({Tier.CLEAR}))
        page = self._store.memories.page(View(self._caller.at(place), wanted), RUNS_LOOKED_AT)
        inside = [
            memory
            for memory in page
            if memory.scope.project == place.project and memory.id != ended.memory.id
        ]
        strong = [memory for memory in inside if min(memory.strength, memory.importance) > STRONG]
        return sorted(strong, key=lambda memory: -memory.importance)[:PROMOTED_MOST]

    def _for_everybody(self, memory: Memory, project: str, wide: Scope) -> Draft:
        return Draft(
            memory.content,
            category=memory.category,
            kind=Kind.SEMANTIC if memory.kind is Kind.EPISODIC else memory.kind,
            tags=memory.tags,
            details={**memory.details, "from_project": project, "from_memory": memory.id},
            importance=memory.importance,
            confidence=memory.confidence,
            scope=wide,
            source=f"project:{project}",
        )


def _told(flow: str, steps: Sequence[FlowStep], outcome: str, result: str, count: str) -> str:
    """A run in words: "Flow release: 1. test, 2. tag. The last run failed at tag: no rights. 1 of 2 …".

    >>> _told(
    ...     "release",
    ...     [FlowStep("test"), FlowStep("tag", "failure", "no rights")],
    ...     "failure",
    ...     "",
    ...     "0 of 1 runs.",
    ... )
    'Flow release: 1. test, 2. tag. The last run failed at tag: no rights. 0 of 1 runs.'
    """
    listed = ", ".join(f"{place}. {one.name}" for place, one in enumerate(steps, 1))
    failed = next((one for one in steps if one.outcome != "success"), None)
    where = f" at {failed.name}" if failed is not None and outcome != "success" else ""
    why = (failed.result if failed is not None and outcome != "success" else "") or result
    ended = f"The last run {ENDED[outcome]}{where}" + (
        f": {why.strip().rstrip('.')}." if why.strip() else "."
    )
    steps_told = f"Flow {flow}: {listed}." if listed else f"Flow {flow}."
    return f"{steps_told} {ended} {count}"[:CONTENT_LIMIT]


def _lesson(lesson: str, project: str, wide: Scope) -> Draft:
    return Draft(
        lesson,
        category="lesson",
        kind=Kind.SEMANTIC,
        importance=LESSON_IMPORTANCE,
        scope=wide,
        source=f"project:{project}",
        details={"from_project": project},
    )


def _memories(receipts: Sequence[Receipt]) -> tuple[Memory, ...]:
    return tuple(receipt.memory for receipt in receipts)


def _tag(flow: str) -> str:
    return f"flow:{flow}"[:TAG_LENGTH_LIMIT]
