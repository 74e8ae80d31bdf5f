"""The arrays stay parallel and ordered by key, in whatever order lines come and go."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engram.index.ranking import GONE, TIDY_ABOVE, Columns, VectorLines


def lines(keys: list[int], mark: int = 0) -> VectorLines:
    """Lines whose every field tells their key and a mark."""
    numbers = np.array(keys, dtype=np.int64)
    told = (numbers + mark).astype(np.int32)
    return VectorLines(
        numbers, told, told, np.zeros(len(keys), dtype=np.int8), rows=told[:, np.newaxis].astype(np.int8)
    )


def live(columns: Columns) -> dict[int, int]:
    """Key and scope of what is there, with all fields agreeing."""
    now = columns.lines
    assert now.keys.tolist() == sorted(set(now.keys.tolist()))
    assert now.rows is not None
    assert len({len(array) for _, array in now.arrays()}) == 1
    assert np.array_equal(now.scopes, now.namespaces)
    assert np.array_equal(now.scopes.astype(np.int8), now.rows[:, 0])
    here = now.statuses != GONE
    assert columns.live == here.sum()
    return dict(zip(now.keys[here].tolist(), now.scopes[here].tolist(), strict=True))


KEYS = st.lists(st.integers(1, 30), unique=True, max_size=8).map(sorted)


@given(st.lists(st.tuples(st.booleans(), KEYS), max_size=12))
def test_lines_come_and_go(steps: list[tuple[bool, list[int]]]) -> None:
    columns, expected = Columns(lines([])), dict[int, int]()
    for mark, (adds, keys) in enumerate(steps):
        if adds:
            columns.put(lines(keys, mark))
            expected |= {key: key + mark for key in keys}
        else:
            columns.remove(np.array(keys, dtype=np.int64))
            expected = {key: told for key, told in expected.items() if key not in keys}
        assert live(columns) == expected


def test_what_was_handed_out_stays_while_more_is_added() -> None:
    columns = Columns(lines([]))
    columns.put(lines([5, 9]))
    before = columns.lines
    columns.put(lines([10, 11]))
    columns.put(lines([1]))
    assert before.keys.tolist() == [5, 9]
    assert columns.lines.keys.tolist() == [1, 5, 9, 10, 11]


def test_many_removals_are_tidied_up() -> None:
    columns = Columns(lines([]))
    keys = list(range(1, TIDY_ABOVE + 200))
    columns.put(lines(keys))
    before = columns.bytes
    columns.remove(np.array(keys[100:], dtype=np.int64))
    assert sorted(live(columns)) == keys[:100]
    assert len(columns.lines.keys) == 100
    assert columns.bytes < before / 5


def test_rows_can_be_let_go() -> None:
    columns = Columns(lines([1, 2]))
    columns.forget_rows()
    assert columns.lines.rows is None
    columns.put(lines([3]))
    assert columns.lines.keys.tolist() == [1, 2, 3]
