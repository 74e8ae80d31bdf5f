"""The vectors, space by space: 8-bit rows as the truth, and marks that tell an index what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engram.errors import EmbedderMismatch
from engram.model.memory import Space, Status
from engram.ports import Embedded, SearchedSpace, VectorChanges, VectorRows
from engram.rules.vectors import quantize, restore, sign
from engram.store.sqlite import rows as sqlite_rows
from engram.store.sqlite.connection import Db, ask, ask_line, ask_value, putting, update, whole

if TYPE_CHECKING:
    from engram.store.sqlite.readers import Readers
    from engram.store.sqlite.writer import Writer

Floats = NDArray[np.float32]

STRIDE = 1 << 40
"""An embedding's id is its space's number times this, plus the memory's row."""
SIGN_BATCH = 10_000
"""Rows that are given signatures in one go: bounds the memory it takes."""
NO_CHANGES = (
    np.zeros(0, np.int64),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0, np.int8),
    None,
    np.zeros(0, np.int64),
)
STATUS_PLACE = {status.value: place for place, status in enumerate(Status)}

ADD_SPACE = """
INSERT INTO spaces (key)
VALUES (:key)
ON CONFLICT DO NOTHING
"""

FIND_SPACE = """
SELECT id, centre
FROM spaces
WHERE key = :key
"""

SIZES = """
SELECT key, vectors
FROM spaces
"""

PUT_VECTOR = putting("embeddings", ("id", "scale", "vector"), "id")

# Replacing gives the mark a new, highest seq.
PUT_MARK = """
INSERT OR REPLACE INTO marks (row, space, gone, namespace, scope, status, signature)
VALUES (:row, :space, 0, :namespace, :scope, :status, :signature)
"""

MOVE_MARKS = """
INSERT OR REPLACE INTO marks (row, space, gone, namespace, scope, status, signature)
SELECT row, space, gone, :namespace, :scope, :status, signature
FROM marks
WHERE row = :row
  AND gone = 0
"""

DROP_VECTORS = """
DELETE FROM embeddings
WHERE id IN (SELECT space * 1099511627776 + row FROM marks WHERE row = :row)
"""

DROP_MARKS = """
INSERT OR REPLACE INTO marks (row, space, gone, namespace, scope, status, signature)
SELECT row, space, 1, namespace, scope, status, NULL
FROM marks
WHERE row = :row
  AND gone = 0
"""

REPLACED = """
SELECT f.id - :former
FROM embeddings AS f
JOIN embeddings AS e ON e.id = f.id - :former + :present
WHERE f.id > :former
  AND f.id < :former + 1099511627776
ORDER BY f.id
LIMIT :limit
"""

DROP_VECTOR = """
DELETE FROM embeddings
WHERE id = :space * 1099511627776 + :row
"""

DROP_MARK = """
INSERT OR REPLACE INTO marks (row, space, gone, namespace, scope, status, signature)
SELECT row, space, 1, namespace, scope, status, NULL
FROM marks
WHERE row = :row
  AND space = :space
"""

LAST_CHANGE = """
SELECT coalesce(max(seq), 0)
FROM marks
"""

CHANGES = """
SELECT seq, row, gone, namespace, scope, status, signature, NULL
FROM marks
WHERE seq > :after
  AND space = :space
ORDER BY seq
LIMIT :limit
"""

CHANGES_WITH_ROWS = """
SELECT k.seq, k.row, k.gone, k.namespace, k.scope, k.status, k.signature, e.vector
FROM (
  SELECT *, space * 1099511627776 + row AS embedding
  FROM marks
  WHERE seq > :after
    AND space = :space
  ORDER BY seq
  LIMIT :limit
) AS k
LEFT JOIN embeddings AS e ON e.id = k.embedding
ORDER BY k.seq
"""

ROWS = """
SELECT e.id - :base, e.scale, e.vector
FROM (SELECT :base + value AS id FROM json_each(:keys) LIMIT -1) AS k
JOIN embeddings AS e ON e.id = k.id
"""

BATCH = """
SELECT id - :base, scale, vector
FROM embeddings
WHERE id > :after
  AND id < :end
ORDER BY id
LIMIT :limit
"""

SIGN_MARK = """
INSERT OR REPLACE INTO marks (row, space, gone, namespace, scope, status, signature)
SELECT row, space, gone, namespace, scope, status, :signature
FROM marks
WHERE row = :row
  AND space = :space
"""


