"""Recall over REST, by a short address and by a body."""

from __future__ import annotations

from engram.engine import Engram
from engram.server.route import Route

ASKED = {"q": "query"}

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
)
