"""Promises in words: a sentence comes in; what it promises, says was done, or waits for goes out.

Careful rather than clever: what is not plainly one action with one object is no promise and keeps none.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from engram.text import lexicon
from engram.text.dates import dates
from engram.text.questions import is_question
from engram.text.sentences import sentences
from engram.text.words import content_words, terms

FILE = "promises"
LONGEST = 400
"""A longer text tells a story: no rule is certain about it."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action and what it is done to, as terms; times left out."""

    who: str
    """In lower case; "i" also where nobody is named, and for we."""
    verb: str
    what: frozenset[str]


def promised(text: str, now: datetime) -> Deed | None:
    """What a text says is to be done.

    >>> deed = promised("I'll send the report to Anna by Friday", datetime(2026, 3, 2))
    >>> deed.who, deed.verb, sorted(deed.what)
    ('i', 'send', ['anna', 'report'])
    """
    plain = _plain(text)
    if plain is None:
        return None
    lead = lexicon.pattern(FILE, "leads").match(plain)
    return _deed(lead["who"] if lead else "", plain[lead.end() if lead else 0 :], now)


def done(text: str, now: datetime, among: Container[str] | None = None) -> Deed | None:
    """What a text says was done; None when it does not say so plainly.

    With `among` only deeds with one of these verbs: the others are not read to their end.

    >>> done("I've just sent the report", datetime(2026, 3, 2))
    Deed(who='i', verb='send', what=frozenset({'report'}))
    >>> done("I never sent the report", datetime(2026, 3, 2)) is None
    True
    """
    plain = _plain(text)
    if plain is None or lexicon.found(FILE, plain, under="doubt"):
        return None
    said = lexicon.pattern(FILE, "did").match(plain)
    verb = _base(said["verb"]) if said else ""
    if not said or not verb or (among is not None and not any(term in among for term in terms(verb))):
        return None
    return _deed(said["who"], f"{verb} {said['what']}", now)


def keeps(statement: str, promise: str, now: datetime) -> bool:
    """Whether a statement says that just what was promised has been done.

    >>> keeps("I sent the report", "I'll send the report by Friday", datetime(2026, 3, 2))
    True
    >>> keeps("I sent the report to Bob", "I'll send the report to Anna", datetime(2026, 3, 2))
    False
    """
    did = done(statement, now)
    return did is not None and did == promised(promise, now)


def is_promise(text: str, now: datetime) -> bool:
    """Whether a text plainly owes something: by its words, or by announcing it for a day to come.

    >>> now = datetime(2026, 3, 2)
    >>> is_promise("I'll send the report by Friday", now), is_promise("I'll send the report", now)
    (True, False)
    >>> is_promise("She needs to renew her passport", now), is_promise("I ran a race on Saturday", now)
    (True, False)
    """
    told = [sentence for sentence in sentences(text[:LONGEST]) if not is_question(sentence)]
    return any(_owes(sentence, now) for sentence in told) or bool(waiting_on(text))


def _owes(sentence: str, now: datetime) -> bool:
    lower = sentence.lower().replace("’", "'")
    if lexicon.found(FILE, lower, under="owed"):
        return True
    if not lexicon.found(FILE, lower, under="announced"):
        return False
    ends = (when.last or when.first for when in dates(sentence, now, prefer="future") if not when.recurring)
    return any(end is not None and end > now for end in ends)


def waiting_on(text: str) -> str:
    """Whom or what a text waits for; empty when it does not wait.

    >>> waiting_on("Waiting for Anna to sign the contract"), waiting_on("I'll call Anna")
    ('Anna', '')
    """
    for _, row in lexicon.rules(FILE, "waiting"):
        found = _waiting(row).search(text)
        if found:
            return " ".join(found["whom"].split())
    return ""


@cache
def _waiting(row: str) -> re.Pattern[str]:
    return re.compile(row, re.IGNORECASE)


def _plain(text: str) -> str | None:
    """One plain sentence in lower case; None for several, for a long one, and for a question."""
    if len(text) > LONGEST or is_question(text) or len(sentences(text)) != 1:
        return None
    return " ".join(text.lower().replace("’", "'").split()).rstrip(".!")


def _deed(who: str | None, words: str, now: datetime) -> Deed | None:
    """The first word is the action; the rest, without times, is what it is done to."""
    for when in reversed(dates(words, now)):
        words = words[: when.start] + words[when.end :]
    verb, _, rest = words.strip().partition(" ")
    action = terms(verb)
    what = content_words(rest) - content_words("by before until on at") if rest.strip() else frozenset()
    actor = "i" if who in {None, "", "we"} else str(who)
    return Deed(actor, action[0], frozenset(what)) if len(action) == 1 and what else None


def _base(verb: str) -> str:
    """The verb of a past form; empty when it is none."""
    if verb in _irregular():
        return _irregular()[verb]
    return verb if verb.endswith("ed") else ""


@cache
def _irregular() -> dict[str, str]:
    rows = (row.split() for row in lexicon.lines("irregular_verbs"))
    return {past: base for base, *forms in rows for past in forms}
