"""Signals: a message comes in, what in it says that it is worth keeping comes out.

A high signal calls for extraction now, a medium one can wait for the next batch, a low one is a statement
like any other. Questions and small talk give none. A secret value is masked before anything else looks, so
no signal ever shows it. The patterns, with examples, stand in `data/signals_english.txt` and
`data/signals_chinese.txt`, what gives a secret away in `data/credentials.txt`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import cache, lru_cache
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.dates import dates
from engram.text.junk import is_filler
from engram.text.questions import is_question, stated
from engram.text.sentences import sentences
from engram.text.words import HAN, content_words, is_wide, terms


class Level(IntEnum):
    """How much a message asks to be kept."""

    NONE = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason to keep a message: level, category, the name of the pattern, the words that matched.

    The category is a memory's, or `change`: what is otherwise than it was is filed by what it is about.
    """

    level: Level
    category: str
    name: str
    text: str


CHANGE: Final = "change"
"""The category of a signal that something is otherwise than it was."""
MASK: Final = "***"


def signals(text: str) -> list[Signal]:
    """Every signal of a message, strongest first.

    >>> [(s.level.name, s.category, s.text) for s in signals("Anna hates tea. I no longer live in Rome")]
    [('HIGH', 'change', 'no longer'), ('MEDIUM', 'preference', 'Anna hates tea')]
    >>> signals("my password is hunter22")[0].text
    'password is ***'
    """
    plain, secrets = masked(text)
    found = [Signal(Level.HIGH, "fact", "credential", secret) for secret in secrets]
    for level in (Level.HIGH, Level.MEDIUM):
        found += _found(plain, level)
    return found or list(_found(plain, Level.LOW))


def level_of(text: str) -> Level:
    """The level of the strongest signal.

    >>> level_of("Remember that I'm vegan"), level_of("I like tea"), level_of("It rained"), level_of("Hi!")
    (<Level.HIGH: 3>, <Level.MEDIUM: 2>, <Level.LOW: 1>, <Level.NONE: 0>)
    """
    plain, secrets = masked(text)
    if secrets:
        return Level.HIGH
    levels = (Level.HIGH, Level.MEDIUM, Level.LOW)
    return next((level for level in levels if any(True for _ in _found(plain, level))), Level.NONE)


def masked(text: str) -> tuple[str, list[str]]:
    """The text with every secret value masked, and the words that gave each away.

    >>> masked("The PIN is 4711, I like tea")
    ('The PIN is ***, I like tea', ['PIN is ***'])
    """
    plain = text.replace("’", "'")
    lower = plain.lower()
    if not any(hint in lower for hint in _HINTS) and not _TOKEN.search(plain):
        return plain, []
    found: list[str] = []
    for heading in ("tokens", "named"):
        for form in _forms(heading):
            plain = form.sub(lambda match: _mask(match, found), plain)
    return plain, found


# Nearly every text is harmless: without one of these no secret can be found.
_HINTS: Final = (
    "pass", "pwd", "pin", "key", "secret", "token", "code", "cvv", "combination", "://", "bearer", "-----",
    "akia", "asia", "aiza", "eyj", "ya29", "码", "口令", "密钥", "令牌",
)  # fmt: skip
_TOKEN = re.compile(r"[-_][A-Za-z0-9_-]{10}")


@cache
def _forms(heading: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(row) for row in lexicon.parts("credentials")[heading])


def _mask(match: re.Match[str], found: list[str]) -> str:
    if match["value"] == MASK:
        return match.group()
    start, end = match.start("value") - match.start(), match.end("value") - match.start()
    shown = match.group()[:start] + MASK + match.group()[end:]
    found.append(shown)
    return shown


@dataclass(frozen=True, slots=True)
class _Rule:
    category: str
    name: str
    form: re.Pattern[str]


FILES: Final = ("signals_english", "signals_chinese")
_HAN_CHAR = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[A-Za-z]{2}")


def _found(text: str, level: Level) -> Iterator[Signal]:
    """The signals of one level, file by file and statement by statement."""
    for name in _files(text):
        rules, calls = _rules(name, level)
        for statement in _statements(text):
            for at in calls.of(statement.lower()):
                rule = rules[at]
                for match in rule.form.finditer(statement):
                    yield Signal(level, rule.category, rule.name, match.group().strip())


def _files(text: str) -> list[str]:
    """The pattern files for the scripts of a text."""
    if text.isascii():
        return ["signals_english"]
    return [name for name, script in zip(FILES, (_LETTER, _HAN_CHAR), strict=True) if script.search(text)]


@lru_cache(maxsize=1 << 4)
def _statements(text: str) -> tuple[str, ...]:
    """The parts of a text that state something; kept for a moment, because every level reads them."""
    told = (stated(sentence) for sentence in sentences(text))
    return tuple(part[:_LONGEST] for part in told if part and not is_filler(part))


