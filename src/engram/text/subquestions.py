"""Taking a question apart by rules: a question comes in, smaller ones come out, each with why it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from engram.text import lexicon
from engram.text.names import entities
from engram.text.statement import USER

SHORTEST = 2
"""Words that a smaller question has at least; one word alone asks nothing."""
LONGEST = 600
"""Characters of a question that is still taken apart: what is longer is a document."""
_PRONOUN = re.compile(r"\b(?:she|he|they|it|him|her|them)\b|[他她它]们?", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_ENDS = re.compile(r"^[\s,;，；]+|[\s?？.。,;，；]+$")


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller question, and why it is asked."""

    question: str
    why: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Somebody's somebody's something, as it stands in a question."""

    words: str
    owner: str
    """`user`, or a name in lower case."""
    things: tuple[str, ...]


def smaller(question: str) -> tuple[Smaller, ...]:
    """The questions that a question is made of; none when it is simple. The first rule that fits counts.

    >>> [one.question for one in smaller("Where does Anna work and how old is she?")]
    ['Where does Anna work', 'how old is Anna']
    >>> [one.question for one in smaller("Is Anna or Ben older?")]
    ['Is Anna older', 'Is Ben older']
    >>> [one.question for one in smaller("What did I buy after I moved to Berlin?")]
    ['I moved to Berlin', 'What did I buy']
    >>> smaller("Where do I live?")
    ()
    """
    for rule in (_joined, _compared, _tied) if len(question) <= LONGEST else ():
        found = tuple(dict.fromkeys(one for one in rule(question) if _asks(one.question)))
        if len(found) > 1:
            return found
    return ()


def chains(question: str) -> tuple[Chain, ...]:
    """Whom and what a question names through somebody else.

    >>> chains("Where is my sister's office?")
    (Chain(words="my sister's office", owner='user', things=('sister', 'office')),)
    """
    return tuple(
        Chain(match.group().strip(), _owner(match["owner"]), _things(match["things"]))
        for row in _patterns("chain")
        for match in row.finditer(question[:LONGEST].replace("’", "'"))
    )


def _joined(question: str) -> Iterator[Smaller]:
    """One question after the other; who is spoken of in the first is meant by "she" in the next."""
    parts = [_ENDS.sub("", part) for part in _joint().split(question)]
    names = [found.name for found in entities(parts[0])]
    for place, part in enumerate(parts):
        known = names[0] if place and len(names) == 1 and not entities(part) else ""
        yield Smaller(_PRONOUN.sub(known, part) if known else part, "one of several questions")


def _compared(question: str) -> Iterator[Smaller]:
    """Each of two things alone."""
    for heading in ("either", "names"):
        for row in _patterns(heading):
            if match := row.search(question):
                for name in ("a", "b"):
                    one = f"{question[: match.start()]}{match[name]}{question[match.end() :]}"
                    yield Smaller(_ENDS.sub("", one), f"about {match[name]} alone")
                return


def _tied(question: str) -> Iterator[Smaller]:
    """What happened, and what is asked about the time around it."""
    for row in _patterns("tied"):
        if match := row.match(question.strip()):
            yield Smaller(_ENDS.sub("", match["event"]), "what the time hangs on")
            yield Smaller(_ENDS.sub("", match["main"]), "what is asked, at any time")
            return


def _asks(question: str) -> bool:
    return len(question.split()) >= SHORTEST or len(_HAN.findall(question)) > SHORTEST


def _owner(words: str) -> str:
    lower = words.lower().removesuffix("'s")
    return USER if lower in {"my", "our", "我"} else lower


def _things(words: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"'s\s+|的", words.lower().strip()) if part)


@cache
def _joint() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{row})" for row in lexicon.parts("subquestions")["and"]), re.IGNORECASE)


@cache
def _patterns(heading: str) -> tuple[re.Pattern[str], ...]:
    case = re.NOFLAG if heading in {"names", "chain"} else re.IGNORECASE
    return tuple(re.compile(row, case) for row in lexicon.parts("subquestions")[heading])
