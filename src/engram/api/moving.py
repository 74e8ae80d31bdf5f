"""Moving in: what another system kept comes in as it was there, with ids, times, status, users and relations.

    which system → records → taken in as one run, item by item → a report

Known ids are left as they are, so a move that was cut off is simply asked for again; `undo` of its run takes
all of it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from engram.api.caller import CallerContext
from engram.api.commitments import Triggers
from engram.api.import_records import id_of, import_records
from engram.api.workspace_views import take_triggers
from engram.capture.sources import chats, files, homes
from engram.capture.sources.files import BEGINNING, refused, unreadable
from engram.capture.sources.homes import OF_JSON, Record, Told
from engram.errors import BadSource, UnknownFormat, UnknownValue
from engram.model.capture import Fate, IngestReport, ItemReport
from engram.model.memory import SOURCE_LENGTH_LIMIT, TAG_LIMIT
from engram.model.plain import plain
from engram.model.scope import Scope
from engram.store.sqlite import connection
from engram.text import re
from engram.workspace import folder, ledger, notes
from engram.workspace import layouts as layout
from engram.workspace.layouts import FILES, KINDS, LEDGER
from engram.workspace.pages import event_line, one_line, page_parts
from engram.workspace.text import split_front

AUTO = "auto"
CHATS = ("chatgpt", "claude")
"""Exports of chats: they are listened to, as `sources.file` does."""
SYSTEMS = (AUTO, LEDGER, FILES, "engram-rs", "retention", *OF_JSON, "basic-memory", *CHATS, "csv", "jsonl")
_DAY = re.compile(r"^memory/(\d{4}-\d{2}-\d{2})\.md$")
_CLOCK = re.compile(r"^(\d{1,2}:\d{2})\b")
LONGEST_NAME = 200


class Placing(NamedTuple):
    """Where all of it goes, if not where it was; and tags it gets."""

    scope: Scope | None = None
    tags: tuple[str, ...] = ()


def move_in(  # noqa: PLR0913 - each is a thing to say of a move
    caller: CallerContext,
    path: Path,
    system: str,
    mapping: Mapping[str, str],
    place: Placing,
    *,
    dry: bool,
    progress: Callable[[int, int], None] | None,
) -> IngestReport:
    """Take in what lies at a path. Raises UnknownValue, UnknownFormat, BadSource or OSError."""
    if system not in SYSTEMS:
        raise UnknownValue("system", system, SYSTEMS)
    chosen = system if system != AUTO else system_at(path, mapping)
    told = list(_records(path, chosen, mapping))
    records = [one for one in told if not isinstance(one, ItemReport)]
    placed = [_placed(record, place) for record in records]
    total = len(placed)
    done = [0]

    def more(count: int) -> None:
        done[0] += count
        if progress is not None:
            progress(done[0], total)

    imported = import_records(caller, placed, dry=dry, within_run=True, refuse_others=True, progress=more)
    if chosen == LEDGER and not dry:
        _triggers(caller, path)
    here = {at: one for at, one in enumerate(imported.ids) if one}
    errors = {refusal.index: refusal.error for refusal in imported.refused}
    items = _reports(told, here, frozenset(imported.taken), errors, dry=dry)
    return IngestReport(tuple(items), dry, chosen, imported.run, imported.related)


def system_at(path: Path, mapping: Mapping[str, str]) -> str:
    """Which system a folder or a file comes from. Raises UnknownFormat."""
    if path.is_dir():
        return _folder_system(path)
    if connection.is_database(path):
        rows = connection.tables(path, ["memories"]).get("memories")
        if rows is None:
            raise BadSource(path.name, "a memory's database", "it has no table `memories`")
        columns = set(rows[0]) if rows else set()
        return "retention" if "source_type" in columns else "engram-rs"
    is_table = path.suffix.lower() in (".csv", ".tsv")
    if named := "csv" * is_table or CHATS[0] * files.is_archive(path) or "jsonl" * bool(mapping):
        return named
    text = files.read_text(path)
    if ledger.events_in(text[:100_000]) and '"EVT-' in text[:100_000]:
        return LEDGER
    data = _data(text, path.name)
    heard = next((one for one in chats.EXPORTS if chats.is_export(one, data)), "")
    found = heard or homes.system_of(data)
    if not found:
        raise UnknownFormat(
            path.name, "it is of no system that is known: say which, or map its columns", SYSTEMS
        )
    return found


def _folder_system(path: Path) -> str:
    if (path / "memory" / "ledger.jsonl").is_file():
        return LEDGER
    if (path / "facts").is_dir() or (path / "profile.md").is_file():
        return FILES
    if any(path.rglob("*.md")):
        return "basic-memory"
    raise UnknownFormat(path.name, "the folder is of no system that is known", SYSTEMS)


def _data(text: str, name: str) -> Any:
    """The JSON of a file, or the values of JSON Lines."""
    try:
        data = json.loads(text)
    except ValueError:
        return [value for _, value in files.json_lines(text, f"{name}:")]
    alone = isinstance(data, dict) and not any(container in data for container in homes.CONTAINERS)
    return [data] if alone else data


def _records(path: Path, system: str, mapping: Mapping[str, str]) -> Iterator[Told]:
    if system == LEDGER:
        yield from _ledger(path)
    elif system == FILES:
        yield from _notes(path)
    elif system == "basic-memory":
        yield from _basic(path)
    elif system in ("engram-rs", "retention"):
        wanted = connection.tables(path, ["memories", "facts", "trash"])
        yield from homes.engram_rs(wanted) if system == "engram-rs" else homes.retention(wanted)
    elif system in ("csv", "jsonl"):
        yield from homes.table(files.read_text(path), mapping, lines=system == "jsonl")
    else:
        data = _data(files.read_text(path), path.name)
        if isinstance(data, list):
            yield from (one for one in data if isinstance(one, ItemReport))
            data = [one for one in data if not isinstance(one, ItemReport)]
        if system == "mcp-memory" and isinstance(data, Mapping):
            data = [
                *(data.get("entities") or ()),
                *({"type": "relation", **one} for one in data.get("relations") or ()),
            ]
        yield from OF_JSON[system](data)


# ---------------------------------------------------------------- folders


def _ledger(path: Path) -> Iterator[Told]:
    """A folder of the ledger layout, or a ledger alone."""
    if path.is_file():
        yield from _events([(path.name, files.read_text(path))])
        return
    found = sorted(folder.list_files(path, layout.TOPS[LEDGER]))
    lines = [one for one in found if one.startswith("memory/ledger") and one.endswith(".jsonl")]
    texts = [(line, folder.read(path, line)[0]) for line in lines]
    yield from _events(texts)
    # What a day's log says and became an event, also one that is over by now, is that event.
    seen = {one_line(event["content"]) for _, text in texts for event in ledger.events_in(text)}
    for name in found:
        kind = layout.kind_of(name, [LEDGER])
        if kind in ("", "event", "archived"):
            continue
        text = folder.read(path, name)[0]
        for record in _page(name, kind, text):
            if one_line(record["content"]) not in seen:
                seen.add(one_line(record["content"]))
                yield record


def _events(texts: Sequence[tuple[str, str]]) -> Iterator[Told]:
    events: dict[str, dict[str, Any]] = {}
    for name, text in texts:
        for number, line in files.lines(text):
            event = event_line(line)
            if event is None:
                yield unreadable(f"{name}:{number}", number, "it is no event with an id and words.")
            else:
                events.setdefault(str(event["id"]), event)
    for record in ledger.records(list(events.values())):
        yield {"origin": f"ledger:{record['id']}", **record}


def _in_file(name: str, record: Record, key: str = "") -> Record:
    """A record of what stands in a file, known by the file and its words."""
    origin = f"{name}#{key}" if key else name
    return {"origin": origin, "id": id_of(f"{name}\n{record['content']}"), **record}


def _of_day(name: str, words: str, at: str, **more: str) -> Record:
    """A record of what the log of a day says, dated by its file."""
    return {"content": words, **more, "event_time": at, "created_at": at, "details": {"page": name}}


def _page(name: str, kind: str, text: str) -> Iterator[Record]:
    """The memories in a page of the ledger layout, and the free text of a day."""
    pieces = KINDS[kind].pieces(text)
    if kind in layout.PAGE_OF:
        for piece in pieces:
            yield _in_file(name, layout.page_record(name, kind, piece.fields, piece.notes))
        return
    whom = notes.entity_name(text)[0] if kind == "facts" else ""
    day = _DAY.match(name)
    for piece in pieces:
        if kind == "extract" and day:
            words, priority = (str(piece.fields[field]) for field in ("content", "priority"))
            at = f"{day[1]}T12:00:00+00:00"
            record: Record | None = _of_day(name, words, at, priority=priority, source="import")
        else:
            record = notes.item_record(piece, whom, name)
        if record is not None:
            yield _in_file(name, record, piece.key)
    if day:
        yield from _free_text(name, text, day[1])


def _free_text(name: str, text: str, day: str) -> Iterator[Record]:
    """What was written in the log of a day beside its extracts: kept as reference, dated by its file."""
    body = page_parts(text)[2]
    taken = {str(piece.fields["content"]) for piece in KINDS["extract"].pieces(text)}
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line for line in paragraph.split("\n") if line.strip() and not line.startswith("#")]
        words = "\n".join(line for line in lines if not any(one in line for one in taken)).strip()
        if words:
            clock = _CLOCK.match(words)
            at = f"{day}T{clock[1].zfill(5) if clock else '12:00'}:00+00:00"
            source = f"document:{name}"[:SOURCE_LENGTH_LIMIT]
            yield _in_file(name, _of_day(name, words, at, category="reference", source=source), words[:40])


def _notes(path: Path) -> Iterator[Told]:
    """A folder of the files layout."""
    for name in sorted(folder.list_files(path, layout.TOPS[FILES])):
        kind = layout.kind_of(name, [FILES])
        if not kind and not name.startswith("questions/"):
            continue
        text = folder.read(path, name)[0]
        if name.startswith("questions/"):
            body = split_front(text)[1].strip()
            if body:
                yield _in_file(name, {"content": body, "category": "question", "source": "import"})
        elif kind == "note":
            for piece in KINDS["note"].pieces(text):
                yield _in_file(name, notes.note_record(piece, name))
        else:
            whom = notes.entity_name(text)[0] if "/" in name else ""
            for piece in KINDS["facts"].pieces(text):
                item = notes.item_record(piece, whom, name)
                if item is not None:
                    if not whom:
                        del item["category"]
                    yield _in_file(name, item, piece.key)


def _basic(path: Path) -> Iterator[Told]:
    """Notes of basic-memory, one or a folder of them."""
    root, names = (path, list[str]()) if path.is_dir() else (path.parent, [path.name])
    for top in () if names else sorted(one.name for one in root.iterdir() if not one.name.startswith(".")):
        names += (name for name in folder.list_files(root, [top]) if name.endswith(".md"))
    for name in sorted(names):
        front, body = split_front(folder.read(root, name)[0])
        yield from homes.basic_memory(body, name, front.values() if front else {})


def _triggers(caller: CallerContext, path: Path) -> None:
    """Words that load pages come along; a file that is none is passed over."""
    with suppress(OSError, ValueError):
        data = json.loads((path / layout.TRIGGERS_FILE).read_text(encoding="utf-8"))
        told = data.get("triggers") if isinstance(data, dict) else None
        take_triggers(Triggers(caller), told if isinstance(told, list) else [], may_remove=False)


# ---------------------------------------------------------------- the report


def _placed(record: Record, place: Placing) -> Record:
    told = {name: value for name, value in record.items() if name != "origin"}
    if "id" not in told:
        told["id"] = id_of(f"{record['origin']}\n{record.get('content')}"[:10_000])
    if place.tags:
        told["tags"] = tuple(dict.fromkeys((*place.tags, *told.get("tags", ()))))[:TAG_LIMIT]
    return told if place.scope is None else {**told, "scope": plain(place.scope)}


def _reports(
    told: Sequence[Told],
    ids: Mapping[int, str],
    fresh: frozenset[str],
    errors: Mapping[int, Any],
    *,
    dry: bool,
) -> Iterator[ItemReport]:
    index = -1
    for one in told:
        if isinstance(one, ItemReport):
            yield one
            continue
        index += 1
        origin, text = str(one["origin"])[:LONGEST_NAME], str(one.get("content") or "")[:BEGINNING]
        if index in errors:
            yield replace(refused(origin, errors[index]), text=text)
        elif index in ids and (dry or ids[index] not in fresh):
            yield ItemReport(origin, Fate.UNCHANGED, (ids[index],), "it is here already", text=text)
        else:
            memories = (ids[index],) if index in ids else ()
            yield ItemReport(
                origin, Fate.STORED, memories, f"as it was, {one.get('status') or 'active'}", text=text
            )
