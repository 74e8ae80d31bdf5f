"""What the folder and the memory last agreed on, and how the folder is set up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engram.errors import WorkspaceError
from engram.workspace import folder
from engram.workspace.folder import HOME, Stamp
from engram.workspace.pages import Fields

SETUP = f"{HOME}/workspace.json"
STATE = f"{HOME}/state.json"
VERSION = 1


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
    def told(self) -> dict[str, Any]:
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
        found: dict[str, list[tuple[str, str]]] = {}
        for path, file in self.files.items():
            for key, piece in file.pieces.items():
                if piece.memory:
                    found.setdefault(piece.memory, []).append((path, key))
        return found

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
    return Setup(
        tuple(data.get("layouts") or ()),
        tuple(data.get("tiers") or ("clear",)),
        dict(data.get("scope") or {}),
        str(data.get("since") or ""),
        str(data.get("id") or ""),
    )


def save_setup(root: Path, setup: Setup) -> None:
    """Keep how the folder is set up."""
    told = {
        "version": VERSION,
        "layouts": list(setup.layouts),
        "tiers": list(setup.tiers),
        "scope": dict(setup.scope),
        "since": setup.since,
        "id": setup.id,
    }
    _write(root, SETUP, json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def load_state(root: Path, owner: str) -> FolderState:
    """What was agreed on; nothing when that was lost or with another memory: then all is compared anew."""
    data = _read(root, STATE)
    if data is None or data.get("version") != VERSION or data.get("owner") != owner:
        return FolderState(owner=owner)
    files = {path: _file(told) for path, told in data.get("files", {}).items()}
    return FolderState(
        str(data.get("place", "")),
        files,
        set(data.get("dismissed", ())),
        set(data.get("logged", ())),
        str(data.get("compacted", "")),
        str(data.get("rebuilt", "")),
        owner,
    )


def _file(told: Mapping[str, Any]) -> KnownFile:
    stamp = told.get("stamp")
    pieces = {key: Known(**piece) for key, piece in told.get("pieces", {}).items()}
    return KnownFile(
        told.get("kind", ""),
        Stamp(*stamp) if stamp else None,
        pieces,
        told.get("digest", ""),
        told.get("text"),
    )


def save_state(root: Path, state: FolderState) -> None:
    """Keep what was agreed on, in one step."""
    told = {
        "version": VERSION,
        "owner": state.owner,
        "place": state.place,
        "files": {path: _plain(file) for path, file in state.files.items()},
        "dismissed": sorted(state.dismissed),
        "logged": sorted(state.logged),
        "compacted": state.compacted,
        "rebuilt": state.rebuilt,
    }
    _write(root, STATE, json.dumps(told, ensure_ascii=False, separators=(",", ":")))


def _plain(file: KnownFile) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": file.kind, "digest": file.digest}
    if file.stamp is not None:
        told["stamp"] = [file.stamp.size, file.stamp.modified, file.stamp.inode]
    if file.text is not None:
        told["text"] = file.text
    told["pieces"] = {key: _piece(one) for key, one in file.pieces.items()}
    return told


def _piece(one: Known) -> dict[str, Any]:
    mind = {
        name: value for name, value in one.mind.items() if name not in one.file or one.file[name] != value
    }
    told: dict[str, Any] = {"memory": one.memory, "file": dict(one.file)}
    told |= {"mind": mind} if mind else {}
    told |= {"clash": one.clash} if one.clash else {}
    told |= {"own": True} if one.own else {}
    return told | ({"old": True} if one.old else {})


def digest(text: str) -> str:
    """A mark of a text."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _read(root: Path, name: str) -> dict[str, Any] | None:
    try:
        found = json.loads((root / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise WorkspaceError(
            f"{root / name} is damaged ({error}): remove it, and sync compares everything."
        ) from error
    return found if isinstance(found, dict) else None


def _write(root: Path, name: str, text: str) -> None:
    (root / HOME).mkdir(parents=True, exist_ok=True)
    for _ in range(3):
        if folder.write(root, name, text, folder.stamp(root, name), durable=True) is not None:
            return
    raise WorkspaceError(f"{name} is written by somebody else at the same time.")
