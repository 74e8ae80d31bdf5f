"""Remembering: drafts come in, each becomes a memory or strengthens one, and a receipt says which and why.

    screen → enrich → embed → look for neighbours → decide → write

All drafts of one call are written in one unit of work: all of them or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from engram.capture.enrich import PreparedDraft, prepare, with_surprise
from engram.capture.link import connect, link
from engram.capture.screen import screen
from engram.capture.settle import settle
from engram.errors import AccessDenied, EmbedderError, EmbedderRefused, InvalidInput
from engram.model.capture import Draft, Outcome, Receipt, Refusal
from engram.model.clock import check_cancelled
from engram.model.facts import Edge, EdgeType
from engram.model.memory import Memory, Status
from engram.model.scope import Access, Role, Scope
from engram.ports import Embedded, Tools, Unit
from engram.rules.sameness import Neighbour, New, NewStatement, SamenessLimits, Supersede, Verdict, decide
from engram.rules.traits import REFERENCE, is_reference
from engram.rules.vectors import thresholds
from engram.text import words
from engram.text.forms import key_text
from engram.text.marks import tells_of_change

# ---------------------------------------------------------------- owed
# Owed vectors: memories that were stored while no vector could be made get theirs later.


def fill(tools: Tools, *, most: int | None = None, progress: Callable[[int], None] | None = None) -> int:
    """Embed what has no vector in the present space, slice by slice; how many were done.

    Each slice is on disk before the next begins, so a run that is cut off goes on where it stopped. A text
    that the embedder refuses is passed over: it stays findable by its words. Raises EmbedderDown.
    """
    done, after = 0, 0
    while most is None or done < most:
        space = tools.embedder.space
        waiting = tools.store.memories.unembedded(space, after, tools.config.embed.batch)
        if not waiting:
            break
        made = _embed([memory for _, memory in waiting], tools)
        tools.store.write(partial(_put, made), "engine")
        after = waiting[-1][0]
        done += len(made)
        if progress is not None:
            progress(done)
    return done


def _embed(memories: Sequence[Memory], tools: Tools) -> list[tuple[Memory, Embedded]]:
    """The vectors of all; where one text spoils it for the others, one by one without those refused."""
    try:
        space, rows = tools.embedder.embed(
            [key_text(memory.content, memory.told_by, memory.after) for memory in memories]
        )
    except EmbedderRefused:
        if len(memories) == 1:
            return []
        return [made for memory in memories for made in _embed([memory], tools)]
    return [(memory, Embedded(space, row)) for memory, row in zip(memories, rows, strict=True)]


def _put(made: Sequence[tuple[Memory, Embedded]], unit: Unit) -> None:
    for memory, vector in made:
        now = unit.get(memory.id)
        if now is not None and now.content == memory.content:
            unit.embed(memory.id, vector)


FACT_NEIGHBOURS = 8
"""How many memories with the same subject and predicate are looked at; normally few are active."""
RARE_WORD = 0.31
"""What a shared word that hardly anybody says counts beside the cosine."""
SAME_THING = 0.67
"""How close two statements are from which on the later is a word on the same thing."""
LATER_WORD = "a later word on the same"
ENGINE = "engine"
"""The source of what maintenance made."""
Also = Callable[[Unit, list[Receipt]], None]
"""What else belongs into the same unit of work, once the receipts are known."""


def remember(drafts: Sequence[Draft], tools: Tools, actor: str, also: Also | None = None) -> list[Receipt]:
    """Write the drafts, in order. Raises InvalidInput before anything is written."""
    return write(make_ready([screen(draft) for draft in drafts], tools), tools, actor, also)


def make_ready(screened: Sequence[Draft], tools: Tools) -> list[PreparedDraft]:
    """Everything that can be worked out from the drafts alone: needs no look at what is stored."""
    prepared = []
    for draft in screened:
        check_cancelled()
        prepared.append(prepare(draft, tools))
    return _embed_capture(prepared, tools)


def write(
    prepared: Sequence[PreparedDraft], tools: Tools, actor: str, also: Also | None = None
) -> list[Receipt]:
    """Look for neighbours, decide about each, and write all in one unit of work."""
    prepared = link(prepared, tools)
    near = _nearest(prepared, tools)
    prepared = [
        with_surprise(item, [cosine for _, cosine in found], tools)
        for item, found in zip(prepared, near, strict=True)
    ]
    known = _known(prepared, near, tools)
    updated = [_updated(item, found, tools) for item, found in zip(prepared, near, strict=True)]
    among = _among(prepared, tools)

    def work(unit: Unit) -> list[Receipt]:
        batch = _Batch(tools, among)
        items = zip(prepared, known, updated, strict=True)
        receipts = [batch.write(unit, item, candidates, earlier) for item, candidates, earlier in items]
        if also is not None:
            also(unit, receipts)
        return receipts

    return tools.store.write(work, actor)


def _embed_capture(prepared: list[PreparedDraft], tools: Tools) -> list[PreparedDraft]:
    """Vectors for all; none when the embedder fails: words are searchable at once, vectors come later."""
    size = tools.config.embed.batch
    done: list[PreparedDraft] = []
    for start in range(0, len(prepared), size):
        part = prepared[start : start + size]
        check_cancelled()
        try:
            keys = [key_text(one.content, one.told_by, one.after) for one in (item.memory for item in part)]
            space, vectors = tools.embedder.embed(keys)
        except EmbedderError:
            return done + prepared[start:]
        done += [replace(item, vector=Embedded(space, row)) for item, row in zip(part, vectors, strict=True)]
    return done


def _is_statement(item: PreparedDraft) -> bool:
    """Whether it may repeat or replace something: a turn of a conversation is kept as it was said."""
    return not item.memory.speaker and item.memory.status is not Status.SAID


def _nearest(prepared: Sequence[PreparedDraft], tools: Tools) -> list[list[tuple[int, float]]]:
    """For each draft the keys that lie nearest in its scope, with their cosines.

    A turn of a conversation is kept as it was said, so there is nothing to look for.
    """
    found: list[list[tuple[int, float]]] = [[] for _ in prepared]
    groups: dict[tuple[Scope, str], list[int]] = {}
    for place, item in enumerate(prepared):
        if item.vector is not None and _is_statement(item):
            groups.setdefault((item.memory.scope, item.vector.space.key), []).append(place)
    for (scope, _), places in groups.items():
        _nearest_in(scope, places, prepared, found, tools)
    return found


def _nearest_in(
    scope: Scope,
    places: Sequence[int],
    prepared: Sequence[PreparedDraft],
    found: list[list[tuple[int, float]]],
    tools: Tools,
) -> None:
    import numpy as np

    embedded = [vector for place in places if (vector := prepared[place].vector) is not None]
    rows = np.stack([one.vector for one in embedded])
    reach = tools.store.memories.reach(Access(scope, Role.AGENT))
    answers = tools.index.nearest(embedded[0].space, rows, tools.config.remember.neighbours, reach)
    for place, answer in zip(places, answers, strict=True):
        found[place] = answer


def _known(
    prepared: Sequence[PreparedDraft], near: Sequence[Sequence[tuple[int, float]]], tools: Tools
) -> list[list[tuple[Memory, float | None]]]:
    """For each draft the memories it may repeat or replace: near in meaning, or stating the same fact."""
    limits = [_limits(item.vector, tools) for item in prepared]
    close = [
        [one for one in found if one[1] >= limit.related] for found, limit in zip(near, limits, strict=True)
    ]
    records = tools.store.memories.read(sorted({key for found in close for key, _ in found}))
    return [
        [(records[key], cosine) for key, cosine in found if key in records] + _same_fact(item, tools)
        for item, found in zip(prepared, close, strict=True)
    ]


def _updated(item: PreparedDraft, near: Sequence[tuple[int, float]], tools: Tools) -> Memory | None:
    """The earlier statement of the same place that this one is a later word on, if it tells of a change.

    The nearest in meaning and in the words that only few say, when it is near enough.
    """
    memory = item.memory
    told = memory.details.get("corrects") or tells_of_change(memory.content)
    if not told or not _is_statement(item) or memory.source == ENGINE or memory.category == REFERENCE:
        return None
    own = set(item.findable.terms)
    cosines = dict(near)
    records = tools.store.memories.read(list(cosines))
    rarity = tools.store.texts.rarity(sorted(own), Access(memory.scope, Role.AGENT))
    most = max(rarity.values(), default=0.0) or 1.0

    def closeness(key: int) -> float:
        shared = own.intersection(words.terms(records[key].content))
        rare = sum(rarity.get(term, 0.0) for term in shared if not term.startswith(words.SINGLE))
        return cosines[key] + RARE_WORD * rare / most

    earlier = [
        key
        for key, one in records.items()
        if one.scope == memory.scope
        and one.status is Status.ACTIVE
        and one.heard_at < memory.heard_at
        and one.category != REFERENCE
        and one.source != ENGINE
    ]
    best = max(earlier, key=closeness, default=None)
    return records[best] if best is not None and closeness(best) >= SAME_THING else None


def _among(prepared: Sequence[PreparedDraft], tools: Tools) -> list[list[tuple[int, float]]]:
    """For each draft the earlier ones of the same call that it may repeat or replace: place and cosine."""
    found: list[list[tuple[int, float]]] = [[] for _ in prepared]
    groups: dict[tuple[Scope, str], list[int]] = {}
    for place, item in enumerate(prepared):
        if item.vector is not None and _is_statement(item):
            groups.setdefault((item.memory.scope, item.vector.space.key), []).append(place)
    for places in groups.values():
        if len(places) > 1:
            _among_these(places, prepared, found, tools)
    return found


def _among_these(
    places: Sequence[int],
    prepared: Sequence[PreparedDraft],
    found: list[list[tuple[int, float]]],
    tools: Tools,
) -> None:
    import numpy as np

    embedded = [vector for place in places if (vector := prepared[place].vector) is not None]
    rows = np.stack([one.vector for one in embedded])
    least = _limits(embedded[0], tools).related
    later, earlier = np.nonzero(np.tril(rows @ rows.T, -1) > least)
    for one, other in zip(later.tolist(), earlier.tolist(), strict=True):
        found[places[one]].append((places[other], float(rows[one] @ rows[other])))


def _same_fact(item: PreparedDraft, tools: Tools) -> list[tuple[Memory, float | None]]:
    if not _is_statement(item):
        return []
    stated = tools.store.facts.stated
    return [
        (claim.memory, None)
        for fact in (*item.statement.facts, *item.statement.ended)
        for claim in stated(fact.subject, fact.predicate, item.memory.scope, FACT_NEIGHBOURS)
    ]


def _limits(vector: Embedded | None, tools: Tools) -> SamenessLimits:
    """How near is near in this vector's space."""
    cosines = thresholds(vector.space.key if vector is not None else "")
    settings = tools.config.remember
    return SamenessLimits(
        duplicate=cosines.duplicate,
        strong=cosines.strong,
        related=cosines.related,
        jaccard=settings.jaccard_same,
        jaccard_alone=settings.jaccard_alone,
    )


