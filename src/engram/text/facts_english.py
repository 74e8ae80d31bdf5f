"""English facts: one sentence comes in, its triples come out. Each rule is one shape of clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from engram.text import lexicon
from engram.text.clauses import NAME, WHO, clauses, tells
from engram.text.marks import is_correction
from engram.text.statement import Statement, describes, names_something, use, value
from engram.text.technologies import known

_Match = re.Match[str]
_Build = Callable[[_Match, "_Told"], Statement | None]
_Shape = tuple[re.Pattern[str], _Build]
_Rule = tuple[str, str, _Build]
"""Words of which a clause of this shape holds at least one, the shape, and how it is read."""

_SOFT = r"(?:(?:now|currently|actually|really|just|also|still|usually|mostly|mainly|always|both|all|only) )*"
_HAVE = r"(?:'ve|'s| have| has)?"


@dataclass(frozen=True, slots=True)
class _Told:
    """Who speaks, and the whole sentence."""

    speaker: str
    sentence: str

    @property
    def changed(self) -> bool:
        """Whether the sentence tells of a change."""
        return is_correction(self.sentence)


def read(sentence: str, speaker: str) -> Iterator[Statement]:
    """The facts of one sentence."""
    if not _shapes_for(sentence) or sentence.rstrip().endswith("?") or sentence.isupper():
        return
    told = _Told(speaker, sentence)
    for clause in clauses(sentence):
        shapes = _shapes_for(clause)
        if not shapes or not tells(clause):
            continue
        for shape, build in shapes:
            match = shape.match(clause)
            fact = build(match, told) if match else None
            if fact:
                yield fact
                break


def _shapes_for(text: str) -> list[_Shape]:
    """The shapes that the words of a text allow, in order; for most texts none."""
    shapes, called = _shapes()
    words = lexicon.words_of(text)
    found = {at for word in called.keys() & words for at in called[word]}
    if "=" in text:
        found.update(called["="])
    return [shapes[at] for at in sorted(found)]


def _subject(match: _Match, speaker: str) -> str | None:
    """The speaker, or a name; nothing for a word that only begins a sentence."""
    who = match["who"]
    if who.lower() in {"i", "we", "me", "my", "our"}:
        return speaker
    first = who.split()[0].lower()
    if first in lexicon.words("stop_words") or first in lexicon.words("openers") or first.endswith("ing"):
        return None
    return who.removesuffix("'s")


def _plain(predicate: str, *, functional: bool) -> _Build:
    """A shape whose subject and value stand in the clause as they are."""

    def build(match: _Match, told: _Told) -> Statement | None:
        subject, found = _subject(match, told.speaker), value(match["value"])
        return Statement(subject, predicate, found, functional) if subject and found else None

    return build


def _place(predicate: str) -> _Build:
    """A place or an employer has a name: "live in Berlin", not "live in fear"."""
    plain = _plain(predicate, functional=True)

    def build(match: _Match, told: _Told) -> Statement | None:
        fact = plain(match, told)
        if fact is None or not names_something(fact.object):
            return None
        return replace(fact, object=_untimed(fact.object))

    return build


_WHEN = re.compile(
    r"\s+(?:(?:last|this|next|a few|two|three|\d+) (?:day|week|month|year|spring|summer|fall|autumn"
    r"|winter)s?.*|in \d{4}"
    r"|since .*|for (?:\w+ )?years.*|yesterday|today|recently|on (?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day)$",
    re.IGNORECASE,
)


def _untimed(text: str) -> str:
    """The value alone: "Paris last year" is Paris."""
    return _WHEN.sub("", text)


def _owned(match: _Match, told: _Told) -> Statement | None:
    """Read "my editor is vim", "Anna's birthday is May 3", "my sister's name is Eva"."""
    subject, found = _subject(match, told.speaker), value(match["value"])
    attribute = _attribute(match["attribute"])
    if not (subject and found and attribute):
        return None
    owner, _, rest = attribute.rpartition("'s ")
    subject = f"{subject}'s {owner}" if owner else subject
    return _about(subject, rest, match["value"].strip(), found)


def _about(subject: str, attribute: str, raw: str, found: str) -> Statement | None:
    if re.match(r"(?:now |actually |really )*an? [a-z]", raw):
        return Statement(f"{subject}'s {attribute}", "is a", found)
    one_valued = attribute.startswith("favo") or _is_listed(attribute, "attributes")
    if describes(found) or not (one_valued or names_something(found)):
        return None
    return Statement(subject, attribute, found, functional=not _is_listed(attribute, "shared_attributes"))


def _the(match: _Match, _told: _Told) -> Statement | None:
    """Read "the deadline is Friday", "the deadline for Apollo is Friday"."""
    attribute, found, owner = _attribute(match["attribute"]), value(match["value"]), match["owner"]
    if not attribute or not found or describes(found) or re.match(r"an? ", match["value"]):
        return None
    listed = _is_listed(attribute, "attributes")
    if not (listed or names_something(found)):
        return None
    of = value(owner) if owner else None
    return (
        Statement(of, attribute, found, functional=True)
        if of
        else Statement(attribute, "is", found, functional=True)
    )


_ADJECTIVE = re.compile(
    r"^(?:(?:new|current|own|old|actual|latest|main|real|default|primary) )+(?=\w)", re.IGNORECASE
)


def _attribute(raw: str) -> str | None:
    """An attribute noun in lower case: "new editor" is the editor; a phrase with a verb in it is none."""
    text = (
        _ADJECTIVE.sub("", raw.strip().lower())
        if raw.strip().lower() not in {"default branch", "main branch"}
        else raw.lower()
    )
    words = text.replace("'s", "").split()
    if not words or len(words) > 4 or any(word in lexicon.words("stop_words") for word in words):  # noqa: PLR2004
        return None
    return "favorite" + text[9:] if text.startswith("favourite") else text


def _is_listed(attribute: str, name: str) -> bool:
    listed = lexicon.words(name)
    return attribute.replace(" ", "_") in listed or attribute.rsplit(maxsplit=1)[-1] in listed


def _use(match: _Match, told: _Told) -> Statement | None:
    """Read "I use Helix now"; "I use Helix as my editor" names the role itself."""
    subject, found = _subject(match, told.speaker), value(match["value"])
    role = _attribute(match["role"]) if match["role"] else None
    if not (subject and found):
        return None
    return (
        Statement(subject, role, found, functional=True)
        if role
        else use(subject, found, changed=told.changed)
    )


def _switch(match: _Match, told: _Told) -> Statement | None:
    """Read "we switched from MySQL to PostgreSQL" as what is used, "I moved to Berlin" as where one lives."""
    subject, new = _subject(match, told.speaker), value(match["value"])
    old = value(match["old"]) if match["old"] else None
    if not (subject and new):
        return None
    new = _untimed(new)
    if match["verb"].lower().startswith("mov") and not (known(new) or (old and known(old))):
        return Statement(subject, "live in", new, functional=True, replaces=old) if new[0].isupper() else None
    return use(subject, new, changed=True, replaces=old)


def _named(match: _Match, told: _Told) -> Statement | None:
    found = value(match["value"])
    return Statement(told.speaker, "name", found, functional=True) if found and found[0].isupper() else None


def _kin(match: _Match, told: _Told) -> Statement | None:
    """Read "Anna is my sister": a fact about me."""
    subject, attribute = _subject(match, told.speaker), _attribute(match["attribute"])
    if not subject or not attribute or subject == told.speaker:
        return None
    owner = told.speaker if match["owner"].lower() in {"my", "our"} else match["owner"].removesuffix("'s")
    return Statement(owner, attribute, subject, functional=attribute in lexicon.words("roles"))


def _aged(match: _Match, told: _Told) -> Statement | None:
    subject = _subject(match, told.speaker)
    return Statement(subject, "age", match["value"], functional=True) if subject else None


_BE = r"(?:'m| am|'s| is|'re| are)"
_VALUE = r"(?P<value>\S.*)$"
_MINE = rf"(?P<who>[Mm]y|[Oo]ur|{NAME}'s)"
_ATTRIBUTE = r"(?P<attribute>[A-Za-z][\w'-]*(?: [A-Za-z][\w'-]*){0,3}?)"
_THING = r"(?P<who>[\w'.-]+(?: [\w'.-]+){0,3}?)"
_OF = r"(?: (?:of|for) (?P<owner>(?:the )?[\w'.-]+(?: [\w'.-]+){0,3}?))?"
_EQUALS = r"(?:is set to|is|=|will be|(?:has |was )?(?:changed|moved) to)"
_EQUAL_WORDS = "is = will changed moved"
_ROLE = r"(?: (?:as|for) (?:my|our|his|her|the|their) (?P<role>[\w -]+?)| (?:for|to|when|in|on|with|at) .*)?"
_SWITCHED = r"(?P<verb>switch(?:ed|ing)|migrat(?:ed|ing)|mov(?:ed|ing)|chang(?:ed|ing))"


def _did(verbs: str, predicate: str) -> _Rule:
    """What one may do with many things at once: "I like tea" and "I like coffee" are both true."""
    words = f"{verbs.replace('s?', '')}|{verbs.replace('?', '')}".replace("|", " ")
    return words, rf"^{WHO}{_HAVE} {_SOFT}(?:{verbs}) {_VALUE}", _plain(predicate, functional=False)


# Tried in order; the first that yields a statement ends the clause.
_RULES: Final[tuple[_Rule, ...]] = (
    ("call Call called by",
     rf"^(?:[Cc]all me|(?:[Mm]y friends|[Pp]eople) call me|I(?:'m| am) called|I go by) {_VALUE}", _named),
    ("speaking here",
     r"^(?:[Tt]his is|I'm|I am) (?P<value>[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:speaking|here)$", _named),
    ("m am s is re are", rf"^{WHO}{_BE} (?P<value>\d{{1,3}}) ?(?:years old|yo|y/o)\b", _aged),
    ("live lives reside resides", rf"^{WHO} {_SOFT}(?:lives?|resides?) in {_VALUE}", _place("live in")),
    ("living based", rf"^{WHO}{_BE} {_SOFT}(?:living|based) in {_VALUE}", _place("live in")),
    ("work works working employed",
     rf"^{WHO}{_BE}? {_SOFT}(?:works?|working|employed) (?:at|for|by) {_VALUE}", _place("work at")),
    ("work works working",
     rf"^{WHO}{_BE}? {_SOFT}(?:works?|working) as (?P<value>an? .*)$", _plain("job", functional=True)),
    ("married", rf"^{WHO}{_BE} {_SOFT}married to {_VALUE}", _place("married to")),
    ("engaged", rf"^{WHO}{_BE} {_SOFT}engaged to {_VALUE}", _place("engaged to")),
    ("located situated",
     rf"^(?:[Tt]he )?{_THING} is {_SOFT}(?:located|situated) (?:in|at|on) {_VALUE}", _place("located in")),
    ("switched switching migrated migrating moved moving changed changing",
     rf"^{WHO}(?:{_HAVE}|{_BE}) {_SOFT}{_SWITCHED}(?: over)?(?: from (?P<old>.+?))? to {_VALUE}", _switch),
    ("replaced", rf"^{WHO}{_HAVE} {_SOFT}replaced (?P<old>.+?) (?P<verb>with|by) {_VALUE}", _switch),
    ("use uses using", rf"^{WHO}{_BE}? {_SOFT}(?:uses?|using) (?P<value>.+?){_ROLE}(?: now)?$", _use),
    ("prefer prefers",
     rf"^{WHO} {_SOFT}prefers? (?P<value>.+?)(?: (?:over|to|rather than) .*)?$",
     _plain("prefer", functional=False)),
    _did("likes?", "like"),
    _did("loves?|adores?", "love"),
    _did("enjoys?", "enjoy"),
    _did("knows?", "know"),
    _did("speaks?", "speak"),
    _did("plays?", "play"),
    _did("owns?", "own"),
    _did("drives?", "drive"),
    _did("visited", "visited"),
    _did("bought|purchased", "bought"),
    _did("adopted", "adopted"),
    ("have has",
     rf"^{WHO} {_SOFT}(?:have|has) (?P<value>(?:an?|two|three|four|five|\d+|many|several) .*)$",
     _plain("have", functional=False)),
    ("is",
     rf"^(?P<who>{NAME}) is (?P<owner>[Mm]y|[Oo]ur|{NAME}'s) (?P<attribute>[a-z][\w-]*(?: [a-z]+)?)$", _kin),
    (_EQUAL_WORDS, rf"^{_MINE} {_ATTRIBUTE} {_SOFT}{_EQUALS} {_VALUE}", _owned),
    ("s", rf"^{_MINE} {_ATTRIBUTE}'s {_SOFT}(?P<value>[A-Z\d].*)$", _owned),
    (_EQUAL_WORDS, rf"^[Tt]he {_ATTRIBUTE}{_OF} {_SOFT}(?:{_EQUALS}|is on|is at) {_VALUE}", _the),
    ("m am is",
     rf"^(?P<who>I|{NAME})(?:'m| am| is) {_SOFT}(?P<value>an? [a-z].*)$", _plain("is a", functional=False)),
)  # fmt: skip


@cache
def _shapes() -> tuple[tuple[_Shape, ...], dict[str, list[int]]]:
    """The shapes, and for each word the places of those it calls for."""
    called: dict[str, list[int]] = {}
    for at, (words, _, _) in enumerate(_RULES):
        for word in words.split():
            called.setdefault(word, []).append(at)
    return tuple((re.compile(rule), build) for _, rule, build in _RULES), called
