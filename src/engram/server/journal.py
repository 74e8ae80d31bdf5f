"""The journal: a line of JSON for each request, without a word of any memory, query or body."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import IO, Any

log = logging.getLogger("engram.server")
TOLD = "told"
"""Where a record carries what it tells beside its message."""


class Line(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, TOLD, {}),
        }
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def note(event: str, level: int = logging.INFO, **told: Any) -> None:
    """Write a line."""
    log.log(level, event, extra={TOLD: told})


def bug(error: BaseException, request: str, route: str) -> None:
    """Write down an error that nobody foresaw, with its trace."""
    log.error("bug", exc_info=error, extra={TOLD: {"request": request, "route": route}})


def write_to(stream: IO[str] | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send the journal somewhere; standard error if nothing is said."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Line())
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
    return handler
