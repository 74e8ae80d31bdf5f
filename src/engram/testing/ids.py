"""Ids that come in the same order in each run, and differ in their first eight characters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count


def sequential_ids() -> Callable[[], str]:
    """A maker of ids that look like random ones.

    >>> new_id = sequential_ids()
    >>> new_id(), new_id()
    ('00000001-0000-4000-8000-000000000000', '00000002-0000-4000-8000-000000000000')
    """
    numbers = count(1)
    return lambda: f"{next(numbers):08x}-0000-4000-8000-000000000000"
