"""How many tokens a text costs: exact with the `tokens` extra installed, otherwise an estimate.

The estimate cuts the text as the tokenizer does before it merges, and adds up what such pieces cost on
average: `base`, and `more` for each character beyond the first ones. `benchmarks/calibrate_tokens.py` learns
the costs; `benchmarks/results/tokens.md` says how well they fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from engram.text.scripts import HAN


def count(text: str, encoding: str = "o200k") -> int:
    """The number of tokens of `text` in an encoding, `o200k` or `cl100k`.

    >>> count("")
    0
    >>> 2 <= count("hello world") <= 3
    True
    """
    if not text:
        return 0
    exact = _exact(encoding)
    return exact(text) if exact else estimate(text, encoding)


def estimate(text: str, encoding: str = "o200k") -> int:
    """The estimate alone, whatever is installed: within a few per cent over a page, rougher for one line."""
    costs = _costs(encoding if encoding in COSTS else "o200k")
    total = sum(map(costs.__getitem__, PIECE.findall(text)))
    costs.trim()
    return max(1, round(total)) if text else 0


def is_exact(encoding: str = "o200k") -> bool:
    """Whether `count` is exact here."""
    return _exact(encoding) is not None


# One sign may belong to the word after it, digits go by three, line ends belong to the signs before them.
# Letters beyond ASCII are taken one by one: their cost hardly depends on their neighbours.
PIECE: Final = re.compile(
    r"[^\r\nA-Za-z0-9\x80-\U0010ffff]?(?:[A-Z]{0,40}[a-z]{1,40}(?:'(?:s|t|re|ve|m|ll|d)\b)?|[A-Z]{1,40})"
    r"|[0-9]{1,3}| ?[^\sA-Za-z0-9\x80-\U0010ffff]{1,40}[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s|[^\x00-\x7f]"
)
_HAN_CHAR = re.compile(f"[{HAN}]")
_OTHER_SIGN = re.compile("[\u2000-\u2bff\u3000-\u3004\u3008-\u303f\uff00-\uffef]")

# How many characters of a piece come with its base cost.
FREE: Final[Mapping[str, int]] = MappingProxyType(
    {
        "word": 8,
        "glued": 5,
        "digits": 3,
        "signs": 2,
        "space": 100,
        "han": 1,
        "other sign": 1,
        "other letter": 1,
    }
)
# Encoding -> kind of piece -> (base, more).
COSTS: Final[Mapping[str, Mapping[str, tuple[float, float]]]] = MappingProxyType(
    {
        "o200k": {
            "word": (0.99, 0.05), "glued": (1.03, 0.15), "digits": (1.0, 0.0), "signs": (1.16, 0.02),
            "space": (0.99, 0.0), "han": (0.79, 0.0), "other sign": (1.0, 0.0), "other letter": (0.5, 0.0),
        },
        "cl100k": {
            "word": (1.04, 0.01), "glued": (1.04, 0.13), "digits": (1.0, 0.0), "signs": (1.14, 0.02),
            "space": (0.89, 0.0), "han": (1.29, 0.0), "other sign": (1.0, 0.0), "other letter": (0.8, 0.0),
        },
    }
)  # fmt: skip


def kind(piece: str) -> str:
    """What kind of piece it is.

    >>> [kind(piece) for piece in PIECE.findall("I like foo_bar(12)。中")]
    ['glued', 'word', 'word', 'glued', 'signs', 'digits', 'signs', 'other sign', 'han']
    """
    if not piece.isascii():
        if _HAN_CHAR.match(piece):
            return "han"
        return "other sign" if _OTHER_SIGN.match(piece) else "other letter"
    if piece[-1].isalpha():
        return "word" if piece[0] == " " else "glued"
    if piece.isspace():
        return "space"
    return "digits" if piece[0].isdigit() else "signs"


class _Costs(dict[str, float]):
    """The cost of each piece seen lately: words repeat, so most are looked up, not worked out."""

    KEPT: Final = 50_000

    def __init__(self, costs: Mapping[str, tuple[float, float]]) -> None:
        super().__init__()
        self._costs = costs

    def __missing__(self, piece: str) -> float:
        name = kind(piece)
        base, more = self._costs[name]
        cost = self[piece] = base + more * max(0, len(piece) - FREE[name])
        return cost

    def trim(self) -> None:
        """Forget all when too much has gathered."""
        if len(self) > self.KEPT:
            self.clear()


@cache
def _costs(encoding: str) -> _Costs:
    return _Costs(COSTS[encoding])


_SURROGATE = re.compile("[\ud800-\udfff]")


@cache
def _exact(encoding: str) -> Callable[[str], int] | None:
    """The real tokenizer, if it is installed and knows the encoding. It needs no network."""
    try:
        import bpe_openai
    except ImportError:
        return None
    name = encoding if encoding.endswith("_base") else f"{encoding}_base"
    if name not in bpe_openai.list_encoding_names():
        return None
    encode = bpe_openai.get_encoding(name).encode_ordinary
    return lambda text: len(encode(_SURROGATE.sub("\ufffd", text)))
