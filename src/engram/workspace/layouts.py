"""Layouts: which files a folder has, how each is read, and where a memory stands in them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from engram.errors import WorkspaceError
from engram.lazily import dataclass
from engram.model.clock import written_moment
from engram.model.facts import Edge
from engram.model.memory import Memory, Status, Type
from engram.model.session import LoopState
from engram.rules.commitments import details_of, tags_of
from engram.workspace import folder, ledger, notes
from engram.workspace.folder import HOME, Stamp
from engram.workspace.pages import (
    Extracts,
    FactLines,
    Fields,
    LedgerLines,
    Note,
    PageKind,
    WholePage,
    one_line,
)
from engram.workspace.text import slug

LEDGER, FILES = "ledger", "files"
LAYOUTS = (LEDGER, FILES)
LEDGER_FILE = "memory/ledger.jsonl"
LOOPS_FILE = "memory/index/open-loops.json"
CHECKPOINT_FILE = "memory/checkpoint.json"
INTEGRITY_FILE = "memory/integrity.json"
INTEGRITY_LOG = "memory/integrity-log.md"
DAMAGED_FILE = "memory/archive/damaged.jsonl"
PACK_FILE = "recall/pack.md"
TRIGGERS_FILE = "recall/triggers.json"
REPORTS = "knowledge/consolidation-reports"
TOPS: Mapping[str, tuple[str, ...]] = {
    LEDGER: ("memory", "knowledge", "recall"),
    FILES: (
        "facts", "corrections", "entities", "artifacts", "archive", "questions", "boxes", "state",
        "profile.md", "IDENTITY.md",
    ),
}  # fmt: skip
"""What of a folder belongs to a layout; everything else is never looked at."""

KINDS: Mapping[str, PageKind] = {
    "note": Note(),
    "event": LedgerLines(),
    "archived": LedgerLines(),
    "extract": Extracts(),
    "facts": FactLines(),
    "procedure": WholePage("Procedure", "Steps"),
    "principle": WholePage("Principle", "Rule"),
    "insight": WholePage("Insight", "The Insight"),
}
_PATTERNS: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    LEDGER: (
        (re.compile(r"^memory/ledger\.jsonl$"), "event"),
        (re.compile(r"^memory/ledger-archive-[^/]+\.jsonl$"), "archived"),
        (re.compile(r"^memory/\d{4}-\d{2}-\d{2}\.md$"), "extract"),
        (re.compile(r"^knowledge/entities/[^/]+\.md$"), "facts"),
        (re.compile(r"^knowledge/procedures/[^/]+\.md$"), "procedure"),
        (re.compile(r"^knowledge/principles/[^/]+\.md$"), "principle"),
        (re.compile(r"^knowledge/insights/[^/]+\.md$"), "insight"),
    ),
    FILES: (
        (re.compile(r"^(?:facts|corrections|artifacts|archive)/.+\.md$"), "note"),
        (re.compile(r"^entities/[^/]+\.md$"), "facts"),
        (re.compile(r"^(?:profile|IDENTITY)\.md$"), "facts"),
    ),
}
PAGE_OF = {"procedure": "procedures", "principle": "principles", "insight": "insights"}
"""Pages that are one memory, and the folder of each."""
SHORT_ID = 6


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands: which file, and what that says of it."""

    path: str
    kind: str
    fields: Fields
    notes: Fields = field(default_factory=dict)
    key: str = ""


def kind_of(path: str, layouts: Sequence[str]) -> str:
    """How a file is read; empty for one that is only written, or is somebody's own.

    >>> kind_of("facts/2026-01-28/fact-1.md", ["files"]), kind_of("README.md", ["files", "ledger"])
    ('note', '')
    """
    for layout in layouts:
        for pattern, kind in _PATTERNS[layout]:
            if pattern.match(path):
                return kind
    return ""


def tops(layouts: Sequence[str]) -> tuple[str, ...]:
    """Everything that these layouts look at."""
    return tuple(top for layout in LAYOUTS if layout in layouts for top in TOPS[layout])


def page_kind(memory: Memory) -> str:
    """Which sort of page a memory has for itself: procedure, principle, insight, or none.

    A page that came from a folder stays what it was there.
    """
    page = memory.details.get("page")
    if isinstance(page, str):
        for kind, folder in PAGE_OF.items():
            if page.startswith(f"knowledge/{folder}/"):
                return kind
        return ""
    if memory.category == "procedure" or (memory.type is Type.PROCEDURE and memory.category == "skill"):
        return "procedure"
    if memory.category == "principle" or (
        memory.category in ("constraint", "instruction") and memory.priority == "P0"
    ):
        return "principle"
    return "insight" if memory.category == "insight" or "insight" in memory.tags else ""


