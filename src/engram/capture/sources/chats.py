"""Messages as models take them: `{"role": …, "content": …}`, in a list or a line each, come out as turns.

Read are a list of messages, an object or lines of objects with `messages` (as used for training), lines of
single messages, and the logs that coding agents keep, where each line wraps a message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Protocol

from engram.capture import extract
from engram.capture.observe import TURN_LIMIT
from engram.capture.pipeline import make_ready, write
from engram.capture.sources import files
from engram.capture.sources.files import BEGINNING, label, moment, part_of, refused, unreadable, words_of
from engram.capture.sources.take import MADE, REHEARSED, DryRunRollback, IngestOptions
from engram.errors import ContentTooLong, InvalidInput
from engram.model.capture import (
    Draft,
    Fate,
    Found,
    IngestReport,
    Item,
    ItemKind,
    ItemReport,
    LeftOut,
    Observation,
    Part,
    Receipt,
    Turn,
)
from engram.model.clock import check_cancelled
from engram.model.memory import NAME_LENGTH_LIMIT
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools, Unit
from engram.rules.screen import Gate, readable, screen

# ---------------------------------------------------------------- exports
# What ChatGPT and Claude export: `conversations.json` comes in, its messages come out as turns, oldest first.
#
# ChatGPT's is a tree: every edit and every "regenerate" branches off. Only the way from the root to
# `current_node` was the conversation; hidden, system and tool messages and the model's thoughts were not
# said. Of Claude's only the text is read: what was attached, thought or given back by a tool was not said.


_SAID = frozenset({"text", "multimodal_text"})
_SPOKEN = (Part.USER, Part.ASSISTANT)


def is_export(format: str, data: Any) -> bool:  # noqa: A002 (a user's word)
    """Whether this is what a service exports: a list of conversations, or one of them."""
    first = data[0] if isinstance(data, list) and data else data
    key, kind, _ = EXPORTS[format]
    return isinstance(first, Mapping) and isinstance(first.get(key), kind)


def read_export(format: str, data: Any) -> Iterator[Found]:  # noqa: A002 (as above)
    """Every message that was said, conversation by conversation."""
    for number, conversation in enumerate(data if isinstance(data, list) else [data], 1):
        if is_export(format, conversation):
            yield from EXPORTS[format][2](conversation, number)
        else:
            yield unreadable(f"{format}:{number}", number, "it is no conversation with messages.")


def _exported(session: str, message_id: str, words: str, part: Part, at: datetime | None, title: str) -> Item:
    details = {"title": title, "message": message_id}
    origin = f"{session}/{message_id}"
    return Item(origin, words, ItemKind.TURN, at=at, part=part, session=session, title=title, details=details)


def _from_chatgpt(conversation: Mapping[str, Any], number: int) -> Iterator[Found]:
    session = f"chatgpt:{conversation.get('conversation_id') or conversation.get('id') or number}"
    title = label(conversation.get("title"))
    begun = moment(conversation.get("create_time"))
    for node, message in _path(conversation):
        if (said := _said(message)) is not None:
            part, words = said
            begun = _not_before(moment(message.get("create_time")), begun)
            yield _exported(session, str(message.get("id") or node), words, part, begun, title)


def _path(conversation: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The messages from the root to the current one; of a damaged tree, all by time."""
    mapping: Mapping[str, Any] = conversation["mapping"]
    node, seen = conversation.get("current_node"), dict[str, None]()
    while isinstance(node, str) and isinstance(mapping.get(node), Mapping) and node not in seen:
        seen[node] = None
        node = mapping[node].get("parent")
    way = [*reversed(seen)] or sorted(mapping, key=lambda name: _time_of(mapping[name]))
    nodes = ((name, mapping[name]) for name in way)
    found = ((name, one.get("message")) for name, one in nodes if isinstance(one, Mapping))
    return [(name, message) for name, message in found if isinstance(message, Mapping)]


def _time_of(node: Any) -> float:
    message = node.get("message") if isinstance(node, Mapping) else None
    time = message.get("create_time") if isinstance(message, Mapping) else None
    return time if isinstance(time, int | float) else 0.0


def _said(message: Mapping[str, Any]) -> tuple[Part, str] | None:
    """Who said what, if somebody said something to somebody."""
    author, content, metadata = (message.get(name) for name in ("author", "content", "metadata"))
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        return None
    part = part_of(author.get("role"))
    hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation")
    to_tool = message.get("recipient", "all") not in ("all", None)
    if part not in _SPOKEN or hidden or to_tool or content.get("content_type", "text") not in _SAID:
        return None
    words = words_of(content.get("parts"))
    return (part, words) if part is not None and words else None


def _not_before(at: datetime | None, before: datetime | None) -> datetime | None:
    """The message's own time; where it has none, or one that runs backwards, that of the one before."""
    if at is None or before is None:
        return at or before
    return max(at, before)


