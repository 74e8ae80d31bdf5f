"""Slots: a clause comes in; whose slot it fills with which value comes out, or which value it says is over.

The shapes are data with examples (`data/slot_shapes.txt`), English and Chinese: slots of a life (age, job,
diet, car), of an appointment (day, time, place), of a thing (price, owner, version, how much it has). People
leave out themselves ("sold the Golf") and write "im 27"; a clause is read as if they had not.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import cache
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.reading import read_once
from engram.text.statement import USER, Statement
from engram.text.words import HAN

OVER: Final = "over: "
ALSO_OVER: Final = {
    "car": ("own", "have", "bought"),
    "learn": ("play", "study"),
    "partner": ("girlfriend", "boyfriend", "wife", "husband", "married to", "engaged to"),
}
"""What else is over when one of these is."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot of somebody or something with its value; `over` when it holds that no longer."""

    subject: str
    predicate: str
    value: str
    one: bool
    """Whether the slot holds one value at a time."""
    over: bool = False

    def statement(self) -> Statement:
        """As other facts are told."""
        return Statement(self.subject, self.predicate, self.value, self.one)


@read_once
def filled(clause: str, speaker: str = USER) -> tuple[Filled, ...]:
    """The slots that a clause fills or empties, each once.

    >>> filled("sold the Golf") == (Filled("user", "car", "Golf", one=False, over=True),)
    True
    >>> [(one.subject, one.predicate, one.value) for one in filled("the build server has 32 GB")]
    [('build server', 'memory', '32 GB')]
    """
    said = spelt_out(clause.strip(" .!。！~"))
    if len(said) > _LONGEST:
        return ()
    words = f"I {said}" if _UNSAID.match(said) else said
    found: dict[str, Filled] = {}
    shapes, called = _shapes(plain=words.isascii())
    for shape in (shapes[at] for at in called.of(words.lower())):
        match = lexicon.compiled(shape.pattern).match(words) if shape.predicate not in found else None
        one = _read(match, shape, speaker) if match else None
        if one is not None:
            found[shape.predicate] = one
    # Last, because most clauses have no shape.
    return tuple(found.values()) if found and _CALLS.search(said) and not _UNREAL.search(said) else ()


_LONGEST: Final = 160
# Most clauses hold no number, no word of change and none of the verbs.
_CALLS = re.compile(
    r"\d|[一-鿿]|\b(?:i'm|is|are|am|'s|has|have|had|on|to|at|joined|left|quit|sold|turned|owns?|leads?|took|lives?"
    r"|living|share|teach\w*|run|runs|call|calls|here|allergic|suffers?|coeliac"
    r"|work\w*|learning|living|job|trade|gave|dropped|broke|split|weigh|married|vegan|gone|got|drives?|costs?)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|wish|hop(?:e|es|ing)|wants?|wanted|should|think|thinking|guess"
    r"|suppose|imagine|dream|pretend|almost|nearly|whether|used to|never)\b|\?$"
    r"|如果|要是|假如|可能|也许|希望|打算|想|以前|曾经|差点|[吗呢][?？]?$|[?？]$|什么|怎么|多少",
    re.IGNORECASE,
)
_KIN: Final = (
    "wife|husband|partner|girlfriend|boyfriend|mum|mom|dad|mother|father|sister|brother|son|daughter|lad|boss"
    "|nan|gran|cousin|uncle|aunt|niece|nephew|flatmate|car|dog|cat|name|boy|girl"
)
_SPELLINGS: Final = (
    (r"(?i)\b(?:im|i'm|i am)\b", "I'm", "im i"),
    (r"(?i)\b(?:ive|i've)\b", "I've", "ive i"),
    (r"\bi\b", "I", "i"),
    (r"\b([Ss]he|[Hh]e|[Tt]hat|[Tt]here|[Ww]ho)s\b(?=[ ,])", r"\1's", "shes hes thats theres whos"),
    (
        r"\b([Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Cc]a|[Ww]as|[Aa]re|[Hh]as|[Hh]ave|[Ww]ould)nt\b",
        r"\1n't",
        "dont doesnt didnt isnt cant wasnt arent hasnt havent wouldnt",
    ),
    (
        rf"\b([Mm]y|[Oo]ur) ({_KIN})s (?=(?:an?|the|in|at|on|from|called|named|\d+|allergic|vegan|\w+ing)\b)",
        r"\1 \2's ",
        _KIN.replace("|", "s ") + "s",
    ),
    (
        (
            r"(?i)^(?:so|and|but|well|ok|oh|btw|also|actually|update|fyi|plus|anyway|hi|hiya|hello|hey|yo)\b"
            r"[,:!]? +"
        ),
        "",
        "so and but well ok oh btw also actually update fyi plus anyway hi hiya hello hey yo",
    ),
)
"""What is written in haste, how it is spelt, and words of which one stands in every text that has it."""
_HASTY: Final = tuple(
    (pattern, spelling, frozenset(words.split())) for pattern, spelling, words in _SPELLINGS
)
_UNSAID = re.compile(
    r"(?:just |finally |recently )?(?:turned|joined|left|quit|resigned|sold|traded|scrapped|got|gave up"
    r"|dropped|broke up|split|started|learning|living|working|driving|teaching|weigh|down to|up to"
    r"|gone|now at)\b",
    re.IGNORECASE,
)


