"""What can be filtered by later: a text comes in; its people, technologies, paths, dates, topics … come out.

Everything is told by rules from the words alone. Recall filters on it; it inherits the tier of its memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from engram.lazily import lazily
from engram.model.facts import words_of
from engram.text import lexicon, re
from engram.text.kinds import known, mentioned, topics
from engram.text.names import FoundName, entities
from engram.text.reading import read_once
from engram.text.sentences import sentences

if TYPE_CHECKING:
    from engram.model import maintenance
    from engram.model.maintenance import Reference
    from engram.model.memory import Filters
    from engram.text import feelings
else:
    feelings = lazily("engram.text.feelings")
    maintenance = lazily("engram.model.maintenance")

# ---------------------------------------------------------------- facets
# Facets: what a memory speaks of comes in; the values it is filtered by come out, and what a filter wants.
#
# Both are folded the same way, so a store only compares them. A person is found by any word of the name, a
# technology by any of its names, a path or an address by how it begins, at any of its folders or hosts.


EQUAL: Final = ("people", "technologies", "languages", "code_languages", "topics")
"""Facets that are compared as a whole; `sentiment` is one more, which each memory has once."""
BEGINNING: Final = ("paths", "urls")
"""Facets that are compared by how they begin."""
DATES: Final = "dates"
SENTIMENT: Final = "sentiment"
NEUTRAL: Final = "neutral"
"""The sentiment of a memory that has none."""


def values(metadata: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Each facet with each of its values.

    >>> sorted(values({"people": ["Ada King"], "urls": ["https://docs.python.org/3"]}))
    [('people', 'ada'), ('people', 'ada king'), ('people', 'king'),
     ('urls', 'docs.python.org/3'), ('urls', 'python.org/3')]
    """
    return {(facet, value) for facet in metadata for value in _values(facet, metadata[facet])}


def asked(facet: str, wanted: str) -> str:
    """What a filter compares with.

    >>> asked("people", "ANNA"), asked("technologies", "postgres"), asked("urls", "https://Python.org/")
    ('anna', 'postgresql', 'python.org/')
    """
    if facet == "technologies" and (tech := known(wanted)):
        return tech.name.casefold()
    if facet == "urls":
        return _SCHEME.sub("", wanted.strip().casefold())
    if facet == "paths":
        return _path(wanted)
    return wanted.strip().casefold()


def days(filters: Filters) -> tuple[str, str]:
    """The first and the last day that may be spoken of, as ISO days; open ends lie beyond every day."""
    since, until = filters.about_since, filters.about_until
    return (since.date().isoformat() if since else "", until.date().isoformat() if until else "~")


_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@]*@)?(?:www\.)?")
_HOST_END = re.compile(r"[/?#:]|$")
_ENDS: Final = 12
"""A path has at most so many ends that it is found by."""


def _values(facet: str, held: Any) -> Iterator[str]:
    if facet == SENTIMENT:
        yield str(held).casefold()
    elif facet == "people":
        for name in held:
            yield name.casefold()
            yield from words_of(name)
    elif facet == "paths":
        for path in held:
            yield from _ends(_path(path), "/")
    elif facet == "urls":
        for url in held:
            yield from _addresses(_SCHEME.sub("", url.casefold()))
    elif facet in EQUAL or facet == DATES:
        yield from map(str.casefold, held)


def _path(path: str) -> str:
    return path.strip().casefold().replace("\\", "/").removeprefix("./").removeprefix("~/").removeprefix("/")


def _addresses(address: str) -> Iterator[str]:
    """The address, and the same without the first labels of its host: python.org finds docs.python.org."""
    found = _HOST_END.search(address)
    end = found.start() if found else len(address)
    host, rest = address[:end], address[end:]
    labels = host.split(".")
    yield address
    for at in range(1, len(labels) - 1):
        yield ".".join(labels[at:]) + rest


def _ends(path: str, mark: str) -> Iterator[str]:
    """The path, and what stands behind each of its last marks."""
    parts = path.split(mark)
    for at in range(max(0, len(parts) - _ENDS), len(parts)):
        if end := mark.join(parts[at:]):
            yield end
    yield path


# ---------------------------------------------------------------- references
# References: a text comes in; the files, symbols, versions and addresses it claims are there come out.


