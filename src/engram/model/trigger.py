"""A trigger: words in a message that load extra knowledge pages into the recall pack."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram.model.scope import Scope

PAGE_KINDS = ("entity", "tag", "category", "memory", "origin")
"""What a page may be: what is known of a name, under a tag, of a category, one memory, or a document."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When one of the words is said, the pages are loaded."""

    id: str
    words: tuple[str, ...]
    pages: tuple[str, ...]
    """Each as kind and name: `entity:Anna`, `tag:billing`, `category:procedure`, `memory:7f3a91c2`,
    `origin:file:/notes/house.md`."""
    scope: Scope
    created_at: datetime
