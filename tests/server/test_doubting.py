"""Gaps and drift over REST."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Client, Running
from tests.server.test_memories import keep


def test_a_gap_goes_its_way(client: Client) -> None:
    for words in ("I'll call the plumber", "I'll water the plants"):
        client.post("/v1/commitments", json={"text": words})
    assert client.post("/v1/consolidate", json={"stages": ["doubt"]}).status_code == 200
    first, second = client.get("/v1/gaps").json()["gaps"]

    assert client.get(f"/v1/gaps/{first['key']}").json() == first
    assert len(client.post("/v1/gaps/ask", json={"session": "s1"}).json()["gaps"]) == 2
    assert client.post("/v1/gaps/ask", json={"session": "s1"}).json() == {"gaps": []}
    answered = client.post(f"/v1/gaps/{first['key']}/answer", json={"text": "by Friday"})
    assert answered.json()["details"]["due"]
    assert client.post(f"/v1/gaps/{second['key']}/dismiss").json()["key"] == second["key"]
    assert client.get("/v1/gaps").json() == {"gaps": []}
    assert client.get(f"/v1/gaps/{second['key']}").status_code == 400


def test_drift_is_for_owners(client: Client, server: Running, tmp_path: Path) -> None:
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "app" / "src" / "auth.py").write_text("def login(): ...", encoding="utf-8")
    keep(client, "Sessions are kept in src/session.py")
    asked = {"directory": str(tmp_path / "app")}

    found = client.post("/v1/drift", json=asked).json()
    assert [one["reference"] for one in found["dead"]] == ["src/session.py"]
    agent = server.token("rex", "agent")
    assert client.post("/v1/drift", json=asked, headers=agent).status_code == 403
