"""Haystacks come in, figures of retrieval come out: how much of the evidence stands among the first hits.

Each haystack gets a fresh memory, is written through `remember_many` (or heard through `observe`) and asked
through `recall`, as any caller would. The ranking is taken without the relevance floor, which is there for
people; a second look with the configured floor tells whether a person would have got anything at all.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from engram.config import Config
from engram.engine import Engram
from engram.errors import InvalidInput
from engram.lazily import dataclass
from engram.model.capture import Draft, Receipt
from engram.model.memory import ANY_STATUS, CONTENT_LIMIT
from engram.model.recall import roll_up
from engram.ports import Embedder

LIMIT = 20
SESSION_LIMIT = 100
"""How many turns are asked for where sessions are ranked, so that enough sessions come together."""
DEPTHS = (1, 5, 10, 20)
REFUSED = "refused"
PAGE = 500

Figures = dict[str, Any]
Names = dict[str, frozenset[str]]
"""Each memory's id with the names of the documents it stands for."""


class AskedAt:
    """A clock that started at a given moment when it was made and runs on from there."""

    def __init__(self, moment: datetime) -> None:
        self._moment, self._started = moment, time.monotonic()

    def now(self) -> datetime:
        """The given moment and what has gone by since."""
        return self._moment + timedelta(seconds=time.monotonic() - self._started)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back for one question: where its evidence stood, counted from 1."""

    ask: Ask
    places: list[int]
    best_relevance: float
    ms: float
    empty: bool
    """Whether nothing at all comes back under the configured relevance floor."""

    def found(self, depth: int) -> int:
        """How much of the evidence is among the first so many."""
        return sum(place <= depth for place in self.places)


@dataclass(slots=True)
class Observed:
    """What was seen over all haystacks."""

    answered: list[Answered] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    write_s: float = 0.0
    left_out: int = 0
    haystacks: int = 0
    turns: int = 0
    """Turns that were listened to, those of them that a memory came from, and the memories."""
    kept: int = 0
    memories: int = 0


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
    seen = Observed()
    for haystack in haystacks:
        clock = AskedAt(haystack.asked_at)
        with Engram.open(":memory:", config=config, embedder=embedder, clock=clock) as memory:
            names = (_listen if listening else _remember)(memory, haystack.documents, seen)
            seen.answered += [_answer(memory, ask, names, sessions=sessions) for ask in haystack.asks]
        seen.left_out += haystack.left_out
        seen.haystacks += 1
    return _figures(seen, sessions=sessions)


def _remember(memory: Engram, documents: Sequence[Document], seen: Observed) -> Names:
    started = time.perf_counter()
    receipts = memory.remember_many([document.draft for document in documents], partial=True)
    seen.write_s += time.perf_counter() - started
    names: Names = {}
    for document, receipt in zip(documents, receipts, strict=True):
        if isinstance(receipt, Receipt):
            names[receipt.memory.id] = names.get(receipt.memory.id, frozenset()) | {document.name}
        seen.outcomes[receipt.outcome.value if isinstance(receipt, Receipt) else REFUSED] += 1
    return names


def _listen(memory: Engram, documents: Sequence[Document], seen: Observed) -> Names:
    started = time.perf_counter()
    for session, said in groupby(documents, key=lambda document: document.draft.session):
        heard = []
        for document in said:
            draft = document.draft
            message = {"id": document.name, "role": "user", "name": draft.speaker, "content": draft.content}
            heard.append(memory.observe(messages=[{**message, "time": draft.event_time}], session=session))
        for observation in (*heard, memory.flush(session)):
            seen.outcomes.update(receipt.outcome.value for receipt in observation.receipts)
    seen.write_s += time.perf_counter() - started
    names: Names = {}
    page = memory.list(filters=ANY_STATUS, limit=PAGE)
    while True:
        names |= {one.id: frozenset(turn.id for turn in memory.said(one.id)) for one in page}
        if page.cursor is None:
            break
        page = memory.list(filters=ANY_STATUS, limit=PAGE, cursor=page.cursor)
    seen.turns += len(documents)
    seen.kept += len(frozenset[str]().union(*names.values()))
    seen.memories += len(names)
    return names


def _answer(memory: Engram, ask: Ask, names: Names, *, sessions: bool) -> Answered:
    started = time.perf_counter()
    hits = memory.recall(ask.text, limit=SESSION_LIMIT if sessions else LIMIT, min_relevance=0.0, dry=True)
    ms = (time.perf_counter() - started) * 1000
    ranking = [(names.get(hit.memory.id, frozenset[str]()), hit.score) for hit in hits]
    return Answered(
        ask,
        places_of(by_session(ranking) if sessions else [documents for documents, _ in ranking], ask.wanted),
        max((hit.relevance for hit in hits), default=0.0),
        ms,
        not memory.recall(ask.text, limit=1, dry=True),
    )


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
    rolled = {session: roll_up(found) for session, found in scores.items()}
    return [frozenset({session}) for session in sorted(rolled, key=lambda session: -rolled[session])]


def places_of(ranking: Sequence[frozenset[str]], wanted: frozenset[str]) -> list[int]:
    """Where each wanted document stands first. One entry of the ranking may stand for several documents.

    >>> places_of([frozenset("a"), frozenset("bc"), frozenset("a")], frozenset("acz"))
    [1, 2]
    """
    first = {one: place for place, entry in reversed([*enumerate(ranking, 1)]) for one in entry & wanted}
    return sorted(first.values())


def _figures(seen: Observed, *, sessions: bool) -> Figures:
    answered = seen.answered
    groups = sorted({one.ask.group for one in answered})
    by_group = {
        group: quality([one for one in answered if one.ask.group == group], sessions=sessions)
        for group in groups
    }
    told: Figures = {
        **quality(answered, sessions=sessions),
        "by_type" if sessions else "by_category": by_group,
        "left_out": seen.left_out,
        "latency_ms": latency([one.ms for one in answered]),
        "answerability": _answerability(answered),
        "haystacks": seen.haystacks,
        "outcomes": dict(seen.outcomes.most_common()),
        "writes_per_s": _rate(seen.outcomes.total() - seen.outcomes[REFUSED], seen.write_s),
    }
    if seen.turns:
        told |= {"turns": seen.turns, "turns_kept": round(seen.kept / seen.turns, 4)}
        told |= {"memories_per_turn": round(seen.memories / seen.turns, 4)}
        told |= {"turns_per_s": _rate(seen.turns, seen.write_s)}
    return told


def quality(answered: Sequence[Answered], *, sessions: bool = False) -> Figures:
    """Recall of evidence at several depths (of sessions: of any and of all of it), NDCG@10 and MRR."""
    told: Figures = {}
    for k in DEPTHS[:3] if sessions else DEPTHS:
        found = [(one.found(k), len(one.ask.wanted)) for one in answered]
        if sessions:
            told[f"recall_any@{k}"] = _mean([float(some > 0) for some, _ in found])
            told[f"recall_all@{k}"] = _mean([float(some == wanted) for some, wanted in found])
        else:
            told[f"recall@{k}"] = _mean([some / wanted for some, wanted in found])
    told["ndcg@10"] = _mean([ndcg(one.places, len(one.ask.wanted)) for one in answered])
    told["mrr"] = _mean([1 / min(one.places) if one.places else 0.0 for one in answered])
    return {**told, "n": len(answered)}


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
    yes = [one for one in answered if one.ask.answerable]
    no = [one for one in answered if not one.ask.answerable]
    area = auroc([one.best_relevance for one in yes], [one.best_relevance for one in no])
    return {
        "auroc": None if area is None else round(area, 4),
        "answerable": {"n": len(yes), "empty_at_floor": sum(one.empty for one in yes)},
        "unanswerable": {"n": len(no), "empty_at_floor": sum(one.empty for one in no)},
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _rate(count: int, seconds: float) -> float:
    return round(count / seconds, 1) if seconds else 0.0


# ---------------------------------------------------------------- data
# Public data sets come in, haystacks come out: what to write into a fresh memory, and what to ask it then.
#
# LoCoMo: documents are turns; a picture that was shared follows as " [shares a photo: CAPTION]"; evidence is
# written by hand and read leniently. LongMemEval: documents are sessions, every turn is a memory, long
# ones in
# pieces. MemDaily: documents are Chinese messages. `benchmarks/README.md` tells the rest.


CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
UNANSWERABLE = "_abs"
TURNS = {"user": frozenset({"user"}), "all": frozenset({"user", "assistant"})}
BREAKS = ("\n\n", "\n", ". ", " ")
_TURN_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", re.IGNORECASE)
_CHINESE_MOMENT = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, and which documents hold its answer."""

    text: str
    wanted: frozenset[str]
    group: str
    answerable: bool = True
    """False where the data set's makers say that the haystack holds no answer."""


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to write, and the name that evidence knows it by. Several may share a name."""

    name: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class Haystack:
    """Everything one fresh memory is given, and what it is asked afterwards."""

    documents: tuple[Document, ...]
    asks: tuple[Ask, ...]
    asked_at: datetime
    """The memory's present while it writes and answers."""
    left_out: int = 0
    """Questions of the data that name no evidence that exists."""


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
            return [_conversation(one) for one in data[:limit]]
        if name == "memdaily":
            return [_run(group, one) for group, runs in data.items() for one in runs[:limit]]
        answerable = [one for one in data if not one["question_id"].endswith(UNANSWERABLE)]
        left_out = len(data) - len(answerable)
        return [
            _history(one, TURNS[turns], 0 if place else left_out)
            for place, one in enumerate(answerable[:limit])
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{path.name} is no data of {name}: {error!r}.") from error


def turn_ids(evidence: str) -> list[str]:
    """The turns that a piece of LoCoMo's evidence names, written one way.

    >>> turn_ids("D8:6; D9:17"), turn_ids("D:11:26"), turn_ids("D30:05"), turn_ids("D")
    (['D8:6', 'D9:17'], ['D11:26'], ['D30:5'], [])
    """
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN_ID.findall(evidence)]


