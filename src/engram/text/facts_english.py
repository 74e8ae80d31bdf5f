"""English facts: one sentence comes in, its triples come out. Each rule is one shape of clause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from engram.text import lexicon
from engram.text.facts_clauses import (
    Build,
    ClauseFact,
    aged,
    born,
    driven,
    kin,
    named,
    naming,
    owned,
    pet,
    plain,
    post,
    relative,
    serves,
    switched,
    technical,
    the,
    used,
)
from engram.text.sentences import NAME, clauses, tells
from engram.text.slots import Filled, filled
from engram.text.statement import Statement, Validity, marked, settled, taken

_Shape = tuple[re.Pattern[str], Build]
_Rule = tuple[str, str, Build]
"""Words of which a clause of this shape holds at least one, the shape, and how it is read."""


def read(sentence: str, speaker: str, now: datetime | None = None) -> Iterator[Statement]:
    """The facts of one sentence, said at a time; without a time no word of time is understood."""
    words, times = marked(sentence, now) if now else (sentence, {})
    if sentence.rstrip().endswith("?") or sentence.isupper():
        return
    told = ClauseFact(speaker, sentence)
    yield from _apposed(sentence, told)
    kindred = not lexicon.words("kin").isdisjoint(lexicon.words_of(sentence))
    for part in clauses(_DATE.sub(r"\1 \2", words) if ", 1" in words or ", 2" in words else words):
        clause, validity = taken(part, times) if times else (part, None)
        if kindred:
            yield from _of_kin(clause, speaker)
            clause = _without_kin(clause)
        slots = [] if validity else [one for one in filled(clause, speaker) if not one.over]
        yield from (one.statement() for one in slots)
        fact = _read_clause(clause, told, validity)
        if fact and not any(_says_again(fact, one) for one in slots):
            yield fact


def _says_again(fact: Statement, slot: Filled) -> bool:
    """Whether a slot says already, and better, what a fact says."""
    return fact.predicate in {slot.predicate, *_TOLD_BETTER.get(slot.predicate, ())}


_TOLD_BETTER: Final = {
    "job": ("is a",),
    "diet": ("is a",),
    "owner": ("own", "manage"),
    "day": ("is",),
    "time": ("is",),
}


def _apposed(sentence: str, told: ClauseFact) -> Iterator[Statement]:
    """Read "I rent from Mr Lund, my landlord": my landlord is Mr Lund."""
    match = _APPOSED.search(sentence) if ", " in sentence and tells(sentence) else None
    fact = owned(match, told) if match else None
    if fact and fact.predicate.rsplit(maxsplit=1)[-1] not in fact.object.lower():  # "of all colours, my …"
        yield fact


def _read_clause(clause: str, told: ClauseFact, validity: Validity | None) -> Statement | None:
    if " was born " in clause:
        clause = _BORN.sub(r"\1 is born ", clause)
    if validity is not None:
        clause, validity = settled(clause, validity)
    shapes = _shapes_for(clause)
    if not shapes or not tells(_begun(clause)):
        return None
    for shape, build in shapes:
        match = shape.match(clause)
        fact = build(match, told) if match else None
        if fact:
            return fact if validity is None else _dated(fact, validity)
    return None


def _dated(fact: Statement, validity: Validity) -> Statement:
    """What is over takes nothing's place."""
    return replace(
        fact,
        functional=fact.functional and not validity.over,
        valid_from=validity.first,
        valid_to=validity.last,
    )


_DATE = re.compile(r"(\b[A-Z][a-z]+ \d{1,2}), (\d{4})\b")
_BORN = re.compile(r"^((?:[Mm]y|[Oo]ur) [a-z]+|\S+(?: [A-Z]\S+)*) was born (?=in|on)")
_IDENTIFIER = re.compile(r"[a-z]+(?:[-_.][a-z0-9]+)+ |[a-z]+\d+ ")


def _begun(clause: str) -> str:
    """A clause that begins with a system's name in small letters, as if it began with a capital."""
    return clause.capitalize() if clause[:1].islower() and _IDENTIFIER.match(clause) else clause


def _of_kin(clause: str, speaker: str) -> Iterator[Statement]:
    """Read "my sister Anna …" as: my sister is Anna."""
    match = _kin_named().match(clause)
    if match and match["name"].split()[0].lower() not in lexicon.words("openers") and _is_name(match["name"]):
        owner = speaker if match["owner"].lower() in {"my", "our"} else match["owner"].removesuffix("'s")
        noun = match["kin"].lower()
        yield Statement(owner, noun, match["name"], functional=noun in lexicon.words("roles"))


