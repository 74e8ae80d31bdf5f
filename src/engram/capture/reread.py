"""Reading again: turns that were read long ago come in; what is believed of them follows today's rules.

    turns → read → which beliefs are these already? → decide → write, and withdraw what is read there no more

What was said is never touched. A belief that somebody changed by hand (edited, confirmed, pinned, restored,
forgotten) stays as that person left it, and nothing is made of the same words beside it. Everything is
written as part of one run of maintenance, so it is told in one report and taken back as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby

from engram.capture import extract
from engram.capture.observe import CONTEXT_TURNS, SLICE
from engram.capture.pipeline import limits_of, make_ready, write
from engram.capture.settle import (
    DISPUTES,
    PARTLY_REPLACED,
    REPLACED,
    SAID_AGAIN,
    SAID_MORE_FULLY,
    end,
    settle,
)
from engram.errors import EmbedderError, InvalidInput
from engram.lazily import dataclass
from engram.model.capture import Draft, Outcome, Receipt, Turn
from engram.model.clock import check_cancelled
from engram.model.event import Event, Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Decided, Judgement, Run
from engram.model.memory import Memory, Status, Verification
from engram.model.scope import Access
from engram.ports import Tools, Unit
from engram.rules.enrich import PreparedDraft, findable
from engram.rules.sameness import Neighbour, NewStatement, Reinforce, Supersede, Verdict, decide
from engram.rules.screen import Gate, screen
from engram.rules.sensitivity import at_least
from engram.text import words
from engram.text.forms import key_text

STEP = "reread"
NEW, CHANGED, BELIEVED, ONLY_SAID = "reread.new", "reread.changed", "reread.believed", "reread.only_said"
ENDED, FREED, WITHDRAWN, BACK = "reread.ended", "reread.freed", "reread.withdrawn", "reread.back"
WHY: Mapping[str, str] = {
    NEW: "a statement that was not understood before",
    CHANGED: "what its words mean is read differently",
    BELIEVED: "said before, believed now",
    ONLY_SAID: "believed before, only said now",
    ENDED: "a later statement replaces it",
    FREED: "nothing replaces it any more",
    WITHDRAWN: "nobody reads this in its turns any more",
    BACK: "read in its turns again",
}
SUPPORTED = "reread"
"""The kind of judgement that says: in this run a turn was found to say this."""
EVENTS = 1_000
"""Events of one memory that are looked at, the latest."""
ALIKE = 0.5
"""Share of the words from which on a statement is another wording of one that a person changed."""
BY_HAND = frozenset(
    {
        Verb.UPDATED, Verb.ARCHIVED, Verb.RESTORED, Verb.PINNED, Verb.UNPINNED, Verb.CONFIRMED,
        Verb.STATUS_CHANGED, Verb.MERGED, Verb.SUPERSEDED,
    }
)  # fmt: skip
OWN_REASONS = frozenset({SAID_AGAIN, SAID_MORE_FULLY, REPLACED, PARTLY_REPLACED, DISPUTES})
"""Why listening itself changes a memory; every other change outside of a run is somebody's wish."""
REDERIVED = ("category", "kind", "type", "entities", "metadata", "event_time", "forms")
"""Fields that follow from the words and from nothing else."""
WEIGHED = ("importance", "policy", "priority")
"""Fields that follow from the category."""
OF_READING = frozenset(
    {
        "turns", "said_by", "about", "dates", "corrects", "verbatim", "due", "context", "facts", "heard_at",
        "said_at", "after", "slots", "replaces", "stance",
    }
)  # fmt: skip
"""Details that reading gives; the others were put there by somebody else."""
EVERYTHING = Access.everything()
REMAINS = frozenset({Status.ACTIVE, Status.SAID, Status.CHALLENGED})


def slices(after: int, session: str, tools: Tools) -> Iterator[list[Turn]]:
    """Turns that were read before, in the order in which they were said; each slice is of one session."""
    while turns := tools.store.turns.read_before(after, SLICE, session):
        legible = (turn for turn in turns if not turn.sealed)  # what is sealed stays as it was understood
        for _, group in groupby(legible, key=lambda turn: (turn.session, turn.scope)):
            yield list(group)
        after = turns[-1].key


def reread(turns: Sequence[Turn], run: Run, tools: Tools, note: Callable[[Unit], None]) -> list[Decided]:
    """Read some turns of one session again and let what is believed follow, in one unit of work.

    `note` is called inside that unit: there the caller writes how far the run has come.
    """
    check_cancelled()
    before = tools.store.turns.before(turns[0], CONTEXT_TURNS)
    reading = extract.read(turns, before, Gate(tools, listening=False), tools)
    slice_ = _RereadTurns(turns, run, tools)
    prepared = make_ready(list(slice_.unmatched(reading)), tools)
    again = [*slice_.refreshed(make_ready(slice_.matched, tools)), *prepared]

    def also(unit: Unit, receipts: list[Receipt]) -> None:
        for receipt in receipts:
            unit.link_turns(receipt.memory.id, slice_.keys_of(receipt.memory))
        slice_.withdraw(unit)
        unit.within_run("", "")
        unit.upkeep.decided(run.id, slice_.lines)
        note(unit)

    write(_in_order(again), tools, run.actor, also, slice_.carry_out)
    return slice_.lines


