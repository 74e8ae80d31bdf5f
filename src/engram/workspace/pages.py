"""Pages: a file's text comes in, the pieces in it that are memories come out, and go back in changed.

A piece has *fields*, which a person may edit and which are compared, and *notes*, which are only shown. What
lies between pieces belongs to whoever wrote it and is never touched.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from difflib import SequenceMatcher
from typing import Any, Protocol

from engram.lazily import dataclass
from engram.workspace.text import MIDDLE, OURS, THEIRS, FrontMatter, conflict_text, is_marked, split_front

Fields = Mapping[str, Any]
ALIKE = 0.5
"""So much of a list item must be left for it to be the same one, edited."""
_ITEM = re.compile(r"^(\s*[-*+] )(.*)$")
_MARK = re.compile(r"\s*\[(source|verified):\s*([^\]]*)\]")
_STALE = re.compile(r"\s*\[⚠️? STALE\]")
_EXTRACT = re.compile(r"^\s*[-*+] \[(P[0-3])\]\s+(.*\S)\s*$")
_HEADING = re.compile(r"^(#+)\s+(.*\S)\s*$")
_META = re.compile(r"^\*([A-Z][\w ]*):\s*(.*?)\*\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a file says of one memory."""

    key: str
    """Which piece of its file: empty where the file is one piece, an event's id, or a mark of the words."""
    fields: Fields = field(default_factory=dict)
    notes: Fields = field(default_factory=dict)
    clash: bool = False
    """Whether two versions stand here and nobody has chosen yet."""
    span: tuple[int, int] = (0, 0)
    """Its lines."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of a piece: new values, or nothing when `fields` is None; a new one has no `piece`."""

    piece: Piece | None
    fields: Fields | None
    notes: Fields = field(default_factory=dict)
    clash: Fields | None = None
    """The other version, to stand beside it."""


class PageKind(Protocol):
    """How one kind of file is read and written."""

    def pieces(self, text: str) -> list[Piece]:
        """The pieces in a text, in order."""
        ...

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """The text with some pieces changed, added or taken out, and all else as it was."""
        ...


# ---------------------------------------------------------------- one memory, one file

NOTE_FIELDS = {
    "category": "category",
    "confidence": "confidence",
    "tags": "tags",
    "importanceScore": "importance",
    "status": "status",
    "verificationState": "verification",
    "policyClass": "policy",
    "expiresAt": "expires_at",
    "priority": "priority",
    "pinned": "pinned",
}
"""Keys of the front matter that may be edited, and the fields they stand for."""
_NOTE_KEYS = {name: key for key, name in NOTE_FIELDS.items()}


class Note:
    """A file with front matter and a body: one memory."""

    def pieces(self, text: str) -> list[Piece]:
        """The one piece there is; none in a file without words."""
        front, body = split_front(text)
        values = front.values() if front else {}
        words = body.strip()
        if not words:
            return []
        fields = {NOTE_FIELDS[key]: value for key, value in values.items() if key in NOTE_FIELDS}
        notes = {key: value for key, value in values.items() if key not in NOTE_FIELDS}
        clash = is_marked(words)
        return [Piece("", {"content": words, **fields}, notes, clash, (0, text.count("\n") + 1))]

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """The file with its front matter and its body changed; lines of unknown keys stay."""
        edit = edits[-1]
        if edit.fields is None:
            return ""
        front, body = split_front(text)
        named = {_NOTE_KEYS[name]: value for name, value in edit.fields.items() if name in _NOTE_KEYS}
        notes = dict(edit.notes) if front is None else {k: v for k, v in edit.notes.items() if k in SHOWN}
        ordered = {
            key: value
            for key in ORDER
            for part in (notes, named)
            if (value := part.get(key, _GONE)) is not _GONE
        }
        rest = {key: value for key, value in {**notes, **named}.items() if key not in ordered}
        front_now = (front or FrontMatter()).with_values({**ordered, **rest})
        words = str(edit.fields["content"])
        if edit.clash is not None:
            beside = ", ".join(
                f"{k}: {v}" for k, v in edit.clash.items() if k != "content" and v != edit.fields.get(k)
            )
            words = conflict_text(words, str(edit.clash["content"]), beside)
        elif body.strip() == words:
            words = body.rstrip("\n")
        return "\n".join([*front_now.lines, "", words, ""])


