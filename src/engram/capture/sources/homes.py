"""Memories of other systems come out as records: with their ids, times, status, users, relations and trust.

Each reader takes what a file of its system holds and gives records as `adopt` takes them, and reports of what
could not be read. A record says by `origin` where it stood.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from engram.capture.sources import files
from engram.capture.sources.files import label, moment, unreadable
from engram.errors import UnknownValue
from engram.model.capture import ItemReport
from engram.model.memory import CONTENT_LIMIT, MOMENTS, SOURCE_LENGTH_LIMIT, TAG_LENGTH_LIMIT, TAG_LIMIT
from engram.text import re

Record = dict[str, Any]
Told = Record | ItemReport
NOTHING: Mapping[str, Any] = {}
LAYERS = {1: "buffer", 2: "working", 3: "core"}
KINDS = ("semantic", "episodic", "procedural")
MAPPED = (
    "id", "content", "created_at", "modified_at", "event_time", "tags", "category", "importance",
    "confidence", "status", "user", "agent", "project", "session", "source", "kind", "priority",
    "verified_at", "expires_at",
)  # fmt: skip
"""What a column of a table may stand for."""
LONGEST_DAY = 8
"""Digits of a day written as a number; more are seconds."""
_OBSERVATION = re.compile(r"^\s*[-*] \[([^\[\]]{1,40})\]\s+(.*\S)\s*$")
_RELATION = re.compile(r"^\s*[-*] ([\w][\w /-]{0,40}?)\s+\[\[([^\]]+)\]\](.*)$")
_HASH_TAG = re.compile(r"(?<!\S)#([\w][\w/-]*)")
_CONTEXT = re.compile(r"\s*\(([^()]*)\)\s*$")


# ---------------------------------------------------------------- engram-rs


def engram_rs(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Told]:
    """The memories, facts and trash of an engram-rs database."""
    facts: dict[str, list[dict[str, Any]]] = {}
    stored = {str(fact.get("id")): fact for fact in tables.get("facts", ())}
    for fact in stored.values():
        parts = {name: str(fact.get(name) or "") for name in ("subject", "predicate", "object")}
        after = stored.get(str(fact.get("superseded_by")), {})
        ended = fact.get("valid_until") or after.get("valid_from") or after.get("created_at")
        spans = {"valid_from": moment(fact.get("valid_from")), "valid_to": moment(ended)}
        times = {name: at.isoformat() for name, at in spans.items() if at is not None}
        facts.setdefault(str(fact.get("memory_id")), []).append({**parts, **times})
    for table, status in (("memories", "active"), ("trash", "archived")):
        for row in tables.get(table, ()):
            known = facts.get(str(row.get("id"))) if status == "active" else None
            space = row.get("namespace")
            yield _clean(
                f"engram-rs:{row.get('id')}",
                row,
                "content importance created_at modified_at:modified_at|created_at last_accessed tags",
                id=str(row.get("id")),
                layer=LAYERS.get(_whole(row.get("layer"), 1), "buffer"),
                usage={
                    "accessed": _whole(row.get("access_count")),
                    "repeated": _whole(row.get("repetition_count")),
                },
                source=row.get("source") or "api",
                scope=None if space in (None, "", "default") else {"namespace": str(space)},
                kind=str(row.get("kind")) if row.get("kind") in KINDS else "semantic",
                status=status,
                details={"facts": known} if known else {},
            )


def retention(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Told]:
    """The memories of an engram-memory-system database: layers by name, times in seconds, status."""
    layers = {"working": ("buffer", "episodic"), "episodic": ("working", "episodic")}
    sources = {"remember:human": "human", "remember:ai": "agent"}
    for row in tables.get("memories", ()):
        layer, kind = layers.get(str(row.get("layer")), ("core", str(row.get("layer") or "semantic")))
        told = _json(row.get("metadata"))
        metadata = told if isinstance(told, dict) else {}
        gone = row.get("forgotten") or metadata.get("forgotten")
        source = str(row.get("source_type") or "import")
        yield _clean(
            f"retention:{row.get('id')}",
            row,
            "content type:memory_type importance created_at last_accessed event_time:fact_date",
            id=str(row.get("id")),
            layer=layer,
            kind=kind if kind in (*KINDS, "codebase") else "semantic",
            usage={"accessed": _whole(row.get("access_count"))},
            source=sources.get(source, source),
            status="archived" if gone else str(row.get("status") or "active"),
            pinned=bool(metadata.get("pinned")),
            tags=metadata.get("tags"),
            details={k: v for k, v in metadata.items() if k not in ("tags", "pinned")},
        )


# ---------------------------------------------------------------- mem0, Zep, Hindsight, Letta


def mem0(data: Any) -> Iterator[Told]:
    """What mem0 exports: memories of several users, each in their own place, and relations."""
    rows = _listed(data, "results", "memories", "data")
    people = _all(rows, "user_id") - {""}
    links = data.get("relations") if isinstance(data, Mapping) else None

    def read(row: Mapping[str, Any], number: int) -> Told:
        if "relationship" in row and "memory" not in row:
            target = row.get("target", row.get("destination"))
            return _relation("mem0", row.get("source"), row.get("relationship"), target)
        metadata = row.get("metadata")
        deleted = row.get("deleted") or row.get("is_deleted") or row.get("event") == "DELETE"
        named = {name: row[name] for name in ("user_id", "agent_id", "app_id", "actor_id") if row.get(name)}
        return _clean(
            f"mem0:{row.get('id') or number}",
            row,
            "id content:memory|data|text created_at modified_at:updated_at|created_at tags:categories"
            " expires_at:expiration_date session:run_id",
            scope=_scope(user=row.get("user_id") if len(people) > 1 else "", agent=row.get("agent_id")),
            status="archived" if deleted else "active",
            confidence=row.get("score") if row.get("confidence") is None else row["confidence"],
            details={**named, "metadata": dict(metadata)}
            if isinstance(metadata, Mapping) and metadata
            else named,
        )

    yield from _each("mem0", [*rows, *(links if isinstance(links, list) else [])], read)


def zep(data: Any) -> Iterator[Told]:
    """Facts of Zep's graph with the time they held, and what it sums up of each node."""
    nodes = {
        str(row.get("uuid")): row
        for row in _listed(data, "nodes", "entities", bare=False)
        if isinstance(row, Mapping)
    }
    edges = _listed(data, "edges", "facts")
    users = _all(edges, "group_id", "user_id")

    def read(row: Mapping[str, Any], number: int) -> Told:
        ends = [nodes.get(str(row.get(f"{end}_node_uuid")), {}).get("name") for end in ("source", "target")]
        over, predicate = row.get("invalid_at") or row.get("expired_at"), str(row.get("name") or "")
        fact = {"subject": ends[0], "predicate": predicate, "object": ends[1]}
        return _clean(
            f"zep:{row.get('uuid') or number}",
            row,
            "id:uuid content:fact created_at event_time:valid_at valid_from:valid_at confidence:rating",
            valid_to=over,
            status="superseded" if over else "active",
            scope=_scope(user=row.get("group_id") or row.get("user_id")) if len(users) > 1 else None,
            category="fact",
            details={"facts": [fact]} if all(ends) and predicate else {},
        )

    yield from _each("zep", edges, read)
    for row in nodes.values():
        summary, name = label(row.get("summary")), label(row.get("name"))
        if summary:
            yield _clean(
                f"zep:{row.get('uuid')}",
                row,
                "id:uuid created_at",
                content=about_whom(name, summary) if name else summary,
                category="entity",
                tags=[word for word in _words(row.get("labels")) if word != "Entity"],
            )