def pieces(text: str, limit: int = CONTENT_LIMIT) -> list[str]:
    """A text in parts of at most `limit` characters, cut after a paragraph, else line, sentence, word.

    >>> pieces("one two. three four", limit=10), pieces("abcdef", limit=4), pieces("  ")
    (['one two.', 'three four'], ['abcd', 'ef'], [])
    """
    parts, rest = [], text.strip()
    while len(rest) > limit:
        found = ((rest.rfind(mark, limit // 2, limit), mark) for mark in BREAKS)
        cut = next((at + len(mark) for at, mark in found if at >= 0), limit)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*parts, rest] if rest else parts


def _conversation(sample: Mapping[str, Any]) -> Haystack:
    documents = tuple(_turns(sample["conversation"]))
    asks = []
    for entry in sample["qa"]:
        named = {turn for evidence in entry.get("evidence") or () for turn in turn_ids(evidence)}
        category = int(entry["category"])
        group = CATEGORIES.get(category, str(category))
        asks.append(Ask(entry["question"], frozenset(named), group, category != ADVERSARIAL))
    last = max(document.draft.event_time for document in documents if document.draft.event_time)
    return _haystack(documents, asks, last + timedelta(days=1))


def _turns(conversation: Mapping[str, Any]) -> Iterator[Document]:
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for session in (f"session_{number}" for number in numbers):
        date = conversation[f"{session}_date_time"]
        began = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for minute, turn in enumerate(conversation[session]):
            caption = turn.get("blip_caption")
            photo = f" [shares a photo: {caption}]" if caption else ""
            content = f"{turn['text']}{photo}".strip()
            if content:
                at, dia_id = began + timedelta(minutes=minute), turn["dia_id"]
                name = next(iter(turn_ids(dia_id)), dia_id)
                yield _said(name, content, session, at, turn["speaker"], dia_id=dia_id)


def _history(entry: Mapping[str, Any], roles: frozenset[str], left_out: int) -> Haystack:
    chats = zip(
        map(_moment, entry["haystack_dates"]),
        entry["haystack_session_ids"],
        entry["haystack_sessions"],
        strict=True,
    )
    documents = tuple(
        _said(session, piece, session, began + timedelta(minutes=minute), turn["role"])
        for began, session, turns in sorted(chats, key=lambda chat: chat[0])
        for minute, turn in enumerate(turns)
        if turn["role"] in roles
        for piece in pieces(turn["content"])
    )
    ask = Ask(entry["question"], frozenset(entry["answer_session_ids"]), entry["question_type"])
    return Haystack(documents, (ask,), _moment(entry["question_date"]), left_out)


def _run(group: str, run: Mapping[str, Any]) -> Haystack:
    documents = tuple(
        Document(
            str(message["mid"]),
            Draft(
                message["message"],
                source="session",
                event_time=_chinese_moment(message["time"]),
                details={"place": message["place"]},
            ),
        )
        for message in run["message_list"]
    )
    asks = [
        Ask(entry["question"], frozenset(map(str, entry["target_step_id"])), group)
        for entry in run["question_list"]
    ]
    asked_at = max(_chinese_moment(entry["time"]) for entry in run["question_list"])
    return _haystack(documents, asks, asked_at)


def _haystack(documents: tuple[Document, ...], asks: list[Ask], asked_at: datetime) -> Haystack:
    """Evidence that is there; questions without any are left out."""
    known = {document.name for document in documents}
    sound = [Ask(ask.text, ask.wanted & known, ask.group, ask.answerable) for ask in asks]
    kept = tuple(ask for ask in sound if ask.wanted)
    return Haystack(documents, kept, asked_at, len(asks) - len(kept))


def _said(name: str, content: str, session: str, at: datetime, speaker: str, **details: str) -> Document:
    draft = Draft(content, speaker=speaker, session=session, source="session", event_time=at, details=details)
    return Document(name, draft)


def _moment(date: str) -> datetime:
    """`2023/05/20 (Sat) 02:21`: the name of the day says nothing new."""
    day, _, hour = date.split()
    return datetime.strptime(f"{day} {hour}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _chinese_moment(text: str) -> datetime:
    match = _CHINESE_MOMENT.search(text)
    if match is None:
        raise ValueError(text)
    year, month, day, hour, minute = (int(part) for part in match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
