"""What in a sentence asks and what states: "I live in Rome, do you know a bakery?" does both."""

from __future__ import annotations

from functools import cache

from engram.text import lexicon, re
from engram.text.cues import slots_told

_MARK = re.compile(r"[?？]\s*[\"'”’」』）)*_~…]*\s*$")
_CLAUSE = re.compile(
    r"\s*[,;，；：]\s*|\s+[—–-]+\s+|…|\.{3,}"
    r"|\s+(?=(?:but|so|and) (?:what|how|why|where|when|who|can|could|do|should|is)\b)"
)
_LEADING = re.compile(r"^[\s\"'“‘「『(（*_>~-]+")


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, with or without its mark; a request to keep something does not.

    >>> is_question("Where do you live?"), is_question("can you help me"), is_question("你住在哪里呢")
    (True, True, True)
    >>> is_question("I know where you live."), is_question("Can you remember that I am vegetarian?")
    (False, False)
    """
    plain = _plain(sentence)
    if _MARK.search(plain):
        return not _any("keeps").search(plain)
    return _any("open").search(plain) is not None and not _any("keeps").search(plain)


def only_asks(sentence: str) -> bool:
    """Whether a question of its writer tells nothing of them: it asks for what was told, or as anybody might.

    >>> (
    ...     only_asks("What is my dentist's name?"),
    ...     only_asks("我住在哪里？"),
    ...     only_asks("Where can I buy coffee?"),
    ... )
    (True, True, True)
    >>> only_asks("What can I cook for my coeliac son?"), only_asks("When is it safe to fly, I'm pregnant?")
    (False, False)
    """
    return _any("only asks").search(_plain(sentence)) is not None


def stated(sentence: str) -> str:
    """The part of a sentence that states something: all of it, none of it, or what stands before a question.

    >>> stated("I live in Rome, do you know a bakery?")
    'I live in Rome'
    >>> stated("You live in Rome?"), stated("I live in Rome.")
    ('', 'I live in Rome.')
    """
    if not is_question(sentence):
        return sentence
    clauses = [(match.start(), match.end()) for match in _CLAUSE.finditer(sentence)]
    starts = [0, *(end for _, end in clauses)]
    ends = [*(start for start, _ in clauses), len(sentence)]
    kept = ""
    for start, end in zip(starts[:-1], ends[:-1], strict=True):
        if _asks(sentence[start:end]):
            return kept
        kept = sentence[:end]
    return kept


def told_before_asking(sentence: str) -> str:
    """What a sentence tells before its last clause asks for something; empty when it does not end by asking.

    >>> told_before_asking("I'm allergic to nuts, what should I order"), told_before_asking("Rome, I love it")
    ("I'm allergic to nuts", '')
    """
    last = [match.end() for match in _CLAUSE.finditer(sentence)]
    return stated(f"{sentence}?") if last and _asks(sentence[last[-1] :]) else ""


def told_after_asking(sentence: str) -> str:
    """What a sentence tells of a life once its first clause has asked; empty when it begins otherwise.

    >>> told_after_asking("can you suggest a pasta, I can't eat dairy"), told_after_asking("Rome, I love it")
    ("I can't eat dairy", '')
    >>> told_after_asking("find a gift for my son, he's into chess")
    "he's into chess"
    """
    first = _CLAUSE.search(sentence)
    if first is None:
        return ""
    asked, rest = sentence[: first.start()], sentence[first.end() :]
    if not asks_first(asked) or is_question(rest) or _asks(rest):
        return ""
    of_theirs = _OF_ANOTHER.match(_plain(rest)) and _SPEAKER.search(_plain(asked))
    own = _SPEAKER.search(rest.lower()) or _UNSAID_I.match(_plain(rest))
    return rest if own or of_theirs or slots_told(rest) else ""


def asks_first(clause: str) -> bool:
    """Whether it begins by asking for something."""
    asks = _asks(clause) or is_question(clause) or lexicon.found("frames", _plain(clause), under="ask")
    return asks or _requests("").search(_plain(clause)) is not None


def rule_beside_request(sentence: str) -> tuple[int, int]:
    """Where a rule that stays begins and ends in a sentence that asks for something too; (0, 0) without.

    >>> told = ("Always use metric; how hot is lava?", "Fix this, we never use tabs", "We never use tabs")
    >>> for said in told:
    ...     start, end = rule_beside_request(said)
    ...     said[start:end]
    'Always use metric'
    'we never use tabs'
    ''
    """
    cuts = [(match.start(), match.end()) for match in _BREATH.finditer(sentence)]
    if not cuts or not _holds(sentence, "rule"):
        return 0, 0
    starts = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(sentence)]
    clauses = [sentence[start:end] for start, end in zip(starts, ends, strict=True)]
    place = next((at for at, clause in enumerate(clauses) if _asks_for_work(clause)), None)
    if place is None:
        return 0, 0
    if place:
        start, end = 0, ends[place - 1]
        stays = not _holds(clauses[place - 1], "leads on")
    else:
        own = (at for at, clause in zip(starts, clauses, strict=True) if at and _tells_own_rule(clause))
        start, end = next(own, 0), len(sentence)
        stays = start > 0
    rule = sentence[start:end]
    return (start, end) if stays and _holds(rule, "rule") and not _holds(rule, "this time") else (0, 0)


def _tells_own_rule(clause: str) -> bool:
    return _OWN_RULE.search(_plain(clause)) is not None and _holds(clause, "rule")


def _holds(text: str, under: str) -> bool:
    return lexicon.found("requests", _plain(text), under=under)


def _asks_for_work(clause: str) -> bool:
    if _holds(clause, "rule") or _holds(clause, "goes on"):
        return False
    return is_question(clause) or _holds(clause, "") or _holds(clause, "beside a rule")


_BREATH = re.compile(
    r"\s*[,;，；]\s*(?:(?:and|but|so|cos|because)\s+)?|\s+[—–-]+\s+"
    r"|\s+(?=(?:now|please|pls|so|and|but) (?:can|could|would|will|what|how|why|please) )"
    r"|\s+(?=so (?:write|draft|create|generate|add|fix|convert|rewrite) )"
    r"|(?<!how)(?<!why)(?<!what)(?<!who)(?<!where)(?<!when)"
    r"\s+(?=(?:now|please|pls|(?:can|could|would) (?:you|u)) [a-z]+ |and [a-z]+ (?:this|these)\b)"
)
_OWN_RULE = re.compile(r"\b(?:we|our|i|my|btw|by the way|from now on)\b|我|咱|以后|今后|每次")
"""After asking only a rule of one's own is one: "never more than 50 words" is for what was asked for."""


