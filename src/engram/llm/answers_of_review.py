"""Answers of a review: a model's words come in; which memories rise, what becomes of one, how things stand.

As in `answers.py` a model is not believed: numbers of memories that were not shown are dropped, a status that
tells more than the notes is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engram.llm import grounding
from engram.llm.answers import Bad, clean, field_of, is_instruction, number_in, unusable
from engram.model.advice import Proposal, Reconciled
from engram.text.marks import marks


def chosen(text: str, name: str, count: int) -> tuple[bool, ...] | Bad:
    """For each of so many memories whether the model named it.

    >>> chosen('{"approve": [2, 9]}', "approve", 3)
    (False, True, False)
    """
    given = field_of(text, name)
    if not isinstance(given, list):
        return unusable(text, f'it holds no JSON object with a list "{name}" of numbers')
    named = {number for number in map(number_in, given) if number is not None and 1 <= number <= count}
    if given and not named:
        return Bad(f'"{name}" names none of the memories by its number')
    return tuple(number in named for number in range(1, count + 1))


def reconciled(text: str) -> Reconciled | Bad:
    """What becomes of the older one.

    >>> reconciled('{"outcome": "Absorb"}').value
    'absorb'
    """
    value = field_of(text, "outcome")
    word = value.strip().lower().replace(" ", "_") if isinstance(value, str) else ""
    if word in set(Reconciled):
        return Reconciled(word)
    return unusable(text, f'it holds no JSON object with "outcome", one of {", ".join(Reconciled)}')


def distilled(text: str, notes: Sequence[str], longest: int) -> str | Bad:
    """A status that fits and says only what the notes say."""
    value = field_of(text, "status")
    if not isinstance(value, str) or not value.strip():
        return unusable(text, 'it holds no JSON object with a text "status"')
    status = clean(value)
    if len(status) > longest or is_instruction(status):
        return Bad(f'"status" is no statement of at most {longest} characters')
    given = [marks(note) for note in notes]
    if marks(status).numbers - frozenset().union(*(one.numbers for one in given)):
        return Bad('"status" names a number that no note has')
    if not grounding.supports(grounding.evidence(tuple(notes)), status):
        return Bad('"status" says something that no note says')
    return status


def audited(text: str, texts: Sequence[str]) -> tuple[Proposal, ...] | Bad:
    """What is proposed. Powers a model does not have stay in: the sandbox refuses and counts them.

    >>> said = '{"operations": [{"op": "Demote", "ids": [2]}, {"op": "delete", "ids": [9]}]}'
    >>> found = audited(said, ["a", "b"])
    >>> [(one.verb, one.places) for one in found]
    [('demote', (1,)), ('delete', (-1,))]
    """
    given = field_of(text, "operations")
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        return unusable(text, 'it holds no JSON object with a list "operations" of objects')
    return tuple(_proposal(one, texts) for one in given)


def _proposal(given: Mapping[str, Any], texts: Sequence[str]) -> Proposal:
    ids = given.get("ids")
    numbers = [number_in(one) for one in ids] if isinstance(ids, list) else []
    places = tuple(one - 1 if one is not None and 1 <= one <= len(texts) else -1 for one in numbers)
    value = given.get("importance")
    weight = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    said = given.get("content")
    content = clean(said) if isinstance(said, str) else ""
    sources = tuple(texts[place] for place in places if place >= 0)
    if content and not (sources and grounding.supports(grounding.evidence(sources), content)):
        content = ""  # it says something that none of them says: the sandbox refuses a merge without words
    return Proposal(str(given.get("op", "")).strip().lower(), places, weight, content)
