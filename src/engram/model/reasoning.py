"""What came of thinking a question through: a tree of smaller questions, an answer that cites memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engram.model.recall import Hit


@dataclass(frozen=True, slots=True)
class Branch:
    """A question, what was found for it, and the smaller questions it was taken apart into."""

    question: str
    why: str = ""
    """Why it was asked; empty for the question itself."""
    hits: tuple[Hit, ...] = ()
    branches: tuple[Branch, ...] = ()

    @property
    def is_gap(self) -> bool:
        """Whether nothing was found, here or below."""
        return not self.hits and all(branch.is_gap for branch in self.branches)

    def walk(self) -> Iterator[Branch]:
        """The branch itself and all below, from the top."""
        yield self
        for branch in self.branches:
            yield from branch.walk()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One claim of an answer, and the memories it rests on."""

    claim: str
    memories: tuple[str, ...]
    """Their ids; never empty."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A question thought through. Without a model the tree is the answer."""

    question: str
    tree: Branch
    answer: tuple[Conclusion, ...] = ()
    gaps: tuple[str, ...] = ()
    """Questions for which nothing was found."""
    depth: int = 1
    calls: int = 0
    """Questions put to a model."""
    tokens: int = 0
    """Tokens of the memories that the answer may rest on."""
    notes: tuple[str, ...] = ()

    @property
    def memories(self) -> tuple[str, ...]:
        """The ids of all memories in the tree, each once."""
        return tuple(dict.fromkeys(hit.memory.id for branch in self.tree.walk() for hit in branch.hits))
