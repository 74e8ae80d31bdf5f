"""Operations that are more than one verb of the engine: what a door is asked for, done with several."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from engram.api.facts import Profile
from engram.api.sessions import Begun
from engram.api.sources import TEXTS, Progress
from engram.capture.sources.files import is_archive, unpacked_size
from engram.config import values
from engram.engine import Engram
from engram.errors import BadText, InvalidInput, NotFound, SourceTooLarge, UnknownEntity
from engram.model.capture import IngestReport, Receipt, Refusal
from engram.model.event import Backup, Finding, Publication, Subscription
from engram.model.facts import Claim, Fact
from engram.model.memory import Filters, Layer, Memory
from engram.model.recall import Timeline
from engram.model.scope import Scope
from engram.model.session import Commitment
from engram.operations.values import Reader, fields_of
from engram.text.statement import canonical

Kept = Receipt | dict[str, list[Receipt | Refusal]]
PAGE = 1_000
AUTO = "auto"
UNPACKED = 100_000_000
"""Bytes that an archive which comes in a request may unpack to: others wait for the same memory."""
DOCUMENTS = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text"}
SECRETS = ("key", "token", "secret", "password")
HIDDEN = "********"
_FACT = Reader(fields_of(Fact))


def remember(
    memory: Engram,
    content: str | None = None,
    memories: Sequence[Mapping[str, Any] | str] | None = None,
    partial: bool = False,  # noqa: FBT001, FBT002 (arguments come by name)
    **given: Any,
) -> Kept:
    """Keep one statement, or under `memories` many."""
    if memories is None:
        if content is None:
            raise InvalidInput("The content is missing: give `content`, or `memories` for many.")
        return memory.remember(content, **given)
    if content is not None or given:
        raise InvalidInput("Give one statement or `memories`, not both.")
    return {"receipts": memory.remember_many(memories, partial=partial)}


def get(memory: Engram, memory_id: str) -> Memory:
    """One memory. Raises NotFound."""
    record = memory.get(memory_id)
    if record is None:
        raise NotFound(memory_id)
    return record


def erase(memory: Engram, memory_id: str, because: str = "") -> str:
    """Remove a memory for good; its full id."""
    full = get(memory, memory_id).id
    memory.erase(full, because)
    return full


def every_memory(
    memory: Engram, filters: Filters | None = None, *, scope: Scope | None = None
) -> Iterator[Memory]:
    """All memories that fit, newest first, read a page at a time."""
    cursor: str | None = None
    while True:
        page = memory.list(filters=filters, limit=PAGE, cursor=cursor, scope=scope)
        yield from page
        if not (cursor := page.cursor):
            return


def some_memories(memory: Engram, filters: Filters, offset: int, limit: int) -> list[Memory]:
    """The memories that fit, newest first, from a place on."""
    if not offset:
        return list(memory.list(filters=filters, limit=limit))
    return list(islice(every_memory(memory, filters), offset, offset + limit))


def move_to(memory: Engram, record: Memory, layer: Layer, because: str) -> Memory:
    """A memory in another layer, brought there step by step."""
    while record.layer != layer:
        step = memory.promote if record.layer < layer else memory.demote
        record = step(record.id, because)
    return record


def timeline(  # noqa: PLR0913 - each is a part of the question; all but the words by name
    memory: Engram,
    about: str,
    *,
    predicate: str = "",
    limit: int = 50,
    since: datetime | None = None,
    until: datetime | None = None,
    scope: Scope | None = None,
) -> Timeline:
    """How something changed; `predicate` says what of it."""
    subject = (about, predicate) if predicate else about
    return memory.timeline(subject, limit=limit, since=since, until=until, scope=scope)


def end_fact(
    memory: Engram,
    memory_id: str,
    fact: Mapping[str, Any] | None = None,
    at: datetime | str | None = None,
    because: str = "",
) -> Memory:
    """Say that a fact of a memory holds no longer."""
    return memory.facts.end(memory_id, None if fact is None else fact_from(fact), at=at, because=because)


def fact_from(given: Mapping[str, Any]) -> Fact:
    """A fact as it is compared, from its parts."""
    fact = Fact(**_FACT.read(given))
    return Fact(fact.subject.lower(), canonical(fact.predicate), fact.object.lower())


def fact_conflicts(memory: Engram, limit: int = 50) -> list[dict[str, Claim]]:
    """Pairs of facts that cannot both be true, each by name."""
    return [{"a": claim, "b": other} for claim, other in memory.facts.conflicts(limit)]


def entity(memory: Engram, name: str) -> Profile:
    """What is known about somebody or something. Raises UnknownEntity."""
    profile = memory.entities.get(name)
    if profile is None:
        raise UnknownEntity(name)
    return profile


def open_commitment(
    memory: Engram,
    text: str,
    *,
    due: str | None = None,
    waiting_on: str = "",
    scope: Scope | None = None,
    session: str = "",
) -> Commitment:
    """Open a loop; `due` is a time or words."""
    return memory.commitments.open(text, due=due, waiting_on=waiting_on, scope=scope, session=session)


def reopen_commitment(
    memory: Engram, commitment_id: str, *, due: str | None = None, because: str = ""
) -> Commitment:
    """Open a loop again; `due` moves the day."""
    return memory.commitments.reopen(commitment_id, due=due, because=because)


def change_commitment(
    memory: Engram, commitment_id: str, state: str, *, on: str = "", due: str | None = None, because: str = ""
) -> Commitment:
    """Bring a commitment into a state: open, waiting, done or dropped."""
    if state == "waiting":
        return memory.commitments.wait(commitment_id, on)
    if state == "open":
        return memory.commitments.reopen(commitment_id, due=due, because=because)
    return memory.commitments.close(commitment_id, state, because=because)


def settings(memory: Engram) -> Mapping[str, Any]:
    """The settings in force; what is secret is not shown."""
    return {
        name: HIDDEN if value and name.endswith(SECRETS) else value
        for name, value in values(memory.config).items()
    }


def examine(memory: Engram) -> list[Finding]:
    """Look at every part. Nothing is changed."""
    return memory.doctor()


def repair(memory: Engram) -> list[Finding]:
    """Look at every part and mend what can be rebuilt."""
    return memory.doctor(repair=True)


def upload(  # noqa: PLR0913 - each is a thing to say of a file; all by name
    memory: Engram,
    *,
    body: bytes = b"",
    name: str = "",
    format: str = AUTO,  # noqa: A002 (the word a user knows it by)
    dry: bool = False,
    tags: Sequence[str] = (),
    progress: Progress | None = None,
) -> IngestReport:
    """Take in a file that is the body of the request."""
    if not body:
        raise InvalidInput("The file is empty: send it as the body of the request.")
    clean = Path(name.replace("\\", "/")).name[:200] or "upload"
    kind = DOCUMENTS.get(Path(clean).suffix.lower(), "") if format == AUTO else format
    if kind in TEXTS:
        return memory.sources.text(_text(body), title=clean, format=kind, dry=dry, tags=tags)
    with tempfile.TemporaryDirectory(prefix="engram-upload-") as folder:
        path = Path(folder, clean)
        path.write_bytes(body)
        del body  # it lies in the file by now
        if is_archive(path) and unpacked_size(path) > UNPACKED:
            raise SourceTooLarge(clean, UNPACKED)
        return memory.sources.file(path, format=format, dry=dry, tags=tags, progress=progress)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText("file", "bytes that are not UTF-8") from error


# ---------------------------------------------------------------- commands
# What the command line does in one go.


def end_fact_by_parts(
    memory: Engram,
    memory_id: str,
    triple: Sequence[str] = (),
    *,
    at: datetime | str | None = None,
    because: str = "",
) -> Memory:
    """Say that a fact of a memory holds no longer; its three parts tell which of several."""
    if len(triple) not in {0, 3}:
        raise InvalidInput("Say subject, predicate and object, or none of them.")
    fact = fact_from(dict(zip(("subject", "predicate", "object"), triple, strict=True))) if triple else None
    return memory.facts.end(memory_id, fact, at=at, because=because)


def take_turn(  # noqa: PLR0913 - each is a thing a turn may bring; all but the words by name
    memory: Engram,
    session_id: str,
    message: str,
    *,
    reply: str = "",
    model: str = "",
    system: str = "",
    budget: int | None = None,
    timezone: str = "",
    scope: Scope | None = None,
) -> Begun:
    """Say something in a session, started if there is none, and give the prompt for it."""
    memory.sessions.start(id=session_id, model=model, scope=scope, timezone=timezone)
    begun = memory.sessions.turn(session_id, message, system=system, budget=budget)
    memory.sessions.reply(session_id, reply)
    return begun


def whole_bus(memory: Engram) -> dict[str, list[Publication] | list[Subscription]]:
    """What is offered and who wants what."""
    return {"publications": memory.bus.publications(), "subscriptions": memory.bus.subscriptions()}


def make_backup(memory: Engram) -> Backup:
    """Copy the whole memory beside it and check the copy. Where it lies is not for a caller to say."""
    return memory.backups.make()
