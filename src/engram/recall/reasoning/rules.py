"""Taking a question apart without a model: by its own words, and by facts that lead from name to name."""

from __future__ import annotations

from collections.abc import Iterator

from engram.model.facts import Claim, FactQuery
from engram.model.filters import Filters
from engram.model.recall import Question
from engram.ports import Tools, View
from engram.text.predicates import asked
from engram.text.statement import USER
from engram.text.subquestions import Chain, Smaller, chains, smaller

CLAIMS = 10
"""So many facts are looked at for each step of a chain."""


def take_apart(question: Question, tools: Tools) -> tuple[Smaller, ...]:
    """The smaller questions; a chain like "my sister's employer" is followed as far as facts lead."""
    found = smaller(question.text)
    if found:
        return found  # chains are followed in the parts
    steps = (step for chain in chains(question.text) for step in _follow(chain, question, tools))
    return tuple(dict.fromkeys(steps))


def _follow(chain: Chain, question: Question, tools: Tools) -> Iterator[Smaller]:
    """Each step of a chain that a fact answers, and the question with the last name in the chain's place."""
    who, spoken = chain.owner, "my" if chain.owner == USER else f"{chain.owner}'s"
    for place, thing in enumerate(chain.things):
        claim = _claim(who, thing, question, tools)
        if claim is None:
            if len(chain.things) > 1 and not place:
                yield Smaller(f"{spoken} {thing}", "the first step of a chain")
            return
        entity = tools.store.entities.get(claim.fact.object, question.access)
        name = entity.name if entity else claim.fact.object
        yield Smaller(f"{spoken} {thing}", f"a step of a chain: {name}")
        rest = "".join(f"'s {more}" for more in chain.things[place + 1 :])
        asked_of = question.text.replace(chain.words, f"{name}{rest}")
        if asked_of != name:
            yield Smaller(asked_of, f"{spoken} {thing} is {name}")
        who, spoken = claim.fact.object, f"{name}'s"


def _claim(subject: str, predicate: str, question: Question, tools: Tools) -> Claim | None:
    """The latest fact of that kind that holds now."""
    entity = tools.store.entities.get(subject, question.access)
    names = frozenset({subject, *(entity.aliases if entity else ())})
    view, now = View(question.access, Filters()), tools.clock.now()
    for claim in tools.store.facts.find(FactQuery(names, asked(predicate)), view, CLAIMS):
        until = claim.fact.valid_to or claim.memory.valid_to
        if until is None or until > now:
            return claim
    return None
