"""An embedding server on this machine that answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server says to one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Script = Callable[[dict[str, Any]], Reply]


@dataclass(slots=True)
class EmbeddingServer:
    """Follows its script; keeps what it was asked. A test may change the script while it runs."""

    script: Script
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    """Set it to let a slow answer go."""


@contextmanager
def serving(script: Script) -> Iterator[EmbeddingServer]:
    """A server on a free port, gone at the end."""
    server = EmbeddingServer(script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(body)
            server.paths.append(self.path)
            server.keys.append(self.headers.get("Authorization"))
            reply = server.script(body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it inherits
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        http.shutdown()
        thread.join()
        http.server_close()


def as_openai(rows: list[list[float]]) -> Reply:
    """Rows in OpenAI's form, last first: the index says which is which."""
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return Reply(body=json.dumps({"data": data[::-1]}).encode())


def as_ollama(rows: list[list[float]]) -> Reply:
    """Rows in Ollama's form."""
    return Reply(body=json.dumps({"embeddings": rows}).encode())


def lengths(request: dict[str, Any]) -> list[list[float]]:
    """A made-up model of three numbers: the length of the text, and two constants."""
    return [[float(len(text)), 3.0, 4.0] for text in request["input"]]
