"""LoCoMo: long conversations of two friends come in, one haystack each comes out. Documents are turns.

A turn's content is its text; where a picture was shared, " [shares a photo: CAPTION]" follows. Evidence is
written by hand in the data and read leniently: "D8:6; D9:17", "D:11:26" and "D30:05" name four turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram.bench.cases import Ask, Document, Haystack, read_json
from engram.errors import InvalidInput
from engram.model.draft import Draft

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
LIMIT = 20
"""How many hits are asked for: the deepest figure is recall@20."""

_TURN_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)", re.IGNORECASE)
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


def load(path: Path, limit: int | None = None) -> list[Haystack]:
    """The first `limit` conversations of a file. Raises InvalidInput."""
    data = read_json(path)
    try:
        return [_haystack(sample) for sample in data[:limit]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{path.name} is not LoCoMo data: {error!r}.") from error


def turn_ids(evidence: str) -> list[str]:
    """The turns that a piece of evidence names, written one way.

    >>> turn_ids("D8:6; D9:17"), turn_ids("D:11:26"), turn_ids("D30:05"), turn_ids("D")
    (['D8:6', 'D9:17'], ['D11:26'], ['D30:5'], [])
    """
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN_ID.findall(evidence)]


def _haystack(sample: Mapping[str, Any]) -> Haystack:
    documents = tuple(_documents(sample["conversation"]))
    known = {document.name for document in documents}
    asks = [_ask(entry, known) for entry in sample["qa"]]
    kept = tuple(ask for ask in asks if ask.wanted)
    last = max(document.draft.event_time for document in documents if document.draft.event_time)
    return Haystack(
        name=str(sample.get("sample_id", "conversation")),
        documents=documents,
        asks=kept,
        asked_at=last + timedelta(days=1),
        left_out=len(asks) - len(kept),
    )


def _documents(conversation: Mapping[str, Any]) -> Iterator[Document]:
    sessions = [(int(match[1]), key) for key in conversation if (match := _SESSION.fullmatch(key))]
    for _, session in sorted(sessions):
        began = datetime.strptime(conversation[f"{session}_date_time"], _DATE).replace(tzinfo=UTC)
        for minute, turn in enumerate(conversation[session]):
            content = _content(turn)
            if content:
                yield _document(turn, content, session, began + timedelta(minutes=minute))


def _content(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    photo = f" [shares a photo: {caption}]" if caption else ""
    return f"{turn['text']}{photo}".strip()


def _document(turn: Mapping[str, Any], content: str, session: str, at: datetime) -> Document:
    name = next(iter(turn_ids(turn["dia_id"])), turn["dia_id"])
    draft = Draft(
        content=content,
        speaker=turn["speaker"],
        session=session,
        source="session",
        event_time=at,
        details={"dia_id": turn["dia_id"]},
    )
    return Document(name, draft)


def _ask(entry: Mapping[str, Any], known: set[str]) -> Ask:
    named = {turn for evidence in entry.get("evidence") or () for turn in turn_ids(evidence)}
    category = int(entry["category"])
    return Ask(
        text=entry["question"],
        wanted=frozenset(named & known),
        group=CATEGORIES.get(category, str(category)),
        answerable=category != ADVERSARIAL,
    )
