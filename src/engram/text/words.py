"""Analysis: text comes in, searchable terms come out. The one way for both the index and the question.

A term holds only `a-z`, `0-9`, `_` and characters beyond ASCII; any other ASCII character, the underscore
included, is written `_` + two hexadecimal digits (`auth.ts` is `auth_2ets`). Joined by spaces, terms pass
FTS5 unaltered with `tokenize = "ascii tokenchars '_'"` (`unicode61` would cut emoji and vowel signs). A term
is at most 64 bytes of UTF-8. What a user types never becomes FTS5 syntax: quote each term (`"auth_2ets"`).

* Ordinary words: NFKC, lower case, accents folded, stemmed by the English stemmer when they are ASCII; other
  languages pass unstemmed unless ASCII. Only scripts are told apart, never languages. Stop words are dropped,
  unless the text has nothing else.
* Code-like words (`getUserName`, `foo/bar.py`, `C++`, `--force`, addresses): the whole and its parts.
* Han, kana, Hangul, Thai and relatives: overlapping pairs, and each character alone as `_u` + character. The
  single ones answer one-character questions; they are common, so a ranker takes them times `weight(term)`.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final, Literal

from engram.lazily import dataclass, hashlib
from engram.text import lexicon, re
from engram.text.reading import read_once

# ---------------------------------------------------------------- scripts
# Which characters make words: classes for regular expressions, by script.
#
# Latin, Cyrillic, Arabic, Devanagari and the like are written with spaces; Han, kana, Hangul, Thai, Lao,
# Khmer and Burmese are cut into overlapping pairs instead. A class is a string to put between brackets.


PAIRED: Final = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51"
    "\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56"
    "\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3e-\u0d4d\u0dca-\u0ddf\u0f71-\u0f84\u0f8d-\u0fbc"
)
EMOJI: Final = "\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"

_SURROGATE = re.compile("[\ud800-\udfff]")
_FOLDABLE = re.compile("[\u00c0-\u058f\u1e00-\u1fff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_LETTERS_WITHOUT_PARTS = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "ı": "i", "þ": "th"}
)


def compatible(text: str) -> str:
    """`text` in NFKC, lone surrogates replaced by a space (they cannot be stored).

    >>> compatible("Ｃａｆé ①")
    'Café 1'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _SURROGATE.sub(" ", text))


def folded(word: str) -> str:
    """`word` in lower case without accents; scripts whose marks are vowels keep them.

    >>> folded("Crème"), folded("Łódź"), folded("हिन्दी")
    ('creme', 'lodz', 'हिन्दी')
    """
    word = word.lower()
    if word.isascii() or not (_FOLDABLE.search(word) or _ACCENTS.search(word)):
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS_WITHOUT_PARTS)


def is_wide(text: str) -> bool:
    """Whether a text is mostly written without spaces.

    >>> is_wide("我用 Helix 写代码"), is_wide("Anna 说 hello to everybody here")
    (True, False)
    """
    if text.isascii():
        return False
    return _WIDE_SHARE * len(_WIDE.findall(text)) >= sum(char.isalnum() for char in text)


_WIDE = re.compile(f"[{PAIRED}]")
_WIDE_SHARE: Final = 2.5


# ---------------------------------------------------------------- compounds
# One chunk of text between spaces comes in, its terms come out: words, code-like words, numbers, addresses.
#
# The answer depends on the chunk alone and is kept, so that most words cost one look-up.


MAX_BYTES: Final = 64
# Acronyms that would be stop words if they were not written in capitals.
_CAPITAL_WORDS: Final = frozenset({"US", "IT", "WHO", "AM", "OR", "ME"})

_W = rf"[\w{MARKS}]"
_LETTER = rf"(?:[^\W_]|[{MARKS}])"
_URL = re.compile(r"(?:https?|ftp|file|ssh|git)://[^\s<>\"'`)\]}]+|www\.[^\s<>\"'`)\]}]+", re.IGNORECASE)
_WORD = re.compile(
    rf"(?:(?<![^\W_])(?:--?|[@\#$.]|\.?/))?"  # -rf --force @handle #123 $HOME .env /etc
    rf"{_W}+(?:(?:[-._/@\\&'’]|::?|->|,(?=\d{{3}}(?!\d)))+{_W}+)*"
    rf"(?:\+\+|\+(?!\w)|\#(?!\w))?"
)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_CONTRACTED = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m))$")
_CAMEL = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|(?:[^\W\d_A-Za-z]|[{MARKS}])+")
_SPLIT = re.compile(rf"(?:(?!{_LETTER}).)+", re.DOTALL)
_ESCAPED = re.compile(r"[\x00-/:-`{-\x7f]")


