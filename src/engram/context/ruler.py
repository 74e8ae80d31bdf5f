"""The ruler: texts come in, what they cost a model comes out. One ruler measures all of a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final

from engram.text import tokens

MESSAGE: Final = 4
"""What a message costs beside its words: its role and its ends."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Counts as one family of models counts."""

    family: str
    caution: float = 1.0

    @property
    def exact(self) -> bool:
        """Whether tokens are counted, not estimated."""
        return self.caution == 1.0 and tokens.is_exact(self.family)

    def text(self, text: str) -> int:
        """What a text costs."""
        return ceil(_counted(text, self.family) * self.caution)

    def line(self, text: str) -> int:
        """What a line costs among others: at least what it adds to a text."""
        return self.text(f"{text}\n") + (0 if self.exact else 1)

    def message(self, text: str) -> int:
        """What a message costs; none costs nothing."""
        return self.text(text) + MESSAGE if text else 0


@lru_cache(maxsize=1 << 12)
def _counted(text: str, family: str) -> int:
    """Kept for a while: the same memories stand in one prompt after the other."""
    return tokens.count(text, family)
