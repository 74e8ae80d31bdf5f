"""English clauses: a sentence comes in, its clauses come out, and whether one tells what is so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engram.text.marks import is_negated

NAME: Final = r"[A-Z][\w'-]*[\w](?: [A-Z][\w'-]*[\w]){0,2}"
WHO: Final = rf"(?P<who>I|[Ww]e|{NAME})"


def clauses(sentence: str) -> Iterator[str]:
    """The clauses of a sentence; one without a subject of its own takes the one before it.

    >>> list(clauses("Actually, I live in Rome and work at Acme"))
    ['I live in Rome', 'I work at Acme']
    """
    subject = ""
    for part in _BREAK.split(sentence):
        clause = _OPENER.sub("", part.strip(" \"'“”.!*")).strip()
        if subject and _BARE_VERB.match(clause):
            clause = f"{subject} {clause}"
        found = _SUBJECT.match(clause)
        subject = found["who"] if found else ""
        if clause:
            yield clause


def tells(clause: str) -> bool:
    """Whether a clause states something that is so: no wish, no condition, no denial, nothing past.

    >>> tells("I live in Rome"), tells("I would live in Rome"), tells("I don't live in Rome")
    (True, False, False)
    """
    return _START.match(clause) is not None and not _UNREAL.search(clause) and not is_negated(clause)


_START = re.compile(r"[A-Z]|we\b|my\b|our\b|the\b|call\b|people\b|this\b")
_UNREAL = re.compile(
    r"\b(?:if|would|could|might|may be|maybe|perhaps|wish|hopes?|wants?|wanted|should|think|guess|suppose"
    r"|imagine"
    r"|dream|pretend|plans?|planning|used to|was|were|had|did|ago|until|before|almost|nearly|what|why|how"
    r"|whether)\b",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"^(?:(?:actually|correction|update|no|nope|wait|yes|yeah|ok|okay|oh|well|so|and|but|also|fyi|btw"
    r"|by the way|now"
    r"|(?:please )?(?:note|remember)(?: that)?|just so you know|for the record|as of (?:now|today)"
    r"|from now on"
    r"|these days|nowadays|currently|today|hi|hello|hey|i told you(?: that)?|you know)\b[\s,:;.!—-]*)+",
    re.IGNORECASE,
)
_VERB = r"(?:live|work|like|love|use|prefer|speak|play|own)s?|has|have"
_BREAK = re.compile(
    r"\s*(?:[;,—]|\s-\s|\.\s)\s*(?:(?:and|but|so|while|yet)\s+)?|\s+(?:but|while)\s+"
    rf"|\s+and\s+(?=(?:I|we|my|our|the|he|she|they|it|{_VERB})\b|[A-Z][\w'-]* (?:\w+ )?(?:is|{_VERB})\b)"
)
_BARE_VERB = re.compile(rf"^(?:{_VERB}|moved|switched)\b")
_SUBJECT = re.compile(rf"^{WHO}\b(?!'s)")
