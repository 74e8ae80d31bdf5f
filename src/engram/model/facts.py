"""A fact: what a statement says about something, as subject, predicate and object."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    """Read "subject — predicate → object"; all three in lower case, without hedges."""

    subject: str
    predicate: str
    object: str
    functional: bool = False
    """Whether there is one object at a time: a person has one birthday but likes many things."""