_GONE = object()
ORDER = (
    "id", "category", "created", "updated", "source", "confidence", "confidenceTier", "tags", "entityRef",
    "supersedes", "expiresAt", "lineage", "status", "supersededBy", "supersededAt", "archivedAt",
    "lifecycleState", "verificationState", "policyClass", "lastValidatedAt", "heatScore", "decayScore",
    "accessCount", "lastAccessed", "importanceScore", "importanceLevel", "priority", "pinned", "links",
)  # fmt: skip
"""The order in which a new file tells its front matter."""
SHOWN = frozenset(
    {"id", "updated", "confidenceTier", "supersedes", "supersededBy", "supersededAt", "archivedAt"}
    | {"lifecycleState", "lastValidatedAt", "heatScore", "decayScore", "importanceLevel"}
)
"""What the memory tells anew in a file that is there already; all other keys stay as they stand."""


# ---------------------------------------------------------------- one memory, one line of JSON

EVENT_FIELDS = ("content", "type", "priority", "tags", "status")


class LedgerLines:
    """One event a line, as JSON. A line that is no event stays, and the integrity check names it."""

    def pieces(self, text: str) -> list[Piece]:
        """Every line that is an event with an id and words."""
        pieces: list[Piece] = []
        ids: set[str] = set()
        for at, line in enumerate(text.split("\n")):
            record = event_line(line)
            if record is None or str(record["id"]) in ids:
                continue
            ids.add(str(record["id"]))
            fields = {name: record[name] for name in EVENT_FIELDS if name in record}
            notes = {name: value for name, value in record.items() if name not in EVENT_FIELDS}
            pieces.append(Piece(str(record["id"]), fields, notes, span=(at, at + 1)))
        return pieces

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """Changed lines keep their place and their other keys; new ones are appended."""
        lines = text.split("\n")
        for edit in sorted(
            edits, key=lambda edit_: edit_.piece.span if edit_.piece else (1 << 40, 0), reverse=True
        ):
            if edit.piece is None:
                continue
            at = edit.piece.span[0]
            if edit.fields is None:
                del lines[at]
                continue
            record = json.loads(lines[at])
            record.update(edit.fields)
            lines[at] = json.dumps(record, ensure_ascii=False)
        while lines and not lines[-1].strip():
            lines.pop()
        lines += [_event(edit) for edit in edits if edit.piece is None and edit.fields is not None]
        return "\n".join([*lines, ""]) if lines else ""


_EVENT_ORDER = (
    "ts", "id", "type", "priority", "content", "entity", "tags", "source", "session", "related",
    "supersedes", "status",
)  # fmt: skip


def _event(edit: Edit) -> str:
    record = {**edit.notes, **(edit.fields or {})}
    ordered = {name: record[name] for name in _EVENT_ORDER if record.get(name) not in (None, "", [])}
    ordered.update({name: value for name, value in record.items() if name not in _EVENT_ORDER})
    return json.dumps(ordered, ensure_ascii=False)


def event_line(line: str) -> dict[str, Any] | None:
    """The event that a line tells; None when it is none."""
    if not line.strip():
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    good = (
        isinstance(record, dict)
        and isinstance(record.get("id"), str)
        and isinstance(record.get("content"), str)
    )
    return record if good and record["content"].strip() and record["id"].strip() else None


# ---------------------------------------------------------------- list items


class Extracts:
    """A day's log: free text, with items such as `- [P1] Decided on tiered pricing`."""

    heading = "## Priority Extracts"

    def pieces(self, text: str) -> list[Piece]:
        """Every item that begins with a priority."""
        pieces = []
        for at, line in enumerate(text.split("\n")):
            if match := _EXTRACT.match(line):
                fields = {"content": match[2], "priority": match[1]}
                pieces.append(Piece(words_key(match[2]), fields, span=(at, at + 1)))
        return _number_repeats(pieces)

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """The day is never written anew: items are appended below the others."""
        lines = text.rstrip("\n").split("\n") if text.strip() else []
        for piece, edit in _from_below(edits):
            at = piece.span[0]
            if edit.fields is None:
                del lines[at]
            else:
                lines[at] = f"- [{edit.fields['priority']}] {one_line(edit.fields['content'])}"
        new = [
            f"- [{e.fields['priority']}] {one_line(e.fields['content'])}"
            for e in edits
            if e.piece is None and e.fields
        ]
        if new and self.heading not in (line.strip() for line in lines):
            lines += ["", self.heading] if lines else [self.heading]
        at = _end_of(lines, self.heading)
        lines[at:at] = new
        return "\n".join([*lines, ""])


