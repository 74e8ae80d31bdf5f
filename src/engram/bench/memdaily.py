"""MemDaily: short runs of Chinese messages about daily life come in, one haystack each comes out.

Documents are messages, named by their number; a message's time becomes the event time, its place a detail.
The data knows no sessions, so none are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engram.bench.cases import Ask, Document, Haystack, read_json
from engram.errors import InvalidInput
from engram.model.draft import Draft

LIMIT = 20
_MOMENT = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日\D*(\d{1,2}):(\d{2})")


def load(path: Path, limit: int | None = None) -> list[Haystack]:
    """The first `limit` runs of each group in a file. Raises InvalidInput."""
    data = read_json(path)
    try:
        return [_haystack(group, run) for group, runs in data.items() for run in runs[:limit]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{path.name} is not MemDaily data: {error!r}.") from error


def moment(text: str) -> datetime:
    """A moment as the messages write it.

    >>> moment("2024年04月01日 周一 08:30").isoformat()
    '2024-04-01T08:30:00+00:00'
    """
    match = _MOMENT.search(text)
    if match is None:
        raise ValueError(text)
    year, month, day, hour, minute = (int(part) for part in match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def _haystack(group: str, run: Mapping[str, Any]) -> Haystack:
    documents = tuple(_documents(run["message_list"]))
    known = {document.name for document in documents}
    asks = [_ask(entry, group, known) for entry in run["question_list"]]
    kept = tuple(ask for ask in asks if ask.wanted)
    return Haystack(
        name=f"{group}/{run['tid']}",
        documents=documents,
        asks=kept,
        asked_at=max(moment(entry["time"]) for entry in run["question_list"]),
        left_out=len(asks) - len(kept),
    )


def _documents(messages: list[Mapping[str, Any]]) -> Iterator[Document]:
    for message in messages:
        draft = Draft(
            content=message["message"],
            source="session",
            event_time=moment(message["time"]),
            details={"place": message["place"]},
        )
        yield Document(str(message["mid"]), draft)


def _ask(entry: Mapping[str, Any], group: str, known: set[str]) -> Ask:
    wanted = {str(step) for step in entry["target_step_id"]}
    return Ask(entry["question"], frozenset(wanted & known), group)
