"""How many tokens a text costs: exact for OpenAI's encodings with the `tokens` extra, otherwise an estimate.

The estimate cuts the text as a tokenizer does before it merges, and adds up what such pieces cost on average:
`base`, and `more` for each character beyond the first ones. Every family of models has its own costs, in
`data/token_costs.txt`. `benchmarks/calibrate_tokens.py` learns them from real tokenizers;
`benchmarks/results/tokens.md` says how well they fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from engram.text import lexicon
from engram.text.scripts import HAN

DEFAULT: Final = "o200k"
LONGEST: Final = 1_000_000
"""Characters that a tokenizer is given at once; the tokens of a longer text are estimated."""
LEAST: Final = 0.5
"""No piece of plain text costs less."""


def count(text: str, family: str = DEFAULT) -> int:
    """The number of tokens of `text` for a family of models (o200k, claude, gemma, llama3 and so on).

    >>> count("")
    0
    >>> 2 <= count("hello world") <= 3
    True
    """
    if not text:
        return 0
    exact = _exact(family) if len(text) <= LONGEST else None
    return exact(text) if exact else estimate(text, family)


def estimate(text: str, family: str = DEFAULT) -> int:
    """The estimate alone, whatever is installed: within a few per cent over a page, rougher for one line."""
    costs = _costs(family.removesuffix("_base"))
    total = sum(map(costs.__getitem__, PIECE.findall(text)))
    costs.trim()
    return max(1, round(total)) if text else 0


def is_exact(family: str = DEFAULT) -> bool:
    """Whether `count` is exact here."""
    return _exact(family) is not None


def families() -> tuple[str, ...]:
    """The families whose tokens can be counted or estimated.

    >>> families()[:3]
    ('o200k', 'cl100k', 'claude')
    """
    return tuple(_table())


# One sign may belong to the word after it, digits go by three, line ends belong to the signs before them.
# Letters beyond ASCII are taken one by one: their cost hardly depends on their neighbours.
PIECE: Final = re.compile(
    r"[^\r\nA-Za-z0-9\x80-\U0010ffff]?(?:[A-Z]{0,40}[a-z]{1,40}(?:'(?:s|t|re|ve|m|ll|d)\b)?|[A-Z]{1,40})"
    r"|[0-9]{1,3}| ?[^\sA-Za-z0-9\x80-\U0010ffff]{1,40}[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s|[^\x00-\x7f]"
)
_HAN_CHAR = re.compile(f"[{HAN}]")
_OTHER_SIGN = re.compile("[\u2000-\u2bff\u3000-\u3004\u3008-\u303f\uff00-\uffef]")

# How many characters of a piece come with its base cost. The order is that of the file of costs.
FREE: Final[Mapping[str, int]] = MappingProxyType(
    {
        "word": 8,
        "glued": 5,
        "digits": 1,
        "signs": 2,
        "space": 4,
        "han": 1,
        "other sign": 1,
        "other letter": 1,
    }
)


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
        told = base + more * max(0, len(piece) - FREE[name])
        # What was learned from short runs of signs ends somewhere.
        cost = self[piece] = max(min(base, LEAST), told)
        return cost

    def trim(self) -> None:
        """Forget all when too much has gathered."""
        if len(self) > self.KEPT:
            self.clear()


@cache
def _costs(family: str) -> _Costs:
    table = _table()
    return _Costs(table.get(family, table[DEFAULT]))


@cache
def _table() -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """Family -> kind of piece -> (base, more)."""
    return {family: _row(costs) for family, *costs in map(str.split, lexicon.lines("token_costs"))}


def _row(costs: list[str]) -> dict[str, tuple[float, float]]:
    pairs = (cost.split("+") for cost in costs)
    return {name: (float(base), float(more)) for name, (base, more) in zip(FREE, pairs, strict=True)}


_SURROGATE = re.compile("[\ud800-\udfff]")


@cache
def _exact(family: str) -> Callable[[str], int] | None:
    """The real tokenizer, if it is installed and knows the encoding. It needs no network."""
    try:
        import bpe_openai
    except ImportError:
        return None
    name = family if family.endswith("_base") else f"{family}_base"
    if name not in bpe_openai.list_encoding_names():
        return None
    encode = bpe_openai.get_encoding(name).encode_ordinary
    return lambda text: len(encode(_SURROGATE.sub("\ufffd", text)))