class SqliteVectors:
    """The vectors, space by space. Used by any thread."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer
        self._numbers: dict[str, int] = {}
        """The numbers of spaces that were asked for; they stay."""

    def changes(self, space: Space, after: int, limit: int, *, rows: bool = False) -> VectorChanges:
        """What changed after a point, for an index that keeps itself in step; with the vectors, if wanted."""
        with self._readers.lend() as db:
            # Asked first: what is written between the two statements is told now or the next time.
            last = max(after, ask_value(db, LAST_CHANGE))
            number = self._number(db, space) if last > after else None
            if number is None:
                return VectorChanges(last, *NO_CHANGES)
            values = {"after": after, "space": number, "limit": limit + 1}
            with whole(db):
                lines = ask(db, CHANGES_WITH_ROWS if rows else CHANGES, values)
        more = len(lines) > limit
        shown = lines[:limit]
        upto = shown[-1][0] if more else max(last, shown[-1][0] if shown else 0)
        return _changes(shown, upto, space.dims if rows else None, more=more)

    def _number(self, db: Db, space: Space) -> int | None:
        if space.key not in self._numbers:
            found = find(db, space)[0]
            if found is None:
                return None
            self._numbers[space.key] = found
        return self._numbers[space.key]

    def rows(self, space: Space, keys: Sequence[int]) -> VectorRows:
        """Stored vectors of these keys; missing keys are left out."""
        with self._readers.lend() as db:
            number = self._number(db, space)
            values = {"base": (number or 0) * STRIDE, "keys": sqlite_rows.as_keys(keys)}
            lines = [] if number is None else ask(db, ROWS, values)
        return _rows(lines, space.dims)

    def centre(self, space: Space) -> Floats | None:
        """What signatures of this space are centred on, once the space is large enough to need them."""
        with self._readers.lend() as db:
            return find(db, space)[1]

    def sign(self, space: Space, centre: Floats) -> None:
        """Fix the centre of a space and give every row its signature; later rows get theirs at once."""
        if self._writer is not None:
            self._writer.run(lambda db: _sign_all(db, space, np.asarray(centre, dtype=np.float32)))

    def searched(self, space: Space) -> SearchedSpace | None:
        """No space of a file is too large: an index holds its signatures in memory."""
        del space
        return None

    def spaces(self) -> dict[str, int]:
        """Each space's key with the number of its vectors."""
        with self._readers.lend() as db:
            return sizes(db)


# ---------------------------------------------------------------- inside the writer


SpaceLine = tuple[int, Floats | None]
"""The number of a space and its centre, once it has one."""


Placed = tuple[int, Floats, tuple[int, int, str]]
"""A memory's row, its vector, and the numbers of its scope and namespace with its status."""


def checked(vector: Embedded) -> Floats:
    """The numbers of a vector; raises EmbedderMismatch when they are not as many as its space has."""
    one = vector.vector
    if one.dtype != np.float32 or one.ndim != 1:
        one = np.asarray(one, dtype=np.float32).reshape(-1)
    if len(one) != vector.space.dims:
        raise EmbedderMismatch(
            f"The vector has {len(one)} dimensions, {vector.space.key} has {vector.space.dims}."
        )
    return one


def put(db: Db, line: SpaceLine, placed: Sequence[Placed]) -> None:
    """Set the vectors of memories in a space, all at once."""
    space, centre = line
    bytes_, scales = quantize(np.stack([vector for _, vector, _ in placed]))
    signatures = None if centre is None else sign(restore(bytes_, scales), centre)
    db.executemany(
        PUT_VECTOR,
        [
            (space * STRIDE + row, scale, one.tobytes())
            for (row, _, _), scale, one in zip(placed, scales.tolist(), bytes_, strict=True)
        ],
    )
    db.executemany(
        PUT_MARK,
        [
            (row, space, namespace, scope, STATUS_PLACE[status], _bits(signatures, at))
            for at, (row, _, (scope, namespace, status)) in enumerate(placed)
        ],
    )


def _bits(signatures: NDArray[Any] | None, at: int) -> bytes | None:
    return None if signatures is None else signatures[at].tobytes()


def move(db: Db, row: int, place: tuple[int, int], status: str) -> None:
    """Tell the indexes that a memory's status or scope is another one now."""
    values = {"row": row, "scope": place[0], "namespace": place[1], "status": STATUS_PLACE[status]}
    db.execute(MOVE_MARKS, values)


