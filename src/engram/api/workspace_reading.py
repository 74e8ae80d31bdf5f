"""Reading a workspace: what a person changed in files comes in, and the memory is changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
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


@dataclass
class Tellings:
    """What has been done so far."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    conflicts: list[SyncConflict] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


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
        self.told = Tellings()
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
        found = {
            memory.id: memory
            for memory in self.caller.tools.store.memories.every(View(self.access, ANY_STATUS))
        }
        self.cache |= found
        return {*found, *self.state.places()}

    def _since(self, place: str) -> set[str]:
        found: set[str] = set()
        while events := self.caller.tools.store.ledger.after(place, self.access, PAGE):
            for event in events:
                found.add(event.memory)
                if event.related:
                    found.add(event.related)
            place = events[-1].id
        return found

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

    def _read(self) -> tuple[list[FileChange], list[NewPiece], dict[str, list[tuple[str, str]]]]:
        """What changed in files, what is new there, and which pieces are gone."""
        changes: list[FileChange] = []
        new: list[NewPiece] = []
        gone: dict[str, list[tuple[str, str]]] = {}
        for path in sorted(self.stamps):
            kind = kind_of(path, self.setup.layouts)
            file = self.state.files.get(path)
            if not kind or (file is not None and file.stamp == self.stamps[path] and not self.full):
                continue
            try:
                text = self._text(path)
            except WorkspaceError as error:
                self.told.problems.append(error.message)
                continue
            if file is not None and file.digest == digest(text):
                file.stamp = self.stamps[path]
                self.dirty = True
                continue
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
        into: tuple[list[FileChange], list[NewPiece], dict[str, list[tuple[str, str]]]],
    ) -> None:
        changes, new, gone = into
        pieces = KINDS[kind].pieces(text)
        name = notes.entity_name(text)[0] if kind == "facts" and path.count("/") else ""
        if kind in ITEMS:
            pieces = keep_keys({key: known_piece.file for key, known_piece in known.pieces.items()}, pieces)
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
            former = [
                k
                for k, known_piece in known.pieces.items()
                if known_piece.old and known_piece.memory == before.memory and k in there
            ]
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

    def _follow_moves(
        self, changes: list[FileChange], new: list[NewPiece], gone: dict[str, list[tuple[str, str]]]
    ) -> None:
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

    def _believed(
        self, gone: dict[str, list[tuple[str, str]]], *, accept_deletions: bool
    ) -> dict[str, list[tuple[str, str]]]:
        """What is gone, unless so much is gone at once that something else must have happened."""
        known = len(self.state.places())
        if accept_deletions or len(gone) <= FEW or len(gone) <= known * MOST_GONE:
            return gone
        self.told.problems.append(
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
        told = self._events_told() if any(piece.kind in LINES for piece in good) else []
        by_id = {str(record["id"]): record for record in ledger.records(told)}
        named = [piece for piece in good if piece.kind in LINES or piece.kind == "note"]
        fresh = [piece for piece in named if not self._bind(piece)]
        self._bring_in(
            [
                (piece, by_id[piece.piece.key] if piece.kind in LINES else self._record(piece))
                for piece in fresh
            ]
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
        placed = [
            (record if not self.setup.scope else {**record, "scope": plain(self.scope)})
            for _, record in records
        ]
        done = import_records(self.caller, placed)
        for refusal in done.refused:
            piece = records[refusal.index][0]
            self.told.problems.append(f"{piece.path}: {refusal.error.message}")
        fresh = set(done.taken)
        for index, memory_id in enumerate(done.ids):
            piece = records[index][0]
            memory = self._get(memory_id, again=True) if memory_id else None
            if memory is None:
                continue
            if memory_id in fresh:
                self.told.created.append(memory_id)
            self._know(piece, memory)

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
                self.told.created.append(memory.id)
                self.touched.update(filter(None, (memory.id, receipt.other)))
            verified = written_moment(item.piece.fields.get("verified_at"))
            if verified and (memory.verified_at is None or memory.verified_at.date() != verified.date()):
                because = f"verified in {item.path}"
                memory = change.revise(
                    memory.id, {"verified_at": verified}, self.caller.tools, ACTOR, because
                )
        except InvalidInput as error:
            self.told.problems.append(f"{item.path}: {error.message}")
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
        time_ = written_moment(record.get("event_time"))
        told = {"category": record["category"], "details": record["details"], "event_time": time_}
        if item.name == "":
            told["category"] = None
        return Draft(str(record["content"]), **told)

    def _same(self, content: str) -> Memory | None:
        words = content_hash(content)
        return self.caller.tools.store.write(lambda unit: unit.same_content(words, self.scope), ACTOR)

    def _apply(self, changes: Sequence[FileChange], gone: Mapping[str, list[tuple[str, str]]]) -> None:
        grouped: dict[str, list[FileChange]] = {}
        for one in changes:
            grouped.setdefault(one.known.memory, []).append(one)
        for memory_id, some in grouped.items():
            self.touched.add(memory_id)
            memory = self._get(memory_id, again=True)
            if memory is None:  # it was erased: what a person wrote is a new statement
                for one in some:
                    self._revive(one)
                continue
            self._merge(memory, some)
        for memory_id, places in gone.items():
            self._forget(memory_id, places, edited=memory_id in grouped)

    def _revive(self, one: FileChange) -> None:
        del self.state.files[one.path].pieces[one.piece.key]
        new = NewPiece(
            one.path,
            one.kind,
            replace(one.piece, notes={k: v for k, v in one.piece.notes.items() if k != "id"}),
        )
        self._create([new])

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
                self.told.updated.append(memory.id)
        except InvalidInput as error:
            self.told.problems.append(f"{one.path}: {error.message}")
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
        self.told.conflicts.append(SyncConflict(one.path, memory.id, because, other.id))
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
        done = import_records(self.caller, [record])
        if done.refused:
            raise done.refused[0].error
        found = self._get(done.ids[0], again=True)
        if found is None:
            raise NotFound(done.ids[0])
        return found

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
        fields = fields_of(file.kind, memory, self._page_name(path, file.kind))
        known.mind = fields
        told: Fields = piece.notes
        if file.kind == "note":
            told = notes.note_notes(memory, self.caller.tools.store.relations.of(memory.id, self.access))
        self._edit(path, Edit(piece, {**piece.fields, **fields}, told), known)
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
        if memory.status not in STANDING or kinds <= {"extract", "archived"}:
            if not kinds <= {"extract", "archived"}:
                self.state.dismissed.add(memory_id)
            return
        if edited:
            return
        moved = [path for path, known_piece in known if self._has_moved(memory, path, known_piece)]
        if moved:
            because = f"it was deleted in {moved[0]} while it changed in the memory: it is written again"
            self.told.conflicts.append(SyncConflict(moved[0], memory_id, because))
            return
        because = f"deleted in {known[0][0]}" if known else "deleted in the folder"
        try:
            change.set_status(memory_id, Status.ARCHIVED, self.caller.tools, ACTOR, because)
        except InvalidInput as error:
            self.told.problems.append(f"{places[0][0]}: {error.message}")
            return
        self.state.dismissed.add(memory_id)
        self.told.forgotten.append(memory_id)
        self._get(memory_id, again=True)

    def _has_moved(self, memory: Memory, path: str, known: Known) -> bool:
        kind = self.state.files[path].kind
        mind = fields_of(kind, memory, self._page_name(path, kind))
        return mind.get("content") != known.agreed.get("content")

    def _page_name(self, path: str, kind: str) -> str:
        if kind != "facts" or "/" not in path or path not in self.stamps:
            return ""
        return notes.entity_name(self._text(path))[0]

    def _piece(self, path: str, file: KnownFile, key: str) -> Piece | None:
        pieces = KINDS[file.kind].pieces(self._text(path))
        if file.kind in ITEMS:
            pieces = keep_keys({k: known_piece.file for k, known_piece in file.pieces.items()}, pieces)
        return next((piece for piece in pieces if piece.key == key), None)

    def _edit(self, path: str, edit: Edit, known: Known | None) -> None:
        some = self.edits.setdefault(path, [])
        if edit.piece is not None:
            some[:] = [
                pair
                for pair in some
                if pair[0].piece is None
                or pair[0].piece.span != edit.piece.span
                or pair[0].piece.key != edit.piece.key
            ]
        some.append((edit, known))


def age_of(memory: Memory | None) -> float:
    """When a memory was made, to sort by."""
    return memory.created_at.timestamp() if memory is not None else 0.0


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
