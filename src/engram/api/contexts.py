"""Contexts: a message comes in, a prompt goes out; or a question, and a short block of what is known.

Joins what is recalled with the flow that packs it. Also for those who may only read the file: whoever can
list memories and recall is enough. A block is data: it says so, and nothing inside can end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from engram.config import ContextConfig
from engram.context import budget as context_budget
from engram.context.budget import one_line
from engram.context.build import PromptRequest, build_prompt
from engram.errors import EmbedderError, WrongType
from engram.lazily import dataclass
from engram.model.context import Context, Knowing, LanguageModel, Message, Sections
from engram.model.memory import Filters, Memory, Priority, Status, Tier
from engram.model.recall import Hit, Question
from engram.ports import View
from engram.text.tokens import count

if TYPE_CHECKING:
    from engram.api.caller import CallerContext
    from engram.api.recalling import Recalling
    from engram.model.knowledge import Abstraction
    from engram.model.scope import Access, Scope

Place = TypeVar("Place")
Found = TypeVar("Found")

STANDING: Final = 100
"""So many memories that matter whatever is asked are looked at."""
IMPORTANT: Final = 0.7
"""From this importance on a memory belongs into a prompt that asks for nothing."""
RECENT: Final = 200
"""So many of the latest memories are looked through for what whoever asks told of themselves."""
OWN: Final = 16
"""So many of these stand in a prompt: of 98 requests 94 had what bears on them there, with 8 of them 83."""
TURNS: Final = 400
"""So many of the last turns of a session are its history when a caller brings none."""
LONG: Final = 50
LOGGED: Final = 10_000
OPEN: Final = frozenset({Tier.CLEAR, Tier.SENSITIVE})
"""How secret a memory may be that stands in a prompt without having been asked for."""


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """What a caller wants of a prompt."""

    message: str = ""
    about: str = ""
    """What to recall by, when the message tells too little; empty: the message."""
    model: str = ""
    system: str = ""
    history: Sequence[Mapping[str, Any]] | Sequence[Message] | None = None
    """None: what the session's log holds."""
    budget: int | None = None
    session: str = ""
    scope: Scope | None = None
    sections: Sections | None = None
    hits: Sequence[Hit] | None = None
    """What was recalled already; None: recall now."""
    tree: Abstraction | None = None
    known: Knowing | None = None
    dry: bool = False

    @property
    def question(self) -> str:
        """What to recall by."""
        return self.about or self.message


class Contexts:
    """Prompts for a caller. Holds nothing; any thread may use it."""

    def __init__(self, caller: CallerContext, recalling: Recalling) -> None:
        self._caller = caller
        self._recalling = recalling

    def make(self, wanted: PromptOptions) -> Context:
        """A prompt within its budget. Raises PromptTooLong and what recall raises."""
        from engram.api.caller import whole
        from engram.api.knowledge import Knowledge
        from engram.rules import screen

        for name in ("message", "about", "system"):
            screen.readable(name, getattr(wanted, name))
        screen.name("session", wanted.session)
        budget = None if wanted.budget is None else whole("budget", wanted.budget, 1, 100_000_000)
        config, now = self._caller.tools.config, self._caller.tools.clock.now()
        learned = Knowledge(self._caller)
        from engram.ports import NoAdvisor

        advisor = self._caller.tools.advisor
        asked = PromptRequest(
            message=wanted.message,
            model=context_budget.find_model(wanted.model or config.context.model, config.context.models_file),
            settings=config.context,
            system=wanted.system,
            history=self._history(wanted),
            sections=wanted.sections or Sections(),
            budget=budget,
            standing=tuple(memory for memory in self._standing(wanted) if not memory.is_over(now)),
            own=tuple(memory for memory in self._own(wanted) if not memory.is_over(now)),
            tree=wanted.tree or learned.tree(scope=wanted.scope),
            known=wanted.known or learned.knowing(wanted.question, scope=wanted.scope),
            summarize=(None if isinstance(advisor, NoAdvisor) else advisor.summarize),
        )
        return build_prompt(asked, lambda limit: self._found(wanted, limit))

    def _found(self, wanted: PromptOptions, limit: int) -> Sequence[Hit]:
        if wanted.hits is not None or not wanted.question.strip():
            return wanted.hits or ()
        from engram.api.recalling import QUERY_LIMIT

        settings = self._caller.tools.config.recall
        question = Question(
            text=wanted.question[:QUERY_LIMIT],
            access=self._caller.at(wanted.scope),
            limit=limit,
            profile=settings.profile,
            # Among many hits variety comes by itself, and looking for it takes longer than all else.
            rerank="none" if limit > LONG and settings.rerank == "mmr" else settings.rerank,
            session=wanted.session,
            dry=wanted.dry,
            expand=False if wanted.dry else None,
        )
        return self._recalling.answer(question).hits

    def _own(self, wanted: PromptOptions) -> tuple[Memory, ...]:
        """What whoever asks told of themselves of late and lies nearest to the message, however far it is.

        Who wants a recipe does not say what they cannot eat: no word of it leads there.
        """
        import numpy as np

        from engram.recall.judge import is_own

        def told(access: Access) -> dict[int, Memory]:
            found = {memory.id: memory for memory in memories.page(View(access, Filters(tiers=OPEN)), RECENT)}
            keys = memories.keys([memory.id for memory in found.values() if is_own(memory)])
            return {key: found[memory_id] for memory_id, key in keys.items()}

        tools, access = self._caller.tools, self._caller.at(wanted.scope)
        memories = tools.store.memories
        if not wanted.question.strip() or not (own := self._kept("own", access, told)):
            return ()
        try:
            space, vector = tools.embedder.embed_query(wanted.question)
        except EmbedderError:
            return ()
        nearest = tools.index.ask(space, vector, access).among(np.array(sorted(own), np.int64), OWN)
        return tuple(own[key] for key, _ in nearest)

    def _standing(self, wanted: PromptOptions) -> tuple[Memory, ...]:
        """What matters whatever is asked, as hardly any memory does."""

        def found(place: tuple[Access, bool]) -> tuple[Memory, ...]:
            views = (View(place[0], filters) for filters in standing(bare=place[1]))
            return tuple(
                memory for view in views for memory in self._caller.tools.store.memories.page(view, STANDING)
            )

        return self._kept("standing", (self._caller.at(wanted.scope), not wanted.question.strip()), found)

    def _kept(self, name: str, place: Place, look_up: Callable[[Place], Found]) -> Found:
        """What was looked up for a place, kept until the next event."""
        now = self._caller.tools.store.ledger.newest()
        at, kept = self._caller.tools.kept.get(name, ("", {}))
        known: dict[Place, Found] = kept if at == now else {}
        if place not in known:
            self._caller.tools.kept[name] = (now, known := {**known, place: look_up(place)})
        return known[place]

    def _history(self, wanted: PromptOptions) -> tuple[Message, ...]:
        if wanted.history is not None:
            return tuple(_messages(wanted.history, self._caller))
        if not wanted.session:
            return ()
        log = self._caller.tools.store.turns
        turns = log.of_session(wanted.session, self._caller.at(wanted.scope), LOGGED)
        said = [Message(turn.part, turn.content) for turn in turns[-TURNS:]]
        if said and said[-1].content.strip() == wanted.message.strip():
            said.pop()  # the message itself was logged before the prompt was asked for
        return tuple(said)


