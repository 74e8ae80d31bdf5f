"""Messages as models take them: `{"role": …, "content": …}`, in a list or a line each, come out as turns.

Read are a list of messages, an object or lines of objects with `messages` (as used for training), lines of
single messages, and the logs that coding agents keep, where each line wraps a message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engram.capture.sources import files
from engram.capture.sources.shapes import label, moment, part_of, unreadable, words_of
from engram.model.ingest import Found, Item, ItemKind
from engram.model.turn import Part

FORMAT = "messages"
_TIMES = ("timestamp", "created_at", "create_time", "time", "ts", "date")
_SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "thread_id")
_IDS = ("id", "uuid", "message_id")
_WRAPS = ("message", "payload")
_ASIDE = ("isMeta", "isSidechain", "is_meta")
"""How agents mark what no person said or read."""
_SPOKEN = (Part.USER, Part.ASSISTANT)


def fits(data: Any) -> bool:
    """Whether this is a message, a list of messages, or an object (or a list of objects) with messages."""
    first = data[0] if isinstance(data, list) and data else data
    if not isinstance(first, Mapping):
        return False
    inner = first.get("messages")
    if isinstance(inner, list):
        return not inner or fits(inner[0])
    return _message(first) is not None


def read(data: Any, name: str) -> Iterator[Found]:
    """Every message of a JSON document. `name` stands for the conversation where none is named."""
    if isinstance(data, Mapping) and isinstance(data.get("messages"), list):
        yield from _talk(data["messages"], _session(data, name, *_IDS))
    elif isinstance(data, list) and data and isinstance(data[0], Mapping) and "messages" in data[0]:
        for number, talk in enumerate(data, 1):
            yield from _wrapped(talk, number, name)
    else:
        yield from _talk(data if isinstance(data, list) else [data], f"{FORMAT}:{name}")


def read_lines(text: str, name: str) -> Iterator[Found]:
    """Every message of JSON Lines: a conversation a line, or a message a line."""
    loose: list[tuple[int, Any]] = []
    for number, line in files.lines(text):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield unreadable(f"{FORMAT}:{name}/{number}", number, f"it is no JSON ({error}).")
            continue
        if isinstance(record, Mapping) and "messages" in record:
            yield from _wrapped(record, number, name)
        else:
            loose.append((number, record))
    if loose:
        yield from _talk([record for _, record in loose], f"{FORMAT}:{name}", [number for number, _ in loose])


def _wrapped(talk: Any, number: int, name: str) -> Iterator[Found]:
    messages = talk.get("messages") if isinstance(talk, Mapping) else None
    if not isinstance(messages, list):
        yield unreadable(f"{FORMAT}:{name}/{number}", number, "it holds no list of messages.")
        return
    yield from _talk(messages, _session(talk, f"{name}/{number}", *_IDS))


def _session(fields: Mapping[str, Any], name: str, *more: str) -> str:
    """The conversation that something names, under one of the usual words; else `name`."""
    found = (fields.get(key) for key in (*_SESSIONS, *more))
    named = next((one for one in found if isinstance(one, str) and one), name)
    return f"{FORMAT}:{named}"


def _talk(messages: Sequence[Any], session: str, numbers: Sequence[int] = ()) -> Iterator[Found]:
    """The turns of one conversation. A message that names another session belongs there."""
    for place, record in enumerate(messages):
        number = numbers[place] if numbers else place + 1
        message = _message(record)
        if message is None:
            if not _is_wrap(record):
                yield unreadable(f"{session}/{number}", number, "it is no message with a role and a content.")
            continue
        part, words = part_of(message["role"]), words_of(message.get("content"))
        fields = {**message, **record}
        if part in _SPOKEN and words and not any(fields.get(key) for key in _ASIDE):
            where = _session(fields, session.removeprefix(f"{FORMAT}:"))
            yield _turn(words, part, fields, where, number)


def _turn(words: str, part: Part | None, fields: Mapping[str, Any], session: str, number: int) -> Item:
    given = next((str(fields[key]) for key in _IDS if isinstance(fields.get(key), str | int)), "")
    # Without an id a message is known by its words and its place: the same file gives the same again.
    mark = hashlib.blake2b(f"{number}\n{part}\n{words}".encode(errors="replace"), digest_size=8).hexdigest()
    message_id = given or mark
    return Item(
        f"{session}/{message_id}",
        words,
        ItemKind.TURN,
        at=next((at for key in _TIMES if (at := moment(fields.get(key)))), None),
        speaker=label(fields.get("name")),
        part=part or Part.USER,
        session=session,
        details={"message": message_id},
    )


def _message(record: Any) -> Mapping[str, Any] | None:
    """The message itself, or the one that a log's line wraps."""
    if not isinstance(record, Mapping):
        return None
    if part_of(record.get("role")) is not None and "content" in record:
        return record
    inner = next((record[key] for key in _WRAPS if isinstance(record.get(key), Mapping)), None)
    return None if inner is None else _message(inner)


def _is_wrap(record: Any) -> bool:
    """Whether a line of an agent's log holds something else than a message: a summary, a snapshot."""
    return isinstance(record, Mapping) and isinstance(record.get("type"), str) and "role" not in record
