"""Newest first: of hits that are about one thing and fit the question about equally well, the newest leads.

People say what is so now; what was so before they seldom take back in so many words. How much less a hit may
fit than the best one follows from how alike the two are, measured by the noise of the space. Turns of a
logged talk and documents keep their order: what somebody said in a talk is evidence, and a page has no "now".

A later statement may share nothing with the question: "the Fit died, I bought a Subaru" answers "what do I
drive?" through "I drive a Fit". It takes up words that only the two of them say, and so it comes along.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engram.model.axes import Status
from engram.model.memory import SOURCE_TRUST, Memory
from engram.model.recall import Evidence, Question
from engram.model.relations import EdgeType
from engram.ports import Tools
from engram.recall import intents
from engram.recall.candidates import Candidate
from engram.recall.judge import GONE
from engram.recall.plan import Planned
from engram.text import bm25, lexicon, words
from engram.text.marks import tells_of_change

if TYPE_CHECKING:
    from engram.ports import Floats

GIVEN = frozenset({"none", "cross_encoder", "model"})
"""Ways of reranking whose order stays."""
HEAD = 4
"""So many hits are looked at, the best."""
BAND = 0.1
"""Share that a hit may fit worse than the best one and still fit as well."""
ALIKE_BAND = 0.15
"""Share more for each deviation by which it is more like the others than chance."""
WIDEST = 0.6
MOST_SAID, SAID_SHARE = 0.4, 0.6
"""Beside a hit that says so much of the question stands only what says so much of that."""
CHANGED_BAND = 0.6
"""The same for a hit that says that something changed."""
UPDATED = 5
"""So many hits are shown with the later words on them."""
TAKEN_UP = 2
"""So many such words suffice; one, where the later statement says that something changed."""
UNSAID = "\uffff"
"""A word that no memory says: how much it would tell says how many memories there are."""
RARE_TERMS, SAID_BY = 8, 2
"""So many words of a hit are looked up; they count when no more memories than this say them."""


def newest_first(
    ordered: list[Candidate], mode: str, plan: Planned, question: Question, tools: Tools
) -> list[Candidate]:
    """The list with the newest of its leading hits about one thing at its head; scores stay in order.

    An order that a reader gave, or that was asked for as judged, stays.
    """
    if mode in GIVEN or not ordered or _asks_for_the_past(plan, question, tools):
        return ordered
    return _with_updates(_newest_of_the_best(_believed_first(ordered), plan, tools), plan, tools)


def _believed_first(ordered: list[Candidate]) -> list[Candidate]:
    """Of the first hits those that are believed before those that are only said; the scores stay in order."""
    head = ordered[:UPDATED]
    moved = sorted(head, key=lambda one: one.record.status is Status.SAID)
    for one, score in zip(moved, [one.score for one in head], strict=True):
        one.score = score
    return [*moved, *ordered[UPDATED:]]


def _newest_of_the_best(ordered: list[Candidate], plan: Planned, tools: Tools) -> list[Candidate]:
    head = ordered[:HEAD]
    if not _may_move(head[0]):
        return ordered
    like = _alike(head, plan, tools)
    fits = [one.score if _may_move(one) and _says_as_much(one, head[0]) else 0.0 for one in head]
    changed = [_tells_of_change(one.record) for one in head]
    group = [head[place] for place in about_one_thing(fits, like, changed)]
    moved = sorted(group, key=lambda one: one.record.happened_at, reverse=True)
    later = _taken_up_by(moved[0], ordered, plan, tools)
    moved = [*later, *(one for one in moved if one not in later)]
    result = [*moved, *(one for one in ordered if one not in moved)]
    if result == ordered:
        return ordered
    scores = sorted((one.score or head[0].score for one in result), reverse=True)
    for one, score in zip(result, scores, strict=True):
        one.score = score
    moved[0].told.append(Evidence("rerank", "newest about this", 1.0, f"of {len(moved)} that fit alike"))
    return result


def _with_updates(ordered: list[Candidate], plan: Planned, tools: Tools) -> list[Candidate]:
    """Each of the first hits with the later words on it before it, also those the question would not find."""
    shown = ordered[:UPDATED]
    links = tools.store.relations.links([one.key for one in shown], (EdgeType.UPDATES,), plan.view)
    later = {link.key: link.other for link in links if not link.forward}
    if not later:
        return ordered
    missing = set(later.values()) - {one.key for one in ordered}
    read = tools.store.memories.read(sorted(missing))
    known = {one.key: one for one in ordered}
    result: list[Candidate] = []
    for one in ordered:
        key = later.get(one.key)
        first = known.get(key) if key is not None else None
        if key is not None and first is None and key in read:
            first = known[key] = _brought(key, read[key], one)
        if first is not None and first not in result and _may_move(first):
            first.told.append(Evidence("rerank", "a later word", 1.0, f"on {one.record.id[:8]}"))
            first.score = max(first.score, one.score)
            result.append(first)
        if one not in result:
            result.append(one)
    return result


def about_one_thing(
    fits: Sequence[float], alike: Sequence[Sequence[float]], changed: Sequence[bool] = ()
) -> list[int]:
    """The places of those that are about the same as the first and fit about as well.

    `alike` has the deviations from noise of each pair's likeness.

    >>> about_one_thing([1.0, 0.8, 0.5], [[9, 2, 0], [2, 9, 0], [0, 0, 9]])
    [0, 1]
    """
    found = [0]
    for place in range(1, len(fits)):
        like = max((alike[place][other] for other in found), default=0.0)
        band = CHANGED_BAND if changed and changed[place] else min(WIDEST, BAND + ALIKE_BAND * max(0.0, like))
        if fits[place] >= (1.0 - band) * fits[0]:
            found.append(place)
    return found


def _taken_up_by(
    first: Candidate, ordered: Sequence[Candidate], plan: Planned, tools: Tools
) -> list[Candidate]:
    """The latest statement that takes up what the first hit says in words that nobody else says."""
    shared_words = _said_by_two(first.record.content, plan, tools)
    found = tools.store.texts.search(shared_words, plan.view, RARE_TERMS * SAID_BY) if shared_words else []
    said_by = Counter(term for _, match in found for term in match.terms)
    shared = {key: sum(said_by[term] <= SAID_BY for term in match.terms) for key, match in found}
    taken = [key for key, count in shared.items() if count and key != first.key]
    read = tools.store.memories.read(taken)
    known = {one.key: one for one in ordered}
    later = []
    for key, memory in read.items():
        sure = shared[key] >= TAKEN_UP or lexicon.found("turned", memory.content.lower())
        if not sure or memory.happened_at <= first.record.happened_at:
            continue
        one = known.get(key) or _brought(key, memory, first)
        if _may_move(one):
            later.append(one)
    return sorted(later, key=lambda one: one.record.happened_at)[-1:]


def _said_by_two(content: str, plan: Planned, tools: Tools) -> list[str]:
    """The words of a text that one other memory says and no more, rarest first."""
    terms = [term for term in words.query_terms(content).terms if not term.startswith(words.SINGLE)]
    rarity = tools.store.texts.rarity((*terms, UNSAID), plan.view.access)
    documents = bm25.documents(rarity[UNSAID])
    most, least = bm25.idf(1, documents), bm25.idf(SAID_BY, documents)
    return [term for term in terms if least - 1e-6 <= rarity[term] < most - 1e-6][:RARE_TERMS]


def _tells_of_change(memory: Memory) -> bool:
    return bool(memory.details.get("corrects")) or tells_of_change(memory.content)


def _brought(key: int, memory: Memory, first: Candidate) -> Candidate:
    """A candidate that the question alone would not have found."""
    one = Candidate(key, memory=memory, relevance=first.relevance, trust=first.trust, own=first.own)
    note = f"takes up words of {first.record.id[:8]} that only these two say"
    one.told.append(Evidence("drop", "let in", first.relevance, note))
    return one


def _may_move(one: Candidate) -> bool:
    """Whether it is a statement of somebody's, of which a newer one may say what is so now."""
    memory = one.record
    told = memory.source.partition(":")[0] in SOURCE_TRUST
    return told and not memory.speaker and memory.status not in (*GONE, Status.SAID)


