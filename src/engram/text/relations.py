"""Who is named beside what they are to the speaker: "my manager Graham", 我老板王芳.

A request tells nothing else of whoever writes it, and yet it tells this.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from engram.text import lexicon, re
from engram.text.names import UNKNOWN, entities
from engram.text.reading import read_once

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|『[^』]*』|《[^》]*》|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
_SOMEBODY: Final = frozenset({"person", UNKNOWN})


@read_once
def named_relations(sentence: str) -> tuple[str, ...]:
    """The words that name somebody of the speaker's, each as it stands.

    >>> (
    ...     named_relations("write to my manager Graham asking for a day off"),
    ...     named_relations("帮我给我老板王芳写封邮件"),
    ... )
    (('my manager Graham',), ('我老板王芳',))
    >>> (
    ...     named_relations("write to a manager called Graham"),
    ...     named_relations("a story in which my son Al can fly"),
    ... )
    ((), ())
    """
    plain = _QUOTED.sub(lambda match: " " * len(match.group()), sentence.replace("’", "'"))
    return tuple(dict.fromkeys(_real(plain)))


def _real(plain: str) -> Iterator[str]:
    for match in (*_english(plain), *_chinese(plain)):
        if not lexicon.found("relations", plain[: match.start()].lower(), under="invented"):
            yield match.group()


def _english(plain: str) -> Iterator[re.Match[str]]:
    found = list(_with_name().finditer(plain)) if _MINE.search(plain) else []
    if not found:
        return
    people = {word for one in entities(plain) if one.type in _SOMEBODY for word in one.name.split()}
    first = lexicon.words("first_names")
    for match in found:
        name = match["name"]
        if name.lower() in first or (name in people and not name.isupper()):
            yield match


def _chinese(plain: str) -> Iterator[re.Match[str]]:
    for match in _with_chinese_name().finditer(plain) if "我" in plain else ():
        if (match["full"] or "")[:2] not in lexicon.words("not_surnames"):
            yield match


_MINE = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)


@cache
def _with_name() -> re.Pattern[str]:
    """What belongs to the speaker, what it is, perhaps a title, and a name.

    Up to two words may stand before what it is: "my older brother", "my piano teacher".
    """
    more = " ".join(lexicon.parts("relations")["english"]).split()
    listed = {*lexicon.words("kin"), *lexicon.words("roles"), *more}
    nouns = "|".join(sorted(listed, key=lambda noun: (-len(noun), noun)))
    return re.compile(
        r"(?i:\b(?:my|our)) "
        r"(?:(?!(?:to|of|for|and|or|from|with|by|about|is|was|the|a|that)\b)[a-z0-9-]+ ){0,2}"
        rf"(?i:(?:ex|step|great|half|god|grand)?[ -]?(?:{nouns})(?:[ -]in[ -]law)?)"
        r"(?:,|,? (?:called|named))? (?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|mr|mrs|ms|miss|dr)\.? )?"
        r"(?P<name>[^\W\d_]+(?:-[^\W\d_]+)*)(?: (?!I\b)[A-Z][a-z]+\b(?!'))?"
    )


@cache
def _with_chinese_name() -> re.Pattern[str]:
    """我, what somebody is, and a name.

    A surname with a title or a given name, a double name, 小 or 阿 with a character, or Latin letters.
    """
    single, double = lexicon.lines("surnames")
    surname = f"(?:{'|'.join(double.split())}|[{single}])"
    relation, title, doubled, never, after = (
        lexicon.parts("relations")[part][0]
        for part in ("chinese", "title", "doubled", "in no name", "after a name")
    )
    ends = f"(?=[{never}]|{after}|$)"
    return re.compile(
        rf"我(?:的|们?家?的?)?(?:{relation})(?:叫|是)?"
        rf"(?:{surname}(?:{title})|(?P<twice>[{doubled}])(?P=twice)|[小阿老](?![{never}])[一-鿿]{ends}"
        rf"|(?P<full>{surname}(?:(?![{never}])[一-鿿]){{1,2}}?){ends}|[A-Z][a-z]+)"
    )
