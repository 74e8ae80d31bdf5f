"""What a memory is: its words and tags come in; category, kind and type come out, as their plain names.

What the caller gave always stands. Otherwise the evidence is tried in this order: for the kind, a word that
places it in time, the category, the tags, a past action, words of habit; for the type, the category, then
the kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.lexicon import Phrases, inflected, listed
from engram.text.marks import is_correction, puts_right
from engram.text.reading import read_once
from engram.text.words import PAIRED

# ---------------------------------------------------------------- topics
# What a text is about: text comes in, up to three topics come out, the strongest first.
#
# Each topic has words that say it alone and words that only hint at it; one of the first kind or two
# different ones of the second make a topic. A text without such evidence has none.


def topics(text: str) -> tuple[str, ...]:
    """The topics of `text`.

    >>> topics("The deploy to staging broke the PostgreSQL migration")
    ('deployment', 'databases')
    >>> topics("我妈妈喜欢在厨房做饭"), topics("It is what it is")
    (('food', 'family'), ())
    """
    plain = text[:READ].replace("’", "'")
    held = _cues()
    cues = {spot.value for spot in held.among([token.lower() for token in lexicon.tokens(plain)])}
    if not plain.isascii():
        cues |= {spot.value for spot in held.within(plain.lower())}
    return _strongest([pair for cue in cues for pair in cue])


READ: Final = 2_000
"""So many characters tell what a text is about."""
ENOUGH: Final = 2
"""So much evidence makes a topic."""
MOST: Final = 3
"""More topics would say nothing."""

_Cue = tuple[tuple[str, int, str], ...]  # topic, weight, and the word, so that a repeated word counts once


def _strongest(found: Sequence[tuple[str, int, str]]) -> tuple[str, ...]:
    weights: dict[str, int] = {}
    for topic, weight, _ in found:
        weights[topic] = weights.get(topic, 0) + weight
    enough = (topic for topic, weight in weights.items() if weight >= ENOUGH)
    if not weights:
        return ()
    order = _order()
    return tuple(sorted(enough, key=lambda topic: (-weights[topic], order[topic]))[:MOST])


@cache
def _order() -> dict[str, int]:
    return {topic: at for at, topic in enumerate(lexicon.headings("topics"))}


@cache
def _cues() -> Phrases[_Cue]:
    found: dict[str, dict[str, tuple[int, str]]] = {}
    for topic in lexicon.headings("topics"):
        for phrase, weight in listed("topics", topic):
            for form in inflected(phrase) if phrase.isascii() else (phrase,):
                found.setdefault(form, {}).setdefault(topic, (int(weight), phrase))
    return Phrases(
        {
            form: tuple((topic, weight, word) for topic, (weight, word) in held.items())
            for form, held in found.items()
        }
    )


# ---------------------------------------------------------------- technologies
# The technologies people speak of: a text comes in, the ones it names come out, with what each serves as.


# Inner dots and signs belong to the name (Node.js, C++, CI/CD); a full stop at its end does not.
_TOKEN: Final = re.compile(rf"\.?[^\W_{PAIRED}](?:[.'!&_-]?(?:(?![{PAIRED}_])\w))*(?:\+\+|#)?")
_PLAIN_TOKEN: Final = re.compile(r"\.?[a-z0-9]+(?:[.'!&_-][a-z0-9]+)*(?:\+\+|#)?")  # for ASCII in lower case
_SPEAKS_OF_TOOLS: Final = re.compile(
    r"(?:\b(?:in|with|use[ds]?|using|to|from|on|via|of|and|or|writes?|wrote|learn(?:ing|ed|s)?"
    r"|cod(?:e|ing)|install(?:ed)?|like|love|prefers?|is|my|our|the|run(?:s|ning)?|try|tried|knows?|than"
    r"|over|vs\.?)|[,/+(&]|[用学写装])\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Technology:
    """A technology by its usual name; `group` is what it serves as, such as `editor` or `database`."""

    name: str
    group: str
    ambiguous: bool


def mentioned(text: str) -> list[Technology]:
    """The technologies that `text` names, once each, in order.

    >>> [tech.name for tech in mentioned("we moved from postgres to SQLite, written in Go; let's go")]
    ['PostgreSQL', 'SQLite', 'Go']
    """
    return list(_mentioned(text))


def known(name: str) -> Technology | None:
    """The technology of that name or alias, in any spelling of its letters."""
    return vocabulary().get(name.strip().lower())


@cache
def vocabulary() -> dict[str, Technology]:
    """Every name and alias in lower case."""
    found: dict[str, Technology] = {}
    for group, rows in lexicon.parts("technologies").items():
        for row in rows:
            name, _, aliases = row.partition(" = ")
            tech = Technology(name.removeprefix("~"), group, name.startswith("~"))
            found.setdefault(tech.name.lower(), tech)
            for alias in filter(None, (part.strip() for part in aliases.split(","))):
                found.setdefault(alias.lower(), Technology(tech.name, group, ambiguous=False))
    return found


@read_once
def _mentioned(text: str) -> tuple[Technology, ...]:
    reach = _reach()
    pattern, written = (_PLAIN_TOKEN, text.lower()) if text.isascii() else (_TOKEN, text)
    words = [word.lower() for word in pattern.findall(written)]
    found: dict[str, Technology] = {}
    spans = [] if reach.keys().isdisjoint(words) else [one.span() for one in pattern.finditer(written)]
    skip_to = 0
    for at, tokens in enumerate(map(reach.get, words)) if spans else ():
        if tokens is None or spans[at][0] < skip_to:
            continue
        tech, skip_to = _longest(text, spans[at : at + tokens])
        if tech is not None:
            found[tech.name] = tech
    if not text.isascii():
        found |= {tech.name: tech for alias, tech in _han_names() if alias in text}
    return tuple(found.values())


def _longest(text: str, spans: list[tuple[int, int]]) -> tuple[Technology | None, int]:
    """The longest known name that starts with the first span, and where it ends."""
    start = spans[0][0]
    for _, end in reversed(spans):
        name = text[start:end]
        tech = vocabulary().get(name.lower())
        if tech is not None and (not tech.ambiguous or _is_meant(tech, name, text[:start])):
            return tech, end
    return None, start


def _is_meant(tech: Technology, name: str, before: str) -> bool:
    return name == tech.name and _SPEAKS_OF_TOOLS.search(before[-20:]) is not None


@cache
def _reach() -> dict[str, int]:
    """How many tokens the longest name has that starts with a given token."""
    reach: dict[str, int] = {}
    for name in vocabulary():
        tokens = [match.group() for match in _TOKEN.finditer(name)] or [name]
        reach[tokens[0]] = max(reach.get(tokens[0], 1), len(tokens))
    return reach


@cache
def _han_names() -> tuple[tuple[str, Technology], ...]:
    return tuple((name, tech) for name, tech in vocabulary().items() if not name[0].isascii())


def classify(
    text: str,
    *,
    tags: Sequence[str] = (),
    category: str | None = None,
    kind: str | None = None,
    type: str | None = None,
) -> tuple[str, str, str]:
    """Category, kind and type of a memory.

    >>> classify("I prefer tabs over spaces")
    ('preference', 'semantic', 'fact')
    >>> classify("Yesterday we deployed v2 to production")
    ('moment', 'episodic', 'narrative')
    >>> classify("The server is called heron and listens on port 8443")
    ('fact', 'semantic', 'fact')
    >>> classify("To release: run the tests, then tag the commit")
    ('procedure', 'procedural', 'procedure')
    """
    category = category or category_of(text, tags)
    kind = str(kind or kind_of(text, category, tags))
    return category, kind, str(type or type_of(category, kind))


def category_of(text: str, tags: Sequence[str] = ()) -> str:
    """The first category whose words the text has; a tag that names a category decides at once."""
    for tag in tags:
        if tag.lower() in _KIND_OF:
            return tag.lower()
    return _category_told(text)


@read_once
def _category_told(text: str) -> str:
    plain = text.lower().replace("’", "'")
    for category in _categories().each(plain):
        return category
    if puts_right(text):
        return "correction"
    if is_correction(text):
        return "fact"  # what is otherwise than it was is so from now on
    if _happened_at(plain) or _is_over(plain):
        return "moment"
    return "fact" if _STATES.search(plain) else "general"


@cache
def _categories() -> lexicon.NamedPatterns:
    parts = lexicon.parts("categories")
    return lexicon.NamedPatterns((category, row) for category, rows in parts.items() for row in rows)


def kind_of(text: str, category: str = "general", tags: Sequence[str] = ()) -> str:
    """Which store a memory belongs to.

    >>> (
    ...     kind_of("We met Anna yesterday"),
    ...     kind_of("She always drinks tea"),
    ...     kind_of("src/app.py parses the config"),
    ... )
    ('episodic', 'semantic', 'codebase')
    """
    plain = text.lower().replace("’", "'")
    if category not in _TIMELESS and _happened_at(plain):
        return "episodic"
    if category in _KIND_OF and (category not in _UNDECIDED or (category == "fact" and is_correction(text))):
        return _KIND_OF[category]
    for tag in tags:
        if tag.lower() in _KINDS or tag.lower() in _TAG_KINDS:
            return _TAG_KINDS.get(tag.lower(), tag.lower())
    if _CODE_SIGN.search(text) and _CODEBASE.search(text):
        return "codebase"
    if _is_over(plain):
        return "episodic"
    return "semantic" if lexicon.found("habits", plain) or category == "fact" else "episodic"


def type_of(category: str, kind: str) -> str:
    """Whether a memory is a fact, a rule to act by, or a story."""
    if category in _PROCEDURES or kind == "procedural":
        return "procedure"
    if category in _NARRATIVES:
        return "narrative"
    if category in _KIND_OF and category not in _UNDECIDED:
        return "fact"
    return "narrative" if kind == "episodic" else "fact"


@read_once
def _happened_at(plain: str) -> bool:
    """Whether a time word places the text once in time; "every Monday" and "on Mondays" do not."""
    placed = lexicon.found("times", plain) or lexicon.found("dated", plain)
    if not placed or lexicon.found("recurring", plain):
        return False
    return _is_over(plain) or _DAY.search(plain) is not None


@read_once
def _is_over(plain: str) -> bool:
    """Whether the text tells of a past action; "is called", "are made of" say what is so now."""
    if not lexicon.found("past", plain):
        return False
    return lexicon.found("past", _PARTICIPLE.sub(" is ", plain))


_KINDS: Final = frozenset({"episodic", "semantic", "procedural", "codebase"})
_KIND_OF: Final = {
    "fact": "semantic", "preference": "semantic", "correction": "semantic", "entity": "semantic",
    "decision": "semantic", "relationship": "semantic", "principle": "semantic", "commitment": "episodic",
    "moment": "episodic", "skill": "procedural", "constraint": "semantic", "procedure": "procedural",
    "instruction": "procedural", "identity": "semantic", "project": "semantic", "person": "semantic",
    "technical": "semantic", "context": "episodic", "insight": "semantic", "question": "episodic",
    "general": "episodic",
}  # fmt: skip
_UNDECIDED: Final = frozenset({"general", "fact", "technical"})
# A rule or a trait stays what it is even when the sentence says since when.
_TIMELESS: Final = frozenset(
    {"procedure", "instruction", "skill", "constraint", "principle", "identity", "preference"}
)
_PROCEDURES: Final = frozenset({"procedure", "instruction", "skill", "constraint", "principle"})
_NARRATIVES: Final = frozenset({"moment", "context"})
_TAG_KINDS: Final = {
    "code": "codebase", "file": "codebase", "repo": "codebase", "howto": "procedural", "how-to": "procedural",
    "workflow": "procedural", "recipe": "procedural", "runbook": "procedural", "note": "semantic",
    "event": "episodic", "meeting": "episodic", "log": "episodic", "episode": "episodic",
}  # fmt: skip

_PARTICIPLE = re.compile(
    r"\b(?:is|are)(?: (?:also|now|still|usually|often|always|currently|not))? (?!(?:was|were|had|did)\b)\w+"
)
_DAY = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|last|next|this)\b|[今昨明前后]天|[上下这]个?(?:周|月|星期)"
    r"|[去今明]年"
)
_STATES = re.compile(
    r"\b(?:is|are|has|have|lives?|works?|uses?|runs?|supports?|means|costs?|equals|contains)\b|是|有|住在"
    r"|等于"
)
_CODE_SIGN = re.compile("[/({:<`]")
_CODEBASE = re.compile(
    r"\b[\w./-]+/[\w.-]+\.(?:py|ts|tsx|js|jsx|go|rs|java|c|h|cpp|cs|rb|php|sql|toml|yaml|yml|json|sh)\b"
    r"|\b(?:def|class|function|struct|interface|fn|func) [A-Za-z_]\w*\s*[({:<]|^```"
)