def page_place(memory: Memory, kind: str, taken: Mapping[str, str]) -> Place:
    """The page of a memory that is one; `taken` says whose each page is."""
    page = memory.details.get("page")
    if isinstance(page, str) and page.startswith("knowledge/"):
        path = page
    else:
        name = slug(str(memory.details.get("title") or memory.forms.label or memory.content))
        path = f"knowledge/{PAGE_OF[kind]}/{name}.md"
        if taken.get(path, memory.id) != memory.id:
            path = f"knowledge/{PAGE_OF[kind]}/{name}-{memory.id.replace('-', '')[:SHORT_ID]}.md"
    fields: dict[str, Any] = {"content": memory.content}
    if kind == "principle":
        fields["priority"] = str(memory.priority)
    return Place(path, kind, fields, _page_notes(memory, kind))


def _page_notes(memory: Memory, kind: str) -> dict[str, Any]:
    stored = memory.details.get("page_notes")
    page_notes: dict[str, Any] = dict(stored) if isinstance(stored, Mapping) else {}
    day = f"{memory.local(memory.created_at):%Y-%m-%d}"
    title = str(memory.details.get("title") or memory.forms.label or memory.content)[:80]
    first = {"procedure": "Last updated", "principle": "Established", "insight": "Learned"}[kind]
    return {
        "title": title,
        first: page_notes.get(first) or day,
        "Source": page_notes.get("Source") or memory.source,
        **page_notes,
    }


def note_place(memory: Memory, edges: Sequence[Edge], former: str = "") -> Place:
    """The file of a memory; one that is there already stays where it is unless it is archived or restored."""
    fresh = notes.note_path(memory)
    archived = memory.status is Status.ARCHIVED
    stays = former and former.startswith("archive/") == archived
    return Place(
        former if stays else fresh, "note", notes.note_fields(memory), notes.note_notes(memory, edges)
    )


def event_place(memory: Memory, identity: str, edges: Sequence[Edge], ids: Mapping[str, str]) -> Place:
    """The line of a memory in the ledger."""
    event_notes = ledger.event_notes(memory, identity, edges, ids)
    return Place(LEDGER_FILE, "event", ledger.event_fields(memory), event_notes, key=identity)


def day_place(memory: Memory) -> Place:
    """The item of a memory in the log of its day."""
    day = f"{memory.local(memory.created_at):%Y-%m-%d}"
    fields = {"content": " ".join(memory.content.split()), "priority": str(memory.priority)}
    return Place(f"memory/{day}.md", "extract", fields)


def entity_page(layout: str, name: str, kind: str) -> str:
    """The path of the page about somebody or something."""
    if layout == LEDGER:
        return f"knowledge/entities/{slug(name)}.md"
    sort = kind if kind and kind != "unknown" else "other"
    return f"entities/{slug(sort)}-{slug(name)}.md"


def entity_head(
    layout: str, name: str, kind: str, summary: str, day: str, aliases: Sequence[str] = ()
) -> str:
    """A new page about somebody, with nothing known yet."""
    if layout == LEDGER:
        lines = [f"# {name}", f"*Type: {kind or 'unknown'}*", f"*Last updated: {day}*", ""]
        lines += ["## Summary", summary or name, "", "## Key Facts", "", "## Relationships", ""]
        return "\n".join([*lines, "## Active Context", "", "## History", ""])
    lines = [f"# {name}", "", f"**Type:** {kind or 'other'}", f"**Updated:** {day}", ""]
    lines += ["## Summary", "", summary, ""] if summary else []
    lines += ["## Facts", ""]
    lines += ["## Aliases", "", *(f"- {alias}" for alias in aliases), ""] if aliases else []
    return "\n".join(lines)


# ---------------------------------------------------------------- fields
# What a page says of a memory, and what a person who changes it there wants of the memory.


def _item(memory: Memory, name: str) -> dict[str, Any]:
    item = {"content": notes.item_words(name, memory.content)}
    verified = memory.verified_at
    return item if verified is None else {**item, "verified_at": memory.local(verified).date().isoformat()}


TOLD: Mapping[str, Callable[[Memory, str], dict[str, Any]]] = {
    "note": lambda memory, _: notes.note_fields(memory),
    "event": lambda memory, _: ledger.event_fields(memory),
    "archived": lambda memory, _: ledger.event_fields(memory),
    "extract": lambda memory, _: {"content": one_line(memory.content), "priority": str(memory.priority)},
    "facts": _item,
    "principle": lambda memory, _: {"content": memory.content, "priority": str(memory.priority)},
}


