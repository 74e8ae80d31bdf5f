"""Who comes in: tokens, roles, scopes, host names, origins, sizes, pace and time."""

from __future__ import annotations

import socket
import time
import uuid
from pathlib import Path

import httpx
import pytest

from engram.model.scope import Scope
from engram.server.app import check_open, listen
from engram.server.caller import bearer_of, host_of, is_local
from engram.server.limits import Pace
from engram.server.problems import AddressTaken, OpenToAll, TooManyRequests
from tests.server.conftest import Client, Running, Start, check_problem
from tests.server.test_memories import keep
from tests.tables import every

APOLLO = Scope(project="apollo")
REX, ADA = Scope(project="apollo", agent="rex"), Scope(project="apollo", agent="ada")


def test_an_open_server_needs_no_token_but_a_wrong_one_is_refused(client: Client) -> None:
    assert client.get("/v1/stats").status_code == 200
    refused = client.get("/v1/stats", headers={"Authorization": "Bearer engram_wrong"})
    assert (refused.status_code, refused.json()["code"]) == (401, "E6001")
    assert refused.headers["www-authenticate"].startswith("Bearer")


FORWARDED = (
    "x-forwarded-for x-forwarded-host x-forwarded-proto forwarded via x-real-ip cf-ray cf-connecting-ip"
)


@every("header", FORWARDED.split())
def test_behind_a_proxy_nobody_is_at_this_machine(client: Client, header: str) -> None:
    assert client.get("/v1/stats", headers={header: "192.0.2.1"}).status_code == 401
    assert client.get("/metrics", headers={header: "192.0.2.1"}).status_code == 401
    assert client.get("/health", headers={header: "192.0.2.1"}).json().get("memories") is None


# role, may write at its own place, may look from below, may look after the file
MATRIX = [
    ("owner", True, True, True),
    ("orchestrator", True, True, False),
    ("agent", True, False, False),
    ("reader", False, False, False),
]


@every(("role", "writes", "below", "keeps"), MATRIX)
def test_a_token_may_what_its_role_may(
    server: Running, client: Client, role: str, writes: bool, below: bool, keeps: bool
) -> None:
    client.headers.update(server.token("somebody", role, APOLLO))

    write = client.post("/v1/memories", json={"content": "The launch is on Friday"})
    look = client.get("/v1/memories", params={"project": "apollo", "agent": "rex"})
    upkeep = [client.get(f"/v1/{path}").status_code for path in ("doctor", "config", "spending", "tokens")]
    other = client.post("/v1/memories", json={"content": "x y", "scope": {"project": "gemini"}})

    assert write.status_code == (201 if writes else 403)
    assert look.status_code == (200 if below else 403)
    assert set(upkeep) == {200 if keeps else 403}
    assert other.status_code == 403
    assert client.get("/v1/recall", params={"q": "launch"}).status_code == 200
    assert client.get("/v1/me").json()["role"] == role


def test_a_place_that_is_named_is_never_another(server: Running, client: Client) -> None:
    client.headers.update(server.token("eve", "owner", Scope("work")))
    keep(client, "The launch is on Friday")

    named = {"content": "The door is red", "scope": {"namespace": "default"}}
    assert client.post("/v1/memories", json=named).status_code == 403
    assert client.get("/v1/memories", params={"namespace": "default"}).status_code == 403
    assert client.get("/v1/memories").json()["memories"][0]["scope"]["namespace"] == "work"
    for path in ("/memories", "/recall", "/engram/v1/memories"):
        body = {"content": "The door is red", "query": "red", "namespace": "default"}
        assert httpx.post(f"{server.url}{path}", json=body, headers=client.headers).status_code == 403


def test_a_reader_counts_no_uses(server: Running, client: Client) -> None:
    mine = keep(client, "The launch is on Friday")
    client.headers.update(server.token("eve", "reader"))

    assert client.post("/v1/touch", json={"memory_ids": [mine["id"]]}).status_code == 403