def _without_kin(clause: str) -> str:
    """A clause that begins "my sister Anna" is about Anna."""
    match = _kin_named().match(clause)
    return clause[match.start("name") :] if match and _is_name(match["name"]) else clause


def _is_name(name: str) -> bool:
    return not name.endswith("'s") and lexicon.pattern("times").fullmatch(name.lower()) is None


@cache
def _kin_named() -> re.Pattern[str]:
    nouns = "|".join(sorted(lexicon.words("kin")))
    return re.compile(
        rf"(?P<owner>[Mm]y|[Oo]ur|{NAME}'s) (?:\w+er |best |old |new )?(?P<kin>{nouns}) "
        rf"(?P<name>{NAME})(?!')(?= [a-z]|$)"
    )


def _calls(text: str) -> bool:
    """Whether some word of a text calls for a shape; most texts have none."""
    called = _shapes()[1]
    beside = ", my " in text or ", our " in text
    return beside or not called.keys().isdisjoint(lexicon.words_of(text)) or "=" in text


def _shapes_for(text: str) -> list[_Shape]:
    """The shapes that the words of a text allow, in order."""
    shapes, called = _shapes()
    words = lexicon.words_of(text)
    found = {at for word in called.keys() & words for at in called[word]}
    if "=" in text:
        found.update(called["="])
    return [shapes[at] for at in sorted(found)]


_SOFT = r"(?:(?:now|currently|actually|really|just|also|still|usually|mostly|mainly|always|both|all|only) )*"
_HAVE = r"(?:'ve|'s| have| has)?"
_KIN = r"(?:[Mm]y|[Oo]ur) @KIN@"
_WHO = rf"(?P<who>I|[Ww]e|{_KIN}|{NAME})"
_BE = r"(?:'m| am|'s| is|'re| are)"
_VALUE = r"(?P<value>\S.*)$"
_MINE = rf"(?P<who>[Mm]y|[Oo]ur|{NAME}'s)"
_ATTRIBUTE = r"(?P<attribute>[A-Za-z][\w'-]*(?: [A-Za-z][\w'-]*){0,3}?)"
_THING = r"(?P<who>[\w'.-]+(?: [\w'.-]+){0,3}?)"
_SYSTEM = r"(?:[Tt]he |[Oo]ur |[Mm]y )?(?P<who>[\w.-]+(?: [\w.-]+){0,2}?)"
_OF = r"(?: (?:of|for) (?P<owner>(?:the )?[\w'.-]+(?: [\w'.-]+){0,3}?))?"
_EQUALS = r"(?:is set to|is|=|will be|(?:has |was )?(?:changed|moved) to)"
_EQUAL_WORDS = "is = will changed moved"
_WHOSE = rf"(?:my|our|his|her|the|their|{NAME}'s)"
_ROLE = rf"(?: (?:as|for) {_WHOSE} (?P<role>[\w -]+?)| (?:for|to|when|in|on|with|at) .*)?"
_SWITCHED = r"(?P<verb>switch(?:ed|ing)|migrat(?:ed|ing)|mov(?:ed|ing)|chang(?:ed|ing))"
_GOT = r"(?:have|has|got|own|owns|adopted|bought)"
_SOME = r"(?:an?|another|one|two|three|four|five|\d+|many|several)"
_HOLDS = r"uses?|own|owns|have|has|prefers?|drives?|carry|carries|go to|goes to|see|sees|like best|likes best"
_NOUNS = r"[A-Za-z][\w-]*(?: [a-z]+)?"
_APPOSED = re.compile(
    rf" (?P<value>{NAME}|[\w-]+), (?P<who>[Mm]y|[Oo]ur|{NAME}'s) (?P<attribute>{_NOUNS})[.!]?$"
)
_PETS = r"(?P<attribute>dog|cat|puppy|kitten|parrot|hamster|rabbit|bird|fish|turtle|horse|pet)"


def _did(verbs: str, predicate: str) -> _Rule:
    """What one may do with many things at once: "I like tea" and "I like coffee" are both true."""
    words = f"{verbs.replace('s?', '')}|{verbs.replace('?', '')}".replace("|", " ")
    return words, rf"^{_WHO}{_HAVE} {_SOFT}(?:{verbs}) {_VALUE}", plain(predicate, functional=False)


