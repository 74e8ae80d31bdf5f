"""Every other verb over REST: listening, facts, entities, conflicts, sources, upkeep."""

from __future__ import annotations

import json

import pytest

from tests.server.conftest import Client
from tests.server.test_memories import keep


def test_what_is_said_is_kept_word_for_word_and_learned(client: Client) -> None:
    said = {"user": "I decided to move to Bremen in May.", "assistant": "Noted.", "session": "house/monday"}

    heard = client.post("/v1/observe", json=said).json()
    read = client.post("/v1/flush", json={"session": "house/monday"}).json()
    turns = client.get("/v1/sessions/house/monday/turns").json()["turns"]

    assert heard["logged"] == 2
    assert [turn["content"] for turn in turns] == ["I decided to move to Bremen in May.", "Noted."]
    learned = [*heard["receipts"], *read["receipts"]][0]["memory"]
    assert client.get(f"/v1/memories/{learned['id']}/said").json()["turns"][0]["session"] == "house/monday"


def test_messages_of_a_chat_are_heard_and_junk_is_refused(client: Client) -> None:
    messages = [{"role": "user", "content": "My sister Anna lives in Bremen."}]

    assert client.post("/v1/observe", json={"messages": messages, "session": "s"}).json()["logged"] == 1
    assert client.post("/v1/observe", json={"messages": ["hello"]}).status_code == 400
    assert client.post("/v1/observe", json={}).json()["code"] == "E2000"
    assert client.post("/v1/observe", json={"user": "hi", "session": 5}).json()["code"] == "E2007"


def test_facts_are_stated_asked_followed_and_ended(client: Client) -> None:
    fact = {"subject": "Anna", "predicate": "lives in", "object": "Bremen"}

    receipt = client.post("/v1/facts", json=fact | {"tags": ["people"]})
    found = client.get("/v1/facts", params={"subject": "anna"}).json()["facts"]
    paths = client.get("/v1/facts/chain", params={"start": "anna"}).json()["paths"]
    ended = client.post(
        f"/v1/memories/{receipt.json()['memory']['id']}/facts/end", json={"because": "moved", "fact": fact}
    )

    assert receipt.status_code == 201
    assert [one["fact"]["object"] for one in found] == ["bremen"]
    assert paths
    assert ended.json()["valid_to"] is not None
    assert client.get("/v1/facts", params={"subject": "anna"}).json()["facts"] == []
    assert len(client.get("/v1/facts/history", params={"subject": "anna"}).json()["facts"]) == 1
    assert client.get("/v1/facts/conflicts").json() == {"conflicts": []}
    assert client.post("/v1/facts", json={"subject": "Anna"}).status_code == 400
    assert client.get("/v1/facts/history").status_code == 400


def test_entities_are_shown_named_joined_and_parted(client: Client) -> None:
    keep(client, "Anna Berg lives in Bremen")
    keep(client, "Annie likes TCP/IP")

    names = [one["name"] for one in client.get("/v1/entities").json()["entities"]]
    assert "Anna Berg" in names
    assert client.get("/v1/entities/Anna Berg").json()["entity"]["name"] == "Anna Berg"
    assert client.get("/v1/entities/TCP%2FIP").status_code in {200, 404}
    assert client.get("/v1/entities/Anna Berg/timeline").json()["steps"]
    aliased = client.post("/v1/entities/Anna Berg/aliases", json={"other": "Annie"}).json()
    assert "annie" in [alias.lower() for alias in aliased["aliases"]]
    assert client.post("/v1/entities/Annie/split").status_code == 200
    merged = client.post("/v1/entities/merge", json={"keep": "Anna Berg", "other": "Annie"})
    assert merged.json()["name"] == "Anna Berg"
    assert client.get("/v1/entities/Nobody").json()["code"] == "E2021"
    assert client.get("/v1/entities", params={"type": "planet"}).status_code == 400


def test_conflicts_are_listed_and_settled(client: Client) -> None:
    one, two = keep(client, "The office is in Hamburg")["id"], keep(client, "Our cat is grey")["id"]
    client.post(f"/v1/memories/{one}/relations", json={"target": two, "type": "contradicts"})

    assert len(client.get("/v1/conflicts").json()["conflicts"]) == 1
    assert client.post("/v1/conflicts/ask", json={"id_a": one, "id_b": two}).json() == {"settled": False}
    assert client.post("/v1/conflicts/review").json() == {"settled": []}
    kept = client.post("/v1/conflicts/resolve", json={"id_a": one, "id_b": two, "keep": "a"})
    assert kept.json()["id"] == one
    assert client.get("/v1/conflicts").json()["conflicts"] == []
    assert (
        client.post("/v1/conflicts/resolve", json={"id_a": one, "id_b": two, "keep": "c"}).status_code == 400
    )


