"""Reading a damaged database page by page: bytes come in, every row that can still be read comes out.

SQLite itself gives up at the first bad page of a tree. Here each tree is walked as far as it goes; a page
that is none is noted with the range of keys that lay under it, and leaves that have lost their parent are
given back to the table they fit. https://www.sqlite.org/fileformat2.html describes the format.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

from engram.lazily import dataclass

Value = int | float | str | bytes | None
Row = tuple[int, tuple[Value, ...]]
"""The key of a row (0 in a table without row ids) and its columns as they are stored."""

TABLE_LEAF, TABLE_INNER, INDEX_LEAF, INDEX_INNER = 0x0D, 0x05, 0x0A, 0x02
LEAVES: Final = frozenset({TABLE_LEAF, INDEX_LEAF})
INNER: Final = frozenset({TABLE_INNER, INDEX_INNER})
HEADER: Final = 100
"""Bytes of the file's own header, at the beginning of its first page."""
PAGE_SIZES: Final = frozenset({512, 1024, 2048, 4096, 8192, 16384, 32768, 65536})
USUAL_PAGE: Final = 4096
LOG_HEADER, FRAME_HEADER = 32, 24
INTEGER_BYTES: Final = (0, 1, 2, 3, 4, 6, 8)
REAL, ZERO, ONE, FIRST_BLOB = 7, 8, 9, 12
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class BadPage(Exception):
    """What was read is not what the format says."""


@dataclass(slots=True)
class Tree:
    """What could be read of one table."""

    rows: list[Row] = field(default_factory=list)
    lost: list[tuple[int, int, int]] = field(default_factory=list)
    """Pages that could not be read, with the lowest and highest key that may have lain under each."""


