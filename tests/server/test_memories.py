"""Memories over REST: kept, found, changed, taken away."""

from __future__ import annotations

from typing import Any

from tests.server.conftest import Client
from tests.tables import every

MISSING = "00000000-0000-4000-8000-000000000000"


def keep(client: Client, content: str, **fields: Any) -> dict[str, Any]:
    answer = client.post("/v1/memories", json={"content": content, **fields})
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def test_what_was_remembered_is_recalled_with_its_evidence(client: Client) -> None:
    keep(client, "My editor is Helix", category="preference", tags=["tools"])

    short = client.get("/v1/recall", params={"q": "which editor do I use?"}).json()
    long = client.post("/v1/recall", json={"query": "which editor do I use?", "explain": True}).json()

    assert short["hits"][0]["memory"]["content"] == "My editor is Helix"
    assert short["hits"][0]["memory"]["tags"] == ["tools"]
    assert long["hits"][0]["evidence"]


def test_many_are_kept_at_once_or_none_of_them(client: Client) -> None:
    kept = client.post("/v1/memories", json=[{"content": "Anna lives in Bremen"}, "Ben has a dog"])
    refused = client.post("/v1/memories", json={"memories": ["The sky is blue", ""]})
    partly = client.post("/v1/memories", json={"memories": ["The sky is blue", ""], "partial": True})

    assert [one["outcome"] for one in kept.json()["receipts"]] == ["stored", "stored"]
    assert refused.status_code == 400
    assert partly.json()["receipts"][1]["error"]["code"] == "E2001"
    assert client.get("/v1/stats").json()["memories"] == 3


def test_a_list_is_filtered_and_goes_on_by_cursor(client: Client) -> None:
    for number in range(5):
        keep(client, f"Room {number} is painted in colour {number * 7}", tags=["rooms", f"n{number % 2}"])
    keep(client, "My editor is Helix", category="preference")

    first = client.get("/v1/memories", params={"limit": 2, "tags_any": "rooms"}).json()
    second = client.get(
        "/v1/memories", params={"limit": 9, "tags_any": "rooms", "cursor": first["cursor"]}
    ).json()
    preferred = client.get("/v1/memories?categories=preference&statuses=active,archived").json()

    assert [len(first["memories"]), len(second["memories"]), second["cursor"]] == [2, 3, None]
    assert [one["content"] for one in preferred["memories"]] == ["My editor is Helix"]
    assert client.get("/v1/memories", params={"cursor": "nonsense"}).json()["code"] == "E2009"


def test_one_is_found_by_the_beginning_of_its_id(client: Client) -> None:
    memory = keep(client, "My editor is Helix")

    assert client.get(f"/v1/memories/{memory['id'][:8]}").json()["id"] == memory["id"]
    assert client.get(f"/v1/memories/{MISSING}").status_code == 404
    assert client.get("/v1/memories/ab").json()["code"] == "E2015"


def test_a_memory_is_changed_and_its_history_told(client: Client) -> None:
    place = f"/v1/memories/{keep(client, 'My editor is vim')['id']}"

    changed = client.patch(place, json={"content": "My editor is Helix", "because": "a slip"}).json()
    events = client.get(f"{place}/events").json()["events"]

    assert (changed["content"], changed["version"]) == ("My editor is Helix", 2)
    assert [event["verb"] for event in events] == ["updated", "stored"]
    assert events[0]["because"] == "a slip"
    assert client.get("/v1/events", params={"limit": 1}).json()["events"] == events[:1]
    assert client.patch(place, json={"tags": ["tools"], "valid_to": None}).json()["tags"] == ["tools"]
    assert client.patch(place, json={"content": None}).json()["code"] == "E2007"
    assert client.patch(place, json={"id": "other"}).json()["code"] == "E2005"


def test_what_is_forgotten_comes_back_and_what_is_erased_does_not(client: Client) -> None:
    memory = keep(client, "My editor is Helix")
    place = f"/v1/memories/{memory['id']}"

    assert client.delete(place, params={"because": "old"}).json()["status"] == "archived"
    assert client.get("/v1/recall", params={"q": "editor"}).json()["hits"] == []
    assert client.post(f"{place}/restore").json()["status"] == "active"
    assert client.post(f"{place}/erase", json={"because": "asked to"}).json() == {"erased": memory["id"]}
    assert client.get(place).status_code == 404
    assert client.post(f"{place}/erase").status_code == 404


def test_pinning_vouching_doubting_and_judging(client: Client) -> None:
    place = f"/v1/memories/{keep(client, 'My editor is Helix')['id']}"

    assert client.post(f"{place}/pin").json()["pinned"] is True
    assert client.post(f"{place}/pin", json={"pinned": False}).json()["pinned"] is False
    assert client.post(f"{place}/confirm").json()["verification"] == "user_confirmed"
    assert client.post(f"{place}/status", json={"status": "challenged"}).json()["status"] == "challenged"
    assert client.post(f"{place}/status", json={"status": "holy"}).json()["code"] == "E2005"
    assert client.post(f"{place}/feedback", json={"helpful": True}).json()["usage"]["helpful"] == 1
    assert client.post(f"{place}/feedback", json={}).status_code == 400


def test_memories_are_related_and_unrelated(client: Client) -> None:
    one = keep(client, "Anna lives in Bremen")["id"]
    two = keep(client, "The boiler was serviced in May")["id"]
    edge = {"target": two, "type": "supports"}

    assert client.post(f"/v1/memories/{one}/relations", json=edge).status_code == 201
    found = client.get(f"/v1/memories/{two}/relations").json()["relations"]
    assert [(edge["source"], edge["type"]) for edge in found if edge["type"] == "supports"] == [
        (one, "supports")
    ]
    assert client.delete(f"/v1/memories/{one}/relations", params=edge).json() == {"removed": True}
    assert client.delete(f"/v1/memories/{one}/relations", params=edge).json() == {"removed": False}


@every(
    ("body", "code"),
    [
        (b"{", "E6005"),
        (b"[1", "E6005"),
        (b'"text"', "E6005"),
        (b"\xff\xfe", "E6005"),
        (b'{"content": NaN}', "E6005"),
        (b"{}", "E2000"),
        (b'{"content": 5}', "E2007"),
        (b'{"content": ""}', "E2001"),
        (b'{"content": "x", "colour": "red"}', "E2005"),
        (b'{"content": "x", "importance": "high"}', "E2007"),
        (b'{"content": "x", "importance": 7}', "E2008"),
        (b'{"content": "x", "scope": {"planet": "mars"}}', "E2005"),
        (b'{"content": "x", "memories": []}', "E2000"),
        (b'{"content": "x", "event_time": "soon"}', "E2007"),
        (b'{"content": "\\ud800"}', "E2006"),
        (b'{"content": "x", "details": ' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}", "E6005"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(shared: Client, body: bytes, code: str) -> None:
    answer = shared.post("/v1/memories", content=body)

    assert answer.status_code == 400
    assert answer.json()["code"] == code
    assert shared.get("/v1/stats").json()["memories"] == 0


@every(
    "query",
    ["", "q=", "q=x&limit=ten", "q=x&limit=0", "q=x&mode=loud", "q=x&colour=red", "q=x&min_relevance=2"],
)
def test_a_question_that_makes_no_sense_is_refused(shared: Client, query: str) -> None:
    assert shared.get(f"/v1/recall?{query}").status_code in ({200, 400} if query == "q=" else {400})


def test_arguments_stand_where_they_belong(shared: Client) -> None:
    assert shared.post("/v1/memories?content=x").json()["code"] == "E2000"
