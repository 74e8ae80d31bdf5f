"""Resume, pack, commitments and triggers over REST."""

from __future__ import annotations

from tests.server.conftest import Client
from tests.server.test_memories import keep


def test_a_resume_and_a_pack_are_served(client: Client) -> None:
    keep(client, "Never deploy on Fridays", category="constraint")

    resume = client.get("/v1/resume", params={"budget": 2_000, "form": "full"}).json()
    pack = client.get("/v1/pack").json()
    posted = client.post("/v1/pack", json={"tasks": ["write the notes"]}).json()

    assert "Never deploy on Fridays" in resume["text"]
    assert resume["budget"] == 2_000
    assert pack["sections"][0]["name"] == "rules"
    assert "write the notes" in posted["text"]
    assert client.get("/v1/resume", params={"form": "poem"}).json()["code"] == "E2005"
    assert client.get("/v1/resume", params={"budget": 1}).status_code == 400


def test_a_commitment_goes_its_way(client: Client) -> None:
    made = client.post("/v1/commitments", json={"text": "Send the quote", "due": "by Friday"})
    loop = made.json()["id"]

    assert made.status_code == 201
    assert client.post(f"/v1/commitments/{loop}/wait", json={"on": "legal"}).json()["waiting_on"] == "legal"
    assert client.post(f"/v1/commitments/{loop}/reopen", json={}).json()["state"] == "open"
    assert client.post(f"/v1/commitments/{loop}/close", json={"outcome": "done"}).json()["state"] == "done"
    assert client.get("/v1/commitments", params={"state": "done"}).json()["commitments"][0]["id"] == loop
    assert client.get(f"/v1/commitments/{loop}").json()["text"] == "Send the quote"
    assert client.get("/v1/commitments").json() == {"commitments": []}


def test_a_trigger_goes_its_way(client: Client) -> None:
    made = client.post("/v1/triggers", json={"words": ["order"], "pages": ["Acme"]}).json()

    assert client.get("/v1/triggers").json()["triggers"] == [made]
    assert client.get("/v1/triggers/match", params={"message": "my orders"}).json()["triggers"] == [made]
    changed = client.patch(f"/v1/triggers/{made['id']}", json={"pages": ["tag:x"]}).json()
    assert (changed["words"], changed["pages"]) == (["order"], ["tag:x"])
    assert client.get(f"/v1/triggers/{made['id']}").json() == changed
    assert client.delete(f"/v1/triggers/{made['id']}").json() == changed
    assert client.get("/v1/triggers").json() == {"triggers": []}
