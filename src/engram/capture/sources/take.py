"""Taking a source in: what a reader found comes in; memories are written, and a report goes out.

    read → compare with the last time → statements → screen → what remember() does → origins

A slice of items is one unit of work, and so are the memories and where they came from: a run that is cut off
goes on where it stopped. A dry run does all of it, too, and then takes each slice back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import Any

from engram.capture.pipeline import make_ready, write
from engram.capture.settle import settle
from engram.capture.sources.files import BEGINNING, refused
from engram.errors import AccessDenied, EngramError, InvalidInput
from engram.lazily import dataclass
from engram.model.capture import Draft, Fate, Found, IngestReport, Item, ItemKind, ItemReport, Receipt
from engram.model.clock import check_cancelled
from engram.model.event import Verb
from engram.model.memory import TAG_LIMIT, Kind, Memory, Status, Type
from engram.model.plain import draft as draft_of
from engram.model.scope import HERE, Scope
from engram.ports import Tools, Unit
from engram.rules.enrich import PreparedDraft
from engram.rules.sameness import New
from engram.rules.screen import screen
from engram.rules.traits import REFERENCE, TALK
from engram.text import re
from engram.text.dates import dated
from engram.text.forms import verbatim
from engram.text.junk import cleaned, is_filler, junk_of
from engram.text.kinds import kind_of
from engram.text.sentences import sentences

# ---------------------------------------------------------------- compare
# What changed in a source since the last time: its items and what is known of it come in, a plan comes out.
#
# An item is the same when its digest is, wherever it stands now: a paragraph put in at the top changes
# nothing below it. It has changed when another one stood in its place.


_NTH = re.compile(r"~\d+$")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item as it was taken in the last time: its place, its digest, and the memories made of it."""

    origin: str
    digest: str
    memories: Mapping[str, str]
    """By origin: an item that holds several statements has several."""


@dataclass(slots=True)
class ChangePlan:
    """What is to be done about each item."""

    same: list[tuple[Item, KnownItem]] = field(default_factory=list)
    moved: list[tuple[Item, KnownItem]] = field(default_factory=list)
    """The same, in another place."""
    changed: list[tuple[Item, KnownItem]] = field(default_factory=list)
    new: list[Item] = field(default_factory=list)
    twice: list[Item] = field(default_factory=list)
    """Their place is taken by an item before them."""
    gone: list[KnownItem] = field(default_factory=list)


def nth(origin: str, number: int) -> str:
    """The origin of an item's first, second, third … statement.

    >>> nth("file:a.md#1", 0), nth("file:a.md#1", 1)
    ('file:a.md#1', 'file:a.md#1~2')
    """
    return f"{origin}~{number + 1}" if number else origin


def grouped(known: Mapping[str, tuple[str, str]]) -> dict[str, KnownItem]:
    """What a store knows, item by item."""
    found: dict[str, dict[str, str]] = {}
    digests: dict[str, str] = {}
    for origin, (memory_id, digest) in known.items():
        whole = _NTH.sub("", origin)
        found.setdefault(whole, {})[origin] = memory_id
        digests[whole] = digest
    return {origin: KnownItem(origin, digests[origin], memories) for origin, memories in found.items()}


def compare(items: Iterable[Item], known: Mapping[str, KnownItem]) -> ChangePlan:
    """Every item and every known one is in exactly one part of the plan."""
    plan = ChangePlan()
    rest, pending = dict(known), list[Item]()
    for item in _once(items, plan):
        here = rest.get(item.origin)
        if here is not None and here.digest == item.digest:
            plan.same.append((item, rest.pop(item.origin)))
        else:
            pending.append(item)
    by_digest = {one.digest: one for one in reversed(rest.values())}
    pending = [item for item in pending if not _moved(item, by_digest, rest, plan)]
    for item in pending:
        if item.origin in rest:
            plan.changed.append((item, rest.pop(item.origin)))
        else:
            plan.new.append(item)
    plan.gone.extend(rest.values())
    return plan


def _once(items: Iterable[Item], plan: ChangePlan) -> Iterable[Item]:
    seen: set[str] = set()
    for item in items:
        if item.origin in seen:
            plan.twice.append(item)
        else:
            seen.add(item.origin)
            yield item


def _moved(item: Item, by_digest: dict[str, KnownItem], rest: dict[str, KnownItem], plan: ChangePlan) -> bool:
    there = by_digest.pop(item.digest, None)
    if there is None:
        return False
    plan.moved.append((item, rest.pop(there.origin)))
    return True