MOST: Final = 20
"""References of one text."""
# Nearly every text has none: one look saves the others.
_SIGN = re.compile(r"[`/\\]|\(\)|\.\w|\d\.\d|_\w|[a-z][A-Z]|Makefile|Dockerfile|README|LICENSE")
_CALL = re.compile(r"(?<![\w/.])([A-Za-z_][\w.]*)\(\)")
_QUOTED = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")
_CODE_NAME = r"`?([A-Za-z_]\w*(?:_\w+|[a-z\d][A-Z]\w*)|[A-Z]\w+)`?"
_VERSION = re.compile(r"\b([A-Za-z][\w.+-]*[\w+]|[A-Za-z])\s+(?:version\s+)?v?(\d+(?:\.\d+){1,3})\b(?![\w%])")
_OF = re.compile(r"\bversion\s+v?(\d+(?:\.\d+){1,3})\s+of\s+([A-Za-z][\w.+-]*\w)")


def references(text: str) -> tuple[Reference, ...]:
    """What a text says is there; nothing when it tells of what went or is to come.

    >>> [
    ...     (one.kind.value, one.name)
    ...     for one in references("The parser lives in src/parse.py, see parse_all()")
    ... ]
    [('file', 'src/parse.py'), ('symbol', 'parse_all')]
    >>> references("We deleted src/old.py")
    ()
    >>> [(one.name, one.version) for one in references("We build with React 18.2")]
    [('react', '18.2')]
    """
    if not _SIGN.search(text) or lexicon.found("references", text.lower(), under="absent"):
        return ()
    return tuple(dict.fromkeys((*_fixed(text), *_symbols(text), *_versions(text))))[:MOST]


def _fixed(text: str) -> Iterator[Reference]:
    for one in entities(text):
        if one.type == "file":
            yield maintenance.Reference(maintenance.RefKind.FILE, one.name)
        elif one.type == "url":
            yield maintenance.Reference(maintenance.RefKind.URL, one.name)


def _symbols(text: str) -> Iterator[Reference]:
    """Names of functions and classes: called, quoted as code, or said to be one."""
    for match in _CALL.finditer(text):
        yield maintenance.Reference(maintenance.RefKind.SYMBOL, match[1].rpartition(".")[2])
    for match in _QUOTED.finditer(text):
        if _is_code(match[1]) and not _is_file(match[1]):
            yield maintenance.Reference(maintenance.RefKind.SYMBOL, match[1].rpartition(".")[2])
    for pattern in _said():
        for match in pattern.finditer(text):
            yield maintenance.Reference(maintenance.RefKind.SYMBOL, match[1])


def _versions(text: str) -> Iterator[Reference]:
    for match in _VERSION.finditer(text):
        if match[1].lower() == "version":
            continue
        yield maintenance.Reference(maintenance.RefKind.VERSION, match[1].lower(), match[2])
    for match in _OF.finditer(text):
        yield maintenance.Reference(maintenance.RefKind.VERSION, match[2].lower(), match[1])


def _is_code(name: str) -> bool:
    """Whether it looks like a name in code and not like a word.

    >>> [_is_code(name) for name in ("parse_all", "parseAll", "a.b", "tea", "USA")]
    [True, True, True, False, False]
    """
    return "_" in name.strip("_") or "." in name or re.search(r"[a-z][A-Z]", name) is not None


def _is_file(name: str) -> bool:
    return any(one.type == "file" for one in entities(name))


def _said() -> Iterator[re.Pattern[str]]:
    parts = lexicon.parts("references")
    before, after = (
        "|".join(word for row in parts[key] for word in row.split()) for key in ("before", "after")
    )
    yield re.compile(rf"\b(?:{before})\s+{_CODE_NAME}(?![\w/.])")
    yield re.compile(rf"(?<![\w/.]){_CODE_NAME}\s+(?:{after})\b")


def metadata(text: str, now: datetime, names: Sequence[FoundName]) -> dict[str, Any]:
    """What a text said at a time, with these names in it, speaks of: only the parts that say something.

    Dates are ISO days, languages ISO 639-1 codes.

    >>> text = "Anna fixed the crash in src/auth.py tomorrow"
    >>> found = metadata(text, datetime(2024, 5, 2), entities(text))
    >>> found["people"], found["paths"], found["dates"], found["languages"], found["code_languages"]
    (['Anna'], ['src/auth.py'], ['2024-05-03'], ['en'], ['Python'])
    """
    tone = feelings.tone(text)
    felt = feelings.sentiment(feelings.valence_of(tone), feelings.strength_of(tone))
    paths = _of_type(names, "file")
    found = {
        "people": _of_type(names, "person"),
        "technologies": _of_type(names, "technology"),
        "paths": paths,
        "urls": _of_type(names, "url"),
        "dates": list(dict.fromkeys(_days(text, now)))[:MOST],
        "languages": list(languages(text)),
        "code_languages": list(dict.fromkeys(_code_languages(text, paths)))[:MOST],
        "topics": list(topics(text)),
        "sentiment": "" if felt == NEUTRAL else felt,
    }
    return {name: value for name, value in found.items() if value}


