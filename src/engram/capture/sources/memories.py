"""Memories of other tools come out as statements, word for word: they were worded once already.

Read are this engine's own export, mem0's, and the knowledge graph of the MCP memory server, where an entity's
observation becomes a statement about it and a relation becomes a fact.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engram.capture.sources import files
from engram.capture.sources.files import label, moment, refused, unreadable
from engram.errors import InvalidInput, WrongType
from engram.model.capture import Draft, Fate, Found, Item, ItemKind, ItemReport
from engram.model.memory import TAG_LENGTH_LIMIT, Status
from engram.model.plain import draft_from
from engram.rules.traits import noted_tags

Read = Callable[[Mapping[str, Any], int], Iterator[Found]]
_FIELDS = frozenset(Draft.__dataclass_fields__) - {"content", "tags", "details", "event_time", "source"}
PERSON = "user_id"
_WHO = (PERSON, "agent_id", "app_id", "run_id", "actor_id")


def reader_of(record: Any) -> str:
    """Which tool a record comes from; empty when none of the known."""
    if not isinstance(record, Mapping):
        return ""
    if record.get("type") in ("entity", "relation") and (
        "observations" in record or "relationType" in record
    ):
        return "graph"
    if isinstance(record.get("memory"), str):
        return "mem0"
    return "engram" if isinstance(record.get("content"), str) and "role" not in record else ""


def records(data: Any) -> tuple[str, list[Any]] | None:
    """The tool and its records in a JSON document; None when it is no such document."""
    if isinstance(data, Mapping):
        if isinstance(data.get("entities"), list) and isinstance(data.get("relations"), list):
            return "graph", [*(_typed("entity", data["entities"])), *_typed("relation", data["relations"])]
        lists = [data[name] for name in ("results", "memories", "data") if isinstance(data.get(name), list)]
        if not lists:
            return _named([data])  # a file with one line is JSON, too
        links = data.get("relations")
        return _named([*lists[0], *(links if isinstance(links, list) else [])])
    return _named(data) if isinstance(data, list) else None


def _typed(name: str, given: list[Any]) -> list[Any]:
    return [{"type": name, **one} if isinstance(one, Mapping) else one for one in given]


def _named(given: list[Any]) -> tuple[str, list[Any]] | None:
    tool = reader_of(given[0]) if given else ""
    return (tool, given) if tool else None


def read(tool: str, given: list[Any]) -> Iterator[Found]:
    """A statement for each record of a tool."""
    yield from _of_people(tool, list(enumerate(given, 1)))


def _of_people(tool: str, records: Sequence[tuple[int, Any]]) -> Iterator[Found]:
    """The statements of numbered records; what several people said is kept apart, each in their own place."""
    people = {_person(record) for _, record in records} - {""}
    for number, record in records:
        if not isinstance(record, Mapping):
            yield unreadable(f"{tool}:{number}", number, "it is no object.")
            continue
        user = _person(record) if len(people) > 1 else ""
        for found in READERS[tool](record, number):
            yield replace(found, user=user) if user and isinstance(found, Item) else found


def _person(record: Any) -> str:
    return label(record.get(PERSON)) if isinstance(record, Mapping) else ""


def read_lines(tool: str, text: str) -> Iterator[Found]:
    """A statement for each line of JSON Lines."""
    read: list[tuple[int, Any]] = []
    for number, line in files.lines(text):
        try:
            read.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            yield unreadable(f"{tool}:{number}", number, f"it is no JSON ({error}).")
    yield from _of_people(tool, read)


def _engram(record: Mapping[str, Any], number: int) -> Iterator[Found]:
    """A line of our own export, or of anything with a `content`."""
    origin = f"engram:{record.get('id') or _mark(record.get('content'))}"
    if record.get("status") not in (None, Status.ACTIVE.value):
        yield ItemReport(origin, Fate.DROPPED, reason=f"it is {record['status']}")
        return
    try:
        if not isinstance(record.get("content"), str):
            raise WrongType("content", record.get("content"), "text")
        draft = draft_from(record)
    except OverflowError:  # a time at the very edge of the calendar
        yield unreadable(origin, number, "it names a time that no calendar has.")
        return
    except InvalidInput as error:
        yield refused(origin if record.get("id") else f"engram:line {number}", error)
        return
    yield Item(
        origin,
        draft.content,
        ItemKind.STATEMENT,
        at=draft.event_time,
        tags=noted_tags(draft),
        details=draft.details,
        source=draft.source if record.get("source") else "import",
        given={name: record[name] for name in _FIELDS if record.get(name) is not None},
    )


def _mem0(record: Mapping[str, Any], number: int) -> Iterator[Found]:
    """A memory of mem0, or one of the relations beside them."""
    if "memory" not in record and "relationship" in record:
        ends = (
            record.get("source"),
            record.get("relationship"),
            record.get("target", record.get("destination")),
        )
        yield _fact("mem0", *map(label, ends), number=number)
        return
    words = record.get("memory")
    origin = f"mem0:{record.get('id') or _mark(words)}"
    if not isinstance(words, str) or not words.strip():
        yield unreadable(origin, number, "it has no memory in words.")
        return
    metadata = record.get("metadata") if isinstance(record.get("metadata"), Mapping) else {}
    who = {name: record[name] for name in _WHO if record.get(name)}
    categories = record.get("categories")
    yield Item(
        origin,
        words.strip(),
        ItemKind.STATEMENT,
        at=moment(record.get("created_at")),
        tags=_tags(categories if isinstance(categories, list) else ()),
        details={**who, **({"metadata": metadata} if metadata else {})},
    )


def _graph(record: Mapping[str, Any], number: int) -> Iterator[Found]:
    """An entity with its observations, or a relation."""
    if record.get("type") == "relation":
        yield _fact("graph", *(label(record.get(k)) for k in ("from", "relationType", "to")), number=number)
        return
    name, kind = label(record.get("name")), label(record.get("entityType"))
    observations = record.get("observations")
    if not name or not isinstance(observations, list):
        if record.get("type") == "entity":
            yield unreadable(f"graph:{number}", number, "it is no entity with a name and observations.")
        return
    about = {"entity": name, "entity_type": kind}
    for observation in observations:
        words = label(observation)
        if words:
            yield Item(
                f"graph:{name}#{_mark(words)}",
                about_whom(name, words),
                ItemKind.STATEMENT,
                tags=_tags([kind]),
                details={key: value for key, value in about.items() if value},
            )


def about_whom(name: str, words: str) -> str:
    """An observation as a statement that stands alone.

    >>> about_whom("John_Smith", "Speaks fluent Spanish"), about_whom("Ada", "Ada likes tea")
    ('John Smith: Speaks fluent Spanish', 'Ada likes tea')
    """
    plain = name.replace("_", " ")
    return words if plain.casefold() in words.casefold() else f"{plain}: {words}"


def _fact(tool: str, subject: str, predicate: str, object_: str, *, number: int) -> Found:
    """A relation as a sentence, and the fact that it states."""
    if not (subject and predicate and object_):
        return unreadable(f"{tool}:{number}", number, "it is no relation with two ends and a name.")
    parts = (part.replace("_", " ").lower() for part in (subject, predicate, object_))
    fact = dict(zip(("subject", "predicate", "object"), parts, strict=True))
    told = " ".join(part.replace("_", " ") for part in (subject, predicate, object_))
    origin = f"{tool}:{subject}|{predicate}|{object_}"
    return Item(origin, told, ItemKind.STATEMENT, details={"facts": [fact]})


def _tags(words: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for word in words if (tag := label(word)[:TAG_LENGTH_LIMIT].strip())))


def _mark(words: Any) -> str:
    return hashlib.blake2b(str(words).encode(errors="replace"), digest_size=8).hexdigest()


READERS: Mapping[str, Read] = {"engram": _engram, "mem0": _mem0, "graph": _graph}
