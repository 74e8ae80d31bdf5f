"""Slots: a clause comes in; whose slot it fills with which value comes out, or which value it says is over.

The shapes are data with examples, English and Chinese. `data/slot_shapes.txt`: slots of a life (age, job,
diet, car), of an appointment (day, time, place), of a thing (price, owner, version, how much it has). People
leave out themselves ("sold the Golf") and write "im 27"; a clause is read as if they had not.
`data/clause_shapes.txt`: what a plain clause states beside them ("Anna is my sister", "Apollo uses Redis").
"""

from __future__ import annotations

from functools import cache
from typing import Final

from engram.lazily import dataclass, difflib, replace
from engram.text import lexicon, re
from engram.text.kinds import known
from engram.text.marks import is_correction, is_negated
from engram.text.names import names
from engram.text.reading import read_once
from engram.text.sentences import tells
from engram.text.statement import USER, Statement, describes, is_listed, names_something, use, value
from engram.text.words import HAN

OVER: Final = "over: "
ALSO_OVER: Final = {
    "car": ("own", "have", "bought"),
    "learn": ("play", "study"),
    "partner": ("girlfriend", "boyfriend", "wife", "husband", "married to", "engaged to"),
}
"""What else is over when one of these is."""
_Parts = dict[str, str | None]


@read_once
def filled(clause: str, speaker: str = USER) -> tuple[Statement, ...]:
    """The slots that a clause fills or empties, each once.

    >>> filled("sold the Golf") == (Statement("user", "car", "Golf", over=True),)
    True
    >>> [(one.subject, one.predicate, one.object) for one in filled("the build server has 32 GB")]
    [('build server', 'memory', '32 GB')]
    """
    said = spelt_out(clause.strip(" .!。！~"))
    if len(said) > _LONGEST:
        return ()
    words = f"I {said}" if _UNSAID.match(said) else said
    found: dict[str, Statement] = {}
    shapes, called = _shapes("slot_shapes", plain=words.isascii())
    for shape in (shapes[at] for at in called.of(words.lower())):
        match = lexicon.compiled(shape.pattern).match(words) if shape.predicate not in found else None
        one = _read(match, shape, speaker) if match else None
        if one is not None:
            found[shape.predicate] = one
    # Last, because most clauses have no shape.
    return tuple(found.values()) if found and _CALLS.search(said) and not _UNREAL.search(said) else ()


def plain_fact(clause: str, sentence: str, speaker: str) -> Statement | None:
    """What a clause of a sentence states outright, by the first shape that fits.

    >>> fact = plain_fact("Anna is my sister", "Anna is my sister", "user")
    >>> (fact.subject, fact.predicate, fact.object, fact.functional)
    ('user', 'sister', 'Anna', False)
    """
    shapes, called = _shapes("clause_shapes", plain=clause.isascii())
    for shape in (shapes[at] for at in called.of(clause.lower())):
        match = lexicon.compiled(shape.pattern).match(clause)
        fact = _stated(match.groupdict(), shape, sentence, speaker) if match else None
        if fact is not None:
            return fact if _asserts(clause) else None
    return None


def says_again(fact: Statement, slot: Statement) -> bool:
    """Whether a slot says already, and better, what a fact says."""
    return fact.predicate in {slot.predicate, *_TOLD_BETTER.get(slot.predicate, ())}


_TOLD_BETTER: Final = {
    "job": ("is a",),
    "diet": ("is a",),
    "owner": ("own", "manage"),
    "day": ("is",),
    "time": ("is",),
}
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
_ANY_HASTY: Final = frozenset().union(*(words for *_, words in _HASTY))
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
    hasty = _ANY_HASTY & lexicon.words_of(clause.lower())
    if not hasty:
        return clause
    for pattern, spelling, of_which in _HASTY:
        if not of_which.isdisjoint(hasty):
            clause = lexicon.compiled(pattern).sub(spelling, clause)
    return clause


def _read(match: re.Match[str], shape: _Shape, speaker: str) -> Statement | None:
    parts = match.groupdict()
    found = _ARTICLE.sub("", (parts.get("value") or "").strip(" ,.'"))
    thing = parts.get("thing")
    if shape.predicate == "version":
        subject = _thing(parts["where"]) if parts.get("where") else speaker
        predicate = f"{(thing or '').lower()} version"
    else:
        subject = _thing(thing) if thing else _who(parts.get("who") or "I", speaker)
        predicate = _counted(parts) if shape.predicate == "count" else shape.predicate
    if not (subject and found and predicate) or (predicate == "name" and not _may_be_named(found)):
        return None
    return Statement(subject, predicate, found, shape.count == "one", over=shape.over)


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