def _of_type(found: Sequence[FoundName], wanted: str) -> list[str]:
    return [one.name for one in found if one.type == wanted][:MOST]


_EXACT: Final = frozenset({"second", "minute", "hour", "part", "day", "weekend", "week"})
_RANGE: Final = timedelta(days=8)
_TICK: Final = timedelta(microseconds=1)


def _days(text: str, now: datetime) -> Iterator[str]:
    """A day as itself, a few days as their first and last; a month or a year is no day."""
    from engram.text.dates import dates  # reading dates needs many rules: only where they are wanted

    for when in dates(text, now):
        if when.recurring or when.first is None or when.last is None or when.grain not in _EXACT:
            continue
        if when.last - when.first <= _RANGE:
            yield when.first.date().isoformat()
            yield max(when.first, when.last - _TICK).date().isoformat()


def _code_languages(text: str, paths: Sequence[str]) -> Iterator[str]:
    """The programming languages of code blocks, of files, and those that are named."""
    by_name, by_ending = _code_names()
    for match in _FENCE.finditer(text) if "```" in text else ():
        yield from filter(None, [by_name.get(match.group(1).lower())])
    for path in paths:
        yield from filter(None, [by_ending.get(path.rpartition(".")[2].lower())])
    yield from (tech.name for tech in mentioned(text) if tech.name in by_name.values())


_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+#-]+)", re.MULTILINE)


@cache
def _code_names() -> tuple[dict[str, str], dict[str, str]]:
    """The languages by the name of a block and by the ending of a file."""
    by_name: dict[str, str] = {}
    by_ending: dict[str, str] = {}
    for row in lexicon.lines("code_languages"):
        name, _, rest = row.partition(": ")
        named, _, endings = rest.partition("|")
        by_name |= dict.fromkeys(named.split(), name)
        by_ending |= dict.fromkeys(endings.split(), name)
    return by_name, by_ending


@read_once
def language(text: str) -> str:
    """The language that most of `text` is written in.

    >>> language("Where do you live?"), language("我用 Python 写代码"), language("Ich wohne in Berlin")
    ('en', 'zh', 'de')
    >>> language("git push --force"), language("12:30")
    ('', '')
    """
    plain = _CODE.sub(" ", text[:READ]) if "`" in text or "://" in text else text[:READ]
    if not _has_script(plain):
        return _latin(plain)
    scripts = _scripts(plain)
    if not scripts.keys().isdisjoint(_EAST):
        return _eastern(plain, scripts)
    script, letters = scripts.most_common(1)[0]
    if letters < sum(map(str.isalpha, plain)) * _MOST and (latin := _latin(plain)):
        return latin
    return _shared(script, plain)


def languages(text: str) -> tuple[str, ...]:
    """The languages of a text's sentences, the one of the whole text first.

    >>> languages("I live in Berlin. 我住在柏林。")
    ('zh', 'en')
    """
    whole = language(text)
    if whole == "en" and not _has_script(text) and _foreign().isdisjoint(_lower_words(text)):
        return (whole,)
    held = sentences(text[:READ])[:_SENTENCES]
    every = (whole, *map(language, held)) if len(held) > 1 else (whole,)
    return tuple(dict.fromkeys(filter(None, every)))


READ: Final = 1_000
"""So many characters tell a language."""
_SENTENCES: Final = 8
_MOST: Final = 0.5
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\bhttps?://\S+", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SPACED = re.compile(
    r"[^\s.,;:!?()\"«»|\u0964]+"
)  # vowel signs are no letters to a pattern, but belong to the word
_EAST: Final = frozenset({"han", "kana", "hangul"})