def hindsight(data: Any) -> Iterator[Told]:
    """Units of a Hindsight bank: world facts, experiences, opinions with their confidence."""
    kinds = {
        "world": ("semantic", "fact"),
        "experience": ("episodic", "moment"),
        "opinion": ("semantic", "preference"),
        "observation": ("semantic", "insight"),
    }
    rows = _listed(data, "units", "memory_units", "items", "memories", "results", "facts")
    banks = _all(rows, "bank_id", "agent_id")

    def read(row: Mapping[str, Any], number: int) -> Told:
        kind, category = kinds.get(str(row.get("fact_type") or row.get("type")), ("semantic", "fact"))
        entities, links = row.get("entities"), row.get("links")
        names = entities.split(",") if isinstance(entities, str) else entities
        details: Record = {"context": label(row.get("context"))} if row.get("context") else {}
        details |= {"document": str(row["document_id"])} if row.get("document_id") else {}
        details |= {"entities": [_name(name) for name in names]} if names and isinstance(names, list) else {}
        return _clean(
            f"hindsight:{row.get('id') or number}",
            row,
            "id content:text|content created_at:mentioned_at|created_at|occurred_start"
            " event_time:occurred_start|event_date tags",
            kind=kind,
            category=category,
            confidence=row.get("confidence_score", row.get("confidence")),
            valid_to=row.get("occurred_end") if kind == "episodic" else None,
            scope=_scope(agent=row.get("bank_id") or row.get("agent_id")) if len(banks) > 1 else None,
            details=details,
            edges=[
                {
                    "target": str(link.get("to_unit_id") or link.get("target")),
                    "type": "related_to",
                    "weight": _share(link.get("weight")) or 1.0,
                }
                for link in (links if isinstance(links, list) else ())
                if isinstance(link, Mapping)
            ],
        )

    yield from _each("hindsight", rows, read)


