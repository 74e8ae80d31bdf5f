"""Remembering: drafts come in, each becomes a memory or strengthens one, and a receipt says which and why.

    screen → enrich → embed → look for neighbours → decide → write

All drafts of one call are written in one unit of work: all of them or none.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from datetime import datetime
from functools import cache, partial
from heapq import nlargest
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from engram.capture.settle import connect, link, settle
from engram.config import Config
from engram.errors import AccessDenied, EmbedderError, InvalidInput, NotFound
from engram.lazily import dataclass, replace
from engram.model.capture import Draft, Outcome, Receipt, Refusal
from engram.model.clock import check_cancelled
from engram.model.facts import Edge, EdgeType
from engram.model.memory import Filters, Memory, Space, Status, Suspicion, Tier
from engram.model.scope import Access, Role, Scope
from engram.ports import Embedded, Tools, Unit, View
from engram.rules.enrich import COMPARED, NOT_BELIEVED, PreparedDraft, prepare_all, with_surprise
from engram.rules.injection import why_suspect
from engram.rules.sameness import (
    ENOUGH,
    JACCARD_ALONE,
    JACCARD_SAME,
    LaterWord,
    Neighbour,
    New,
    NewStatement,
    SamenessLimits,
    Supersede,
    Verdict,
    decide,
    things,
)
from engram.rules.screen import screen
from engram.rules.sealing import is_found_by_meaning, turned
from engram.rules.traits import REFERENCE, USUAL, by_layers, is_overheard, is_reference
from engram.rules.vectors import product, thresholds
from engram.text.assertion import CHANGE_MAY_BE, change_told
from engram.text.forms import key_text
from engram.text.marks import takes_back
from engram.text.slots import has_wrong_word, names_its_subject, put_right, value_kinds

if TYPE_CHECKING:
    from engram.ports import Floats

FEW = 8
"""A call with so few drafts is written together with other calls of the moment."""
FACT_NEIGHBOURS = 8
"""How many memories with the same subject and predicate are looked at; normally few are active."""
ELLIPTIC = 8
"""A correction of so few words of meaning says what is right and leaves unsaid of what."""
HEARD_BEFORE = 16
"""So much of what was heard before is looked at for the thing that changed."""
AMONG = 64
"""So many drafts at a time are compared with those before them."""
LATER_WORD = "a later word on the same"
ENGINE = "engine"
"""The source of what maintenance made."""
Also = Callable[[Unit, list[Receipt]], None]
"""What else belongs into the same unit of work, once the receipts are known."""
CarryOut = Callable[[Unit, PreparedDraft, Verdict], Receipt]
"""Turns the verdict about a draft into rows, edges and events."""


def remember(drafts: Sequence[Draft], tools: Tools, actor: str) -> list[Receipt]:
    """Write the drafts, in order. Raises InvalidInput before anything is written.

    A few go with those that other threads remember at the same moment.
    """
    screened = [screen(draft) for draft in drafts]
    if len(screened) <= FEW:
        return tools.writes.do((screened, actor), partial(_remember_together, tools))
    return write(make_ready(screened, tools), tools, actor)


Call = tuple[Sequence[Draft], str]
"""What one thread remembers, and who does."""


def _remember_together(tools: Tools, calls: Sequence[Call]) -> list[list[Receipt]]:
    """The calls of several threads: read, embedded and looked up at once, one unit of work, one commit."""
    with _COLLECTING_RARELY:
        return _written_together(tools, calls)


def _written_together(tools: Tools, calls: Sequence[Call]) -> list[list[Receipt]]:
    prepared = make_ready([draft for drafts, _ in calls for draft in drafts], tools)

    def work(unit: Unit, everything: _LookedUp) -> list[list[Receipt]]:
        batch = _Batch(unit, tools, everything, settle)
        receipts = []
        for drafts, actor in calls:
            unit.act_for(actor)
            receipts.append(batch.write(len(drafts)))
        return receipts

    look = partial(_look_up, prepared, tools)
    return tools.store.look_and_write(look, work, calls[0][1], _only_namespace(prepared))


def _only_namespace(prepared: Sequence[PreparedDraft]) -> str:
    """The namespace of all drafts, which a unit of work may then name; empty when there are several."""
    namespaces = {item.memory.scope.namespace for item in prepared}
    return namespaces.pop() if len(namespaces) == 1 else ""


def make_ready(screened: Sequence[Draft], tools: Tools, *, foreign: bool = False) -> list[PreparedDraft]:
    """Everything that can be worked out from the drafts alone: needs no look at what is stored."""
    return _embed_capture(prepare_all(screened, tools, foreign=foreign), tools)


def write(
    prepared: Sequence[PreparedDraft],
    tools: Tools,
    actor: str,
    also: Also | None = None,
    carry_out: CarryOut = settle,
) -> list[Receipt]:
    """Look for neighbours, decide about each, and write all in one unit of work."""

    def work(unit: Unit, everything: _LookedUp) -> list[Receipt]:
        receipts = _Batch(unit, tools, everything, carry_out).write(len(prepared))
        if also is not None:
            also(unit, receipts)
        return receipts

    pure = carry_out is settle  # another may count what it does: that runs once
    look = partial(_look_up, prepared, tools)
    return tools.store.look_and_write(look, work, actor, _only_namespace(prepared) if pure else "")


@dataclass(frozen=True, slots=True)
class _LookedUp:
    """Drafts with their names resolved; for each what it may repeat or replace, and what it updates."""

    prepared: Sequence[PreparedDraft]
    known: Sequence[Sequence[tuple[Memory, float | None]]]
    updated: Sequence[Memory | None]
    among: Sequence[Sequence[tuple[int, float]]]
    """For each the earlier drafts that it may repeat or replace: place and cosine."""


def _look_up(prepared: Sequence[PreparedDraft], tools: Tools) -> _LookedUp:
    """What is known already of what the drafts say."""
    alike = _comparable(prepared)
    prepared = link(prepared, tools)
    near = _nearest(prepared, alike, tools)
    prepared = [
        with_surprise(item, [cosine for _, cosine in found])
        for item, found in zip(prepared, near, strict=True)
    ]
    stated = _same_facts(prepared, tools)
    keys = {key for found in near for key, _ in found}.union(*stated)
    records = tools.store.memories.read(sorted(keys))
    known = [_known(*about, records, tools) for about in zip(prepared, near, stated, strict=True)]
    updated = _updated(prepared, near, records, tools)
    return _LookedUp(prepared, known, updated, _among(prepared, alike))


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
            part = [
                replace(item, vector=Embedded(space, row)) for item, row in zip(part, vectors, strict=True)
            ]
            done += _with_hidden_vectors(part, tools)
        except EmbedderError:
            return done + prepared[start:]
    return done


def _with_hidden_vectors(part: list[PreparedDraft], tools: Tools) -> list[PreparedDraft]:
    """Where no word is left, the vector of what was said, turned."""
    secret = [item.secret for item in part if item.secret]
    if not secret or tools.keys is None:
        return part
    space, rows = tools.embedder.embed(secret)
    vectors = iter(turned(Embedded(space, row), tools.keys) for row in rows)
    return [replace(item, hidden_vector=next(vectors)) if item.secret else item for item in part]


def _is_statement(item: PreparedDraft) -> bool:
    """Whether it may repeat or replace something: a turn of a conversation is kept as it was said."""
    return not item.memory.speaker and item.memory.status not in NOT_BELIEVED


Comparable = dict[tuple[Scope, str], list[int]]
"""Places of drafts that may repeat or replace something, by scope and space."""


def _comparable(prepared: Sequence[PreparedDraft]) -> Comparable:
    groups: Comparable = {}
    for place, item in enumerate(prepared):
        if item.vector is not None and _is_statement(item):
            groups.setdefault((item.memory.scope, item.vector.space.key), []).append(place)
    return groups


def _rows(places: Sequence[int], prepared: Sequence[PreparedDraft]) -> tuple[Space, Floats]:
    import numpy as np

    embedded = [vector for place in places if (vector := prepared[place].vector) is not None]
    return embedded[0].space, np.stack([one.vector for one in embedded])


def _nearest(
    prepared: Sequence[PreparedDraft], alike: Comparable, tools: Tools
) -> list[list[tuple[int, float]]]:
    """For each draft the keys that lie nearest in its scope, with their cosines.

    A turn of a conversation is kept as it was said, so there is nothing to look for.
    """
    found: list[list[tuple[int, float]]] = [[] for _ in prepared]
    for (scope, _), places in alike.items():
        reach = tools.store.memories.reach(Access(scope, Role.AGENT))
        answers = tools.index.nearest(*_rows(places, prepared), COMPARED, reach)
        for place, answer in zip(places, answers, strict=True):
            found[place] = answer
    return found


def _same_facts(prepared: Sequence[PreparedDraft], tools: Tools) -> list[list[int]]:
    """For each draft the keys of memories that state the same of the same, the newest of each first."""
    topics = [
        [(fact.subject, fact.predicate) for fact in (*item.statement.facts, *item.statement.ended)]
        if _is_statement(item)
        else []
        for item in prepared
    ]
    asked: dict[Scope, list[tuple[str, str]]] = {}
    for item, some in zip(prepared, topics, strict=True):
        if some:
            asked.setdefault(item.memory.scope, []).extend(some)
    facts = tools.store.facts
    found = {scope: facts.stated(some, scope, FACT_NEIGHBOURS) for scope, some in asked.items()}
    return [
        [key for topic in some for key in found[item.memory.scope].get(topic, ())]
        for item, some in zip(prepared, topics, strict=True)
    ]


def _known(
    item: PreparedDraft,
    near: Sequence[tuple[int, float]],
    stated: Sequence[int],
    records: Mapping[int, Memory],
    tools: Tools,
) -> list[tuple[Memory, float | None]]:
    """The memories that a draft may repeat or replace: near in meaning, or stating the same fact."""
    least = limits_of(item.vector, tools.config).related
    close = [(key, cosine) for key, cosine in near if cosine >= least]
    return [
        (records[key], cosine) for key, cosine in (*close, *((key, None) for key in stated)) if key in records
    ]


def _updated(
    prepared: Sequence[PreparedDraft],
    near: Sequence[Sequence[tuple[int, float]]],
    records: Mapping[int, Memory],
    tools: Tools,
) -> list[Memory | None]:
    """For each draft the earlier statement of the same place that it is a later word on."""
    heard = {
        place: _heard_before(item, tools)
        for place, item in enumerate(prepared)
        if is_overheard(item.memory) and _tells_of_change(item)
    }
    if further := {key for some in heard.values() for key in some} - records.keys():
        records = {**records, **tools.store.memories.read(sorted(further))}
    return [
        _earlier(item, {**dict(near[place]), **heard.get(place, {})}, records)
        for place, item in enumerate(prepared)
    ]


def _tells_of_change(item: PreparedDraft) -> bool:
    memory = item.memory
    if not _is_statement(item) or memory.source == ENGINE or memory.category == REFERENCE:
        return False
    return bool(memory.details.get("corrects")) or change_told(memory.content) >= CHANGE_MAY_BE


def _heard_before(item: PreparedDraft, tools: Tools) -> dict[int, float]:
    """The nearest of what was heard in talk before, with their cosines."""
    if item.vector is None:
        return {}
    memory = item.memory
    filters = Filters(statuses=frozenset({Status.ACTIVE}), sources=frozenset({memory.source}))
    view = View(Access(memory.scope, Role.AGENT), filters)
    return dict(tools.index.search(item.vector.space, item.vector.vector, HEARD_BEFORE, view))


def _earlier(
    item: PreparedDraft, cosines: Mapping[int, float], records: Mapping[int, Memory]
) -> Memory | None:
    """What a draft most likely is a later word on, by the things both speak of, if it tells of a change."""
    memory = item.memory
    teller, heard = memory.told_by, _heard(memory)
    known = [
        key
        for key in cosines
        if (one := records.get(key)) is not None
        and one.told_by == teller
        and one.status is Status.ACTIVE
        and one.scope == memory.scope
        and one.category != REFERENCE
        and one.source != ENGINE
        and _heard(one) < heard
    ]
    if not known or not _tells_of_change(item):
        return None
    best = _put_right(item, known, records)
    if best is None:
        best = _taken_back(item, known, records)
    if best is None:
        best = _later_word_on(item, known, cosines, records)
    if best is None and memory.details.get("corrects") and not memory.after and is_overheard(memory):
        best = _of_such_a_value(item, [key for key in known if is_overheard(records[key])], records)
    return None if best is None else records[best]


def _heard(memory: Memory) -> datetime:
    """When it was said, on whichever clock: no look at what its words speak of."""
    return memory.heard_at if "heard_at" in memory.details else memory.event_time or memory.created_at


def _later_word_on(
    item: PreparedDraft, known: Sequence[int], cosines: Mapping[int, float], records: Mapping[int, Memory]
) -> int | None:
    """What it is most of all a later word on, if on anything."""
    if item.vector is None:
        return None
    space = thresholds(item.vector.space.key)
    above = {key: (cosine - space.noise_mean) / space.noise_sd for key, cosine in cosines.items()}
    corrects = bool(item.memory.details.get("corrects"))
    later = LaterWord(item.memory.content, above.values(), corrects=corrects)
    weights = {key: later.weight(above[key], records[key].content) for key in known}
    best = max(weights, key=lambda key: weights[key])
    return best if weights[best] >= ENOUGH else None


def _put_right(item: PreparedDraft, known: Iterable[int], records: Mapping[int, Memory]) -> int | None:
    """What a correction of one word corrects: the last statement with the wrong word ("Hanna, not Anna")."""
    put = put_right(item.memory.content)
    alike = [key for key in known if put is not None and has_wrong_word(put, records[key].content)]
    return max(alike, key=lambda key: records[key].heard_at, default=None)


def _taken_back(item: PreparedDraft, known: Iterable[int], records: Mapping[int, Memory]) -> int | None:
    """What was said just before, where that is taken back unnamed ("strike that, it's the Red Lion")."""
    after = item.memory.after if takes_back(item.memory.content) else ""
    alike = [key for key in known if after and records[key].content in after]
    return max(alike, key=lambda key: records[key].heard_at, default=None)


def _of_such_a_value(item: PreparedDraft, heard: Iterable[int], records: Mapping[int, Memory]) -> int | None:
    """What a correction that names nothing corrects: the last statement with such a value ("是16号")."""
    if len(item.findable.terms) > ELLIPTIC or names_its_subject(item.memory.content):
        return None
    kinds = value_kinds(item.memory.content)
    alike = [key for key in heard if kinds & value_kinds(records[key].content)]
    return max(alike, key=lambda key: records[key].heard_at, default=None)


def _among(prepared: Sequence[PreparedDraft], alike: Comparable) -> list[list[tuple[int, float]]]:
    """For each draft the earlier ones of the same call that it may repeat or replace: place and cosine."""
    found: list[list[tuple[int, float]]] = [[] for _ in prepared]
    for places in alike.values():
        if len(places) > 1:
            for one, near in _near_earlier(*_rows(places, prepared)).items():
                found[places[one]] = [(places[other], cosine) for cosine, other in nlargest(COMPARED, near)]
    return found


def _near_earlier(space: Space, rows: Floats) -> dict[int, list[tuple[float, int]]]:
    """For each row the earlier ones that lie near, with their cosines."""
    least = _limits(space.key, paraphrases=False).related
    found: dict[int, list[tuple[float, int]]] = {}
    for start in range(0, len(rows), AMONG):
        cosines = product(rows[start : start + AMONG], rows[: start + AMONG].T)
        pairs = zip(*(part.tolist() for part in (cosines > least).nonzero()), strict=True)
        for one, other in pairs:
            if other < start + one:
                found.setdefault(start + one, []).append((float(cosines[one, other]), other))
    return found


def limits_of(vector: Embedded | None, config: Config = USUAL) -> SamenessLimits:
    """How near is near in this vector's space."""
    return _limits(vector.space.key if vector is not None else "", paraphrases=by_layers(config))


