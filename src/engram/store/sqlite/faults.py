"""SQLite's errors come in, ours go out. The one place that knows both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from engram.errors import AccessDenied, DiskFull, KeyNeeded, StoreBusy, StoreCorrupt, StoreError

DISK_TROUBLE = (apsw.FullError, apsw.IOError)
"""What a full disk looks like: no room in the file, or a write that failed."""

READ_TROUBLE = frozenset(
    {
        apsw.SQLITE_IOERR_READ,
        apsw.SQLITE_IOERR_SHORT_READ,
        apsw.SQLITE_IOERR_CORRUPTFS,
        apsw.SQLITE_IOERR_DATA,
    }
)
"""Failures of the disk that no room would help."""


def translate(error: apsw.Error, path: str, waited_s: float) -> StoreError | AccessDenied:
    """What happened, in words for the person who reads it."""
    fault: StoreError | AccessDenied
    match error:
        case apsw.IOError() if getattr(error, "extendedresult", 0) in READ_TROUBLE:
            fault = StoreCorrupt(str(error))
        case apsw.FullError() | apsw.IOError():
            fault = DiskFull()
        case apsw.BusyError() | apsw.LockedError():
            fault = StoreBusy(waited_s)
        case apsw.NotADBError():
            fault = KeyNeeded(path)
        case apsw.CorruptError():
            fault = StoreCorrupt(str(error))
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            fault = AccessDenied(f"write to {path}")
        case apsw.CantOpenError():
            fault = StoreError(f"{path} cannot be opened: check that the folder exists and is yours.")
        case _:
            fault = StoreError(f"The database refused ({type(error).__name__}): {error}")
    return fault


@contextmanager
def translated(path: str, waited_s: float) -> Iterator[None]:
    """Inside, SQLite's errors become ours."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path, waited_s) from error
