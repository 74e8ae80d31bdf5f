"""Public data sets come in, haystacks come out: what to write into a fresh memory, and what to ask it then.

LoCoMo: documents are turns; a picture that was shared follows as " [shares a photo: CAPTION]"; evidence is
written by hand and read leniently. LongMemEval: documents are sessions, every turn is a memory, long ones in
pieces. MemDaily: documents are Chinese messages. `benchmarks/README.md` tells the rest.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram.errors import InvalidInput
from engram.model.capture import Draft
from engram.model.memory import CONTENT_LIMIT

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
