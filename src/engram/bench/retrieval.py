"""Public data sets come in, figures of retrieval come out: how much evidence stands among the first hits.

Each haystack gets a fresh memory, is written through `remember_many` (or heard through `observe`) and asked
through `recall`, as any caller would. The ranking is taken without the relevance floor, which is there for
people; a second look with the configured floor tells whether a person would have got anything at all.
`benchmarks/README.md` tells what counts as a document and as evidence in each set.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engram.config import Config
from engram.engine import Engram
from engram.errors import InvalidInput
from engram.model.capture import Draft, Receipt
from engram.model.memory import CONTENT_LIMIT
from engram.model.recall import roll_up
from engram.ports import Embedder

LIMIT, SESSION_LIMIT = 20, 100
"""Hits asked for; where sessions are ranked, so many turns that enough sessions come together."""
DEPTHS = (1, 5, 10, 20)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
TURNS = {"user": frozenset({"user"}), "all": frozenset({"user", "assistant"})}
BREAKS = ("\n\n", "\n", ". ", " ")

Figures = dict[str, Any]


class Ask(NamedTuple):
    """A question, and which documents hold its answer; not answerable where the set's makers say so."""

    text: str
    wanted: frozenset[str]
    group: str
    answerable: bool = True


class Document(NamedTuple):
    """One thing to write, and the name that evidence knows it by. Several may share a name."""

    name: str
    draft: Draft


class Haystack(NamedTuple):
    """What one fresh memory is given, what it is asked at which moment, and how many questions fell away."""

    documents: tuple[Document, ...]
    asks: tuple[Ask, ...]
    asked_at: datetime
    left_out: int = 0


class Answered(NamedTuple):
    """What came back for one question: where its evidence stood, from 1; empty at the floor or not."""

    ask: Ask
    places: list[int]
    best_relevance: float
    ms: float
    empty: bool


def examine(
    haystacks: Iterable[Haystack],
    config: Config,
    embedder: Embedder,
    *,
    sessions: bool = False,
    listening: bool = False,
) -> Figures:
    """Write every haystack, ask all its questions, and tell how good the answers were.

    With `sessions` the ranking is one of sessions, as `Recall.sessions` makes it; with `listening` documents
    are heard as turns of a conversation instead of being remembered as they are.
    """
    from engram.testing import FakeClock  # not at the top: the processes whose memory is measured need none

    answered: list[Answered] = []
    outcomes, counts, seconds = Counter[str](), Counter[str](), 0.0
    for haystack in haystacks:
        clock = FakeClock(haystack.asked_at)
        with Engram.open(":memory:", config=config, embedder=embedder, clock=clock) as memory:
            written = (listen if listening else write)(memory, haystack.documents)
            answered += [answer(memory, ask, written.names, sessions=sessions) for ask in haystack.asks]
        outcomes, seconds = outcomes + written.outcomes, seconds + written.seconds
        counts.update(haystacks=1, left_out=haystack.left_out, turns=len(haystack.documents))
        turns_kept = frozenset[str]().union(*written.names.values())
        counts.update(memories=len(written.names), kept=len(turns_kept))
    figures: Figures = {
        **quality(answered, sessions=sessions),
        "by_type" if sessions else "by_category": {
            group: quality([each for each in answered if each.ask.group == group], sessions=sessions)
            for group in sorted({each.ask.group for each in answered})
        },
        "left_out": counts["left_out"],
        "latency_ms": latency([each.ms for each in answered]),
        "answerability": _answerability(answered),
        "haystacks": counts["haystacks"],
        "outcomes": dict(outcomes.most_common()),
        "writes_per_s": _ratio(outcomes.total() - outcomes["refused"], seconds, 1),
    }
    if listening:
        figures["turns"] = counts["turns"]
        figures["turns_kept"] = _ratio(counts["kept"], counts["turns"])
        figures["memories_per_turn"] = _ratio(counts["memories"], counts["turns"])
        figures["turns_per_s"] = _ratio(counts["turns"], seconds, 1)
    return figures


