"""The shape of a question: how far its words and how far its meaning should count, by how it looks.

Pure rules: paths, digits, identifiers, quotes and few words speak for the words; "how", "why" and many words
for the meaning.
"""

from __future__ import annotations

import re
from typing import Final

from engram.recall.intents import is_conceptual
from engram.text.scripts import HAN, PAIRED

USUAL: Final = 0.3
"""Share of the words in an ordinary question."""
LEAST, MOST = 0.1, 0.7
FOR_WORDS, FOR_MEANING = 0.1, 0.08
FEW, MANY = 3, 8
SHORT_SHARE: Final = 0.6
"""Share of the words in a question of a few characters without spaces: too little for a vector to go by."""
SHORT_CHARACTERS: Final = 4
SHORT_RELEVANCE: Final = 0.5
"""The least relevance of a memory that has all of such a question in a row."""

_PAIRED = re.compile(f"[{PAIRED}]")
_ONLY_HAN = re.compile(f"[{HAN}]+")
_FACTUAL: Final = (
    re.compile(r"\w/\w|\\\w"),
    re.compile(r"\d"),
    re.compile(r"\w_\w|\w\.\w|[a-z][A-Z]|\w::\w"),
    re.compile(r"[\"“”「」『』`]|(?<!\w)'[^']+'(?!\w)"),
)


def balance(question: str) -> float:
    """The share of the words, 0.1 to 0.7.

    >>> balance("Where does Anna live now?"), balance("src/auth.py"), balance("上海")
    (0.3, 0.6, 0.6)
    >>> round(balance("How does she feel about moving to another country?"), 2)
    0.14
    """
    if short_chinese(question):
        return SHORT_SHARE
    count = _count(question)
    for_words = sum(1 for sign in _FACTUAL if sign.search(question)) + (count <= FEW)
    for_meaning = int(is_conceptual(question)) + (count > MANY)
    share = USUAL + FOR_WORDS * for_words - FOR_MEANING * for_meaning
    return round(min(MOST, max(LEAST, share)), 4)


def short_chinese(question: str) -> str:
    """The characters of a question that is one to four Chinese ones and nothing else; "" for any other.

    >>> short_chinese("咖啡?"), short_chinese("我喜欢喝咖啡"), short_chinese("tea")
    ('咖啡', '', '')
    """
    plain = question.strip(" \t\n?？!！。.,，")
    return plain if len(plain) <= SHORT_CHARACTERS and _ONLY_HAN.fullmatch(plain) else ""


def _count(question: str) -> int:
    """Words; two characters of a script without spaces are about one."""
    paired = len(_PAIRED.findall(question))
    return len(_PAIRED.sub(" ", question).split()) + (paired + 1) // 2
