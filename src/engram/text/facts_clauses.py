"""How a clause is read: one that fits a shape comes in, the triple it states comes out, or nothing.

A shape names its parts: `who`, `value`, and where it has them `attribute`, `owner`, `role`, `old`, `verb`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from engram.text import lexicon
from engram.text.kinds import known
from engram.text.marks import is_correction
from engram.text.statement import USER, Statement, describes, names_something, use, value

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