def _in_order(prepared: Sequence[PreparedDraft]) -> list[PreparedDraft]:
    return sorted(prepared, key=lambda item: item.memory.heard_at)


@dataclass(frozen=True, slots=True)
class _Belief:
    """A memory that was made of some of the turns, and what is known of its history."""

    memory: Memory
    turns: frozenset[int]
    events: tuple[Event, ...]

    @property
    def kept(self) -> bool:
        """Whether it stays as it is: somebody else made it, or a person has changed it."""
        return self.memory.source != extract.SOURCE or is_changed_by_hand(self.memory, self.events)

    @property
    def wordings(self) -> list[str]:
        """Its words, and those it had before."""
        former = (event.before.get("content") for event in self.events)
        return [self.memory.content, *(text for text in former if isinstance(text, str))]

    @property
    def may_come_back(self) -> bool:
        """Whether it is archived only because reading, or taking a reading back, put it there."""
        if self.memory.status is not Status.ARCHIVED:
            return False
        last = next((event for event in self.events if event.verb is Verb.ARCHIVED), None)
        return last is not None and bool(last.run) and last.rule in {WITHDRAWN, "undo"}


def is_changed_by_hand(memory: Memory, events: Sequence[Event]) -> bool:
    """Whether a person or a program asked for a change of it, by its events."""
    if memory.pinned or memory.verification is Verification.USER_CONFIRMED:
        return True
    return any(
        not event.run and event.verb in BY_HAND and event.because not in OWN_REASONS for event in events
    )