def letta(data: Any) -> Iterator[Told]:
    """An agent of Letta: its blocks, which are always in mind, and its archival passages."""
    agents = data.get("agents") if isinstance(data, Mapping) else None
    several = isinstance(agents, list) and len(agents) > 1
    for agent in agents if isinstance(agents, list) else [data]:
        if not isinstance(agent, Mapping):
            continue
        place = _scope(agent=agent.get("name")) if several else None
        blocks = [*_listed(agent, "core_memory", "blocks", "memory_blocks", bare=False)]
        if isinstance(data, Mapping) and agent is not data:
            own = set(map(str, agent.get("block_ids") or ()))
            blocks += [
                row
                for row in _listed(data, "blocks", bare=False)
                if isinstance(row, Mapping) and (str(row.get("id")) in own or not (own or several))
            ]
        for block in blocks:
            if isinstance(block, Mapping):
                yield from _block(block, place)
    archival = _listed(data, "passages", "archival_memory", "archival", bare=isinstance(data, list))
    for number, row in enumerate(archival, 1):
        if isinstance(row, Mapping) and (row.get("text") or row.get("content")):
            yield _clean(
                f"letta:{row.get('id') or number}",
                row,
                "id content:text|content created_at:created_at|timestamp tags",
                details=row["metadata"] if isinstance(row.get("metadata"), Mapping) else {},
            )


def _block(block: Mapping[str, Any], place: Record | None) -> Iterator[Told]:
    """A block is a page of lines; each is a statement of its own, always in mind."""
    name = label(block.get("label"))
    categories = {"human": "identity", "persona": "instruction"}
    for number, line in enumerate(str(block.get("value") or "").split("\n"), 1):
        words = line.strip().lstrip("-* ").strip()
        if words:
            yield _clean(
                f"letta:{block.get('id') or name}#{number}",
                block,
                "created_at",
                content=words,
                category=categories.get(name, "context"),
                layer="core",
                tags=[f"block:{name}"] if name else [],
                scope=place,
                details={"block": name},
            )


# ---------------------------------------------------------------- ours


def ours(data: Any) -> Iterator[Told]:
    """Records as `export` writes them, or anything with a `content`."""
    rows = _listed(data, *_LISTS) or [data]
    yield from _each("engram", rows, lambda row, at: {**row, "origin": f"engram:{row.get('id') or at}"})


# ---------------------------------------------------------------- the MCP memory server


