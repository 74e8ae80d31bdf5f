"""One chunk of text between spaces comes in, its terms come out: words, code-like words, numbers, addresses.

The answer depends on the chunk alone and is kept, so that most words cost one look-up.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal

from engram.text import lexicon
from engram.text.scripts import MARKS, folded

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
    tail = f"_x{sha256(raw).hexdigest()[:16]}"
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
