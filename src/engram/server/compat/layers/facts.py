"""Facts of *layers*: stated, asked, followed, ended."""

from __future__ import annotations

from typing import Any

from engram.errors import InvalidInput, NotFound
from engram.model.facts import Claim
from engram.model.plain import plain
from engram.server.compat.ask import Ask
from engram.server.compat.layers.shapes import fact_id, fact_of, moment_from, triple_of
from engram.server.compat.old import Old

SOURCE = "fact"
MOST = 1_000


def state(ask: Ask) -> dict[str, Any]:
    """State facts. One with the same subject and predicate but another object takes the old one's place."""
    given = [ask.of(one) for one in ask.objects("facts")]
    for one in given:
        [one.text(part) for part in ("subject", "predicate", "object")]
    stated: list[Claim] = []
    conflicts: list[Claim] = []
    for one in given:
        before = _same(one)
        claim = _attach(one) if one.has("memory_id") else _state(one)
        stated.append(claim)
        after = {fact_id(left) for left in _same(one)}
        conflicts += [old for old in before if fact_id(old) not in after]
    told = [fact_of(one) for one in conflicts]
    return {"facts": [fact_of(one) for one in stated], "conflicts": told, "resolved": len(told)}


def query(ask: Ask) -> dict[str, Any]:
    """Facts about somebody or something, as their subject or object."""
    entity, old = ask.text("entity"), ask.truth("include_superseded")
    facts = ask.memory.facts
    found = [
        *facts.query(entity, history=old, limit=MOST),
        *facts.query(object=entity, history=old, limit=MOST),
    ]
    return _listed("facts", list({fact_id(one): one for one in found}.values()))


def everything(ask: Ask) -> dict[str, Any]:
    """All facts, newest first."""
    limit = ask.whole("limit", 100, 1, MOST)
    offset = ask.whole("offset", 0, 0, MOST)
    return _listed("facts", ask.memory.facts.query(limit=min(offset + limit, MOST))[offset:])


def graph(ask: Ask) -> dict[str, Any]:
    """Chains of facts from a name."""
    entity, hops = ask.text("entity"), ask.whole("hops", 2, 1, 3)
    paths = ask.memory.facts.chain(entity, hops=hops)
    chains = [{"path": [triple_of(claim.fact) for claim in path.claims]} for path in paths]
    return {"entity": entity, "hops": hops, "chains": chains, "count": len(chains)}


def conflicts(ask: Ask) -> dict[str, Any]:
    """Facts of one subject and predicate that hold beside each other."""
    return _listed("conflicts", ask.memory.facts.query(ask.text("subject"), ask.text("predicate")))


def history(ask: Ask) -> dict[str, Any]:
    """Everything ever stated about a subject and predicate, oldest first."""
    return _listed("history", ask.memory.facts.history(ask.text("subject"), ask.text("predicate")))


def end(ask: Ask) -> dict[str, Any]:
    """Say that a fact holds no longer."""
    memory_id, _, _ = ask.placed["id"].partition(".")
    for claim in ask.memory.facts.of(memory_id):
        if fact_id(claim) == ask.placed["id"]:
            ask.memory.facts.end(claim, because="deleted by a client")
            return {"deleted": True}
    raise NotFound(ask.placed["id"])


def _state(ask: Ask) -> Claim:
    receipt = ask.memory.facts.add(
        ask.text("subject"),
        ask.text("predicate"),
        ask.text("object"),
        functional=True,
        valid_from=moment_from("valid_from", ask.number("valid_from")),
        source=SOURCE,
    )
    return _stated(ask, receipt.memory.id)


def _attach(ask: Ask) -> Claim:
    """Let a memory that is there state the fact."""
    memory = ask.memory.get(ask.text("memory_id"))
    if memory is None:
        raise NotFound(ask.text("memory_id"))
    since = moment_from("valid_from", ask.number("valid_from"))
    fact = {part: ask.text(part) for part in ("subject", "predicate", "object")}
    listed = memory.details.get("facts", [])
    if not isinstance(listed, list | tuple):
        raise InvalidInput("The details of that memory hold no list of facts.")
    details = {**memory.details, "facts": [*listed, {**fact, "valid_from": plain(since)}]}
    ask.memory.update(memory.id, details=details, because="a client stated a fact of it")
    return _stated(ask, memory.id)


def _stated(ask: Ask, memory_id: str) -> Claim:
    """The fact as it is known now."""
    found = ask.memory.facts.of(memory_id)
    said = ask.text("object").lower()
    return next((one for one in reversed(found) if one.fact.object == said), found[-1])


def _same(ask: Ask) -> list[Claim]:
    return ask.memory.facts.query(ask.text("subject"), ask.text("predicate"))


def _listed(name: str, claims: list[Claim]) -> dict[str, Any]:
    return {name: [fact_of(one) for one in claims], "count": len(claims)}


ROUTES: tuple[Old, ...] = (
    Old("POST", "/facts", state, in_default=True),
    Old("GET", "/facts", query, in_default=True),
    Old("GET", "/facts/all", everything, in_default=True),
    Old("GET", "/facts/graph", graph, in_default=True),
    Old("GET", "/facts/conflicts", conflicts, in_default=True),
    Old("GET", "/facts/history", history, in_default=True),
    Old("DELETE", "/facts/{id}", end, in_default=True),
)
