"""What tells two similar sentences apart: words and labels, numbers, negation, names and times.

Two texts that share most words may still say different things ("red apples" and "green apples" are for the
words to tell, "3 apples" and "4 apples" are told here). `differences` names what does not agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re, words
from engram.text.reading import read_once
from engram.text.words import HAN, PAIRED, compatible, normalized, terms

# ---------------------------------------------------------------- opposites
# Opposites: two lines of words come in; whether they differ by a word and its opposite alone comes out.


def opposed(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two lines of stems differ by one pair of opposites alone.

    >>> opposed(["user", "love", "tea"], ["user", "hate", "tea"])
    True
    >>> opposed(["user", "love", "tea"], ["user", "hate", "milk"])
    False
    """
    if len(one) != len(other):
        return False
    different = [(mine, theirs) for mine, theirs in zip(one, other, strict=True) if mine != theirs]
    if len(different) != 1:
        return False
    sides = _sides()
    mine, theirs = (sides.get(word) for word in different[0])
    return mine is not None and theirs is not None and mine[0] == theirs[0] and mine[1] != theirs[1]


def has_opposite(line: Sequence[str]) -> bool:
    """Whether a stem of a line is one of a pair of opposites.

    >>> has_opposite(["user", "love", "tea"]), has_opposite(["user", "drink", "tea"])
    (True, False)
    """
    return not _sides().keys().isdisjoint(line)


@cache
def _sides() -> dict[str, tuple[int, bool]]:
    """For each stem the pair it belongs to and the side it stands on."""
    found: dict[str, tuple[int, bool]] = {}
    for number, row in enumerate(lexicon.lines("opposites")):
        for against, side in enumerate(row.split("|")):
            for word in side.split():
                for stem in words.terms(word) or (word,):
                    found[stem] = (number, bool(against))
    return found


FILLERS: Final = frozenset(
    "a an the really very just so please oh well also too actually now currently".split()  # noqa: SIM905 - a sentence
)
"""Words that can come or go without changing what is said."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one text; everything in lower case, numbers as digits."""

    numbers: frozenset[str]
    negated: bool
    names: frozenset[str]
    times: frozenset[str]
    words: frozenset[str]


