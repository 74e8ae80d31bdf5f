"""Facts by rule: a text comes in, the triples it plainly states come out.

Conservative: questions, wishes, conditions and denials give no fact, nor does a pronoun that may mean two
people; the past gives one only with its dates. English and Chinese; a sentence may give several facts. "I",
"my" and "we" are the speaker, or `user` when unnamed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from engram.lazily import replace
from engram.model.clock import written_moment
from engram.model.facts import Fact
from engram.text import lexicon, re
from engram.text.lexicon import words_of
from engram.text.names import entities
from engram.text.reading import read_once
from engram.text.sentences import NAME, clauses, han_clauses, sentences
from engram.text.slots import ALSO_OVER, filled, plain_fact, says_again, spelt_out
from engram.text.statement import (
    USER,
    Statement,
    Validity,
    canonical,
    is_functional,
    marked,
    may_be_timed,
    plain_name,
    settled,
    taken,
)
from engram.text.words import HAN, compatible

# ---------------------------------------------------------------- facts given
# Facts as plain data: what a caller or a model wrote comes in, the facts that make sense of it come out.
#
# Lenient: a good statement must not be lost over a bad triple beside it. What cannot be read is left out.


MOST: Final = 50
LONGEST: Final = 200
_FIRST_PERSON: Final = frozenset(
    {"i", "me", "my", "myself", "we", "us", "speaker", "the user", "我", "我们", "用户"}
)


def given(listed: Any, speaker: str) -> tuple[Fact, ...]:
    """The facts of a list of {subject, predicate, object, functional, confidence, valid_from, valid_to}.

    >>> sentence = {"subject": "Anna", "predicate": "I am a nurse.", "object": "Anna"}
    >>> good = {"subject": "I", "predicate": "lives in", "object": "Rome"}
    >>> found = given([good, {"subject": "?"}, sentence, 7], "Anna")
    >>> found == (Fact("anna", "live in", "rome", functional=True),)
    True
    """
    if not isinstance(listed, list | tuple):
        return ()
    found = (_fact_facts_given(one, speaker) for one in listed[:MOST] if isinstance(one, Mapping))
    return tuple({(f.subject, f.predicate, f.object): f for f in found if f is not None}.values())


def _fact_facts_given(one: Mapping[str, Any], speaker: str) -> Fact | None:
    subject, predicate, whom = (_words(one.get(name)) for name in ("subject", "predicate", "object"))
    if not (subject and predicate and whom) or subject == whom or predicate[-1] in ".!?。！？":
        return None  # a small model says "Anna — I am a nurse. — Anna"
    functional = one.get("functional")
    return Fact(
        speaker.lower() if subject in _FIRST_PERSON else subject,
        canonical(predicate),
        whom,
        functional if isinstance(functional, bool) else is_functional(predicate),
        _share(one.get("confidence")),
        _moment(one.get("valid_from")),
        _moment(one.get("valid_to")),
    )


def _words(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    words = plain_name(" ".join(str(value).split()))
    return words if any(char.isalnum() for char in words) and len(words) <= LONGEST else ""


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return 1.0
    return min(1.0, max(0.0, float(value)))


def _moment(value: Any) -> datetime | None:
    found = written_moment(value)
    return found and found.astimezone(UTC)


# ---------------------------------------------------------------- facts pronouns
# Pronouns inside one text: a sentence and those before it come in, the sentence with the name comes out.
#
# "Anna moved to Berlin. She works at Siemens." says where Anna works. Only a "she", "he", "her" or "his"
# that begins a clause is read, and only when the sentences before name exactly one person whom it may mean.


_PRONOUN = re.compile(
    r"(?P<before>^|[,;] |\band |\bbut )(?P<word>[Ss]he|[Hh]e|[Hh]er|[Hh]is)(?P<short>'s)?(?= [a-z])"
)
_WORDS: Final = frozenset({"she", "he", "her", "his"})
_HAN_PRONOUN = re.compile(r"(?P<before>^|[，,；;])(?P<word>[他她])(?!们)")
_HAN_SUBJECT = re.compile(
    rf"(?:^|[，,；;])(?P<name>[{HAN}]{{2,3}}?)(?=住|在|是|搬|来自|喜欢|毕业|就职|今年|的|叫|出生|会说|买)"
)


def resolved(sentence: str, before: Sequence[str]) -> str:
    """The sentence with its pronouns named, where they can mean one person only.

    >>> resolved("She works at Siemens.", ["Anna moved to Berlin."])
    'Anna works at Siemens.'
    >>> resolved("She works at Siemens.", ["Anna met Clara."])
    'She works at Siemens.'
    """
    if sentence.isascii() or not _HAN_PRONOUN.search(sentence):
        may = not _WORDS.isdisjoint(words_of(sentence.lower())) and _PRONOUN.search(sentence)
        return _english(sentence, before) if may else sentence
    who = _one_in_chinese(before)
    return _HAN_PRONOUN.sub(lambda match: match["before"] + who, sentence) if who else sentence


def _english(sentence: str, before: Sequence[str]) -> str:
    def name(match: re.Match[str]) -> str:
        word = match["word"].lower()
        owns = word in {"her", "his"}
        who = _one_person(" ".join(before), "she" if word in {"she", "her"} else "he")
        if who is None:
            return match.group()
        return match["before"] + who + ("'s" if owns else match["short"] or "")

    return _PRONOUN.sub(name, sentence)


def _one_person(text: str, pronoun: str) -> str | None:
    """The only person of a text whom the pronoun may mean."""
    people = [entity.name for entity in entities(text) if entity.type == "person"]
    opener = _OPENER.match(text)
    if opener and opener.group("who") not in people and opener.group("who").split()[0] not in people:
        people.append(opener.group("who"))
    fit = [person for person in people if _may_be(person.split()[0].lower(), pronoun)]
    return fit[0] if len(fit) == 1 else None


_OPENER = re.compile(rf"(?P<who>{NAME}) (?:moved|lives|works|lived|worked|is|likes|loves|has) ")


def _may_be(first: str, pronoun: str) -> bool:
    if first in lexicon.words("stop_words") or first in lexicon.words("openers"):
        return False
    return first not in _names("he" if pronoun == "she" else "she")


@cache
def _names(pronoun: str) -> frozenset[str]:
    return frozenset(" ".join(lexicon.parts("gendered_names")[pronoun]).split())


def _one_in_chinese(before: Sequence[str]) -> str | None:
    found = {match["name"] for text in before for match in _HAN_SUBJECT.finditer(text)}
    people = {name for name in found if name[0] not in _NOBODY}
    return people.pop() if len(people) == 1 else None


_NOBODY: Final = frozenset("我你他她它这那您其该此某今明昨")


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
    if "facts" not in details:
        return tuple(facts(content, speaker or None, now))
    told = given(details["facts"], speaker or USER)
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
    return list(_facts(text, speaker or USER, now if may_be_timed(text) else None))


@read_once
def _facts(text: str, speaker: str, now: datetime | None) -> tuple[Fact, ...]:
    found = _statements(text[:_LONGEST], speaker, now)
    return tuple(dict.fromkeys(_fact(one, one.object) for one in found))


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
        left += _emptied(sentence, speaker or USER)
    current = set(facts(text, speaker))
    return [fact for fact in dict.fromkeys(left) if fact not in current]


def _emptied(sentence: str, speaker: str) -> Iterator[Fact]:
    """What the shapes of slots say is over: "I sold the Golf" ends a car, however it was told of."""
    for one in (slot for clause in _split(sentence) for slot in filled(clause, speaker) if slot.over):
        for predicate in (one.predicate, *ALSO_OVER.get(one.predicate, ())):
            functional = one.functional if predicate == one.predicate else is_functional(predicate)
            yield Fact(plain_name(one.subject), canonical(predicate), plain_name(one.object), functional)


def _fact(found: Statement, value: str) -> Fact:
    return Fact(
        plain_name(found.subject),
        canonical(found.predicate),
        plain_name(value),
        found.functional,
        valid_from=found.valid_from,
        valid_to=found.valid_to,
    )


@read_once
def _statements(text: str, speaker: str, now: datetime | None) -> tuple[Statement, ...]:
    return tuple(_read(text, speaker, now))


def _read(text: str, speaker: str, now: datetime | None) -> Iterator[Statement]:
    before: list[str] = []
    for sentence in sentences(compatible(text).replace("’", "'")):
        if sentence.startswith(("```", "~~~")):
            continue
        told = spelt_out(resolved(sentence, before) if before else sentence)
        yield from _of_sentence(told, speaker, now)
        before.append(told)


def _of_sentence(sentence: str, speaker: str, now: datetime | None) -> Iterator[Statement]:
    """The facts of one sentence, said at a time; without a time no word of time is understood."""
    chinese = not sentence.isascii() and _HAN.search(sentence) is not None
    if not chinese and (sentence.rstrip().endswith("?") or sentence.isupper()):
        return
    words, times = marked(sentence, now) if now else (sentence, {})
    kindred = not lexicon.words("kin").isdisjoint(words_of(sentence.lower()))
    for part in (*_split(words), *_apposed(sentence)):
        clause, validity = taken(part, times) if times else (part, None)
        if kindred:
            yield from _of_kin(clause, speaker)
            named = _kin_named().match(clause)
            clause = clause[named.start("name") :] if named and _is_name(named["name"]) else clause
        slots = () if validity else [one for one in filled(clause, speaker) if not one.over]
        yield from slots
        if validity is not None and chinese:
            # Verbs have no tense: what ended before it was said is over.
            past = validity.last is not None and validity.last <= validity.now
            clause, validity = clause.replace(" ", ""), replace(validity, over=past)
        elif validity is not None:
            clause, validity = settled(clause, validity)
        fact = plain_fact(clause, sentence, speaker)
        if fact and not any(says_again(fact, slot) for slot in slots):
            yield fact if validity is None else _dated(fact, validity)


def _split(sentence: str) -> Iterable[str]:
    if not sentence.isascii() and _HAN.search(sentence):
        return han_clauses(sentence)
    return clauses(_DATE.sub(r"\1 \2", sentence) if ", 1" in sentence or ", 2" in sentence else sentence)


_HAN = re.compile(f"[{HAN}]")
_DATE = re.compile(r"(\b[A-Z][a-z]+ \d{1,2}), (\d{4})\b")


def _dated(fact: Statement, validity: Validity) -> Statement:
    """What is over takes nothing's place."""
    functional = fact.functional and not validity.over
    return replace(fact, functional=functional, valid_from=validity.first, valid_to=validity.last)