# Tried in order; the first that yields a statement ends the clause.
_RULES: Final[tuple[_Rule, ...]] = (
    ("call Call called by",
     rf"^(?:[Cc]all me|(?:[Mm]y friends|[Pp]eople) call me|I(?:'m| am) called|I go by) {_VALUE}", named),
    ("speaking here",
     r"^(?:[Tt]his is|I'm|I am) (?P<value>[A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:speaking|here)$", named),
    ("m am s is re are", rf"^{_WHO}{_BE} (?P<value>\d{{1,3}}) ?(?:years old|yo|y/o)\b", aged),
    ("live lives reside resides", rf"^{_WHO} {_SOFT}(?:lives?|resides?) in {_VALUE}", naming("live in")),
    ("living based", rf"^{_WHO}{_BE} {_SOFT}(?:living|based) in {_VALUE}", naming("live in")),
    ("work works working employed",
     rf"^{_WHO}{_BE}? {_SOFT}(?:works?|working|employed) as (?P<value>(?:an?|the) .+?) (?:at|for) [A-Z].*$",
     plain("job", functional=True)),
    ("work works working employed",
     rf"^{_WHO}{_BE}? {_SOFT}(?:works?|working|employed) (?:at|for|by) {_VALUE}", naming("work at")),
    ("work works working employed",
     rf"^{_WHO}{_BE}? {_SOFT}(?:works?|working|employed) as (?P<value>(?:an?|the) .*)$",
     plain("job", functional=True)),
    ("born", rf"^{_WHO} {_SOFT}is born (?P<verb>in|on) {_VALUE}", born),
    ("from", rf"^{_WHO}(?:{_BE}| comes?) {_SOFT}(?:originally )?from {_VALUE}",
     naming("from", functional=False)),
    ("married", rf"^{_WHO}{_BE} {_SOFT}married to {_VALUE}", naming("married to")),
    ("engaged", rf"^{_WHO}{_BE} {_SOFT}engaged to {_VALUE}", naming("engaged to")),
    ("allergic", rf"^{_WHO}{_BE} {_SOFT}(?:\w+ly )?allergic to {_VALUE}",
     plain("allergic to", functional=False)),
    ("report reports", rf"^{_WHO} {_SOFT}reports? (?:directly )?to {_VALUE}", naming("report to")),
    ("studied", rf"^{_WHO}{_HAVE} studied at {_VALUE}", naming("studied at", functional=False)),
    ("graduated", rf"^{_WHO}{_HAVE} {_SOFT}graduated from {_VALUE}",
     naming("graduated from", functional=False)),
    ("studied",
     rf"^{_WHO}{_HAVE} {_SOFT}studied (?P<value>(?!at |for |hard|a lot)\S.*?)(?: (?:at|in|with) .*)?$",
     plain("studied", functional=False)),
    ("majored", rf"^{_WHO}{_HAVE} majored in {_VALUE}", plain("studied", functional=False)),
    ("located situated",
     rf"^(?:[Tt]he )?{_THING} is {_SOFT}(?:located|situated) (?:in|at|on) {_VALUE}", naming("located in")),
    ("switched switching migrated migrating moved moving changed changing",
     rf"^{_WHO}(?:{_HAVE}|{_BE}) {_SOFT}{_SWITCHED}(?: over)?(?: from (?P<old>.+?))? to {_VALUE}", switched),
    ("switched switching changed changing",
     rf"^{_WHO}{_HAVE} {_SOFT}{_SWITCHED} {_WHOSE} {_ATTRIBUTE}(?: from .+?)? to {_VALUE}", relative),
    ("run runs have has keep keeps",
     rf"^{_WHO} (?:runs?|have|has|keeps?) (?P<value>.+?) as {_WHOSE} (?P<role>[\w -]+?)(?: now)?$", used),
    ("replaced", rf"^{_WHO}{_HAVE} {_SOFT}replaced (?P<old>.+?) (?P<verb>with|by) {_VALUE}", switched),
    ("use uses using", rf"^{_WHO}{_BE}? {_SOFT}(?:uses?|using) (?P<value>.+?){_ROLE}(?: now)?$", used),
    ("is",
     rf"^[Tt]he {_ATTRIBUTE} (?:that )?(?P<who>I|[Ww]e|{NAME}) (?:{_HOLDS}) is {_SOFT}{_VALUE}", relative),
    ("uses use", rf"^{_SYSTEM} {_SOFT}uses? (?P<value>.+?)(?: (?:for|to|when|in|as|with) .*)?$", serves),
    ("depends depend", rf"^{_SYSTEM} {_SOFT}depends? on {_VALUE}", technical("depend on")),
    ("written implemented",
     rf"^{_SYSTEM} is {_SOFT}(?:written|implemented) in {_VALUE}", technical("written in")),
    ("runs run running", rf"^{_SYSTEM} (?:is )?{_SOFT}(?:runs?|running) on {_VALUE}", technical("run on")),
    ("deployed hosted",
     rf"^{_SYSTEM} is {_SOFT}(?:deployed|hosted) (?:to|on|at|in) {_VALUE}", technical("deployed to")),
    ("built", rf"^{_SYSTEM} is {_SOFT}built (?:with|in|on) {_VALUE}", technical("built with")),
    ("prefer prefers",
     rf"^{_WHO} {_SOFT}prefers? (?P<value>.+?) as {_WHOSE} (?P<role>[\w -]+?)(?: now)?$", used),
    ("prefer prefers",
     rf"^{_WHO} {_SOFT}prefers? (?P<value>.+?)(?: (?:over|to|rather than) .*)?$",
     plain("prefer", functional=False)),
    ("named called",
     rf"^{_WHO}{_HAVE} {_SOFT}{_GOT} {_SOME} (?:[a-z]+ )?{_PETS},? (?:named|called) {_VALUE}", pet),
    _did("likes?", "like"),
    _did("loves?|adores?", "love"),
    _did("enjoys?", "enjoy"),
    _did("knows?", "know"),
    _did("speaks?", "speak"),
    _did("plays?", "play"),
    _did("owns?", "own"),
    ("drive drives", rf"^{_WHO}{_HAVE} {_SOFT}drives? (?P<value>an? \S.*)$", driven),
    _did("manages?", "manage"),
    _did("founded|co-founded", "founded"),
    _did("visited", "visited"),
    _did("bought|purchased", "bought"),
    _did("adopted", "adopted"),
    ("have has",
     rf"^{_WHO} {_SOFT}(?:have|has) (?P<value>{_SOME} .*)$",
     plain("have", functional=False)),
    ("is",
     rf"^(?P<who>{_KIN}|{NAME}) is {_SOFT}(?:the |an? )?(?P<attribute>[\w-]+(?: [\w-]+)?) of {_VALUE}", post),
    ("m am", rf"^(?P<who>I)(?:'m| am) {_SOFT}the (?P<attribute>[\w-]+(?: [\w-]+)?) of {_VALUE}", post),
    ("is",
     rf"^(?:[Tt]he )?(?P<who>{NAME}) is (?P<owner>[Mm]y|[Oo]ur|{NAME}'s) (?P<attribute>{_NOUNS})$", kin),
    (_EQUAL_WORDS, rf"^{_MINE} {_ATTRIBUTE} {_SOFT}{_EQUALS} {_VALUE}", owned),
    ("s", rf"^{_MINE} {_ATTRIBUTE}'s {_SOFT}(?:called |named )?(?P<value>[A-Z\d].*)$", owned),
    (_EQUAL_WORDS, rf"^[Tt]he {_ATTRIBUTE}{_OF} {_SOFT}(?:{_EQUALS}|is on|is at) {_VALUE}", the),
    ("m am is s",
     rf"^(?P<who>I|{_KIN}|{NAME})(?:'m| am|'s| is) {_SOFT}(?P<value>an? [a-z].*)$",
     plain("is a", functional=False)),
)  # fmt: skip


@cache
def _shapes() -> tuple[tuple[_Shape, ...], dict[str, list[int]]]:
    """The shapes, and for each word the places of those it calls for."""
    called: dict[str, list[int]] = {}
    for at, (words, _, _) in enumerate(_RULES):
        for word in words.split():
            called.setdefault(word, []).append(at)
    nouns = f"(?:{'|'.join(sorted(lexicon.words('kin')))})"
    return tuple((re.compile(rule.replace("@KIN@", nouns)), build) for _, rule, build in _RULES), called