# ---------------------------------------------------------------- revise
# Revising: memories made of an item, and the statements it holds now, come in; the memories follow the
# item.
#
# Only what came from this source, and from nowhere else, is rewritten or archived: a statement that
# somebody also made in a conversation stays theirs.


CHANGED = "its source says it otherwise now"
GONE = "no longer in its source"
SHARED = "no longer in this source, but known from elsewhere: its memory stays"
Owns = Callable[[Memory], bool]


@dataclass(frozen=True, slots=True)
class RevisedItem:
    """What became of one statement."""

    memory: str
    fate: Fate
    because: str

    @classmethod
    def of(cls, receipt: Receipt) -> RevisedItem:
        """A receipt, as items are reported."""
        return cls(receipt.memory.id, Fate(receipt.outcome.value), receipt.because)


def revise(
    unit: Unit, old: Sequence[str], statements: Sequence[PreparedDraft], owns: Owns, tools: Tools
) -> list[RevisedItem]:
    """Make the old memories say what the statements say; one result a statement, in order."""
    mine = _mine(unit, old, owns)
    by_hash = {memory.content_hash: memory for memory in mine}
    pairs: list[tuple[PreparedDraft, Memory | None]] = []
    for statement in statements:
        match = by_hash.pop(statement.memory.content_hash, None)
        if match is not None:
            mine.remove(match)
        pairs.append((statement, match))
    settled = []
    for statement, match in pairs:
        former = match or (mine.pop(0) if mine else None)
        settled.append(_settled(unit, former, statement, tools))
    for memory in mine:
        archive(unit, memory, tools)
    return settled


def archive(unit: Unit, memory: Memory, tools: Tools) -> None:
    """Put a memory away that its source holds no more; it can be restored."""
    now = tools.clock.now()
    gone = replace(memory, status=Status.ARCHIVED, modified_at=now, version=memory.version + 1)
    unit.change(gone, Verb.ARCHIVED, GONE)


def _mine(unit: Unit, old: Sequence[str], owns: Owns) -> list[Memory]:
    found = (unit.get(memory_id) for memory_id in dict.fromkeys(old))
    return [
        memory for memory in found if memory is not None and memory.status is Status.ACTIVE and owns(memory)
    ]


def _settled(unit: Unit, former: Memory | None, statement: PreparedDraft, tools: Tools) -> RevisedItem:
    if former is None:
        return RevisedItem.of(settle(unit, statement, New()))
    same = unit.same_content(statement.memory.content_hash, statement.memory.scope)
    if same is not None and same.id != former.id:
        archive(unit, former, tools)
        return RevisedItem.of(settle(unit, statement, New()))
    now = _rewritten(former, statement.memory)
    unit.change(now, Verb.UPDATED, CHANGED, findable=statement.findable)
    if statement.vector is not None and now.content != former.content:
        unit.embed(now.id, statement.vector)
    return RevisedItem(now.id, Fate.UPDATED, CHANGED)


def _rewritten(former: Memory, new: Memory) -> Memory:
    """What the words tell comes from the new one; what the memory has been through stays its own."""
    return replace(
        new,
        id=former.id,
        created_at=former.created_at,
        layer=former.layer,
        lifecycle=former.lifecycle,
        verification=former.verification,
        policy=former.policy,
        priority=former.priority,
        importance=former.importance,
        strength=former.strength,
        usage=former.usage,
        last_accessed=former.last_accessed,
        version=former.version + 1,
        tier=max(former.tier, new.tier, key=tuple(type(new.tier)).index),
    )


SLICE = 256
"""Items that are written together: large enough to be quick, small enough that a break loses little."""
REHEARSED = 2_048
"""Items that a dry run tries together: the more, the more it knows of what it has taken back."""
AS_BEFORE = "as it was"
TWICE = "it stands twice in its source"
MADE = frozenset({Fate.STORED, Fate.SUPERSEDED, Fate.CHALLENGED})
"""What a dry run only pretends to make."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How a source is taken in, for whom and where to."""

    scope: Scope
    actor: str
    check: Callable[[Scope], None]
    """Raises AccessDenied where the caller may not write."""
    beginning: str = ""
    """What the origins of this source begin with; empty when it cannot be compared with the last time."""
    whole: bool = False
    """Whether what is no longer in it is archived."""
    source: str = ""
    """What memories of this source are marked with: only those are archived."""
    dry: bool = False
    moved: bool = False
    """Whether everything goes to `scope`, also what names a place of its own."""
    tags: tuple[str, ...] = ()
    progress: Progress | None = None


