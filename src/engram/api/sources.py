"""Sources: files, folders, code and results come in; `memory.sources` takes them in and reports on each item.

Everything goes through the same gate as a conversation, carries where it came from, and is known again the
next time: what is unchanged costs nothing, what changed is changed here, what went is archived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engram.api.caller import CallerContext, Noun
from engram.capture.sources import chats, documents
from engram.capture.sources import code as codebase
from engram.capture.sources.code import walk
from engram.capture.sources.detect import AUTO, MEMORIES, Source, document, open_source, suffixes
from engram.capture.sources.documents import Finding
from engram.capture.sources.files import refused
from engram.capture.sources.take import IngestOptions, ingest
from engram.errors import InvalidInput, UnknownValue, WrongType
from engram.model.capture import Ending, Found, IngestReport, Item, ItemKind
from engram.model.clock import check_cancelled
from engram.model.scope import Scope
from engram.rules.screen import tags as screened_tags

TEXTS = ("markdown", "text")
Progress = Callable[[int, int], None]


class Sources(Noun):
    """What comes from elsewhere. Hangs on the facade; safe to use from many threads."""

    def __init__(self, caller: CallerContext, listener: chats.ChatListener) -> None:
        super().__init__(caller)
        self._listener = listener

    def file(
        self,
        path: str | Path,
        *,
        format: str = AUTO,  # noqa: A002 - the word a user knows it by
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in a document, a chat export or another tool's memories; of a folder, every document in it.

        Raises UnknownFormat, BadSource, BadText or SourceTooLarge, and OSError for what cannot be opened.
        """
        options = self._options(scope, tags, dry=dry, progress=progress)
        where = Path(path)
        if where.is_dir():
            return self._folder(where, format, options)
        self._caller.take_room([], where.stat().st_size if where.is_file() else 0)
        source = open_source(where, format)
        if source.format in MEMORIES:
            return self.move_in(
                where, system=source.format, dry=dry, scope=scope, tags=options.tags, progress=progress
            )
        return self._source(source, options)

    def move_in(  # noqa: PLR0913 - each is a thing to say of a move; all but the path by name
        self,
        path: str | Path,
        *,
        system: str = AUTO,
        mapping: Mapping[str, str] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in what another system kept as it was there: ids, times, status, users, relations, trust.

        Args:
            path: its folder, database or export.
            system: ledger, files, engram, engram-rs, retention, mem0, zep, hindsight, letta, mcp-memory,
                basic-memory, chatgpt, claude, csv or jsonl; by default it is found out.
            mapping: for a table, which column is what: `{"content": "note", "created_at": "when"}`.
            dry: read and check everything, and write nothing.
            scope: where all of it goes; by default where it was, a place for each of several users.
            tags: more tags for all of it.
            progress: hears how many of how many are done.

        Returns:
            What became of each item; `undo` of its `run` takes all of it back.

        """
        from engram.api.moving import CHATS, Placing, move_in, system_at

        chosen = system_at(Path(path), mapping or {}) if system == AUTO else system
        if chosen in CHATS:
            return self.file(path, dry=dry, scope=scope, tags=tags, progress=progress)
        place = Placing(scope, screened_tags(tuple(tags)))
        return move_in(self._caller, Path(path), chosen, mapping or {}, place, dry=dry, progress=progress)

    def text(
        self,
        text: str,
        *,
        title: str = "",
        format: str = "markdown",  # noqa: A002 - as above
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
    ) -> IngestReport:
        """Take in a text. With a title it is a document that may be given again when it has changed.

        Raises AccessDenied, TooMuchWritten, InvalidInput.
        """
        options = self._options(scope, tags, dry=dry)
        if not isinstance(text, str):
            raise WrongType("text", text, "text")
        if format not in TEXTS:
            raise UnknownValue("format of a text", format, TEXTS)
        self._caller.take_room([], len(text.encode("utf-8", "replace")))
        if title:
            return self._source(document(text, format, f"text:{title}", title), options)
        found = document(text, format, "text:", "").found
        items = [_by_words(one) for one in found]
        return replace(self._take(items, replace(options, beginning="text:#")), format=format)

    def code(
        self,
        folder: str | Path,
        *,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in a source tree: what each file is for, and what each public class and function does."""
        options = self._options(scope, tags, dry=dry, progress=progress)
        where = Path(folder)
        options = replace(options, beginning=codebase.origin_of(where), whole=True, source="codebase")
        return replace(self._take(codebase.read(where), options), format=codebase.FORMAT)

    def summary(
        self, text: str, *, session: str, dry: bool = False, scope: Scope | None = None
    ) -> IngestReport:
        """Take in the summary of a session, as a client writes it when its context is full."""
        options = replace(self._options(scope, (), dry=dry), beginning=f"session:{session}#")
        return self._take(documents.summary(text, session, self._tools.clock.now()), options)

    def task(
        self,
        name: str,
        result: str = "",
        *,
        outcome: Ending | str = Ending.SUCCESS,
        details: Mapping[str, Any] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a task came to: success, failure or partial. Raises AccessDenied, InvalidInput."""
        now = self._tools.clock.now()
        item = documents.task(name, result, outcome, now, details or {})
        return self._take([item], self._options(scope, (), dry=dry))

    def flow(  # noqa: PLR0913 - each is a thing a flow knows of itself; all but two by name
        self,
        name: str,
        steps: Iterable[str | Mapping[str, Any]] = (),
        *,
        result: str = "",
        outcome: Ending | str = Ending.SUCCESS,
        details: Mapping[str, Any] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a flow of several steps came to. A step is its name, or has name, outcome and result."""
        now = self._tools.clock.now()
        taken = [documents.step(step) for step in steps]
        item = documents.flow(name, taken, result, outcome, now, details or {})
        return self._take([item], self._options(scope, (), dry=dry))

    def research(
        self,
        findings: str | Sequence[Finding],
        *,
        query: str,
        urls: Sequence[str] = (),
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a search found, with the question and the addresses.

        A finding is text, or has `text` and its own `url`. Raises AccessDenied, InvalidInput.
        """
        given = [findings] if isinstance(findings, str) else list(findings)
        items = list(documents.research(given, query, urls, self._tools.clock.now()))
        options = self._options(scope, (), dry=dry)
        return self._take(items, replace(options, beginning="research:"))

    # ------------------------------------------------------------ below

    def _options(
        self, scope: Scope | None, tags: Sequence[str], *, dry: bool, progress: Progress | None = None
    ) -> IngestOptions:
        place = self._caller.access.scope if scope is None else scope
        self._caller.check_write(place)
        return IngestOptions(
            scope=place,
            actor=self._caller.actor,
            check=self._caller.check_write,
            dry=dry,
            moved=scope is not None,
            tags=screened_tags(tuple(tags)),
            progress=progress,
        )

    def _source(self, source: Source, options: IngestOptions) -> IngestReport:
        options = replace(options, beginning=source.beginning, whole=source.is_document, source=source.name)
        return replace(self._take(source.found, options), format=source.format)

    def _folder(self, folder: Path, format: str, options: IngestOptions) -> IngestReport:  # noqa: A002 - as above
        """Every document below, and what is left of those that are there no more."""
        report = IngestReport(dry=options.dry)
        beginning = f"file:{folder.resolve().as_posix()}/"
        read: set[str] = set()
        for path in walk(folder.resolve(), suffixes()):
            origin = f"file:{path.as_posix()}"
            read.add(f"{origin}#")
            try:
                report += self._source(open_source(path, format), options)
            except InvalidInput as error:
                report += IngestReport((refused(origin, error),), options.dry)
        for origin in self._store.origins.known(options.scope, beginning):
            former = f"{origin.partition('#')[0]}#"
            if former not in read:
                read.add(former)
                name = former[:-1].rpartition("/")[2]
                report += self._source(document("", "text", former[:-1], name), options)
        return report

    def _take(self, found: Iterable[Found], options: IngestOptions) -> IngestReport:
        self._tools.pressure.check_room("take a source in")
        everything: list[Found] = []
        for one in found:
            check_cancelled()
            everything.append(one)
        turns = [one for one in everything if isinstance(one, Item) and one.kind is ItemKind.TURN]
        if turns:
            return chats.listen(everything, options, self._listener, self._caller.gate, self._tools)
        report = ingest(everything, options, self._tools)
        # Whether something was stored without its vector: the next write pays for it.
        space = self._caller.space()
        self._caller.owing = space is None or bool(self._store.memories.unembedded(space, 0, 1))
        return report


def _by_words(item: Found) -> Found:
    """A passage of a text without a name is known by its words."""
    if not isinstance(item, Item):
        return item
    return replace(item, origin=f"text:#{item.digest}", source="import")
