"""Speech: a message comes in; what it does, whom it names and how much it leans on the talk come out."""

from __future__ import annotations

from engram.model.session import Speech
from engram.session.topic import sentences
from engram.text import lexicon
from engram.text.names import entities
from engram.text.questions import is_question
from engram.text.words import content_words, query_terms

STANDS_ALONE = 7
"""A message with so many telling words needs nothing that was said before."""
LEANS = 2.0
"""A word like "it" makes up for so many telling words."""
ELLIPTIC = 0.8
"""The least need of the talk that makes a message part of it."""
NAMES_MOST = 10


def speech_of(message: str) -> Speech:
    """What somebody does by a message.

    >>> [str(speech_of(said)) for said in ("ok, go ahead", "deploy it to staging", "where is it?", "I moved")]
    ['continuation', 'instruction', 'question', 'statement']
    """
    plain = message.strip().lower().replace("’", "'")
    if not plain or lexicon.found("topic_turns", plain, under="agrees"):
        return Speech.CONTINUATION
    if lexicon.found("topic_turns", plain, under="orders"):
        return Speech.INSTRUCTION
    return Speech.QUESTION if is_question(message) else Speech.STATEMENT


def names_in(message: str) -> tuple[str, ...]:
    """The names in a message, each once."""
    return tuple(one.name for one in entities(message))[:NAMES_MOST]


def need(message: str) -> float:
    """How much a message needs the talk to be understood: 1 for "ok, do it", 0 for one that stands alone.

    >>> need("ok, deploy it"), need("the staging server of the Apollo project runs out of disk space again")
    (1.0, 0.0)
    """
    plain = message.lower().replace("’", "'")
    telling = _telling(message)
    leans = LEANS if lexicon.found("topic_turns", plain, under="leaning") else 0.0
    missing = 1.0 - (telling - 1 - leans) / (STANDS_ALONE - 1)
    return min(1.0, max(0.0, missing))


def is_elliptic(message: str) -> bool:
    """Whether a message makes sense only as part of the talk, and so cannot open a topic.

    >>> [is_elliptic(said) for said in ("who is in charge of it?", "and the price?", "do you like sports?")]
    [True, True, False]
    >>> is_elliptic("where does my sister live?"), is_elliptic("what about Bremen?")
    (False, False)
    """
    return need(message) >= ELLIPTIC and all(_leans(part) for part in sentences(message))


def _leans(sentence: str) -> bool:
    """Whether a sentence makes sense only as part of the talk: it names nothing and opens nothing."""
    plain = sentence.lower().replace("’", "'")
    if names_in(sentence) or lexicon.found("topic_turns", plain, under="aside"):
        return False
    done = speech_of(sentence)
    opening = ("own",) if done is Speech.STATEMENT else ("listener", "mine")
    if not any(lexicon.found("topic_turns", plain, under=heading) for heading in opening):
        return True
    return done is not Speech.STATEMENT and lexicon.found("topic_turns", plain, under="leaning")


def substance(message: str) -> float:
    """How much a message says by itself, 0 to 1: what it weighs in the course of the talk.

    >>> substance("ok"), substance("the deploy to staging broke the migration of users")
    (0.0, 1.0)
    """
    if speech_of(message) is Speech.CONTINUATION:
        return 0.0
    return min(1.0, _telling(message) / 4.0)


def _telling(message: str) -> int:
    """How many words of a message say what it is about; common words alone say nothing."""
    return 0 if query_terms(message).weak else len(content_words(message))
