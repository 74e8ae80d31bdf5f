"""BM25: its numbers, how much a term tells, and whether quoted words stand in a document.

The store ranks by them over arrays (`store/sqlite/texts.py`); a term weighs `idf(…) * words.weight(term)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from engram.text.words import SINGLE

K1 = 0.9  # how much a repeated word adds (measured)
B = 0.6  # how much long memories are held back (measured)
CUE_WEIGHT = 1.0  # what a cue word (speaker, date, tag) counts against a content word (measured)

FEWEST_DOCUMENTS = 200
LONG: Final = 400
"""Terms of a document from which its passages are looked at too."""
PASSAGE: Final = 200
"""Terms of a passage; the next one begins halfway through it."""
STEP: Final = PASSAGE // 2


def idf(documents_with_term: int, documents: float) -> float:
    """How much a term tells: high when few documents have it, never negative.

    >>> round(idf(1, 1000), 2), round(idf(1000, 1000), 4)
    (6.5, 0.0005)

    A handful of documents says nothing about how common a word is, so a small file counts as a larger one.

    >>> idf(2, 3) == idf(2, FEWEST_DOCUMENTS)
    True
    """
    of = max(documents, FEWEST_DOCUMENTS)
    return math.log1p((of - documents_with_term + 0.5) / (documents_with_term + 0.5))


def phrase_share(phrases: Sequence[Sequence[str]], doc: Sequence[str]) -> float:
    """The share of quoted phrases that stand word by word in the document, between 0 and 1.

    >>> phrase_share([["red", "appl"], ["green", "tea"]], ["some", "red", "appl"])
    0.5
    """
    if not phrases:
        return 0.0
    # Spaces at both ends let a plain substring search respect term borders: terms hold no space.
    line = f" {' '.join(term for term in doc if not term.startswith(SINGLE))} "
    return sum(f" {' '.join(phrase)} " in line for phrase in phrases) / len(phrases)
