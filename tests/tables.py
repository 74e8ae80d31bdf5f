"""A table of cases as one test: every row is tried, and those that fail are told together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any


def every(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each row in one go: for tables whose rows need no fixture, or leave it as it was."""
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def every_row(**fixtures: Any) -> None:
            failed = []
            for row in table:
                case = dict(zip(columns, row if len(columns) > 1 else (row,), strict=True))
                try:
                    test(**fixtures, **case)
                except AssertionError as error:
                    failed.append(f"{row!r}: {error}")
                except BaseException as error:
                    error.add_note(f"in the row {row!r}")
                    raise
            assert table
            assert not failed, "\n".join([f"{len(failed)} of {len(table)} rows", *failed])

        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in columns]
        every_row.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        every_row.__name__, every_row.__doc__ = test.__name__, test.__doc__
        every_row.__module__, every_row.__qualname__ = test.__module__, test.__qualname__
        return every_row

    return decorate
