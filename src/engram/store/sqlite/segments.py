"""Segments: what recall needs of some memories, as arrays, and what their words say to a question.

A memory is a unit that words are counted in; a long one has passages beside it, which are units as well, so
that a name inside a contract counts by its paragraph. Words are kept as 32-bit hashes, each with the units
that have it, in order. A segment never changes but for `alive`: whatever is written anew about a memory
stands in a newer segment, and the older line is dead.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from engram.lazily import dataclass
from engram.text import bm25

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Places = NDArray[np.intp]
Array = NDArray[Any]

MOST_SAID, MOST_CUED = 31, 7
"""A word that stands more often in a text, or among its cues, is counted so often."""
CUE_SHIFT = 5
UNIT_BITS, CODE_BITS = 24, 8
"""A unit has a lower number than this many bits hold, but for very long texts; how often, always."""

COLUMNS: Final[Mapping[str, str]] = {
    "keys": "<i8",
    "happened": "<i8",
    "previous": "<i8",
    "scopes": "<i4",
    "lengths": "<i4",
    "statuses": "<i1",
    "kinds": "<i1",
    "asking": "|b1",
}
"""What is kept of each memory: its key, when it happened, the key of the turn before it, the number of its
scope, how many terms it has, its status and kind by their place in the list, whether it asks."""
LISTS: Final[Mapping[str, str]] = {
    "owners": "<i4",
    "hashes": "<u4",
    "starts": "<i4",
    "units": "<i4",
    "codes": "|u1",
    "gone": "<i8",
}
"""The memory of each passage; the words, where the units of each begin, the units and how often each has the
word; and keys that went."""


@dataclass(frozen=True, slots=True)
class UnitLine:
    """A memory as it comes from its tables."""

    key: int
    happened: int
    previous: int
    scope: int
    length: int
    status: int
    kind: int
    asks: bool
    body: str
    cues: str


@dataclass(slots=True, eq=False)
class Segment:
    """Some memories, in the order of their keys. One thread makes it; any thread reads it."""

    keys: Ints
    happened: Ints
    previous: Ints
    scopes: NDArray[np.int32]
    lengths: NDArray[np.int32]
    statuses: NDArray[np.int8]
    kinds: NDArray[np.int8]
    asking: NDArray[np.bool_]
    owners: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    starts: NDArray[np.int32]
    units: NDArray[np.int32]
    codes: NDArray[np.uint8]
    gone: Ints
    alive: NDArray[np.bool_] = field(init=False)
    """Which lines still hold."""
    dead: int = field(init=False, default=0)
    block: int | None = field(init=False, default=None)
    """The number of the block in the file that says the same."""
    _followers: tuple[Ints, Places] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.alive = np.ones(len(self.keys), dtype=np.bool_)

    @property
    def size(self) -> int:
        """How many memories it has lines of."""
        return len(self.keys)

    def places(self, keys: Ints) -> tuple[Places, Places]:
        """Which of the keys have a line that holds here, and where those lines stand."""
        if not self.size or not len(keys):
            return _NOWHERE, _NOWHERE
        found = self.keys[:-1].searchsorted(keys)
        here = ((self.keys[found] == keys) & self.alive[found]).nonzero()[0]
        return here, found[here]

    def following(self, keys: Ints) -> tuple[Places, Places]:
        """Which of the keys are followed by a turn of here, and where that turn stands."""
        if self._followers is None:
            order = np.argsort(self.previous, kind="stable")
            self._followers = self.previous[order], order
        before, order = self._followers
        if not len(before):
            return _NOWHERE, _NOWHERE
        found = before[:-1].searchsorted(keys)
        places = order[found]
        here = ((before[found] == keys) & self.alive[places]).nonzero()[0]
        return here, places[here]

    def kill(self, keys: Ints) -> list[tuple[int, int]]:
        """Let the lines of these keys hold no longer: scope and length of each."""
        if not len(keys) or not self.size:
            return []
        if keys[-1] < self.keys[0] or keys[0] > self.keys[-1]:
            return []
        _, places = self.places(keys)
        self.alive[places] = False
        self.dead += len(places)
        return list(zip(self.scopes[places].tolist(), self.lengths[places].tolist(), strict=True))

    def keep_alive(self, keys: Ints) -> None:
        """Let only the lines of these keys hold."""
        self.alive = np.isin(self.keys, keys)
        self.dead = self.size - int(self.alive.sum())

    def encoded(self) -> bytes:
        """All of it as bytes, as blocks in the file are."""
        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in (*COLUMNS, *LISTS)}
        head = json.dumps({name: len(column) for name, column in arrays.items()}).encode()
        head += b" " * (-(len(head) + 4) % 8)
        parts: list[bytes | memoryview] = [struct.pack("<I", len(head)), head]
        for column in arrays.values():
            parts += [column.data, b"\0" * (-column.nbytes % 8)]
        return b"".join(parts)

    @classmethod
    def decoded(cls, body: bytes) -> Segment:
        """The way back."""
        (length,) = struct.unpack_from("<I", body)
        sizes = json.loads(body[4 : 4 + length])
        at, arrays = 4 + length, {}
        for name, kind in {**COLUMNS, **LISTS}.items():
            arrays[name] = column = np.frombuffer(body, dtype=kind, count=sizes[name], offset=at)
            at += column.nbytes + (-column.nbytes % 8)
        return cls(**arrays)


def is_sound(body: bytes) -> bool:
    """Whether bytes of a block can be read back."""
    try:
        segment = Segment.decoded(body)
    except (ValueError, KeyError, struct.error):
        return False
    return len(segment.starts) == len(segment.hashes) + 1 and int(segment.starts[-1]) == len(segment.units)


_NOWHERE: Places = np.zeros(0, dtype=np.intp)


def hashed(term: str) -> int:
    """A term as a number of 32 bits."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def build(lines: Iterable[UnitLine], gone: Sequence[int] = ()) -> Segment:
    """A segment of these memories, whose texts are read one after the other and not held."""
    hashes, units, codes = array("I"), array("i"), array("B")  # of lists they would take ten times the room
    owners, told = array("i"), {name: array(kind) for name, kind in _TOLD.items()}
    for place, line in enumerate(lines):
        for name, column in told.items():
            column.append(getattr(line, name))
        body = line.body.split(" ") if line.body else []
        _count(body, line.cues.split(" ") if line.cues else [], place, hashes, units, codes)
        if line.length > bm25.LONG:
            for start in range(0, max(1, len(body) - bm25.STEP), bm25.STEP):
                owners.append(place)
                # Passages come behind all memories: until it is known how many those are, from below.
                _count(body[start : start + bm25.PASSAGE], [], -len(owners), hashes, units, codes)
    order = np.argsort(np.array(told["key"], dtype=np.int64), kind="stable")
    place_of = _places_in(order)
    owned = place_of[np.array(owners, dtype=np.int32)]
    passages = np.argsort(owned, kind="stable")
    place_of = np.concatenate([place_of, (len(order) + _places_in(passages))[::-1]])
    columns: dict[str, Array] = {
        name: np.array(column, dtype=COLUMNS[name])[order]
        for name, column in zip(COLUMNS, told.values(), strict=True)
    }
    counted = np.array(hashes, dtype=np.uint32), place_of[np.array(units, dtype=np.int32)]
    words = _inverted([(*counted, np.array(codes, dtype=np.uint8))])
    return Segment(**columns, **words, owners=owned[passages], gone=np.array(sorted(gone), dtype=np.int64))


