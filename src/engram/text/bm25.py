"""BM25: a question's weighted terms and candidate documents come in, one score for each document comes out.

This is the second stage of text search: the index names candidates, and this ranks them by all terms of
the question, the common ones too. Terms come from `words.terms`; a term's weight is usually
`idf(…) * words.weight(term)`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from engram.lazily import dataclass
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

Document = Sequence[str] | Mapping[str, float]


def score(
    query: Mapping[str, float], docs: Sequence[Document], *, avg_len: float, k1: float = K1, b: float = B
) -> list[float]:
    """The BM25 score of each document; 0 when it shares no term with the question.

    >>> docs = [["red", "appl"], ["red", "car", "red"], ["tea"]]
    >>> [round(s, 3) for s in score({"red": 1.0, "appl": 2.0}, docs, avg_len=2.0)]
    [3.0, 1.199, 0.0]
    """
    return [sum(found.values(), 0.0) for found in parts(query, docs, avg_len=avg_len, k1=k1, b=b)]


def parts(
    query: Mapping[str, float], docs: Sequence[Document], *, avg_len: float, k1: float = K1, b: float = B
) -> list[dict[str, float]]:
    """The same term by term: what each term of the question that a document has adds to its score.

    >>> parts({"red": 1.0, "appl": 2.0}, [["red", "appl"], ["tea"]], avg_len=2.0, k1=1.0)
    [{'red': 1.0, 'appl': 2.0}, {}]
    """
    by = scale(query, avg_len=avg_len, k1=k1, b=b)
    counted = (doc if isinstance(doc, Mapping) else Counter(doc) for doc in docs)
    return [parts_of(counts, sum(counts.values()), by) for counts in counted]


@dataclass(frozen=True, slots=True)
class Scale:
    """What all documents of one question are measured by."""

    weights: Mapping[str, float]
    flat: float
    slope: float


def scale(query: Mapping[str, float], *, avg_len: float, k1: float = K1, b: float = B) -> Scale:
    """What to measure the documents by: the same for each of them."""
    weights = {term: value * (k1 + 1) for term, value in query.items()}
    return Scale(weights, k1 * (1 - b), k1 * b / max(avg_len, 1e-9))


def parts_of(counts: Mapping[str, float], length: float, by: Scale) -> dict[str, float]:
    """What each term adds to one document, by how often it stands there and how long the document is.

    >>> parts_of({"red": 1}, 2, scale({"red": 1.0}, avg_len=2.0, k1=1.0))
    {'red': 1.0}
    """
    weights, damping = by.weights, by.flat + by.slope * length
    return {
        term: weights[term] * count / (count + damping)
        for term, count in counts.items()
        if count and term in weights
    }


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


def documents(unsaid: float) -> float:
    """How many documents there are, by how much a term tells that none of them has.

    >>> round(documents(idf(0, 1000)))
    1000
    """
    return (math.expm1(unsaid) - 1.0) / 2


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