def graph(data: Any) -> Iterator[Told]:
    """Entities with their observations and relations, as the MCP memory server keeps them."""
    for number, row in enumerate(data, 1):
        if not isinstance(row, Mapping):
            yield unreadable(f"mcp-memory:{number}", number, "it is no object.")
        elif row.get("type") == "relation" or "relationType" in row:
            yield _relation("mcp-memory", row.get("from"), row.get("relationType"), row.get("to"))
        else:
            name, kind = label(row.get("name")), label(row.get("entityType"))
            told = row.get("observations")
            if not name or not isinstance(told, list):
                yield unreadable(
                    f"mcp-memory:{number}", number, "it is no entity with a name and observations."
                )
                continue
            for observation in told:
                words = label(observation)
                if words:
                    yield _clean(
                        f"mcp-memory:{name}#{words}",
                        content=about_whom(name, words),
                        tags=[kind] if kind else [],
                        details={"entity": name, "entity_type": kind},
                    )


def about_whom(name: str, words: str) -> str:
    """An observation as a statement that stands alone.

    >>> about_whom("John_Smith", "Speaks fluent Spanish"), about_whom("Ada", "Ada likes tea")
    ('John Smith: Speaks fluent Spanish', 'Ada likes tea')
    """
    plain = name.replace("_", " ")
    return words if plain.casefold() in words.casefold() else f"{plain}: {words}"


def _relation(system: str, subject: Any, predicate: Any, target: Any) -> Told:
    parts = [label(one) for one in (subject, predicate, target)]
    if not all(parts):
        return unreadable(f"{system}:relation", 0, "it is no relation with two ends and a name.")
    told = [part.replace("_", " ") for part in parts]
    fact = dict(zip(("subject", "predicate", "object"), told, strict=True))
    origin, content = f"{system}:{'|'.join(parts)}", " ".join(told)
    return _clean(origin, content=content, category="relationship", details={"facts": [fact]})


# ---------------------------------------------------------------- basic-memory


def basic_memory(text: str, path: str, front: Mapping[str, Any]) -> Iterator[Told]:
    """A note of basic-memory: observations with category, tags and context, relations, and its other text."""
    title = label(front.get("title")) or path.rpartition("/")[2].removesuffix(".md")
    permalink = label(front.get("permalink")) or path.removesuffix(".md")
    tags = _words(front.get("tags"))
    base = _taken(front, "created_at:created|date modified_at:modified")
    page = {
        "page": path,
        "title": title,
        "permalink": permalink,
        **({"note_type": front["type"]} if front.get("type") else {}),
    }
    free: list[str] = []
    for line in text.split("\n"):
        match = _OBSERVATION.match(line)
        if match and len(match[1].strip()) > 1:  # a box to tick is no category
            yield _observation(match[1].strip(), match[2], title, (permalink, tags), base, page)
            continue
        if match := _RELATION.match(line):
            told = _relation("basic-memory", title, match[1].strip(), match[2].split("|")[0].strip())
            if isinstance(told, dict):
                context = _CONTEXT.search(match[3])
                noted = {"context": context[1]} if context else {}
                told["details"] = {**told["details"], **page, **noted}
                told |= {name: value for name, value in base.items() if value}
            yield told
            continue
        free.append(line)
    for paragraph in re.split(r"\n\s*\n", "\n".join(free)):
        words = "\n".join(line for line in paragraph.strip().split("\n") if not line.startswith("#")).strip()
        if words:
            for start in range(0, len(words), CONTENT_LIMIT):
                part = words[start : start + CONTENT_LIMIT]
                origin = f"basic-memory:{permalink}#{part}"
                yield _clean(origin, content=part, category="reference", tags=tags, details=page, **base)


