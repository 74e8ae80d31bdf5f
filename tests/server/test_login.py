"""How the owner comes in: the secret beside the file, the link that works once, the page's cookie."""

from __future__ import annotations

import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from engram.config import ServerConfig
from engram.errors import ConfigError
from engram.server.app import build, listen_at, serve
from engram.server.caller import (
    COOKIE_DAYS,
    Links,
    cookie_from,
    has_valid_cookie,
    known_secret,
    local_secret,
    secret_file,
)
from tests.server.conftest import STARTS_WITHIN_S, Client, Running, Start, opened
from tests.tables import every

SECRET = "engram_" + "x" * 43
PAGE = {"Accept": "text/html"}


@pytest.fixture
def server(start: Start) -> Running:
    return start(access="secret", api_key=SECRET)


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=30) as made:
        yield made


def test_nobody_is_the_owner_by_where_they_come_from(server: Running, client: httpx.Client) -> None:
    for path in ("/v1/me", "/v1/memories", "/v1/export", "/metrics", "/memories", "/engram/v1/memories"):
        assert client.get(path).status_code == 401
    assert client.post("/v1/tokens", json={"name": "evil", "role": "owner"}).status_code == 401
    assert client.post("/mcp", json={}).status_code == 401
    me = client.get("/v1/me", headers={"Authorization": f"Bearer {SECRET}"})
    assert me.json()["role"] == "owner"
    assert client.get("/v1/me", headers={"X-Api-Key": SECRET}).status_code == 200
    assert client.get("/v1/me", headers={"Authorization": f"Bearer {SECRET}x"}).status_code == 401
    assert client.get("/v1/me", headers=server.token("rex")).json()["role"] == "agent"


def test_the_printed_link_opens_the_page_once(server: Running, client: httpx.Client) -> None:
    refused = client.get("/", headers=PAGE)
    assert (refused.status_code, "engram page" in refused.text) == (401, True)

    link = server.memory_host.login_path()
    came = client.get(link, headers=PAGE)
    told = came.headers["set-cookie"].lower()

    assert (came.status_code, came.headers["location"]) == (303, "/")
    assert "httponly" in told
    assert "samesite=strict" in told
    assert SECRET not in told
    assert client.get("/", headers=PAGE).status_code == 200
    assert client.post("/v1/memories", json={"content": "My editor is Helix"}).status_code == 201
    assert client.get("/v1/me").json()["role"] == "owner"
    with httpx.Client(base_url=server.url) as other:
        again = other.get(link, headers=PAGE)
        assert (again.status_code, "set-cookie" in again.headers) == (401, False)
        assert other.get("/v1/me").status_code == 401


def test_a_cookie_is_no_use_to_other_sites(server: Running, client: httpx.Client) -> None:
    client.get(server.memory_host.login_path())
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert client.get("/v1/recall", params={"q": "editor"}, headers=headers).status_code == 403
    assert client.get("/v1/me", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.get("/", headers={**PAGE, "Sec-Fetch-Site": "cross-site"}).status_code == 200


def test_pictures_of_other_sites_count_no_uses_on_an_open_server(start: Start) -> None:
    with httpx.Client(base_url=start().url) as client:
        foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert client.get("/v1/recall", params={"q": "tea"}, headers=foreign).status_code == 403
        assert client.get("/v1/recall", params={"q": "tea"}).status_code == 200


def test_only_the_owner_makes_another_link(server: Running, client: httpx.Client) -> None:
    assert client.post("/v1/login").status_code == 401
    assert client.post("/v1/login", headers=server.token("boss", "owner")).status_code == 403
    made = client.post("/v1/login", headers={"Authorization": f"Bearer {SECRET}"})
    assert client.get(made.json()["path"]).status_code == 303


def test_a_cookie_says_when_and_ends() -> None:
    told = cookie_from(SECRET, lambda: 1_000.0)
    headers = {"host": "127.0.0.1:3917", "cookie": f"engram_3917={told}; other=1"}
    later = 1_000.0 + COOKIE_DAYS * 86_400

    assert has_valid_cookie(headers, SECRET, lambda: later)
    assert not has_valid_cookie(headers, SECRET, lambda: later + 1)
    assert not has_valid_cookie(headers, SECRET, lambda: 999.0)
    assert not has_valid_cookie(headers, SECRET + "y", lambda: 1_001.0)
    assert not has_valid_cookie(headers, "", lambda: 1_001.0)
    assert not has_valid_cookie(headers | {"host": "127.0.0.1:80"}, SECRET, lambda: 1_001.0)
    for forged in ("", "1000", "1000.", f"2000.{told.partition('.')[2]}", "é.é", "1000." + "0" * 64):
        assert not has_valid_cookie({**headers, "cookie": f"engram_3917={forged}"}, SECRET, lambda: 1_001.0)


def test_links_that_nobody_follows_are_forgotten() -> None:
    links = Links()
    codes = [links.make() for _ in range(101)]

    assert not links.take(codes[0])
    assert links.take(codes[1])
    assert not links.take(codes[1])
    assert not links.take("")


def test_the_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "new" / "memory.db"
    assert known_secret(file) is None

    secret = local_secret(file)
    path = secret_file(file)

    assert local_secret(file) == known_secret(file) == secret
    assert secret.startswith("engram_")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["memory.db.secret"]
    path.chmod(0o644)
    assert local_secret(file) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("")
    with pytest.raises(ConfigError, match="remove it"):
        local_secret(file)


def test_two_servers_that_start_at_once_have_one_secret(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(local_secret(tmp_path / "memory.db"))) for _ in range(8)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_unix_socket_is_its_owners(tmp_path: Path) -> None:
    path = str(tmp_path / "e.sock")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(path)  # by a server that was killed
    app = build(lambda: opened(tmp_path / "served.db"), ServerConfig(access="open", drain_s=2.0))
    ready = threading.Event()
    thread = threading.Thread(target=serve, args=(app, listen_at(path), ready.set))
    thread.start()
    try:
        assert ready.wait(STARTS_WITHIN_S)
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o700
        with httpx.Client(transport=httpx.HTTPTransport(uds=path), base_url="http://localhost") as client:
            assert client.get("/v1/me").json()["role"] == "owner"
            assert client.get("/v1/me", headers={"X-Forwarded-For": "192.0.2.1"}).status_code == 401
            assert client.get("/v1/me", headers={"Host": "evil.example"}).status_code == 421
    finally:
        app.state.server.should_exit = True
        thread.join(STARTS_WITHIN_S)
    assert not Path(path).exists()


@every("host", ["127.0.0.2:3917", "[::1]:80", "127.9.9.9"])
def test_every_name_of_this_machine_is_heard(start: Start, host: str) -> None:
    with Client(base_url=start().url) as client:
        assert client.get("/v1/me", headers={"Host": host}).status_code == 200