def _from_claude(conversation: Mapping[str, Any], number: int) -> Iterator[Found]:
    session = f"claude:{conversation.get('uuid') or number}"
    title = label(conversation.get("name"))
    begun = moment(conversation.get("created_at"))
    for place, message in enumerate(conversation["chat_messages"], 1):
        part = part_of(message.get("sender")) if isinstance(message, Mapping) else None
        if part is None:
            yield unreadable(f"{session}/{place}", place, "a message without a known sender.")
        elif words := words_of(message.get("content")) or words_of(message.get("text")):
            at = moment(message.get("created_at")) or begun
            yield _exported(session, str(message.get("uuid") or place), words, part, at, title)


EXPORTS: Mapping[str, tuple[str, type, Callable[[Mapping[str, Any], int], Iterator[Found]]]] = {
    "chatgpt": ("mapping", dict, _from_chatgpt),
    "claude": ("chat_messages", list, _from_claude),
}
"""What a conversation of each service has, and what reads one."""


# ---------------------------------------------------------------- messages


MESSAGES_FORMAT = "messages"
_TIMES = ("timestamp", "created_at", "create_time", "time", "ts", "date")
_SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "thread_id")
_IDS = ("id", "uuid", "message_id")
_WRAPS = ("message", "payload")
_ASIDE = ("isMeta", "isSidechain", "is_meta")
"""How agents mark what no person said or read."""


def are_messages(data: Any) -> bool:
    """Whether this is a message, a list of messages, or an object (or a list of objects) with messages."""
    first = data[0] if isinstance(data, list) and data else data
    if not isinstance(first, Mapping):
        return False
    inner = first.get("messages")
    if isinstance(inner, list):
        return not inner or are_messages(inner[0])
    return _message(first) is not None


def read_messages(data: Any, name: str) -> Iterator[Found]:
    """Every message of a JSON document. `name` stands for the conversation where none is named."""
    if isinstance(data, Mapping) and isinstance(data.get("messages"), list):
        yield from _talk(data["messages"], _session(data, name, *_IDS))
    elif isinstance(data, list) and data and isinstance(data[0], Mapping) and "messages" in data[0]:
        for number, talk in enumerate(data, 1):
            yield from _wrapped(talk, number, name)
    else:
        yield from _talk(data if isinstance(data, list) else [data], f"{MESSAGES_FORMAT}:{name}")


def read_lines(text: str, name: str) -> Iterator[Found]:
    """Every message of JSON Lines: a conversation a line, or a message a line."""
    loose: dict[int, Any] = {}
    for number, record in files.json_lines(text, f"{MESSAGES_FORMAT}:{name}/"):
        if isinstance(record, ItemReport):
            yield record
        elif isinstance(record, Mapping) and "messages" in record:
            yield from _wrapped(record, number, name)
        else:
            loose[number] = record
    yield from _talk([*loose.values()], f"{MESSAGES_FORMAT}:{name}", [*loose])


def _wrapped(talk: Any, number: int, name: str) -> Iterator[Found]:
    messages = talk.get("messages") if isinstance(talk, Mapping) else None
    if not isinstance(messages, list):
        yield unreadable(f"{MESSAGES_FORMAT}:{name}/{number}", number, "it holds no list of messages.")
        return
    yield from _talk(messages, _session(talk, f"{name}/{number}", *_IDS))


def _session(fields: Mapping[str, Any], name: str, *more: str) -> str:
    """The conversation that something names, under one of the usual words; else `name`."""
    found = (fields.get(key) for key in (*_SESSIONS, *more))
    named = next((one for one in found if isinstance(one, str) and one), name)
    return f"{MESSAGES_FORMAT}:{named}"


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
            where = _session(fields, session.removeprefix(f"{MESSAGES_FORMAT}:"))
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


SLICE = 200
"""Messages that are heard together."""
LONGEST_SESSION = 1_000_000
ID_LIMIT = 200
CONTEXT_TURNS = 4
"""Turns before the first one that are looked at to understand it."""


class ChatListener(Protocol):
    """Whoever listens to turns for this memory."""

    def hear(self, turns: Sequence[Turn]) -> Observation:
        """Log turns of one scope; read what waits there if it is time."""
        ...

    def flush(self, session: str | None = None, scope: Scope | None = None) -> Observation:
        """Read now whatever waits in a scope."""
        ...


def listen(
    found: Sequence[Found], options: IngestOptions, listener: ChatListener, gate: Gate, tools: Tools
) -> IngestReport:
    """Hear every message that the log does not know, and report on each."""
    found = [_checked(one) for one in found]
    items = (one for one in found if isinstance(one, Item))
    turns = {item.origin: turn(item, options.scope, tools.clock.now()) for item in items}
    known = _known({one.session for one in turns.values()}, options.scope, tools)
    fresh = [one for one in turns.values() if (one.session, one.id) not in known]
    heard = _rehearse(fresh, options, gate, tools) if options.dry else _hear(fresh, options, listener)
    outcomes = _Outcomes([*heard], dry=options.dry)
    reports = (
        one if isinstance(one, ItemReport) else outcomes.of(one, turns[one.origin], known) for one in found
    )
    return IngestReport(tuple(reports), options.dry)