def _observation(
    category: str, words: str, title: str, where: tuple[str, Sequence[str]], base: Record, page: Record
) -> Record:
    permalink, tags = where
    context = _CONTEXT.search(words)
    bare = _CONTEXT.sub("", words) if context else words
    own = _HASH_TAG.findall(bare)
    content = " ".join(_HASH_TAG.sub("", bare).split())
    slug = re.sub(r"[^a-z0-9_-]+", "-", category.casefold()).strip("-") or "fact"
    return _clean(
        f"basic-memory:{permalink}#{words}",
        content=about_whom(title, content),
        category=slug,
        kind="semantic",
        tags=[*own, *tags],
        details={**page, "entity": title, **({"context": context[1]} if context else {})},
        **base,
    )


# ---------------------------------------------------------------- any table


def table(text: str, mapping: Mapping[str, str], *, lines: bool) -> Iterator[Told]:
    r"""A row of CSV, or a line of JSON, as a record; the mapping says which column is what.

    >>> found = table("note,when\nBuy milk,2026-01-02\n", {"content": "note"}, lines=False)
    >>> next(found)["content"]
    'Buy milk'
    """
    for name in mapping:
        if name not in MAPPED:
            raise UnknownValue("field of a memory", name, MAPPED)
    read = csv.DictReader(io.StringIO(text), restkey="_more")
    rows: Iterable[tuple[int, Any]] = enumerate(read, 1)
    if lines:
        is_list = text.lstrip().startswith("[")
        rows = enumerate(files.loaded(text, "the file"), 1) if is_list else files.json_lines(text, "row:")
    for number, row in rows:
        if isinstance(row, ItemReport):
            yield row
        elif not isinstance(row, Mapping):
            yield unreadable(f"row:{number}", number, "it is no object.")
        else:
            yield _row(row, mapping, number)


def _row(row: Mapping[str, Any], mapping: Mapping[str, str], number: int) -> Told:
    columns = {name: mapping.get(name, name) for name in MAPPED}
    told = {name: _at(row, column) for name, column in columns.items()}
    given = {name: value for name, value in told.items() if value not in (None, "")}
    if not label(given.get("content")):
        why = (
            f"it has no words under {columns['content']!r}: --map content=NAME says which column holds them."
        )
        return unreadable(f"row:{number}", number, why)
    used = {column.split(".")[0] for column in columns.values()}
    rest = {str(name): value for name, value in row.items() if name not in used and value not in (None, "")}
    place = _scope(user=given.pop("user", ""), agent=given.pop("agent", ""), project=given.pop("project", ""))
    return _clean(f"row:{given.get('id') or number}", **given, scope=place, details=rest)


def _at(row: Mapping[str, Any], path: str) -> Any:
    """The value under a column; a dot leads into an object."""
    if path in row:
        return row[path]
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


# ---------------------------------------------------------------- shared


def _each(system: str, rows: Sequence[Any], read: Callable[[Mapping[str, Any], int], Told]) -> Iterator[Told]:
    """What each object comes to; what is none cannot be read."""
    for number, row in enumerate(rows, 1):
        is_object = isinstance(row, Mapping)
        yield read(row, number) if is_object else unreadable(f"{system}:{number}", number, "it is no object.")


def _all(rows: Sequence[Any], *names: str) -> set[str]:
    """What the objects say under the first of these names that they have."""
    return {
        str(_taken(row, f"name:{'|'.join(names)}")["name"] or "") for row in rows if isinstance(row, Mapping)
    }


def _taken(row: Mapping[str, Any], columns: str) -> Record:
    """What a row says: `content:text|memory` is what stands under the first of two as the content.

    >>> _taken({"id": 7, "memory": "Likes tea"}, "id content:text|memory")
    {'id': 7, 'content': 'Likes tea'}
    """
    pairs = (one.partition(":") for one in columns.split())
    named = {name: (others or name).split("|") for name, _, others in pairs}
    return {
        name: next((row[one] for one in others if row.get(one)), row.get(others[-1]))
        for name, others in named.items()
    }


