"""Questions after change: "how has my diet changed?" comes in, what it is about comes out."""

from __future__ import annotations

import re
from functools import cache

from engram.text import lexicon
from engram.text.statement import USER

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
    found = (row.match(plain) for row in _patterns())
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
def _patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(row) for row in lexicon.lines("changes"))
