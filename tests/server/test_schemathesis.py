"""Somebody else reads our OpenAPI document and tries everything it allows and forbids: nothing fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import running

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
EXAMPLES = 8
COMMAND = (sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run")


@pytest.mark.slow
def test_nothing_that_the_document_allows_or_forbids_makes_the_server_fail(tmp_path: Path) -> None:
    with running(tmp_path / "m.db", requests_a_minute=0) as server:
        for words in ("Anna lives in Bremen", "My editor is Helix", "Tea is at four"):
            httpx.post(f"{server.url}/v1/memories", json={"content": words}).raise_for_status()
        told = subprocess.run(
            [
                *COMMAND,
                f"{server.url}/openapi.json",
                *("--checks", ",".join(CHECKS)),
                *("--exclude-path", "/v1/events/stream"),  # it ends when the server does
                *("--phases", "examples,coverage,fuzzing"),
                *("--max-examples", str(EXAMPLES)),
                *("--seed", "1", "--no-color", "--warnings", "off"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert httpx.get(f"{server.url}/health").json()["status"] == "ok"

    assert told.returncode == 0, told.stdout[-6_000:] + told.stderr[-2_000:]
