"""What was learned over REST."""

from __future__ import annotations

from tests.server.conftest import Client, Running
from tests.server.test_memories import keep


def test_what_was_learned_is_served(client: Client, server: Running) -> None:
    for line in ("Anna Keller leads Apollo", "Anna Keller lives in Bremen", "Anna Keller likes tea"):
        keep(client, line)
    keep(client, "I prefer dark mode in every editor")
    server.memory_host.memory.consolidate(stages=["knowledge", "self_knowledge"])

    assert client.get("/v1/knowledge/profile").json()["traits"]
    assert client.get("/v1/knowledge/tree").json()["paragraph"]
    assert client.get("/v1/knowledge/map").json()["domains"]
    assert client.get("/v1/knowledge/cards").json()["cards"][0]["name"] == "Anna Keller"
    assert client.get("/v1/knowledge/cards/anna keller").json()["card"]["memories"] == 3
    assert client.get("/v1/knowledge/cards/Nobody").json() == {"card": None}
    assert client.get("/v1/entities/Anna Keller").json()["card"]["name"] == "Anna Keller"
    for part in ("identity", "guidelines"):
        assert client.get(f"/v1/knowledge/{part}").status_code == 200
    for part in ("topics", "boxes", "traces", "patterns"):
        assert part in client.get(f"/v1/knowledge/{part}").json()
    asked = client.get("/v1/knowledge/knowing", params={"about": "the weather"})
    assert asked.json() == {"knowing": None}