def fields_of(kind: str, memory: Memory, name: str = "") -> dict[str, Any]:
    """What a page of a kind says of a memory; `name` is whom the page is about."""
    return TOLD[kind](memory, name) if kind in TOLD else {"content": memory.content}


def changes_of(memory: Memory, kind: str, wanted: Fields, name: str, now: datetime) -> dict[str, Any]:
    """What changes in a memory when a page of a kind says something else."""
    changes: dict[str, Any] = {}
    for field_name, value in wanted.items():
        match field_name:
            case "content":
                changes["content"] = notes.statement(name, str(value)) if kind == "facts" else str(value)
            case "type":
                changes["category"] = str(value).lower()
            case "status" if kind == "event":
                state = LoopState.DONE if value == "closed" else LoopState.OPEN
                closed = (now, "") if value == "closed" else None
                changes["details"] = details_of(state, memory.details, closed=closed)
                changes["tags"] = tags_of(state, memory.tags)
            case "status":
                changes["status"] = notes.status_of(value)
            case "tags":
                changes["tags"] = notes.tags_of(value)
            case "expires_at":
                changes["expires_at"] = written_moment(str(value)) if value else None
            case "verified_at":
                if seen := written_moment(str(value)) if value else None:
                    changes["verified_at"] = seen
            case _:
                changes[field_name] = value
    return changes


def same_value(name: str, ours: Any, theirs: Any) -> bool:
    """Whether two values of a field mean the same."""
    if name in ("expires_at", "verified_at"):
        times = [written_moment(str(value)) for value in (ours, theirs)]
        return times[0] == times[1]
    if name == "content":
        return str(ours).strip() == str(theirs).strip()
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return list(map(str, ours)) == list(map(str, theirs))
    return bool(ours == theirs)


# ---------------------------------------------------------------- reading a page as records


def page_record(path: str, kind: str, fields: Fields, page_notes: Fields) -> dict[str, Any]:
    """A page that is one memory, as a record."""
    title = str(page_notes.get("title") or "")
    dates = [written_moment(page_notes.get(name)) for name in ("Established", "Learned", "Last updated")]
    at = next((date for date in dates if date is not None), None)
    details: dict[str, Any] = {"page": path, "title": title}
    rest = {name: value for name, value in page_notes.items() if name != "title"}
    if rest:
        details["page_notes"] = rest
    record: dict[str, Any] = {
        "content": fields["content"],
        "category": kind,
        "source": "import",
        "details": details,
    }
    if kind == "procedure":
        record |= {"kind": "procedural", "type": "procedure"}
    if kind == "principle":
        record["priority"] = fields.get("priority") or "P1"
    if at is not None:
        record |= {"created_at": at.isoformat(), "event_time": at.isoformat()}
    return record


SETUP = f"{HOME}/workspace.json"
STATE = f"{HOME}/state.json"
IGNORED = f"{HOME}/.gitignore"
OURS = (SETUP, STATE, IGNORED)
"""What we keep about a folder, beside the files that are kept in step."""
VERSION = 1
SETS = ("dismissed", "logged")


@dataclass(frozen=True, slots=True)
class Setup:
    """How a folder is set up; a person may read and change the file."""

    layouts: tuple[str, ...]
    tiers: tuple[str, ...] = ("clear",)
    """Which memories may stand in files."""
    scope: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    """The day from which on the log of each day is written."""
    id: str = ""
    """What the memory knows the folder by, wherever it is moved."""


@dataclass
class Known:
    """One piece of a file as it was when both sides agreed."""

    memory: str
    file: Fields
    """What the file said."""
    mind: Fields = field(default_factory=dict)
    """What the memory said, as far as it differs."""
    clash: str = ""
    """The id of the memory that holds the other version, while nobody has chosen."""
    own: bool = False
    """Whether a person wrote it here first."""
    old: bool = False
    """Whether a later event of the same memory has taken its place."""

    @property
    def agreed(self) -> dict[str, Any]:
        """What the memory said, in full."""
        return {**self.file, **self.mind}


@dataclass
class KnownFile:
    """One file as it was when both sides agreed."""

    kind: str = ""
    stamp: Stamp | None = None
    pieces: dict[str, Known] = field(default_factory=dict)
    digest: str = ""
    text: str | None = None
    """The whole text, of a page that is only written."""