# Where a block of letters starts, and whose letters they are; "" ends a block.
_BLOCKS: Final = (
    (0x0370, "el"), (0x0400, "cyrillic"), (0x0530, "hy"), (0x0590, "he"), (0x0600, "arabic"), (0x0700, ""),
    (0x0750, "arabic"), (0x0780, ""), (0x0900, "devanagari"), (0x0980, "bn"), (0x0A00, "pa"), (0x0A80, "gu"),
    (0x0B00, ""), (0x0B80, "ta"), (0x0C00, "te"), (0x0C80, "kn"), (0x0D00, "ml"), (0x0D80, "si"),
    (0x0E00, "th"),
    (0x0E80, "lo"), (0x0F00, "bo"), (0x1000, "my"), (0x10A0, "ka"), (0x1100, "hangul"), (0x1200, "am"),
    (0x13A0, ""), (0x1780, "km"), (0x1800, ""), (0x1F00, "el"), (0x2000, ""), (0x3040, "kana"), (0x3100, ""),
    (0x3130, "hangul"), (0x3190, ""), (0x3400, "han"), (0x4DC0, ""), (0x4E00, "han"), (0xA000, ""),
    (0xAC00, "hangul"), (0xD7B0, ""), (0xF900, "han"), (0xFB00, ""), (0xFF66, "kana"), (0xFFA0, ""),
    (0x20000, "han"), (0x32000, ""),
)  # fmt: skip
_STARTS: Final = tuple(start for start, _ in _BLOCKS)
_SCRIPT = re.compile(
    "".join(
        ("[", *(f"{chr(at)}-{chr(end - 1)}" for (at, script), (end, _) in pairwise(_BLOCKS) if script), "]")
    )
)
_OWN_LETTERS: Final = {
    "cyrillic": (("uk", frozenset("іїєґ")), ("be", frozenset("ў")), ("sr", frozenset("ђћљњџј"))),
    "arabic": (("ur", frozenset("ٹڈڑےں")), ("fa", frozenset("پچژگ"))),
}
_USUAL: Final = {"cyrillic": "ru", "arabic": "ar", "devanagari": "hi"}


def _has_script(text: str) -> bool:
    """Whether the text has a letter of another script than Latin."""
    return not text.isascii() and _SCRIPT.search(text) is not None


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script but Latin the text holds."""
    found: Counter[str] = Counter()
    for character, times in Counter(text).items():
        point = ord(character)
        if point >= _STARTS[0] and (script := _BLOCKS[bisect_right(_STARTS, point) - 1][1]):
            found[script] += times
    return found


def _eastern(text: str, scripts: Counter[str]) -> str:
    """Chinese, Japanese or Korean, unless a text in Latin script only names something in them."""
    letters = sum(scripts[script] for script in _EAST)
    latin = _latin(text)
    if latin and len(_WORD.findall(_ASIAN.sub(" ", text))) > letters:
        return latin
    if scripts["hangul"] > scripts["kana"] + scripts["han"]:
        return "ko"
    # Chinese texts name Japanese things now and then; Japanese has kana in nearly every word.
    return "ja" if scripts["kana"] * 4 > scripts["han"] else "zh"


_ASIAN = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def _shared(script: str, text: str) -> str:
    """Which of the languages that share a script."""
    lower = text.lower()
    for code, letters in _OWN_LETTERS.get(script, ()):
        if not letters.isdisjoint(lower):
            return code
    if script in _USUAL:
        return _by_words(script, _SPACED.findall(lower))[0] or _USUAL[script]
    return script


def _latin(text: str) -> str:
    """The Latin language whose function words are there: two of them, or one in a very short text."""
    words, lower = _words(text), _lower_words(text)
    if "I" in words[1:] or (words[:1] == ("I",) and text.isascii()):
        lower.append("i'm")  # only English writes it with a capital
    if _foreign().isdisjoint(lower):  # then English leads, or nothing does
        code, hits = "en", sum(map(_function_words("latin").__contains__, lower))
    else:
        code, hits = _by_words("latin", lower)
    enough = 1 if len(words) <= _SHORT else 2
    return code if hits >= enough else ""


@read_once
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.replace("’", "'")))


def _lower_words(text: str) -> list[str]:
    return [word.lower() for word in _words(text)]


_SHORT: Final = 4


def _by_words(part: str, words: Iterable[str]) -> tuple[str, int]:
    """The language with most function words, and how many; none when two lead, unless English does."""
    known = _function_words(part)
    score: dict[str, int] = {}
    hits: dict[str, int] = {}
    for word in filter(known.__contains__, words):
        for code, weight in known[word]:
            score[code] = score.get(code, 0) + weight
            hits[code] = hits.get(code, 0) + 1
    best = max(score.values(), default=0)
    leading = [code for code, weight in score.items() if weight == best]
    if len(leading) > 1 and "en" not in leading:
        return "", 0
    code = "en" if "en" in leading else "".join(leading)
    return code, hits.get(code, 0)


@cache
def _foreign() -> frozenset[str]:
    """Function words that English does not have: without one, no sentence of an English text is foreign."""
    return frozenset(
        word for word, codes in _function_words("latin").items() if "en" not in {code for code, _ in codes}
    )


@cache
def _function_words(part: str) -> dict[str, tuple[tuple[str, int], ...]]:
    """Each word with its languages; a word that only one language has weighs more."""
    found: dict[str, list[str]] = {}
    for row in lexicon.parts("languages").get(part, ()):
        code, _, words = row.partition(": ")
        for word in dict.fromkeys(words.split()):
            found.setdefault(word, []).append(code)
    return {word: tuple((code, max(1, 6 // len(codes))) for code in codes) for word, codes in found.items()}
