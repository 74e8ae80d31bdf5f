"""The words of a retrieval benchmark: a haystack, the questions asked of it, and what was observed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from engram.errors import InvalidInput
from engram.model.draft import Draft

Progress = Callable[[int], None]
"""Told how many more questions are done."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, and which documents hold its answer."""

    text: str
    wanted: frozenset[str]
    group: str
    answerable: bool = True
    """False where the data set's makers say that the haystack holds no answer."""


@dataclass(frozen=True, slots=True)
class Document:
    """One thing to write, and the name that evidence knows it by. Several may share a name."""

    name: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class Haystack:
    """Everything one fresh engine is given, and what it is asked afterwards."""

    name: str
    documents: tuple[Document, ...]
    asks: tuple[Ask, ...]
    asked_at: datetime
    """The engine's present while it writes and answers."""
    left_out: int = 0
    """Questions of the data that name no evidence that exists."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a ranking: the documents it stands for, and how well it fits."""

    documents: frozenset[str]
    score: float


@dataclass(frozen=True, slots=True)
class Answered:
    """What the engine brought for one question."""

    ask: Ask
    ranking: tuple[Entry, ...]
    best_relevance: float
    ms: float
    empty: bool
    """Whether nothing at all comes back under the configured relevance floor."""


def read_json(path: Path) -> Any:
    """A JSON file, packed with gzip or not. Raises InvalidInput."""
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror or error}.") from error
    except (ValueError, EOFError) as error:
        raise InvalidInput(f"{path.name} is not JSON: {error}.") from error