class _Batch:
    """The drafts of one call, written one after the other: a later one knows the facts of an earlier one."""

    def __init__(self, tools: Tools, among: Sequence[Sequence[tuple[int, float]]]) -> None:
        self.tools = tools
        self.among = among
        self.written: list[Memory] = []
        self.latest: dict[str, Memory | None] = {}
        self.stated: dict[tuple[Scope, str, str], Memory] = {}

    def write(
        self,
        unit: Unit,
        item: PreparedDraft,
        candidates: Sequence[tuple[Memory, float | None]],
        earlier: Memory | None,
    ) -> Receipt:
        """Decide about one draft and carry the decision out."""
        check_cancelled()
        near = (*candidates, *self._said_before())
        verdict = self._verdict(item, candidates)
        receipt = settle(unit, item, verdict, self.tools)
        self.written.append(receipt.memory)
        self.latest[receipt.memory.id] = receipt.memory
        if receipt.outcome in {Outcome.SUPERSEDED, Outcome.CHALLENGED}:
            self.latest[receipt.other] = None  # what gave way earlier in this call is no neighbour any more
        if receipt.outcome is Outcome.SUPERSEDED and isinstance(verdict, Supersede):
            self.latest.update((one.memory.id, unit.get(one.memory.id)) for one in (verdict, *verdict.also))
        if receipt.memory.id == item.memory.id and receipt.memory.status is not Status.SAID:
            connect(unit, item, receipt.memory, self._similar(item, near), self.tools)
            if earlier is not None and unit.get(earlier.id) is not None:
                unit.relate(Edge(receipt.memory.id, earlier.id, EdgeType.UPDATES), LATER_WORD)
        if not item.memory.speaker:
            for fact in item.findable.facts:
                self.stated[item.memory.scope, fact.subject, fact.predicate] = receipt.memory
        return receipt

    def _verdict(self, item: PreparedDraft, candidates: Sequence[tuple[Memory, float | None]]) -> Verdict:
        if item.memory.speaker:
            return New("a turn of a conversation is kept as it was said")
        if item.apart:
            return New("kept apart, as was asked")
        if is_reference(item.memory):
            return New("a document is kept as it stands")
        found: dict[str, tuple[Memory, float | None]] = {}
        for memory, cosine in (*candidates, *self._said_before(), *self._stated_before(item)):
            now = self.latest.get(memory.id, memory)
            if now is not None:
                found.setdefault(now.id, (now, cosine))
        neighbours = [
            Neighbour(memory, NewStatement.of(memory), cosine)
            for memory, cosine in found.values()
            if memory.status is Status.ACTIVE
            and memory.scope == item.memory.scope
            and not memory.speaker
            # What the engine made of statements is none: it follows them, and is neither said nor corrected.
            and memory.source != ENGINE
            and not is_reference(memory)
        ]
        return decide(item.statement, neighbours, _limits(item.vector, self.tools))

    def _similar(
        self, item: PreparedDraft, near: Sequence[tuple[Memory, float | None]]
    ) -> list[tuple[Memory, float]]:
        """Those near enough to be linked that still stand."""
        if not near:
            return []
        least = _limits(item.vector, self.tools).strong
        close = [(memory, cosine) for memory, cosine in near if cosine is not None and cosine >= least]
        return [pair for pair in close if self.latest.get(pair[0].id, pair[0]) is not None]

    def _said_before(self) -> list[tuple[Memory, float | None]]:
        return [(self.written[place], cosine) for place, cosine in self.among[len(self.written)]]

    def _stated_before(self, item: PreparedDraft) -> list[tuple[Memory, None]]:
        about = (*item.statement.facts, *item.statement.ended)
        keys = ((item.memory.scope, fact.subject, fact.predicate) for fact in about)
        return [(self.stated[key], None) for key in keys if key in self.stated]


