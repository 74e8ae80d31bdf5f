"""Bytes of a source: a path comes in, text comes out, or an error that says what is wrong with the file.

An archive is read in memory, member by member and only so far: nothing is ever unpacked to disk, so that
neither a name with dots nor a member that unpacks to terabytes can do harm. What is no file (a device, a
pipe) may never end, and is not opened.
"""

from __future__ import annotations

import codecs
import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engram.capture.observe import PARTS
from engram.errors import BadImport, BadSource, BadText, EngramError, SourceTooLarge
from engram.model.capture import Fate, ItemReport, Part
from engram.model.clock import written_moment
from engram.text import re

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


def json_lines(text: str, origin: str) -> Iterator[tuple[int, Any]]:
    """The values of JSON Lines with their numbers; in the place of what is none, the report that says so."""
    for number, line in lines(text):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, unreadable(f"{origin}{number}", number, f"it is no JSON ({error}).")


# ---------------------------------------------------------------- shapes
# Shapes that several exports share: times, roles and contents as they come, values of ours as they go.


BEGINNING = 80
"""Characters of an item that a report shows."""
_MILLISECONDS = 1e11
"""A number of seconds beyond this lies in the year 5138: it counts milliseconds."""
_TEXTS = frozenset({"text", "input_text", "output_text"})


def moment(value: Any) -> datetime | None:
    """A time from seconds or milliseconds since 1970, or from ISO 8601 text; None when it is none.

    >>> moment(1714521600.5).isoformat(), moment("2024-05-01T00:00:00Z").isoformat(), moment("soon")
    ('2024-05-01T00:00:00.500000+00:00', '2024-05-01T00:00:00+00:00', None)
    """
    try:
        if found := written_moment(value):
            return found.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def part_of(role: Any) -> Part | None:
    """Whose part in a conversation a role plays; None for one that nobody knows."""
    return PARTS.get(role.lower()) if isinstance(role, str) else None


def words_of(content: Any) -> str:
    r"""The words of a message's content: text, or a list of blocks of which only text was said.

    >>> words_of([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}, "here"])
    'Look:\n\nhere'
    """
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, Mapping):
        return words_of([content])
    if not isinstance(content, list):
        return ""
    found = [block if isinstance(block, str) else _block(block) for block in content]
    return "\n\n".join(words for one in found if (words := one.strip()))


def _block(block: Any) -> str:
    if not isinstance(block, Mapping) or block.get("type", "text") not in _TEXTS:
        return ""
    text = block.get("text")
    return text if isinstance(text, str) else ""


def label(value: Any) -> str:
    """A title or name on one line; empty when there is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def refused(origin: str, error: EngramError, text: str = "") -> ItemReport:
    """The report of an item that cannot be taken."""
    shown = text[:BEGINNING].encode(errors="replace").decode()
    return ItemReport(origin, Fate.REFUSED, (), error.message, error.code, shown)


def unreadable(origin: str, number: int, why: str) -> ItemReport:
    """The report of a line, or a part, that cannot be read."""
    return refused(origin, BadImport(number, why))