def _counted(parts: _Parts) -> str:
    """What a number counts: the noun said with it, or what its unit measures."""
    noun = (parts.get("noun") or "").lower()
    if noun:
        return _NOUNS.get(noun, noun)
    unit = re.sub(r"[\d.,\s]", "", parts["value"] or "").lower()
    return "memory" if unit in _OF_MEMORY else unit


_OF_MEMORY: Final = frozenset(
    {"gb", "g", "tb", "mb", "gig", "gigs", "gigabyte", "gigabytes", "terabytes", "t"}
)
_NOUNS: Final = {
    "ram": "memory", "内存": "memory", "磁盘": "disk", "硬盘": "disk", "节点": "nodes",
    "狗": "dog", "小狗": "dog", "猫": "cat", "小猫": "cat", "鹦鹉": "parrot",
    "仓鼠": "hamster", "兔子": "rabbit",
    "首席执行官": "ceo", "首席技术官": "cto", "总裁": "president", "创始人": "founder", "董事长": "chair",
    "负责人": "owner",
}  # fmt: skip


def _who(who: str, speaker: str) -> str | None:
    """The speaker, somebody of theirs, or a name; nothing for a word that only begins a sentence."""
    lower = who.lower()
    if lower in _SPEAKER:
        return speaker
    if lower.removesuffix("'s") in {USER, "用户"}:
        return USER  # how statements name a speaker without a name
    if lower in _OWN_KIN or lower.startswith(("my ", "our ")):
        return f"{speaker}'s {lower.removeprefix('my ').removeprefix('our ')}"
    if lower[0] == "我":
        return f"{speaker}'s {lower[1:].removeprefix('的')}"
    return who.removesuffix("'s") if _may_name(lower) else None


def _may_name(lower: str) -> bool:
    first = lower.split(maxsplit=1)[0]
    plain = first in lexicon.words("stop_words") or first in lexicon.words("openers")
    return not plain and not first.endswith("ing") and lower[0] not in _POINTERS and lower not in _NO_NAMES


_SPEAKER: Final = frozenset({"i", "we", "me", "my", "our", "我", "我们", "我家", "家里", "俺", "咱们"})


def _thing(thing: str) -> str | None:
    """A thing by its nouns in lower case; none for a pronoun or a phrase with a verb in it."""
    words = thing.lower().removesuffix("'s").split()
    if not words or words[0] in _NO_THING or words[-1] in _NO_THING or words[0][0] in _POINTERS:
        return None
    if words[0] == "new" and len(words) > 1:
        words = words[1:]
    if any("'s" in word or word in lexicon.words("attributes") or _WEEKDAY.fullmatch(word) for word in words):
        return None  # "the deadline is Friday": the noun is the slot itself
    return None if any(thing.endswith(noun) for noun in _han_attributes()) else " ".join(words)


_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?")


_NO_THING: Final = frozenset(
    "there here it that this what which who where when why how then i you we they he she i'm i've i'll it's"  # noqa: SIM905 - a sentence
    " that's there's my our your his her their me us them is are was were be not no only and or but to of for"
    " with on in at the a an today tomorrow yesterday if so".split()
)
_OWN_KIN: Final = frozenset({"mum", "mom", "dad", "nan", "gran", "grandma", "grandad", "grandpa"})
_POINTERS: Final = frozenset("这那你他她它您其该此某不没")
_NO_NAMES: Final = frozenset(
    "大家 有人 别人 今天 明天 昨天 现在 目前 已经 自己 人们 老师 同学 朋友".split()  # noqa: SIM905 - a list
)


# ---------------------------------------------------------------- plain clauses


def _asserts(clause: str) -> bool:
    """Whether a clause states something that is so; a system's name in small letters may begin it."""
    if _HAN_CHAR.search(clause):
        return not _HAN_UNREAL.search(clause) and not is_negated(clause)
    if clause[:1].islower() and _IDENTIFIER.match(clause):
        clause = clause.capitalize()
    return tells(clause.replace(" was born ", " is born "))


_IDENTIFIER = re.compile(r"[a-z]+(?:[-_.][a-z0-9]+)+ |[a-z]+\d+ ")
_HAN_UNREAL = re.compile(
    r"如果|要是|假如|可能|也许|大概|想要|希望|打算|以前|曾经|过去|[吗嘛呢][?？]?$|[?？]$|什么|哪|谁|怎么"
    r"|多少|几[个点号岁]"
)


