"""Upkeep over REST: what happened, how much there is, how it is, what it costs, tokens, and all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engram.config import values
from engram.engine import Engram
from engram.model.pages import Finding
from engram.nouns.tokens import Tokens
from engram.server.route import Route

SECRETS = ("key", "token", "secret", "password")
HIDDEN = "********"


def settings(memory: Engram) -> Mapping[str, Any]:
    """The settings in force; what is secret is not shown."""
    return {
        name: HIDDEN if value and name.endswith(SECRETS) else value
        for name, value in values(memory.config).items()
    }


def look(memory: Engram) -> list[Finding]:
    """Look at every part and say in words what to do. Nothing is changed."""
    return memory.doctor()


def mend(memory: Engram) -> list[Finding]:
    """Look at every part and mend what can be rebuilt."""
    return memory.doctor(repair=True)


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/events", Engram.events, wrap="events", example={"limit": 20}),
    Route("GET", "/v1/stats", Engram.stats),
    Route("GET", "/v1/doctor", look, wrap="findings", owner_only=True, waits=True),
    Route("POST", "/v1/doctor", mend, wrap="findings", owner_only=True),
    Route("POST", "/v1/vacuum", Engram.vacuum, wrap="freed_bytes", owner_only=True, example={"full": True}),
    Route("POST", "/v1/reembed", Engram.reembed, wrap="embedded", owner_only=True),
    Route("GET", "/v1/spending", Engram.spending, wrap="spending", owner_only=True, example={"days": 7}),
    Route("DELETE", "/v1/spending", Engram.forget_spending, wrap="forgotten", owner_only=True),
    Route("GET", "/v1/config", settings, wrap="settings", owner_only=True),
    Route("GET", "/v1/export", Engram.export, gives="application/x-ndjson"),
    Route(
        "POST",
        "/v1/adopt",
        Engram.adopt,
        bare="records",
        example={"records": [{"id": "0b12cc48-0000", "content": "Anna lives in Bremen"}]},
    ),
    Route("GET", "/v1/tokens", Tokens.list, on="tokens", wrap="tokens", owner_only=True),
    Route(
        "POST",
        "/v1/tokens",
        Tokens.create,
        on="tokens",
        status=201,
        owner_only=True,
        example={"name": "rex", "role": "agent", "scope": {"project": "apollo", "agent": "rex"}},
    ),
    Route("DELETE", "/v1/tokens/{token_id}", Tokens.revoke, on="tokens", owner_only=True),
)