@dataclass
class FolderState:
    """Everything the two sides agreed on."""

    place: str = ""
    """The last event of the memory that was looked at."""
    files: dict[str, KnownFile] = field(default_factory=dict)
    dismissed: set[str] = field(default_factory=set)
    """Memories whose files a person took away after they were over: they are not written again."""
    logged: set[str] = field(default_factory=set)
    """Memories that stand, or stood, in the log of a day."""
    compacted: str = ""
    """When the ledger was last shortened."""
    rebuilt: str = ""
    """When everything was last compared, and what is derived made anew."""
    owner: str = ""
    """Which memory agreed: another one has to compare everything."""

    def places(self) -> dict[str, list[tuple[str, str]]]:
        """Of each memory the files and pieces it stands in."""
        places: dict[str, list[tuple[str, str]]] = {}
        for path, file in self.files.items():
            for key, piece in file.pieces.items():
                if piece.memory:
                    places.setdefault(piece.memory, []).append((path, key))
        return places

    def pieces(self) -> Iterator[tuple[str, str, Known]]:
        """Every piece with its file and its key."""
        for path, file in self.files.items():
            for key, piece in file.pieces.items():
                yield path, key, piece


def load_setup(root: Path) -> Setup:
    """How a folder is set up. Raises WorkspaceError when it is no workspace."""
    data = _read(root, SETUP)
    if data is None:
        raise WorkspaceError(f"{root} is no workspace: `engram workspace init {root}` makes it one.")
    values: dict[str, Any] = {key.name: data[key.name] for key in fields(Setup) if data.get(key.name)}
    values |= {name: tuple(values[name]) for name in ("layouts", "tiers") if name in values}
    return replace(Setup(()), **values)


def save_setup(root: Path, setup: Setup) -> None:
    """Keep how the folder is set up."""
    values = {"version": VERSION, **{setting.name: getattr(setup, setting.name) for setting in fields(Setup)}}
    _write(root, IGNORED, "*\n")
    _write(root, SETUP, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def drop_setup(root: Path) -> None:
    """Take away what we keep about a folder; its own files stay."""
    for name in OURS:
        (root / name).unlink(missing_ok=True)


def load_state(root: Path, owner: str) -> FolderState:
    """What was agreed on; nothing when that was lost or with another memory: then all is compared anew."""
    data = _read(root, STATE)
    if data is None or data.get("version") != VERSION or data.get("owner") != owner:
        return FolderState(owner=owner)
    files = {path: _file(**stored) for path, stored in data.get("files", {}).items()}
    values: dict[str, Any] = {name: str(data.get(name, "")) for name in ("place", "compacted", "rebuilt")}
    values |= {name: set(data.get(name, ())) for name in SETS}
    return FolderState(files=files, owner=owner, **values)


def _file(pieces: Mapping[str, Any], stamp: Sequence[int] = (), **more: Any) -> KnownFile:
    known_pieces = {key: Known(**piece) for key, piece in pieces.items()}
    return KnownFile(stamp=Stamp(*stamp) if stamp else None, pieces=known_pieces, **more)


def save_state(root: Path, state: FolderState) -> None:
    """Keep what was agreed on, in one step."""
    values = {
        "version": VERSION,
        **vars(state),
        "files": {path: _plain(file) for path, file in state.files.items()},
        **{name: sorted(getattr(state, name)) for name in SETS},
    }
    _write(root, STATE, json.dumps(values, ensure_ascii=False, separators=(",", ":")))


def _plain(file: KnownFile) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": file.kind, "digest": file.digest}
    if file.stamp is not None:
        values["stamp"] = [file.stamp.size, file.stamp.modified, file.stamp.inode]
    if file.text is not None:
        values["text"] = file.text
    return {**values, "pieces": {key: _piece(piece) for key, piece in file.pieces.items()}}


def _piece(item: Known) -> dict[str, Any]:
    mind = {
        name: value for name, value in item.mind.items() if name not in item.file or item.file[name] != value
    }
    seldom = {"mind": mind, "clash": item.clash, "own": item.own, "old": item.old}
    rest = {name: value for name, value in seldom.items() if value}
    return {"memory": item.memory, "file": dict(item.file), **rest}


def digest(text: str) -> str:
    """A mark of a text."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _read(root: Path, name: str) -> dict[str, Any] | None:
    try:
        data = json.loads((root / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WorkspaceError(
            f"{root / name} is damaged ({error}): remove it, and sync compares everything."
        ) from error
    return data if isinstance(data, dict) else None


def _write(root: Path, name: str, text: str) -> None:
    (root / HOME).mkdir(parents=True, exist_ok=True)
    for _ in range(3):
        if folder.write(root, name, text, folder.stamp(root, name), durable=True) is not None:
            return
    raise WorkspaceError(f"{name} is written by somebody else at the same time.")
