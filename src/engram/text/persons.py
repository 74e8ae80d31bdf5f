"""From first person to third: what somebody said comes in, the same about that somebody comes out.

"I love my dog" said by Anna becomes "Anna loves Anna's dog": a memory must still be true when nobody knows
any more who "I" was. Words in quotation marks stay: that "I" is somebody else. English and Chinese.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engram.text import lexicon

UNNAMED: Final = "User"
UNNAMED_CHINESE: Final = "用户"


def third_person(text: str, speaker: str = "", listener: str = "") -> str:
    """`text` with its speaker (and, if known, its listener) named.

    >>> third_person("I'm vegetarian and my sister loves me", "Anna")
    "Anna is vegetarian and Anna's sister loves Anna"
    >>> third_person('I told him "I quit"')
    'User told him "I quit"'
    >>> third_person("我住在上海，我的猫叫小白", "小林")
    '小林住在上海，小林的猫叫小白'
    """
    found = [_turned(part, speaker, listener) for part in _QUOTED.split(text.replace("’", "'"))]
    return "".join(found)


def has_first_person(text: str) -> bool:
    """Whether the speaker speaks of themselves.

    >>> has_first_person("My cat is grey"), has_first_person("The cat is grey"), has_first_person("我喜欢茶")
    (True, False, True)
    """
    return _FIRST.search(text) is not None


_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|`[^`]*`)")
_FIRST = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]ur|[Uu]s|[Mm]yself|I'(?:m|ve|d|ll))\b|[我俺咱]")


def _turned(part: str, speaker: str, listener: str) -> str:
    if _QUOTED.fullmatch(part):
        return part
    name = speaker or UNNAMED
    if not part.isascii():
        part = _chinese(part, speaker or UNNAMED_CHINESE, listener)
    part = _SUBJECT.sub(lambda match: _subject(match, name), part)
    part = _OTHERS.sub(lambda match: _other(match, name), part)
    return _listener(part, listener) if listener else part


# ---------------------------------------------------------------- English

_SUBJECT = re.compile(
    r"(?P<joined>\b(?:and|or) )?\b(?:I|[Ww]e)(?P<short>'(?:m|re|ve|d|ll))?\b"
    r"(?P<rest>(?:[ \t]+(?!I\b|[Ww]e\b)[A-Za-z']+){0,4})",
    re.ASCII,
)
_SHORT: Final = {"'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would"}
_OTHERS = re.compile(r"\b(?:[Mm]yself|[Oo]urselves|[Mm]ine|[Oo]urs|[Mm]y|[Oo]ur|[Mm]e|us)\b(?!')", re.ASCII)
_POSSESSIVE: Final = frozenset({"my", "our", "mine", "ours"})
_FIXED: Final = {
    "am": "is", "are": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't",
    "aren't": "isn't", "was": "was", "were": "was", "weren't": "wasn't", "go": "goes",
}  # fmt: skip
_NOT_VERBS: Final = frozenset(
    {"and", "or", "but", "who", "that", "to", "with", "in", "on", "at", "for", "as"}
)


def _subject(match: re.Match[str], name: str) -> str:
    """The name, and the verb after it in the third person."""
    rest, joined = match["rest"], match["joined"] or ""
    if joined and not match["short"] and _SEVERAL.search(match.string[: match.start()]):
        return f"{joined}{name}{rest}"  # "my wife and I live"
    if match["short"]:
        verb = _SHORT[match["short"]]
        if verb == "would" and _had(rest):
            verb = "had"
        return f"{joined}{name} {verb}{rest}"
    return joined + name + _conjugated(rest)


_SEVERAL = re.compile(r"(?:^|[.;,] |\b(?:that|when|then|so|because) )(?:[\w']+ ){1,3}$")


def _had(rest: str) -> bool:
    """Whether "I'd" stands for "I had": a participle or "better" follows."""
    words = rest.split()
    return bool(words) and (
        words[0] in {"been", "better", "never"} or (words[0].endswith("ed") and words[0] != "need")
    )


def _conjugated(rest: str) -> str:
    pieces = re.split(r"([ \t]+)", rest)
    for place, piece in enumerate(pieces):
        if not piece.strip():
            continue
        lower = piece.lower()
        if lower in _between() or (lower.endswith("ly") and len(lower) > _SHORTEST_ADVERB):
            continue
        pieces[place] = _third(piece)
        break
    return "".join(pieces)


_SHORTEST_ADVERB = 4


@lru_cache(maxsize=1)
def _between() -> frozenset[str]:
    return _words("between")


@lru_cache(maxsize=1)
def _modal() -> frozenset[str]:
    return _words("modal")


def _words(part: str) -> frozenset[str]:
    return frozenset(word for row in lexicon.parts("verb_helpers")[part] for word in row.split())


def _third(verb: str) -> str:
    """A verb as it stands after a name.

    >>> [_third(verb) for verb in ("love", "try", "watch", "have", "don't", "went", "moved", "can", "play")]
    ['loves', 'tries', 'watches', 'has', "doesn't", 'went', 'moved', 'can', 'plays']
    """
    if verb in _FIXED:
        return _FIXED[verb]
    past = verb in lexicon.words("verbs_past") or (verb.endswith("ed") and verb not in _NOT_PAST)
    if verb in _modal() or past or verb in _NOT_VERBS or not verb.islower() or "'" in verb:
        return verb
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


_NOT_PAST: Final = frozenset(
    {"need", "feed", "speed", "succeed", "proceed", "exceed", "bleed", "breed", "embed"}
)


def _other(match: re.Match[str], name: str) -> str:
    word = match.group().lower()
    if word in {"myself", "ourselves"}:
        return "themselves"
    return f"{name}'s" if word in _POSSESSIVE else name


def _listener(part: str, listener: str) -> str:
    """In a conversation of two "you" is somebody with a name."""
    part = _YOU_ARE.sub(lambda match: f"{listener} {_YOU_FIXED[match['verb'].lower()]}", part)
    return _YOUR.sub(lambda match: f"{listener}'s" if match.group().lower() == "your" else listener, part)


_YOU_ARE = re.compile(r"\b[Yy]ou(?P<verb>'re|'ve|'ll| are| were| have)\b")
_YOU_FIXED: Final = {"'re": "is", "'ve": "has", "'ll": "will", " are": "is", " were": "was", " have": "has"}
_YOUR = re.compile(r"\b[Yy]our?\b(?!')(?! (?:know|see)\b)")

# ---------------------------------------------------------------- Chinese

_WE_CHINESE = re.compile(r"我们|咱们|[我俺咱](?=[^国方军校])|[我俺咱]$")
_YOU_CHINESE = re.compile(r"你(?!们|好)|您(?!好)")


def _chinese(part: str, name: str, listener: str) -> str:
    part = _OWN_CHINESE.sub(f"{name}自己", part)
    part = _WE_CHINESE.sub(name, part)
    return _YOU_CHINESE.sub(listener, part) if listener else part


_OWN_CHINESE = re.compile(r"我自己")