def drop(db: Db, row: int) -> None:
    """Take away a memory's vectors in all spaces, and leave word of it."""
    db.execute(DROP_VECTORS, {"row": row})
    db.execute(DROP_MARKS, {"row": row})


def drop_replaced(db: Db, former: str, space: Space, limit: int) -> int:
    """Take away vectors of another space of memories that have one in this, and leave word of it."""
    line, base = ask_line(db, FIND_SPACE, {"key": former}), base_of(db, space)
    if line is None or base < 0:
        return 0
    values = {"former": line[0] * STRIDE, "present": base, "limit": limit}
    lines = [{"row": row, "space": line[0]} for (row,) in ask(db, REPLACED, values)]
    db.executemany(DROP_VECTOR, lines)
    db.executemany(DROP_MARK, lines)
    return len(lines)


def _sign_all(db: Db, space: Space, centre: Floats) -> None:
    number, _ = find_or_add(db, space)
    update(db, "spaces", {"centre": centre.tobytes()}, id=number)
    for batch in _batches(db, base_of(db, space), space.dims):
        signatures = sign(restore(batch.rows, batch.scales), centre)
        lines = zip(batch.keys.tolist(), signatures, strict=True)
        db.executemany(
            SIGN_MARK,
            ({"row": row, "space": number, "signature": bits.tobytes()} for row, bits in lines),
        )


def _batches(db: Db, base: int, dims: int) -> Iterator[VectorRows]:
    after = base
    while True:
        values = {"base": base, "after": after, "end": base + STRIDE, "limit": SIGN_BATCH}
        lines = ask(db, BATCH, values)
        if not lines:
            return
        yield _rows(lines, dims)
        after = base + lines[-1][0]


# ---------------------------------------------------------------- shared


def base_of(db: Db, space: Space) -> int:
    """What to add to a row to get the id of its vector; below every id while the space is unknown."""
    number, _ = find(db, space)
    return -STRIDE if number is None else number * STRIDE


def sizes(db: Db) -> dict[str, int]:
    """Each space's key with the number of its vectors."""
    return dict(ask(db, SIZES))


def find_or_add(db: Db, space: Space) -> SpaceLine:
    """The line of a space, made if need be."""
    number, centre = find(db, space)
    if number is None:
        db.execute(ADD_SPACE, {"key": space.key})
        return find_or_add(db, space)
    return number, centre


def find(db: Db, space: Space) -> tuple[int | None, Floats | None]:
    """The number of a space and its centre, as far as it has them."""
    line = ask_line(db, FIND_SPACE, {"key": space.key})
    if line is None:
        return None, None
    number, centre = line
    return number, None if centre is None else np.frombuffer(centre, dtype=np.float32)


def _rows(lines: list[tuple[Any, ...]], dims: int) -> VectorRows:
    keys, scales, blobs = zip(*lines, strict=True) if lines else ((), (), ())
    rows = np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(len(lines), dims)
    return VectorRows(np.array(keys, dtype=np.int64), rows, np.array(scales, dtype=np.float32))


def _changes(lines: list[tuple[Any, ...]], upto: int, dims: int | None, *, more: bool) -> VectorChanges:
    """Lines of `CHANGES` as arrays; `dims` is the length of the vectors, None where they were not wanted."""
    # A vector may be gone where a damaged file was saved: its memory is embedded again.
    live = [line for line in lines if not line[2] and (dims is None or line[-1] is not None)]
    _, keys, _, namespaces, scopes, statuses, blobs, stored = zip(*live, strict=True) if live else ((),) * 8
    signed = bool(blobs) and None not in blobs  # all are, or none: they are given in one transaction
    bits = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(live), -1) if signed else None
    rows = None
    if dims is not None:
        rows = np.frombuffer(b"".join(stored), dtype=np.int8).reshape(len(live), dims)
    return VectorChanges(
        upto=upto,
        keys=np.array(keys, dtype=np.int64),
        scopes=np.array(scopes, dtype=np.int32),
        namespaces=np.array(namespaces, dtype=np.int32),
        statuses=np.array(statuses, dtype=np.int8),
        signatures=bits,
        rows=rows,
        gone=np.array([line[1] for line in lines if line[2]], dtype=np.int64),
        more=more,
    )
