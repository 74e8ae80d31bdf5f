"""Facts by rule: a text comes in, the triples it plainly states come out.

Conservative: questions, wishes, conditions and denials give no fact, nor does a pronoun that may mean two
people; the past gives one only with its dates. English and Chinese; a sentence may give several facts. "I",
"my" and "we" are the speaker, or `user` when unnamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from engram.model.facts import Fact
from engram.text import facts_chinese, facts_english
from engram.text.facts_given import given
from engram.text.facts_pronouns import resolved
from engram.text.facts_times import may_be_timed
from engram.text.predicates import canonical
from engram.text.scripts import compatible
from engram.text.sentences import sentences
from engram.text.statement import USER, Statement

_LONGEST: Final = 2000
_NO_LONGER = re.compile(
    r"\b(?:no longer|(?:don't|do not|doesn't|does not|isn't|is not|not)(?= .*\b(?:any ?more"
    r"|any longer)\b)) |不再",
    re.IGNORECASE,
)
_ANYMORE = re.compile(r"\s*\b(?:any ?more|any longer)\b", re.IGNORECASE)


def stated(
    content: str, details: Mapping[str, Any], speaker: str = "", now: datetime | None = None
) -> tuple[Fact, ...]:
    """Every fact of a memory: those given with it (`details["facts"]`) and those its content states.

    What was given wins over what the rules read: it may know better how sure a fact is and when it held.

    >>> found = stated("Anna lives in Rome", {"facts": [{"subject": "I", "predicate": "age", "object": 30}]})
    >>> [(fact.subject, fact.predicate, fact.object) for fact in found]
    [('user', 'age', '30'), ('anna', 'live in', 'rome')]
    """
    speaker = speaker or str(details.get("said_by") or "")
    told = given(details.get("facts"), speaker or USER)
    known = {(fact.subject, fact.predicate, fact.object) for fact in told}
    read = facts(content, speaker or None, now)
    return (*told, *(fact for fact in read if (fact.subject, fact.predicate, fact.object) not in known))


def facts(text: str, speaker: str | None = None, now: datetime | None = None) -> list[Fact]:
    """The facts that `text` states, once each, in order; `now` is when it was said.

    >>> facts("Actually, my editor is Helix now.") == [Fact("user", "editor", "helix", functional=True)]
    True
    >>> facts("我住在上海", speaker="Lin") == [Fact("lin", "live in", "上海", functional=True)]
    True
    """
    found = _statements(text[:_LONGEST], speaker or USER, now if may_be_timed(text) else None)
    return list(dict.fromkeys(_fact(one, one.object) for one in found))


def ended(text: str, speaker: str | None = None) -> list[Fact]:
    """The facts that `text` says are true no longer: what was switched from, what one does not do anymore.

    >>> ended("We switched from MySQL to PostgreSQL") == [Fact("user", "database", "mysql", functional=True)]
    True
    >>> ended("I no longer live in Berlin") == [Fact("user", "live in", "berlin", functional=True)]
    True
    """
    text = text[:_LONGEST]
    found = _statements(text, speaker or USER, None)
    left = [_fact(one, one.replaces) for one in found if one.replaces]
    for sentence in sentences(text.replace("’", "'")):
        if _NO_LONGER.search(sentence):
            left += facts(_ANYMORE.sub("", _NO_LONGER.sub("", sentence)), speaker)
    current = set(facts(text, speaker))
    return [fact for fact in dict.fromkeys(left) if fact not in current]


def _fact(found: Statement, value: str) -> Fact:
    return Fact(
        found.subject.lower(),
        canonical(found.predicate),
        value.lower(),
        found.functional,
        valid_from=found.valid_from,
        valid_to=found.valid_to,
    )


@lru_cache(maxsize=1 << 10)
def _statements(text: str, speaker: str, now: datetime | None) -> tuple[Statement, ...]:
    return tuple(_read(text, speaker, now))


def _read(text: str, speaker: str, now: datetime | None) -> Iterator[Statement]:
    before: list[str] = []
    for sentence in sentences(compatible(text).replace("’", "'")):
        if sentence.startswith(("```", "~~~")):
            continue
        told = resolved(sentence, before) if before else sentence
        yield from facts_english.read(told, speaker, now)
        if not told.isascii():
            yield from facts_chinese.read(told, speaker, now)
        before.append(told)
