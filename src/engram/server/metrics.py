"""Metrics: requests are counted as they are answered; Prometheus reads the counts as text."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any

from engram._version import __version__
from engram.server.host import MemoryHost

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the latency buckets, in seconds."""
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts by route. Used from the event loop and read from a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.under_way = 0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        with self._lock:
            self._requests[method, route, status] += 1
            buckets = self._buckets.setdefault(route, [0] * (len(BOUNDS) + 1))
            buckets[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self, memory_host: MemoryHost) -> str:
        """Everything as Prometheus reads it."""
        with self._lock:
            lines = [*self._request_lines(), *self._latency_lines()]
        return "\n".join([*lines, *_gauges(memory_host, self.under_way), ""])

    def _request_lines(self) -> Iterator[str]:
        yield from _head("engram_requests_total", "counter", "Answered requests by route and status.")
        for (method, route, status), number in sorted(self._requests.items()):
            yield f"engram_requests_total{_labels(method=method, route=route, status=str(status))} {number}"

    def _latency_lines(self) -> Iterator[str]:
        name = "engram_request_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for route, buckets in sorted(self._buckets.items()):
            so_far = 0
            for bound, number in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                so_far += number
                yield f"{name}_bucket{_labels(route=route, le=bound)} {so_far}"
            yield f"{name}_sum{_labels(route=route)} {self._seconds[route]:.6f}"
            yield f"{name}_count{_labels(route=route)} {so_far}"


def _gauges(memory_host: MemoryHost, under_way: int) -> Iterator[str]:
    stats = memory_host.stats()
    yield from _head("engram_memories", "gauge", "Memories by status.")
    for status, number in sorted(stats.by_status.items()):
        yield f"engram_memories{_labels(status=status)} {number}"
    gauges: Mapping[str, tuple[str, float]] = {
        "engram_writes_waiting": ("Writes that wait for the writer.", memory_host.memory.writes_waiting),
        "engram_vectors_pending": ("Memories whose vector is still to come.", stats.pending),
        "engram_calls_running": ("Calls of the engine under way.", memory_host.running),
        "engram_requests_running": ("Requests under way, streams among them.", under_way),
        "engram_file_bytes": ("Size of the file.", stats.size_bytes),
        "engram_resident_bytes": ("Memory this process uses.", memory_host.memory.pressure.resident),
        "engram_uptime_seconds": (
            "Seconds since the start.",
            round(time.monotonic() - memory_host.started, 3),
        ),
    }
    for name, (words, value) in gauges.items():
        yield from _head(name, "gauge", words)
        yield f"{name} {value}"
    yield from _head("engram_info", "gauge", "The version.")
    yield f"engram_info{_labels(version=__version__)} 1"


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


def _labels(**values: str) -> str:
    r"""Labels as Prometheus writes them.

    >>> _labels(route='a"b')
    '{route="a\\"b"}'
    """
    escaped = (
        (name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n"))
        for name, value in values.items()
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"


# ---------------------------------------------------------------- journal
# The journal: a line of JSON for each request, without a word of any memory, query or body.


log = logging.getLogger("engram.server")
FIELDS = "told"
"""The attribute of a log record that holds its fields."""


class JournalLine(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        entry: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def note(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write a line."""
    log.log(level, event, extra={FIELDS: fields})


def bug(error: BaseException, request: str, route: str) -> None:
    """Write down an error that nobody foresaw, with its trace."""
    log.error("bug", exc_info=error, extra={FIELDS: {"request": request, "route": route}})


def write_to(stream: IO[str] | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send the journal somewhere; standard error if nothing is said."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JournalLine())
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
    return handler