class DryRunRollback(Exception):
    """Takes back what a dry run has written."""


@dataclass(slots=True)
class _Work:
    """One item on its way: what it becomes, what it was, and how it ended."""

    item: Item
    known: KnownItem | None = None
    drafts: list[Draft] = field(default_factory=list)
    prepared: list[PreparedDraft] = field(default_factory=list)
    settled: list[RevisedItem] = field(default_factory=list)
    report: ItemReport | None = None


def ingest(found: Iterable[Found], options: IngestOptions, tools: Tools) -> IngestReport:
    """Take in everything that a reader found. Turns have a way of their own and must not come here."""
    run = _Run(options, tools)
    return run.take(list(found))


class _Run:
    """One source being taken in."""

    def __init__(self, options: IngestOptions, tools: Tools) -> None:
        self.options, self.tools = options, tools
        self.taken: set[str] = set()
        """Memories that some item of this run has made its own."""
        self.shared: set[str] = set()
        """Memories that something else also came from: they are not ours to change."""
        self.kept: set[str] = set()
        """Origins that were written in this run."""
        self.hashes: set[str] = set()
        """Contents of the slices before: a dry run has taken them back."""
        self.done = self.total = 0

    def take(self, found: Sequence[Found]) -> IngestReport:
        """Compare, write slice by slice, put away what is gone; one report for each thing found."""
        items = [one for one in found if isinstance(one, Item)]
        self.total = len(items)
        plan = compare(items, self._known())
        self._find_shared(plan)
        reports = self._settled_already(plan)
        size = max(SLICE, REHEARSED) if self.options.dry else SLICE
        for part in _slices([*((item, None) for item in plan.new), *plan.changed], size):
            works = [_Work(item, former) for item, former in part]
            self._write(works)
            reports |= {work.item.origin: self._report_of(work) for work in works}
            self._count(len(works))
        gone = self._finish(plan)
        return IngestReport((*_in_order(found, reports), *gone), self.options.dry)

    # ------------------------------------------------------------ what is known

    def _known(self) -> dict[str, KnownItem]:
        if not self.options.beginning:
            return {}
        return grouped(self.tools.store.origins.known(self.options.scope, self.options.beginning))

    def _find_shared(self, plan: ChangePlan) -> None:
        """Memories with another origin than the items that changed or went."""
        if not plan.changed and not plan.gone:
            return
        touched = {one.origin for _, one in plan.changed} | {one.origin for one in plan.gone}
        everything = grouped(self.tools.store.origins.known(self.options.scope, ""))
        self.shared = {
            memory_id
            for origin, one in everything.items()
            if origin not in touched
            for memory_id in one.memories.values()
        }

    def _owns(self, source: str) -> Callable[[Memory], bool]:
        def owns(memory: Memory) -> bool:
            free = memory.id not in self.shared and memory.id not in self.taken
            return free and memory.source == source and not memory.pinned

        return owns

    def _settled_already(self, plan: ChangePlan) -> dict[str, ItemReport]:
        self._count(len(plan.same) + len(plan.moved) + len(plan.twice))
        reports: dict[str, ItemReport] = {}
        for item, known in (*plan.same, *plan.moved):
            ids = tuple(known.memories.values())
            reports[item.origin] = replace(_report(item, Fate.UNCHANGED, AS_BEFORE), memories=ids)
        return reports

    # ------------------------------------------------------------ a slice

    def _write(self, works: Sequence[_Work]) -> None:
        self._prepare(works)
        direct = [work for work in works if _goes_directly(work)]
        others = [work for work in works if work.report is None and not _goes_directly(work)]
        fresh = [one for work in others for one in work.prepared]

        def also(unit: Unit, receipts: list[Receipt]) -> None:
            given = iter(receipts)
            for work in others:
                work.settled = [RevisedItem.of(next(given)) for _ in work.prepared]
            self.taken |= {one.memory for work in others for one in work.settled}
            for work in direct:
                self._revise(unit, work)
            for work in (*others, *direct):
                self._keep_origins(unit, work)
            if self.options.dry:
                raise DryRunRollback

        if not fresh and not direct:
            return
        try:
            write(fresh, self.tools, self.options.actor, also)
        except DryRunRollback:
            self.hashes |= {one.memory.content_hash for work in works for one in work.prepared}

    def _prepare(self, works: Sequence[_Work]) -> None:
        """Statements of every item, screened and made ready all together; what is none says why."""
        for work in works:
            check_cancelled()
            try:
                drafts, why = statements(work.item)
            except InvalidInput as error:
                work.report = refused(work.item.origin, error, work.item.text)
                continue
            self._screen(work, drafts, why)
        prepared = iter(make_ready([draft for work in works for draft in work.drafts], self.tools))
        for work in works:
            work.prepared = [next(prepared) for _ in work.drafts]
            self._recognise(work)

    def _screen(self, work: _Work, drafts: Sequence[Draft], why: str) -> None:
        faults: list[EngramError] = []
        for draft in drafts:
            try:
                good = screen(self._placed(draft))
                self.options.check(good.scope)
                work.drafts.append(good)
            except (InvalidInput, AccessDenied) as error:
                faults.append(error)
        if not work.drafts and faults:
            work.report = refused(work.item.origin, faults[0], work.item.text)
        elif not work.drafts and work.known is None:
            work.report = _report(work.item, Fate.DROPPED, why)

    def _placed(self, draft: Draft) -> Draft:
        """Where a draft goes: to the place asked for, or its own."""
        tags = tuple(dict.fromkeys((*self.options.tags, *draft.tags)))[:TAG_LIMIT]
        # What was written in the default place says nothing of where it is read.
        own = draft.scope not in (HERE, Scope()) and not self.options.moved
        scope = draft.scope if own else self.options.scope
        return replace(draft, scope=scope, tags=tags)

    def _recognise(self, work: _Work) -> None:
        """A dry run says of what an earlier slice held what a real run would find out by itself."""
        known = bool(work.prepared) and all(one.memory.content_hash in self.hashes for one in work.prepared)
        if self.options.dry and known and work.known is None:
            work.report = _report(work.item, Fate.REINFORCED, "the same words again")
            work.prepared = []

    def _revise(self, unit: Unit, work: _Work) -> None:
        former = list(work.known.memories.values()) if work.known else []
        owns = self._owns(work.item.source)
        work.settled = revise(unit, former, work.prepared, owns, self.tools)
        self.taken |= {one.memory for one in work.settled}

    def _keep_origins(self, unit: Unit, work: _Work) -> None:
        scope, item = self.options.scope, work.item
        kept = [nth(item.origin, place) for place in range(len(work.settled))]
        self.kept.update(kept)
        if work.known:
            unit.remove_origins(scope, [origin for origin in work.known.memories if origin not in kept])
        for origin, one in zip(kept, work.settled, strict=True):
            unit.set_origin(one.memory, scope, origin, item.digest)

    # ------------------------------------------------------------ the end

    def _finish(self, plan: ChangePlan) -> list[ItemReport]:
        """Follow what moved, and put away what is gone."""
        gone = plan.gone if self.options.whole else []
        reports: list[ItemReport] = []

        def work(unit: Unit) -> None:
            reports.extend(self._remove(unit, one) for one in gone)
            former = [*(known for _, known in plan.moved), *gone]
            left = {origin for known in former for origin in known.memories}
            # A place that was left may have been taken by another item of this run.
            unit.remove_origins(self.options.scope, sorted(left - self.kept))
            for item, known in plan.moved:
                for place, memory_id in enumerate(known.memories.values()):
                    unit.set_origin(memory_id, self.options.scope, nth(item.origin, place), item.digest)
            if self.options.dry:
                raise DryRunRollback

        if gone or plan.moved:
            with suppress(DryRunRollback):
                self.tools.store.write(work, self.options.actor)
        return reports

    def _remove(self, unit: Unit, known: KnownItem) -> ItemReport:
        ids = tuple(dict.fromkeys(known.memories.values()))
        memories = [memory for memory_id in ids if (memory := unit.get(memory_id)) is not None]
        owns = self._owns(self.options.source)
        ours = [one for one in memories if owns(one)]
        for memory in ours:
            if memory.status is Status.ACTIVE:
                archive(unit, memory, self.tools)
        reason = "no longer in its source" if len(ours) == len(memories) else SHARED
        text = memories[0].content[:BEGINNING] if memories else ""
        return ItemReport(known.origin, Fate.REMOVED, ids, reason, text=text)

    # ------------------------------------------------------------ the report

    def _report_of(self, work: _Work) -> ItemReport:
        if work.report is not None:
            return work.report
        if not work.settled:
            return _report(work.item, Fate.REMOVED, "nothing in it is worth keeping now")
        first = next((one for one in work.settled if one.fate is not Fate.REINFORCED), work.settled[0])
        dry = self.options.dry
        ids = tuple(one.memory for one in work.settled if not (dry and one.fate in MADE))
        return replace(_report(work.item, first.fate, first.because), memories=ids)

    def _count(self, more: int) -> None:
        self.done += more
        if self.options.progress is not None and more:
            self.options.progress(self.done, self.total)