def _says_as_much(one: Candidate, first: Candidate) -> bool:
    """Whether it says as many of the question's words as the first hit, or nearly, where that says most."""
    return first.said < MOST_SAID or one.said >= SAID_SHARE * first.said


def _asks_for_the_past(plan: Planned, question: Question, tools: Tools) -> bool:
    """Whether it asks for what was: in words, by looking back, or by a time that is over."""
    now = tools.clock.now()
    over = any(span.last is not None and span.last <= now for span in plan.shown.spans)
    return over or question.filters.as_of is not None or intents.is_past(question.text)


def _alike(head: Sequence[Candidate], plan: Planned, tools: Tools) -> list[list[float]]:
    """How far the likeness of each pair stands above chance, in deviations; 0 where nobody can tell."""
    known: dict[int, Floats] = {}
    if plan.space is not None:
        import numpy as np

        stored = tools.store.vectors.rows(plan.space, [one.key for one in head])
        rows = stored.rows.astype(np.float32)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        known = dict(zip(stored.keys.tolist(), rows, strict=True))
    noise = plan.usual_noise

    def deviations(one: Candidate, other: Candidate) -> float:
        if one.key not in known or other.key not in known:
            return 0.0
        return noise.deviations(float(known[one.key] @ known[other.key]))

    return [[deviations(one, other) for other in head] for one in head]