def _apposed(sentence: str) -> Iterator[str]:
    """Read "I rent from Mr Lund, my landlord" as saying: Mr Lund is my landlord."""
    match = _BESIDE.search(sentence) if ", " in sentence else None
    if match:
        yield f"{match['name']} is {match['role']}"


_BESIDE = re.compile(
    rf" (?P<name>{NAME}), (?P<role>(?:[Mm]y|[Oo]ur|{NAME}'s) [A-Za-z][\w-]*(?: [a-z]+)?)[.!]?$"
)


def _of_kin(clause: str, speaker: str) -> Iterator[Statement]:
    """Read "… my sister Anna …" as: my sister is Anna, wherever it stands."""
    for match in _kin_named().finditer(clause):
        if match["name"].split()[0].lower() not in lexicon.words("openers") and _is_name(match["name"]):
            owner = speaker if match["owner"].lower() in {"my", "our"} else match["owner"].removesuffix("'s")
            noun = match["kin"].lower()
            yield Statement(owner, noun, match["name"], functional=noun in lexicon.words("roles"))


def _is_name(name: str) -> bool:
    return not name.endswith("'s") and lexicon.pattern("times").fullmatch(name.lower()) is None


@cache
def _kin_named() -> re.Pattern[str]:
    nouns = "|".join(sorted(lexicon.words("kin")))
    return re.compile(
        rf"\b(?P<owner>[Mm]y|[Oo]ur|{NAME}'s) (?:\w+er |best |old |new )?(?P<kin>{nouns}) "
        rf"(?P<name>{NAME})(?!')(?= [a-z]|$)"
    )