class FactLines:
    """A page with sections of list items: an entity's, or a profile. Each item is a memory."""

    def pieces(self, text: str) -> list[Piece]:
        """Every item below a heading; what stands between marks of two versions is one piece."""
        pieces: list[Piece] = []
        section, start = "", -1
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if match := _HEADING.match(line):
                section = match[2]
            item = _ITEM.match(line)
            if item is None or not item[2].strip() or (not section and start < 0):
                continue
            if item[2].startswith("<<<<<<<"):
                start = at
            elif item[2].startswith(">>>>>>>") and start >= 0:
                words = _ITEM.match(lines[start + 1])
                content = words[2] if words else ""
                notes = {"section": section}
                pieces.append(
                    Piece(words_key(content), {"content": content}, notes, clash=True, span=(start, at + 1))
                )
                start = -1
            elif start < 0 and item[1] == item[1].lstrip():
                pieces.append(_item(item[2].strip(), section, at))
        return _number_repeats(pieces)

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """Changed items keep their place; new ones go to the end of their section."""
        lines = text.rstrip("\n").split("\n") if text.strip() else []
        for piece, edit in _from_below(edits):
            start, end = piece.span
            old = {**piece.notes, **edit.notes}
            lines[start:end] = [] if edit.fields is None else _item_lines(edit, edit.fields, old)
        for edit in edits:
            if edit.piece is None and edit.fields is not None:
                section = f"## {edit.notes.get('section') or 'Key Facts'}"
                if section not in lines:
                    lines += ["", section]
                at = _end_of(lines, section)
                lines[at:at] = _item_lines(edit, edit.fields, edit.notes)
        return "\n".join([*lines, ""])


def _item(words: str, section: str, at: int) -> Piece:
    marks = dict(_MARK.findall(words))
    content = _STALE.sub("", _MARK.sub("", words)).strip()
    fields = {"content": content}
    if marks.get("verified", "").strip():
        fields["verified_at"] = marks["verified"].strip()
    notes = {"section": section, **({"source": marks["source"].strip()} if "source" in marks else {})}
    return Piece(words_key(content), fields, notes, span=(at, at + 1))


def _item_lines(edit: Edit, fields: Fields, notes: Fields) -> list[str]:
    line = f"- {one_line(fields['content'])}"
    if edit.clash is not None:
        other = f"- {one_line(edit.clash['content'])}"
        return [f"- {OURS}", line, f"- {MIDDLE}", other, f"- {THEIRS}"]
    if notes.get("source"):
        line += f" [source: {notes['source']}]"
    if fields.get("verified_at"):
        line += f" [verified: {str(fields['verified_at'])[:10]}]"
    return [line]


# ---------------------------------------------------------------- a page that is one memory


class WholePage:
    """A procedure, a principle or an insight: a title, lines of what is known of it, and sections."""

    def __init__(self, word: str, main: str) -> None:
        self._word = word
        self._main = main

    def pieces(self, text: str) -> list[Piece]:
        """The one piece: the words of its main section, or of all sections when there are more."""
        title, meta, body = page_parts(text)
        if not body.strip():
            return []
        sections = _sections(body)
        named = {name: words for name, words in sections.items() if words}
        alone = set(named) == {self._main}
        content = named[self._main] if alone else body.strip()
        fields: dict[str, Any] = {"content": content}
        if meta.get("Priority", "") in ("P0", "P1", "P2", "P3"):
            fields["priority"] = meta["Priority"]
        name = title.removeprefix(f"{self._word}:").strip()
        clash = is_marked(body)
        return [
            Piece("", fields, {"title": name, **{k: v for k, v in meta.items() if k != "Priority"}}, clash)
        ]

    def edited(self, text: str, edits: Sequence[Edit]) -> str:
        """The page with its words changed; its title and the lines below it stay."""
        edit = edits[-1]
        if edit.fields is None:
            return ""
        title, meta, body = page_parts(text)
        head = title or f"{self._word}: {edit.notes.get('title', '')}"
        shown = {k: v for k, v in edit.notes.items() if k != "title" and (not text.strip() or k in meta)}
        shown = {**meta, **shown}
        if "priority" in edit.fields and (not text.strip() or "Priority" in meta):
            shown.pop("Priority", None)
            shown = {"Priority": edit.fields["priority"], **shown}
        words = str(edit.fields["content"])
        if edit.clash is not None:
            words = conflict_text(words, str(edit.clash["content"]))
        piece = self.pieces(text)
        if piece and piece[0].fields["content"] == words:
            sections = body.strip()
        else:
            sections = words if words.startswith("## ") or is_marked(words) else f"## {self._main}\n{words}"
        lines = [
            f"# {head}",
            *(f"*{name}: {value}*" for name, value in shown.items() if value),
            "",
            sections,
            "",
        ]
        return "\n".join(lines)