class Written(NamedTuple):
    """Which documents each memory (by its id) stands for, what came of each draft, and the time it took."""

    names: Mapping[str, frozenset[str]]
    outcomes: Counter[str]
    seconds: float


def write(memory: Engram, documents: Sequence[Document]) -> Written:
    """Remember the documents as they are."""
    started = time.perf_counter()
    receipts = memory.remember_many([document.draft for document in documents], partial=True)
    seconds = time.perf_counter() - started
    names: dict[str, frozenset[str]] = {}
    outcomes = Counter[str]()
    for document, receipt in zip(documents, receipts, strict=True):
        if isinstance(receipt, Receipt):
            names[receipt.memory.id] = names.get(receipt.memory.id, frozenset()) | {document.name}
        outcomes[receipt.outcome.value if isinstance(receipt, Receipt) else "refused"] += 1
    return Written(names, outcomes, seconds)


def listen(memory: Engram, documents: Sequence[Document]) -> Written:
    """Hear the documents as turns, session by session."""
    started, heard = time.perf_counter(), []
    for session, documents_of in groupby(documents, key=lambda document: document.draft.session):
        for name, draft in documents_of:
            turn = {"id": name, "role": "user", "name": draft.speaker, "content": draft.content}
            heard.append(memory.observe(messages=[{**turn, "time": draft.event_time}], session=session))
        heard.append(memory.flush(session))
    seconds = time.perf_counter() - started
    ids = [record["id"] for record in memory.export()]
    names = {memory_id: frozenset(turn.id for turn in memory.said(memory_id)) for memory_id in ids}
    outcomes = Counter(receipt.outcome.value for observed in heard for receipt in observed.receipts)
    return Written(names, outcomes, seconds)


def answer(memory: Engram, ask: Ask, names: Mapping[str, frozenset[str]], *, sessions: bool) -> Answered:
    """Ask one question, and see where its evidence stands."""
    started = time.perf_counter()
    hits = memory.recall(ask.text, limit=SESSION_LIMIT if sessions else LIMIT, min_relevance=0.0, dry=True)
    ms = (time.perf_counter() - started) * 1000
    ranking = [(names.get(hit.memory.id, frozenset[str]()), hit.score) for hit in hits]
    places = places_of(by_session(ranking) if sessions else [turns for turns, _ in ranking], ask.wanted)
    best = max((hit.relevance for hit in hits), default=0.0)
    return Answered(ask, places, best, ms, not memory.recall(ask.text, limit=1, dry=True))


def by_session(ranking: Sequence[tuple[frozenset[str], float]]) -> list[frozenset[str]]:
    """A ranking of turns as a ranking of their sessions, rolled up as `Recall.sessions` does it.

    >>> turns = [(frozenset({"a"}), 0.9), (frozenset({"b"}), 0.9), (frozenset({"b"}), 0.1)]
    >>> [sorted(entry) for entry in by_session(turns)]
    [['b'], ['a']]
    """
    scores: dict[str, list[float]] = {}
    for documents, score in ranking:
        for session in sorted(documents):
            scores.setdefault(session, []).append(score)
    return [frozenset({session}) for session in sorted(scores, key=lambda session: -roll_up(scores[session]))]


def places_of(ranking: Sequence[frozenset[str]], wanted: frozenset[str]) -> list[int]:
    """Where each wanted document stands first. One entry of the ranking may stand for several documents.

    >>> places_of([frozenset("a"), frozenset("bc"), frozenset("a")], frozenset("acz"))
    [1, 2]
    """
    placed = reversed([*enumerate(ranking, 1)])
    first = {document: place for place, entry in placed for document in entry & wanted}
    return sorted(first.values())


