"""The folder: files are listed, read and written so that nothing half-written is ever seen.

Links are not followed, editors' temporary files and hidden ones are passed over, and a file that somebody
saved in the meantime is not written over.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from engram.errors import WorkspaceError
from engram.lazily import dataclass

HOME = ".engram"
"""Where the folder keeps what it knows of itself."""
LARGEST = 8_000_000
"""Bytes of a file that is read; a longer one is passed over and told of."""
SUFFIXES = (".md", ".json", ".jsonl")
TEMPORARY = ".engram-"
_EDITORS = re.compile(
    r"^[.#]|~$|\.(?:swp|swo|swx|tmp|temp|bak|orig|part|crdownload)$|^4913$|\.sync-conflict-"
)
"""Names that editors and synchronizers give to files that are not meant to stay."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells without reading whether a file is as it was."""

    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, looked: os.stat_result) -> Stamp:
        """The stamp of a file that was looked at."""
        return cls(looked.st_size, looked.st_mtime_ns, looked.st_ino)


class FolderLock:
    """Holds a folder for one process at a time. Use it in a `with` block."""

    def __init__(self, root: Path) -> None:
        self._path = root / HOME / "lock"
        self._handle = -1

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _lock(self._handle)
        except OSError as error:
            os.close(self._handle)
            raise WorkspaceError(
                f"Another process is syncing {self._path.parent.parent}: try again when it is done."
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # where there are no such locks, the last one wins
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_ours(name: str) -> bool:
    """Whether a file of this name is one that people keep.

    >>> is_ours("pack.md"), is_ours(".pack.md.swp"), is_ours("pack.md~"), is_ours("photo.png")
    (True, False, False, False)
    """
    return name.endswith(SUFFIXES) and not _EDITORS.search(name)


def list_files(root: Path, tops: Sequence[str]) -> dict[str, Stamp]:
    """Every file below these folders, and these files, by its path from the root; links are left out."""
    stamps: dict[str, Stamp] = {}
    for top in tops:
        path = root / top
        with contextlib.suppress(FileNotFoundError):
            looked = path.lstat()
            if stat.S_ISREG(looked.st_mode):
                stamps[top] = Stamp.of(looked)
            elif stat.S_ISDIR(looked.st_mode):
                stamps.update(_below(path, top))
    return stamps


def _below(folder: Path, name: str) -> Iterator[tuple[str, Stamp]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink() or entry.name.startswith("."):
                continue
            here = f"{name}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path), here)
            elif entry.is_file(follow_symlinks=False) and is_ours(entry.name):
                with contextlib.suppress(FileNotFoundError):  # gone since it was listed
                    yield here, Stamp.of(entry.stat(follow_symlinks=False))


def read(root: Path, name: str) -> tuple[str, Stamp]:
    """A file's text and the stamp of what was read. Raises WorkspaceError for what is no text."""
    path = checked_path(root, name)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise WorkspaceError(f"{name} cannot be read: {error.strerror}.") from error
    with os.fdopen(handle, "rb") as file:
        stamp = Stamp.of(os.fstat(file.fileno()))
        if stamp.size > LARGEST:
            raise WorkspaceError(f"{name} is larger than {LARGEST:,} bytes: it is passed over.")
        raw = file.read(LARGEST + 1)
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n"), stamp
    except UnicodeDecodeError as error:
        raise WorkspaceError(f"{name} is no UTF-8 text: it is passed over.") from error


def write(root: Path, name: str, text: str, former: Stamp | None, *, durable: bool = False) -> Stamp | None:
    """Put a text in a file's place, whole or not at all; None when it is not as `known` any more.

    `known` is what was read before; None when there was no such file. A `durable` one outlives a power cut.
    """
    path = checked_path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=TEMPORARY, suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(temporary).chmod(_mode(path))
        if stamp(root, name) != former:
            return None
        Path(temporary).replace(path)
        return stamp(root, name)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.lstat().st_mode)
    except FileNotFoundError:
        return 0o644


def stamp(root: Path, name: str) -> Stamp | None:
    """The stamp of a file as it is; None when there is none."""
    try:
        return Stamp.of((root / name).lstat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def remove(root: Path, name: str, former: Stamp | None) -> bool:
    """Take a file away unless somebody saved it meanwhile; whether it is gone."""
    path = checked_path(root, name)
    if stamp(root, name) != former:
        return False
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    for parent in path.parents:
        if parent == root:
            break
        try:
            parent.rmdir()  # an empty folder says nothing
        except OSError:
            break
    return True


def checked_path(root: Path, name: str) -> Path:
    """The path of a file below the root. Raises WorkspaceError when a link or `..` would lead elsewhere."""
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") for part in parts):
        raise WorkspaceError(f"{name!r} is no place inside the folder.")
    path = root
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise WorkspaceError(f"{name} is, or lies behind, a link: links are not followed.")
    return path


def sweep_temporary(root: Path, tops: Sequence[str]) -> int:
    """Remove what a process that died left half-written; how many files."""
    count = 0
    for top in (HOME, *tops):
        for folder, folders, names in os.walk(root / top, followlinks=False):
            folders[:] = [entry for entry in folders if not Path(folder, entry).is_symlink()]
            for entry in names:
                if entry.startswith(TEMPORARY) and entry.endswith(".tmp"):
                    with contextlib.suppress(OSError):
                        Path(folder, entry).unlink()
                        count += 1
    return count