@read_once
def marks(text: str) -> Marks:
    """The marks of `text`.

    >>> found = marks("Actually, Anna does not have 3,000 apples since Monday")
    >>> found.numbers, found.negated, found.times, sorted(found.names)
    (frozenset({'3000'}), True, frozenset({'monday'}), ['anna'])
    """
    plain = compatible(text).replace("’", "'")
    lower = plain.lower()
    times = lexicon.pattern("times", ascii_only=lower.isascii())
    words = [match.group() for match in _TOKEN.finditer(plain)]
    return Marks(
        numbers=_numbers(plain),
        negated=is_negated(plain),
        names=_names(plain, words),
        times=frozenset(times.findall(lower)),
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


@read_once
def meaning(text: str) -> tuple[str, ...]:
    """The words of meaning in order: stems of words; labels, numbers, units and signs as they stand.

    >>> meaning("The blood test of group A is really done"), meaning("I have a cat at -5 °C")
    (('blood', 'test', 'of', 'group', 'a', 'is', 'done'), ('i', 'have', 'cat', 'at', '-5', '°c'))
    """
    plain = compatible(text)
    if _LONE_A.search(plain):
        plain = with_labels(plain)
    return tuple(chain.from_iterable(map(_stems, normalized(plain).split())))


def with_labels(text: str) -> str:
    """The text with a mark behind each lone "A" that is a label and no article.

    When in doubt it is a label: a duplicate that is kept does less harm than a statement that is lost.

    >>> with_labels("A cat has vitamin A from a tin, plan a and hepatitis a vaccination")
    'A cat has vitamin A_ from a tin, plan a_ and hepatitis a_ vaccination'
    """
    shouted = text.isupper()
    return _LONE_A.sub(
        lambda match: match.group() if _is_article(match, text, shouted=shouted) else f"{match.group()}_",
        text,
    )


_LONE_A = re.compile(r"(?<![0-9A-Za-zÀ-ʯ_'’])[Aa](?![0-9A-Za-zÀ-ʯ_'’]|[+-](?!\w))")
_SCRIPTS = re.compile(rf"[{PAIRED}]+|[^{PAIRED}]+")
_OPENING: Final = r"[\"'“‘(\[*`]*"
_AFTER = re.compile(rf"\s*{_OPENING}(?P<word>[^\W_][\w'’-]*)?")
_BEFORE = re.compile(rf"(?P<word>[^\W_][\w'’-]*)[ \t]+{_OPENING}$")
_NEVER_AFTER_AN_ARTICLE: Final = frozenset(
    "is are was were am be been being has had did does and or but nor in on at of for to from with by into as"  # noqa: SIM905 - a sentence
    " than then if when while because until after before since not isn't wasn't aren't hasn't".split()
)
_TAKE_AN_OBJECT: Final = (
    "add adopt ask attend bake call carry cook create enjoy finish hate hire install join learn like"  # noqa: SIM905 - a sentence
    " love miss name need offer open order own paint plant play prefer receive rent repair require"
    " schedule share sign start support turn use visit walk want wash watch".split()
)


def _is_article(match: re.Match[str], text: str, *, shouted: bool) -> bool:
    start, end = match.span()
    after = _AFTER.match(text, end)
    following = after["word"] if after is not None else None
    if following is None or not text[end].isspace() or following.lower() in _NEVER_AFTER_AN_ARTICLE:
        return False
    if _HAN_CHAR.match(following) or _HAN_CHAR.match(text, start - 1 if start else 0):
        return False
    before = _BEFORE.search(text, max(0, start - 40), start)
    if before is None:  # the beginning of a sentence or of a clause
        return True
    if match.group() == "A" and not shouted:
        return False
    word = before["word"].lower()
    return word in lexicon.words("stop_words") or word in _verbs()


@lru_cache(maxsize=1)
def _verbs() -> frozenset[str]:
    """Verbs that an article may follow, in all their forms."""
    irregular = [row.split() for row in lexicon.lines("irregular_verbs")]
    past = {*lexicon.words("verbs_past"), *(form for row in irregular for form in row)}
    stems = [row[0] for row in irregular] + _TAKE_AN_OBJECT
    endings = ("", "s", "d", "ed", "ing")
    return frozenset(past).union(
        f"{stem}{end}" for verb in stems for stem in (verb, verb.removesuffix("e")) for end in endings
    )


@lru_cache(maxsize=1 << 14)
def _stems(word: str) -> tuple[str, ...]:
    """The words of meaning in what stands between two spaces of a normalized text; none for a filler."""
    if word in FILLERS:
        return ()
    return tuple(term for part in _SCRIPTS.findall(word) for term in _stem(part))


def _stem(word: str) -> tuple[str, ...]:
    if word.endswith("_") and len(word) == 2:  # noqa: PLR2004 - a letter and its mark
        return (word[0],)
    if not word.isalpha():
        return (word,)
    return tuple(terms(word)) or (word,)


@read_once
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
    plain = text.lower().replace("’", "'")
    if not lexicon.found("negations", plain):
        return False
    return lexicon.found("negations", lexicon.pattern("not_negations").sub(" ", plain))


@read_once
def is_correction(text: str) -> bool:
    """Whether `text` says that something else was true before, or that what was said is wrong.

    >>> is_correction("I use Helix now"), is_correction("改用 Rust 了"), is_correction("I drink tea")
    (True, True, False)
    """
    if _corrections(text):
        return True
    plain = text.lower().replace("’", "'")
    return "now" in plain and _NOW.search(plain) is not None


def puts_right(text: str) -> bool:
    """Whether `text` says that what was said is wrong; a change makes nothing wrong.

    >>> puts_right("Actually, it's on Tuesday"), puts_right("I use Helix now")
    (True, False)
    """
    return not _PUT_RIGHT.isdisjoint(_corrections(text))


def takes_back(text: str) -> bool:
    """Whether `text` takes back what was said just before, whatever that was.

    >>> (
    ...     takes_back("Strike that, it's at noon"),
    ...     takes_back("oops, 4417"),
    ...     takes_back("Actually, it's at noon"),
    ... )
    (True, True, False)
    """
    return "taken back" in _corrections(text)


_PUT_RIGHT: Final = frozenset({"put right", "taken back"})


@read_once
def _corrections(text: str) -> tuple[str, ...]:
    """How a text corrects: it says that something changed, puts it right or takes it back."""
    return _ways_to_correct().of(text.lower().replace("’", "'"))


@cache
def _ways_to_correct() -> lexicon.NamedPatterns:
    parts = lexicon.parts("corrections")
    return lexicon.NamedPatterns((way, row) for way, rows in parts.items() for row in rows)


# "I use Helix now" and "now I live in Paris" tell of a new state; "right now I am tired" does not.
_STATE = (
    r"(?:\b(?:is|are|am|have|has|goes|studies)|'(?:s|re|m)"
    r"|\b(?:use|live|work|prefer|like|run|go|call|drive|drink|eat|own|speak)(?:s|d|ed|ing)?)\b"
)
_FRESH = r"(?<!right )(?<!for )(?<!by )(?<!until )(?<!till )(?<!just )\bnow\b(?! that)"
_NOW = re.compile(rf"{_STATE}[^.!?;]{{0,60}}{_FRESH}|{_FRESH},? (?:\w+ ){{0,3}}{_STATE}")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)*|(?<=[^\W\d_])\d+(?:\.\d+)*|\d+(?:\.\d+)*")
_COUNTED = re.compile(
    "([两二三四五六七八九十百千万]+)(?=[个只位次年月日天岁点小分周号元块公里斤本张条件台辆杯人家层楼名])"
)

_TOKEN = re.compile(rf"[^\W_{PAIRED}](?:(?![{PAIRED}])[\w.+#/'@-])*")
_NUMBER_WORDS: Final = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
    "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100", "thousand": "1000", "million": "1000000",
}  # fmt: skip
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


def _names(plain: str, words: list[str]) -> frozenset[str]:
    """Words written like names: with a capital, or like code, or Latin words in a Chinese sentence."""
    if plain.isupper():
        return frozenset()
    chinese = not plain.isascii() and _HAN_CHAR.search(plain) is not None
    written = [word for word in words if chinese or word[0].isupper() or _CODE_LIKE.search(word)]
    found = {_bare(word) for word in written} - lexicon.words("stop_words") - lexicon.words("openers")
    if "A" in words and "A_" in with_labels(plain):
        found.add("a")
    times = lexicon.pattern("times")
    return frozenset(word for word in found if word[:1].isalpha() and not times.fullmatch(word))


_CODE_LIKE = re.compile(r"\w[\d./_@#+]+\w|[+#\d]$")
_HAN_CHAR = re.compile(f"[{HAN}]")


def _bare(word: str) -> str:
    """A word in lower case without what trails it: `Anna's.` is `anna`."""
    word = word.lower().rstrip(".'-/@")
    return word.removesuffix("'s")