def quality(answered: Sequence[Answered], *, sessions: bool = False) -> Figures:
    """Recall of evidence at several depths (of sessions: of any and of all of it), NDCG@10 and MRR."""
    figures: Figures = {}
    for k in DEPTHS[:3] if sessions else DEPTHS:
        shares = [sum(place <= k for place in each.places) / len(each.ask.wanted) for each in answered]
        if sessions:
            figures[f"recall_any@{k}"] = _mean([float(share > 0) for share in shares])
            figures[f"recall_all@{k}"] = _mean([float(share == 1) for share in shares])
        else:
            figures[f"recall@{k}"] = _mean(shares)
    figures["ndcg@10"] = _mean([ndcg(each.places, len(each.ask.wanted)) for each in answered])
    figures["mrr"] = _mean([1 / min(each.places) if each.places else 0.0 for each in answered])
    return {**figures, "n": len(answered)}


def ndcg(places: Sequence[int], wanted: int, k: int = 10) -> float:
    """Discounted gain against the best possible order; documents that share an entry share its place.

    >>> ndcg([1, 2], wanted=2), ndcg([], wanted=1), round(ndcg([3], wanted=1), 3)
    (1.0, 0.0, 0.5)
    """
    gain = sum(1 / np.log2(place + 1) for place in places if place <= k)
    return float(min(1.0, gain / sum(1 / np.log2(place + 1) for place in range(1, min(wanted, k) + 1))))


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """How often a positive scores above a negative, equal ones counting half; None when one side is empty.

    >>> auroc([0.9, 0.8], [0.1, 0.8]), auroc([], [1.0])
    (0.875, None)
    """
    if not positives or not negatives:
        return None
    above = np.subtract.outer(np.array(positives), np.array(negatives))
    return float(np.mean((np.sign(above) + 1) / 2))


def latency(milliseconds: Sequence[float]) -> Figures:
    """The middle and the slow end of a list of durations."""
    low, high = np.percentile(milliseconds, (50, 95)) if milliseconds else (0.0, 0.0)
    return {"p50": round(float(low), 2), "p95": round(float(high), 2)}


def _answerability(answered: Sequence[Answered]) -> Figures:
    """Whether the best relevance tells questions with and without an answer apart; what the floor empties."""
    yes, no = ([each for each in answered if each.ask.answerable is is_so] for is_so in (True, False))
    area = auroc([each.best_relevance for each in yes], [each.best_relevance for each in no])
    figures: Figures = {"auroc": None if area is None else round(area, 4)}
    for name, group in (("answerable", yes), ("unanswerable", no)):
        figures[name] = {"n": len(group), "empty_at_floor": sum(each.empty for each in group)}
    return figures


def _mean(values: Sequence[float]) -> float:
    return _ratio(sum(values), len(values))


def _ratio(part: float, whole: float, digits: int = 4) -> float:
    return round(part / whole, digits) if whole else 0.0


# ---------------------------------------------------------------- data


def read_json(path: Path) -> Any:
    """A JSON file, packed with gzip or not. Raises InvalidInput."""
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidInput(f"{path.name} cannot be read as JSON: {error}.") from error


def load(name: str, path: Path, limit: int | None = None, turns: str = "all") -> list[Haystack]:
    """The first `limit` conversations, questions or runs of a data set. Raises InvalidInput."""
    data = read_json(path)
    try:
        if name == "locomo":
            return [_conversation(record) for record in data[:limit]]
        if name == "memdaily":
            return [_messages(group, run) for group, runs in data.items() for run in runs[:limit]]
        answerable = [record for record in data if not record["question_id"].endswith("_abs")]
        histories = [_history(record, TURNS[turns]) for record in answerable[:limit]]
        histories[:1] = [history._replace(left_out=len(data) - len(answerable)) for history in histories[:1]]
        return histories
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{path.name} is no data of {name}: {error!r}.") from error


