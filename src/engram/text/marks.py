"""What tells two similar sentences apart: numbers, negation, names, times, and whether one corrects the other.

Two texts that share most words may still say different things ("red apples" and "green apples" are for the
words to tell, "3 apples" and "4 apples" are told here). `differences` names what does not agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.scripts import HAN, PAIRED, compatible


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one text; everything in lower case, numbers as digits."""

    numbers: frozenset[str]
    negated: bool
    names: frozenset[str]
    correction: bool
    times: frozenset[str]
    words: frozenset[str]


@lru_cache(maxsize=1 << 12)
def marks(text: str) -> Marks:
    """The marks of `text`.

    >>> found = marks("Actually, Anna does not have 3,000 apples since Monday")
    >>> found.numbers, found.negated, found.correction, found.times, sorted(found.names)
    (frozenset({'3000'}), True, True, frozenset({'monday'}), ['anna'])
    """
    plain = compatible(text).replace("’", "'")
    words = [match.group() for match in _TOKEN.finditer(plain)]
    return Marks(
        numbers=_numbers(plain),
        negated=is_negated(plain),
        names=_names(plain),
        correction=is_correction(plain),
        times=frozenset(match.group().lower() for match in _TIME.finditer(plain)),
        words=frozenset(word.lower() for word in words) | frozenset(_bare(word) for word in words),
    )


def differences(one: Marks, other: Marks) -> tuple[str, ...]:
    """What does not agree between two texts, in words fit for an explanation; empty when all agrees.

    >>> differences(marks("Anna has 3 cats"), marks("Bob has 4 cats"))
    ('numbers', 'names')
    >>> differences(marks("I like tea"), marks("I don't like tea"))
    ('negation',)
    >>> differences(marks("Rust is what I like"), marks("I like Rust"))
    ()
    """
    found = []
    if one.numbers != other.numbers:
        found.append("numbers")
    if one.negated != other.negated:
        found.append("negation")
    if one.names - other.words or other.names - one.words:
        found.append("names")
    if one.times != other.times:
        found.append("times")
    return tuple(found)


def is_negated(text: str) -> bool:
    """Whether `text` denies something, in English or Chinese.

    >>> (
    ...     is_negated("I no longer use vim"),
    ...     is_negated("我不喝咖啡"),
    ...     is_negated("not only tea"),
    ...     is_negated("非常好"),
    ... )
    (True, True, False, False)
    """
    plain = _NOT_REALLY.sub(" ", text.replace("’", "'"))
    return _NEGATION.search(plain) is not None


def is_correction(text: str) -> bool:
    """Whether `text` says that something else was true before, or that what was said is wrong.

    >>> is_correction("I use Helix now"), is_correction("改用 Rust 了"), is_correction("I drink tea")
    (True, True, False)
    """
    return _CORRECTION.search(text.replace("’", "'")) is not None


_NEGATION = re.compile(
    r"\b(?:not|never|none|nothing|nobody|nowhere|neither|nor|no|without|cannot|\w+n't|dont|doesnt|didnt|isnt|wasnt"
    r"|cant|wont|stopped|quit|gave up|used to|refuses?|avoids?|dislikes?|hates?|unable|except)\b"
    r"|[不没沒无無未勿莫甭]|别(?!人|的|墅|称|名)|別(?!人|的)|讨厌|拒绝|禁止|戒[了掉]",
    re.IGNORECASE,
)
_NOT_REALLY = re.compile(
    r"\bnot only\b|\bno (?:problem|worries|doubt|wonder|matter|idea)\b|\bwhy not\b|\bnothing but\b|\bif not\b|\bor not\b"
    r"|\bno\.? (?=\d)|^\s*no\b(?=\s*[,.!;:—-])|\bno one but\b|\bget used to\b|\b(?:am|is|are|be|got) used to\b"
    r"|不(?:错|但|仅|过|久|断|同|少|管|论|客气|好意思|得不|可不|如|只是|禁|愧|妨|单|光)|对不起|差不多|了不起|是不是|要不要|会不会|能不能|好不好|有没有|没关系|没问题|没事"
    r"|无(?:论|数|疑|非|限|线|意中)|未(?:来|必|婚妻|婚夫)|非常|莫名|(?:特|区|分|性|级|识|告|类|个|辨|派|鉴)别",
    re.IGNORECASE,
)
_STATE = r"(?:is|are|am|'s|'re|'m|use|uses|using|live|lives|living|work|works|working|prefer|prefers|like|likes|have|has|run|runs|go|goes|call|called|drive|drives|drink|drinks|eat|eats|study|studies|own|owns|speak|speaks)"
_NOT_YET = r"(?<!right )(?<!for )(?<!by )(?<!until )(?<!till )(?<!just )"
_CORRECTION = re.compile(
    r"\b(?:actually|correction|no longer|not\b[^.!?]{0,60}\b(?:any ?more|any longer)|\w+n't\b[^.!?]{0,60}\b(?:any ?more|any longer)"
    r"|instead|changed? (?:\w+ ){0,4}(?:to|from)|(?:switch|mov|migrat|upgrad|convert)(?:e?d|ing|e|es)? (?:\w+ ){0,3}(?:from|over)\b"
    r"|switch(?:ed|ing)? (?:\w+ )?to|migrated to|moved (?:\w+ )?(?:from \S+ )?to|replaced (?:\S+ ){1,4}with|used to|anymore"
    r"|renamed|rather than|turns out|i was wrong|i made a mistake|my mistake|scratch that|i meant|not true|that's wrong"
    r"|that is wrong|is wrong|was wrong|update:|as of (?:now|today)|from now on|these days|changed my mind|on second thought"
    r"|nowadays|new(?:ly)? (?:\w+ )?is|stopped \w+ing|quit \w+ing|postponed|rescheduled|moved to)\b"
    rf"|\b{_STATE}\b[^.!?;]{{0,60}}{_NOT_YET}\bnow\b(?! that)|{_NOT_YET}\bnow(?! that),? (?:\w+ ){{0,3}}{_STATE}\b|^\s*(?:no|nope|wait)\b\s*[,.!—-]"
    r"|不再|改用|改成|改为|改到|换成|换到|换了|改了|其实|实际上|事实上|更正|纠正|现在是|现在用|现在改|现在住|而不是|不是[^。！？]{1,20}(?:而是|，是|,是)"
    r"|搬到|搬去|搬家|说错|弄错|搞错|记错|不对，|不对,|以前[^。！？]{0,30}现在|从[^。！？]{1,20}(?:换|改|转|迁移|切换)[到成为]|已经不|不[^。！？]{1,10}了(?:$|[。！，,])|推迟|取消了|更新[:：]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)*|(?<=[^\W\d_])\d+(?:\.\d+)*|\d+(?:\.\d+)*")