def test_whether_an_id_is_taken_elsewhere_is_not_told(server: Running, client: Client) -> None:
    theirs = keep(client, "The launch is on Friday")
    client.headers.update(server.token("rex", "agent", Scope("work", agent="rex")))

    def take_in(id_: str) -> tuple[int, bool]:
        record = {"id": id_, "content": f"The door of {id_} is red"}
        told = [client.post("/v1/adopt", json=[record]).json() for _ in range(2)]
        assert told[1]["known"] == told[0]["taken"]
        return len(told[0]["taken"]), told[0]["taken"] == [id_]

    assert take_in(theirs["id"]) == take_in(str(uuid.uuid4())) == (1, False)


def test_an_agent_sees_what_stands_above_it_and_no_sibling(server: Running, client: Client) -> None:
    keep(client, "The launch is on Friday", scope={"project": "apollo"})
    ada = keep(client, "Ada prefers the night shift", scope={"project": "apollo", "agent": "ada"})
    rex = Client(base_url=server.url, headers=server.token("rex", "agent", REX))
    with rex:
        seen = [one["content"] for one in rex.get("/v1/memories").json()["memories"]]
        assert seen == ["The launch is on Friday"]
        assert rex.get(f"/v1/memories/{ada['id']}").status_code == 404
        assert rex.get("/v1/events").json()["events"][0]["memory"] != ada["id"]
        own = keep(rex, "Rex likes short answers")
        assert own["scope"]["agent"] == "rex"
    assert client.get(f"/v1/memories/{own['id']}/events").json()["events"][0]["actor"] == "rex"


def test_a_token_is_kept_as_a_digest_and_ends_when_it_is_revoked(server: Running, client: Client) -> None:
    made = client.post("/v1/tokens", json={"name": "rex", "role": "agent", "scope": {"agent": "rex"}}).json()
    header = {"Authorization": f"Bearer {made['secret']}"}

    assert client.get("/v1/stats", headers=header).status_code == 200
    assert made["secret"] not in client.get("/v1/tokens").text
    assert made["secret"].encode() not in b"".join(path.read_bytes() for path in server_files(server))
    assert client.delete(f"/v1/tokens/{made['token']['id']}").json()["name"] == "rex"
    assert client.get("/v1/stats", headers=header).status_code == 401
    assert client.delete(f"/v1/tokens/{made['token']['id']}").status_code == 400
    assert client.get("/v1/tokens", params={"revoked": "true"}).json()["tokens"][0]["revoked_at"]


def server_files(server: Running) -> list[Path]:
    file = Path(server.memory_host.memory.path)
    return [path for path in file.parent.iterdir() if path.name.startswith(file.name)]


def test_a_token_that_expired_lets_nobody_in(client: Client) -> None:
    made = client.post("/v1/tokens", json={"name": "rex", "expires_at": "2020-01-01"}).json()

    assert client.get("/v1/me", headers={"Authorization": f"Bearer {made['secret']}"}).status_code == 401


@every("host", ["evil.example", "evil.example:3917", "localhost.evil.example", ""])
def test_a_name_that_was_turned_to_this_machine_is_refused(client: Client, host: str) -> None:
    answer = client.get("/v1/stats", headers={"Host": host})

    assert answer.status_code in {421, 400}


@every("host", ["localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:80", "memory.example"])
def test_names_of_this_machine_and_configured_ones_are_heard(start: Start, host: str) -> None:
    server = start(hosts="memory.example, other.example")
    with Client(base_url=server.url) as client:
        answer = client.get("/v1/stats", headers={"Host": host})

    assert answer.status_code == (401 if host == "memory.example" else 200)


def test_pages_of_other_sites_are_kept_out_unless_they_are_listed(start: Start) -> None:
    server = start(origins="https://app.example")
    with Client(base_url=server.url) as client:
        evil = {"Origin": "https://evil.example"}
        friend = {"Origin": "https://app.example"}
        assert client.post("/v1/memories", json={"content": "x y"}, headers=evil).json()["code"] == "E6003"
        assert (
            client.post("/v1/memories", json={"content": "x y"}, headers={"Origin": "null"}).status_code
            == 403
        )
        assert client.options("/v1/memories", headers=evil).status_code == 403
        allowed = client.options("/v1/memories", headers=friend)
        answer = client.get("/v1/stats", headers=friend)
        own = client.get("/v1/stats", headers={"Origin": server.url})

    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