def _asks(clause: str) -> bool:
    return _any("asks").search(_plain(clause)) is not None


def _plain(text: str) -> str:
    return _LEADING.sub("", text.lower().replace("’", "'"))


@cache
def _any(heading: str) -> re.Pattern[str]:
    return lexicon.pattern("questions", heading)


# ---------------------------------------------------------------- requests
# Requests for the moment: "translate this", "帮我写一封信" ask for work, and tell nothing of who asks.
#
# An order that stays ("always answer in German") is none, nor is what tells something of the speaker ("book
# a table for my wife's birthday").


_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|`[^`]*`")
_SPEAKER = re.compile(r"\b(?:i|im|ive|my|mine|our|we)\b|我")
_FOR_ME = re.compile(r"[帮给替为]我")
_UNSAID_I = re.compile(r"(?:(?:just|also|only) )?(?:got|have|had|been|can'?t|don'?t|haven'?t|allergic)\b")
_OF_ANOTHER = re.compile(r"(?:he|she|they|it|his|her|their)(?:'|\b)|[他她它]")
"""Whoever was named while asking is spoken of."""


def is_request(clause: str) -> bool:
    """Whether a clause only asks for something to be done now.

    >>> is_request('Translate this: "I live in Rome"'), is_request("帮我写一封请假邮件。")
    (True, True)
    >>> (
    ...     is_request("Always write the tests first"),
    ...     is_request("Find a gift for my son"),
    ...     is_request("I write"),
    ... )
    (False, False, False)
    """
    plain = _QUOTED.sub(" ", clause.lower().replace("’", "'")).strip()
    if not _requests("").search(plain) or lexicon.found("requests", plain, under="standing"):
        return False
    return not _SPEAKER.search(_FOR_ME.sub("", plain))


@cache
def _requests(heading: str) -> re.Pattern[str]:
    return lexicon.pattern("requests", heading)