def turn_ids(evidence: str) -> list[str]:
    """The turns that a piece of LoCoMo's evidence names, written one way.

    >>> turn_ids("D8:6; D9:17"), turn_ids("D:11:26"), turn_ids("D30:05"), turn_ids("D")
    (['D8:6', 'D9:17'], ['D11:26'], ['D30:5'], [])
    """
    matches = re.findall(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", evidence, re.IGNORECASE)
    return [f"D{int(session)}:{int(turn)}" for session, turn in matches]


def pieces(text: str, limit: int = CONTENT_LIMIT) -> list[str]:
    """A text in parts of at most `limit` characters, cut after a paragraph, else line, sentence, word.

    >>> pieces("one two. three four", limit=10), pieces("abcdef", limit=4), pieces("  ")
    (['one two.', 'three four'], ['abcd', 'ef'], [])
    """
    parts, rest = [], text.strip()
    while len(rest) > limit:
        cuts = ((rest.rfind(mark, limit // 2, limit), mark) for mark in BREAKS)
        cut = next((at + len(mark) for at, mark in cuts if at >= 0), limit)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*parts, rest] if rest else parts


def _conversation(sample: Mapping[str, Any]) -> Haystack:
    documents = tuple(_turns(sample["conversation"]))
    asks = []
    for entry in sample["qa"]:
        evidence_turns = [turn for evidence in entry.get("evidence") or () for turn in turn_ids(evidence)]
        kind = CATEGORIES.get(int(entry["category"]), str(entry["category"]))
        asks.append(Ask(entry["question"], frozenset(evidence_turns), kind, kind != "adversarial"))
    last = max(document.draft.event_time for document in documents if document.draft.event_time)
    return _haystack(documents, asks, last + timedelta(days=1))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Document]:
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for session in (f"session_{number}" for number in numbers):
        began = _moment(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y")
        for minute, turn in enumerate(conversation[session]):
            caption, dia_id = turn.get("blip_caption"), turn["dia_id"]
            photo = f" [shares a photo: {caption}]" if caption else ""
            if content := f"{turn['text']}{photo}".strip():
                name, at = next(iter(turn_ids(dia_id)), dia_id), began + timedelta(minutes=minute)
                yield _document(name, content, at, turn["speaker"], session, dia_id=dia_id)


def _history(entry: Mapping[str, Any], roles: frozenset[str]) -> Haystack:
    moments = (_moment(date, "%Y/%m/%d (%a) %H:%M") for date in entry["haystack_dates"])
    chats = zip(moments, entry["haystack_session_ids"], entry["haystack_sessions"], strict=True)
    documents = tuple(
        _document(session, piece, began + timedelta(minutes=minute), turn["role"], session)
        for began, session, turns in sorted(chats, key=lambda chat: chat[0])
        for minute, turn in enumerate(turns)
        if turn["role"] in roles
        for piece in pieces(turn["content"])
    )
    ask = Ask(entry["question"], frozenset(entry["answer_session_ids"]), entry["question_type"])
    return Haystack(documents, (ask,), _moment(entry["question_date"], "%Y/%m/%d (%a) %H:%M"))


def _messages(group: str, run: Mapping[str, Any]) -> Haystack:
    documents = tuple(
        _document(str(sent["mid"]), sent["message"], _chinese_moment(sent["time"]), place=sent["place"])
        for sent in run["message_list"]
    )
    questions = run["question_list"]
    asks = [Ask(each["question"], frozenset(map(str, each["target_step_id"])), group) for each in questions]
    return _haystack(documents, asks, max(_chinese_moment(each["time"]) for each in questions))


def _haystack(documents: tuple[Document, ...], asks: list[Ask], asked_at: datetime) -> Haystack:
    """Evidence that is there; questions without any are left out."""
    names = {document.name for document in documents}
    sound = [ask._replace(wanted=ask.wanted & names) for ask in asks]
    answerable = tuple(ask for ask in sound if ask.wanted)
    return Haystack(documents, answerable, asked_at, len(asks) - len(answerable))


def _document(
    name: str, content: str, at: datetime, speaker: str = "", session: str = "", **details: str
) -> Document:
    draft = Draft(content, speaker=speaker, session=session, source="session", event_time=at, details=details)
    return Document(name, draft)


def _moment(date: str, shape: str) -> datetime:
    return datetime.strptime(date, shape).replace(tzinfo=UTC)


def _chinese_moment(text: str) -> datetime:
    match = re.search(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})", text)
    if match is None:
        raise ValueError(text)
    year, month, day, hour, minute = map(int, match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
