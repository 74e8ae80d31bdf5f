"""A write that is sent again with its key is answered again, and not carried out again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import httpx
import pytest

from engram.server.limits import IdempotentAnswer, Keys
from engram.server.problems import KeyReused
from tests.server.conftest import Client, Running, running

EDITOR = {"content": "My editor is Helix"}


def test_the_same_key_and_body_get_the_same_answer(client: Client) -> None:
    first = client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "one"})
    again = client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "one"})
    fresh = client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "two"})

    assert first.content == again.content
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    assert fresh.json()["outcome"] == "reinforced"


def test_another_body_under_the_same_key_is_refused(client: Client) -> None:
    client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "one"})
    other = client.post("/v1/memories", json={"content": "Other"}, headers={"Idempotency-Key": "one"})

    assert (other.status_code, other.json()["code"]) == (409, "E6008")
    assert client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "x" * 256}).status_code == 400


def test_what_failed_may_be_tried_again_under_its_key(client: Client) -> None:
    headers = {"Idempotency-Key": "one"}

    assert client.post("/v1/memories", json={"content": ""}, headers=headers).status_code == 400
    assert client.post("/v1/memories", json=EDITOR, headers=headers).status_code == 201


def test_keys_of_two_callers_are_two_keys(server: Running, client: Client) -> None:
    client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "one"})
    theirs = client.post(
        "/v1/memories", json={"content": "Other"}, headers={"Idempotency-Key": "one"} | server.token("rex")
    )

    assert theirs.status_code == 201


def test_many_at_once_with_one_key_are_carried_out_once(client: Client) -> None:
    def send(_: int) -> bytes:
        return client.post("/v1/memories", json=EDITOR, headers={"Idempotency-Key": "one"}).content

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(send, range(16)))

    assert len(answers) == 1
    assert client.get("/v1/memories").json()["memories"][0]["usage"]["repeated"] == 0


def test_a_key_is_known_after_a_restart_and_the_file_tells_nothing_of_the_answer(tmp_path: Path) -> None:
    path, headers = tmp_path / "kept.db", {"Idempotency-Key": "one"}
    answers = []
    for _ in range(2):
        with running(path) as server:
            answers.append(httpx.post(f"{server.url}/v1/memories", json=EDITOR, headers=headers))
            erased = answers[0].json()["memory"]["id"]
    with running(path) as server:
        other = httpx.post(f"{server.url}/v1/memories", json={"content": "Other"}, headers=headers)
        httpx.post(f"{server.url}/v1/memories/{erased}/erase")

    assert answers[0].content == answers[1].content
    assert answers[1].headers["idempotency-replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (409, "E6008")
    assert b"Helix" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_keys_are_forgotten_in_time_and_in_number() -> None:
    now = 0.0
    keys = Keys(most=2, hours=1, now=lambda: now)

    async def ask(key: str, body: bytes) -> bool:
        async def work() -> IdempotentAnswer:
            return IdempotentAnswer(200, body)

        return (await keys.once("rex", key, body, work))[1]

    async def story() -> None:
        nonlocal now
        assert not await ask("a", b"1")
        assert await ask("a", b"1")
        with pytest.raises(KeyReused):
            await ask("a", b"2")
        now = 3_601
        assert not await ask("a", b"2")
        for key in ("b", "c", "d"):
            assert not await ask(key, b"1")
        assert not await ask("a", b"3")

    anyio.run(story)


def test_a_key_of_an_old_route_holds_in_one_namespace(client: Client) -> None:
    def store(namespace: str, query: str = "") -> httpx.Response:
        headers = {"Idempotency-Key": "c1", "X-Namespace": namespace}
        return client.post(f"/memories{query}", json=EDITOR, headers=headers)

    one, two, again = store("tena"), store("tenb"), store("tena")

    assert (one.status_code, two.status_code) == (201, 201)
    assert one.json()["id"] == again.json()["id"] != two.json()["id"]
    for namespace in ("tena", "tenb"):
        assert client.get("/memories", headers={"X-Namespace": namespace}).json()["total"] == 1