def _checked(one: Found) -> Found:
    """A message that the log cannot take is reported, and the others go on."""
    if isinstance(one, ItemReport):
        return one
    try:
        for field, words in (("content", one.text), ("session", one.session), ("speaker", one.speaker)):
            readable(field, words)
        if len(one.text) > TURN_LIMIT:
            raise ContentTooLong("content", len(one.text), TURN_LIMIT)
    except InvalidInput as error:
        return refused(one.origin, error, one.text)
    return one


def turn(item: Item, scope: Scope, now: datetime) -> Turn:
    """The message as it is logged."""
    own = str(item.details.get("message") or item.origin)
    return Turn(
        id=own[:ID_LIMIT],
        session=item.session[:NAME_LENGTH_LIMIT],
        content=item.text,
        at=item.at or now,
        part=item.part,
        speaker=item.speaker[:NAME_LENGTH_LIMIT],
        scope=scope,
    )


def _known(sessions: set[str], scope: Scope, tools: Tools) -> set[tuple[str, str]]:
    access = Access(scope, Role.AGENT)
    return {
        (session, one.id)
        for session in sessions
        for one in tools.store.turns.of_session(session, access, LONGEST_SESSION)
    }


def _hear(turns: Sequence[Turn], options: IngestOptions, listener: ChatListener) -> Iterator[Observation]:
    for start in range(0, len(turns), SLICE):
        part = turns[start : start + SLICE]
        check_cancelled()
        yield listener.hear(part)
        if options.progress is not None:
            options.progress(start + len(part), len(turns))
    if turns:
        yield listener.flush(scope=options.scope)


def _rehearse(
    turns: Sequence[Turn], options: IngestOptions, gate: Gate, tools: Tools
) -> Iterator[Observation]:
    """What hearing these turns would bring: everything is done but for the log, and taken back."""
    drafts: list[Draft] = []
    for _, group in groupby(turns, key=lambda one: one.session):
        talk = list(group)
        for start in range(0, len(talk), SLICE):
            part = talk[start : start + SLICE]
            check_cancelled()
            reading = extract.read(part, talk[:start][-CONTEXT_TURNS:], gate, tools)
            drafts += reading.drafts
            yield Observation(captured=tuple(part), left_out=tuple(reading.left_out))
    for start in range(0, len(drafts), REHEARSED):
        yield _tried(drafts[start : start + REHEARSED], options, tools)


def _tried(drafts: Sequence[Draft], options: IngestOptions, tools: Tools) -> Observation:
    good: list[Draft] = []
    left_out: list[LeftOut] = []
    for draft in drafts:
        try:
            good.append(screen(draft))
        except InvalidInput as error:
            left_out.append(LeftOut("", draft.content, error.message))
    receipts: list[Receipt] = []

    def also(unit: Unit, made: list[Receipt]) -> None:
        del unit
        receipts[:] = made
        raise DryRunRollback

    with suppress(DryRunRollback):
        write(make_ready(good, tools), tools, options.actor, also)
    return Observation(receipts=tuple(receipts), left_out=tuple(left_out))


class _Outcomes:
    """What was made of each message."""

    def __init__(self, heard: Sequence[Observation], *, dry: bool) -> None:
        self.dry = dry
        self.read = {(one.session, one.id) for part in heard for one in part.captured}
        self.left = {one.turn: one.why for part in heard for one in part.left_out}
        self.made: dict[tuple[str, str], list[tuple[str, Fate, str]]] = {}
        for receipt in (receipt for part in heard for receipt in part.receipts):
            for own in receipt.memory.details.get("turns", ()):
                fate = Fate(receipt.outcome.value)
                line = (receipt.memory.id, fate, receipt.because)
                self.made.setdefault((receipt.memory.session, own), []).append(line)

    def of(self, item: Item, said: Turn, known: set[tuple[str, str]]) -> ItemReport:
        """The report of one message."""
        key = said.session, said.id
        report = ItemReport(item.origin, Fate.OBSERVED, (), "waits to be read", text=item.text[:BEGINNING])
        if key in known:
            return replace(report, outcome=Fate.UNCHANGED, reason="it is in the log already")
        if made := self.made.get(key):
            ids = dict.fromkeys(own for own, fate, _ in made if not (self.dry and fate in MADE))
            return replace(report, outcome=made[0][1], memories=tuple(ids), reason=made[0][2])
        if key in self.read and said.id in self.left:
            return replace(report, outcome=Fate.DROPPED, reason=self.left[said.id])
        return replace(report, reason="read") if key in self.read else report