def _clean(origin: str, row: Mapping[str, Any] = NOTHING, columns: str = "", **more: Any) -> Record:
    """A record of what a row says under these columns, and more: times in one form, nothing that is empty."""
    record = {"origin": origin, **_taken(row, columns), **more}
    for name in ("importance", "confidence"):
        if name in record:
            record[name] = _share(record[name])
    for name in MOMENTS:
        if record.get(name) not in (None, ""):
            value = record[name]
            is_seconds = isinstance(value, str) and value.isdigit() and len(value) > LONGEST_DAY
            at = moment(_number(value) if is_seconds else value)
            record[name] = at.isoformat() if at else None
    if "tags" in record:
        record["tags"] = _words(record["tags"])
    if record.get("source"):
        record["source"] = " ".join(str(record["source"]).split())[:SOURCE_LENGTH_LIMIT]
    else:
        record["source"] = "import"
    if isinstance(record.get("content"), str):
        record["content"] = record["content"].strip()
    return {name: value for name, value in record.items() if value is not None}


def _words(value: Any) -> tuple[str, ...]:
    given = _json(value)
    if isinstance(given, str):
        given = [part for part in re.split(r"[,;|]", given) if part.strip()]
    clean = (" ".join(str(one).split())[:TAG_LENGTH_LIMIT].strip() for one in given or ())
    return tuple(dict.fromkeys(one for one in clean if one))[:TAG_LIMIT]


def _json(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _listed(data: Any, *names: str, bare: bool = True) -> list[Any]:
    if isinstance(data, Mapping):
        return next((data[name] for name in names if isinstance(data.get(name), list)), [])
    return list(data) if bare and isinstance(data, Sequence) and not isinstance(data, str) else []


def _scope(*, user: Any = "", agent: Any = "", project: Any = "") -> Record | None:
    parts = {"user": label(user), "agent": label(agent), "project": label(project)}
    return {name: value for name, value in parts.items() if value} or None


def _name(value: Any) -> str:
    return label(value.get("name") if isinstance(value, Mapping) else value)


def _share(value: Any) -> float | None:
    number = _number(value)
    return min(1.0, max(0.0, number)) if number is not None else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _whole(value: Any, usual: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else usual


Read = Callable[[Any], Iterator[Told]]
OF_JSON: Mapping[str, Read] = {
    "engram": ours,
    "mem0": mem0,
    "zep": zep,
    "hindsight": hindsight,
    "letta": letta,
    "mcp-memory": graph,
}


def system_of(data: Any) -> str:
    """Which system a JSON document comes from; empty when none of the known."""
    if isinstance(data, Mapping):
        if isinstance(data.get("agents"), list) or "core_memory" in data or "archival_memory" in data:
            return "letta"
        if isinstance(data.get("entities"), list) and isinstance(data.get("relations"), list):
            return "mcp-memory"
    return next((system for system, fits in _SIGNS if fits(_first(data))), "")


def has_words(data: Any) -> bool:
    """Whether a JSON document holds memories of ours, or objects with a `content`."""
    return isinstance(_first(data).get("content"), str)


def _first(data: Any) -> Mapping[str, Any]:
    """The first record of a document, which may be one itself."""
    alone: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    return next((row for row in _listed(data, *_LISTS) if isinstance(row, Mapping)), alone)


_LISTS = ("edges", "facts", "units", "memory_units", "items", "results", "memories", "data", "passages")
CONTAINERS = frozenset(
    {*_LISTS, "nodes", "entities", "relations", "agents", "blocks", "core_memory", "archival_memory"}
)
"""Under these names a document holds its records; one without any is a record itself."""
_SIGNS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    ("mcp-memory", lambda one: "relationType" in one or "observations" in one),
    ("zep", lambda one: "fact" in one and ("uuid" in one or "valid_at" in one)),
    (
        "hindsight",
        lambda one: (
            "fact_type" in one or ("text" in one and ("mentioned_at" in one or "occurred_start" in one))
        ),
    ),
    ("mem0", lambda one: isinstance(one.get("memory"), str)),
    ("letta", lambda one: "text" in one and "archive_id" in one),
)
"""What a record of each system has and others lack."""
