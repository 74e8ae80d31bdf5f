"""Whoever moves here from an older system starts the server with the variables they had."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from engram.server.app import check_open
from tests.server.conftest import Start
from tests.server.old import KEY


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.slow
def test_the_variables_of_layers_say_where_with_which_file_and_for_whom(tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "engram.db"
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "REMNIC_"))}
    variables = {"ENGRAM_PORT": str(port), "ENGRAM_DB": str(file), "ENGRAM_API_KEY": KEY}
    command = [sys.executable, "-m", "engram", "serve", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**own, **variables}
    ) as run:
        try:
            assert run.stdout is not None
            told = json.loads(run.stdout.readline())
            assert (told["url"], told["file"]) == (f"http://127.0.0.1:{port}", str(file))
            assert told["secret_file"] == ""
            with httpx.Client(base_url=told["url"], headers={"Authorization": f"Bearer {KEY}"}) as client:
                assert client.post("/memories", json={"content": "My editor is Helix"}).status_code == 201
                assert client.get("/v1/stats").json()["memories"] == 1
            assert httpx.get(f"{told['url']}/recent").status_code == 401
            assert httpx.get(f"{told['url']}/health").status_code == 200
        finally:
            run.terminate()
            run.wait(30)


def test_a_secret_of_the_owner_is_enough_to_be_reached_from_elsewhere(start: Start) -> None:
    check_open("0.0.0.0", start(api_key=KEY).memory_host)