def spelt_out(clause: str) -> str:
    """A clause as one writes it who has time: "I'm", not "im".

    >>> spelt_out("btw im 27 and my wifes a vet, shes lovely")
    "I'm 27 and my wife's a vet, she's lovely"
    """
    words = lexicon.words_of(clause.lower())
    for pattern, spelling, of_which in _HASTY:
        if not of_which.isdisjoint(words):
            clause = lexicon.compiled(pattern).sub(spelling, clause)
    return clause


def _read(match: re.Match[str], shape: _Shape, speaker: str) -> Filled | None:
    parts = match.groupdict()
    value = _ARTICLE.sub("", (parts.get("value") or "").strip(" ,.'"))
    thing = parts.get("thing")
    if shape.predicate == "version":
        subject = _thing(parts["where"]) if parts.get("where") else speaker
        predicate = f"{(thing or '').lower()} version"
    else:
        subject = _thing(thing) if thing else _who(parts.get("who"), speaker)
        predicate = _counted(parts) if shape.predicate == "count" else shape.predicate
    if not (subject and value and predicate) or (predicate == "name" and not _may_be_named(value)):
        return None
    return Filled(subject, predicate, value, shape.one, shape.over)


def _may_be_named(word: str) -> bool:
    """Whether somebody may be called so: "I'm Dutch" and "I'm Catholic" name no one."""
    lower = word.lower()
    if lower in lexicon.words("first_names"):
        return True
    plain = lower in lexicon.words("stop_words") or lower in lexicon.words("openers") or lower in _STATES
    return not plain and not _PEOPLE.search(lower)


_PEOPLE = re.compile(r"(?:ish|ese|tian|sian|nian|dian|lian|rian|gian|bian|ican|ing|ed)$")
_STATES: Final = frozenset(
    "dutch welsh french greek swiss czech thai german korean catholic jewish hindu muslim sikh buddhist"  # noqa: SIM905
    " gay bi trans back done here ready sorry fine good ok okay home out off late tired busy sure happy sad"
    " free single vegan new old lost stuck broke sick ill cold hot hungry bored curious afraid glad".split()
)
_ARTICLE = re.compile(r"^(?:an?|the) (?!\d)", re.IGNORECASE)


def _counted(parts: dict[str, str | None]) -> str:
    """What a number counts: the noun said with it, or what its unit measures."""
    noun = (parts.get("noun") or "").lower()
    if noun:
        return _NOUNS.get(noun, noun)
    unit = re.sub(r"[\d.,\s]", "", parts["value"] or "").lower()
    return "memory" if unit in _OF_MEMORY else unit


_OF_MEMORY: Final = frozenset(
    {"gb", "g", "tb", "mb", "gig", "gigs", "gigabyte", "gigabytes", "terabytes", "t"}
)
_NOUNS: Final = {"ram": "memory", "内存": "memory", "磁盘": "disk", "硬盘": "disk", "节点": "nodes"}


def _who(who: str | None, speaker: str) -> str | None:
    """The speaker, where nobody is named; somebody of theirs; or a name."""
    lower = (who or "i").lower()
    if lower in {"i", "we", "我", "我们", "我家", "家里", "my", "our"}:
        return speaker
    if lower in _OWN_KIN:
        return f"{speaker}'s {lower}"
    if lower.startswith(("my ", "our ")):
        return f"{speaker}'s {lower.partition(' ')[2]}"
    if lower in {"he", "she"} or lower in lexicon.words("stop_words") or lower.split()[0] in _OPENERS:
        return None
    if lower[0] == "我":
        return f"{speaker}'s {lower[1:]}"
    return None if lower[0] in _POINTERS or lower in _NO_NAMES else who


