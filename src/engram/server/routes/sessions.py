"""Sessions over REST: start, turn, reply, suspend, resume; what came of flows and projects.

The session lives in the server, with what is on its mind; a client knows it by its id.
"""

from __future__ import annotations

from engram.nouns.sessions import Sessions
from engram.server.route import Route

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/sessions", Sessions.list, on="sessions", wrap="sessions"),
    Route(
        "POST",
        "/v1/sessions",
        Sessions.start,
        on="sessions",
        status=201,
        example={"agent": "rex", "model": "gpt-4o", "id": "monday"},
    ),
    Route("GET", "/v1/sessions/{session_id}", Sessions.get, on="sessions"),
    Route(
        "POST",
        "/v1/sessions/{session_id}/turn",
        Sessions.turn,
        on="sessions",
        example={"message": "ok, deploy it", "system": "You are Rex.", "budget": 8000},
    ),
    Route(
        "POST",
        "/v1/sessions/{session_id}/reply",
        Sessions.reply,
        on="sessions",
        wrap="observation",
        example={"reply": "Deployed."},
    ),
    Route(
        "POST",
        "/v1/sessions/{session_id}/hold",
        Sessions.hold,
        on="sessions",
        example={"content": "The release waits for Anna's review"},
    ),
    Route("POST", "/v1/sessions/{session_id}/suspend", Sessions.suspend, on="sessions"),
    Route("POST", "/v1/sessions/{session_id}/resume", Sessions.resume, on="sessions"),
    Route("POST", "/v1/sessions/{session_id}/abort", Sessions.abort, on="sessions", wrap="aborted"),
    Route("POST", "/v1/sessions/{session_id}/end", Sessions.end, on="sessions", wrap="observation"),
    Route(
        "POST",
        "/v1/flows/{name}/runs",
        Sessions.learn,
        on="sessions",
        status=201,
        example={"steps": ["test", {"name": "tag", "outcome": "failure"}], "outcome": "failure"},
    ),
    Route(
        "POST",
        "/v1/projects/{project}/complete",
        Sessions.complete,
        on="sessions",
        example={"summary": "Released 1.2.", "lessons": ["Ask for the limits first"]},
    ),
)
