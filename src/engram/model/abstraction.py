"""The abstraction tree: many memories in few words, for prompts without room for the memories themselves.

Three levels: clusters of memories that belong together, domains of clusters, and one paragraph for all.
Upkeep makes it; packing shows the finest level that fits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gist:
    """What several memories come to."""

    text: str
    memories: tuple[str, ...] = ()
    """The ids of those it stands for."""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """Everything that is kept, at three distances."""

    clusters: tuple[Gist, ...] = ()
    domains: tuple[Gist, ...] = ()
    paragraph: str = ""

    @property
    def levels(self) -> tuple[tuple[str, tuple[Gist, ...]], ...]:
        """The levels by name, the finest first; an empty one is left out."""
        whole = (Gist(self.paragraph),) if self.paragraph else ()
        named = (("clusters", self.clusters), ("domains", self.domains), ("paragraph", whole))
        return tuple((name, gists) for name, gists in named if gists)