_TOLD: Final[Mapping[str, str]] = {
    "key": "q", "happened": "q", "previous": "q", "scope": "i", "length": "i", "status": "b", "kind": "b",
    "asks": "b",
}  # fmt: skip
"""Where a memory's columns come from, in their order, and as what they are gathered."""


def _places_in(order: Places) -> NDArray[np.int32]:
    """Where each stands in an order."""
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def merged(parts: Sequence[Segment]) -> Segment:
    """One segment of all lines that hold, of the older parts first."""
    kept = [part.alive.nonzero()[0] for part in parts]
    keys = np.concatenate([part.keys[some] for part, some in zip(parts, kept, strict=True)])
    order = np.argsort(keys, kind="stable")
    place_of = _places_in(order)
    columns: dict[str, Array] = {
        name: np.concatenate([getattr(part, name)[some] for part, some in zip(parts, kept, strict=True)])[
            order
        ]
        for name in COLUMNS
    }
    owners: list[Array] = []
    words: list[tuple[Array, Array, Array]] = []
    passages, first = len(order), 0
    for part, some in zip(parts, kept, strict=True):
        new = np.full(part.size + len(part.owners), -1, dtype=np.int32)
        new[some] = place_of[first : first + len(some)]
        held = part.alive[part.owners].nonzero()[0]
        owners.append(new[part.owners[held]])
        new[part.size + held] = np.arange(passages, passages + len(held), dtype=np.int32)
        first, passages = first + len(some), passages + len(held)
        units = new[part.units]
        stays = units >= 0
        said = np.repeat(part.hashes, np.diff(part.starts))
        words.append((said[stays], units[stays], part.codes[stays]))
        del said, units, stays
    gone = np.concatenate([part.gone for part in parts])
    if len(gone):
        gone = np.setdiff1d(np.unique(gone), columns["keys"])
    return Segment(**columns, owners=np.concatenate(owners), gone=gone, **_inverted(words))


