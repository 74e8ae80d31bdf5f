"""The ruler: texts come in, what they cost a model comes out. One ruler measures all of a prompt."""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Final

from engram.model.language_model import LanguageModel
from engram.text import tokens

MESSAGE: Final = 4
"""What a message costs beside its words: its role and its ends."""


class Ruler:
    """Counts as one model counts. Holds nothing; any thread may use it."""

    def __init__(self, model: LanguageModel) -> None:
        self._family = model.tokenizer
        self._caution = model.caution
        self.exact = tokens.is_exact(model.tokenizer) and model.caution == 1.0
        """Whether tokens are counted, not estimated."""

    def text(self, text: str) -> int:
        """What a text costs."""
        return ceil(_counted(text, self._family) * self._caution)

    def line(self, text: str) -> int:
        """What a line costs among others: at least what it adds to a text."""
        return self.text(f"{text}\n") + (0 if self.exact else 1)

    def message(self, text: str) -> int:
        """What a message costs; none costs nothing."""
        return self.text(text) + MESSAGE if text else 0


@lru_cache(maxsize=1 << 13)
def _counted(text: str, family: str) -> int:
    """Kept for a while: the same memories stand in one prompt after the other."""
    return tokens.count(text, family)
