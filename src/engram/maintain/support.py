"""What steps share: what changed since, what was judged before, questions to a model, documents to derive."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from engram.lazily import dataclass
from engram.maintain.step import Batch, Decision, Judge, Keep, StepContext, grouped
from engram.model.event import Event, Verb
from engram.model.knowledge import Chosen
from engram.model.maintenance import Judgement, RunState, Sketch, WhoIsNamed
from engram.model.memory import Filters, Memory, Tier
from engram.model.scope import Access, Scope
from engram.ports import NoAdvisor
from engram.pressure import give_back_memory, resident_bytes
from engram.rules.joining import Compared
from engram.rules.promotion import FINAL, next_try
from engram.rules.review import Review
from engram.rules.review import ReviewDecision as Outcome
from engram.text.junk import is_filler
from engram.text.propositions import has_substance

# ---------------------------------------------------------------- since
# What is new to a step: its name comes in; the memories that came, changed or went since it last looked do.
#
# A step notes how far it has seen the ledger, and in which run. If that run is taken back, it looks at
# everything again, as it does the first time. What only changed by being used or weighed is no news.

MARK: Final = "mark"
"""The kind of judgement that says how far a step has looked."""
PAGE: Final = 1_000
MOST_MARKS: Final = 100
STALE: Final = 1_000
"""After so many events that are no news the mark is set anew, so that they are not read again."""
NEWS_FIELDS: Final = frozenset(
    {"content", "status", "kind", "category", "scope", "tier", "details", "tags", "speaker", "valid_to"}
)
"""Fields whose change is news."""
EVERYTHING: Final = Access.everything()


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """What has happened since a step looked."""

    whole: bool
    """Nothing has been seen yet: everything is news."""
    changed: tuple[str, ...] = ()
    """Memories that came or say something else now, by id, in order."""
    gone: frozenset[str] = frozenset()
    """Memories that were erased."""
    upto: str = ""
    read: int = 0
    """How many events were read for it."""

    @property
    def any(self) -> bool:
        """Whether there is anything to look at."""
        return self.whole or bool(self.changed or self.gone)


def changes_since(context: StepContext, step: str) -> RecentChanges:
    """What is new to a step."""
    store = context.tools.store
    upto = store.ledger.newest()
    mark = store.upkeep.judged(MARK, [step]).get(step)
    event, _, run_id = mark.verdict.partition(" ") if mark is not None else ("", "", "")
    run = store.upkeep.run(run_id) if run_id else None
    if mark is None or run is None or run.state is RunState.UNDONE:
        return RecentChanges(whole=True, upto=upto)
    changed: dict[str, None] = {}
    gone: set[str] = set()
    happened, read = _news_since(context, event)
    for memory, erased in happened:
        if erased:
            changed.pop(memory, None)
            gone.add(memory)
        else:
            changed[memory] = None
    return RecentChanges(whole=False, changed=tuple(changed), gone=frozenset(gone), upto=upto, read=read)


@dataclass(slots=True)
class LedgerRead:
    """The news of the ledger since a mark, read once in a run for all its steps."""

    upto: str
    marks: frozenset[str]
    places: dict[str, tuple[int, int]]
    """Of each mark: how much news, and how many events, stand before it."""
    news: list[tuple[str, bool]] = field(default_factory=list)
    """Memories that came, say something else or were erased, and whether they were, in order."""
    read: int = 0


def _news_since(context: StepContext, mark: str) -> tuple[list[tuple[str, bool]], int]:
    """The news since a mark, and how many events were written since."""
    ledger: LedgerRead | None = context.notes.get("ledger")
    if ledger is None or mark not in ledger.places:
        judgements = context.tools.store.upkeep.judgements(MARK, MOST_MARKS)
        marks = frozenset(judgement.verdict.partition(" ")[0] for judgement in judgements)
        ledger = context.notes["ledger"] = LedgerRead(mark, marks, {mark: (0, 0)})
    for event in _events_after(context, ledger.upto):
        ledger.upto = event.id
        ledger.read += 1
        if event.verb in (Verb.ERASED, Verb.STORED) or not NEWS_FIELDS.isdisjoint(event.after):
            ledger.news.append((event.memory, event.verb is Verb.ERASED))
        if event.id in ledger.marks:
            ledger.places[event.id] = len(ledger.news), ledger.read
    news, events = ledger.places[mark]
    return ledger.news[news:], ledger.read - events


def mark_batch(context: StepContext, step: str, news: RecentChanges) -> Iterator[Batch]:
    """The last batch of a step, which notes how far it has looked; none when nothing was new.

    A step that has nothing to do must not even yield an empty batch: a run may be paused after each.
    """
    decisions = mark_decisions(context, step, news)
    if decisions:
        yield Batch(decisions)


def mark_decisions(context: StepContext, step: str, news: RecentChanges) -> tuple[Decision, ...]:
    """What a step decides last: to note how far it has looked. Nothing, when nothing was new."""
    if not news.any and news.read < STALE:
        return ()
    ours = list(_events_after(context, news.upto))
    upto = ours[-1].id if ours and all(event.run == context.run.id for event in ours) else news.upto
    mark = Judgement(MARK, step, f"{upto} {context.run.id}", context.now)
    return (Decision("knowledge.seen", "", (Judge(mark),), quiet=True),)


def changed_memories(
    context: StepContext, news: RecentChanges, filters: Filters
) -> Iterator[list[tuple[int, Memory]]]:
    """The memories that are new and fit, in slices; all that fit the first time."""
    return chain.from_iterable(map(context.memories, changed_filters(context, news, filters)))


def changed_names(
    context: StepContext, news: RecentChanges, filters: Filters
) -> Iterator[list[tuple[int, WhoIsNamed]]]:
    """The same, for who only wants to know where memories belong and whom they name."""
    return chain.from_iterable(map(context.named, changed_filters(context, news, filters)))


def changed_filters(context: StepContext, news: RecentChanges, filters: Filters) -> Iterator[Filters]:
    """What to ask for to see what is new and fits, piece by piece."""
    if news.whole:
        yield filters
        return
    size = context.tools.config.maintain.slice
    for start in range(0, len(news.changed), size):
        yield replace(filters, ids=frozenset(news.changed[start : start + size]))


def changed_scopes(context: StepContext, news: RecentChanges, filters: Filters) -> set[Scope]:
    """Where something is new that fits; everywhere the first time."""
    if news.whole:
        return set(context.tools.store.upkeep.scopes())
    return {record.scope for part in changed_names(context, news, filters) for _, record in part}


def _events_after(context: StepContext, after: str) -> Iterator[Event]:
    ledger = context.tools.store.ledger
    while events := ledger.after(after, EVERYTHING, PAGE):
        yield from events
        after = events[-1].id
        if len(events) < PAGE:
            return


# ---------------------------------------------------------------- judged
# What was judged before: memories come in, what is known about them comes out.
#
# A judgement is kept under the memory's id and says which version it is about: another wording is judged
# anew. One made at the very moment a run looks at does not count yet: a run never builds on itself.

GATE: Final = "gate"
TRIAGE: Final = "triage"


def judge(
    kind: str, memory: Memory, verdict: str, at: datetime, again_at: datetime | None = None, times: int = 1
) -> Judge:
    """Remember what was decided about this version of a memory."""
    return Judge(Judgement(kind, memory.id, f"{verdict}@{memory.version}", at, again_at, times))


def judgements_of(kind: str, memories: Sequence[Memory], context: StepContext) -> dict[str, Judgement]:
    """What was decided about these memories as they are now, by their ids."""
    versions = {memory.id: memory.version for memory in memories}
    known = context.tools.store.upkeep.judged(kind, versions)
    marked = {memory.id: mark for memory in memories if (mark := _mark(kind, memory)) is not None}
    return marked | {
        id_: mark for id_, mark in known.items() if mark.verdict.rpartition("@")[2] == str(versions[id_])
    }


REFUSED: Final = {"gate-rejected": 1, "gate-rejected-2": 2, "gate-rejected-final": FINAL}
"""Tags of imports: how often another gate has refused them."""
LOOKED_AT: Final = "_triaged"


def _mark(kind: str, memory: Memory) -> Judgement | None:
    """What another engine had decided about a memory that came from there, as its tags tell."""
    at = memory.modified_at
    if kind == TRIAGE and LOOKED_AT in memory.tags:
        return judge(kind, memory, "keep", at).judgement
    times = max((REFUSED[tag] for tag in memory.tags if tag in REFUSED), default=0)
    if kind != GATE or not times:
        return None
    again = next_try(times, at)
    return judge(kind, memory, "reject", at, again_at=again, times=times).judgement


def is_earlier(judgement: Judgement, context: StepContext) -> bool:
    """Whether it was made before the moment of this run."""
    return judgement.at < context.now


def triaged_ids(memories: Sequence[Memory], context: StepContext) -> frozenset[str]:
    """Those of the memories that triage has looked at, in this wording or another, in an earlier run."""
    judgements = context.tools.store.upkeep.judged(TRIAGE, [memory.id for memory in memories])
    marked = frozenset(memory.id for memory in memories if LOOKED_AT in memory.tags)
    return marked | {id_ for id_, judgement in judgements.items() if is_earlier(judgement, context)}


def rejections(memory: Memory, judgements: dict[str, Judgement], context: StepContext) -> int:
    """How often the gate has refused a memory, in earlier runs."""
    judgement = judgements.get(memory.id)
    if judgement is None or not judgement.verdict.startswith("reject"):
        return 0
    return judgement.times if is_earlier(judgement, context) else judgement.times - 1


# ---------------------------------------------------------------- asking
# Asking: how far a model may be asked in a run, and what it says about memories that are weighed one by
# one.
#
# Off: rules decide. Auto: rules decide what they are sure of, a model the uncertain middle. Full: a model
# decides, rules only where it gives no answer. What is secret is never shown to a model.

PAIRS_MOST: Final = 50
"""Pairs that a model is asked about in a run, for each kind of question."""
COMPARED: Final = "compared"
"""The note of what was read of the memories of pairs."""
Ask = Callable[[Sequence[str]], tuple[Chosen, ...] | None]
Weighed = tuple[Memory, Review]


def model_level(context: StepContext) -> str:
    """How far a model may be asked: off, auto or full; off when there is none."""
    return "off" if isinstance(context.tools.advisor, NoAdvisor) else context.tools.config.llm.level


def may_be_shown(*memories: Memory) -> bool:
    """Whether a model may see these memories."""
    return all(memory.tier is Tier.CLEAR for memory in memories)


@dataclass(slots=True)
class Weighing:
    """Asks a model about memories, so many of each namespace in a run."""

    ask: Ask
    most: int
    level: str
    shown: Callable[[Memory], str] = attrgetter("content")
    """What the model is shown of a memory."""
    spent: Counter[str] = field(default_factory=Counter)

    def outcomes(self, weighed: Sequence[Weighed]) -> Iterator[tuple[Memory, Chosen, str]]:
        """Of each memory yes or no, and why. Those that have to wait for the next run are left out."""
        unsure = [(memory, review) for memory, review in weighed if self._asks(memory, review)]
        for memory, review in weighed:
            if not self._asks(memory, review):
                yield memory, _ruled(review), review.by_rule.why
        for group in grouped((pair[0].scope, pair) for pair in unsure).values():
            yield from self._asked(group)

    def _asks(self, memory: Memory, review: Review) -> bool:
        if self.level == "off" or not may_be_shown(memory):
            return False
        return self.level == "full" or review.decision is Outcome.ASK

    def _asked(self, group: Sequence[Weighed]) -> Iterator[tuple[Memory, Chosen, str]]:
        namespace = group[0][0].scope.namespace
        shown = group[: max(0, self.most - self.spent[namespace])]
        self.spent[namespace] += len(shown)
        answers = self.ask([self.shown(memory) for memory, _ in shown]) if shown else ()
        for index, (memory, review) in enumerate(shown):
            if answers is None:
                yield memory, _ruled(review), review.by_rule.why
            else:
                yield memory, answers[index], f"a model says {answers[index] or 'no'}, {review.score.told()}"


@dataclass(slots=True)
class Questions:
    """How a step judges pairs: under which name it remembers, and how often it may still ask a model."""

    kind: str
    left: int
    level: str
    compared: Compared
    """What rules say about pairs."""
    answered: list[Judgement] = field(default_factory=list)
    """What was answered about pairs of this slice, to be remembered."""
    postponed: set[str] = field(default_factory=set)
    """Ids of memories of pairs that could not be asked about in this run."""

    def may_ask(self, *memories: Memory) -> bool:
        """Whether a model may be asked about these, and is: each call counts. What must wait is noted."""
        if self.level == "off" or not may_be_shown(*memories):
            return False
        if self.left <= 0:
            self.postponed |= {memory.id for memory in memories}
            return False
        self.left -= 1
        return True


def questions(context: StepContext, kind: str) -> Questions:
    """How a step judges pairs, with what the run's other steps have read of them."""
    compared = context.notes.setdefault(COMPARED, Compared())
    return Questions(kind, PAIRS_MOST, model_level(context), compared)