@cache
def _limits(space_key: str, *, paraphrases: bool) -> SamenessLimits:
    cosines = thresholds(space_key)
    return SamenessLimits(
        duplicate=cosines.duplicate,
        strong=cosines.strong,
        related=cosines.related,
        jaccard=JACCARD_SAME,
        jaccard_alone=JACCARD_ALONE,
        paraphrases=paraphrases,
    )


def _is_drawn(edge: Edge, tools: Tools) -> bool:
    known = tools.store.relations.of(edge.source, Access.everything())
    return any((one.source, one.target, one.type) == (edge.source, edge.target, edge.type) for one in known)


def _told_in_clear(receipt: Receipt, tools: Tools) -> Receipt:
    """The receipt, with a word that a tier is but a label where there is no key."""
    if tools.keys is not None or receipt.memory.tier is Tier.CLEAR:
        return receipt
    return replace(
        receipt, because=f"{receipt.because}; {receipt.memory.tier}, but in clear: there is no key"
    )


def _of_sealed(memory: Memory, verdict: Verdict) -> Verdict:
    """What is sealed is added, or replaces what is sealed of the same; it never repeats or joins it."""
    if not memory.sealed:
        return verdict
    if isinstance(verdict, Supersede) and verdict.whole:
        return Supersede(verdict.memory, LATER_WORD)
    return New(f"{memory.tier}: sealed, and what is left in clear corrects nothing")