@lru_cache(maxsize=1 << 15)
def chunk_terms(chunk: str, keep_stop: bool) -> tuple[str, ...]:  # noqa: FBT001 - a cache key
    """The terms of a chunk without spaces.

    >>> chunk_terms("(user_id)", False)
    ('user_5fid', 'user', 'id')
    >>> chunk_terms("apples,", False), chunk_terms("the", False), chunk_terms("the", True)
    (('appl',), (), ('the',))
    """
    if chunk.isalpha() and chunk.islower():
        return () if not keep_stop and chunk in lexicon.words("stop_words") else (stem(folded(chunk)),)
    return tuple(_dropped_stop(_chunk_words(chunk), keep_stop=keep_stop))


def encode(word: str) -> str:
    """A lower-case word as a term: ASCII other than letters and digits escaped, at most 64 bytes."""
    if word.isascii() and word.isalnum() and len(word) <= MAX_BYTES:
        return word
    term = _ESCAPED.sub(lambda match: f"_{ord(match.group()):02x}", word)
    raw = term.encode("utf-8", "replace")
    if len(raw) <= MAX_BYTES:
        return term
    tail = f"_x{hashlib.sha256(raw).hexdigest()[:16]}"
    return raw[: MAX_BYTES - len(tail)].decode("utf-8", "ignore") + tail


def stem(word: str) -> str:
    """The English stem of an ASCII word of letters; anything else as a term.

    >>> stem("running"), stem("münchen"), stem("k8s")
    ('run', 'münchen', 'k8s')
    """
    if not (word.isascii() and word.isalpha()):
        return encode(word)
    return encode(_english()(word))


# How a word found in a chunk is treated: as a word of a sentence (stemmed, dropped when too common),
# as a part of a code-like word (stemmed, kept) or as it stands.
_Role = Literal["word", "part", "exact"]
_Found = tuple[str, _Role]


def _dropped_stop(found: Iterable[_Found], *, keep_stop: bool) -> Iterator[str]:
    stop = lexicon.words("stop_words")
    seen: set[str] = set()
    for word, role in found:
        if role == "word" and not keep_stop and word in stop:
            continue
        term = encode(word) if role == "exact" else stem(word)
        if term and term not in seen:
            seen.add(term)
            yield term


def _chunk_words(chunk: str) -> Iterator[_Found]:
    url = _URL.search(chunk)
    if url is None:
        for match in _WORD.finditer(chunk):
            yield from _word(match.group())
        return
    yield from _chunk_words(chunk[: url.start()])
    yield from _address(url.group().rstrip(".,;:!?"))
    yield from _chunk_words(chunk[url.end() :])


def _word(raw: str) -> Iterator[_Found]:
    raw = _without_emphasis(raw.replace("’", "'"))
    word = folded(raw)
    if not raw:
        return
    if raw.isalpha():
        yield from _letters(raw, word)
    elif _NUMBER.fullmatch(word):
        yield word.replace(",", ""), "exact"
    elif _ACRONYM.fullmatch(word):
        yield word.replace(".", ""), "exact"
    elif "'" in word:
        yield from _with_apostrophe(raw, word)
    else:
        yield from _compound(raw, word)


def _without_emphasis(raw: str) -> str:
    """`_word_` is a word in italics; `__init__` and `_private` are names. Underscores alone are nothing."""
    bare = raw.strip("_")
    return bare if not bare or (raw[0] == raw[-1] == "_" and raw[1:-1] == bare) else raw


def _letters(raw: str, word: str) -> Iterator[_Found]:
    yield word, "exact" if raw in _CAPITAL_WORDS else "word"
    if not (raw.islower() or raw.isupper() or raw.istitle()):
        yield from _parts(raw, "part")


