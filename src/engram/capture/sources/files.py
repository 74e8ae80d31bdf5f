"""Bytes of a source: a path comes in, text comes out, or an error that says what is wrong with the file.

An archive is read in memory, member by member and only so far: nothing is ever unpacked to disk, so that
neither a name with dots nor a member that unpacks to terabytes can do harm. What is no file (a device, a
pipe) may never end, and is not opened.
"""

from __future__ import annotations

import codecs
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engram.errors import BadSource, BadText, SourceTooLarge

LARGEST = 512_000_000
"""Bytes of one file, or of what an archive unpacks to. A large chat export has some hundred MB."""
SWELLING = 100
"""How many times its size an archive may unpack to. Chats come to about ten times, a trap to a thousand."""
SMALL = 1_000_000
"""What unpacks to no more than this is no trap, however well it is packed."""
_CONVERSATIONS = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_text(path: Path, limit: int = LARGEST) -> str:
    """The text of a file, however its lines end. Raises SourceTooLarge, BadSource or BadText."""
    check_is_file(path)
    with path.open("rb") as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise SourceTooLarge(path.name, limit)
    return decoded(raw, path.name)


def decoded(raw: bytes, name: str) -> str:
    """Bytes as text: UTF-8, or UTF-16 when the file says so by its first bytes."""
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise BadText(f"file {name}", "bytes that are not UTF-8") from error


def check_is_file(path: Path) -> None:
    """Refuse what is there and is no file. Raises BadSource."""
    if path.exists() and not path.is_file():
        raise BadSource(path.name, "a file", "it is a device, a pipe or a socket, which need not end")


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, whatever its name says. Raises BadSource for what is no file."""
    check_is_file(path)
    return zipfile.is_zipfile(path)


def unpacked_size(path: Path) -> int:
    """What the members of an export archive say that they unpack to, all together."""
    with zipfile.ZipFile(path) as archive:
        return sum(one.file_size for one in archive.infolist() if _CONVERSATIONS.search(one.filename))


def conversations(path: Path, limit: int = LARGEST) -> Iterator[tuple[str, str]]:
    """Each conversations file of an export archive: its name and its text."""
    left = limit
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if _CONVERSATIONS.search(member.filename)]
            if not members:
                raise BadSource(path.name, "an export archive", "it holds no conversations.json")
            # No more than it says is ever read of a member.
            unpacked = sum(member.file_size for member in members)
            if unpacked > min(limit, max(SMALL, SWELLING * path.stat().st_size)):
                raise SourceTooLarge(path.name, limit)
            for member in sorted(members, key=lambda one: one.filename):
                with archive.open(member) as file:
                    raw = file.read(left + 1)
                left -= len(raw)
                if left < 0:
                    raise SourceTooLarge(path.name, limit)
                yield member.filename, decoded(raw, member.filename)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        # An encrypted member is a RuntimeError, an unknown compression a NotImplementedError.
        why = f"the archive is damaged or locked ({error})"
        raise BadSource(path.name, "an export archive", why) from error


def loaded(text: str, name: str) -> Any:
    """JSON as values. Raises BadSource."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadSource(name, "JSON", f"it is damaged ({error})") from error


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
