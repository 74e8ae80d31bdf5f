"""Echoes: what was recalled into a prompt is heard; a sentence comes in, and whether it only repeats that.

An echo must not become a memory again, however it is quoted, spaced, listed or cased, and whether it says
"user", "you" or "I". A sentence that adds a word, a number, a name or a negation is news, never an echo.

Every recalled text is taken as a whole, by sentence and by clause. Of each, only hashes are kept: of all its
words together, of its shingles (four words or two Chinese characters in a row) and of each word.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from functools import cache
from threading import Lock
from typing import Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.marks import with_labels
from engram.text.sentences import sentences
from engram.text.words import PAIRED, normalized

SHARE: Final = 0.8
"""How much of a sentence's shingles one recalled text must hold."""


class Echoes:
    """What was recalled of late. Owned by whoever recalls; any thread may ask it.

    At most `capacity` texts are kept; the ones heard longest ago go first.

    >>> echoes = Echoes()
    >>> echoes.heard(["User lives in Berlin"])
    >>> echoes.is_echo('> "I live in Berlin."'), echoes.is_echo("I no longer live in Berlin")
    (True, False)
    >>> echoes.is_echo("User lives in Berlin and works at Siemens")
    False
    """

    def __init__(self, capacity: int = 2000, *, share: float = SHARE) -> None:
        self._capacity = capacity
        self._share = share
        self._lock = Lock()
        self._texts: OrderedDict[int, tuple[_Heard, ...]] = OrderedDict()
        self._wholes: Counter[int] = Counter()
        self._holders: dict[int, list[_Heard]] = {}

    def heard(self, texts: Iterable[str]) -> None:
        """Keep in mind what was recalled into a prompt; pass its shorter forms too when they were shown."""
        for text in texts:
            parts = tuple(_parts(text))
            if parts:
                with self._lock:
                    self._add(hash(text), parts)

    def is_echo(self, sentence: str) -> bool:
        """Whether a sentence only repeats what was heard; one of two words, when it is all that was said."""
        if not self._texts:
            return False
        return any(self._repeats(words, numbered=numbered) for words, numbered in _readings(sentence))

    def __len__(self) -> int:
        """How many texts are kept."""
        return len(self._texts)

    def _add(self, key: int, parts: tuple[_Heard, ...]) -> None:
        if key in self._texts:
            self._texts.move_to_end(key)
            return
        self._texts[key] = parts
        for part in parts:
            self._wholes[part.whole] += 1
            for shingle in part.shingles:
                self._holders.setdefault(shingle, []).append(part)
        while len(self._texts) > self._capacity:
            self._forget(self._texts.popitem(last=False)[1])

    def _forget(self, parts: tuple[_Heard, ...]) -> None:
        for part in parts:
            self._wholes[part.whole] -= 1
            if not self._wholes[part.whole]:
                del self._wholes[part.whole]
            for shingle in part.shingles:
                holders = self._holders[shingle]
                holders.remove(part)
                if not holders:
                    del self._holders[shingle]

    def _repeats(self, words: list[str], *, numbered: bool) -> bool:
        with self._lock:
            if hash(tuple(words)) in self._wholes:
                return True
            if numbered:  # "4. May is a holiday" must not pass for a part of "3. May is a holiday"
                return False
            shingles = [(hash(run), _is_strict(run)) for run in _shingles(words)]
            candidates: Counter[_Heard] = Counter()
            for shingle, _ in shingles:
                candidates.update(self._holders.get(shingle, ())[-_FEW:])
        best = candidates.most_common(_FEW)
        return any(self._holds(part, shingles, words) for part, _ in best)

    def _holds(self, part: _Heard, shingles: list[tuple[int, bool]], words: list[str]) -> bool:
        """Whether one recalled part says all that a sentence says."""
        shared = sum(shingle in part.shingles for shingle, _ in shingles)
        if shared < self._share * len(shingles) or part.negations != _negations(words):
            return False
        if any(strict and shingle not in part.shingles for shingle, strict in shingles):
            return False
        return all(hash(word) in part.words or word in _words("neutral") for word in words)


_FEW: Final = 8  # how many texts with the same shingle are looked at: those heard last
_LONGEST: Final = 400  # words of one part; equality counts them all


@dataclass(frozen=True, slots=True, eq=False)
class _Heard:
    """One recalled text, sentence or clause, as hashes."""

    whole: int
    shingles: frozenset[int]
    words: frozenset[int]
    negations: int


def _parts(text: str) -> Iterator[_Heard]:
    """A text as a whole, its sentences and their clauses, each once."""
    told = sentences(text)
    if len(told) == 1:
        told = [text]  # with its number, if it begins with one
    clauses = (clause for sentence in told for clause in _CLAUSE.split(sentence))
    seen: set[tuple[str, ...]] = set()
    for piece in (text, *told, *clauses):
        for words in _worded(piece):
            if words and tuple(words) not in seen:
                seen.add(tuple(words))
                yield _heard(words)


_CLAUSE = re.compile(r"[,;，；。：]\s*|\s+[—–]\s+|\s+(?:but|while|although|though|whereas)\s+", re.IGNORECASE)


