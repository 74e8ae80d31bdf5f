# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Sources`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engram.aio.threads import Threads
from engram.capture.sources.detect import AUTO
from engram.capture.sources.results import Finding
from engram.model.ingest import IngestReport
from engram.model.scope import Scope
from engram.nouns.sources import Progress, Sources


class AsyncSources:
    """`Sources` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Sources, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def file(
        self,
        path: str | Path,
        *,
        format: str = AUTO,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in a document, a chat export or another tool's memories; of a folder, every document in it.

        Raises UnknownFormat, BadSource, BadText or SourceTooLarge, and OSError for what cannot be opened.
        """
        return await self._threads.run(
            self._inner.file,
            path,
            format=format,
            dry=dry,
            scope=scope,
            tags=tags,
            progress=self._threads.told(progress),
        )

    async def text(
        self,
        text: str,
        *,
        title: str = "",
        format: str = "markdown",
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
    ) -> IngestReport:
        """Take in a text. With a title it is a document that may be given again when it has changed."""
        return await self._threads.run(
            self._inner.text, text, title=title, format=format, dry=dry, scope=scope, tags=tags
        )

    async def code(
        self,
        folder: str | Path,
        *,
        dry: bool = False,
        scope: Scope | None = None,
        tags: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in a source tree: what each file is for, and what each public class and function does."""
        return await self._threads.run(
            self._inner.code, folder, dry=dry, scope=scope, tags=tags, progress=self._threads.told(progress)
        )

    async def summary(
        self, text: str, *, session: str, dry: bool = False, scope: Scope | None = None
    ) -> IngestReport:
        """Take in the summary of a session, as a client writes it when it makes room."""
        return await self._threads.run(self._inner.summary, text, session=session, dry=dry, scope=scope)

    async def task(
        self,
        name: str,
        result: str = "",
        *,
        outcome: str = "success",
        details: Mapping[str, Any] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a task came to: success, failure or partial."""
        return await self._threads.run(
            self._inner.task, name, result, outcome=outcome, details=details, dry=dry, scope=scope
        )

    async def flow(
        self,
        name: str,
        steps: Iterable[str | Mapping[str, Any]] = (),
        *,
        result: str = "",
        outcome: str = "success",
        details: Mapping[str, Any] | None = None,
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a flow of several steps came to. A step is its name, or has name, outcome and result."""
        return await self._threads.run(
            self._inner.flow,
            name,
            steps,
            result=result,
            outcome=outcome,
            details=details,
            dry=dry,
            scope=scope,
        )

    async def research(
        self,
        findings: str | Sequence[Finding],
        *,
        query: str,
        urls: Sequence[str] = (),
        dry: bool = False,
        scope: Scope | None = None,
    ) -> IngestReport:
        """Keep what a search found, with the question and the addresses.

        A finding is text, or has `text` and its own `url`.
        """
        return await self._threads.run(
            self._inner.research, findings, query=query, urls=urls, dry=dry, scope=scope
        )
