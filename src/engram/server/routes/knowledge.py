"""Upkeep over REST: what happened, how much there is, how it is, what it costs, tokens, and all of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engram.api.bus import Bus
from engram.api.commitments import Commitments, Triggers
from engram.api.conflicts import Conflicts
from engram.api.entities import Entities, Profile
from engram.api.facts import Facts
from engram.api.gaps import Gaps
from engram.api.knowledge import Knowledge
from engram.api.maintenance import Upkeep
from engram.api.sessions import Sessions
from engram.api.tokens import Tokens
from engram.config import values
from engram.engine import Engram
from engram.errors import UnknownEntity
from engram.model.capture import Draft
from engram.model.event import Finding
from engram.model.facts import Claim, Fact
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.model.session import Commitment
from engram.server.binding import arguments, fields_of
from engram.server.route import Route
from engram.text.statement import canonical

# ---------------------------------------------------------------- knowing
# What is known about whom over REST: facts, entities, conflicts.


FIELDS = tuple(one for one in fields_of(Draft) if one.name != "content")


def end(
    memory: Engram,
    memory_id: str,
    fact: Mapping[str, Any] | None = None,
    at: datetime | str | None = None,
    because: str = "",
) -> Memory:
    """Say that a fact of a memory holds no longer, now or since `at`; `fact` tells which of several."""
    return memory.facts.end(memory_id, None if fact is None else _fact(fact), at=at, because=because)


def _fact(given: Mapping[str, Any]) -> Fact:
    told = Fact(**arguments(fields_of(Fact), given))
    return Fact(told.subject.lower(), canonical(told.predicate), told.object.lower())


def disputes(memory: Engram, limit: int = 50) -> list[dict[str, Claim]]:
    """Pairs of facts that cannot both be true and that nobody has decided about, newest first."""
    return [{"a": one, "b": two} for one, two in memory.facts.conflicts(limit)]


def profile(memory: Engram, name: str) -> Profile:
    """What is known about somebody or something, under any of its names."""
    found = memory.entities.get(name)
    if found is None:
        raise UnknownEntity(name)
    return found


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/facts", Facts.query, on="facts", wrap="facts", example={"subject": "anna"}),
    Route(
        "POST",
        "/v1/facts",
        Facts.add,
        on="facts",
        status=201,
        rest=FIELDS,
        example={"subject": "Anna", "predicate": "lives in", "object": "Bremen"},
    ),
    Route("GET", "/v1/facts/history", Facts.history, on="facts", wrap="facts", example={"subject": "anna"}),
    Route("GET", "/v1/facts/conflicts", disputes, wrap="conflicts"),
    Route(
        "GET", "/v1/facts/chain", Facts.chain, on="facts", wrap="paths", example={"start": "anna", "hops": 2}
    ),
    Route("GET", "/v1/memories/{memory_id}/facts", Facts.of, on="facts", wrap="facts"),
    Route("POST", "/v1/memories/{memory_id}/facts/end", end, example={"because": "moved away"}),
    Route("GET", "/v1/entities", Entities.list, on="entities", wrap="entities", example={"type": "person"}),
    Route(
        "POST", "/v1/entities/merge", Entities.merge, on="entities", example={"keep": "Anna", "other": "Ann"}
    ),
    Route("GET", "/v1/entities/{name:path}/timeline", Entities.timeline, on="entities", wrap="steps"),
    Route(
        "POST", "/v1/entities/{name:path}/aliases", Entities.alias, on="entities", example={"other": "Annie"}
    ),
    Route("POST", "/v1/entities/{name:path}/split", Entities.split, on="entities", wrap="entity"),
    Route("GET", "/v1/entities/{name:path}", profile),
    Route("GET", "/v1/conflicts", Conflicts.list, on="conflicts", wrap="conflicts", example={"limit": 20}),
    Route(
        "POST",
        "/v1/conflicts/resolve",
        Conflicts.resolve,
        on="conflicts",
        example={"id_a": "7f3a91c2", "id_b": "0b12cc48", "keep": "b"},
    ),
    Route("POST", "/v1/conflicts/review", Conflicts.review, on="conflicts", wrap="settled"),
    Route(
        "POST",
        "/v1/conflicts/ask",
        Conflicts.ask,
        on="conflicts",
        wrap="settled",
        example={"id_a": "7f3a91c2", "id_b": "0b12cc48"},
    ),
)


# ---------------------------------------------------------------- learned
# What consolidation worked out over REST: profile, map, tree, cards, topics, boxes and the like.


LEARNED_ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/knowledge/profile", Knowledge.profile, on="knowledge"),
    Route("GET", "/v1/knowledge/identity", Knowledge.identity, on="knowledge"),
    Route("GET", "/v1/knowledge/map", Knowledge.map, on="knowledge"),
    Route("GET", "/v1/knowledge/tree", Knowledge.tree, on="knowledge"),
    Route("GET", "/v1/knowledge/core", Knowledge.core, on="knowledge"),
    Route("GET", "/v1/knowledge/topics", Knowledge.topics, on="knowledge", wrap="topics"),
    Route(
        "GET", "/v1/knowledge/cards", Knowledge.cards, on="knowledge", wrap="cards", example={"prefix": "an"}
    ),
    Route("GET", "/v1/knowledge/cards/{name:path}", Knowledge.card, on="knowledge", wrap="card"),
    Route("GET", "/v1/knowledge/boxes", Knowledge.boxes, on="knowledge", wrap="boxes", example={"limit": 10}),
    Route("GET", "/v1/knowledge/traces", Knowledge.traces, on="knowledge", wrap="traces"),
    Route("GET", "/v1/knowledge/patterns", Knowledge.patterns, on="knowledge", wrap="patterns"),
    Route("GET", "/v1/knowledge/guidelines", Knowledge.guidelines, on="knowledge"),
    Route(
        "GET",
        "/v1/knowledge/knowing",
        Knowledge.knowing,
        on="knowledge",
        wrap="knowing",
        example={"about": "How do we back up the database?"},
    ),
)


# ---------------------------------------------------------------- doubting
# Doubt over REST: gaps and their answers, and what memories claim about a directory.


DOUBTING_ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/gaps", Gaps.list, on="gaps", wrap="gaps", example={"limit": 5}),
    Route("POST", "/v1/gaps/ask", Gaps.ask, on="gaps", wrap="gaps", example={"session": "s1"}),
    Route("GET", "/v1/gaps/{gap_id}", Gaps.get, on="gaps"),
    Route("POST", "/v1/gaps/{gap_id}/answer", Gaps.answer, on="gaps", example={"text": "my neighbour"}),
    Route("POST", "/v1/gaps/{gap_id}/dismiss", Gaps.dismiss, on="gaps"),
    Route(
        "POST",
        "/v1/drift",
        Engram.drift,
        owner_only=True,
        waits=True,
        example={"directory": "/srv/app", "apply": False},
    ),
)


# ---------------------------------------------------------------- briefing
# What a session starts with over REST: resume, recall pack, open loops, and words that load pages.


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


BRIEFING_ROUTES: tuple[Route, ...] = (
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


# ---------------------------------------------------------------- bus
# The bus over REST: agents offer memories, ask for those of others, and receive copies.


BUS_ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/bus/publications", Bus.publications, on="bus", wrap="publications"),
    Route(
        "POST",
        "/v1/memories/{memory_id}/publish",
        Bus.publish,
        on="bus",
        status=201,
        example={"to": "project", "topics": ["deploy"]},
    ),
    Route("DELETE", "/v1/bus/publications/{publication_id}", Bus.withdraw, on="bus", wrap="withdrawn"),
    Route("GET", "/v1/bus/subscriptions", Bus.subscriptions, on="bus", wrap="subscriptions"),
    Route(
        "POST",
        "/v1/bus/subscriptions",
        Bus.subscribe,
        on="bus",
        status=201,
        example={"topics": ["deploy"], "min_importance": 0.6, "rate": 5},
    ),
    Route("DELETE", "/v1/bus/subscriptions/{subscription_id}", Bus.unsubscribe, on="bus", wrap="ended"),
    Route("POST", "/v1/bus/deliver", Bus.deliver, on="bus", owner_only=True),
)


# ---------------------------------------------------------------- sessions
# Sessions over REST: start, turn, reply, suspend, resume; what came of flows and projects.
#
# The session lives in the server, with what is on its mind; a client knows it by its id.


SESSIONS_ROUTES: tuple[Route, ...] = (
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


# ---------------------------------------------------------------- maintaining
# Maintenance over REST: consolidate, dream, the reports of runs, taking one back.


MAINTAINING_ROUTES: tuple[Route, ...] = (
    Route("POST", "/v1/consolidate", Engram.consolidate, owner_only=True, example={"dry": True}),
    Route("POST", "/v1/dream", Engram.dream, owner_only=True, example={"dry": True}),
    Route("POST", "/v1/audit", Engram.audit, owner_only=True, example={"dry": True}),
    Route("GET", "/v1/runs", Upkeep.runs, on="upkeep", wrap="runs", owner_only=True, example={"limit": 5}),
    Route("GET", "/v1/runs/{run_id}", Upkeep.report, on="upkeep", owner_only=True),
    Route("POST", "/v1/runs/{run_id}/undo", Engram.undo, owner_only=True),
)


SECRETS = ("key", "token", "secret", "password")
HIDDEN = "********"


def settings(memory: Engram) -> Mapping[str, Any]:
    """The settings in force; what is secret is not shown."""
    return {
        name: HIDDEN if value and name.endswith(SECRETS) else value
        for name, value in values(memory.config).items()
    }


def check_file(memory: Engram) -> list[Finding]:
    """Look at every part and say in words what to do. Nothing is changed."""
    return memory.doctor()


def mend(memory: Engram) -> list[Finding]:
    """Look at every part and mend what can be rebuilt."""
    return memory.doctor(repair=True)


UPKEEP_ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/events", Engram.events, wrap="events", example={"limit": 20}),
    Route("GET", "/v1/stats", Engram.stats),
    Route("GET", "/v1/doctor", check_file, wrap="findings", owner_only=True, waits=True),
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
