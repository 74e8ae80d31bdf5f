"""Settings change while the server runs: for everybody, checked, written down."""

from __future__ import annotations

from pathlib import Path

from engram.config import load, save_settings, values
from engram.model.scope import Scope
from tests.server.conftest import Client, Running, Start

VANS = [f"The {colour} van is parked in Bremen" for colour in ("red", "blue", "green", "grey", "pink")]


def found(client: Client) -> int:
    return len(client.get("/v1/recall", params={"q": "which van is in Bremen?"}).json()["hits"])


def test_a_setting_holds_from_the_next_call_on_and_is_written_down(server: Running, client: Client) -> None:
    client.post("/v1/memories", json={"memories": VANS})
    rex = server.memory_host.memory.seen_by(server.memory_host.memory.access, "rex")
    assert found(client) == len(rex.recall("which van is in Bremen?")) == 5

    now = client.patch("/v1/config", json={"settings": {"recall.limit": "2"}})

    assert now.json() == {"settings": {"recall.limit": 2}}
    assert client.get("/v1/config").json()["settings"]["recall.limit"] == 2
    assert found(client) == len(rex.recall("which van is in Bremen?")) == 2
    lines = client.get("/v1/vault/audit").json()["entries"]
    assert [line["subject"] for line in lines if line["what"] == "configured"] == ["recall.limit=2"]


def test_what_cannot_be_changed_is_refused_and_nothing_is(server: Running, client: Client) -> None:
    before = client.get("/v1/config").json()
    for wanted, word in (
        ({"recall.limit": 0}, "1 to 500"),
        ({"recall.limit": 3, "no.such": 1}, "no.such"),
        ({"recall.limit": 3, "embed.name": "ollama"}, "restart"),
        ({"recall.limit": 3, "limits.memory_mb": 100}, "restart"),
    ):
        refused = client.patch("/v1/config", json={"settings": wanted})
        assert refused.status_code == 400, refused.text
        assert word in refused.json()["detail"]
    for role, scope in (("agent", None), ("owner", Scope("work"))):
        token = server.token("eve", role, scope)
        assert client.patch("/v1/config", json={"settings": {}}, headers=token).status_code == 403
    assert client.get("/v1/config").json() == before


def test_a_server_follows_its_configuration(start: Start, tmp_path: Path) -> None:
    server, file = start(), tmp_path / "config.toml"
    save_settings(file, {"recall.limit": 4})
    host = server.memory_host
    host.reload = lambda: values(load(file, environment={}))
    host.follow_settings()  # what holds now is the beginning
    save_settings(file, {"recall.limit": 1, "embed.timeout_s": 3})
    host.follow_settings()
    assert (host.memory.config.recall.limit, host.memory.config.embed.timeout_s) == (1, 10.0)
    file.write_text("this is no TOML")
    host.follow_settings()
    assert host.memory.config.recall.limit == 1