def test_a_body_that_is_too_large_is_refused_by_length_and_by_reading(start: Start) -> None:
    server = start(body_bytes=2_000)
    with Client(base_url=server.url) as client:
        assert client.post("/v1/memories", json={"content": "x" * 3_000}).status_code == 413
        assert client.post("/v1/memories", content=iter([b"x" * 1_500, b"x" * 1_500])).status_code == 413
        assert keep(client, "My editor is Helix")


def test_a_caller_that_comes_too_often_is_told_to_wait(start: Start) -> None:
    server = start(requests_a_minute=3)
    with Client(base_url=server.url) as client:
        answers = [client.get("/v1/me") for _ in range(5)]

    assert [answer.status_code for answer in answers][:4] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_a_bucket_fills_up_evenly_and_for_each_caller() -> None:
    now = 0.0
    pace = Pace(60, now=lambda: now)
    for _ in range(60):
        pace.take("rex")
    with pytest.raises(TooManyRequests):
        pace.take("rex")
    pace.take("ada")
    now = 1.0
    pace.take("rex")
    with pytest.raises(TooManyRequests):
        pace.take("rex")


def test_a_call_that_takes_too_long_is_answered_in_time(start: Start) -> None:
    server = start(time_limit_s=0.1)
    with Client(base_url=server.url) as client:
        many = [f"House {number} has {number} windows and {number} doors" for number in range(1_000)]
        answer = client.post("/v1/memories", json=many, timeout=60)

    assert answer.status_code == 504
    assert answer.json()["code"] == "E6007"


def test_an_unknown_route_and_a_wrong_method_are_problems_too(client: Client) -> None:
    assert client.get("/v1/nothing").json()["code"] == "E6009"
    wrong = client.put("/v1/memories", json={})
    assert (wrong.status_code, wrong.json()["code"]) == (405, "E6010")
    assert "GET" in wrong.headers["allow"]


def test_every_answer_carries_its_number_and_safe_headers(client: Client) -> None:
    one, two = client.get("/health"), client.get("/v1/nothing")

    assert one.headers["x-request-id"] != two.headers["x-request-id"]
    assert one.headers["x-content-type-options"] == "nosniff"
    assert "server" not in one.headers


def test_what_is_no_http_breaks_nothing(server: Running, client: Client) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
        raw.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        raw.recv(1_000)

    assert client.get("/health").status_code == 200


def test_a_body_that_breaks_off_breaks_nothing(server: Running, client: Client) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
        raw.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n{")
    time.sleep(0.05)

    assert client.get("/v1/stats").json()["memories"] == 0


def test_an_open_server_is_for_this_machine_alone(server: Running) -> None:
    server.token("rex")
    with pytest.raises(OpenToAll):
        check_open("0.0.0.0", server.memory_host)
    check_open("127.0.0.1", server.memory_host)


def test_a_server_that_nobody_could_come_into_does_not_start(start: Start) -> None:
    server = start(access="secret")
    with pytest.raises(OpenToAll):
        check_open("127.0.0.1", server.memory_host)
    server.token("rex")
    check_open("0.0.0.0", server.memory_host)
    check_open("0.0.0.0", start(access="secret", api_key="hunter2").memory_host)


def test_a_port_that_is_taken_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(AddressTaken, match="--port"):
        listen("127.0.0.1", other.getsockname()[1])


def test_headers_are_read_as_they_come() -> None:
    assert bearer_of({"authorization": "basic abc"}) is None
    assert bearer_of({"x-api-key": "abc"}) == "abc"
    assert host_of({"host": "::1"}) == "::1"
    assert not is_local({"client": ("192.0.2.1", 1)}, {"host": "localhost"})
    assert is_local({"client": None}, {"host": "localhost"})  # a Unix socket
    assert not is_local({"client": ("127.0.0.1", 1), "http_version": "1.0"}, {"host": "localhost"})
    assert not is_local({"client": ("127.0.0.1", 1)}, {"host": "memory.example"})


def test_problems_come_without_a_client_that_checks(server: Running) -> None:
    answer = httpx.get(f"{server.url}/v1/nothing")

    check_problem(answer)
