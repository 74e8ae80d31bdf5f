"""A table of cases as one test: every row is tried, and those that fail are told together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def every(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test for each row in one go: for tables whose rows need no fixture."""
    is_one = isinstance(names, str) and "," not in names
    table = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def every_row() -> None:
            failed = []
            for row in table:
                try:
                    test(*((row,) if is_one else row))
                except AssertionError as error:
                    failed.append(f"{row!r}: {error}")
            assert table
            assert not failed, "\n".join([f"{len(failed)} of {len(table)} rows", *failed])

        every_row.__name__, every_row.__doc__ = test.__name__, test.__doc__
        every_row.__module__, every_row.__qualname__ = test.__module__, test.__qualname__
        return every_row

    return decorate