@dataclass(slots=True)
class _RereadTurns:
    """Some turns that are read again: what was believed of them, and what becomes of that."""

    turns: Sequence[Turn]
    run: Run
    tools: Tools
    lines: list[Decided] = field(default_factory=list)
    matched: list[Draft] = field(default_factory=list)
    """What was read and is there already; `beliefs_of` has the memory of each, in the same order."""
    beliefs_of: list[_Belief] = field(default_factory=list)
    supported: set[str] = field(default_factory=set)
    beliefs: list[_Belief] = field(init=False)
    origins: dict[str, tuple[int, ...]] = field(default_factory=dict)
    freed: dict[str, list[Memory]] = field(default_factory=dict)
    """Of each belief that ended others: those that it ends no longer."""

    def __post_init__(self) -> None:
        made_from = self.tools.store.turns.made_from([turn.key for turn in self.turns])
        records = self.tools.store.memories.read(sorted(made_from))
        self.beliefs = [
            _Belief(memory, made_from[key], tuple(_events(memory.id, self.tools)))
            for key, memory in sorted(records.items())
        ]

    def unmatched(self, reading: extract.Reading) -> Iterator[Draft]:
        """The drafts that no memory is made of yet; for the others it is noted which memory that is."""
        for draft, keys in zip(reading.drafts, reading.origins, strict=True):
            try:
                good = screen(draft)
            except InvalidInput:
                continue
            belief = self._belief_of(good, frozenset(keys))
            if belief is None:
                self.origins.setdefault(words.content_hash(good.content), keys)
                yield good
                continue
            exact = belief.memory.content_hash == words.content_hash(good.content)
            if exact and not belief.kept and belief.memory.id not in self.supported:
                self.matched.append(good)
                self.beliefs_of.append(belief)
            self.supported.add(belief.memory.id)

    def _belief_of(self, draft: Draft, keys: frozenset[int]) -> _Belief | None:
        mark = words.content_hash(draft.content)
        here = [belief for belief in self.beliefs if belief.turns & keys]
        for one in here:
            if mark in map(words.content_hash, one.wordings):
                return one
        alike = (one for one in here if one.kept and any(_alike(draft.content, own) for own in one.wordings))
        return next(alike, None)

    def refreshed(self, prepared: Sequence[PreparedDraft]) -> Iterator[PreparedDraft]:
        """What is there already, as it is compared with the others: it keeps its id and its standing."""
        for item, belief in zip(prepared, self.beliefs_of, strict=True):
            status = item.memory.status
            fresh = _refreshed(belief, item.memory)
            self.freed[fresh.id] = [
                memory
                for memory in _ended_by(fresh, self.tools)
                if not _still_ends(item, fresh, memory, self.tools)
            ]
            yield replace(item, memory=fresh, apart=item.apart or status is Status.SAID)

    def keys_of(self, memory: Memory) -> tuple[int, ...]:
        """The turns it was read in."""
        return self.origins.get(memory.content_hash, ())

    def carry_out(self, unit: Unit, item: PreparedDraft, verdict: Verdict) -> Receipt:
        """Write what was read: a new belief, or what is different about one that is there."""
        old = unit.get(item.memory.id)
        verdict = self._sparing(verdict)
        if old is None:
            return self._new(unit, item, verdict)
        new = item.memory
        rule = _rule(old, new)
        if rule:
            self._under(unit, rule, new.id)
            changed = replace(new, modified_at=self.tools.clock.now(), version=old.version + 1)
            unit.change(changed, _verb(rule), WHY[rule], findable=item.findable)
        if isinstance(verdict, Supersede) and new.status is Status.ACTIVE:
            for one in (verdict, *verdict.also):
                self._end(unit, one, new)
        for memory in self.freed.get(new.id, ()):
            self._free(unit, memory, new)
        return Receipt(unit.get(new.id) or new, Outcome.REINFORCED, WHY.get(rule, ""))

    def withdraw(self, unit: Unit) -> None:
        """Let go what no turn is found to say any more; what a later turn may still say waits for that."""
        last = max(turn.key for turn in self.turns)
        for belief in self.beliefs:
            memory = belief.memory
            if memory.id in self.supported:
                if max(belief.turns) > last:
                    unit.upkeep.judge(Judgement(SUPPORTED, self._key(memory), "said", self.run.started_at))
                continue
            now = unit.get(memory.id)
            if belief.kept or now is None or now.status not in REMAINS or max(belief.turns) > last:
                continue
            if self._key(memory) in self.tools.store.upkeep.judged(SUPPORTED, [self._key(memory)]):
                continue
            self._under(unit, WITHDRAWN, memory.id)
            gone = replace(now, status=Status.ARCHIVED, modified_at=self.tools.clock.now())
            unit.change(gone, Verb.ARCHIVED, WHY[WITHDRAWN])
            for ended in _ended_by(memory, self.tools):
                self._free(unit, ended, memory)

    def _key(self, memory: Memory) -> str:
        return f"{self.run.id}:{memory.id}"

    def _sparing(self, verdict: Verdict) -> Verdict:
        """A verdict that ends nothing a person has changed by hand."""
        if not isinstance(verdict, Supersede):
            return verdict
        ends = [
            replace(one, also=())
            for one in (verdict, *verdict.also)
            if not is_changed_by_hand(one.memory, _events(one.memory.id, self.tools))
        ]
        if not ends:
            return Reinforce(verdict.memory, verdict.because)
        return replace(ends[0], also=tuple(ends[1:]))

    def _new(self, unit: Unit, item: PreparedDraft, verdict: Verdict) -> Receipt:
        if isinstance(verdict, Reinforce):  # it is known from elsewhere, and was counted when it was said
            return Receipt(unit.get(verdict.memory.id) or verdict.memory, Outcome.REINFORCED, verdict.because)
        self._under(unit, NEW, item.memory.id)
        receipt = settle(unit, item, verdict)
        for one in (verdict, *verdict.also) if isinstance(verdict, Supersede) else ():
            self.lines.append(Decided(0, STEP, ENDED, WHY[ENDED], one.memory.id, receipt.memory.id))
        return receipt

    def _end(self, unit: Unit, verdict: Supersede, new: Memory) -> None:
        old = unit.get(verdict.memory.id)
        if old is None or old.status is not Status.ACTIVE:
            return
        self._under(unit, ENDED, old.id, new.id)
        end(unit, old, new, verdict)

    def _free(self, unit: Unit, memory: Memory, by: Memory) -> None:
        """What was ended without reason holds again."""
        now = unit.get(memory.id)
        if now is None:
            return
        self._under(unit, FREED, memory.id, by.id)
        free = replace(_free_of(now, by), modified_at=self.tools.clock.now(), version=now.version + 1)
        unit.change(free, Verb.RESTORED, WHY[FREED], findable=findable(free))
        for sort in (EdgeType.SUPERSEDES, EdgeType.CONTRADICTS):
            unit.unrelate(by.id, memory.id, sort, WHY[FREED])

    def _under(self, unit: Unit, rule: str, memory: str, related: str = "") -> None:
        unit.within_run(self.run.id, rule)
        self.lines.append(Decided(0, STEP, rule, WHY[rule], memory, related))


def _events(memory_id: str, tools: Tools) -> list[Event]:
    return tools.store.ledger.events(memory_id, EVERYTHING, EVENTS)


def _alike(one: str, other: str) -> bool:
    mine, theirs = set(words.terms(one)), set(words.terms(other))
    return len(mine & theirs) >= ALIKE * max(1, min(len(mine), len(theirs)))