_LONGEST: Final = 600  # what comes after this in one sentence is no prose


@cache
def _rules(name: str, level: Level) -> tuple[tuple[_Rule, ...], lexicon.Calls]:
    """The rules of one file and level, and what calls for each; a heading says level, category and name."""
    found = []
    calls = []
    for heading in lexicon.headings(name):
        strength, _, rest = heading.partition(" ")
        category, _, title = rest.partition(" ")
        if strength.upper() == level.name:
            for row in lexicon.parts(name)[heading]:
                found.append(_Rule(category, title, re.compile(row, re.IGNORECASE)))
                calls.append(tuple(piece.lower() for piece in lexicon.needed(row)))
    return tuple(found), lexicon.Calls(calls)


# ---------------------------------------------------------------- promises
# Promises in words: a sentence comes in; what it promises, says was done, or waits for goes out.
#
# Careful rather than clever: what is not plainly one action with one object is no promise and keeps none.


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
    if plain is None and undertaking(text, now) is Undertaking.REMINDER:
        plain = _plain(text.rstrip("?？ "))
    if plain is None:
        return None
    lead = lexicon.pattern(FILE, "leads").match(plain)
    return _deed(lead["who"] if lead else "", plain[lead.end() if lead else 0 :], now)


def done(text: str, now: datetime, among: Container[str] | None = None) -> Deed | None:
    """What a text says was done; None when it does not say so plainly.

    With `among` only deeds with one of these verbs: the others are not read to their end.

    >>> done("I've just sent the report", datetime(2026, 3, 2))
    Deed(who='i', verb='send', what=frozenset({'report'}))
    >>> done("The report is done", datetime(2026, 3, 2))
    Deed(who='', verb='do', what=frozenset({'report'}))
    >>> done("I never sent the report", datetime(2026, 3, 2)) is None
    True
    """
    plain = _flat(text)
    wide = is_wide(plain)
    told = _SO_IT_IS.search(plain) if wide else _says_done(plain, among)
    # Only what reads like it is looked at more closely: most of what people say does not.
    if told is None or _plain(text) is None or lexicon.found(FILE, plain, under="doubt"):
        return None
    if not isinstance(told, tuple):
        return _deed("", plain.rstrip("。！了"), now)
    who, words = told
    return _deed(who, words, now, nobody=not who)


def _says_done(plain: str, among: Container[str] | None) -> tuple[str, str] | None:
    """Who did it, empty where nobody is named, and what was done."""
    for shape in ("did", "is done", "did it"):
        said = lexicon.pattern(FILE, shape).match(plain)
        verb = _base(said["verb"]) if said else ""
        if not said or not verb:
            continue
        if among is not None and verb not in FINISHES and not any(term in among for term in terms(verb)):
            return None
        who = (said["who"] or "i") if shape == "did" else "" if shape == "is done" else "i"
        return who, f"{verb} {said['what']}"
    return None


FINISHES: Final = frozenset({"do", "finish", "complete", "sort", "handle", "settle"})
"""What says of anything that it is done."""
PAYS: Final = frozenset({"pay", "repay", "return", "transfer", "reimburse", "settle", "give", "send"})
"""How a debt ends."""
OWES: Final = frozenset({"owe"})
MOST_OF: Final = 0.6
"""Share of a promise's characters that a statement must have where words have no borders."""
_SO_IT_IS = re.compile("了[。！!]?$|已经|完成|搞定")


def fulfils(did: Deed, owed: Deed) -> bool:
    """Whether what was done is what was owed, or all of it that was named.

    >>> now = datetime(2026, 3, 2)
    >>> fulfils(done("Watered the plants", now), promised("Remind me to water the plants", now))
    True
    """
    if did.who not in {"", owed.who}:
        return False
    if not owed.verb or not did.verb:  # words without borders: what is shared must do
        return owed.verb == did.verb and len(did.what & owed.what) >= MOST_OF * len(owed.what)
    ends_it = did.verb in ended_by(owed) or did.verb in _terms_of(FINISHES)
    return ends_it and (did.what <= owed.what or owed.what <= did.what)


def ended_by(owed: Deed) -> frozenset[str]:
    """The verbs that say of a deed, and of few others, that it was done."""
    return _terms_of(PAYS) if owed.verb in _terms_of(OWES) else frozenset({owed.verb})


@cache
def _terms_of(verbs: frozenset[str]) -> frozenset[str]:
    return frozenset(term for verb in verbs for term in terms(verb))


def keeps(statement: str, promise: str, now: datetime) -> bool:
    """Whether a statement says that just what was promised has been done.

    >>> keeps("I sent the report", "I'll send the report by Friday", datetime(2026, 3, 2))
    True
    >>> keeps("I sent the report to Bob", "I'll send the report to Anna", datetime(2026, 3, 2))
    False
    """
    did, owed = done(statement, now), promised(promise, now)
    return did is not None and owed is not None and fulfils(did, owed)


