"""What is known about whom over REST: facts, entities, conflicts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engram.engine import Engram
from engram.errors import UnknownEntity
from engram.model.draft import Draft
from engram.model.facts import Claim, Fact
from engram.model.memory import Memory
from engram.nouns.conflicts import Conflicts
from engram.nouns.entities import Entities, Profile
from engram.nouns.facts import Facts
from engram.server.binding import arguments, fields_of
from engram.server.route import Route
from engram.text.predicates import canonical

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
