"""A server and a client of it that asks as older systems' clients do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from engram.server.mcp.serving import mount
from tests.server.conftest import Running, running

KEY = "a-secret-of-the-owner"


class Old(httpx.Client):
    """httpx that gives the answer as data, and fails unless the status is the one expected."""

    def ask(self, method: str, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        response = self.request(method, path, json=body, **more)
        assert response.status_code == status, (method, path, response.status_code, response.text)
        kind = response.headers["content-type"]
        return response.json() if kind.startswith("application/json") else response.text


@contextmanager
def serving(path: Path, **settings: Any) -> Iterator[tuple[Running, Old]]:
    """A server with everything a client of old may call, and such a client."""
    with (
        running(path, (mount,), requests_a_minute=0, **settings) as server,
        Old(base_url=server.url, timeout=60) as client,
    ):
        yield server, client
