"""Which characters make words: classes for regular expressions, by script.

Latin, Cyrillic, Arabic, Devanagari and the like are written with spaces; Han, kana, Hangul, Thai, Lao,
Khmer and Burmese are cut into overlapping pairs instead. A class is a string to put between brackets.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

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
