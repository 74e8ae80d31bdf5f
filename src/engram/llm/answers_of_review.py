"""Answers of a review: a model's words come in; which memories rise, what becomes of one, how things stand.

As in `answers.py` a model is not believed: numbers of memories that were not shown are dropped, a status that
tells more than the notes is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from engram.llm import grounding
from engram.llm.answers import Bad, clean, field_of, is_instruction, number_in, unusable
from engram.model.advice import Reconciled
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