def _with_apostrophe(raw: str, word: str) -> Iterator[_Found]:
    """`don't` is a stop word, `Anna's` is Anna, `O'Brien` is obrien and brien."""
    bare = _CONTRACTED.sub("", word)
    if word in lexicon.words("stop_words") or not bare:
        yield word.replace("'", ""), "word"
    elif "'" not in bare:
        yield from _word(raw[: len(bare)])
    else:
        yield bare.replace("'", ""), "word"
        yield from _parts(raw[: len(bare)], "word")


def _compound(raw: str, word: str) -> Iterator[_Found]:
    """The whole of a code-like word, then the pieces someone may ask for."""
    joined = word.replace("-", "")
    hyphened = word[:1] != "-" and joined.isalnum() and not _DATE.fullmatch(word)
    if _ORDINAL.fullmatch(word):
        yield word, "exact"
        yield word[:-2], "exact"
        return
    yield (joined, "part") if hyphened else (word.rstrip("/"), "exact")  # e-mail is email, GPT-4 is gpt4
    version = _VERSION.fullmatch(word)
    if version:
        yield version.group(1), "exact"
    folder, slash, last = word.rpartition("/")
    if slash and folder and len(last) > 1:
        yield last, "exact"
    yield from _parts(raw, "word" if hyphened else "part", dated=_DATE.fullmatch(word) is not None)


def _address(url: str) -> Iterator[_Found]:
    bare = re.sub(r"^[a-z]+://(?:www\.)?|^www\.", "", folded(url)).rstrip("/")
    yield bare, "exact"
    yield re.split(r"[/?#:]", bare, maxsplit=1)[0], "exact"
    yield from _parts(re.sub(r"^\w+://", "", url), "part")


def _parts(raw: str, role: _Role, *, dated: bool = False) -> Iterator[_Found]:
    """Pieces between separators, then between humps; lone letters say nothing, dates lose leading zeros."""
    for piece in _SPLIT.split(raw):
        for part in (piece, *_CAMEL.findall(piece)):
            if dated:
                yield part.lstrip("0") or "0", "exact"
            elif len(part) > 1 or part.isdigit():
                yield folded(part), role


@lru_cache(maxsize=1)
def _english() -> Callable[[str], str]:
    """The Snowball stemmer; one at a time, because it is not safe to share between threads."""
    from Stemmer import Stemmer

    stemmer = Stemmer("english", 0)
    lock = threading.Lock()

    def stem_word(word: str) -> str:
        with lock:
            return str(stemmer.stemWord(word))

    return stem_word


SINGLE: Final = "_u"
SINGLE_WEIGHT: Final = 0.25

