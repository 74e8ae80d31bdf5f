"""Reading a workspace: what a person changed in files comes in, and the memory is changed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from engram.api.caller import CallerContext
from engram.api.conflicts import Conflicts
from engram.api.import_records import id_of, import_records
from engram.capture import change
from engram.errors import InvalidInput, NotFound, WorkspaceError
from engram.lazily import dataclass
from engram.model.capture import Draft
from engram.model.clock import written_moment
from engram.model.facts import EdgeType
from engram.model.memory import ANY_STATUS, Memory, Policy, Priority, Status
from engram.model.plain import plain, scope_from
from engram.ports import View
from engram.text.words import content_hash
from engram.workspace import folder, ledger, notes
from engram.workspace import layouts as layout
from engram.workspace.folder import Stamp
from engram.workspace.layouts import (
    KINDS,
    LEDGER,
    FolderState,
    Known,
    KnownFile,
    Setup,
    changes_of,
    digest,
    fields_of,
    kind_of,
    same_value,
)
from engram.workspace.pages import Edit, Fields, Piece, keep_keys, one_line

ACTOR = "human"
PAGE = 1_000
MOST_GONE = 0.5
"""When more than this share of the files is missing at once, nobody meant to forget all that."""
REBUILT_EVERY = timedelta(days=7)
FEW = 10
"""Up to so many missing files are believed whatever their share."""
STANDING = frozenset({Status.ACTIVE, Status.CHALLENGED})
EVENT_ORIGIN = "event:"
LINES = frozenset({"event", "archived"})
"""Kinds of files whose pieces are events."""
ITEMS = frozenset({"facts", "extract"})
"""Kinds of pages whose pieces are list items, known by their words."""


@dataclass(frozen=True, slots=True)
class SyncConflict:
    """Something that changed on both sides."""

    path: str
    memory: str
    because: str
    other: str = ""
    """The id of the memory that holds the version of the file; empty where there is none."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, or would do."""

    folder: str
    created: tuple[str, ...] = ()
    """Memories that files brought."""
    updated: tuple[str, ...] = ()
    """Memories that a person changed in a file."""
    forgotten: tuple[str, ...] = ()
    """Memories that were archived because their file or line was deleted."""
    written: tuple[str, ...] = ()
    """Files that were written."""
    removed: tuple[str, ...] = ()
    """Files that were taken away."""
    conflicts: tuple[SyncConflict, ...] = ()
    """What changed on both sides and waits for somebody to choose."""
    problems: tuple[str, ...] = ()
    """What could not be read or written, in words."""
    files: int = 0
    dry: bool = False

    @property
    def changes(self) -> int:
        """How much changed on either side."""
        return sum(map(len, (self.created, self.updated, self.forgotten, self.written, self.removed)))


# ---------------------------------------------------------------- reading


@dataclass
class FileChange:
    """What a file says of a memory that it did not say before."""

    path: str
    kind: str
    piece: Piece
    known: Known


@dataclass
class NewPiece:
    """A piece of a file that nobody knew."""

    path: str
    kind: str
    piece: Piece
    name: str = ""
    """Whom the page is about."""


Gone = dict[str, list[tuple[str, str]]]
"""Memories that are missing in the folder: where each stood, by file and key."""