def _goes_directly(work: _Work) -> bool:
    """What changed replaces itself, and code repeats nothing that somebody said: neither is compared."""
    return work.report is None and (work.known is not None or work.item.kind is ItemKind.CODE)


def _report(item: Item, fate: Fate, reason: str) -> ItemReport:
    return ItemReport(item.origin, fate, (), reason, text=item.text[:BEGINNING])


def _in_order(found: Sequence[Found], reports: dict[str, ItemReport]) -> Iterator[ItemReport]:
    """One report for each thing found, in the order of the source."""
    seen: set[str] = set()
    for one in found:
        if isinstance(one, ItemReport):
            yield one
        elif one.origin in seen:
            yield _report(one, Fate.DROPPED, TWICE)
        else:
            seen.add(one.origin)
            yield reports[one.origin]


def _slices(
    works: Sequence[tuple[Item, KnownItem | None]], size: int
) -> Iterator[Sequence[tuple[Item, KnownItem | None]]]:
    for start in range(0, len(works), size):
        yield works[start : start + size]


ALONE_WORDS = 6
"""A statement with fewer words hardly stands alone: the heading above it goes with it."""
LONGEST_WORD = 300
"""No language has longer words: this is data."""
TOGETHER = 500
"""Characters of sentences that are kept together at most."""


