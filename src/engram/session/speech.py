"""Speech: a message comes in; what it does, whom it names and how much it leans on the talk come out."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engram.model.session import Speech
from engram.session.topic import sentences
from engram.text import lexicon
from engram.text.names import entities
from engram.text.questions import is_question
from engram.text.words import content_words, query_terms

# ---------------------------------------------------------------- sensory
# The sensory buffer: what was just said, word for word, with whom it names and what it does.
#
# It holds the last 20 exchanges, in this process alone. After 30 seconds an exchange may be promoted to
# working memory; until then "that" means something in here.


CAPACITY = 20
PROMOTED_AFTER = timedelta(seconds=30)


class WipeableText:
    """Words that can be wiped: they lie in bytes that are overwritten, not in a text that only goes away."""

    __slots__ = ("_bytes",)

    def __init__(self, text: str = "") -> None:
        self._bytes = bytearray(text.encode())

    @property
    def text(self) -> str:
        """The words, for a moment."""
        return self._bytes.decode()

    def wipe(self) -> None:
        """Overwrite the words; afterwards they are empty."""
        self._bytes[:] = bytes(len(self._bytes))
        self._bytes.clear()


@dataclass(slots=True)
class HeardExchange:
    """A message and what was answered."""

    message: WipeableText
    at: datetime
    entities: tuple[str, ...] = ()
    speech: Speech = Speech.STATEMENT
    reply: WipeableText = field(default_factory=WipeableText)
    promoted: bool = False

    def wipe(self) -> None:
        """Overwrite both sides."""
        self.message.wipe()
        self.reply.wipe()


class SensoryBuffer:
    """A ring of exchanges. Owned by one session, used under its lock."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._ring: deque[HeardExchange] = deque()

    def hear(self, exchange: HeardExchange) -> list[HeardExchange]:
        """Take in an exchange; those that fall out, to be promoted if worth it and then wiped."""
        self._ring.append(exchange)
        return [self._ring.popleft() for _ in range(len(self._ring) - self._capacity)]

    def due(self, now: datetime) -> list[HeardExchange]:
        """Exchanges that are old enough for working memory and have not been offered to it."""
        return [one for one in self._ring if not one.promoted and now - one.at >= PROMOTED_AFTER]

    def last(self) -> HeardExchange | None:
        """The latest exchange."""
        return self._ring[-1] if self._ring else None

    def named(self, most: int = 10) -> tuple[str, ...]:
        """Names that came up lately, the latest first, each once."""
        names = (name for one in reversed(self._ring) for name in one.entities)
        return tuple(dict.fromkeys(names))[:most]

    def wipe(self) -> None:
        """Overwrite and empty it."""
        for one in self._ring:
            one.wipe()
        self._ring.clear()

    def __iter__(self) -> Iterator[HeardExchange]:
        return iter(tuple(self._ring))

    def __len__(self) -> int:
        return len(self._ring)


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
