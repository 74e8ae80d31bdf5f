"""What a memory is: its words and tags come in; category, kind and type come out, as their plain names.

What the caller gave always stands. Otherwise the evidence is tried in this order: for the kind, a word that
places it in time, the category, the tags, a past action, words of habit; for the type, the category, then the kind.
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
    for category, signs in _SIGNS:
        if signs.search(plain):
            return category
    if is_correction(text):
        return "correction"
    if _happened_at(plain) or _PAST.search(plain):
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
    if _PAST.search(plain):
        return "episodic"
    return "semantic" if _HABIT.search(plain) or category == "fact" else "episodic"


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
    if not lexicon.pattern("times").search(plain) and not _ON_A_DATE.search(plain):
        return False
    return _RECURRING.search(plain) is None and (
        _PAST.search(plain) is not None or _DAY.search(plain) is not None
    )


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

_SIGNS: Final = tuple(
    (category, re.compile(signs))
    for category, signs in (
        ("question", r"^(?:who|what|when|where|why|how|which|is|are|do|does|did|can|could|should)\b.*\?\s*$|[吗呢]\s*[?？]\s*$"),
        ("identity", r"\bmy (?:full |last |first )?name is\b|\bcall me\b|\bi was born\b|\bmy birthday\b|\bi am \d+ years old"
                     r"|\bmy pronouns\b|我叫|叫我|我的(?:名字|生日)|我今年\d+岁"),
        ("constraint", r"\bmust(?:n't| not)?\b|\bnever (?:use|do|commit|push|call|run|send|share|delete|store|eat)\b|\ballerg"
                       r"|\bnot allowed\b|\bforbidden\b|\brequired to\b|\bunder no circumstances\b|必须|禁止|不得|不允许|不准|过敏"),
        ("procedure", r"^to \w+[^.]{0,60}[:,] (?:\w+ )?\w+|\bstep \d|\bfirst\b.*\bthen\b|\bhow to\b|步骤|首先.*(?:然后|再|接着)"),
        ("instruction", r"^(?:please )?(?:always|don't|do not|make sure|be sure|remember to|from now on)\b|\bwhen(?:ever)? i (?:say|ask)\b"
                        r"|请(?:总是|务必|始终|记得)|以后(?:都|请)|务必|不要"),
        ("decision", r"\b(?:we|i|they|team) (?:have |has )?(?:decided|agreed|chose|settled)\b|\bdecision\b|决定|选定|敲定"),
        ("commitment", r"\b(?:i|we)(?:'ll| will| promised?| am going to| are going to)\b.*\b(?:by|on|before|until|tomorrow|next|tonight)\b"
                       r"|\bdeadline\b|\bdue (?:on|by|date)\b|\bpromised\b|截止|答应|承诺|保证(?:在|会)"),
        ("preference", r"\b(?:prefers?|preferred|favou?rite|i (?:really )?(?:like|love|enjoy|hate|dislike))\b|\brather\b.*\bthan\b"
                       r"|\b(?:likes|loves|enjoys|hates|dislikes)\b|喜欢|偏好|讨厌|更爱|最爱|爱[吃喝看听玩]"),
        ("relationship", r"\b(?:is|are) (?:my|our|his|her|their|\w+'s) (?:\w+ )?(?:wife|husband|sister|brother|mother|father|son|daughter|friend"
                         r"|boss|manager|colleague|partner|girlfriend|boyfriend|cousin|teammate)\b"
                         r"|\b(?:married|engaged) to\b"
                         r"|是[我他她](?:的)?(?:妻子|老婆|丈夫|老公|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|朋友|同事|老板|女朋友|男朋友)"),
        ("insight", r"\b(?:i|we) (?:realized|realised|learned|learnt|noticed|discovered|found out)\b|\bturns out\b|\blesson\b|发现|意识到|学到"),
        ("skill", r"\b(?:i|he|she|they) (?:can|know how to|knows how to) \w+|\bi'm good at\b|\bfluent in\b|擅长|精通|会(?:说|写|弹|用)"),
    )
)  # fmt: skip
_PAST = re.compile(
    r"\b(?:went|met|visited|attended|bought|finished|started|deployed|fixed|shipped|released|launched"
    r"|moved|joined|left|saw"
    r"|watched|read|wrote|built|made|ate|cooked|ran|called|told|asked|had|got|won|lost|broke|failed"
    r"|crashed|merged|was"
    r"|were|did|took|gave|came|found|spent|celebrated|travell?ed|flew|drove|discussed|reviewed|presented"
    r"|interviewed)\b"
    r"|[去见买吃看做写参完开][了过完]|参加了|完成了|发布了|修复了|部署了"
)
_DAY = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|last|next|this)\b|[今昨明前后]天|[上下这]个?(?:周|月|星期)|[去今明]年"
)
_ON_A_DATE = re.compile(
    r"\b(?:on|in|at) (?:\d{1,2}|\d{4})\b|\d{4}-\d{2}-\d{2}|\d{4}年|\d{1,2}月\d{1,2}[日号]|\bago\b|之前"
)
_RECURRING = re.compile(
    r"\bevery\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:daily|weekly|monthly|usually|always)\b|每[天周月年个]"
)
_HABIT = re.compile(
    r"\b(?:prefers?|always|never|must|should|usually|often|every|is|are|has|have|works?|lives?|likes?"
    r"|loves?|uses?|needs?"
    r"|means|supports?|requires?|contains?|costs?)\b|总是|从不|必须|通常|经常|每[天周月]|喜欢|住在|是|有"
)
_STATES = re.compile(
    r"\b(?:is|are|has|have|lives?|works?|uses?|runs?|supports?|means|costs?|equals|contains)\b|是|有|住在|等于"
)
_CODEBASE = re.compile(
    r"\b[\w./-]+/[\w.-]+\.(?:py|ts|tsx|js|jsx|go|rs|java|c|h|cpp|cs|rb|php|sql|toml|yaml|yml|json|sh)\b"
    r"|\b(?:def|class|function|struct|interface|fn|func) [A-Za-z_]\w*\s*[({:<]|^```"
)