class Undertaking(StrEnum):
    """In which way a sentence opens a loop."""

    NONE = ""
    REMINDER = "reminder"
    """Somebody wants to be reminded; often said as a question or an order."""
    PROMISE = "promise"


def is_promise(text: str, now: datetime) -> bool:
    """Whether a text plainly owes something: by its words, or by announcing it for a day to come.

    >>> now = datetime(2026, 3, 2)
    >>> is_promise("I'll send the report by Friday", now), is_promise("I'll have the soup", now)
    (True, False)
    >>> is_promise("She needs to renew her passport", now), is_promise("I ran a race on Saturday", now)
    (True, False)
    """
    told = sentences(text[:LONGEST])
    return any(undertaking(sentence, now) for sentence in told) or bool(waiting_on(text))


def undertaking(sentence: str, now: datetime, *, assistant: bool = False) -> Undertaking:
    """What a sentence undertakes; of an assistant's words only what it will do later.

    >>> now = datetime(2026, 3, 2)
    >>> undertaking("Can you remind me to call Anna?", now), undertaking("Do I need to call Anna?", now)
    (<Undertaking.REMINDER: 'reminder'>, <Undertaking.NONE: ''>)
    """
    lower = sentence.lower().replace("’", "'")
    idle = lexicon.found(FILE, lower, under="idle")
    if assistant:
        later = lexicon.found(FILE, lower, under="later") or names_a_day_to_come(sentence, now)
        does = lexicon.found(FILE, lower, under="deeds") or "我" in lower
        return Undertaking.PROMISE if later and does and not idle else Undertaking.NONE
    if lexicon.found(FILE, lower, under="reminders") and not (idle and is_question(sentence)):
        return Undertaking.REMINDER
    if idle or is_question(sentence):
        return Undertaking.NONE
    return Undertaking.PROMISE if _owes(sentence, lower, now) else Undertaking.NONE


def _owes(sentence: str, lower: str, now: datetime) -> bool:
    if lexicon.found(FILE, lower, under="owed") or lexicon.found(FILE, lower, under="deeds"):
        return True
    return lexicon.found(FILE, lower, under="announced") and names_a_day_to_come(sentence, now)


def names_a_day_to_come(sentence: str, now: datetime) -> bool:
    """Whether a day to come is named.

    >>> names_a_day_to_come("by Friday", datetime(2026, 3, 2))
    True
    """
    ends = (when.last or when.first for when in dates(sentence, now, prefer="future") if not when.recurring)
    return any(end is not None and end > now for end in ends)


def waiting_on(text: str) -> str:
    """Whom or what a text waits for; empty when it does not wait.

    >>> waiting_on("Waiting for Anna to sign the contract"), waiting_on("I'll call Anna")
    ('Anna', '')
    """
    for row in lexicon.parts(FILE)["waiting"]:
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
    return _flat(text)


def _flat(text: str) -> str:
    return " ".join(text.lower().replace("’", "'").split()).rstrip(".!")


def _deed(who: str | None, words: str, now: datetime, *, nobody: bool = False) -> Deed | None:
    """The first word is the action; the rest, without times, is what it is done to."""
    for when in reversed(dates(words, now)):
        words = words[: when.start] + words[when.end :]
    if is_wide(words):
        told = frozenset(
            char for char in words if _HAN_CHARACTER.match(char) and char not in SMALL_CHARACTERS
        )
        return Deed("i", "", told) if told else None
    verb, _, rest = words.strip().partition(" ")
    action = terms(verb)
    what = content_words(rest) - content_words(SMALL_WORDS) if rest.strip() else frozenset()
    actor = "" if nobody else "i" if who in {None, "", "we"} else str(who)
    return Deed(actor, action[0], frozenset(what)) if len(action) == 1 and what else None


_HAN_CHARACTER = re.compile(f"[{HAN}]")
SMALL_CHARACTERS: Final = frozenset(
    "我你您他她它们的了着过把给在是就也都还已经要会得去来先再和跟与之前后以这那个一下吧呢啊完好"
)
SMALL_WORDS: Final = "by before until on at up off back out in this that those these morning with"


def _base(verb: str) -> str:
    """The verb of a past form; empty when it is none."""
    if verb in _irregular():
        return _irregular()[verb]
    return verb if verb.endswith("ed") else ""


def has_subject(sentence: str) -> bool:
    """Whether somebody or something does what a sentence tells: it does not begin with what was done.

    >>> has_subject("Booked the train"), has_subject("I booked the train"), has_subject("Went home")
    (False, True, False)
    """
    first = sentence.split(" ", 1)[0].strip("\"'*([").lower()
    return is_wide(sentence) or not _base(first)


@cache
def _irregular() -> dict[str, str]:
    rows = (row.split() for row in lexicon.lines("irregular_verbs"))
    return {past: base for base, *forms in rows for past in forms}