def _refreshed(belief: _Belief, fresh: Memory) -> Memory:
    """The memory with what today's reading says of its words; its use, layer and age stay."""
    old = belief.memory
    fields = REDERIVED + (WEIGHED if fresh.category != old.category else ())
    new = {name: getattr(fresh, name) for name in fields}
    kept = {name: value for name, value in old.details.items() if name not in OF_READING}
    details = {**kept, **fresh.details, **_still_over(old, fresh)}
    back = belief.may_come_back or (old.status in REMAINS and fresh.status is not old.status)
    keeps_status = not back or (old.status is Status.CHALLENGED and fresh.status is Status.ACTIVE)
    return replace(
        old,
        **new,
        details=details,
        tier=at_least(old.tier, fresh.tier),
        status=old.status if keeps_status else fresh.status,
    )


def _still_over(old: Memory, fresh: Memory) -> dict[str, list[object]]:
    """The facts of a memory that a later one has ended stay ended."""
    if not old.details.get("no_longer"):
        return {}
    ended = [fact for fact in old.details.get("facts", ()) if fact.get("valid_to")]
    over = {(fact["subject"], fact["predicate"], fact["object"]) for fact in ended}
    stated = [
        fact
        for fact in fresh.details.get("facts", ())
        if (fact.get("subject"), fact.get("predicate"), fact.get("object")) not in over
    ]
    return {"facts": [*stated, *ended]}


def _rule(old: Memory, new: Memory) -> str:
    """What has changed about a memory by being read again; empty when nothing has."""
    if old.status is Status.ARCHIVED and new.status is not Status.ARCHIVED:
        return BACK
    if old.status is not new.status:
        return ONLY_SAID if new.status is Status.SAID else BELIEVED
    return CHANGED if replace(new, modified_at=old.modified_at, version=old.version) != old else ""


def _verb(rule: str) -> Verb:
    if rule == CHANGED:
        return Verb.UPDATED
    return Verb.RESTORED if rule == BACK else Verb.STATUS_CHANGED


# ---------------------------------------------------------------- what a belief has ended


def _ended_by(memory: Memory, tools: Tools) -> list[Memory]:
    """The memories that listening, not a person, let end because of this one, in whole or in part."""
    found: list[Memory] = []
    for edge in tools.store.relations.of(memory.id, EVERYTHING):
        if edge.source != memory.id or edge.type is not EdgeType.CONTRADICTS:
            continue
        other = tools.store.memories.get(edge.target, EVERYTHING)
        if other is None or not (_is_replaced(other, edge, tools) or _parts(other, memory)):
            continue
        if not is_changed_by_hand(other, _events(other.id, tools)):
            found.append(other)
    return found


def _is_replaced(memory: Memory, edge: Edge, tools: Tools) -> bool:
    if memory.status is not Status.SUPERSEDED:
        return False
    last = next((event for event in _events(memory.id, tools) if event.verb is Verb.SUPERSEDED), None)
    if last is None or last.related != edge.source:
        return False
    return not last.run or last.rule in {ENDED, NEW}


def _parts(memory: Memory, by: Memory) -> list[dict[str, object]]:
    over = memory.details.get("no_longer")
    return [part for part in over if part.get("by") == by.id] if isinstance(over, list) else []


def _free_of(memory: Memory, by: Memory) -> Memory:
    """The memory as it is when this one ends nothing of it."""
    if memory.status is Status.SUPERSEDED:
        return replace(memory, status=Status.ACTIVE, valid_to=None)
    told = {str(part.get("fact")) for part in _parts(memory, by)}
    details = dict(memory.details)
    details["no_longer"] = [part for part in details["no_longer"] if part.get("by") != by.id]
    details["facts"] = [
        fact
        for fact in details.get("facts", ())
        if not (fact.get("valid_to") and f"{fact['subject']} {fact['predicate']} {fact['object']}" in told)
    ]
    return replace(memory, details={name: value for name, value in details.items() if value != []})


def _still_ends(item: PreparedDraft, by: Memory, memory: Memory, tools: Tools) -> bool:
    """Whether today's rules would let the statement end this memory, were it in force."""
    if item.apart:
        return False
    whole = _free_of(memory, by)
    near = Neighbour(whole, NewStatement(whole), _cosine(item, whole, tools))
    return isinstance(decide(item.statement, [near], limits_of(item.vector)), Supersede)


def _cosine(item: PreparedDraft, memory: Memory, tools: Tools) -> float | None:
    if item.vector is None:
        return None
    try:
        space, rows = tools.embedder.embed([key_text(memory.content, memory.told_by, memory.after)])
    except EmbedderError:
        return None
    return float(item.vector.vector @ rows[0]) if space == item.vector.space else None
