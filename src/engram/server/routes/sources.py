"""What comes from elsewhere over REST: texts, summaries, results, and a file as the body of a request."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from engram.capture.sources.files import is_archive, unpacked_size
from engram.engine import Engram
from engram.errors import BadText, InvalidInput, SourceTooLarge
from engram.model.ingest import IngestReport
from engram.nouns.sources import TEXTS, Progress, Sources
from engram.server.route import Route

AUTO = "auto"
UNPACKED = 100_000_000
"""Bytes that an archive which comes in a request may unpack to: others wait for the same memory."""
DOCUMENTS = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text"}


def upload(  # noqa: PLR0913 - each is a thing to say of a file; all by name
    memory: Engram,
    *,
    body: bytes = b"",
    name: str = "",
    format: str = AUTO,  # noqa: A002 (the word a user knows it by)
    dry: bool = False,
    tags: Sequence[str] = (),
    progress: Progress | None = None,
) -> IngestReport:
    """Take in a file that is the body of the request. `name` is what it is known by when it comes again."""
    if not body:
        raise InvalidInput("The file is empty: send it as the body of the request.")
    clean = Path(name.replace("\\", "/")).name[:200] or "upload"
    kind = DOCUMENTS.get(Path(clean).suffix.lower(), "") if format == AUTO else format
    if kind in TEXTS:
        return memory.sources.text(_text(body), title=clean, format=kind, dry=dry, tags=tags)
    with tempfile.TemporaryDirectory(prefix="engram-upload-") as folder:
        path = Path(folder, clean)
        path.write_bytes(body)
        del body  # it lies in the file by now
        if is_archive(path) and unpacked_size(path) > UNPACKED:
            raise SourceTooLarge(clean, UNPACKED)
        return memory.sources.file(path, format=format, dry=dry, tags=tags, progress=progress)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText("file", "bytes that are not UTF-8") from error


ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/v1/sources/text",
        Sources.text,
        on="sources",
        example={"text": "# House\n\nThe boiler was serviced in May 2025.", "title": "house.md"},
    ),
    Route(
        "POST",
        "/v1/sources/summary",
        Sources.summary,
        on="sources",
        example={"text": "We decided to move to Bremen.", "session": "monday"},
    ),
    Route(
        "POST",
        "/v1/sources/task",
        Sources.task,
        on="sources",
        example={"name": "nightly build", "result": "The disk was full.", "outcome": "failure"},
    ),
    Route(
        "POST",
        "/v1/sources/flow",
        Sources.flow,
        on="sources",
        example={"name": "release", "steps": ["test", "tag"], "result": "Released 1.2."},
    ),
    Route(
        "POST",
        "/v1/sources/research",
        Sources.research,
        on="sources",
        example={
            "query": "boiler service interval",
            "findings": ["Once a year."],
            "urls": ["https://example.org"],
        },
    ),
    Route(
        "POST",
        "/v1/sources/file",
        upload,
        takes="application/octet-stream",
        example={"name": "house.md", "format": "markdown"},
    ),
)