def _stated(parts: _Parts, shape: _Shape, sentence: str, speaker: str) -> Statement | None:
    """The fact that the parts of a clause make."""
    who, system = parts.get("who"), parts.get("system")
    whose = who or parts.get("owner")
    subject = _system(system) if system else _who(whose, speaker) if whose else None
    if who and who[0] in lexicon.words("stop_chars") and subject not in {speaker, USER}:
        return None
    one = shape.count == "one" or (shape.count == "changes" and is_correction(sentence))
    if shape.predicate == "post":
        return _post(parts, subject, one=one)
    found = _value(parts, speaker)
    if found is None or not (subject or shape.predicate == "noun"):
        return None
    if shape.predicate == "noun":
        return _attributed(parts, subject, found)
    return _of_shape(parts, shape.predicate, Statement(subject or "", shape.predicate, found, one))


def _of_shape(parts: _Parts, predicate: str, fact: Statement) -> Statement | None:
    """The fact as it is, unless its shape says only in part what it is about."""
    noun = (parts.get("noun") or "").lower()
    old = value(parts.get("old") or "")
    match predicate:
        case "use":
            return use(fact.subject, _untimed(fact.object), changed=fact.functional, replaces=old)
        case "role":
            role = _attribute(noun)
            return replace(fact, predicate=role) if role else None
        case "pet":
            return replace(fact, predicate=_NOUNS.get(noun, noun))
        case "born":
            return _born(fact.subject, fact.object)
    return replace(fact, replaces=old) if old else fact


def _value(parts: _Parts, speaker: str) -> str | None:
    """The value of a clause, told by its group; nothing where it is not of that sort."""
    if whom := parts.get("whom"):
        return _who(whom, speaker)
    raw = parts.get("phrase") or parts.get("name") or parts.get("tool") or ""
    if not raw.isascii() and _HAN_CHAR.search(raw):
        raw = _PARTICLES.sub("", raw)
        if raw.endswith("的") or len(raw) > _LONGEST_HAN:
            return None
    found = value(raw)
    if found is None or parts.get("phrase"):
        return found
    if parts.get("tool"):
        old = value(parts.get("old") or "")
        return found if known(found) or (old and known(old)) else None
    if lexicon.pattern("times").match(found.lower()) or not names_something(found):
        return None
    return _untimed(found) if not parts.get("system") or _begins_with_name(found) else None


_PARTICLES = re.compile(r"[了啦哦啊呀哈]+$")
_LONGEST_HAN: Final = 20
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


def _begins_with_name(found: str) -> bool:
    """Whether a name stands at the head of a value: "new Pixel 7", not "hesitant to go with Jack"."""
    return names_something(" ".join(found.split()[:2]))


def _system(who: str) -> str | None:
    """A thing by its noun: not a pronoun, not something vague."""
    words = who.lower().split()
    plain = lexicon.words("stop_words")
    if words[0] in plain or words[0] in lexicon.words("openers") or words[-1] in _VAGUE or words[-1] in plain:
        return None
    return None if words[0].endswith("ing") else who


_VAGUE: Final = frozenset(
    {"thing", "things", "one", "ones", "everyone", "everybody", "nobody", "people", "life"}
)


def _post(parts: _Parts, holder: str | None, *, one: bool) -> Statement | None:
    """Read "Anna is the CEO of Acme": the CEO of Acme is Anna."""
    firm, noun = value(parts["firm"] or ""), (parts["noun"] or "").lower()
    if not holder or not firm or not (names_something(firm) or _HAN_CHAR.search(firm)):
        return None
    return Statement(_untimed(firm), _NOUNS.get(noun, noun), holder, one)


def _born(subject: str, found: str) -> Statement | None:
    """Read "born on May 3", "born in 1990", "born in Rome": a day, a year or a place."""
    if year := re.fullmatch(r"(\d{4})年?", found):
        return Statement(subject, "birth year", year[1], functional=True)
    timed = lexicon.pattern("times").search(found.lower()) or re.search(r"[\d年月]", found)
    if timed:
        return Statement(subject, "birthday", found, functional=True) if _DAY.search(found) else None
    named = names_something(found) or _HAN_CHAR.search(found)
    return Statement(subject, "born in", _untimed(found), functional=True) if named else None


_DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b(?!\d)|\d+月\d+[日号]")