# ---------------------------------------------------------------- partly
# Remembering what is good of many: any number of drafts comes in; a receipt or a refusal for each goes out.
#
# Slice by slice, each a unit of work of its own. While one slice is being written the next is made ready:
# the writer spends most of its time inside SQLite, which lets the processor go.


Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class _Slice:
    """Some of the drafts: what is ready to be written, where each belongs, and what was refused."""

    places: list[int]
    prepared: list[PreparedDraft]
    refusals: list[Refusal]


def remember_partly(
    items: Sequence[Given],
    read: Callable[[Given], Draft],
    tools: Tools,
    actor: str,
    progress: Callable[[int], None] | None = None,
) -> list[Receipt | Refusal]:
    """Write every good draft; `read` makes a draft of an item or raises what is wrong with it."""
    results: list[Receipt | Refusal] = []
    with ThreadPoolExecutor(1, thread_name_prefix="engram-write") as pool:
        for written in _one_ahead(pool, _slices(items, read, tools), tools, actor):
            results += written
            if progress is not None:
                progress(len(results))
    return results


def _one_ahead(
    pool: ThreadPoolExecutor, slices: Iterator[_Slice], tools: Tools, actor: str
) -> Iterator[list[Receipt | Refusal]]:
    waiting: Future[list[Receipt | Refusal]] | None = None
    for ready in slices:
        if waiting is not None:
            yield waiting.result()
        waiting = pool.submit(copy_context().run, _write, ready, tools, actor)
    if waiting is not None:
        yield waiting.result()


def _slices(items: Sequence[Given], read: Callable[[Given], Draft], tools: Tools) -> Iterator[_Slice]:
    size = tools.config.embed.batch
    for start in range(0, len(items), size):
        places: list[int] = []
        good: list[Draft] = []
        refusals: list[Refusal] = []
        for place, item in enumerate(items[start : start + size], start):
            check_cancelled()
            try:
                good.append(screen(read(item)))
                places.append(place)
            except (InvalidInput, AccessDenied) as error:
                refusals.append(Refusal(place, error))
        yield _Slice(places, make_ready(good, tools), refusals)


def _write(ready: _Slice, tools: Tools, actor: str) -> list[Receipt | Refusal]:
    receipts = write(ready.prepared, tools, actor)
    by_place: dict[int, Receipt | Refusal] = dict(zip(ready.places, receipts, strict=True))
    by_place |= {refusal.index: refusal for refusal in ready.refusals}
    return [by_place[place] for place in sorted(by_place)]
