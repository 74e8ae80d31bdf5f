"""One sync of a workspace: what changed in files changes the memory, and the other way round."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from engram.api import workspace_views as views
from engram.api.workspace_reading import (
    EVENT_ORIGIN,
    ITEMS,
    LINES,
    PAGE,
    STANDING,
    FileChange,
    FolderReader,
    NewPiece,
    SyncReport,
    age_of,
    line_id,
    open_conflicts,
)
from engram.errors import WorkspaceError
from engram.model.clock import written_moment
from engram.model.facts import Edge, EdgeType
from engram.model.memory import Memory, Status
from engram.ports import Unit
from engram.workspace import folder, ledger, notes
from engram.workspace import layouts as layout
from engram.workspace.folder import Stamp
from engram.workspace.layouts import (
    FILES,
    KINDS,
    LEDGER,
    LEDGER_FILE,
    Known,
    KnownFile,
    Place,
    digest,
    fields_of,
    kind_of,
    save_state,
    tops,
)
from engram.workspace.pages import Edit, Fields, keep_keys, one_line, words_key
from engram.workspace.text import own_lines

COMPACTED_EVERY = timedelta(days=30)
APPENDED = ("content", "priority", "status")
"""When one of these changes in the memory, the ledger gains an event; other fields are told there once."""


CHAINED = (EdgeType.RELATED_TO, EdgeType.SUPERSEDES)
"""Relations that an event tells of by the id of another event."""


class FolderSync(FolderReader):
    """One sync of one folder: reads, changes the memory, writes. Lives for one call, in one thread."""

    def run(self, *, accept_deletions: bool, repair: bool) -> SyncReport:
        """Sync."""
        store = self.caller.tools.store
        if self.full and not self.dry:
            folder.sweep_temporary(self.root, tops(self.setup.layouts))
        self.stamps = folder.list_files(self.root, tops(self.setup.layouts))
        if repair and not self.dry:
            self._repair()
        end = store.ledger.newest()
        changed = self.changed_ids()
        self._number_events()
        changes, new, gone = self._read()
        gone = self._believed(gone, accept_deletions=accept_deletions)
        if self.dry:
            return self._dry_report(changes, new, gone)
        self._create(new)
        self._apply(changes, gone)
        self.touched |= changed
        self._settle_clashes()
        keys = self.caller.tools.store.memories.keys(list(self.touched))
        memories = {one: self._get(one) for one in self.touched}
        for memory_id in sorted(self.touched, key=lambda one: (age_of(memories[one]), keys.get(one, 0), one)):
            self._place(memory_id)
        self._write()
        moved = bool(self.touched or self.done["written"] or self.done["removed"] or self.dirty)
        if moved or self.full or self._new_day():
            self._views()
        # What this sync itself wrote to the memory needs no second look.
        self.state.place = store.ledger.newest() if not self._foreign(end) else end
        if self.full:
            self.state.rebuilt = self.caller.tools.here().isoformat()
        for path in [path for path in self.state.files if path not in self.stamps]:
            if self.state.files[path].kind and not self.state.files[path].pieces:
                del self.state.files[path]
                self.dirty = True
        if moved or self.full or self.dirty or gone:
            save_state(self.root, self.state)
        return self._report()

    def _foreign(self, end: str) -> bool:
        """Whether somebody else changed a memory while this went on."""
        after = self.caller.tools.store.ledger.after(end, self.access, PAGE)
        return any(event.memory not in self.touched for event in after) or len(after) >= PAGE

    def _keep_events(self) -> None:
        pending = list(self.events.fresh)
        if not pending:
            return
        place = self.caller.access.scope

        def work(unit: Unit) -> None:
            for memory_id, identity in pending:
                if unit.get(memory_id) is not None:
                    unit.set_origin(memory_id, place, f"{EVENT_ORIGIN}{identity}", "")

        self.caller.tools.store.write(work, self.caller.actor)
        self.events.fresh.clear()

    def _wanted(self, memory: Memory | None) -> bool:
        return (
            memory is not None and memory.status is not Status.SAID and str(memory.tier) in self.setup.tiers
        )

    def _place(self, memory_id: str) -> None:
        """Bring every place where a memory stands, or should stand, up to date."""
        memory = self._get(memory_id)
        here = self._places_of(memory_id)
        if not self._wanted(memory) or memory is None:
            for path, key, known in here:
                if not known.own or memory is None:
                    self._take_out(path, key)
            return
        if memory_id in self.state.dismissed:
            if memory.status not in STANDING:
                return
            self.state.dismissed.discard(memory_id)
        edges = self.caller.tools.store.relations.of(memory_id, self.access)
        clashing = self._clash_ids()
        kinds = {self.state.files[path].kind for path, _, _ in here}
        for path, key, known in here:
            self._update(path, key, known, memory, edges)
        for place in self._missing(memory, edges, kinds, is_version=memory_id in clashing):
            self._add(place, memory)

    def _places_of(self, memory_id: str) -> list[tuple[str, str, Known]]:
        if self._where is None:
            self._where = self.state.places()
        found = []
        for path, key in self._where.get(memory_id, ()):
            file = self.state.files.get(path)
            if file is not None and key in file.pieces and file.pieces[key].memory == memory_id:
                found.append((path, key, file.pieces[key]))
        return found

    def _clash_ids(self) -> set[str]:
        if self._clashes is None:
            self._clashes = {piece.clash for _, _, piece in self.state.pieces() if piece.clash}
        return self._clashes

    def _update(self, path: str, key: str, known: Known, memory: Memory, edges: Sequence[Edge]) -> None:
        file = self.state.files[path]
        if known.clash or known.old or file.kind == "extract" or path not in self.stamps:
            return
        mind = self._fields(path, file.kind, memory)
        moved = {f: v for f, v in mind.items() if v != known.agreed.get(f)}
        if file.kind == "note":
            place = layout.note_place(memory, edges, path)
            if place.path != path:
                self._move(path, place, known, memory)
                return
        if not moved:
            return
        if file.kind in LINES:
            self._append_event(key, known, memory, edges, moved)
            return
        if file.kind == "facts" and memory.status not in STANDING:
            self._take_out(path, key)
            return
        piece = self._piece(path, file, key)
        if piece is None:
            return
        told = notes.note_notes(memory, edges) if file.kind == "note" else piece.notes
        fields = {f: v for f, v in mind.items() if f in moved or f in piece.fields}
        known.mind = mind
        self._edit(path, Edit(piece, {**piece.fields, **fields}, told), known)

    def _append_event(
        self, key: str, known: Known, memory: Memory, edges: Sequence[Edge], moved: Fields
    ) -> None:
        """The ledger is never edited: what changed is a later event that supersedes the former."""
        if not {*moved} & {*APPENDED} or memory.status not in STANDING:
            known.mind = fields_of("event", memory)
            return
        known.old = True
        identity = self.events.give(memory, memory.local(memory.modified_at))
        told = ledger.event_notes(memory, identity, edges, self.events.of)
        told |= {"ts": memory.local(memory.modified_at).isoformat(timespec="seconds"), "supersedes": key}
        if "status" in moved and "content" not in moved:
            told["related"] = list(dict.fromkeys([*(told.get("related") or []), key]))
        fields = fields_of("event", memory)
        self._edit(LEDGER_FILE, Edit(None, fields, told), Known(memory.id, fields))

    def _move(self, path: str, place: Place, known: Known, memory: Memory) -> None:
        """A file goes to the archive, or comes back from it."""
        text = self._text(path)
        piece = KINDS["note"].pieces(text)
        told = {**place.notes}
        if memory.status is Status.ARCHIVED:
            told["archivedAt"] = notes.stamp(memory.modified_at)
        fields = {**(piece[0].fields if piece else {}), **place.fields}
        fresh = KINDS["note"].edited(text, [Edit(piece[0] if piece else None, fields, told)])
        if self._put(place.path, fresh, None):
            self.state.files[place.path] = self._known_file("note", place.path, fresh)
            self.state.files[place.path].pieces[""] = Known(
                memory.id, dict(fields), place.fields, own=known.own
            )
            if folder.remove(self.root, path, self.stamps.get(path)):
                self.state.files.pop(path, None)
                self.done["removed"].append(path)
            self._where = None

    def _missing(
        self, memory: Memory, edges: Sequence[Edge], kinds: set[str], *, is_version: bool
    ) -> Iterator[Place]:
        """Where a memory should stand and does not yet."""
        if FILES in self.setup.layouts and "note" not in kinds and not is_version:
            place = layout.note_place(memory, edges)
            if memory.status is Status.ARCHIVED:
                place = replace(place, notes={**place.notes, "archivedAt": notes.stamp(memory.modified_at)})
            yield place
        if LEDGER not in self.setup.layouts:
            return
        if not kinds & LINES:
            self.events.event_of(memory)
            for edge in edges:
                other = self._get(edge.target if edge.source == memory.id else edge.source)
                if other is not None and self._wanted(other) and edge.type in CHAINED:
                    self.events.event_of(other)
            yield layout.event_place(memory, self.events.of[memory.id], edges, self.events.of)
        kind = layout.page_kind(memory)
        if kind and kind not in kinds and memory.status in STANDING and not is_version:
            yield layout.page_place(memory, kind, self._page_owners())
        told = memory.id in self.state.logged or "extract" in kinds or memory.category == "reference"
        since = memory.local(memory.created_at).date().isoformat() >= self.setup.since
        if since and not told and not is_version and memory.status in STANDING:
            yield layout.day_place(memory)

    def _page_owners(self) -> dict[str, str]:
        owners = {
            path: next(iter(file.pieces.values())).memory
            for path, file in self.state.files.items()
            if file.kind in layout.PAGE_OF and file.pieces
        }
        for path, some in self.edits.items():
            for _, known in some:
                if known is not None and kind_of(path, self.setup.layouts) in layout.PAGE_OF:
                    owners.setdefault(path, known.memory)
        return owners

    def _add(self, place: Place, memory: Memory) -> None:
        if place.kind == "extract":
            self.state.logged.add(memory.id)
        path = place.path
        if place.kind == "note" and (path in self.stamps or path in self.edits):
            path = f"{path.removesuffix('.md')}-{memory.id.replace('-', '')[:8]}.md"
        own = Known(memory.id, dict(place.fields))
        self._edit(path, Edit(None, place.fields, place.notes), own)

    def _take_out(self, path: str, key: str) -> None:
        """What may not, or need not, stand in a file any more."""
        file = self.state.files[path]
        if path not in self.stamps:
            file.pieces.pop(key, None)
            return
        piece = self._piece(path, file, key)
        file.pieces.pop(key, None)
        if piece is not None:
            self._edit(path, Edit(piece, None), None)

    def _write(self) -> None:
        """Write every file that has edits; one that somebody saved meanwhile waits for the next sync."""
        self._keep_events()
        for path in sorted(self.edits):
            self._write_file(path, self.edits[path])
        if LEDGER in self.setup.layouts:
            self._compact()

    def _write_file(self, path: str, some: Sequence[tuple[Edit, Known | None]]) -> None:
        kind = kind_of(path, self.setup.layouts)
        head = f"# {Path(path).stem}\n" if kind == "extract" else ""
        before = self._readable(path) if path in self.stamps else head
        if before is None:
            return
        text = KINDS[kind].edited(before, [edit for edit, _ in some])
        file = self.state.files.get(path) or KnownFile(kind)
        if not text.strip():
            if path not in self.stamps or folder.remove(self.root, path, self.stamps.get(path)):
                self.done["removed"].append(path)
                self.state.files.pop(path, None)
            return
        if not self._put(path, text, self.stamps.get(path)):
            problem = f"{path} was saved by somebody meanwhile: it is looked at again the next time."
            self.done["problems"].append(problem)
            return
        fresh = self._known_file(kind, path, text)
        fresh.pieces = self._rekeyed(kind, text, file, some)
        self.state.files[path] = fresh

    def _rekeyed(
        self, kind: str, text: str, file: KnownFile, some: Sequence[tuple[Edit, Known | None]]
    ) -> dict[str, Known]:
        """Which piece of the file as it is now belongs to which memory."""
        mine: dict[str, Known] = {}
        by_words: dict[str, list[Known]] = {}
        edited = {edit.piece.key for edit, _ in some if edit.piece is not None}
        for edit, known in some:
            if known is not None and edit.fields is not None:
                by_words.setdefault(self._key_after(kind, edit), []).append(known)
        for piece in KINDS[kind].pieces(text):
            bare = piece.key.partition(".")[0] if kind in ITEMS else piece.key
            if by_words.get(bare):
                known = by_words[bare].pop(0)
            elif piece.key in file.pieces and piece.key not in edited:
                known = file.pieces[piece.key]
            else:
                unedited = {key: old.file for key, old in file.pieces.items() if key not in edited}
                former = keep_keys(unedited, [piece])[0].key if kind in ITEMS else ""
                if former not in file.pieces:
                    continue
                known = file.pieces[former]
            known.mind = known.agreed
            known.file = dict(piece.fields)
            mine[piece.key] = known
        for key, known in file.pieces.items():
            if known.old and key not in mine and kind == "event":
                mine[key] = known
        return mine

    def _key_after(self, kind: str, edit: Edit) -> str:
        if kind == "event":
            return edit.piece.key if edit.piece is not None else str(edit.notes["id"])
        return words_key(one_line((edit.fields or {})["content"])) if kind in ITEMS else ""

    def _known_file(self, kind: str, path: str, text: str) -> KnownFile:
        return KnownFile(kind, self.stamps.get(path), {}, digest(text))

    def _put(self, path: str, text: str, known: Stamp | None) -> bool:
        if self.texts.get(path) == text and path in self.stamps:
            return True
        try:
            stamp = folder.write(self.root, path, text, known, durable=path == LEDGER_FILE)
        except (OSError, WorkspaceError) as error:
            self.done["problems"].append(f"{path} could not be written: {error}")
            return False
        if stamp is None:
            return False
        self.texts[path], self.stamps[path] = text, stamp
        self.done["written"].append(path)
        return True

    def _compact(self) -> None:
        """Keep the active ledger short: what is over or expired goes to the archive of its year."""
        if LEDGER_FILE not in self.stamps:
            return
        text = self._text(LEDGER_FILE)
        now = self.caller.tools.here()
        events = ledger.events_in(text)
        last = self.state.compacted
        due = not last or now - datetime.fromisoformat(last) > COMPACTED_EVERY
        if len(events) <= ledger.ACTIVE_EVENTS and not due:
            return
        _stay, go = ledger.split_for_compaction(events, now)
        self.state.compacted = now.isoformat()
        if not go or not self._archive(go):
            return
        left = {str(one["id"]) for one in go}
        lines = [line for line in text.split("\n") if line_id(line) not in left]
        if self._put(LEDGER_FILE, "\n".join(lines), self.stamps[LEDGER_FILE]):
            file = self.state.files[LEDGER_FILE]
            self._know_archived({key: piece for key, piece in file.pieces.items() if key in left})
            file.pieces = {key: piece for key, piece in file.pieces.items() if key not in left}
            file.stamp, file.digest = self.stamps[LEDGER_FILE], digest(self.texts[LEDGER_FILE])
            self._where = None

    def _know_archived(self, moved: Mapping[str, Known]) -> None:
        for path in sorted(self.stamps):
            if kind_of(path, self.setup.layouts) == "archived":
                text = self._text(path)
                file = self.state.files.setdefault(path, KnownFile("archived"))
                ids = {str(one["id"]) for one in ledger.events_in(text)}
                file.pieces.update({key: piece for key, piece in moved.items() if key in ids})
                file.stamp, file.digest = self.stamps[path], digest(text)

    def _archive(self, events: Sequence[Mapping[str, Any]]) -> bool:
        """First the archive, then the ledger: cut off in between, an event stands in both, lost in none."""
        years: dict[str, list[Mapping[str, Any]]] = {}
        for event in events:
            at = written_moment(event.get("ts"))
            years.setdefault(f"{at:%Y}" if at else f"{self.caller.tools.here():%Y}", []).append(event)
        for year, some in years.items():
            path = f"memory/ledger-archive-{year}.jsonl"
            there = self._text(path) if path in self.stamps else ""
            known = {str(one["id"]) for one in ledger.events_in(there)}
            new = [json.dumps(dict(one), ensure_ascii=False) for one in some if str(one["id"]) not in known]
            text = "\n".join([*there.rstrip("\n").split("\n"), *new, ""]).lstrip("\n")
            if new and not self._put(path, text, self.stamps.get(path)):
                return False
        return True

    def _repair(self) -> None:
        if LEDGER not in self.setup.layouts or LEDGER_FILE not in self.stamps:
            return
        text, damaged, told = ledger.repair(self._text(LEDGER_FILE))
        if not told:
            return
        if damaged:
            aside = layout.DAMAGED_FILE
            there = folder.read(self.root, aside)[0] if folder.stamp(self.root, aside) else ""
            self._put(aside, there + damaged, folder.stamp(self.root, aside))
        self._put(LEDGER_FILE, text, self.stamps[LEDGER_FILE])
        self.done["problems"] += [f"repaired: {mended}" for mended in told]

    def _new_day(self) -> bool:
        pack = self.state.files.get(layout.PACK_FILE)
        return pack is not None and self.caller.tools.here().date().isoformat() not in (pack.text or "")

    def _views(self) -> None:
        """Pages that are made from memories taken together."""
        ledger_text = self._text(LEDGER_FILE) if LEDGER_FILE in self.stamps else ""
        archives = (path for path in sorted(self.stamps) if path.startswith("memory/ledger-archive-"))
        if LEDGER in self.setup.layouts:
            archived, events = "\n".join(map(self._text, archives)), dict(self.events.of)
            for path, text in views.ledger_pages(self.caller, self.setup, ledger_text, archived, events):
                self._view(path, text)
        if FILES in self.setup.layouts:
            for path, text in views.file_pages(self.caller, self.setup, self.access):
                self._view(path, text)
        for page in views.item_pages(self.caller, self.setup, self.access):
            self._item_page(page)
        views.read_triggers(self.caller, self.root, self.setup, self.state)

    def _view(self, path: str, text: str) -> None:
        """Write a page that is only written; lines that somebody added to it are kept."""
        file = self.state.files.get(path)
        here = self._readable(path) if path in self.stamps else ""
        if here is None:
            return
        bare = text
        if path == layout.INTEGRITY_LOG:
            text = views.log_with(here, text)
        elif here and path.endswith(".md"):
            base = file.text if file is not None and file.text is not None else ""
            text = own_lines(base, here, text) if here != base else text
        elif here and path.endswith(".json"):
            text = views.json_with(here, text)
        if views.same_but_time(here, text):
            return
        if self._put(path, text, self.stamps.get(path)):
            self.state.files[path] = KnownFile(
                "", self.stamps[path], {}, digest(text), bare if path.endswith(".md") else None
            )

    def _item_page(self, page: views.ItemPage) -> None:
        """A page of list items that are memories: new ones are added, those that are over are taken out."""
        file = self.state.files.get(page.path)
        if file is not None and any(known.clash for known in file.pieces.values()):
            return
        there = page.path in self.stamps
        text = self._readable(page.path) if there else page.head
        if text is None:
            return
        file = file or KnownFile("facts")
        name = notes.entity_name(text)[0] if "/" in page.path else ""
        shown = {known.memory for known in file.pieces.values()}
        edits: list[tuple[Edit, Known | None]] = []
        wanted = {memory.id for memory, _ in page.items}
        pieces = self._pieces("facts", text, file)
        for piece in pieces:
            known = file.pieces.get(piece.key)
            if known is not None and known.memory not in wanted and not known.own:
                edits.append((Edit(piece, None), None))
        taken = {one_line(piece.fields["content"]) for piece in pieces}
        for memory, section in page.items:
            fields = fields_of("facts", memory, name)
            if memory.id in shown or fields["content"] in taken or not self._wanted(memory):
                continue
            beside = {"section": section, "source": self.events.of.get(memory.id, "")}
            edits.append((Edit(None, fields, beside), Known(memory.id, fields)))
        if not (page.items or there) or (there and not edits):
            return
        fresh = KINDS["facts"].edited(text, [edit for edit, _ in edits]) if edits else text
        gone = {edit.piece.key for edit, _ in edits if edit.piece is not None and edit.fields is None}
        file.pieces = {key: piece for key, piece in file.pieces.items() if key not in gone}
        if self._put(page.path, fresh, self.stamps.get(page.path)):
            made = self._known_file("facts", page.path, fresh)
            made.pieces = self._rekeyed("facts", fresh, file, edits)
            self.state.files[page.path] = made

    def _dry_report(
        self, changes: Sequence[FileChange], new: Sequence[NewPiece], gone: Mapping[str, Any]
    ) -> SyncReport:
        self.done["created"] = [f"{item.path}: {str(item.piece.fields['content'])[:80]}" for item in new]
        self.done |= {"updated": [change.known.memory for change in changes], "forgotten": [*gone]}
        return replace(self._report(), conflicts=(), dry=True)

    def _report(self) -> SyncReport:
        # A conflict is told as long as nobody has settled it.
        every = (*open_conflicts(self.state), *self.done.pop("conflicts", ()))
        waiting = {(conflict.path, conflict.memory): conflict for conflict in every}
        done: dict[str, Any] = {name: tuple(dict.fromkeys(items)) for name, items in self.done.items()}
        return SyncReport(str(self.root), **done, conflicts=tuple(waiting.values()), files=len(self.stamps))
