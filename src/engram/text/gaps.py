"""Gaps in words: what is not known comes in, the question comes out; an answer becomes a statement.

What is expected to be known of whom stands in `data/gaps.txt`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from engram.text import lexicon
from engram.text.predicates import roles

SHORT: Final = 8
"""An answer of so many words at most is put into a sentence; a longer one is a sentence by itself."""
_ENDS: Final = (".", "!", "?", "。")


@dataclass(frozen=True, slots=True)
class Expected:
    """What one expects to know of a thing of a type, the question for it, and how a short answer reads."""

    type: str
    what: str
    predicates: frozenset[str]
    question: str
    statement: str


@cache
def expected(entity_type: str) -> tuple[Expected, ...]:
    """What one expects to know of a thing of this type.

    >>> [one.what for one in expected("project")], expected("location")
    (['deadline'], ())
    """
    rows = (row.split(" | ") for row in lexicon.parts("gaps")["missing"])
    return tuple(
        Expected(kind, what, _predicates(told), question, statement)
        for kind, what, told, question, statement in rows
        if kind == entity_type
    )


def who(name: str, entity_type: str) -> str:
    """The question for somebody or something nothing is known of; empty for what nobody asks about.

    >>> who("Carla", "person"), who("Berlin", "location")
    ('Who is Carla?', '')
    """
    return _worded("unknown", entity_type).format(name=name) if _worded("unknown", entity_type) else ""


def worded(kind: str, *, name: str = "", one: str = "", two: str = "") -> str:
    """The question for a gap of a kind.

    >>> worded("due", one="Send the report")
    'By when is this to be done: "Send the report"?'
    """
    return _worded("statements", kind).format(name=name, one=_quoted(one), two=_quoted(two))


def stated(answer: str, about: str, form: str = "") -> str:
    """An answer as a statement that stands alone.

    >>> stated("my sister", "Anna", "{name} is {answer}"), stated("Anna is my sister", "Anna")
    ('Anna is my sister', 'Anna is my sister')
    >>> stated("She came in May and will stay until the house is sold.", "Anna")
    'About Anna: She came in May and will stay until the house is sold.'
    """
    if not about or about.casefold() in answer.casefold():
        return answer
    if form and len(answer.split()) <= SHORT and not answer.endswith(_ENDS):
        return form.format(name=about, answer=answer)
    return f"About {about}: {answer}"


def says_yes(answer: str) -> bool:
    """Whether an answer says no more than that it is so.

    >>> says_yes("Yes, still."), says_yes("No, she moved to Rome")
    (True, False)
    """
    plain = answer.lower()
    return len(plain.split()) <= SHORT // 2 and lexicon.found("gaps", plain, under="yes")


@cache
def _worded(heading: str, key: str) -> str:
    rows = (row.partition(" = ") for row in lexicon.parts("gaps")[heading])
    return next((question for name, _, question in rows if name == key), "")


def _predicates(told: str) -> frozenset[str]:
    named = frozenset(word.replace("_", " ") for word in told.split() if not word.startswith("@"))
    return named | roles() if "@roles" in told.split() else named


def _quoted(statement: str) -> str:
    """A statement as it stands in quotation marks: on one line, without the point."""
    return " ".join(statement.split()).rstrip(".").replace('"', "'")
