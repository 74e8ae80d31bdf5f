"""Sessions over REST: they live in the server, and a client knows them by their id."""

from __future__ import annotations

from tests.server.conftest import Client
from tests.server.test_memories import keep


def test_a_conversation_over_rest(client: Client) -> None:
    keep(client, "The web shop is deployed with fly.io")
    started = client.post("/v1/sessions", json={"agent": "rex", "model": "gpt-4o", "id": "monday"})
    begun = client.post("/v1/sessions/monday/turn", json={"message": "how is the web shop deployed?"}).json()
    heard = client.post("/v1/sessions/monday/reply", json={"reply": "With fly.io."}).json()

    assert (started.status_code, started.json()["state"]) == (201, "live")
    assert "fly.io" in begun["messages"][0]["content"]
    assert begun["messages"][-1] == {"role": "user", "content": "how is the web shop deployed?"}
    assert begun["topic"] == "continuation"
    assert heard["observation"]["logged"] == 2
    assert len(client.get("/v1/sessions/monday/turns").json()["turns"]) == 2


def test_a_session_sleeps_and_wakes_over_rest(client: Client) -> None:
    client.post("/v1/sessions", json={"id": "monday"})
    client.post("/v1/sessions/monday/hold", json={"content": "Anna comes on Friday"})

    assert client.post("/v1/sessions/monday/suspend").json()["state"] == "suspended"
    assert [one["state"] for one in client.get("/v1/sessions").json()["sessions"]] == ["suspended"]
    woken = client.post("/v1/sessions/monday/resume").json()
    assert (woken["restored"], woken["slots"][0]["content"]) == ("whole", "Anna comes on Friday")
    assert client.post("/v1/sessions/monday/abort").json() == {"aborted": 0}
    assert client.post("/v1/sessions/monday/end").status_code == 200
    assert client.get("/v1/sessions/monday").json()["code"] == "E2025"
    assert client.get("/v1/sessions").json() == {"sessions": []}


def test_flows_and_projects_over_rest(client: Client) -> None:
    run = {"steps": ["test", {"name": "tag", "outcome": "failure"}], "outcome": "failure"}
    learned = client.post("/v1/flows/release/runs", json=run)
    done = client.post("/v1/projects/apollo/complete", json={"lessons": ["Ask for the limits first"]})

    assert (learned.status_code, learned.json()["runs"], learned.json()["successes"]) == (201, 1, 0)
    assert [one["content"] for one in done.json()["lessons"]] == ["Ask for the limits first"]
    assert client.post("/v1/flows/release/runs", json={"steps": [], "outcome": "odd"}).status_code == 400


def test_what_is_no_session_is_told(client: Client) -> None:
    answer = client.post("/v1/sessions/nobody/turn", json={"message": "hello"})

    assert (answer.status_code, client.get("/v1/runs/RUN-20200101-001").status_code) == (404, 404)
    assert answer.json()["code"] == "E2025"
    assert client.post("/v1/sessions", json={"id": 5}).json()["code"] == "E2007"