class FolderReader:
    """Reads what a person changed in a folder and changes the memory. Lives for one call, in one thread."""

    def __init__(
        self, caller: CallerContext, root: Path, setup: Setup, state: FolderState, *, full: bool, dry: bool
    ) -> None:
        self.caller = CallerContext(caller.tools, caller.access, ACTOR, caller.opened)
        self.root = root
        self.setup = setup
        self.dry = dry
        self.scope = scope_from(setup.scope) if setup.scope else caller.access.scope
        self.access = caller.at(self.scope) if setup.scope else caller.access
        self.state = state
        self.full = full or not self.state.place or self._is_due()
        self.done: defaultdict[str, list[Any]] = defaultdict(list)
        """What has been done so far, by the names of the report."""
        self.dirty = False
        """Whether there is something new to keep about the files."""
        self.texts: dict[str, str] = {}
        self.stamps: dict[str, Stamp] = {}
        self.touched: set[str] = set()
        """Memories whose places are looked at again."""
        self.edits: dict[str, list[tuple[Edit, Known | None]]] = {}
        self.cache: dict[str, Memory | None] = {}
        self.events = ledger.EventIds()
        self._where: dict[str, list[tuple[str, str]]] | None = None
        self._clashes: set[str] | None = None
        self._became: dict[str, str] | None = None
        """The event of each content that the ledger tells."""

    def _is_due(self) -> bool:
        """Whether a week has gone by since everything was compared: what drifted unseen is put right then."""
        last = self.state.rebuilt
        return bool(last) and self.caller.tools.here() - datetime.fromisoformat(last) > REBUILT_EVERY

    def changed_ids(self) -> set[str]:
        """The memories that changed since the last sync; at first, all."""
        if not self.full:
            return self._since(self.state.place)
        every = self.caller.tools.store.memories.every(View(self.access, ANY_STATUS))
        memories = {memory.id: memory for memory in every}
        self.cache |= memories
        return {*memories, *self.state.places()}

    def _since(self, place: str) -> set[str]:
        changed: set[str] = set()
        while events := self.caller.tools.store.ledger.after(place, self.access, PAGE):
            changed.update(id_ for event in events for id_ in (event.memory, event.related) if id_)
            place = events[-1].id
        return changed

    def _get(self, memory_id: str, *, again: bool = False) -> Memory | None:
        if again or memory_id not in self.cache:
            self.cache[memory_id] = self.caller.tools.store.memories.get(memory_id, self.access)
        return self.cache[memory_id]

    def _number_events(self) -> None:
        if LEDGER not in self.setup.layouts:
            return
        known = self.caller.tools.store.origins.known(self.caller.access.scope, EVENT_ORIGIN)
        for origin in sorted(known):
            identity, memory_id = origin.removeprefix(EVENT_ORIGIN), known[origin][0]
            self.events.memories[identity], self.events.of[memory_id] = memory_id, identity
        for _, key, piece in self.state.pieces():
            if piece.memory and ledger.ID.match(key):
                self.events.memories.setdefault(key, piece.memory)
        self.events.taken(self.events.memories)
        for path in sorted(self.stamps):
            if path.startswith("memory/") and path.endswith(".jsonl"):
                with suppress(WorkspaceError):
                    self.events.taken(str(one["id"]) for one in ledger.events_in(self._text(path)))

    def _text(self, path: str) -> str:
        if path not in self.texts:
            self.texts[path], self.stamps[path] = folder.read(self.root, path)
        return self.texts[path]

    def _readable(self, path: str) -> str | None:
        """The text of a file; None for one that cannot be read, which is told."""
        try:
            return self._text(path)
        except WorkspaceError as error:
            self.done["problems"].append(error.message)
            return None

    def _pieces(self, kind: str, text: str, known: KnownFile) -> list[Piece]:
        """The pieces of a text, list items under the keys that they had."""
        pieces = KINDS[kind].pieces(text)
        return keep_keys(_by_key(known), pieces) if kind in ITEMS else pieces

    def _fields(self, path: str, kind: str, memory: Memory) -> Fields:
        """What a file says of a memory as it is now."""
        return fields_of(kind, memory, self._page_name(path, kind))

    def _read(self) -> tuple[list[FileChange], list[NewPiece], Gone]:
        """What changed in files, what is new there, and which pieces are gone."""
        changes: list[FileChange] = []
        new: list[NewPiece] = []
        gone: Gone = {}
        for path in sorted(self.stamps):
            kind = kind_of(path, self.setup.layouts)
            file = self.state.files.get(path)
            if not kind or (file is not None and file.stamp == self.stamps[path] and not self.full):
                continue
            text = self._readable(path)
            if text is None:
                continue
            if file is not None and file.digest == digest(text):
                file.stamp = self.stamps[path]
                self.dirty = True
            else:
                self._compare(path, kind, text, file or KnownFile(kind), (changes, new, gone))
        for path, file in [*self.state.files.items()]:
            if file.kind and not kind_of(path, self.setup.layouts):
                del self.state.files[path]  # of a layout that is kept no longer: its files are theirs
            elif path not in self.stamps:
                for key, piece in file.pieces.items():
                    gone.setdefault(piece.memory, []).append((path, key))
        self._follow_moves(changes, new, gone)
        return changes, new, gone

    def _compare(
        self,
        path: str,
        kind: str,
        text: str,
        known: KnownFile,
        into: tuple[list[FileChange], list[NewPiece], Gone],
    ) -> None:
        changes, new, gone = into
        pieces = self._pieces(kind, text, known)
        name = notes.entity_name(text)[0] if kind == "facts" and path.count("/") else ""
        for piece in pieces:
            before = known.pieces.get(piece.key)
            if before is None:
                new.append(NewPiece(path, kind, piece, name))
            elif before.clash or piece.clash or (not before.old and _differs(piece.fields, before.file)):
                changes.append(FileChange(path, kind, piece, before))
        there = {piece.key: piece for piece in pieces}
        for key, before in [*known.pieces.items()]:
            if key in there or before.old:
                continue
            same = {key for key, piece in known.pieces.items() if piece.old and piece.memory == before.memory}
            former = same & there.keys()
            if former:
                # The last word was taken away: what it had superseded holds again.
                was = known.pieces[max(former)]
                was.old, was.file, was.mind = False, before.file, before.mind
                self.events.of[before.memory] = max(former)
                del known.pieces[key]
                changes.append(FileChange(path, kind, there[max(former)], was))
            else:
                gone.setdefault(before.memory, []).append((path, key))
        file = self.state.files.setdefault(path, KnownFile(kind))
        file.stamp, file.digest = self.stamps[path], digest(text)
        self.dirty = True

    def _follow_moves(self, changes: list[FileChange], new: list[NewPiece], gone: Gone) -> None:
        """A file that stands elsewhere now was moved, not deleted and written anew."""
        for item in [*new]:
            if item.kind != "note" or not item.piece.notes.get("id"):
                continue
            memory_id = id_of(str(item.piece.notes["id"]))
            for path, key in [*gone.get(memory_id, ())]:
                before = self.state.files[path].pieces.get(key)
                if before is None or self.state.files[path].kind != "note":
                    continue
                gone[memory_id].remove((path, key))
                del self.state.files[path]
                self.state.files[item.path].pieces[item.piece.key] = before
                new.remove(item)
                if _differs(item.piece.fields, before.file):
                    changes.append(FileChange(item.path, item.kind, item.piece, before))
                break
            if memory_id in gone and not gone[memory_id]:
                del gone[memory_id]

    def _believed(self, gone: Gone, *, accept_deletions: bool) -> Gone:
        """What is gone, unless so much is gone at once that something else must have happened."""
        known = len(self.state.places())
        if accept_deletions or len(gone) <= FEW or len(gone) <= known * MOST_GONE:
            return gone
        self.done["problems"].append(
            f"{len(gone):,} of {known:,} memories are missing in the folder at once: nothing was forgotten, "
            "and their files are written again. If it was meant, delete them and sync with accept_deletions."
        )
        for places in gone.values():
            for path, key in places:
                self.state.files[path].pieces.pop(key, None)
        self.touched |= gone.keys()
        return {}

    def _create(self, new: Sequence[NewPiece]) -> None:
        """Bring in what files have and the memory lacks: first what has an id, then list items."""
        good = [piece for piece in new if not piece.piece.clash]
        events = self._events_told() if any(item.kind in LINES for item in good) else []
        by_id = {str(record["id"]): record for record in ledger.records(events)}
        named = [item for item in good if item.kind in LINES or item.kind == "note"]
        fresh = [item for item in named if not self._bind(item)]
        self._bring_in(
            [(item, by_id[item.piece.key] if item.kind in LINES else self._record(item)) for item in fresh]
        )
        pages: list[tuple[NewPiece, dict[str, Any]]] = []
        for item in good:
            if item.kind in layout.PAGE_OF and not self._bind(item):
                same = self._same(str(item.piece.fields["content"]))
                if same is None:
                    pages.append((item, self._record(item)))
                else:
                    self._know(item, same)
        self._bring_in(pages)
        for item in good:
            if item.kind in ITEMS:
                self._create_item(item)

    def _events_told(self) -> list[dict[str, Any]]:
        """Every event of the folder: what is over is known only from what came after it."""
        found: list[dict[str, Any]] = []
        for path in sorted(self.stamps):
            if path.startswith("memory/ledger") and path.endswith(".jsonl"):
                found += ledger.events_in(self._text(path))
        return found

    def _record(self, item: NewPiece) -> dict[str, Any]:
        if item.kind == "note":
            record = notes.note_record(item.piece, item.path)
            if "id" not in record:
                record |= {"id": id_of(f"{item.path}\n{record['content']}"), "source": "human"}
            return record
        record = layout.page_record(item.path, item.kind, item.piece.fields, item.piece.notes)
        return {**record, "id": id_of(f"{item.path}\n{record['content']}")}

    def _bind(self, item: NewPiece) -> bool:
        """Whether the memory is known already: then the two are only joined, or differ and are shown."""
        memory_id = self.events.memories.get(item.piece.key, "") if item.kind in LINES else ""
        named = item.piece.key if item.kind in LINES else str(item.piece.notes.get("id") or "")
        if not memory_id and named:
            memory_id = id_of(named)
        if not memory_id and item.kind in layout.PAGE_OF:
            memory_id = id_of(f"{item.path}\n{item.piece.fields['content']}")
        memory = self._get(memory_id, again=True) if memory_id else None
        if memory is None:
            return False
        mind = fields_of(item.kind, memory, item.name)
        known = Known(memory.id, dict(item.piece.fields), mind)
        self.state.files[item.path].pieces[item.piece.key] = known
        if item.kind in LINES:
            self.events.read(memory.id, item.piece.key)
        self.touched.add(memory.id)
        if one_line(mind["content"]) != one_line(item.piece.fields["content"]) and not known.old:
            if item.kind == "archived" or (
                item.kind == "event" and self.events.of[memory.id] != item.piece.key
            ):
                known.old = True
            else:
                # Without a memory of what both agreed on nobody can say which is newer.
                known.file = {**item.piece.fields, "content": ""}
                known.mind = {**mind, "content": ""}
                self._merge(memory, [FileChange(item.path, item.kind, item.piece, known)])
        return True

    def _bring_in(self, records: Sequence[tuple[NewPiece, dict[str, Any]]]) -> None:
        if not records:
            return
        scope = {"scope": plain(self.scope)} if self.setup.scope else {}
        imported = import_records(self.caller, [{**record, **scope} for _, record in records])
        for refusal in imported.refused:
            item = records[refusal.index][0]
            self.done["problems"].append(f"{item.path}: {refusal.error.message}")
        fresh = set(imported.taken)
        for (item, _), memory_id in zip(records, imported.ids, strict=True):
            memory = self._get(memory_id, again=True) if memory_id else None
            if memory is None:
                continue
            if memory_id in fresh:
                self.done["created"].append(memory_id)
            self._know(item, memory)

    def _know(self, item: NewPiece, memory: Memory) -> None:
        own = Known(memory.id, dict(item.piece.fields), fields_of(item.kind, memory, item.name), own=True)
        self.state.files[item.path].pieces[item.piece.key] = own
        if item.kind in LINES:
            self.events.read(memory.id, item.piece.key)
            if id_of(item.piece.key) != memory.id:
                self.events.join(memory.id, item.piece.key)
        if item.kind == "extract":
            self.state.logged.add(memory.id)
        self.touched.add(memory.id)

    def _create_item(self, item: NewPiece) -> None:
        """An item somebody wrote: the memory that says the same, or a new one."""
        words = str(item.piece.fields["content"])
        draft = self._item_draft(item)
        if draft is None:
            return
        memory = self._same(draft.content) or self._same(words) or self._extracted(item)
        try:
            if memory is None:
                placed = replace(draft, scope=self.scope) if self.setup.scope else self.caller.mine(draft)
                receipt = self.caller.write([placed])[0]
                memory = receipt.memory
                self.done["created"].append(memory.id)
                self.touched.update(filter(None, (memory.id, receipt.other)))
            verified = written_moment(item.piece.fields.get("verified_at"))
            if verified and (memory.verified_at is None or memory.verified_at.date() != verified.date()):
                changes, because = {"verified_at": verified}, f"verified in {item.path}"
                memory = change.revise(memory.id, changes, self.caller.tools, ACTOR, because)
        except InvalidInput as error:
            self.done["problems"].append(f"{item.path}: {error.message}")
            return
        self.cache[memory.id] = memory
        self._know(item, memory)

    def _extracted(self, item: NewPiece) -> Memory | None:
        """The memory that a line of a day's log became before, whatever it says by now."""
        if item.kind != "extract":
            return None
        if self._became is None:
            told = reversed(self._events_told())
            self._became = {one_line(event["content"]): str(event["id"]) for event in told}
        identity = self._became.get(one_line(item.piece.fields["content"]), "")
        return self._get(self.events.memories.get(identity) or id_of(identity)) if identity else None

    def _item_draft(self, item: NewPiece) -> Draft | None:
        words = str(item.piece.fields["content"])
        if item.kind == "extract":
            day = date.fromisoformat(Path(item.path).stem)
            priority = Priority(item.piece.fields["priority"])
            lesser = priority in (Priority.P2, Priority.P3)
            at = datetime(day.year, day.month, day.day, 12, tzinfo=self.caller.tools.zone)
            now = self.caller.tools.here()
            return Draft(
                words,
                priority=priority,
                # Who says P2 or P3 says that it may go in time.
                policy=Policy.DURABLE if lesser else None,
                event_time=at if day != now.date() else now,
                details={"source": item.path},
            )
        record = notes.item_record(item.piece, item.name, item.path)
        if record is None:
            return None
        return Draft(
            str(record["content"]),
            category=record["category"] if item.name else None,
            details=record["details"],
            event_time=written_moment(record.get("event_time")),
        )

    def _same(self, content: str) -> Memory | None:
        words = content_hash(content)
        return self.caller.tools.store.write(lambda unit: unit.same_content(words, self.scope), ACTOR)

    def _apply(self, changes: Sequence[FileChange], gone: Gone) -> None:
        by_memory: dict[str, list[FileChange]] = {}
        for one in changes:
            by_memory.setdefault(one.known.memory, []).append(one)
        for memory_id, changed in by_memory.items():
            self.touched.add(memory_id)
            memory = self._get(memory_id, again=True)
            if memory is not None:
                self._merge(memory, changed)
            else:  # it was erased: what a person wrote is a new statement
                for one in changed:
                    self._revive(one)
        for memory_id, places in gone.items():
            self._forget(memory_id, places, edited=memory_id in by_memory)

    def _revive(self, one: FileChange) -> None:
        del self.state.files[one.path].pieces[one.piece.key]
        without_id = {name: value for name, value in one.piece.notes.items() if name != "id"}
        self._create([NewPiece(one.path, one.kind, replace(one.piece, notes=without_id))])

    def _merge(self, memory: Memory, changes: Sequence[FileChange]) -> None:
        """Take over what a person changed; what changed on both sides is shown instead."""
        for one in changes:
            if one.known.clash or one.piece.clash:
                self._choose(one)
                continue
            memory = self._get(memory.id, again=True) or memory
            name = self._page_name(one.path, one.kind)
            mind = fields_of(one.kind, memory, name)
            edited = {f: v for f, v in one.piece.fields.items() if v != one.known.file.get(f)}
            moved = {f for f in mind if mind[f] != one.known.agreed.get(f)}
            clashing = {f for f in edited if f in moved and not same_value(f, edited[f], mind[f])}
            if clashing:
                self._show(memory, one, clashing, name)
                continue
            wanted = {f: v for f, v in edited.items() if not same_value(f, v, mind.get(f))}
            self._take(memory, one, wanted, name)

    def _take(self, memory: Memory, one: FileChange, wanted: Fields, name: str) -> None:
        try:
            changes = changes_of(memory, one.kind, wanted, name, self.caller.tools.clock.now())
            if changes:
                if memory.status not in STANDING and "content" in changes and "status" not in changes:
                    changes["status"] = Status.ACTIVE  # who edits it wants it
                because = f"edited in {one.path}"
                memory = change.revise(memory.id, changes, self.caller.tools, ACTOR, because)
                self.done["updated"].append(memory.id)
        except InvalidInput as error:
            self.done["problems"].append(f"{one.path}: {error.message}")
            return
        self.cache[memory.id] = memory
        # What the person did not touch is as it was agreed on: a change there still has to reach the file.
        now, before = fields_of(one.kind, memory, name), one.known.agreed
        same = {f: before[f] for f in now if f in before and one.piece.fields.get(f) == one.known.file.get(f)}
        one.known.file = dict(one.piece.fields)
        one.known.mind = {**now, **same}

    def _show(self, memory: Memory, one: FileChange, clashing: Iterable[str], name: str) -> None:
        """Keep the file's version as a memory of its own, against the other, and show both in the file."""
        other = self._other_version(memory, one, name)
        one.known.clash = other.id
        names = " and ".join(sorted(clashing))
        because = f"{names} changed both in {one.path} and in the memory"
        self.done["conflicts"].append(SyncConflict(one.path, memory.id, because, other.id))
        self.touched |= {memory.id, other.id}
        mind = fields_of(one.kind, memory, name)
        if one.kind == "event":
            # A line holds one version: the file's becomes an event of its own, this one says what is known.
            one.known.clash = ""
            one.known.file, one.known.mind = dict(one.piece.fields), dict(mind)
            self._edit(one.path, Edit(one.piece, {f: mind[f] for f in mind}), one.known)
            return
        one.known.file = dict(one.piece.fields)
        one.known.mind = mind
        self._edit(one.path, Edit(one.piece, one.piece.fields, one.piece.notes, clash=mind), one.known)

    def _other_version(self, memory: Memory, one: FileChange, name: str) -> Memory:
        content = str(one.piece.fields["content"])
        content = notes.statement(name, content) if one.kind == "facts" else content
        record = {
            "id": id_of(f"{memory.id}\n{json.dumps(dict(one.piece.fields), sort_keys=True, default=str)}"),
            "content": content,
            "category": memory.category,
            "kind": str(memory.kind),
            "priority": str(one.piece.fields.get("priority") or memory.priority),
            "tags": list(notes.tags_of(one.piece.fields.get("tags") or memory.tags)),
            "scope": plain(memory.scope),
            "status": str(Status.CHALLENGED),
            "source": "human",
            "details": {"file": one.path},
            "edges": [{"target": memory.id, "type": str(EdgeType.CONTRADICTS)}],
        }
        imported = import_records(self.caller, [record])
        if imported.refused:
            raise imported.refused[0].error
        other = self._get(imported.ids[0], again=True)
        if other is None:
            raise NotFound(imported.ids[0])
        return other

    def _choose(self, one: FileChange) -> None:
        """Two versions stood in the file. Once a person has left one of them, that holds."""
        if one.piece.clash:
            return
        memory, other = self._get(one.known.memory, again=True), one.known.clash
        one.known.clash = ""
        if memory is None:
            self._revive(one)
            return
        name = self._page_name(one.path, one.kind)
        mind = fields_of(one.kind, memory, name)
        wanted = {f: v for f, v in one.piece.fields.items() if not same_value(f, v, mind.get(f))}
        self._take(memory, one, wanted, name)
        self.touched |= {memory.id, other}
        with suppress(InvalidInput):
            Conflicts(self.caller).resolve(memory.id, other, "a", f"chosen in {one.path}")

    def _settle_clashes(self) -> None:
        """Conflicts that were settled in the memory: the file shows what stands."""
        for path, file in self.state.files.items():
            for key, known in file.pieces.items():
                if not known.clash or (known.memory not in self.touched and known.clash not in self.touched):
                    continue
                memory, other = self._get(known.memory, again=True), self._get(known.clash, again=True)
                if _stands(memory) and _stands(other) and self._is_contradicted(known.memory, known.clash):
                    continue
                if any(edit.clash is not None for edit, by in self.edits.get(path, ()) if by is known):
                    continue
                stays = memory if _stands(memory) or not _stands(other) else other
                known.clash = ""
                if stays is None or path not in self.stamps:
                    continue
                self._show_choice(path, key, known, stays)

    def _show_choice(self, path: str, key: str, known: Known, memory: Memory) -> None:
        file = self.state.files[path]
        piece = self._piece(path, file, key)
        known.memory = memory.id
        self.touched.add(memory.id)
        if piece is None or not piece.clash:
            return
        known.mind = fields = self._fields(path, file.kind, memory)
        beside: Fields = piece.notes
        if file.kind == "note":
            beside = notes.note_notes(memory, self.caller.tools.store.relations.of(memory.id, self.access))
        self._edit(path, Edit(piece, {**piece.fields, **fields}, beside), known)
        self._where = None

    def _is_contradicted(self, one: str, two: str) -> bool:
        edges = self.caller.tools.store.relations.of(one, self.access)
        return any(e.type is EdgeType.CONTRADICTS and two in (e.source, e.target) for e in edges)

    def _forget(self, memory_id: str, places: Sequence[tuple[str, str]], *, edited: bool) -> None:
        """A person took a file, a line or an item away."""
        memory = self._get(memory_id, again=True)
        known = [
            (path, self.state.files[path].pieces[key])
            for path, key in places
            if key in self.state.files[path].pieces
        ]
        kinds = {self.state.files[path].kind for path, _ in known}
        for path, key in places:
            self.state.files[path].pieces.pop(key, None)
        self.touched.add(memory_id)
        if memory is None:
            return
        only_logged = kinds <= {"extract", "archived"}
        if memory.status not in STANDING and not only_logged:
            self.state.dismissed.add(memory_id)
        if memory.status not in STANDING or only_logged or edited:
            return
        moved = [path for path, known_piece in known if self._has_moved(memory, path, known_piece)]
        if moved:
            because = f"it was deleted in {moved[0]} while it changed in the memory: it is written again"
            self.done["conflicts"].append(SyncConflict(moved[0], memory_id, because))
            return
        because = f"deleted in {known[0][0]}" if known else "deleted in the folder"
        try:
            change.set_status(memory_id, Status.ARCHIVED, self.caller.tools, ACTOR, because)
        except InvalidInput as error:
            self.done["problems"].append(f"{places[0][0]}: {error.message}")
            return
        self.state.dismissed.add(memory_id)
        self.done["forgotten"].append(memory_id)
        self._get(memory_id, again=True)

    def _has_moved(self, memory: Memory, path: str, known: Known) -> bool:
        mind = self._fields(path, self.state.files[path].kind, memory)
        return mind.get("content") != known.agreed.get("content")

    def _page_name(self, path: str, kind: str) -> str:
        if kind != "facts" or "/" not in path or path not in self.stamps:
            return ""
        return notes.entity_name(self._text(path))[0]

    def _piece(self, path: str, file: KnownFile, key: str) -> Piece | None:
        pieces = self._pieces(file.kind, self._text(path), file)
        return next((piece for piece in pieces if piece.key == key), None)

    def _edit(self, path: str, edit: Edit, known: Known | None) -> None:
        def place(one: Edit) -> object:
            return None if one.piece is None else (one.piece.span, one.piece.key)

        others = self.edits.get(path, ())
        kept = [pair for pair in others if edit.piece is None or place(pair[0]) != place(edit)]
        self.edits[path] = [*kept, (edit, known)]


def age_of(memory: Memory | None) -> float:
    """When a memory was made, to sort by."""
    return memory.created_at.timestamp() if memory is not None else 0.0


def _by_key(file: KnownFile) -> dict[str, Fields]:
    """What the file says in each of its pieces."""
    return {key: piece.file for key, piece in file.pieces.items()}


def _differs(now: Fields, before: Fields) -> bool:
    return any(value != before.get(name) for name, value in now.items())


def _stands(memory: Memory | None) -> bool:
    return memory is not None and memory.status in STANDING


def line_id(line: str) -> str:
    """The id of the event in a line; empty when it is none."""
    from engram.workspace.pages import event_line

    event = event_line(line)
    return str(event["id"]) if event else ""


def open_conflicts(state: FolderState) -> Iterator[SyncConflict]:
    """What waits for somebody to choose."""
    for path, _, piece in state.pieces():
        if piece.clash:
            yield SyncConflict(path, piece.memory, "two versions stand in the file", piece.clash)
