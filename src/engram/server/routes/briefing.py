"""What a session starts with over REST: resume, recall pack, open loops, and words that load pages."""

from __future__ import annotations

from engram.engine import Engram
from engram.model.commitment import Commitment
from engram.model.scope import Scope
from engram.nouns.commitments import Commitments
from engram.nouns.triggers import Triggers
from engram.server.route import Route


def opened(
    memory: Engram,
    text: str,
    *,
    due: str | None = None,
    waiting_on: str = "",
    scope: Scope | None = None,
    session: str = "",
) -> Commitment:
    """Open a loop. `due` is a time or words ("by Friday"); when it is not given, the text may name it."""
    return memory.commitments.open(text, due=due, waiting_on=waiting_on, scope=scope, session=session)


def reopened(memory: Engram, commitment_id: str, *, due: str | None = None, because: str = "") -> Commitment:
    """Open a loop again; `due` moves the day: a time, or words."""
    return memory.commitments.reopen(commitment_id, due=due, because=because)


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/resume", Engram.resume, example={"budget": 4000, "form": "compact"}),
    Route("GET", "/v1/pack", Engram.recall_pack, example={"message": "where are my orders?"}),
    Route(
        "POST",
        "/v1/pack",
        Engram.recall_pack,
        reads=True,
        example={"message": "where are my orders?", "tasks": ["release 1.2"]},
    ),
    Route("GET", "/v1/commitments", Commitments.list, on="commitments", wrap="commitments"),
    Route(
        "POST",
        "/v1/commitments",
        opened,
        status=201,
        example={"text": "Send the report to Anna", "due": "by Friday"},
    ),
    Route("POST", "/v1/commitments/review", Commitments.review, on="commitments", wrap="closings"),
    Route("GET", "/v1/commitments/{commitment_id}", Commitments.get, on="commitments"),
    Route(
        "POST",
        "/v1/commitments/{commitment_id}/close",
        Commitments.close,
        on="commitments",
        example={"outcome": "done", "because": "sent on Thursday"},
    ),
    Route(
        "POST",
        "/v1/commitments/{commitment_id}/wait",
        Commitments.wait,
        on="commitments",
        example={"on": "legal"},
    ),
    Route(
        "POST",
        "/v1/commitments/{commitment_id}/reopen",
        reopened,
        example={"due": "by Monday"},
    ),
    Route("GET", "/v1/triggers", Triggers.list, on="triggers", wrap="triggers"),
    Route(
        "POST",
        "/v1/triggers",
        Triggers.add,
        on="triggers",
        status=201,
        example={"words": ["order", "supplier"], "pages": ["entity:Acme"]},
    ),
    Route(
        "GET",
        "/v1/triggers/match",
        Triggers.match,
        on="triggers",
        wrap="triggers",
        example={"message": "where are my orders?"},
    ),
    Route("GET", "/v1/triggers/{trigger_id}", Triggers.get, on="triggers"),
    Route("PATCH", "/v1/triggers/{trigger_id}", Triggers.update, on="triggers", example={"words": ["order"]}),
    Route("DELETE", "/v1/triggers/{trigger_id}", Triggers.remove, on="triggers"),
)