def _messages(given: Sequence[Any], caller: CallerContext) -> Iterable[Message]:
    """Messages as chat services shape them, or as they are kept here."""
    from engram.capture.observe import TalkSetting, turns_from

    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType("history", given, "a list of messages")
    if all(isinstance(one, Message) for one in given):
        return given
    setting = TalkSetting("", caller.tools.clock.now(), caller.access.scope)
    return [Message(turn.part, turn.content) for turn in turns_from(given, setting)]


class Readable(Protocol):
    """What a brief is made from: a memory, or a glance at its file."""

    def list(self, *, filters: Filters, limit: int) -> Iterable[Memory]:
        """Memories, newest first."""
        ...

    def recall(
        self, query: str, *, limit: int, session: str, dry: bool, expand: bool | None
    ) -> Iterable[Hit]:
        """What answers a question, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Brief:
    """The block itself, empty when nothing is known; the memories in it; what it costs."""

    text: str = ""
    ids: tuple[str, ...] = ()
    tokens: int = 0


def brief(
    memory: Readable, query: str, *, budget: int, pinned: bool = False, session: str = "", dry: bool = False
) -> Brief:
    """What helps with a question in at most `budget` tokens; with `pinned`, what always matters too."""
    query = query.strip()
    memories = [
        one
        for filters in (standing(bare=not query) if pinned else ())
        for one in memory.list(filters=filters, limit=STANDING)
    ]

    def find(limit: int) -> Sequence[Hit]:
        if not query:
            return ()
        # What leaves no trace is waited for: no model is asked then.
        return [*memory.recall(query, limit=limit, session=session, dry=dry, expand=False if dry else None)]

    model = LanguageModel("", window=max(budget, 1) * 2)
    request = PromptRequest("", model, ContextConfig(), budget=budget, standing=tuple(memories))
    made = build_prompt(request, find)
    return Brief(made.recalled, made.ids, count(made.recalled))


def data_block(lines: Iterable[str]) -> str:
    """Lines inside a block that none of them can end.

    >>> data_block(["- tea"]).splitlines()[1:]
    ['- tea', '</memories>']
    """
    return context_budget.section_text("recalled", map(one_line, lines))


def line_of(memory: Memory, text: str) -> str:
    """One memory on one line: its short id, its day, its words."""
    doubt = "" if memory.status is Status.ACTIVE else f", {memory.status}"
    return f"- [{memory.id[:8]}] ({memory.happened_at:%Y-%m-%d}{doubt}) {one_line(text)}"


def standing(*, bare: bool) -> tuple[Filters, ...]:
    """What matters whatever is asked: vital, pinned, how to answer; without a question also the important."""
    always = (
        Filters(priorities=frozenset({Priority.P0}), tiers=OPEN),
        Filters(pinned=True, tiers=OPEN),
        Filters(categories=frozenset({"instruction"}), tiers=OPEN),
    )
    return (*always, Filters(min_importance=IMPORTANT, tiers=OPEN)) if bare else always
