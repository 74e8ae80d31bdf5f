"""What a parameter says of itself; every door makes schemas, options and help of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Says:
    """A parameter in words: `limit: Annotated[int, Says("So many at most.", least=1)]`."""

    sentence: str
    least: float | None = None
    most: float | None = None
    default: Any = None
    """What it is when it is left out, where the signature cannot say it."""
    flags: str = ""
    """How the command line spells it: `-n --limit`; empty: by its name."""
    choices: tuple[str, ...] = ()
    for_agents: bool = False
    """Whether a pinned tool of an agent takes it too."""