def _thing(thing: str) -> str | None:
    """A thing by its nouns in lower case; none for a pronoun or a phrase with a verb in it."""
    words = thing.lower().removesuffix("'s").split()
    if not words or words[0] in _NO_THING or words[-1] in _NO_THING or words[0][0] in _POINTERS:
        return None
    if words[0] == "new" and len(words) > 1:
        words = words[1:]
    if any("'s" in word or word in lexicon.words("attributes") or _WEEKDAY.fullmatch(word) for word in words):
        return None  # "the deadline is Friday": the noun is the slot itself
    return None if any(thing.endswith(noun) for noun in _slot_nouns()) else " ".join(words)


_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?")


@cache
def _slot_nouns() -> tuple[str, ...]:
    return tuple(row.partition(" = ")[0] for row in lexicon.lines("attributes_zh"))


_OPENERS: Final = frozenset(
    {"there", "here", "it", "that", "this", "what", "which", "who", "where", "when", "why", "how", "then"}
)
_NO_THING: Final = _OPENERS | frozenset(
    "i you we they he she i'm i've i'll it's that's there's my our your his her their me us them is are was"  # noqa: SIM905 - a sentence
    " were be not no only and or but to of for with on in at the a an today tomorrow yesterday if so".split()
)
_OWN_KIN: Final = frozenset({"mum", "mom", "dad", "nan", "gran", "grandma", "grandad", "grandpa"})
_POINTERS: Final = frozenset("这那你他她它您其该此某不没")
_NO_NAMES: Final = frozenset({"大家", "有人", "别人", "今天", "明天", "昨天", "现在", "目前", "已经"})


# ---------------------------------------------------------------- kinds of values
# Kinds of values: words come in; whether a day, a time, money, a measure or a count stands in them comes out.
# "Make it Friday" goes with what had a day.


@read_once
def value_kinds(text: str) -> frozenset[str]:
    """The kinds of values in a text.

    >>> (
    ...     sorted(value_kinds("Dinner is on Thursday at 7pm")),
    ...     sorted(value_kinds("是16号")),
    ...     value_kinds("make it red"),
    ... )
    (['day', 'time'], ['day'], frozenset())
    """
    lower = text.lower()
    return frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(lower))


_KINDS: Final = {
    "day": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|\d{1,2}(?:st|nd|rd|th)"
        r"|(?:\d{1,2} )?(?:jan|feb|march|april|may \d|june|july|aug|sept|oct|nov|dec)\w*)\b"
        r"|(?:周|星期|礼拜)[一二三四五六日天末]|\d+[号日]|\d+月"
    ),
    "time": re.compile(
        r"\b(?:\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|half (?:past|one|two|three|four|five|six|seven|eight|nine|ten)"
        r"|quarter (?:to|past)|noon|midnight|o'clock)\b|[\d一二三四五六七八九十两]点"
    ),
    "money": re.compile(
        r"[£$€¥]\s?\d|\b\d[\d.,]* ?(?:k|quid|euros?|pounds|dollars|bucks|grand)\b|\d(?:块|元|万)"
    ),
    "measure": re.compile(
        r"\b\d[\d.]* ?(?:kg|kilos?|lbs|mg|ml|gb|gigs?|tb|km|miles|cm|metres|meters|minutes|mins|hours)\b"
        r"|\d(?:斤|公斤|克|岁|度|层|楼|杯|分钟|小时)"
    ),
    "count": re.compile(
        r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty)\b"
        r"|\d+个|[一二三四五六七八九十两]个"
    ),
}


def kinds_asked(question: str) -> frozenset[str]:
    """The kinds of values of which one answers a question; none where it does not say.

    >>> sorted(kinds_asked("When does the lease end?")), sorted(kinds_asked("房租多少钱"))
    (['day', 'time'], ['count', 'money'])
    >>> kinds_asked("Why did she leave?")
    frozenset()
    """
    lower = question.lower()
    return next((kinds for pattern, kinds in _ASKED if pattern.search(lower)), frozenset())


_ASKED: Final = (
    (re.compile(r"\b(?:wh?at|which) (?:time|hour)\b|几点"), frozenset({"time"})),
    (
        re.compile(
            r"\bwhen\b(?! (?:i|you|we|they|he|she|it) )"
            r"|\b(?:wh?at|which|wat) (?:day|date|week|month)s?\b|\bhow soon\b"
            r"|什么时候|何时|哪[天日]|几[号月]|星期几|周几|哪个?月"
        ),
        frozenset({"day", "time"}),
    ),
    (
        re.compile(
            r"\bhow (?:much|expensive)\b|\b(?:cost|costs|price|rent|fee|salary|budget)\b"
            r"|多少钱|什么价|[价租工]\w?(?:多少|是多少)"
        ),
        frozenset({"money", "count"}),
    ),
    (
        re.compile(
            r"\bhow (?:many|long|old|far|big|tall|often|fast|heavy)\b"
            r"|多少|多久|多大|多高|多长|多重|几[个次岁年人]"
        ),
        frozenset({"count", "measure", "money", "time"}),
    ),
)