_CHUNK = re.compile(
    rf"(?P<paired>[{PAIRED}]+)|(?P<flag>[\U0001f1e6-\U0001f1ff]{{2}})|(?P<emoji>[{EMOJI}])"
    rf"|[^\s{PAIRED}{EMOJI}]+"
)
_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』|`([^`]+)`')


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a question asks the text index: its terms, its quoted parts; `weak` when it is stop words only."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    weak: bool


def terms(text: str) -> list[str]:
    """The terms of `text` in order, with repeats.

    >>> terms("Did she edit src/auth.ts with C++?")
    ['edit', 'src_2fauth_2ets', 'auth_2ets', 'src', 'auth', 'ts', 'c_2b_2b']
    >>> terms("我住在上海")
    ['我住', '住在', '_u住', '在上', '上海', '_u上', '_u海']
    >>> terms("to be or not to be")
    ['to', 'be', 'or', 'not', 'to', 'be']
    """
    return list(_analyse(text)[0])


@read_once
def query_terms(text: str) -> QueryTerms:
    """The terms of a question, deduplicated in order, and its quoted phrases.

    >>> query_terms('who said "red apples"?')
    QueryTerms(terms=('red', 'appl'), phrases=(('red', 'appl'),), weak=False)
    >>> query_terms("who am I")
    QueryTerms(terms=('who', 'am', 'i'), phrases=(), weak=True)
    """
    found, weak = _analyse(text)
    quoted = ("".join(groups) for groups in _QUOTED.findall(text))
    phrases = (tuple(term for term in terms(part) if not term.startswith(SINGLE)) for part in quoted)
    return QueryTerms(tuple(dict.fromkeys(found)), tuple(p for p in phrases if len(p) > 1), weak)


def content_words(text: str) -> frozenset[str]:
    """The distinct terms of `text`, to compare two texts by the words they share.

    Single characters count only when there is no pair, so that two Chinese sentences compare by pairs.

    >>> sorted(content_words("The apples, the red apples!"))
    ['appl', 'red']
    """
    found = frozenset(terms(text))
    return frozenset(term for term in found if not term.startswith(SINGLE)) or found


def weight(term: str) -> float:
    """How much a term counts in ranking: a lone character of a script without spaces counts a quarter."""
    return SINGLE_WEIGHT if term.startswith(SINGLE) else 1.0


_SPACED_SYMBOLS = re.compile(r"[,'’ʼ‘](?:(?<!,)|(?<=\d,)(?=\d{3}(?!\d)))")
# Runs of what always stays come first: a sentence is then few matches, not one for each letter.
_KEPT = re.compile(
    rf"[%$€£¥₹°=<>≤≥±\s\w{MARKS}{PAIRED}{EMOJI}\U0001f1e6-\U0001f1ff]+"
    r"|(?<=\d)[.:](?=\d)|(?<!\S)\.(?=[^\W\d])|(?<!\w)[-−](?=\d)"  # 3.5 10:30 .env -5
    r"|(?<=\w)\+\+?(?!\w)|(?<=\w)\#(?!\w)|(?<!\w)[\#@](?=\w)"  # C++ C# #123 @handle
    r"|(?<=(?<![\w-])[a-z])[-−](?![\w-])"  # the mark B-
)


def normalized(text: str) -> str:
    """`text` in lower case, without punctuation, with single spaces: alike for two spellings of one text.

    Symbols that change the meaning stay: `C++`, `C#`, `-5`, `3.5`, `50%`, `.env`, emoji. A text of nothing
    but punctuation stays as it is.

    >>> normalized("It's  C++, not C!  $3,000.")
    'its c++ not c $3000'
    >>> normalized("?!")
    '?!'
    """
    plain = compatible(text).lower()
    if "," in plain or "'" in plain or not plain.isascii():
        plain = _SPACED_SYMBOLS.sub("", plain)
    kept = _drop_punctuation(plain).split()
    return " ".join(kept or plain.split())


def content_hash(text: str) -> str:
    """SHA-256 of the normalized text, in hexadecimal."""
    return hashlib.sha256(normalized(text).encode()).hexdigest()


def _drop_punctuation(plain: str) -> str:
    if plain.replace(" ", "").isalnum():
        return plain
    out: list[str] = []
    end = 0
    for match in _KEPT.finditer(plain):
        if match.start() > end:
            out.append(" ")
        out.append(match.group())
        end = match.end()
    return "".join(out)


@read_once
def _analyse(text: str) -> tuple[tuple[str, ...], bool]:
    """The terms, and whether they are stop words kept only because there was nothing else."""
    plain = compatible(text)
    found = _collect(plain, keep_stop=False)
    if found:
        return tuple(found), False
    found = _collect(plain, keep_stop=True)
    return tuple(found), bool(found)


def _collect(plain: str, *, keep_stop: bool) -> list[str]:
    found: list[str] = []
    if plain.isascii():
        for chunk in plain.split():
            found += chunk_terms(chunk, keep_stop)
        return found
    for match in _CHUNK.finditer(plain):
        if match.lastgroup is None:
            found += chunk_terms(match.group(), keep_stop)
        elif match.lastgroup == "paired":
            found += _pairs(match.group(), keep_stop)
        else:
            found.append(match.group())
    return found


@lru_cache(maxsize=1 << 13)
def _pairs(run: str, keep_stop: bool) -> tuple[str, ...]:  # noqa: FBT001 - a cache key
    """The overlapping pairs of a run, each followed by its first character alone."""
    stop = frozenset[str]() if keep_stop else lexicon.words("stop_chars")
    found: list[str] = []
    for here, after in zip(run, (*run[1:], ""), strict=True):
        if after and not (here in stop and after in stop):
            found.append(here + after)
        if here not in stop:
            found.append(SINGLE + here)
    return tuple(found)
