"""What a memory is: its words and tags come in; category, kind and type come out, as their plain names.

What the caller gave always stands. Otherwise the evidence is tried in this order: for the kind, a word that
places it in time, the category, the tags, a past action, words of habit; for the type, the category, then
the kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engram.text import lexicon
from engram.text.marks import is_correction


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
    plain = text.lower().replace("’", "'")
    for tag in tags:
        if tag.lower() in _KIND_OF:
            return tag.lower()
    for category in lexicon.headings("categories"):
        if lexicon.found("categories", plain, under=category):
            return category
    if is_correction(text):
        return "correction"
    if _happened_at(plain) or _is_over(plain):
        return "moment"
    return "fact" if _STATES.search(plain) else "general"


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
    if category in _KIND_OF and category not in _UNDECIDED:
        return _KIND_OF[category]
    for tag in tags:
        if tag.lower() in _KINDS or tag.lower() in _TAG_KINDS:
            return _TAG_KINDS.get(tag.lower(), tag.lower())
    if _CODEBASE.search(text):
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


def _happened_at(plain: str) -> bool:
    """Whether a time word places the text once in time; "every Monday" and "on Mondays" do not."""
    placed = lexicon.found("times", plain) or lexicon.found("dated", plain)
    if not placed or lexicon.found("recurring", plain):
        return False
    return _is_over(plain) or _DAY.search(plain) is not None


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
_CODEBASE = re.compile(
    r"\b[\w./-]+/[\w.-]+\.(?:py|ts|tsx|js|jsx|go|rs|java|c|h|cpp|cs|rb|php|sql|toml|yaml|yml|json|sh)\b"
    r"|\b(?:def|class|function|struct|interface|fn|func) [A-Za-z_]\w*\s*[({:<]|^```"
)
