"""The human language of a text: text comes in, an ISO 639-1 code comes out, or "" when nothing is sure.

The script decides first; scripts that several languages share are told apart by letters only one of them has
and by function words. Latin script is told by function words alone, so a name or a command has no language.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

from engram.text import lexicon, re
from engram.text.reading import read_once
from engram.text.sentences import sentences


@read_once
def language(text: str) -> str:
    """The language that most of `text` is written in.

    >>> language("Where do you live?"), language("我用 Python 写代码"), language("Ich wohne in Berlin")
    ('en', 'zh', 'de')
    >>> language("git push --force"), language("12:30")
    ('', '')
    """
    plain = _CODE.sub(" ", text[:READ]) if _CODED.search(text) else text[:READ]
    if plain.isascii():
        return _latin(plain)
    scripts = _scripts(plain)
    if not scripts:
        return _latin(plain)
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
    if whole == "en" and text.isascii() and _foreign().isdisjoint([word.lower() for word in _words(text)]):
        return (whole,)
    held = sentences(text[:READ])[:_SENTENCES]
    every = (whole, *map(language, held)) if len(held) > 1 else (whole,)
    return tuple(dict.fromkeys(filter(None, every)))


READ: Final = 1_000
"""So many characters tell a language."""
_SENTENCES: Final = 8
_MOST: Final = 0.5
_CODED = re.compile(r"`|://")
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
_OWN_LETTERS: Final = {
    "cyrillic": (("uk", frozenset("іїєґ")), ("be", frozenset("ў")), ("sr", frozenset("ђћљњџј"))),
    "arabic": (("ur", frozenset("ٹڈڑےں")), ("fa", frozenset("پچژگ"))),
}
_USUAL: Final = {"cyrillic": "ru", "arabic": "ar", "devanagari": "hi"}


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
    words = _words(text.replace("’", "'"))
    lower = [word.lower() for word in words]
    if "I" in words[1:] or (words[:1] == ("I",) and text.isascii()):
        lower.append("i'm")  # only English writes it with a capital
    code, hits = _by_words("latin", lower)
    enough = 1 if len(words) <= _SHORT else 2
    return code if hits >= enough else ""


@read_once
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text))


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
