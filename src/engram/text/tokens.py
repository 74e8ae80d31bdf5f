"""How many tokens a text costs: exact for OpenAI's encodings with the `tokens` extra, otherwise an estimate.

The estimate cuts the text as a tokenizer does before it merges, and adds up what such pieces cost on average:
`base`, and `more` for each character beyond the first ones. Every family of models has its own costs, in
`data/token_costs.txt`. `benchmarks/calibrate_tokens.py` learns them from real tokenizers;
`benchmarks/results/tokens.md` says how well they fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from math import log2
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from engram.lazily import dataclass
from engram.text import lexicon, re
from engram.text.reading import read_once
from engram.text.words import HAN

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


@read_once
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
# Letters beyond ASCII are taken one by one: their cost hardly depends on their neighbours. Signs are spelled
# out: "anything but letters, digits and what is beyond ASCII" takes ten times as long to compile.
PIECE: Final = re.compile(
    r"[\x00-\t\x0b\x0c\x0e-/:-@\[-`{-\x7f]?(?:[A-Z]{0,40}[a-z]{1,40}(?:'(?:s|t|re|ve|m|ll|d)\b)?|[A-Z]{1,40})"
    r"|[0-9]{1,3}| ?[\x00-\x08\x0e-\x1b!-/:-@\[-`{-\x7f]{1,40}[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s|[^\x00-\x7f]"
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
    bindings = _bindings()
    name = family if family.endswith("_base") else f"{family}_base"
    if bindings is None or name not in bindings.supported_encodings():
        return None
    counted: Callable[[str], int] = bindings.tokenizer_for_encoding(name).count
    return lambda text: counted(_SURROGATE.sub("\ufffd", text) if not text.isascii() else text)


@cache
def _bindings() -> Any:
    """The compiled part of `bpe_openai` alone: importing the package reads every vocabulary there is."""
    found = find_spec("bpe_openai")
    for folder in found.submodule_search_locations or () if found else ():
        for file in (Path(folder, f"_bindings{suffix}") for suffix in EXTENSION_SUFFIXES):
            if not file.exists():
                continue
            spec = spec_from_file_location("bpe_openai._bindings", file)
            if spec is not None and spec.loader is not None:
                module = module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    return None


# ---------------------------------------------------------------- packing
# Packing: things that can be told at several lengths come in; which to tell at which length comes out.
#
# A knapsack by value per token. Each thing climbs from its shortest form to its full one; the step that
# gives most for its tokens is taken first. Three things come before that:
#
# * what must be there is there at least in its shortest form, and alone when not even all of that fits;
# * then the best thing gets the fullest form that fits, so more room never shows less of it;
# * the rest competes.
#
# The same input always gives the same choice, and the costs together never exceed the room.


@dataclass(frozen=True, slots=True)
class Parcel:
    """One thing to tell: what it is worth in full, and what each of its forms costs, the fullest first."""

    value: float
    costs: tuple[int, ...]
    needed: bool = False
    """Whether it must be there."""


def value(rank: int, relevance: float) -> float:
    """What a memory is worth that was found at a place, counted from 0: by its fit, less further down.

    >>> value(0, 1.0), value(2, 1.0), value(0, 0.0)
    (1.0, 0.5, 0.25)
    """
    return (0.25 + 0.75 * relevance) / log2(2 + rank)


WORTH: Final = (1.0, 0.8, 0.6, 0.25)
"""What the forms are worth of the whole: full, summary, key fact, label."""


def pack(parcels: Sequence[Parcel], room: int, most: int | None = None) -> list[int | None]:
    """For each parcel the place of its form, or None when it is left out. The best parcel stands first.

    >>> parcels = [Parcel(1.0, (50, 20, 10, 4)), Parcel(0.9, (50, 20, 10, 4)), Parcel(0.1, (9, 9, 9, 3))]
    >>> pack(parcels, 200), pack(parcels, 75), pack(parcels, 56)
    ([0, 0, 0], [0, 1, 3], [0, 3, None])
    >>> pack([Parcel(1.0, (50, 20)), Parcel(0.0, (40, 10), needed=True)], 35)
    [1, 1]
    """
    load = _Load(parcels, room, len(parcels) if most is None else most)
    if load.takes_what_must() and parcels:
        load.raise_to_best(0)
        for at, form in _steps(parcels):
            load.raise_to(at, form)
        # A step that was too big may be smaller: what is left goes to whatever still fits, the best first.
        for at in range(len(parcels)):
            load.raise_to_best(at)
    return load.chosen


class _Load:
    """What has been chosen so far, and the room that is left. Lives for one packing."""

    def __init__(self, parcels: Sequence[Parcel], room: int, most: int) -> None:
        self.chosen: list[int | None] = [None] * len(parcels)
        self._parcels = parcels
        self._left = room
        self._free = most

    def takes_what_must(self) -> bool:
        """Take what must be there as short as may be, in order; whether all of it fits."""
        needed = [at for at, one in enumerate(self._parcels) if one.needed]
        self._free = max(self._free, len(needed))
        raised = [self.raise_to(at, _cheapest(self._parcels[at].costs)) for at in needed]
        return all(raised)

    def raise_to(self, at: int, form: int) -> bool:
        """Tell one parcel at least so fully; whether that fits."""
        now, costs = self.chosen[at], self._parcels[at].costs
        if now is not None and now <= form:
            return True
        more = costs[form] - (0 if now is None else costs[now])
        if more > self._left or (now is None and not self._free):
            return False
        self._free -= now is None
        self._left -= more
        self.chosen[at] = form
        return True

    def raise_to_best(self, at: int) -> None:
        """Tell one parcel as fully as fits."""
        any(self.raise_to(at, form) for form in range(len(self._parcels[at].costs)))


def _cheapest(costs: tuple[int, ...]) -> int:
    """The fullest among the cheapest forms."""
    return min(range(len(costs)), key=lambda form: (costs[form], form))


def _steps(parcels: Sequence[Parcel]) -> list[tuple[int, int]]:
    """Every step of every parcel, the one that gives most for its tokens first."""
    ranked = sorted((-gain, at, -form) for at, one in enumerate(parcels) for gain, form in _climb(one))
    return [(at, -form) for _, at, form in ranked]


def _climb(one: Parcel) -> Iterator[tuple[float, int]]:
    """The forms worth stopping at from the shortest up, each with its gain in value per token.

    A form is passed over when going on to a fuller one gives more for each token: so gains only fall.
    """
    spent, worth, form = 0, 0.0, len(one.costs)
    while form > 0:
        best: tuple[float, int] | None = None
        for fuller in range(form - 1, -1, -1):
            share = WORTH[min(fuller, len(WORTH) - 1)]
            gain = (one.value * share - worth) / max(1, one.costs[fuller] - spent)
            if best is None or gain >= best[0]:
                best = (gain, fuller)
        if best is None:
            return
        yield best
        form = best[1]
        spent, worth = one.costs[form], one.value * WORTH[min(form, len(WORTH) - 1)]