def _count(
    body: list[str], cues: list[str], unit: int, hashes: array[int], units: array[int], codes: array[int]
) -> None:
    """Write down how often each word stands in a unit."""
    counts: dict[str, int] = {}
    for word in body:
        count = counts.get(word, 0)
        counts[word] = count + 1 if count < MOST_SAID else count
    for word in cues:
        count = counts.get(word, 0)
        counts[word] = count + (1 << CUE_SHIFT) if count >> CUE_SHIFT < MOST_CUED else count
    hashes.extend([hashed(word) for word in counts])
    units.extend([unit] * len(counts))
    codes.extend(counts.values())


def _inverted(words: list[tuple[Array, Array, Array]]) -> dict[str, Array]:
    """Words, the units that have them and how often, in order; what is given is used up."""
    if max(int(units.max(initial=0)) for _, units, _ in words) >> UNIT_BITS:
        hashes, units, codes = (np.concatenate([word[at] for word in words]) for at in range(3))
        order = np.lexsort((units, hashes))
        hashes, units, codes = hashes[order], units[order], codes[order]
    else:
        # Each as one number, sorted in its place: a third of the time and the room.
        packed = [_packed(*words.pop(0)) for _ in range(len(words))]
        lines = np.concatenate(packed)
        del packed
        lines.sort()
        codes = lines.astype(np.uint8)
        lines >>= CODE_BITS
        units = (lines.astype(np.uint32) & ((1 << UNIT_BITS) - 1)).view(np.int32)
        lines >>= UNIT_BITS
        hashes = lines.astype(np.uint32)
        del lines
    firsts = np.flatnonzero(np.diff(hashes, prepend=hashes[:1] ^ np.uint32(1)) != 0)
    return {
        "hashes": hashes[firsts],
        "starts": np.append(firsts, len(hashes)).astype(np.int32),
        "units": units,
        "codes": codes,
    }


def _packed(hashes: Array, units: Array, codes: Array) -> NDArray[np.uint64]:
    lines = hashes.astype(np.uint64)
    lines <<= UNIT_BITS
    lines |= units.astype(np.uint32)
    lines <<= CODE_BITS
    lines |= codes
    return lines


# ---------------------------------------------------------------- words
# A question's words among the units of one segment.


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Where the units of each word of a question stand in a segment."""

    segment: Segment
    firsts: Places
    lengths: Places

    def find(self, terms: Places, units: Places) -> Places:
        """Where each of these units stands in the list of each of these words; -1 where it does not.

        Words first, units second.
        """
        found: Places = np.full((len(terms), len(units)), -1, dtype=np.intp)
        wanted = units.astype(np.int32)
        for row, first, length in zip(found, self.firsts[terms], self.lengths[terms], strict=True):
            listed = self.segment.units[first : first + length]
            at = np.minimum(listed.searchsorted(wanted), length - 1)
            hit = listed[at] == wanted
            row[hit] = first + at[hit]
        return found

    def gather(self, terms: Places) -> tuple[NDArray[np.int32], Places, NDArray[np.uint8]]:
        """Every unit with each of these words: units, words and codes side by side."""
        firsts, lengths = self.firsts[terms], self.lengths[terms]
        ranges = [slice(*ends) for ends in zip(firsts.tolist(), (firsts + lengths).tolist(), strict=True)]
        units, codes = (
            np.concatenate([of[:0], *(of[one] for one in ranges)])
            for of in (self.segment.units, self.segment.codes)
        )
        return units, np.repeat(terms, lengths), codes


def lists(segment: Segment, hashes: NDArray[np.uint32]) -> Lists:
    """Where these words stand."""
    if not len(segment.hashes):
        none = np.zeros(len(hashes), dtype=np.intp)
        return Lists(segment, none, none)
    at = np.minimum(np.searchsorted(segment.hashes, hashes), len(segment.hashes) - 1)
    firsts = segment.starts[at].astype(np.intp)
    lengths = np.where(segment.hashes[at] == hashes, segment.starts[at + 1] - firsts, 0)
    return Lists(segment, firsts, lengths)