# ---------------------------------------------------------------- one word for another
# "It's Hanna, not Anna": the right word and the wrong one come out, or only the right one.


@read_once
def put_right(text: str) -> tuple[str, str] | None:
    """The word that is right and the one that it takes the place of, or "" where that is unsaid.

    >>> put_right("sorry, it's Hanna, not Anna"), put_right("*Annalise"), put_right("是陈晓不是陈小")
    (('hanna', 'anna'), ('annalise', ''), ('陈晓', '陈小'))
    >>> put_right("her name is spelled Kateryna"), put_right("it's cold, not warm enough to swim")
    (('kateryna', ''), None)
    """
    lower = _SORRY.sub("", text.strip(" .!。！~").replace("’", "'").lower())
    match = next((found for pattern in _PUT_RIGHT if (found := pattern.search(lower))), None)
    if match is None:
        return None
    right, wrong = match["right"].strip(), (match.groupdict().get("wrong") or "").strip()
    return (right, wrong) if right != wrong else None


_SORRY = re.compile(
    r"^(?:(?:sorry|oops|no|nope|wait|actually|correction|typo|oh|and|btw|my bad)\b[\s,:.!—-]*"
    r"|(?:不对|更正|抱歉|写错了|打错了)[\s,，:：]*)+"
)
_TERM: Final = r"[^\s,，;]+(?: [^\s,，;]+)?"
_PUT_RIGHT: Final = (
    re.compile(
        rf"^(?:it's|its|that's|thats|is|i meant?|make that|she's|he's)? ?"
        rf"(?P<right>{_TERM}),? not (?P<wrong>{_TERM})$"
    ),
    re.compile(
        rf"^(?:it's |its |that's )?not (?P<wrong>{_TERM}), ?(?:but |it's |its |that's )?(?P<right>{_TERM})$"
    ),
    re.compile(r"^\*(?P<right>[\w'-]+)(?:$|[ ,].{0,40}$)"),
    re.compile(
        r"\b(?:spell(?:ed|s|t)?|written|spelling is)(?: as| it| like)* (?!with\b|out\b)"
        r"(?P<right>[a-z][\w'-]+)(?:,? not (?P<wrong>[\w'-]+))?$"
    ),
    re.compile(r"(?:^|[,，])是?(?P<right>[^是不,，。]{1,8})[,，]?不是(?P<wrong>[^是,，。]{1,8})$"),
    re.compile(r"(?:^|[,，])不是(?P<wrong>[^是,，。]{1,8})[,，]?(?:而)?是(?P<right>[^是,，。]{1,8})$"),
)


def has_wrong_word(put: tuple[str, str], text: str) -> bool:
    """Whether a text has the word that is wrong, or, where that is unsaid, one spelled nearly so.

    >>> (
    ...     has_wrong_word(("hanna", "anna"), "My niece is Anna"),
    ...     has_wrong_word(("annalise", ""), "Ask Anneliese"),
    ... )
    (True, True)
    """
    right, wrong = put
    lower = text.lower()
    if wrong:
        return re.search(rf"(?<![a-z0-9]){re.escape(wrong)}(?![a-z0-9])", lower) is not None
    near = (word for word in re.findall(r"[^\W\d_]{3,}", lower) if word != right and word[0] == right[0])
    return any(SequenceMatcher(None, word, right).ratio() >= _NEARLY for word in near)


_NEARLY: Final = 0.7


@dataclass(frozen=True, slots=True)
class _Shape:
    predicate: str
    one: bool
    over: bool
    pattern: str


@cache
def _shapes(*, plain: bool) -> tuple[tuple[_Shape, ...], lexicon.Calls]:
    """The shapes for a clause in plain letters, or for one that has others as well; what calls for each."""
    found: list[_Shape] = []
    for heading, rows in lexicon.parts("slot_shapes").items():
        predicate, _, count = heading.rpartition(" ")
        found += [
            _Shape(predicate, count == "one", row.startswith(OVER), _pattern(row.removeprefix(OVER)))
            for row in rows
            if not (plain and _HAN_CHAR.search(row))
        ]
    needed = (lexicon.needed(shape.pattern) for shape in found)
    return tuple(found), lexicon.Calls([tuple(piece.lower() for piece in pieces) for pieces in needed])


_HAN_CHAR = re.compile(f"[{HAN}]")


# A name has a capital even where case does not matter.
def _pattern(row: str) -> str:
    return f"(?i){row.replace('[A-Z]', '(?-i:[A-Z])')}"