def test_texts_summaries_and_results_come_in(client: Client) -> None:
    text = {"text": "# House\n\nThe boiler was serviced in May 2025.", "title": "house.md"}

    assert client.post("/v1/sources/text", json=text).json()["items"][0]["outcome"] == "stored"
    assert client.post("/v1/sources/text", json=text).json()["items"][0]["outcome"] == "unchanged"
    summary = {"text": "We decided to move to Bremen in May.", "session": "monday"}
    assert client.post("/v1/sources/summary", json=summary).json()["items"]
    task = {"name": "nightly build", "result": "The disk was full.", "outcome": "failure"}
    assert client.post("/v1/sources/task", json=task).json()["items"]
    flow = {"name": "release", "steps": ["test", {"name": "tag", "outcome": "success"}]}
    assert client.post("/v1/sources/flow", json=flow).json()["items"]
    research = {
        "query": "boiler",
        "findings": ["A boiler is serviced once a year."],
        "urls": ["https://example.org"],
    }
    assert client.post("/v1/sources/research", json=research).json()["items"]
    assert client.post("/v1/sources/task", json={"name": "x", "outcome": "odd"}).status_code == 400


def test_a_file_comes_in_as_the_body(client: Client) -> None:
    page = b"# House\n\nThe boiler was serviced in May 2025.\n"
    lines = json.dumps({"content": "Anna lives in Bremen"}).encode() + b"\n"

    first = client.post("/v1/sources/file", params={"name": "../../house.md"}, content=page).json()
    again = client.post("/v1/sources/file", params={"name": "house.md"}, content=page).json()
    other = client.post("/v1/sources/file", params={"name": "x.jsonl", "format": "engram"}, content=lines)

    assert [first["format"], first["items"][0]["outcome"]] == ["markdown", "stored"]
    assert again["items"][0]["outcome"] == "unchanged"
    assert other.json()["items"][0]["outcome"] == "stored"
    assert client.post("/v1/sources/file", params={"name": "a.md"}).status_code == 400
    assert client.post("/v1/sources/file", params={"name": "a.md"}, content=b"\xff").json()["code"] == "E2006"
    assert client.post("/v1/sources/file", params={"name": "a.bin"}, content=b"\x00\x01").status_code == 400


def test_the_server_tells_how_it_is_and_what_it_holds(client: Client) -> None:
    keep(client, "My editor is Helix")

    assert client.get("/v1/stats").json()["memories"] == 1
    assert {one["name"] for one in client.get("/v1/doctor").json()["findings"]} >= {"embedder", "turns"}
    assert client.get("/v1/spending", params={"days": 7}).json() == {"spending": []}
    assert client.get("/v1/config").json()["settings"]["server.port"] == 3917
    assert client.post("/v1/reembed").json() == {"embedded": 0}
    me = client.get("/v1/me").json()
    assert (me["actor"], me["role"], me["scope"]["namespace"]) == ("human", "owner", "default")


@pytest.mark.slow
def test_an_export_comes_line_by_line_and_goes_in_again(client: Client) -> None:
    client.post("/v1/memories", json=[f"House {number * 37} has {number} windows" for number in range(450)])
    keep(client, "Anna lives in Bremen")

    answer = client.get("/v1/export")
    lines = [json.loads(line) for line in answer.text.splitlines()]

    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert len(lines) == client.get("/v1/stats").json()["memories"]
    assert lines[0]["content"] == "Anna lives in Bremen"
    assert lines[0]["edges"] == []


def test_questions_are_thought_through_and_changes_told(client: Client) -> None:
    keep(client, "My editor is vim")
    keep(client, "My editor is Helix now")

    told = client.get("/v1/timeline", params={"about": "my editor"}).json()
    thought = client.post("/v1/reason", json={"question": "which editor do I use?"}).json()

    assert told["steps"]
    assert thought["tree"]["hits"]
    assert client.get("/v1/recall/health").status_code == 200
    assert client.get("/v1/timeline").status_code == 400
    assert client.post("/v1/reason", json={}).status_code == 400


def test_a_long_call_tells_how_far_it_has_come(client: Client) -> None:
    for number in range(3):
        keep(client, f"House {number * 37} has {number} windows")

    answer = client.post("/v1/reembed", headers={"Accept": "text/event-stream"})

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith('event: done\ndata: {"embedded": 0}\n\n')


def test_an_empty_question_is_refused_as_everywhere(client: Client) -> None:
    keep(client, "Anna lives in Bremen")

    for blank in ("", "  ", "\n\t"):
        for answer in (
            client.post("/v1/recall", json={"query": blank}),
            client.get("/v1/recall", params={"q": blank}),
            client.post("/v1/reason", json={"question": blank}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (400, "E2029")
            assert answer.json()["detail"] == "The question is empty: say what to look for."
