"""The text index, read: BM25 over each memory's words and cues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engram.model.scope import Access
from engram.ports import Findable, Match, View
from engram.testing.memory_store.filtering import allowed
from engram.testing.memory_store.tables import Tables
from engram.text import bm25
from engram.text.words import weight


class MemoryTexts:
    """`Texts` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def search(self, terms: Sequence[str], view: View, limit: int) -> list[tuple[int, float]]:
        """The best keys with their scores."""
        tables = self._tables()
        keys = [key for key, _ in allowed(tables, view)]
        scored = _score(tables, terms, keys, _read_by(tables, view.access))
        found = [(key, score) for key, score in scored.items() if score > 0]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def score(self, terms: Sequence[str], keys: Sequence[int], access: Access) -> dict[int, float]:
        """The score of given keys."""
        tables = self._tables()
        asked = [int(key) for key in keys if int(key) in tables.findables]
        known = _score(tables, terms, asked, _read_by(tables, access))
        return {int(key): known.get(int(key), 0.0) for key in keys}

    def matches(self, terms: Sequence[str], keys: Sequence[int], access: Access) -> dict[int, Match]:
        """The same term by term."""
        tables = self._tables()
        asked = [int(key) for key in keys if int(key) in tables.findables]
        return _matches(tables, terms, asked, _read_by(tables, access))

    def rarity(self, terms: Sequence[str], access: Access) -> dict[str, float]:
        """How much each term tells."""
        return _rarity(_read_by(self._tables(), access), terms)


def _read_by(tables: Tables, access: Access) -> dict[int, Findable]:
    """What the caller may read: nothing else is counted."""
    return {
        key: findable
        for key, findable in tables.findables.items()
        if access.may_read(tables.records[key].scope)
    }


def _score(
    tables: Tables, terms: Sequence[str], keys: Sequence[int], read: Mapping[int, Findable]
) -> dict[int, float]:
    return {key: sum(match.terms.values()) for key, match in _matches(tables, terms, keys, read).items()}


def _matches(
    tables: Tables, terms: Sequence[str], keys: Sequence[int], read: Mapping[int, Findable]
) -> dict[int, Match]:
    if not keys:
        return {}
    lengths = [len(_words(findable)) for findable in read.values()] or [1]
    query = {term: rarity * weight(term) for term, rarity in _rarity(read, terms).items()}
    docs = [_words(tables.findables[key]) for key in keys]
    parts = bm25.parts(query, docs, avg_len=sum(lengths) / len(lengths))
    return {key: Match(found, len(doc)) for key, doc, found in zip(keys, docs, parts, strict=True)}


def _rarity(findables: Mapping[int, Findable], terms: Sequence[str]) -> dict[str, float]:
    docs = [frozenset(_words(findable)) for findable in findables.values()]
    return {term: bm25.idf(sum(term in doc for doc in docs), len(docs)) for term in terms}


def _words(findable: Findable) -> tuple[str, ...]:
    return findable.terms + findable.cues
