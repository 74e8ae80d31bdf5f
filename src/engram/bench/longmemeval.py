"""LongMemEval: each question has its own haystack of some fifty chats of one user. Documents are sessions.

Every turn is one memory, written in the order of the sessions' dates. A turn longer than a memory may be is
cut into pieces (`pieces`). The engine ranks turns; `by_session` rolls them up. Questions whose id ends in
`_abs` have no answer in their haystack and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram.bench.cases import Ask, Document, Entry, Haystack, read_json
from engram.errors import InvalidInput
from engram.model.draft import Draft
from engram.model.memory import CONTENT_LIMIT
from engram.model.recall import roll_up

LIMIT = 100
"""How many turns are asked for, so that enough sessions come together."""
UNANSWERABLE = "_abs"
TURNS = {"user": frozenset({"user"}), "all": frozenset({"user", "assistant"})}

_DATE = "%Y/%m/%d %H:%M"
_BREAKS = ("\n\n", "\n", ". ", " ")


def load(path: Path, limit: int | None = None, turns: str = "all") -> list[Haystack]:
    """The haystacks of the first `limit` answerable questions. Raises InvalidInput."""
    data = read_json(path)
    try:
        asked = [entry for entry in data if not entry["question_id"].endswith(UNANSWERABLE)]
        left_out = len(data) - len(asked)
        haystacks = [_haystack(entry, TURNS[turns]) for entry in asked[:limit]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"{path.name} is not LongMemEval data: {error!r}.") from error
    return [replace(one, left_out=left_out if place == 0 else 0) for place, one in enumerate(haystacks)]


def by_session(ranking: Sequence[Entry]) -> tuple[Entry, ...]:
    """A ranking of turns as a ranking of their sessions, rolled up as `Recall.sessions` does it.

    >>> turns = [Entry(frozenset({"a"}), 0.9), Entry(frozenset({"b"}), 0.9), Entry(frozenset({"b"}), 0.1)]
    >>> [sorted(entry.documents) for entry in by_session(turns)]
    [['b'], ['a']]
    """
    scores: dict[str, list[float]] = {}
    for entry in ranking:
        for session in sorted(entry.documents):
            scores.setdefault(session, []).append(entry.score)
    rolled = {session: roll_up(found) for session, found in scores.items()}
    order = sorted(rolled, key=lambda session: -rolled[session])
    return tuple(Entry(frozenset({session}), rolled[session]) for session in order)


def pieces(text: str, limit: int = CONTENT_LIMIT) -> list[str]:
    """A text in parts of at most `limit` characters, cut after a paragraph, else line, sentence, word.

    >>> pieces("one two. three four", limit=10)
    ['one two.', 'three four']
    >>> pieces("short"), pieces("abcdef", limit=4), pieces("  ")
    (['short'], ['abcd', 'ef'], [])
    """
    parts = []
    rest = text.strip()
    while len(rest) > limit:
        cut = _cut(rest, limit)
        parts.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*parts, rest] if rest else parts


def _cut(text: str, limit: int) -> int:
    """The last break of the best sort that leaves a piece at least half full."""
    for mark in _BREAKS:
        at = text.rfind(mark, limit // 2, limit)
        if at >= 0:
            return at + len(mark)
    return limit


def _haystack(entry: Mapping[str, Any], roles: frozenset[str]) -> Haystack:
    return Haystack(
        name=entry["question_id"],
        documents=tuple(_documents(entry, roles)),
        asks=(Ask(entry["question"], frozenset(entry["answer_session_ids"]), entry["question_type"]),),
        asked_at=_moment(entry["question_date"]),
    )


def _documents(entry: Mapping[str, Any], roles: frozenset[str]) -> Iterator[Document]:
    moments = [_moment(date) for date in entry["haystack_dates"]]
    sessions = zip(moments, entry["haystack_session_ids"], entry["haystack_sessions"], strict=True)
    for began, session, turns in sorted(sessions, key=lambda one: one[0]):
        for minute, turn in enumerate(turns):
            if turn["role"] not in roles:
                continue
            for piece in pieces(turn["content"]):
                draft = Draft(
                    content=piece,
                    speaker=turn["role"],
                    session=session,
                    source="session",
                    event_time=began + timedelta(minutes=minute),
                )
                yield Document(session, draft)


def _moment(date: str) -> datetime:
    """`2023/05/20 (Sat) 02:21`: the name of the day says nothing new."""
    day, _, hour = date.split()
    return datetime.strptime(f"{day} {hour}", _DATE).replace(tzinfo=UTC)
