"""English facts: one sentence comes in, its triples come out. Each rule is one shape of clause.

A shape names its parts: `who`, `value`, and where it has them `attribute`, `owner`, `role`, `old`, `verb`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.kinds import known
from engram.text.marks import is_correction
from engram.text.sentences import NAME, clauses, tells
from engram.text.slots import Filled, filled
from engram.text.statement import (
    USER,
    Statement,
    Validity,
    describes,
    marked,
    names_something,
    settled,
    taken,
    use,
    value,
)

Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class ClauseFact:
    """Who speaks, and the whole sentence."""

    speaker: str
    sentence: str

    @property
    def changed(self) -> bool:
        """Whether the sentence tells of a change."""
        return is_correction(self.sentence)


Build = Callable[[Match, ClauseFact], Statement | None]


_Shape = tuple[str, Build]
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
        match = lexicon.compiled(shape).match(clause)
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
    """Read "… my sister Anna …" as: my sister is Anna, wherever it stands."""
    for match in _kin_named().finditer(clause):
        if match["name"].split()[0].lower() not in lexicon.words("openers") and _is_name(match["name"]):
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
        rf"\b(?P<owner>[Mm]y|[Oo]ur|{NAME}'s) (?:\w+er |best |old |new )?(?P<kin>{nouns}) "
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


# ---------------------------------------------------------------- how a clause is read


def subject(match: Match, speaker: str) -> str | None:
    """The speaker, someone of theirs, or a name; nothing for a word that only begins a sentence."""
    who = match["who"]
    lower = who.lower()
    if lower in {"i", "we", "me", "my", "our"}:
        return speaker
    if lower.removesuffix("'s") == USER:
        return USER  # how statements name a speaker without a name
    if lower.startswith(("my ", "our ")):
        return f"{speaker}'s {lower.partition(' ')[2]}"
    first = who.split()[0].lower()
    if first in lexicon.words("stop_words") or first in lexicon.words("openers") or first.endswith("ing"):
        return None
    return who.removesuffix("'s")


def plain(predicate: str, *, functional: bool) -> Build:
    """A shape whose subject and value stand in the clause as they are."""

    def build(match: Match, told: ClauseFact) -> Statement | None:
        who, found = subject(match, told.speaker), value(match["value"])
        return Statement(who, predicate, found, functional) if who and found else None

    return build


def naming(predicate: str, *, functional: bool = True) -> Build:
    """A place or an employer has a name: "live in Berlin", not "live in fear"."""
    as_is = plain(predicate, functional=functional)

    def build(match: Match, told: ClauseFact) -> Statement | None:
        fact = as_is(match, told)
        if fact is None or not names_something(fact.object):
            return None
        return replace(fact, object=_untimed(fact.object))

    return build


def technical(predicate: str) -> Build:
    """What a system is made of or needs, by name. Only a change says that it is the only one."""

    def build(match: Match, told: ClauseFact) -> Statement | None:
        who, found = _thing(match["who"]), value(match["value"])
        if not who or not found or not names_something(found) or _is_time(found):
            return None
        return Statement(who, predicate, _untimed(found), functional=told.changed)

    return build


def serves(match: Match, told: ClauseFact) -> Statement | None:
    """Read "the backend uses PostgreSQL": what a thing uses is known by its name."""
    who, found = _thing(match["who"]), value(match["value"])
    if not who or not found or not _begins_with_name(found) or _is_time(found):
        return None
    return use(who, found, changed=told.changed)


def _is_time(found: str) -> bool:
    """Whether a value is a time and no thing: the train runs on Sundays."""
    return lexicon.pattern("times").match(found.lower()) is not None


_VAGUE: Final = frozenset(
    {"thing", "things", "one", "ones", "everyone", "everybody", "nobody", "people", "life"}
)


def _thing(who: str) -> str | None:
    """A thing by its noun: not a pronoun, not something vague."""
    words = who.split()
    first, last = words[0].lower(), words[-1].lower()
    if first in lexicon.words("stop_words") or first in lexicon.words("openers") or last in _VAGUE:
        return None
    return None if last in lexicon.words("stop_words") or first.endswith("ing") else who


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


def owned(match: Match, told: ClauseFact) -> Statement | None:
    """Read "my editor is vim", "Anna's birthday is May 3", "my sister's name is Eva"."""
    who, found = subject(match, told.speaker), value(match["value"])
    noun = _attribute(match["attribute"])
    if not (who and found and noun):
        return None
    owner, _, rest = noun.rpartition("'s ")
    who = f"{who}'s {owner}" if owner else who
    if "moved" in match[0][match.end("attribute") : match.start("value")] and rest in lexicon.words("kin"):
        return Statement(f"{who}'s {rest}", "live in", _untimed(found), functional=True)
    return _about(who, rest, match["value"].strip(), found)


def relative(match: Match, told: ClauseFact) -> Statement | None:
    """Read "the bank I use is Wise": my bank is Wise."""
    who, found, noun = subject(match, told.speaker), value(match["value"]), _attribute(match["attribute"])
    return _about(who, noun, match["value"].strip(), found) if who and found and noun else None


def driven(match: Match, told: ClauseFact) -> Statement | None:
    """Read "I drive a Volvo V60": one of my cars. "I drive to work" names none."""
    who, found = subject(match, told.speaker), value(match["value"])
    if not who or not found or not names_something(found):
        return None
    return Statement(who, "car", _untimed(found), functional=told.changed)


def _about(who: str, attribute: str, raw: str, found: str) -> Statement | None:
    if re.match(r"(?:now |actually |really )*an? [a-z]+\b", raw):
        return Statement(f"{who}'s {attribute}", "is a", found)
    one_valued = attribute.startswith("favo") or _is_listed(attribute, "attributes")
    if describes(found) or not (one_valued or _begins_with_name(found)) or _TELLS_MORE.match(raw):
        return None
    return Statement(who, attribute, found, functional=not _is_listed(attribute, "shared_attributes"))


def the(match: Match, _told: ClauseFact) -> Statement | None:
    """Read "the deadline is Friday", "the deadline for Apollo is Friday"."""
    attribute, found, owner = _attribute(match["attribute"]), value(match["value"]), match["owner"]
    if not attribute or not found or describes(found) or _TELLS_MORE.match(match["value"]):
        return None
    listed = _is_listed(attribute, "attributes")
    if not (listed or _begins_with_name(found)):
        return None
    of = value(owner) if owner else None
    return (
        Statement(of, attribute, found, functional=True)
        if of
        else Statement(attribute, "is", found, functional=True)
    )


def _begins_with_name(found: str) -> bool:
    """Whether a name stands at the head of a value: "new Pixel 7", not "hesitant to go with Jack"."""
    return names_something(" ".join(found.split()[:2])) or names_something(found.split(maxsplit=1)[0])


# "is a …" says what sort of thing it is, "is written in …" what was done with it.
_TELLS_MORE = re.compile(
    r"an? (?=[a-z]+\b)|(?:\w+(?:ed|en)|built|made|run|kept|sent) (?:in|on|to|by|with|at|for|from|as) "
)
_ADJECTIVE = re.compile(
    r"^(?:(?:new|current|own|old|actual|latest|main|real|default|primary) )+(?=\w)", re.IGNORECASE
)
_LONGEST_ATTRIBUTE: Final = 4


def _attribute(raw: str) -> str | None:
    """An attribute noun in lower case: "new editor" is the editor; a phrase with a verb in it is none."""
    lower = raw.strip().lower()
    text = lower if lower in {"default branch", "main branch"} else _ADJECTIVE.sub("", lower)
    text = text.removesuffix(" of choice")
    words = text.replace("'s", "").split()
    if "_".join(words) in lexicon.words("attributes"):
        return text
    if not words or len(words) > _LONGEST_ATTRIBUTE or not lexicon.words("stop_words").isdisjoint(words):
        return None
    return "favorite" + text[9:] if text.startswith("favourite") else text


def _is_listed(attribute: str, name: str) -> bool:
    listed = lexicon.words(name)
    return attribute.replace(" ", "_") in listed or attribute.rsplit(maxsplit=1)[-1] in listed


def used(match: Match, told: ClauseFact) -> Statement | None:
    """Read "I use Helix now"; "I use Helix as my editor" names the role itself."""
    who, found = subject(match, told.speaker), value(match["value"])
    role = _attribute(match["role"]) if match["role"] else None
    if not (who and found):
        return None
    return Statement(who, role, found, functional=True) if role else use(who, found, changed=told.changed)


def switched(match: Match, told: ClauseFact) -> Statement | None:
    """Read "we switched from MySQL to PostgreSQL" as what is used, "I moved to Berlin" as where one lives."""
    who, new = subject(match, told.speaker), value(match["value"])
    old = value(match["old"]) if match["old"] else None
    if not (who and new):
        return None
    new = _untimed(new)
    if match["verb"].lower().startswith("mov") and not (known(new) or (old and known(old))):
        return Statement(who, "live in", new, functional=True, replaces=old) if new[0].isupper() else None
    return use(who, new, changed=True, replaces=old)


def named(match: Match, told: ClauseFact) -> Statement | None:
    """Read "call me Sam"."""
    found = value(match["value"])
    return Statement(told.speaker, "name", found, functional=True) if found and found[0].isupper() else None


def kin(match: Match, told: ClauseFact) -> Statement | None:
    """Read "Anna is my sister": a fact about me."""
    who, attribute = subject(match, told.speaker), _attribute(match["attribute"])
    if not who or not attribute or who == told.speaker:
        return None
    owner = told.speaker if match["owner"].lower() in {"my", "our"} else match["owner"].removesuffix("'s")
    return Statement(owner, attribute, who, functional=not _is_listed(attribute, "shared_attributes"))


def pet(match: Match, told: ClauseFact) -> Statement | None:
    """Read "I have a dog named Rex": my dog is Rex."""
    who, found = subject(match, told.speaker), value(match["value"])
    return Statement(who, match["attribute"].lower(), found) if who and found and found[0].isupper() else None


def post(match: Match, told: ClauseFact) -> Statement | None:
    """Read "Anna is the CEO of Acme": the CEO of Acme is Anna."""
    who, firm, noun = subject(match, told.speaker), value(match["value"]), match["attribute"].lower()
    if not who or not firm or not names_something(firm):
        return None
    last = noun.rsplit(maxsplit=1)[-1]
    if last not in _posts("one") and last not in _posts("several"):
        return None
    return Statement(_untimed(firm), noun, who, functional=noun in _posts("one"))


def _posts(part: str) -> frozenset[str]:
    return frozenset(" ".join(lexicon.parts("posts")[part]).split())


def aged(match: Match, told: ClauseFact) -> Statement | None:
    """Read "I am 32 years old"."""
    who = subject(match, told.speaker)
    return Statement(who, "age", match["value"], functional=True) if who else None


_DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b(?!\d)")


def born(match: Match, told: ClauseFact) -> Statement | None:
    """Read "born on May 3", "born in 1990", "born in Rome": a day, a year or a place."""
    who, found = subject(match, told.speaker), value(match["value"])
    if not who or not found or not names_something(found):
        return None
    if re.fullmatch(r"\d{4}", found):
        return Statement(who, "birth year", found, functional=True)
    timed = lexicon.pattern("times").search(found.lower())
    if match["verb"].lower() == "on" or (timed and _DAY.search(found)):
        return Statement(who, "birthday", found, functional=True) if _DAY.search(found) else None
    return None if timed else Statement(who, "born in", _untimed(found), functional=True)


# ---------------------------------------------------------------- the shapes

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
    return tuple((rule.replace("@KIN@", nouns), build) for _, rule, build in _RULES), called
