"""Asking over REST: recall by a short address and by a body, timelines, thinking a question through."""

from __future__ import annotations

from datetime import datetime

from engram.engine import Engram
from engram.model.scope import Scope
from engram.model.timeline import Timeline
from engram.server.route import Route

ASKED = {"q": "query"}


def timeline(  # noqa: PLR0913 - each is a part of the question; all but the words by name
    memory: Engram,
    about: str,
    *,
    predicate: str = "",
    limit: int = 50,
    since: datetime | None = None,
    until: datetime | None = None,
    scope: Scope | None = None,
) -> Timeline:
    """How something changed, oldest first: a name, "my editor", any words; or a subject and `predicate`."""
    subject = (about, predicate) if predicate else about
    return memory.timeline(subject, limit=limit, since=since, until=until, scope=scope)


ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/recall", Engram.recall, also=ASKED, example={"q": "which editor do I use?", "limit": 5}
    ),
    Route(
        "POST",
        "/v1/recall",
        Engram.recall,
        also=ASKED,
        reads=True,
        example={
            "query": "which editor do I use?",
            "filters": {"categories": ["preference"]},
            "explain": True,
        },
    ),
    Route("GET", "/v1/recall/health", Engram.recall_health),
    Route(
        "POST",
        "/v1/context",
        Engram.context,
        reads=True,
        example={"message": "which editor do I use?", "model": "gpt-4o", "system": "You are helpful."},
    ),
    Route("GET", "/v1/timeline", timeline, example={"about": "my editor", "limit": 20}),
    Route(
        "POST",
        "/v1/reason",
        Engram.reason,
        reads=True,
        waits=True,
        example={"question": "where does the owner of the dog live?", "depth": 2},
    ),
)