def _attributed(parts: _Parts, subject: str | None, found: str) -> Statement | None:
    """Read "my editor is vim", "Anna's birthday is May 3", "the deadline is Friday", 我的编辑器是vim."""
    raw = parts["noun"] or ""
    if not raw.isascii():
        return _han_attribute(raw, parts.get("owner"), subject, found)
    noun = _attribute(raw)
    if noun is None or not (subject or "firm" in parts):
        return None
    functional = not is_listed(noun, "shared_attributes")
    if parts.get("whom"):
        return Statement(subject or "", noun, found, functional) if subject != found else None
    said = (parts.get("phrase") or "").strip()
    listed = noun.startswith("favo") or is_listed(noun, "attributes")
    valueless = describes(found) or _TELLS_MORE.match(said) or not (listed or _begins_with_name(found))
    if subject is None:
        of = value(parts["firm"] or "")
        about, what = (of, noun) if of else (noun, "is")
        return None if valueless else Statement(about, what, found, functional=True)
    owner, _, noun = noun.rpartition("'s ")
    subject = f"{subject}'s {owner}" if owner else subject
    if re.match(r"(?:now |actually |really )*an? [a-z]+\b", said):
        return Statement(f"{subject}'s {noun}", "is a", found)
    return None if valueless else Statement(subject, noun, found, functional)


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


def _han_attribute(noun: str, owner: str | None, subject: str | None, found: str) -> Statement | None:
    known_as = _han_attributes().get(noun)
    if owner is None:
        plain = known_as and not is_listed(known_as, "roles")  # 医生是好人 is about no one
        return Statement(noun, "is", found, functional=True) if plain else _compound(noun, found)
    if subject is None or not (known_as or noun.startswith("最喜欢的")):
        return None
    # 我的上司是南京人 describes the boss and names nobody: it takes nothing's place, as 王医生 does.
    one = not is_listed(known_as or noun, "roles") or (found, "person") in names(found)
    return Statement(subject, known_as or noun, found, one)


def _compound(noun: str, found: str) -> Statement | None:
    """会议时间 is the time of the 会议."""
    for attribute in sorted(_han_attributes(), key=len, reverse=True):
        owner = noun.removesuffix(attribute).removesuffix("的")
        if owner != noun and owner and owner[0] not in _POINTERS and owner[0] != "我":
            return Statement(owner, _han_attributes()[attribute], found, functional=True)
    return None


@cache
def _han_attributes() -> dict[str, str]:
    rows = (row.partition(" = ") for row in lexicon.lines("attributes_zh"))
    return {noun: predicate for noun, _, predicate in rows}


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class _Shape:
    predicate: str
    count: str
    """How many values there are: `one`, `many`, or one where the sentence tells of a change: `changes`."""
    over: bool
    pattern: str


@cache
def _shapes(name: str, *, plain: bool) -> tuple[tuple[_Shape, ...], lexicon.Calls]:
    """The shapes for a clause in plain letters, or for one that has others as well; what calls for each."""
    found: list[_Shape] = []
    for heading, row in lexicon.in_order(name):
        predicate, _, count = heading.rpartition(" ")
        if not (plain and _HAN_CHAR.search(row)):
            pattern = row.removeprefix(OVER)
            if name == "slot_shapes":  # a name has a capital even where case does not matter
                pattern = f"(?i){pattern.replace('[A-Z]', '(?-i:[A-Z])')}"
            found.append(_Shape(predicate, count, row.startswith(OVER), pattern.replace("<kin>", _kin())))
    needed = (lexicon.needed(shape.pattern) for shape in found)
    return tuple(found), lexicon.Calls([tuple(piece.lower() for piece in pieces) for pieces in needed])


@cache
def _kin() -> str:
    return f"(?:{'|'.join(sorted(lexicon.words('kin')))})"


_HAN_CHAR = re.compile(f"[{HAN}]")


# ---------------------------------------------------------------- kinds of values
# Kinds of values: words come in; whether a day, a time, money, a measure or a count stands in them comes out.
# "Make it Friday" goes with what had a day.


@read_once
def value_kinds(text: str) -> frozenset[str]:
    """The kinds of values in a text.

    >>> (
    ...     sorted(value_kinds("Dinner is on Thursday at 7pm")),
    ...     sorted(value_kinds("是16号")),
    ...     sorted(value_kinds("we move on 4 May")),
    ...     value_kinds("it may rain"),
    ... )
    (['day', 'time'], ['day'], ['count', 'day'], frozenset())
    """
    lower = text.lower()
    return frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(lower))


