"""Taking a question apart by rules: a question comes in, smaller ones come out, each with why it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.names import entities
from engram.text.statement import USER, roles

# ---------------------------------------------------------------- changes
# Questions after change: "how has my diet changed?" comes in, what it is about comes out.


_END = re.compile(r"[\s?？!！.。]+$")
_OWNED = re.compile(
    r"^(?:(?P<mine>my|our)|(?P<owner>[^\s].{0,60}?)(?:'s|s'))\s+(?P<thing>.{1,60})$"
    r"|^(?:the )?(?P<of>.{1,60}?) of (?P<whose>me|.{1,60})$"
    r"|^(?P<hans>[我咱]|.{1,10}?)的(?P<ding>.{1,20})$"
)
_ME = frozenset({"me", "my", "our", "mine", "我", "咱", "我们"})


def topic_of_change(question: str) -> str:
    """What a question after change is about, in lower case; empty when it is none.

    >>> topic_of_change("How has my favourite editor changed over time?"), topic_of_change("Why change it?")
    ('my favourite editor', '')
    >>> topic_of_change("我的工作有什么变化？")
    '我的工作'
    """
    plain = _END.sub("", " ".join(question.lower().replace("’", "'").split()))
    calls, rows = _patterns()
    found = (rows[at].match(plain) for at in calls.of(plain))
    return next((match["topic"].strip() for match in found if match), "")


def owner_and_thing(words: str) -> tuple[str, str] | None:
    """Whose and what, where words say both.

    >>> owner_and_thing("my editor"), owner_and_thing("Anna's job"), owner_and_thing("the owner of the cafe")
    (('user', 'editor'), ('Anna', 'job'), ('the cafe', 'owner'))
    >>> owner_and_thing("tea")
    """
    match = _OWNED.match(" ".join(words.replace("’", "'").split()))
    if match is None:
        return None
    owner = match["mine"] or match["owner"] or match["whose"] or match["hans"]
    thing = match["thing"] or match["of"] or match["ding"]
    return (USER if owner.lower() in _ME else owner, thing)


@cache
def _patterns() -> tuple[lexicon.Calls, tuple[re.Pattern[str], ...]]:
    rows = lexicon.lines("changes")
    return lexicon.Calls([lexicon.needed(row) for row in rows]), tuple(map(re.compile, rows))


# ---------------------------------------------------------------- gaps
# Gaps in words: what is not known comes in, the question comes out; an answer becomes a statement.
#
# What is expected to be known of whom stands in `data/gaps.txt`.


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


SHORTEST = 2
"""Words that a smaller question has at least; one word alone asks nothing."""
LONGEST = 600
"""Characters of a question that is still taken apart: what is longer is a document."""
_PRONOUN = re.compile(r"\b(?:she|he|they|it|him|her|them)\b|[他她它]们?", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
_SUBQUESTIONS_ENDS = re.compile(r"^[\s,;，；]+|[\s?？.。,;，；]+$")


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller question, and why it is asked."""

    question: str
    why: str


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


def _joined(question: str) -> Iterator[Smaller]:
    """One question after the other; who is spoken of in the first is meant by "she" in the next."""
    parts = [_SUBQUESTIONS_ENDS.sub("", part) for part in _joint().split(question)]
    names = [found.name for found in entities(parts[0])]
    for place, part in enumerate(parts):
        known = names[0] if place and len(names) == 1 and not entities(part) else ""
        yield Smaller(_PRONOUN.sub(known, part) if known else part, "one of several questions")


def _compared(question: str) -> Iterator[Smaller]:
    """Each of two things alone."""
    for heading in ("either", "names"):
        for row in _patterns_subquestions(heading):
            if match := row.search(question):
                for name in ("a", "b"):
                    one = f"{question[: match.start()]}{match[name]}{question[match.end() :]}"
                    yield Smaller(_SUBQUESTIONS_ENDS.sub("", one), f"about {match[name]} alone")
                return


def _tied(question: str) -> Iterator[Smaller]:
    """What happened, and what is asked about the time around it."""
    for row in _patterns_subquestions("tied"):
        if match := row.match(question.strip()):
            yield Smaller(_SUBQUESTIONS_ENDS.sub("", match["event"]), "what the time hangs on")
            yield Smaller(_SUBQUESTIONS_ENDS.sub("", match["main"]), "what is asked, at any time")
            return


def _asks(question: str) -> bool:
    return len(question.split()) >= SHORTEST or len(_HAN.findall(question)) > SHORTEST


@cache
def _joint() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{row})" for row in lexicon.parts("subquestions")["and"]), re.IGNORECASE)


@cache
def _patterns_subquestions(heading: str) -> tuple[re.Pattern[str], ...]:
    case = re.NOFLAG if heading == "names" else re.IGNORECASE
    return tuple(re.compile(row, case) for row in lexicon.parts("subquestions")[heading])
