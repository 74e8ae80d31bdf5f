"""Which format a file has: a path comes in; how it is read, and what its origins begin with, come out.

The name is believed where it says something; JSON is known by what it holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from engram import plugins
from engram.capture.sources import chats, documents, files, homes
from engram.errors import BadSource, UnknownFormat, UnknownValue
from engram.lazily import dataclass
from engram.model.capture import Fate, Found, ItemReport
from engram.model.memory import SOURCE_LENGTH_LIMIT

AUTO = "auto"
MEMORIES = tuple(homes.OF_JSON)
"""What other systems kept, or we: it comes in as `move_in` takes it."""
FORMATS = ("markdown", "text", "chatgpt", "claude", "messages", *MEMORIES)
_BY_SUFFIX = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".mkd": "markdown",
    ".txt": "text", ".text": "text", ".rst": "text", ".org": "text", ".adoc": "text",
}  # fmt: skip
DOCUMENTS = frozenset(_BY_SUFFIX)
"""Suffixes of notes and documents: what is read of a folder."""
_LINES = frozenset({".jsonl", ".ndjson"})
READ_HERE = DOCUMENTS | _LINES | {".json", ".zip"}
"""Suffixes that no extension is asked about."""
SNIFFED = 20
"""Lines of JSON that are looked at: a log may begin with something else than a message."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it is read."""

    format: str
    found: Iterable[Found]
    beginning: str
    """What the origins of its items begin with."""
    name: str = ""
    """What its memories are marked with; empty when they are no document's."""

    @property
    def is_document(self) -> bool:
        """Whether the file is the truth about what it holds: what goes there goes here."""
        return self.format in ("markdown", "text")


def open_source(path: Path, format: str = AUTO, limit: int = files.LARGEST) -> Source:  # noqa: A002 (a user's word)
    """How a file is read. Raises UnknownFormat, BadSource, BadText or SourceTooLarge."""
    suffix = path.suffix.lower()
    if format not in (AUTO, *FORMATS) or (format == AUTO and suffix not in READ_HERE):
        for name, added in plugins.installed("sources"):
            if format == name or (format == AUTO and suffix in added.suffixes):
                return Source(name, added.read(files.read_text(path, limit), path.name), f"{name}:")
    if format not in (AUTO, *FORMATS):
        raise UnknownValue("format", format, (AUTO, *FORMATS, *plugins.names("sources")))
    if files.is_archive(path):
        return _archive(path, format, limit)
    text = files.read_text(path, limit)
    named = _BY_SUFFIX.get(suffix, "") if format == AUTO else format
    if named in ("markdown", "text"):
        return document(text, named, f"file:{path.resolve().as_posix()}", path.name)
    data = _values(text, path.name, lines=suffix in _LINES)
    return _json(text, data, path, "" if format == AUTO else format)


def suffixes() -> frozenset[str]:
    """The suffixes of what is read of a folder: notes, documents, and what extensions read."""
    return DOCUMENTS.union(*(added.suffixes for _, added in plugins.installed("sources")))


def document(text: str, format: str, origin: str, title: str) -> Source:  # noqa: A002 (a user's word)
    """A text as a document: its passages follow it when it changes."""
    name = f"document:{title}"[:SOURCE_LENGTH_LIMIT]
    read = documents.read_markdown if format == "markdown" else documents.read_plain
    found: Iterator[Found] = read(text, origin, title=title, source=name)
    if format == "markdown" and (status := documents.withdrawn(text)):
        found = iter([ItemReport(origin, Fate.DROPPED, reason=f"it is {status}")])
    return Source(format, found, f"{origin}#", name)


def _archive(path: Path, format: str, limit: int) -> Source:  # noqa: A002 (as above)
    parts: list[Iterator[Found]] = []
    chosen = ""
    for name, text in files.conversations(path, limit):
        data = files.loaded(text, name)
        fitting = [one for one in chats.EXPORTS if chats.is_export(one, data) and format in (AUTO, one)]
        if data == []:
            continue
        if not fitting:
            raise BadSource(path.name, "a chat export" if format == AUTO else format, f"{name} is none")
        chosen = fitting[0]
        parts.append(chats.read_export(chosen, data))
    return Source(chosen or "chatgpt", chain.from_iterable(parts), f"{chosen}:")


class _Lines(list[Any]):
    """Values of JSON Lines, as far as they were looked at."""


def _values(text: str, name: str, *, lines: bool) -> Any:
    """The JSON of a file, or the first values of JSON Lines. Raises UnknownFormat for what is neither."""
    bare = text.lstrip()
    if not bare.startswith(("{", "[")):
        raise UnknownFormat(name, "neither its name nor its beginning says what it is", FORMATS)
    if not lines:
        try:
            return json.loads(text)
        except RecursionError as error:
            raise BadSource(name, "JSON", "it is nested too deeply") from error
        except ValueError as error:
            if not _first_values(text):
                raise BadSource(name, "JSON", f"it is damaged ({error})") from error
    return _Lines(_first_values(text))


def _first_values(text: str) -> list[Any]:
    values = (value for _, value in islice(files.json_lines(text, ""), SNIFFED))
    return [value for value in values if not isinstance(value, ItemReport)]


def _json(text: str, data: Any, path: Path, wanted: str) -> Source:
    """Chats, and what systems kept: the first that fits, or the one that is wanted."""
    readers: dict[str, tuple[Callable[[Any], bool], Callable[[], Iterator[Found]]]] = {
        **{
            name: (partial(chats.is_export, name), partial(chats.read_export, name, data))
            for name in chats.EXPORTS
        },
        chats.MESSAGES_FORMAT: (chats.are_messages, lambda: chats.read_messages(data, path.stem)),
    }
    if isinstance(data, _Lines):
        is_talk = any(map(chats.are_messages, data))
        readers = {chats.MESSAGES_FORMAT: (lambda _: is_talk, lambda: chats.read_lines(text, path.stem))}
    for name, (fits, read) in readers.items():
        if wanted in ("", name) and fits(data):
            return Source(name, read(), f"{name}:")
    kept = homes.system_of(data) or "engram" * homes.has_words(data)
    if wanted in MEMORIES or (kept and not wanted):
        return Source(wanted or kept, (), "")
    if wanted:
        raise BadSource(path.name, wanted, "it holds nothing of that kind")
    raise UnknownFormat(path.name, "it is JSON of no known kind", FORMATS)