def statements(item: Item) -> tuple[list[Draft], str]:
    """What an item becomes, and why it becomes nothing."""
    match item.kind:
        case ItemKind.PASSAGE:
            return _passage(item)
        case ItemKind.CODE:
            return [_code(item)], ""
        case _:
            return [_as_it_is(item)], ""


def _passage(item: Item) -> tuple[list[Draft], str]:
    if any(len(word) > LONGEST_WORD for word in item.text.split()):
        return [], "data, not prose"
    whole = standing_alone(item.text, item)
    junk = junk_of(whole)
    if junk is not None:
        return [], str(junk)
    made = [_draft(text, item) for text in _together(sentences(cleaned(whole)))]
    return made, "" if made else "says nothing that lasts"


def _together(found: Iterable[str]) -> Iterator[str]:
    """Sentences as they stand, those that tell nothing left out, as many together as fit one passage."""
    held = ""
    for sentence in found:
        if is_filler(sentence):
            continue
        if held and len(held) + len(sentence) > TOGETHER:
            yield held
            held = ""
        held = f"{held} {sentence}" if held else sentence
    if held:
        yield held


def _draft(text: str, item: Item) -> Draft:
    fields, details = _fields(item), dict(item.details)
    context = str(details.get("query") or details.get("heading") or item.title)
    if context:
        details["context"] = context  # found by the words above it, too
    if item.at is not None and (meant := dated(text, item.at)):
        details["dates"] = dict(meant)
    if found := verbatim(text):
        details["verbatim"] = list(found)
    fields["details"] = details
    if item.source == TALK:
        return Draft(text, event_time=item.at, **fields)
    # A document tells what it tells: no promise, rule or trait of whoever brought it.
    kind = Kind.PROCEDURAL if kind_of(text) == Kind.PROCEDURAL else Kind.SEMANTIC
    return Draft(text, category=REFERENCE, kind=kind, event_time=item.at, **fields)


def standing_alone(words: str, item: Item) -> str:
    """A short statement with the heading it stands under; a longer one as it is.

    >>> standing_alone("port 8443", Item("a", "", details={"heading": "Servers › heron"}))
    'heron: port 8443'
    """
    above = str(item.details.get("heading", "")).rpartition(" › ")[2]
    short = len(words.split()) < ALONE_WORDS and words.isascii()  # Chinese needs no spaces to say much
    return f"{above}: {words}" if short and above and above.lower() not in words.lower() else words


def _code(item: Item) -> Draft:
    fields = _fields(item)
    return Draft(item.text, category="technical", kind=Kind.CODEBASE, type=Type.FACT, **fields)


def _as_it_is(item: Item) -> Draft:
    fields = {"source": item.source, "tags": item.tags, "details": item.details, "event_time": item.at}
    if item.speaker:
        fields["speaker"] = item.speaker
    if item.session:
        fields["session"] = item.session
    return draft_of(content=item.text, **(fields | dict(item.given)))


def _fields(item: Item) -> dict[str, Any]:
    return {"tags": item.tags, "details": item.details, "source": item.source, "session": item.session}