_KINDS: Final = {
    "day": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|\d{1,2}(?:st|nd|rd|th)"
        r"|(?:\d{1,2} )?(?:jan(?:uary)?|feb(?:ruary)?|march|april|may \d+\w*|june|july|aug(?:ust)?"
        r"|sept(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
        r"|\d{1,2} may|(?:in|by|of|until|till|since|next|last|early|late) may)\b"
        r"|(?:周|星期|礼拜)[一二三四五六日天末]|[\d一二三四五六七八九十][号日月]"
    ),
    "time": re.compile(
        r"\b(?:\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|half (?:past|one|two|three|four|five|six|seven|eight|nine|ten)"
        r"|quarter (?:to|past)|noon|midnight|o'clock)\b|[\d一二三四五六七八九十两]点"
    ),
    "money": re.compile(
        r"[£$€¥]\s?\d|\b\d[\d.,]* ?(?:k|quid|euros?|pounds|dollars|bucks|grand)\b"
        r"|[\d一二三四五六七八九十两百千](?:块|元|万|千|百)"
    ),
    "measure": re.compile(
        r"\b\d[\d.]* ?(?:kg|kilos?|lbs|mg|ml|gb|gigs?|tb|km|miles|cm|metres|meters|minutes|mins|hours)\b"
        r"|[\d一二三四五六七八九十两](?:斤|公斤|克|岁|度|层|楼|杯|分钟|小时|天|年|周|个月)"
    ),
    "count": re.compile(
        r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty)\b"
        r"|[\d一二三四五六七八九十两]个|[一二三四五六七八九十两][一二三四五六七八九十百千万]"
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


def asks_where(question: str) -> bool:
    """Whether a question asks for a place."""
    return _WHERE.search(question.lower()) is not None


def tells_where(text: str) -> bool:
    """Whether a text may tell where: by a place, a number, what stands before a place, or as a note does.

    >>> tells_where("they moved it to Leeds"), tells_where("搬去亦庄了"), tells_where("scissors: top drawer")
    (True, True, True)
    >>> tells_where("it is out of toner"), tells_where("the concert is on Sunday")
    (False, False)
    """
    return _PLACE.search(text.lower()) is not None


_WHERE: Final = re.compile(r"\bwhere(?:abouts|'?s)?\b|哪里|哪儿|在哪|去哪|住哪|什么地方")
_PLACE: Final = re.compile(
    r"\b(?:in|at|on|to|into|from|near|under|behind|beside|opposite|inside|outside|above|below|by|round|off)"
    r" (?!(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)\w*\b"
    r"|(?:time|fact|general|order|case|hold|purpose|me|him|her|them|us|it|be|do|get)\b)"
    r"|\b(?:upstairs|downstairs|next door|home|abroad|level|floor|rooms?|there)\b"
    r"|\d|: ?\w|：|[在到去搬住][^,，。了]|[楼路区街室店站]"
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
    return any(difflib.SequenceMatcher(None, word, right).ratio() >= _NEARLY for word in near)


_NEARLY: Final = 0.7


def names_its_subject(text: str) -> bool:
    """Whether it says itself whom or what it is about: then it corrects nothing that was told just before.

    >>> names_its_subject("dentist moved me to Thursday"), names_its_subject("make it Friday")
    (True, False)
    """
    return _OWN_SUBJECT.match(text) is not None


_OWN_SUBJECT = re.compile(
    r"(?:(?:actually|well|oh|ok|okay|so|and|but|ugh|hey|btw|anyway|update|news|nah|nope|yeah|yep|lol|ha(?:ha)+)"
    r"\b[\s,:!.-]*)*"
    r"(?:(?:i(?:['’]?(?:m|ve)|['’](?:d|ll))?|we(?:['’]?ve|['’](?:re|d|ll))?|my|our)\b"
    r"(?! (?:mean|meant|said)\b)"
    r"|(?!(?:it|that|this|what|there|he|she)['’])[^\W\d_]+['’]s\b"
    r"|(?:the |our )?(?!(?:the|it|that|this|there|he|she|they|which|what|you|no|not|now|one|other"
    r"|time|date|day|count|number|total|amount|price|cost|place|venue|room)\b)[^\W\d_]+(?: [^\W\d_]+)?"
    r" (?:is|are|was|were|has|had|got|went|moved|changed|starts?|ends?)\b"
    r"|(?:please )?[a-z]+ your\b)|[我咱](?!说|是说|的意思)",
    re.IGNORECASE,
)
