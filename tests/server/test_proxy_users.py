"""Whom a client of the proxy speaks for: each user has a place of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from engram import Engram
from engram.config import ProxyConfig
from engram.model.scope import Scope
from engram.server.proxy.mounting import mount
from engram.testing import ScriptedServer
from engram.testing.model_server import says
from tests.server.conftest import Running, running

HEARD_WITHIN_S = 20.0
QUESTION = "What is my favourite colour?"


@dataclass(frozen=True, slots=True)
class Proxied:
    service: ScriptedServer
    server: Running

    @property
    def memory(self) -> Engram:
        return self.server.memory_host.memory

    def ask(self, words: str, user: str | None = None, **headers: str) -> str:
        """Ask as somebody; what the service was sent."""
        body = {"model": "small", "messages": [{"role": "user", "content": words}]}
        named = {f"X-Engram-{name}": value for name, value in headers.items()}
        answer = httpx.post(
            f"{self.server.url}/v1/chat/completions",
            json=body | ({} if user is None else {"user": user}),
            headers={"X-Engram-Session": "monday", **named},
            timeout=30,
        )
        assert answer.status_code == 200
        return str(self.service.requests[-1].body["messages"])

    def heard(self, words: str) -> dict[str, Scope]:
        """Where each thing was said, once these words were listened to."""
        end = time.monotonic() + HEARD_WITHIN_S
        while time.monotonic() < end:
            found = {turn.content: turn.scope for turn in self.memory.turns("monday")}
            if words in found:
                return found
            time.sleep(0.02)
        raise AssertionError(words)


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Proxied]:
    with ScriptedServer(*[says("Noted.")] * 8) as service:
        config = replace(ProxyConfig(), base_url=service.url, time_budget_ms=20_000)
        with running(tmp_path / "m.db", (mount(config),)) as server:
            yield Proxied(service, server)


def test_users_of_one_client_do_not_share_what_they_say(proxied: Proxied) -> None:
    proxied.memory.remember("My favourite colour is teal", scope=Scope(user="anna"))
    proxied.memory.remember("The favourite colour of the house is white")

    assert "teal" not in proxied.ask(QUESTION, "bob")
    assert "teal" in proxied.ask(QUESTION, "anna")
    assert "teal" in proxied.ask(QUESTION, "bob", User="anna")
    assert "white" in proxied.ask(QUESTION, "bob")
    assert "white" not in proxied.ask(QUESTION, "b" * 500)
    proxied.ask("My favourite colour is red.", "bob")

    heard = proxied.heard("My favourite colour is red.")
    assert heard["My favourite colour is red."] == Scope(user="bob")


@pytest.mark.parametrize(
    ("role", "scope", "remembers"),
    [
        ("agent", Scope(), False),
        ("reader", Scope(), False),
        ("orchestrator", Scope(project="apollo"), True),
        ("agent", Scope(user="anna"), True),
    ],
)
def test_a_token_speaks_for_users_of_places_below_its_own(
    proxied: Proxied, role: str, scope: Scope, remembers: bool
) -> None:
    for place in (replace(scope, user="anna"), Scope(user="anna")):
        proxied.memory.remember(f"Anna's colour at {place} is teal", scope=place)
    token = proxied.server.token("rex", role, scope)["Authorization"].removeprefix("Bearer ")

    assert ("teal" in proxied.ask("Which colour is Anna's?", "anna", Token=token)) == remembers
    assert "teal" not in proxied.ask("Which colour is Anna's?", "bob", Token=token)
    if scope.project:
        assert "at default user=anna" not in proxied.ask("Which colour is Anna's?", "anna", Token=token)