def _heard(words: list[str]) -> _Heard:
    kept = words[:_LONGEST]
    runs = {*_shingles(kept), *_runs(kept, _SHORT)}
    return _Heard(
        whole=hash(tuple(words)),
        shingles=frozenset(map(hash, runs)),
        words=frozenset(hash(word) for word in kept),
        negations=_negations(words),
    )


def _readings(sentence: str) -> Iterator[tuple[list[str], bool]]:
    """The ways to read a sentence, each with whether a number before it was taken for a list mark."""
    yield from ((words, False) for words in _worded(sentence) if words)
    bare = _NUMBERING.sub("", sentence, count=1)
    if bare != sentence:
        yield from ((words, True) for words in _worded(bare) if words)


PERSON: Final = "@"
_NUMBERING = re.compile(r"^[\s>\"'“‘*_-]*[\[(]?(?:#?\d{1,3}|[a-z])[\])]?[.):：]?[\])]?\s+")
_QUOTING = re.compile(
    r"(?m)^[\s>|]+|[\"“”„«»‘`*~\[\]{}()（）【】「」『』<>|]|(?<!\w)_+|(?<!\ba)_+(?!\w)|(?<=\s)'|'(?=\s|$)|^'"
)
_SHORTENED = re.compile(r"\b(i|you|we|they|he|she|it|that)'(m|re|ve|ll|s)\b")
_LONG_FORM: Final = {"m": "am", "re": "are", "ve": "have", "ll": "will", "s": "is"}
_USER = re.compile(r"\bthe user\b")


def _worded(text: str) -> tuple[list[str], ...]:
    """The words of a text without quoting and list marks; once more without the frame it may stand in."""
    plain = _QUOTING.sub(" ", with_labels(text.replace("’", "'"))).strip().lower()
    words = _words_of(plain)
    bare = plain
    while (shorter := _frames().sub("", bare, count=1).lstrip()) != bare and shorter:
        bare = shorter
    return (words,) if bare == plain else (words, _words_of(bare))


@cache
def _frames() -> re.Pattern[str]:
    return lexicon.pattern("echoes", "frames")


def _words_of(plain: str) -> list[str]:
    """Words in their plain form; one word for whoever speaks or is spoken to; Chinese by character."""
    lower = _USER.sub("user", plain.lower()).replace("用户", " user ")
    spelled = _SHORTENED.sub(lambda match: f"{match[1]} {_LONG_FORM[match[2]]}", lower)
    tokens = (token for word in normalized(spelled).split() for token in _TOKEN.findall(word))
    return [_form(token) for token in tokens if token]


_TOKEN = re.compile(rf"[{PAIRED}]|[^{PAIRED}]+")
_SAME: Final = {
    "am": "be", "is": "be", "are": "be", "has": "have", "does": "do", "goes": "go", "doesnt": "dont",
    "isnt": "arent", "hasnt": "havent", "wasnt": "werent", "was": "were", "an": "a",
}  # fmt: skip
_KEEPS_S = re.compile(r"(?:ss|us|is|\d)s?$|^.{1,3}$")


def _form(token: str) -> str:
    """A word as it is compared: "lives" is "live", "my" and "user's" are the person's."""
    token = token.lstrip(".")
    if token in _words("persons"):
        return PERSON
    if token in _words("owners"):
        return PERSON + "s"
    if token in _SAME:
        return _SAME[token]
    if token.endswith("s") and token.isascii() and not _KEEPS_S.search(token):
        return (
            token[:-3] + "y"
            if token.endswith("ies")
            else re.sub(r"(?<=ch|sh|ss|zz)es$|(?<=x)es$|s$", "", token)
        )
    return token


@cache
def _words(heading: str) -> frozenset[str]:
    return frozenset(word for row in lexicon.parts("echoes")[heading] for word in row.split())


_GRAM: Final = 4
_SHORT: Final = 3
_PAIRED_CHAR = re.compile(f"[{PAIRED}]")


def _shingles(words: list[str]) -> list[tuple[str, ...]]:
    """Four words in a row, two characters in a row where no spaces are written; a short run as it is."""
    return _runs(words, _GRAM)


def _runs(words: list[str], size: int) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    run: list[str] = []
    paired = False
    for word in (*words, ""):
        is_paired = _PAIRED_CHAR.match(word) is not None
        if run and (not word or is_paired != paired):
            found += _windows(run, 2 if paired else size)
            run = []
        paired = is_paired
        run.append(word)
    return found


def _windows(run: list[str], size: int) -> Iterator[tuple[str, ...]]:
    for start in range(max(1, len(run) - size + 1)):
        yield tuple(run[start : start + size])


def _is_strict(run: tuple[str, ...]) -> bool:
    """Whether a shingle must be shared: a number or a negation in another place says something else."""
    return any(word in _words("negations") or _DIGIT.search(word) for word in run)


_DIGIT = re.compile(r"\d")


def _negations(words: list[str]) -> int:
    return sum(word in _words("negations") for word in words)
