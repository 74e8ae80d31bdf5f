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

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from engram.text import compounds, lexicon
from engram.text.scripts import EMOJI, MARKS, PAIRED, compatible

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
    return _analyse(text)[0]


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


def encode(word: str) -> str:
    """A lower-case word as one term that FTS5 leaves alone; a word over 64 bytes keeps its head and a hash.

    >>> encode("c++"), encode("user_id"), encode("naïve")
    ('c_2b_2b', 'user_5fid', 'naïve')
    """
    return compounds.encode(word)


_SPACED_SYMBOLS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|['’ʼ‘]")
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
    return sha256(normalized(text).encode()).hexdigest()


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


def _analyse(text: str) -> tuple[list[str], bool]:
    """The terms, and whether they are stop words kept only because there was nothing else."""
    plain = compatible(text)
    found = _collect(plain, keep_stop=False)
    if found:
        return found, False
    found = _collect(plain, keep_stop=True)
    return found, bool(found)


def _collect(plain: str, *, keep_stop: bool) -> list[str]:
    found: list[str] = []
    if plain.isascii():
        for chunk in plain.split():
            found += compounds.chunk_terms(chunk, keep_stop)
        return found
    for match in _CHUNK.finditer(plain):
        if match.lastgroup is None:
            found += compounds.chunk_terms(match.group(), keep_stop)
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