def _ruled(review: Review) -> Chosen:
    return Chosen.YES if review.by_rule else Chosen.NO


# ---------------------------------------------------------------- memory of the process
# What steps noted for others is freed; where that is much, the system gets it back.

MUCH_BYTES: Final = 224 * 2**20


def give_back_if_much() -> None:
    """Let the system have what was freed, if the process holds much: what comes next would take more."""
    if resident_bytes() >= MUCH_BYTES:
        give_back_memory()


# ---------------------------------------------------------------- sketching
# Sketching: a body comes in; the effect that stores it as a sketch goes out, unless the stored one is equal.
#
# Also the one way in which steps ask a model to sum memories up.


def keep_sketch(  # noqa: PLR0913 - the parts of a sketch
    context: StepContext,
    scope: Scope,
    kind: str,
    key: str,
    body: Mapping[str, Any],
    *,
    title: str = "",
    sources: Iterable[str] = (),
) -> tuple[Keep, ...]:
    """One effect, or none when nothing would change."""
    plain = json.loads(json.dumps(body))
    made_of = tuple(dict.fromkeys(sources))
    old = context.tools.store.upkeep.sketch(scope, kind, key)
    if old is not None and (old.body, old.title, set(old.sources)) == (plain, title, set(made_of)):
        return ()
    return (Keep(Sketch(scope, kind, key, plain, context.now, title, made_of)),)