def page_parts(text: str) -> tuple[str, dict[str, str], str]:
    r"""A page's title, the lines `*Name: value*` below it, and everything else.

    >>> page_parts("# Principle: Budget\n*Priority: P0*\n\n## Rule\nNothing extra.")
    ('Principle: Budget', {'Priority': 'P0'}, '## Rule\nNothing extra.')
    """
    lines = text.split("\n")
    title, meta, at = "", {}, 0
    while at < len(lines):
        line = lines[at]
        if not title and (match := _HEADING.match(line)) and match[1] == "#":
            title = match[2]
        elif match := _META.match(line):
            meta[match[1]] = match[2].strip()
        elif line.strip():
            break
        at += 1
    return title, meta, "\n".join(lines[at:]).rstrip("\n")


def _sections(body: str) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    name = ""
    for line in body.split("\n"):
        match = _HEADING.match(line)
        if match and match[1] == "##":
            name = match[2]
            sections.setdefault(name, [])
        else:
            sections.setdefault(name, []).append(line)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}


# ---------------------------------------------------------------- shared


def words_key(words: str) -> str:
    """A short mark of some words."""
    return hashlib.blake2b(" ".join(words.split()).encode(), digest_size=6).hexdigest()


def one_line(words: Any) -> str:
    """Words on one line, as a list item has them."""
    return " ".join(str(words).split())


def _number_repeats(pieces: Sequence[Piece]) -> list[Piece]:
    """Items with the same words are told apart by their order."""
    counts: dict[str, int] = {}
    numbered = []
    for piece in pieces:
        count = counts[piece.key] = counts.get(piece.key, 0) + 1
        numbered.append(replace(piece, key=f"{piece.key}.{count}") if count > 1 else piece)
    return numbered


def _from_below(edits: Sequence[Edit]) -> list[tuple[Piece, Edit]]:
    """Edits of pieces that are there, the last first: so that lines keep their numbers."""
    there = [(edit.piece, edit) for edit in edits if edit.piece is not None]
    return sorted(there, key=lambda pair: pair[0].span, reverse=True)


def _end_of(lines: Sequence[str], heading: str) -> int:
    """The line after the last one with words in a section."""
    start = next((at for at, line in enumerate(lines) if line.strip() == heading), len(lines) - 1)
    end = start + 1
    for at in range(start + 1, len(lines)):
        if _HEADING.match(lines[at]):
            break
        if lines[at].strip():
            end = at + 1
    return end


def keep_keys(base: Mapping[str, Fields], current: Sequence[Piece]) -> list[Piece]:
    """The pieces with the keys they had: an item that was edited keeps its key, a new one gets its own.

    >>> was = {"k1": {"content": "Anna lives in Ghent"}, "k2": {"content": "Ben sings"}}
    >>> [
    ...     piece.key
    ...     for piece in keep_keys(
    ...         was, [Piece("x", {"content": "Anna lives in Bruges"}), Piece("k2", {"content": "Ben sings"})]
    ...     )
    ... ]
    ['k1', 'k2']
    """
    taken = {piece.key for piece in current if piece.key in base}
    free = [key for key in base if key not in taken]
    keyed: list[Piece] = []
    for piece in current:
        if piece.key in taken or not free:
            keyed.append(piece)
            continue
        words = str(piece.fields["content"])
        likeness, key = max(
            (SequenceMatcher(None, words, str(base[key_]["content"]), autojunk=False).ratio(), key_)
            for key_ in free
        )
        if likeness < ALIKE:
            keyed.append(piece)
            continue
        free.remove(key)
        keyed.append(replace(piece, key=key))
    return keyed