_COUNTED = re.compile(
    r"([两二三四五六七八九十百千万]+)(?=[个只位次年月日天岁点小分周号元块公里斤本张条件台辆杯人家层楼名])"
)
_TOKEN = re.compile(rf"[^\W_{PAIRED}](?:(?![{PAIRED}])[\w.+#/'@-])*")
_TIME = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|weekends?|weekdays?|mornings?|afternoons?|evenings?|noon|midnight"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march(?= \d)|april|(?<=in )march|may(?= \d)|(?<=in )may|june|july|august"
    r"|september|october|november|december|spring|summer|autumn|winter|(?:last|next|this) (?:week|month|year|night|time)"
    r"|daily|weekly|monthly|yearly)\b"
    r"|今天|昨天|明天|前天|后天|大后天|[这上下]+个?(?:周|星期|礼拜|月)[一二三四五六日天]?|(?:周|星期|礼拜)[一二三四五六日天末]|[去今明前后]年|早上|上午|中午|下午|晚上|凌晨|春天|夏天|秋天|冬天|[一二三四五六七八九十]+月",
    re.IGNORECASE,
)
_NUMBER_WORDS: Final = {
    word: str(value)
    for value, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split(),
        start=2,
    )
} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
}
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_HAN_DIGITS: Final = {char: value for value, char in enumerate("〇一二三四五六七八九十")} | {"两": 2}


def _numbers(plain: str) -> frozenset[str]:
    found = {
        match.group().replace(",", "").replace("−", "-").rstrip(".") for match in _NUMBER.finditer(plain)
    }
    found |= {_NUMBER_WORDS[match.group().lower()] for match in _NUMBER_WORD.finditer(plain)}
    found |= {_han_number(match.group()) for match in _COUNTED.finditer(plain)}
    return frozenset(found)


def _han_number(digits: str) -> str:
    """A Chinese numeral as digits up to 99; a longer one stays as it is, which is enough to compare.

    >>> _han_number("三"), _han_number("二十五"), _han_number("三百")
    ('3', '25', '三百')
    """
    tens, ten, ones = digits.rpartition("十")
    values = [_HAN_DIGITS.get(part) if part else None for part in (tens, ones)]
    if any(part and value is None for part, value in zip((tens, ones), values, strict=True)):
        return digits
    return str((values[0] or 1) * 10 + (values[1] or 0)) if ten else str(values[1])


def _names(plain: str) -> frozenset[str]:
    """Words written like names: with a capital, or like code, or Latin words in a Chinese sentence."""
    if not any(char.islower() for char in plain):
        return frozenset()
    stop = lexicon.words("stop_words") | lexicon.words("openers")
    chinese = _HAN_CHAR.search(plain) is not None
    found = set()
    for match in _TOKEN.finditer(plain):
        word = _bare(match.group())
        if word in stop or _TIME.fullmatch(word) or not word[:1].isalpha():
            continue
        if chinese or match.group()[0].isupper() or any(char in "./_@#+" or char.isdigit() for char in word):
            found.add(word)
    return frozenset(found)


_HAN_CHAR = re.compile(f"[{HAN}]")


def _bare(word: str) -> str:
    """A word in lower case without what trails it: `Anna's.` is `anna`."""
    word = word.lower().rstrip(".'-/@")
    return word[:-2] if word.endswith("'s") else word