def model_summary(
    context: StepContext, step: str, texts: Sequence[str], words: int, *, always: bool = False
) -> str | None:
    """A model's words for several statements; None when none may be asked, or was asked enough in this run.

    Unless it may `always` be asked, only where the settings let a model help with everything.
    """
    settings = context.tools.config
    asked = f"asked {step}"
    if not texts or (settings.llm.level != "full" and not always):
        return None
    if context.notes.get(asked, 0) >= settings.maintain.model_calls:
        return None
    context.notes[asked] = context.notes.get(asked, 0) + 1
    return context.tools.advisor.summarize(texts, words)


# ---------------------------------------------------------------- telling
# A statement and its speaker come in; whether it can stand for others in a summary comes out.


@lru_cache(maxsize=1 << 14)
def says_something(statement: str, speaker: str = "") -> bool:
    """Whether a statement says something by itself. What nobody said in a talk is taken as it was written.

    >>> says_something("Anna!", "Bob"), says_something("[shares a photo: a red door]", "Bob")
    (False, False)
    >>> says_something("I adopted a cat", "Bob"), says_something("Deploys fail on Fridays")
    (True, True)
    """
    if statement.startswith("[") and statement.endswith("]"):
        return False
    if is_filler(statement):
        return False
    return not speaker or (len(statement.split()) >= FEW and has_substance(statement))


FEW = 3
"""Fewer words of a talk tell nothing."""
