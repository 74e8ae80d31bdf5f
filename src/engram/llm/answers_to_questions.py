"""Answers about memories: a model's words come in; an order, smaller questions or claims come out, or `Bad`.

As in `answers.py` a model is not believed: places that do not exist, claims that rest on nothing and
instructions in the place of questions are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engram.llm import grounding
from engram.llm.answers import Bad, clean, field_of, is_instruction, number_in, unusable
from engram.model.advice import Cited
from engram.text.words import normalized

MOST_QUESTIONS: Final = 4
LONGEST_QUESTION: Final = 300
MOST_PHRASES: Final = 4
LONGEST_PHRASE: Final = 120
MOST_CLAIMS: Final = 20
LONGEST_CLAIM: Final = 600
SLACK: Final = 2
"""A summary may have so many times the words that were asked for; models do not count well."""


def ranked(text: str, count: int) -> tuple[int, ...] | Bad:
    """Places from 0 in the model's order; what it did not name follows as it was.

    >>> ranked('{"order": [3, 1, 1, 9]}', 3)
    (2, 0, 1)
    """
    given = field_of(text, "order")
    if not isinstance(given, list):
        return unusable(text, 'it holds no JSON object with a list "order" of numbers')
    named = _places(given, count)
    if not named:
        return Bad('"order" names none of the memories by its number')
    return (*named, *(place for place in range(count) if place not in named))


def decomposed(text: str, question: str) -> tuple[str, ...] | Bad:
    """The smaller questions, without the one that was asked."""
    given = field_of(text, "questions")
    if not isinstance(given, list):
        return unusable(text, 'it holds no JSON object with a list "questions" of texts')
    found = {normalized(one): one for one in map(clean, given[: 5 * MOST_QUESTIONS]) if _asks(one)}
    found.pop(normalized(question), None)
    return tuple(found.values())[:MOST_QUESTIONS]


def expanded(text: str, question: str) -> tuple[str, ...] | Bad:
    """Short phrases to search for, without the question itself.

    >>> expanded('{"phrases": ["dental appointment", "Teeth?", "teeth"]}', "teeth")
    ('dental appointment',)
    """
    given = field_of(text, "phrases")
    if not isinstance(given, list):
        return unusable(text, 'it holds no JSON object with a list "phrases" of texts')
    found = {normalized(one): one for one in map(clean, given[: 5 * MOST_PHRASES]) if _is_phrase(one)}
    found.pop(normalized(question), None)
    return tuple(found.values())[:MOST_PHRASES]


def synthesized(text: str, count: int) -> tuple[Cited, ...] | Bad:
    """The claims that cite something they were given; `count` is how much that was."""
    given = field_of(text, "claims")
    if not isinstance(given, list):
        return unusable(text, 'it holds no JSON object with a list "claims"')
    claims = [_claim(one, count) for one in given[:MOST_CLAIMS]]
    kept = tuple(one for one in claims if one is not None)
    if given and not kept:
        return Bad('no item of "claims" has a text "claim" and a list "memories" of numbers it was given')
    return kept


def summarized(text: str, texts: Sequence[str], words: int) -> str | Bad:
    """A summary that is short enough and says nothing the texts do not say.

    >>> told = ["The build broke on Friday", "The build broke again"]
    >>> summarized('{"summary": "The build broke"}', told, 10)
    'The build broke'
    >>> summarized('{"summary": "Anna broke the build"}', told, 10).problem
    '"summary" says something that the memories do not say'
    """
    value = field_of(text, "summary")
    if not isinstance(value, str) or not value.strip():
        return unusable(text, 'it holds no JSON object with a text "summary"')
    summary = clean(value)
    if len(summary.split()) > SLACK * words or is_instruction(summary):
        return Bad(f'"summary" is not a statement of at most {words} words')
    if not grounding.supports(grounding.evidence(texts), summary):
        return Bad('"summary" says something that the memories do not say')
    return summary


def _claim(item: Any, count: int) -> Cited | None:
    if not isinstance(item, Mapping):
        return None
    words, cited = clean(item.get("claim")), item.get("memories")
    places = _places(cited if isinstance(cited, list) else [cited], count)
    fits = 0 < len(words) <= LONGEST_CLAIM and not is_instruction(words)
    return Cited(words, places) if fits and places else None


def _places(given: list[Any], count: int) -> tuple[int, ...]:
    """Places from 0 of the numbers that exist, each once."""
    numbers = (number_in(one) for one in given)
    return tuple(dict.fromkeys(n - 1 for n in numbers if n is not None and 0 < n <= count))


def _is_phrase(words: str) -> bool:
    return 0 < len(words) <= LONGEST_PHRASE and not is_instruction(words)


def _asks(words: str) -> bool:
    return 0 < len(words) <= LONGEST_QUESTION and not is_instruction(words)