class Pages:
    """The pages of one database. `used` gathers the numbers of those that belong to a known tree."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        size = int.from_bytes(data[16:18], "big")
        size = 65536 if size == 1 else size
        whole = data[:16] == b"SQLite format 3\0" and size in PAGE_SIZES
        self.size = size if whole else USUAL_PAGE
        self.usable = self.size - (data[20] if whole else 0)
        self.count = len(data) // self.size
        self.used: set[int] = set()

    def schema(self) -> list[tuple[Value, ...]]:
        """The lines of the schema: from its tree, and from leaves that look like it when that is broken."""
        tree = self.tree(1)
        if tree.lost:
            used = set(self.used)
            found = (
                self.rows_of(page) for page in range(2, self.count + 1) if self._type(page) == TABLE_LEAF
            )
            tree.rows += [row for rows in found for row in rows if is_schema(row[1])]
            self.used = used
        lines = {(line[0], line[1]): line for _, line in tree.rows if is_schema(line)}
        return list(lines.values())

    def tree(self, root: int) -> Tree:
        """Everything under a page."""
        tree = Tree()
        self._walk(root, LOWEST, HIGHEST, tree)
        return tree

    def orphans(self) -> Iterator[list[Row]]:
        """The rows of each leaf that no walked tree has."""
        for page in range(2, self.count + 1):
            if page not in self.used and self._type(page) in LEAVES:
                rows = self.rows_of(page)
                if rows:
                    yield rows

    def _walk(self, page: int, low: int, high: int, tree: Tree) -> None:
        if page in self.used or not 0 < page <= self.count:
            tree.lost.append((page, low, high))
            return
        try:
            cells = self._cells(page)
        except BadPage:
            tree.lost.append((page, low, high))
            return
        self.used.add(page)
        kind = self._type(page)
        if kind in LEAVES:
            rows = list(self._readable(page, cells))
            tree.rows += rows
            if len(rows) < len(cells):
                tree.lost.append((page, low, high))
            return
        self._descend(page, cells, (low, high), tree)

    def _descend(self, page: int, cells: list[int], bounds: tuple[int, int], tree: Tree) -> None:
        """Walk the children of an inner page. In an index tree it holds rows of its own between them."""
        (low, high), base = bounds, self._start(page)
        rows = list(self._readable(page, cells)) if self._type(page) == INDEX_INNER else []
        tree.rows += rows
        for cell in cells:
            child = int.from_bytes(self.data[base + cell : base + cell + 4], "big")
            upper = high
            if self._type(page) == TABLE_INNER:
                upper, _ = self._varint(base + cell + 4)
            self._walk(child, low, min(upper, high), tree)
            low = max(low, upper + 1) if upper < HIGHEST else low
        offset = self._head(page) + 8
        self._walk(int.from_bytes(self.data[offset : offset + 4], "big"), low, high, tree)

    # ------------------------------------------------------------ one page

    def _start(self, page: int) -> int:
        return (page - 1) * self.size

    def _head(self, page: int) -> int:
        return self._start(page) + (HEADER if page == 1 else 0)

    def _type(self, page: int) -> int:
        return self.data[self._head(page)]

    def _cells(self, page: int) -> list[int]:
        """Where the cells of a page begin, from its start. Raises BadPage if it is no page of a tree."""
        head, kind = self._head(page), self._type(page)
        if kind not in LEAVES | INNER:
            raise BadPage
        count = int.from_bytes(self.data[head + 3 : head + 5], "big")
        begin = head + (8 if kind in LEAVES else 12)
        first = begin + 2 * count - self._start(page)
        if first > self.usable:
            raise BadPage
        cells = list(struct.unpack(f">{count}H", self.data[begin : begin + 2 * count]))
        if any(not first <= cell < self.usable for cell in cells):
            raise BadPage
        return cells

    def rows_of(self, page: int) -> list[Row]:
        """The rows of one page, as far as they can be read."""
        try:
            return list(self._readable(page, self._cells(page)))
        except BadPage:
            return []

    def _readable(self, page: int, cells: Iterable[int]) -> Iterator[Row]:
        for cell in cells:
            try:
                yield self._row(page, cell)
            except (BadPage, IndexError, struct.error, UnicodeDecodeError):
                continue

    def _row(self, page: int, cell: int) -> Row:
        kind, place = self._type(page), self._start(page) + cell
        if kind == INDEX_INNER:
            place += 4
        length, place = self._varint(place)
        key = 0
        if kind == TABLE_LEAF:
            key, place = self._varint(place)
        most = self.usable - 35 if kind == TABLE_LEAF else (self.usable - 12) * 64 // 255 - 23
        return key, record(self._payload(place, length, most, self._start(page) + self.usable))

    def _payload(self, place: int, length: int, most: int, end: int) -> bytes:
        """The bytes of a row: in its page, and what does not fit there in a chain of other pages."""
        if not 0 < length <= len(self.data):
            raise BadPage
        if length <= most:
            return self._slice(place, length, end)
        least = (self.usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.usable - 4)
        here = here if here <= most else least
        parts, missing = [self._slice(place, here, end)], length - here
        following = int.from_bytes(self._slice(place + here, 4, end), "big")
        chain: list[int] = []
        while missing > 0:
            if not 1 < following <= self.count or following in chain or following in self.used:
                raise BadPage
            chain.append(following)
            start = self._start(following)
            taken = min(missing, self.usable - 4)
            parts.append(self.data[start + 4 : start + 4 + taken])
            missing -= taken
            following = int.from_bytes(self.data[start : start + 4], "big")
        if following:
            raise BadPage  # the last page of a chain leads nowhere; this one was overwritten
        self.used.update(chain)
        return b"".join(parts)

    def _slice(self, place: int, length: int, end: int) -> bytes:
        if place + length > end:
            raise BadPage
        return self.data[place : place + length]

    def _varint(self, place: int) -> tuple[int, int]:
        return varint(self.data, place)


def varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next begins."""
    value = 0
    for step in range(8):
        byte = data[place + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the last byte has no high bit
            return value, place + step + 1
    value = value << 8 | data[place + 8]
    return value - 2**64 if value >= 2**63 else value, place + 9


def record(payload: bytes) -> tuple[Value, ...]:
    """The columns of one row. Raises BadPage where they do not fill it exactly."""
    end, place = varint(payload, 0)
    kinds: list[int] = []
    while place < end:
        kind, place = varint(payload, place)
        kinds.append(kind)
    if place != end or end > len(payload):
        raise BadPage
    values: list[Value] = []
    for kind in kinds:
        value, place = _column(payload, kind, place)
        values.append(value)
    if place != len(payload):
        raise BadPage
    return tuple(values)


def _column(payload: bytes, kind: int, place: int) -> tuple[Value, int]:
    if kind < REAL:
        size = INTEGER_BYTES[kind]
        return (
            int.from_bytes(payload[place : place + size], "big", signed=True) if kind else None
        ), place + size
    if kind == REAL:
        return struct.unpack(">d", payload[place : place + 8])[0], place + 8
    if kind in {ZERO, ONE}:
        return kind - ZERO, place
    if kind < FIRST_BLOB:
        raise BadPage
    size = (kind - FIRST_BLOB) // 2
    raw = payload[place : place + size]
    if len(raw) != size:
        raise BadPage
    return (raw.decode() if kind % 2 else raw), place + size


def is_schema(values: tuple[Value, ...]) -> bool:
    """Whether columns are a line of the schema: type, name, table, root page, statement."""
    return (
        len(values) == 5  # noqa: PLR2004 - as just said
        and values[0] in {"table", "index", "trigger", "view"}
        and isinstance(values[1], str)
        and isinstance(values[3], int)
    )


def read_with_log(path: Path) -> bytes:
    """A plain database file with the committed pages of its write-ahead log laid over it."""
    data = bytearray(path.read_bytes())
    log = path.with_name(path.name + "-wal")
    if not log.exists() or log.stat().st_size <= LOG_HEADER:
        return bytes(data)
    raw = log.read_bytes()
    size, salts = int.from_bytes(raw[8:12], "big"), raw[16:24]
    if size not in PAGE_SIZES:
        return bytes(data)
    waiting: dict[int, bytes] = {}
    for start in range(LOG_HEADER, len(raw) - FRAME_HEADER - size + 1, FRAME_HEADER + size):
        page, commit = struct.unpack(">II", raw[start : start + 8])
        if raw[start + 8 : start + 16] != salts or not page:
            break  # frames of an earlier round of the log
        waiting[page] = raw[start + FRAME_HEADER : start + FRAME_HEADER + size]
        if commit:
            _lay_over(data, waiting, commit * size, size)
            waiting = {}
    return bytes(data)


def _lay_over(data: bytearray, pages: dict[int, bytes], length: int, size: int) -> None:
    data.extend(bytes(max(0, length - len(data))))
    del data[length:]
    for page, content in pages.items():
        if page * size <= length:
            data[(page - 1) * size : page * size] = content