class _Batch:
    """Drafts written one after the other in one unit of work: a later one knows what an earlier one said."""

    def __init__(self, unit: Unit, tools: Tools, everything: _LookedUp, carry_out: CarryOut) -> None:
        self.unit = unit
        self.tools = tools
        self.everything = everything
        self.carry_out = carry_out
        self.written: list[Memory] = []
        self.call_began = 0
        self.latest: dict[str, Memory | None] = {}
        self.stated: dict[tuple[Scope, str, str], Memory] = {}
        self.statements: dict[int, tuple[Memory, NewStatement]] = {}
        for scope in dict.fromkeys(item.memory.scope for item in everything.prepared):
            here = (item.memory for item in everything.prepared if item.memory.scope == scope)
            unit.look_up_contents([memory.content_hash for memory in here], scope)

    def write(self, amount: int) -> list[Receipt]:
        """Write the next drafts, which are one call's."""
        self.call_began = begin = len(self.written)
        return [self._write(place) for place in range(begin, begin + amount)]

    def _write(self, place: int) -> Receipt:
        """Decide about one draft and carry the decision out."""
        check_cancelled()
        unit, item = self.unit, self.everything.prepared[place]
        candidates, earlier = self.everything.known[place], self.everything.updated[place]
        near = (*candidates, *self._said_before())
        verdict = self._verdict(item, candidates)
        receipt = _told_in_clear(self.carry_out(unit, item, verdict), self.tools)
        self.written.append(receipt.memory)
        self.latest[receipt.memory.id] = receipt.memory
        if receipt.outcome in {Outcome.SUPERSEDED, Outcome.CHALLENGED}:
            self.latest[receipt.other] = None  # what gave way earlier in this call is no neighbour any more
        if receipt.outcome is Outcome.SUPERSEDED and isinstance(verdict, Supersede):
            self.latest.update((one.memory.id, unit.get(one.memory.id)) for one in (verdict, *verdict.also))
        if receipt.memory.id == item.memory.id and receipt.memory.status not in NOT_BELIEVED:
            again = receipt.outcome is Outcome.REINFORCED
            if not again:
                connect(unit, item, receipt.memory, self._similar(item, near), self.tools)
            understood = isinstance(verdict, Supersede)  # which fact is over is known: no guess is needed
            taken = self._taken_up(item.memory)
            if taken is not None and (
                earlier is None or things(item.memory.content).isdisjoint(things(earlier.content))
            ):
                earlier = taken
            if earlier is not None and not understood:
                edge = Edge(receipt.memory.id, earlier.id, EdgeType.UPDATES)
                if not (again and _is_drawn(edge, self.tools)):
                    with suppress(NotFound):  # erased meanwhile
                        unit.relate(edge, LATER_WORD)
        if not item.memory.speaker:
            for fact in item.findable.facts:
                self.stated[item.memory.scope, fact.subject, fact.predicate] = receipt.memory
        return receipt

    def _verdict(self, item: PreparedDraft, candidates: Sequence[tuple[Memory, float | None]]) -> Verdict:
        if item.memory.speaker:
            return New("a turn of a conversation is kept as it was said")
        if item.memory.suspicion is not Suspicion.NONE:
            return New(why_suspect(item.memory))
        if item.apart:
            return New("kept apart, as was asked")
        if is_found_by_meaning(item.memory) or is_reference(item.memory):
            sealed = f"{item.memory.tier}: sealed, and compared with nothing"
            return New(sealed if item.memory.sealed else "a document is kept as it stands")
        found: dict[str, tuple[Memory, float | None]] = {}
        for memory, cosine in (*candidates, *self._said_before(), *self._stated_before(item)):
            now = self.latest.get(memory.id, memory)
            if now is not None:
                found.setdefault(now.id, (now, cosine))
        neighbours = [
            Neighbour(memory, self._statement(memory), cosine)
            for memory, cosine in found.values()
            if memory.status is Status.ACTIVE
            and memory.id != item.memory.id  # read again, it is its own nearest neighbour
            and memory.scope == item.memory.scope
            and not memory.speaker
            # What the engine made of statements is none: it follows them, and is neither said nor corrected.
            and memory.source != ENGINE
            and not is_reference(memory)
            and bool(memory.sealed) == bool(item.memory.sealed)
            and not is_found_by_meaning(memory)
        ]
        limits = limits_of(item.vector, self.tools.config)
        new = self._statement(item.memory) if item.memory.sealed else item.statement
        return _of_sealed(item.memory, decide(new, neighbours, limits))

    def _statement(self, memory: Memory) -> NewStatement:
        """What a neighbour says; the drafts of one call have many neighbours in common.

        What is sealed stands for a value of its own, whichever it is: "Anna's phone number is [phone]" may be
        a later word on the same words, and whoever writes it learns nothing of the number.
        """
        known = self.statements.get(id(memory))
        if known is None or known[0] is not memory:
            sealed = memory.content.replace("]", f" {crc32(memory.id.encode())}]") if memory.sealed else ""
            known = self.statements[id(memory)] = (memory, NewStatement(memory, sealed))
        return known[1]

    def _similar(
        self, item: PreparedDraft, near: Sequence[tuple[Memory, float | None]]
    ) -> list[tuple[Memory, float]]:
        """Those near enough to be linked that still stand."""
        if not near:
            return []
        least = limits_of(item.vector).strong
        close = [(memory, cosine) for memory, cosine in near if cosine is not None and cosine >= least]
        return [pair for pair in close if self.latest.get(pair[0].id, pair[0]) is not None]

    def _taken_up(self, memory: Memory) -> Memory | None:
        """What a correction without a subject goes with, where it was said in the same breath."""
        after = memory.after
        breath = reversed(self.written[self.call_began :]) if after else ()
        alike = (one for one in breath if one.id != memory.id and one.content in after)
        return next(alike, None)

    def _said_before(self) -> list[tuple[Memory, float | None]]:
        return [(self.written[place], cosine) for place, cosine in self.everything.among[len(self.written)]]

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
RARELY = 100_000
"""Objects made between two looks for garbage in a write; Python's own 700 take a twentieth of an import."""


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
    with _COLLECTING_RARELY, ThreadPoolExecutor(1, thread_name_prefix="engram-write") as pool:
        for written in _one_ahead(pool, _slices(items, read, tools), tools, actor):
            results += written
            if progress is not None:
                progress(len(results))
    return results


class _CollectingRarely:
    """Inside, Python looks for garbage less often: nearly all that a write makes stays for a while.

    The threshold is the process's: the last write to end gives it back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._usual = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._usual = first, *others = gc.get_threshold()
                gc.set_threshold(max(first, RARELY) if first else 0, *others)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._usual)


_COLLECTING_RARELY = _CollectingRarely()


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
