"""A server over a folder: tenants by their tokens, each in a file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.config import load
from engram.model.scope import Scope
from engram.opening import namespaces_in
from engram.server.mcp.serving import mount
from engram.testing import HashEmbedder
from tests.server.conftest import Client, Start

pytestmark = pytest.mark.files


def test_tenants_of_one_server_never_meet(start: Start, tmp_path: Path) -> None:
    folder = f"{tmp_path / 'tenants'}/"
    config = load(environment={}, arguments={"store.open_files": 2})
    server = start(
        opener=lambda: Engram.open(folder, config=config, embedder=HashEmbedder()), mounts=(mount,)
    )
    names = ("acme", "globex", "initech")
    tokens = {name: server.token(f"{name}-bot", "agent", Scope(name)) for name in names}
    with Client(base_url=server.url, timeout=30, follow_redirects=True) as client:
        for name, token in tokens.items():
            told = {"content": f"The {name} password manager is in the blue drawer"}
            assert client.post("/v1/memories", json=told, headers=token).status_code == 201
            keyed = {**token, "Idempotency-Key": "once"}
            twice = [
                client.post("/v1/memories", json={"content": f"{name} opens at 9"}, headers=keyed)
                for _ in "ab"
            ]
            assert twice[0].json() == twice[1].json()
        for name, token in tokens.items():
            found = client.get("/v1/recall", params={"q": "blue drawer"}, headers=token).json()["hits"]
            assert [hit["memory"]["content"].split()[1] for hit in found if "drawer" in hit["text"]] == [name]
            other = {"query": "blue drawer", "scope": {"namespace": names[names.index(name) - 1]}}
            assert client.post("/v1/recall", json=other, headers=token).status_code == 403
            begun = client.post("/v1/sessions", json={"id": "talk"}, headers=token)
            assert begun.status_code == 201
            turned = client.post(
                "/v1/sessions/talk/turn", json={"message": "where is the drawer?"}, headers=token
            )
            assert name in str(turned.json())
            heard = client.post("/v1/sessions/talk/reply", json={"reply": "In the office."}, headers=token)
            assert heard.json()["observation"]["logged"] == 2
            call = {"name": "memory_search", "arguments": {"query": "blue drawer"}}
            sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            answer = client.post(
                "/mcp", json=sent, headers={**token, "Accept": "application/json, text/event-stream"}
            )
            assert [one for one in names if one in answer.text] == [name]
        assert client.get("/v1/stats").json()["memories"] == 0, "the owner stands in the default namespace"
        health = client.get("/health").json()
        assert health["status"] == "ok"
        backups = client.post("/v1/backups").json()
        assert backups["file"] == folder
    assert namespaces_in(folder) == ["acme", "default", "globex", "initech"]
